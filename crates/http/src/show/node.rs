use std::collections::BTreeMap;

use longshore_api as api;
use longshore_model::{Node, NodeDriver, NodeEvent, NodeNetwork, Resources};

use super::allocation::no_resources;
use super::time;

/// What of a node a list shows.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct StubFields {
    pub(crate) resources: bool,
    pub(crate) attributes: bool,
}

pub(crate) fn node(node: &Node) -> api::Node {
    api::Node {
        id: node.id.to_string(),
        secret_id: String::new(),
        datacenter: node.datacenter.clone(),
        name: node.name.clone(),
        cgroup_parent: String::new(),
        http_addr: node.http_address.clone(),
        tls_enabled: false,
        attributes: node.attributes.clone(),
        node_resources: Some(resources(node)),
        reserved_resources: Some(reserved(node)),
        resources: Some(api::Resources { networks: networks(node), ..legacy(&node.resources) }),
        reserved: Some(legacy(&node.reserved)),
        links: node.links.clone(),
        meta: node.meta.clone(),
        node_class: node.class.clone(),
        node_pool: node.node_pool.clone(),
        computed_class: node.computed_class.clone(),
        scheduling_eligibility: node.eligibility.word().to_owned(),
        status: node.status.word().to_owned(),
        status_description: node.status_description.clone(),
        status_updated_at: node.status_updated_at.as_nanoseconds() / 1_000_000_000,
        events: node.events.iter().map(event).collect(),
        drivers: drivers(node),
        create_index: node.create_index.0,
        modify_index: node.modify_index.0,
        ..api::Node::default()
    }
}

/// A node in a list.
pub(crate) fn stub(node: &Node, fields: StubFields) -> api::NodeListStub {
    api::NodeListStub {
        address: host_of(&node.http_address).to_owned(),
        id: node.id.to_string(),
        attributes: if fields.attributes { operating_system(node) } else { BTreeMap::new() },
        datacenter: node.datacenter.clone(),
        name: node.name.clone(),
        node_pool: node.node_pool.clone(),
        node_class: node.class.clone(),
        version: node.attributes.get("nomad.version").cloned().unwrap_or_default(),
        drain: false,
        scheduling_eligibility: node.eligibility.word().to_owned(),
        status: node.status.word().to_owned(),
        status_description: node.status_description.clone(),
        drivers: drivers(node),
        node_resources: fields.resources.then(|| resources(node)),
        reserved_resources: fields.resources.then(|| reserved(node)),
        create_index: node.create_index.0,
        modify_index: node.modify_index.0,
        ..api::NodeListStub::default()
    }
}

/// The host of `host:port`, without the brackets of an IPv6 address.
fn host_of(address: &str) -> &str {
    let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
    host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host)
}

fn operating_system(node: &Node) -> BTreeMap<String, String> {
    node.attributes.iter().filter(|(key, _)| *key == "os.name").map(|(k, v)| (k.clone(), v.clone())).collect()
}

fn drivers(node: &Node) -> BTreeMap<String, api::DriverInfo> {
    node.drivers.iter().map(|(name, info)| (name.clone(), driver(info))).collect()
}

fn driver(driver: &NodeDriver) -> api::DriverInfo {
    api::DriverInfo {
        attributes: driver.attributes.clone(),
        detected: driver.detected,
        healthy: driver.healthy,
        health_description: driver.health_description.clone(),
        update_time: time(driver.update_time),
    }
}

fn event(event: &NodeEvent) -> api::NodeEvent {
    api::NodeEvent {
        message: event.message.clone(),
        subsystem: event.subsystem.clone(),
        details: event.details.clone(),
        timestamp: time(event.at),
        create_index: event.create_index.0,
    }
}

fn resources(node: &Node) -> api::NodeResources {
    let cores = node.attributes.get("cpu.numcores").and_then(|count| count.parse::<u64>().ok()).unwrap_or_default();
    api::NodeResources {
        cpu: api::NodeCpuResources {
            cpu_shares: node.resources.cpu_mhz,
            total_cpu_cores: cores,
            reservable_cpu_cores: (0..cores).collect(),
        },
        memory: api::NodeMemoryResources { memory_mb: node.resources.memory_mb },
        disk: api::NodeDiskResources { disk_mb: node.resources.disk_mb },
        devices: Vec::new(),
        node_networks: node.networks.iter().map(node_network).collect(),
        networks: networks(node),
        min_dynamic_port: node.min_dynamic_port.into(),
        max_dynamic_port: node.max_dynamic_port.into(),
    }
}

fn node_network(network: &NodeNetwork) -> api::NodeNetworkResource {
    api::NodeNetworkResource {
        mode: network.mode.clone(),
        device: network.device.clone(),
        mac_address: String::new(),
        speed: network.speed_mbits.into(),
        addresses: vec![api::NodeNetworkAddress {
            family: if network.ip.contains(':') { "ipv6" } else { "ipv4" }.to_owned(),
            alias: "default".to_owned(),
            address: network.ip.clone(),
            ..api::NodeNetworkAddress::default()
        }],
    }
}

fn networks(node: &Node) -> Vec<api::NetworkResource> {
    let one = |network: &NodeNetwork| api::NetworkResource {
        mode: network.mode.clone(),
        device: network.device.clone(),
        cidr: network.cidr.clone(),
        ip: network.ip.clone(),
        mbits: Some(network.speed_mbits.into()),
        ..api::NetworkResource::default()
    };
    node.networks.iter().map(one).collect()
}

fn reserved(node: &Node) -> api::NodeReservedResources {
    api::NodeReservedResources {
        cpu: api::NodeReservedCpuResources { cpu_shares: node.reserved.cpu_mhz, reserved_cpu_cores: Vec::new() },
        memory: api::NodeReservedMemoryResources { memory_mb: node.reserved.memory_mb },
        disk: api::NodeReservedDiskResources { disk_mb: node.reserved.disk_mb },
        networks: api::NodeReservedNetworkResources { reserved_host_ports: port_ranges(&node.reserved_ports) },
    }
}

fn legacy(resources: &Resources) -> api::Resources {
    api::Resources {
        cpu: Some(resources.cpu_mhz),
        memory_mb: Some(resources.memory_mb),
        disk_mb: Some(resources.disk_mb),
        ..no_resources()
    }
}

/// `22,8500-8600`.
fn port_ranges(ports: &[u16]) -> String {
    let mut sorted = ports.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    let mut ranges: Vec<(u16, u16)> = Vec::new();
    for port in sorted {
        match ranges.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(port) => *last = port,
            _ => ranges.push((port, port)),
        }
    }
    let texts: Vec<String> = ranges
        .into_iter()
        .map(|(first, last)| if first == last { first.to_string() } else { format!("{first}-{last}") })
        .collect();
    texts.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_told_as_ranges() {
        assert_eq!(port_ranges(&[]), "");
        assert_eq!(port_ranges(&[22]), "22");
        assert_eq!(port_ranges(&[8501, 22, 8500, 8502, 8502, 65535]), "22,8500-8502,65535");
    }

    #[test]
    fn hosts_of_addresses() {
        assert_eq!(host_of("127.0.0.1:4646"), "127.0.0.1");
        assert_eq!(host_of("[::1]:4646"), "::1");
        assert_eq!(host_of("web"), "web");
    }
}
