use std::collections::BTreeMap;

use longshore_api::NetworkResource;

use super::Faults;
use crate::fault::Fault;

const PORT_MAX: i64 = 65_535;

pub(super) fn networks(networks: &[NetworkResource]) -> Vec<Fault> {
    let mut faults = Faults::default();
    faults.when(networks.len() > 1, || {
        format!("Only one network is allowed in a task group; there are {}", networks.len())
    });
    let mut labels: BTreeMap<&str, &str> = BTreeMap::new();
    let mut fixed: BTreeMap<(&str, i64), &str> = BTreeMap::new();
    for network in networks {
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
