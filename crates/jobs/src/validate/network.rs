use std::collections::BTreeMap;

use longshore_api::NetworkResource;

use super::Faults;
use crate::fault::Fault;

const PORT_MAX: i64 = 65_535;

/// Labels of letters, digits and dashes, 63 characters at most, 253 in all.
fn is_dns_name(name: &str) -> bool {
    let is_label = |label: &str| {
        !label.is_empty()
            && label.len() <= 63
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    name.len() <= 253 && name.split('.').all(is_label)
}

pub(super) fn networks(networks: &[NetworkResource]) -> Vec<Fault> {
    let mut faults = Faults::default();
    faults.at("network[1]", networks.len() > 1, || {
        format!("Only one network is allowed in a task group; there are {}", networks.len())
    });
    let mut labels: BTreeMap<&str, &str> = BTreeMap::new();
    let mut fixed: BTreeMap<(&str, i64), &str> = BTreeMap::new();
    for (at, network) in networks.iter().enumerate() {
        let path = format!("network[{at}]");
        let hostname = network.hostname.as_str();
        faults.at(
            &format!("{path} → hostname"),
            !hostname.is_empty() && !hostname.contains("${") && !is_dns_name(hostname),
            || format!("Hostname is not a valid DNS name: {hostname:?}"),
        );
        for (port, is_fixed) in network
            .reserved_ports
            .iter()
            .map(|port| (port, true))
            .chain(network.dynamic_ports.iter().map(|port| (port, false)))
        {
            let label = port.label.as_str();
            let port_path = format!("{path} → port {label:?}");
            faults.at(&path, label.is_empty(), || "Port label can't be empty".to_owned());
            if let Some(user) = labels.insert(label, "task group network") {
                faults.at(&port_path, true, || format!("Port label {label} already in use by {user}"));
            }
            if is_fixed {
                let value = port.value;
                faults.at(&format!("{port_path} → static"), value > PORT_MAX, || {
                    format!("Port {label} ({value}) cannot be greater than {PORT_MAX}")
                });
                faults.at(&format!("{port_path} → static"), value < 1, || {
                    format!("Port {label} ({value}) must be at least 1")
                });
                if let Some(user) = fixed.insert((port.host_network.as_str(), value), label) {
                    faults.at(&format!("{port_path} → static"), true, || {
                        format!("Static port {value} already reserved by {user}")
                    });
                }
            }
            faults.at(&format!("{port_path} → to"), port.to < -1, || {
                format!("Port {label:?} cannot be mapped to negative value {}", port.to)
            });
            faults.at(&format!("{port_path} → to"), port.to > PORT_MAX, || {
                format!("Port {label:?} cannot be mapped to a port ({}) greater than {PORT_MAX}", port.to)
            });
        }
    }
    faults.0
}
