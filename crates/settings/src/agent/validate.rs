use std::path::Path;

use crate::agent::AgentConfig;
use crate::decode::Block;
use crate::source::Origin;

/// What spans several settings, in Nomad's words.
pub(super) fn validate(config: &AgentConfig, block: &mut Block<'_>) {
    let mut refuse = |summary: String, hint: &str| block.refuse(&Origin::Default, summary, hint);
    if !config.server.enabled && !config.client.enabled && !config.dev {
        refuse(
            "Must specify either server, client or dev mode for the agent.".to_owned(),
            "for a first try: agent -dev",
        );
    }
    if config.region.contains('\0') {
        refuse("Region contains invalid characters".to_owned(), "");
    }
    if config.datacenter.contains(['\0', '*']) {
        refuse("Datacenter contains invalid characters (null or '*')".to_owned(), "");
    }
    let folders = [
        ("data-dir", config.data_dir.as_deref()),
        ("plugin-dir", config.plugin_dir.as_deref()),
        ("alloc-dir", config.client.alloc_dir.as_deref()),
        ("state-dir", config.client.state_dir.as_deref()),
    ];
    for (name, folder) in folders {
        if let Some(folder) = folder.filter(|folder| !folder.is_absolute()) {
            refuse(format!("{name} must be given as an absolute path: got {}", folder.display()), "");
        }
    }
    if config.data_dir.is_none() && !config.dev && !has_own_folders(config) {
        refuse("Must specify \"data_dir\" config option or \"data-dir\" CLI flag".to_owned(), "");
    }
    for key in config.client.meta.keys().filter(|key| !is_interpolation_name(key)) {
        refuse(format!("Invalid Client.Meta key: {key}"), "a key is parts without blanks, joined by dots");
    }
    // More than one is refused already, whatever the mode.
    if config.server.bootstrap_expect == 1 && !config.server.enabled {
        refuse("Bootstrap requires server mode to be enabled".to_owned(), "");
    }
    let (min, max) = (config.client.min_dynamic_port, config.client.max_dynamic_port);
    if !(0..=65_535).contains(&min) || !(0..=65_535).contains(&max) || min > max {
        let summary = format!("Invalid dynamic port range: min_dynamic_port={min} and max_dynamic_port={max}");
        refuse(summary, "both lie between 0 and 65535");
    }
    if config.client.node_pool == "all" {
        refuse("Invalid node pool: node is not allowed to register in node pool \"all\"".to_owned(), "");
    }
    let ports = &config.client.reserved.reserved_ports;
    if let Err(why) = port_ranges(ports) {
        refuse(format!("reserved.reserved_ports {ports:?} invalid: {why}"), "as in \"22,80,8000-9000\"");
    }
    for (name, network) in &config.client.host_networks {
        let ports = &network.reserved_ports;
        if let Err(why) = port_ranges(ports) {
            let summary = format!("host_network[{name:?}].reserved_ports {ports:?} invalid: {why}");
            refuse(summary, "as in \"22,80,8000-9000\"");
        }
    }
    if config.server.job_default_priority > config.server.job_max_priority {
        let (default, max) = (config.server.job_default_priority, config.server.job_max_priority);
        refuse(format!("server.job_default_priority = {default} is above server.job_max_priority = {max}"), "");
    }
}

/// A client may do without `data_dir` when each of its folders is named.
fn has_own_folders(config: &AgentConfig) -> bool {
    let given: [Option<&Path>; 3] =
        [config.client.alloc_dir.as_deref(), config.client.state_dir.as_deref(), config.plugin_dir.as_deref()];
    !config.server.enabled && given.iter().all(Option::is_some)
}

fn is_interpolation_name(key: &str) -> bool {
    !key.is_empty() && key.split('.').all(|part| !part.is_empty() && !part.contains(['\0', ' ']))
}

/// The ports of `22,80,8000-9000`, in the order written.
///
/// # Errors
/// Why the text names no ports.
pub fn port_ranges(text: &str) -> Result<Vec<u16>, String> {
    let mut ports = Vec::new();
    let port = |text: &str| text.trim().parse::<u16>().map_err(|_| format!("{:?} is no port", text.trim()));
    for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        match part.split_once('-') {
            None => ports.push(port(part)?),
            Some((low, high)) => {
                let (low, high) = (port(low)?, port(high)?);
                if low > high {
                    return Err(format!("{part:?} ends before it begins"));
                }
                ports.extend(low..=high);
            }
        }
    }
    Ok(ports)
}
