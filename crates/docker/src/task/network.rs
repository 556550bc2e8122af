//! A task's networks: the mode, what it is in a network of the engine, and its published ports.

use std::collections::BTreeMap;

use longshore_driver::StartRequest;
use longshore_engine::{EndpointConfig, IpamConfig, NetworkingConfig, PortBinding};
use longshore_model::{AllocatedPort, Dns};

use super::body::BadTask;
use super::config::TaskConfig;
use crate::options::Options;

const SHARED: &str = "container:";

/// A task's own mode comes first; without one it is in the network of its group.
pub(super) fn network_mode(request: &StartRequest, config: &TaskConfig, options: &Options) -> Result<String, BadTask> {
    if config.network_mode.is_empty() {
        return match (&request.network, request.network_mode.as_deref()) {
            (Some(network), _) => {
                // The network's own file of host names holds what its tasks ask for.
                check_shared(config, true, "belongs to the network of the group: see its network block")?;
                Ok(format!("{SHARED}{}", network.id))
            }
            (None, None | Some("host")) => Ok("default".to_owned()),
            (None, Some(mode)) => Err(BadTask::GroupNetwork { mode: mode.to_owned() }),
        };
    }
    let mode = &config.network_mode;
    if !options.allow_network_modes.iter().any(|glob| glob.matches(mode)) {
        return Err(BadTask::NotAllowed {
            key: "network_mode".to_owned(),
            what: mode.clone(),
            setting: "allow_network_modes = [ … ]",
        });
    }
    if mode.starts_with(SHARED) {
        let why = format!("belongs to the container whose network is shared (config.network_mode is {mode:?})");
        check_shared(config, false, &why)?;
    }
    Ok(mode.clone())
}

/// What belongs to the container whose network is shared cannot be said for one that shares it.
fn check_shared(config: &TaskConfig, with_extra_hosts: bool, why: &str) -> Result<(), BadTask> {
    let given = [
        ("hostname", !config.hostname.is_empty()),
        ("mac_address", !config.mac_address.is_empty()),
        ("extra_hosts", !config.extra_hosts.is_empty() && !with_extra_hosts),
        ("dns_servers", !config.dns_servers.is_empty()),
        ("dns_search_domains", !config.dns_search_domains.is_empty()),
        ("dns_options", !config.dns_options.is_empty()),
    ];
    match given.iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((key, _)) => Err(BadTask::Wrong { key: (*key).to_owned(), why: why.to_owned() }),
    }
}

/// Whether a mode names a network that somebody made.
fn is_user_defined(mode: &str) -> bool {
    !matches!(mode, "" | "default" | "bridge" | "host" | "none" | "nat") && !mode.starts_with(SHARED)
}

/// What the container is in its network.
pub(super) fn networking(config: &TaskConfig) -> Result<Option<NetworkingConfig>, BadTask> {
    let mode = &config.network_mode;
    let ipam = IpamConfig { ipv4_address: config.ipv4_address.clone(), ipv6_address: config.ipv6_address.clone() };
    let of_network = [
        ("network_aliases", !config.network_aliases.is_empty()),
        ("ipv4_address", !ipam.ipv4_address.is_empty()),
        ("ipv6_address", !ipam.ipv6_address.is_empty()),
    ];
    if !is_user_defined(mode) {
        return match of_network.iter().find(|(_, given)| *given) {
            None => Ok(None),
            Some((key, _)) => Err(BadTask::Wrong {
                key: (*key).to_owned(),
                why: "needs a config.network_mode that names a network of your own on the engine".to_owned(),
            }),
        };
    }
    let endpoint = EndpointConfig {
        aliases: config.network_aliases.clone(),
        ipam_config: (ipam != IpamConfig::default()).then_some(ipam),
        mac_address: config.mac_address.clone(),
    };
    let endpoints_config = BTreeMap::from([(mode.clone(), endpoint)]);
    Ok(Some(NetworkingConfig { endpoints_config }))
}

pub(super) fn port_bindings(
    request: &StartRequest,
    config: &TaskConfig,
    network_mode: &str,
) -> Result<BTreeMap<String, Vec<PortBinding>>, BadTask> {
    let mut bindings: BTreeMap<String, Vec<PortBinding>> = BTreeMap::new();
    for label in &config.ports {
        let Some(port) = request.ports.iter().find(|port| port.label == *label) else {
            return Err(BadTask::NoSuchPort { label: label.clone() });
        };
        // As in Nomad: ports belong to the container whose network is shared.
        if network_mode.starts_with(SHARED) {
            continue;
        }
        publish(&mut bindings, port);
    }
    Ok(bindings)
}

/// A port of the group, from the node's address to the one inside.
pub(crate) fn publish(bindings: &mut BTreeMap<String, Vec<PortBinding>>, port: &AllocatedPort) {
    let inside = if port.to == 0 { port.value } else { port.to };
    let binding = PortBinding { host_ip: port.host_ip.clone(), host_port: port.value.to_string() };
    for protocol in ["tcp", "udp"] {
        let of_port = bindings.entry(format!("{inside}/{protocol}")).or_default();
        if !of_port.contains(&binding) {
            of_port.push(binding.clone());
        }
    }
}

/// Its own words about names, or else its group's; what shares a network shares those too.
pub(super) fn dns(request: &StartRequest, config: &TaskConfig, network_mode: &str) -> Dns {
    if network_mode.starts_with(SHARED) {
        return Dns::default();
    }
    let or = |own: &[String], of_group: &[String]| if own.is_empty() { of_group.to_vec() } else { own.to_vec() };
    Dns {
        servers: or(&config.dns_servers, &request.dns.servers),
        searches: or(&config.dns_search_domains, &request.dns.searches),
        options: or(&config.dns_options, &request.dns.options),
    }
}
