//! The node as the server is told of it.

use std::collections::BTreeMap;

use longshore_driver::Fingerprint;
use longshore_model::{Eligibility, LogIndex, Node, NodeDriver, NodeId, NodeStatus, Resources, Timestamp};
use sha2::{Digest, Sha256};

use super::facts;
use crate::ClientConfig;

/// The version of Nomad's API that this build keeps.
const API_LEVEL: &str = "1.6.3";

/// Looks at the machine. Drivers are told later.
pub(crate) fn detect(config: &ClientConfig, id: NodeId) -> Node {
    let mut attributes = BTreeMap::new();
    facts::system(&mut attributes);
    let cpu_mhz = facts::processor(&mut attributes, config.cpu_total_mhz);
    let memory_mb = facts::memory(&mut attributes, config.memory_total_mb);
    let disk_mb = facts::storage(&mut attributes, &config.alloc_dir, config.disk_total_mb, config.disk_free_mb);
    let networks = facts::network(&mut attributes, &config.network_interface, config.network_speed_mbits);
    attributes.insert("nomad.version".to_owned(), API_LEVEL.to_owned());
    attributes.insert("longshore.version".to_owned(), config.version.clone());
    if !config.http_address.is_empty() {
        attributes.insert("nomad.advertise.address".to_owned(), config.http_address.clone());
    }
    let mut node = Node {
        id,
        name: config.name.clone(),
        datacenter: config.datacenter.clone(),
        node_pool: config.node_pool.clone(),
        class: config.node_class.clone(),
        computed_class: String::new(),
        http_address: config.http_address.clone(),
        attributes,
        meta: config.meta.clone(),
        links: BTreeMap::new(),
        resources: Resources { cpu_mhz, memory_mb, memory_max_mb: 0, disk_mb },
        reserved: config.reserved,
        reserved_ports: config.reserved_ports.clone(),
        min_dynamic_port: config.min_dynamic_port,
        max_dynamic_port: config.max_dynamic_port,
        networks,
        drivers: BTreeMap::new(),
        status: NodeStatus::Ready,
        status_description: String::new(),
        status_updated_at: Timestamp::NEVER,
        eligibility: Eligibility::Eligible,
        events: Vec::new(),
        create_index: LogIndex::default(),
        modify_index: LogIndex::default(),
    };
    node.computed_class = computed_class(&node);
    node
}

/// The node with what its drivers say of themselves now.
pub(crate) fn with_drivers(node: &Node, fingerprints: &BTreeMap<&'static str, Fingerprint>, now: Timestamp) -> Node {
    let mut node = node.clone();
    node.attributes.retain(|name, _| !name.starts_with("driver."));
    for (name, fingerprint) in fingerprints {
        let own = format!("driver.{name}");
        let mut told = fingerprint.attributes.clone();
        if fingerprint.detected {
            node.attributes.extend(fingerprint.attributes.clone());
            node.attributes.insert(own.clone(), "1".to_owned());
            told.insert(own, "true".to_owned());
        }
        let driver = NodeDriver {
            detected: fingerprint.detected,
            healthy: fingerprint.healthy,
            health_description: fingerprint.description.clone(),
            update_time: now,
            attributes: told,
        };
        let entry = node.drivers.entry((*name).to_owned()).or_insert_with(|| driver.clone());
        // A driver that says what it said before is as old as when it first said it.
        if (NodeDriver { update_time: entry.update_time, ..driver.clone() }) != *entry {
            *entry = driver;
        }
    }
    node.computed_class = computed_class(&node);
    node
}

/// Nodes of one class are alike in all that is not unique to one of them.
fn computed_class(node: &Node) -> String {
    let mut hasher = Sha256::new();
    let mut take = |text: &str| {
        hasher.update((text.len() as u64).to_be_bytes());
        hasher.update(text.as_bytes());
    };
    for text in [&node.datacenter, &node.class, &node.node_pool] {
        take(text);
    }
    for (kind, pairs) in [("attributes", &node.attributes), ("meta", &node.meta)] {
        take(kind);
        for (name, value) in pairs.iter().filter(|(name, _)| !name.starts_with("unique.")) {
            take(name);
            take(value);
        }
    }
    let digest = hasher.finalize();
    let first = digest.iter().take(8).fold(0_u64, |sum, byte| sum << 8 | u64::from(*byte));
    format!("v1:{first}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node() -> Node {
        detect(&ClientConfig::new("/", "/", "host-a"), NodeId::from_u128(7))
    }

    fn fingerprint(healthy: bool) -> BTreeMap<&'static str, Fingerprint> {
        let attributes = BTreeMap::from([("driver.docker.version".to_owned(), "20.10".to_owned())]);
        let description = if healthy { "Healthy" } else { "away" }.to_owned();
        BTreeMap::from([("docker", Fingerprint { detected: healthy, healthy, description, attributes })])
    }

    #[test]
    fn drivers_come_and_go() {
        let at = Timestamp::from_seconds;
        let with = with_drivers(&node(), &fingerprint(true), at(5));
        assert_eq!(with.attributes["driver.docker"], "1");
        assert_eq!(with.attributes["driver.docker.version"], "20.10");
        assert_eq!(with.drivers["docker"].attributes["driver.docker"], "true");
        assert_ne!(with.computed_class, node().computed_class);
        assert_eq!(with_drivers(&with, &fingerprint(true), at(9)), with);
        let without = with_drivers(&with, &fingerprint(false), at(9));
        assert!(!without.attributes.contains_key("driver.docker"));
        assert_eq!(without.drivers["docker"].update_time, at(9));
        assert_eq!(without.computed_class, node().computed_class);
    }

    #[test]
    fn what_is_unique_does_not_make_a_class() {
        let mut other = node();
        other.name = "host-b".to_owned();
        other.attributes.insert("unique.hostname".to_owned(), "host-b".to_owned());
        assert_eq!(computed_class(&other), computed_class(&node()));
        other.meta.insert("rack".to_owned(), "r2".to_owned());
        assert_ne!(computed_class(&other), computed_class(&node()));
    }
}
