//! The container that a network is made of.

use std::collections::BTreeMap;

use longshore_driver::{DriverError, NetworkRequest};
use longshore_engine::{CreateContainer, HostConfig, LogSettings, PortBinding};
use longshore_model::{AllocId, AllocatedPort};

use crate::task::{OWN_CONFIG_HASH, TaskConfig, config_hash, network_labels, publish};

/// `nomad_init_<allocation id>`, as Nomad has it.
pub(super) fn container_name(alloc: AllocId) -> String {
    format!("nomad_init_{alloc}")
}

/// The container, but for its image; and its config hash, which is among its labels.
pub(super) fn container_body(request: &NetworkRequest) -> Result<(CreateContainer, String), DriverError> {
    let is_bridge = match request.mode.as_str() {
        "bridge" => true,
        "none" => false,
        mode => {
            return Err(DriverError::fatal(format!("networks of mode {mode:?} are not made by this version"))
                .hint("use mode \"bridge\", \"none\" or \"host\""));
        }
    };
    let tasks: Vec<TaskConfig> =
        request.tasks.iter().filter_map(|task| TaskConfig::decode(&task.config).ok()).collect();
    let mut host_config = HostConfig {
        network_mode: if is_bridge { "default".to_owned() } else { "none".to_owned() },
        cap_drop: vec!["ALL".to_owned()],
        readonly_rootfs: true,
        security_opt: vec!["no-new-privileges".to_owned()],
        log_config: Some(LogSettings { kind: "none".to_owned(), config: BTreeMap::new() }),
        extra_hosts: extra_hosts(&tasks),
        ..HostConfig::default()
    };
    if is_bridge {
        host_config.port_bindings = port_bindings(&request.ports, &tasks);
        host_config.dns = request.dns.servers.clone();
        host_config.dns_search = request.dns.searches.clone();
        host_config.dns_options = request.dns.options.clone();
    }
    let mut body = CreateContainer {
        hostname: request.hostname.clone(),
        labels: network_labels(request.alloc, request.node.id),
        exposed_ports: host_config.port_bindings.keys().map(|port| (port.clone(), BTreeMap::new())).collect(),
        host_config,
        ..CreateContainer::default()
    };
    let hash = config_hash(&body).map_err(|error| {
        DriverError::fatal("the container of the group's network cannot be described").caused_by(error)
    })?;
    body.labels.insert(OWN_CONFIG_HASH.to_owned(), hash.clone());
    Ok((body, hash))
}

/// All ports of the group, but those that a task with a network of its own publishes itself.
fn port_bindings(ports: &[AllocatedPort], tasks: &[TaskConfig]) -> BTreeMap<String, Vec<PortBinding>> {
    let mut bindings = BTreeMap::new();
    let own = |task: &&TaskConfig| !task.network_mode.is_empty();
    for port in ports {
        if !tasks.iter().filter(own).any(|task| task.ports.contains(&port.label)) {
            publish(&mut bindings, port);
        }
    }
    bindings
}

/// The file of host names is shared with the network: it holds what any of its tasks asks for, each entry once.
fn extra_hosts(tasks: &[TaskConfig]) -> Vec<String> {
    let mut hosts: Vec<String> = Vec::new();
    for host in tasks.iter().filter(|task| task.network_mode.is_empty()).flat_map(|task| &task.extra_hosts) {
        if !hosts.contains(host) {
            hosts.push(host.clone());
        }
    }
    hosts
}

#[cfg(test)]
mod tests {
    use longshore_driver::{AcceptedTask, EventSink, NodeIdentity};
    use longshore_model::{Dns, NodeId};
    use serde_json::json;

    use super::*;

    fn request(mode: &str) -> NetworkRequest {
        let port = |label: &str, value, to| AllocatedPort {
            label: label.to_owned(),
            value,
            to,
            host_ip: "10.0.0.1".to_owned(),
            is_static: false,
        };
        let task = |name: &str, config| AcceptedTask { name: name.to_owned(), config };
        NetworkRequest {
            alloc: AllocId::from_u128(1),
            node: NodeIdentity {
                id: NodeId::from_u128(2),
                name: "n1".into(),
                datacenter: "dc1".into(),
                region: "r".into(),
            },
            mode: mode.to_owned(),
            hostname: "shop".to_owned(),
            dns: Dns { servers: vec!["10.0.0.53".to_owned()], searches: vec!["shop.test".to_owned()], options: vec![] },
            ports: vec![port("http", 20_001, 80), port("admin", 20_002, 0), port("own", 20_003, 81)],
            tasks: vec![
                task("web", json!({ "image": "redis:7", "ports": ["http"], "extra_hosts": ["db:10.0.0.2"] })),
                task("cron", json!({ "image": "redis:7", "extra_hosts": ["db:10.0.0.2", "mq:10.0.0.3"] })),
                task(
                    "apart",
                    json!({ "image": "redis:7", "network_mode": "host", "ports": ["own"], "extra_hosts": ["no:10.0.0.4"] }),
                ),
                task("wrong", json!({ "ports": ["http"] })),
            ],
            events: EventSink::new(|_| {}),
        }
    }

    #[test]
    fn a_bridge_publishes_what_no_task_publishes_itself() {
        let (mut body, hash) = container_body(&request("bridge")).unwrap();
        assert_eq!(body.labels.remove(OWN_CONFIG_HASH).unwrap(), hash);
        insta::assert_json_snapshot!(body, @r#"
        {
          "Image": "",
          "Env": [],
          "Hostname": "shop",
          "Labels": {
            "com.hashicorp.nomad.alloc_id": "00000000-0000-0000-0000-000000000001",
            "longshore.agent": "00000000-0000-0000-0000-000000000002",
            "longshore.allocation": "00000000-0000-0000-0000-000000000001",
            "longshore.network": "true"
          },
          "ExposedPorts": {
            "20002/tcp": {},
            "20002/udp": {},
            "80/tcp": {},
            "80/udp": {}
          },
          "HostConfig": {
            "NetworkMode": "default",
            "PortBindings": {
              "20002/tcp": [
                {
                  "HostIp": "10.0.0.1",
                  "HostPort": "20002"
                }
              ],
              "20002/udp": [
                {
                  "HostIp": "10.0.0.1",
                  "HostPort": "20002"
                }
              ],
              "80/tcp": [
                {
                  "HostIp": "10.0.0.1",
                  "HostPort": "20001"
                }
              ],
              "80/udp": [
                {
                  "HostIp": "10.0.0.1",
                  "HostPort": "20001"
                }
              ]
            },
            "CapDrop": [
              "ALL"
            ],
            "ReadonlyRootfs": true,
            "ExtraHosts": [
              "db:10.0.0.2",
              "mq:10.0.0.3"
            ],
            "Dns": [
              "10.0.0.53"
            ],
            "DnsSearch": [
              "shop.test"
            ],
            "LogConfig": {
              "Type": "none",
              "Config": {}
            },
            "SecurityOpt": [
              "no-new-privileges"
            ]
          }
        }
        "#);
    }

    #[test]
    fn none_has_no_way_out_and_others_are_refused() {
        let (body, hash) = container_body(&request("none")).unwrap();
        assert_eq!(body.host_config.network_mode, "none");
        assert!(body.host_config.port_bindings.is_empty() && body.exposed_ports.is_empty());
        assert_ne!(hash, container_body(&request("bridge")).unwrap().1);
        assert_eq!(hash, container_body(&request("none")).unwrap().1, "the same each time");
        assert!(container_body(&request("cni/x")).unwrap_err().message.contains("cni/x"));
    }
}
