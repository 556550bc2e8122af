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
    faults.when(networks.len() > 1, || {
        format!("Only one network is allowed in a task group; there are {}", networks.len())
    });
    let mut labels: BTreeMap<&str, &str> = BTreeMap::new();
    let mut fixed: BTreeMap<(&str, i64), &str> = BTreeMap::new();
    for network in networks {
        let hostname = network.hostname.as_str();
        faults.when(!hostname.is_empty() && !hostname.contains("${") && !is_dns_name(hostname), || {
            format!("Hostname is not a valid DNS name: {hostname:?}")
        });
        for (port, is_fixed) in network
            .reserved_ports
            .iter()
            .map(|port| (port, true))
            .chain(network.dynamic_ports.iter().map(|port| (port, false)))
        {
            let label = port.label.as_str();
            faults.when(label.is_empty(), || "Port label can't be empty".to_owned());
            if let Some(user) = labels.insert(label, "task group network") {
                faults.when(true, || format!("Port label {label} already in use by {user}"));
            }
            if is_fixed {
                let value = port.value;
                faults.when(value > PORT_MAX, || format!("Port {label} ({value}) cannot be greater than {PORT_MAX}"));
                faults.when(value < 1, || format!("Port {label} ({value}) must be at least 1"));
                if let Some(user) = fixed.insert((port.host_network.as_str(), value), label) {
                    faults.when(true, || format!("Static port {value} already reserved by {user}"));
                }
            }
            faults.when(port.to < -1, || format!("Port {label:?} cannot be mapped to negative value {}", port.to));
            faults.when(port.to > PORT_MAX, || {
                format!("Port {label:?} cannot be mapped to a port ({}) greater than {PORT_MAX}", port.to)
            });
        }
    }
    faults.0
}
