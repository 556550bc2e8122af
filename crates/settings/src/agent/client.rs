use std::collections::BTreeMap;
use std::path::PathBuf;

use longshore_values::GoDuration;

use crate::decode::{Block, Given};
use crate::reference::take_rest;

/// The `client` block.
#[derive(Debug, Clone, PartialEq)]
pub struct Client {
    pub enabled: bool,
    pub state_dir: Option<PathBuf>,
    pub alloc_dir: Option<PathBuf>,
    pub servers: Vec<String>,
    pub node_class: String,
    pub node_pool: String,
    /// `options { … }`, each with its place.
    pub options: BTreeMap<String, Given<String>>,
    pub meta: BTreeMap<String, String>,
    pub network_interface: Option<String>,
    /// Mbit/s; `None` means detect.
    pub network_speed: Option<i64>,
    /// MHz; `None` means detect.
    pub cpu_total_compute: Option<i64>,
    pub memory_total_mb: Option<i64>,
    pub disk_total_mb: Option<i64>,
    pub disk_free_mb: Option<i64>,
    pub max_kill_timeout: GoDuration,
    pub min_dynamic_port: i64,
    pub max_dynamic_port: i64,
    pub reserved: Reserved,
    pub gc_interval: GoDuration,
    pub gc_parallel_destroys: i64,
    /// Percent.
    pub gc_disk_usage_threshold: f64,
    /// Percent.
    pub gc_inode_usage_threshold: f64,
    pub gc_max_allocs: i64,
    pub host_volumes: BTreeMap<String, HostVolume>,
    pub host_networks: BTreeMap<String, HostNetwork>,
    pub cgroup_parent: Option<String>,
    /// Nobody runs commands in tasks of this node.
    pub disable_remote_exec: bool,
}

/// What tasks may not use.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reserved {
    /// MHz.
    pub cpu: i64,
    /// MiB.
    pub memory: i64,
    /// MiB.
    pub disk: i64,
    /// As given: `22,80,8000-9000`; checked.
    pub reserved_ports: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostVolume {
    pub path: PathBuf,
    pub read_only: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostNetwork {
    pub cidr: String,
    pub interface: String,
    pub reserved_ports: String,
}

/// Read and checked, but nothing in this build acts on them.
const WITHOUT_EFFECT: &[&str] =
    &["gc_disk_usage_threshold", "gc_inode_usage_threshold", "gc_interval", "gc_parallel_destroys"];

pub(super) fn decode(block: &mut Block<'_>) -> Client {
    for key in WITHOUT_EFFECT {
        block.note_unused(key, "");
    }
    block.note_unused("servers", "this agent's own server is used");
    block.note_unused_blocks("host_volume", "");
    block.note_unused_blocks("host_network", "");
    let client = Client {
        enabled: block.take_bool_or("enabled", false),
        state_dir: block.take_string("state_dir").map(Into::into),
        alloc_dir: block.take_string("alloc_dir").map(Into::into),
        servers: block.take_strings("servers").unwrap_or_default(),
        node_class: block.take_string_or("node_class", ""),
        node_pool: block.take_string_or("node_pool", "default"),
        options: block.take_given_map("options"),
        meta: block.take_map("meta"),
        network_interface: block.take_string("network_interface"),
        network_speed: positive(block, "network_speed"),
        cpu_total_compute: positive(block, "cpu_total_compute"),
        memory_total_mb: positive(block, "memory_total_mb"),
        disk_total_mb: positive(block, "disk_total_mb"),
        disk_free_mb: positive(block, "disk_free_mb"),
        max_kill_timeout: block.take_duration_or("max_kill_timeout", GoDuration::seconds(30)),
        // Ranges are checked together, with Nomad's words.
        min_dynamic_port: block.take_integer_or("min_dynamic_port", 20_000, i64::MIN..=i64::MAX),
        max_dynamic_port: block.take_integer_or("max_dynamic_port", 32_000, i64::MIN..=i64::MAX),
        reserved: block.take_block("reserved", |reserved| {
            take_rest(reserved, "client.reserved");
            Reserved {
                cpu: reserved.take_integer_or("cpu", 0, 0..=i64::MAX),
                memory: reserved.take_integer_or("memory", 0, 0..=i64::MAX),
                disk: reserved.take_integer_or("disk", 0, 0..=i64::MAX),
                reserved_ports: reserved.take_string_or("reserved_ports", ""),
            }
        }),
        gc_interval: block.take_duration_or("gc_interval", GoDuration::minutes(1)),
        gc_parallel_destroys: block.take_integer_or("gc_parallel_destroys", 2, 1..=i64::MAX),
        gc_disk_usage_threshold: block.take_float_or("gc_disk_usage_threshold", 80.0),
        gc_inode_usage_threshold: block.take_float_or("gc_inode_usage_threshold", 70.0),
        gc_max_allocs: block.take_integer_or("gc_max_allocs", 50, 0..=i64::MAX),
        host_volumes: block.take_named_blocks("host_volume", host_volume),
        host_networks: block.take_named_blocks("host_network", |_, network| HostNetwork {
            cidr: network.take_string_or("cidr", ""),
            interface: network.take_string_or("interface", ""),
            reserved_ports: network.take_string_or("reserved_ports", ""),
        }),
        cgroup_parent: block.take_string("cgroup_parent"),
        disable_remote_exec: block.take_bool_or("disable_remote_exec", false),
    };
    refuse_ineligible(block);
    take_rest(block, "client");
    client
}

/// A node that was to wait for an operator's word must not take work at once.
fn refuse_ineligible(block: &mut Block<'_>) {
    let origin = block.origin_of("default_ineligible");
    if block.take_bool_or("default_ineligible", false)
        && let Some(origin) = origin
    {
        block.refuse_what_nomad_does(
            &origin,
            "client.default_ineligible = true is not in this build",
            "remove the line",
        );
    }
}

/// Zero means detect.
fn positive(block: &mut Block<'_>, key: &str) -> Option<i64> {
    block.take_integer(key, 0..=i64::MAX).filter(|value| *value > 0)
}

fn host_volume(name: &str, block: &mut Block<'_>) -> HostVolume {
    let given = block.take_given_string("path");
    let read_only = block.take_bool_or("read_only", false);
    let path = match given {
        Some(given) => given.value,
        None => {
            let origin = block.block_origin();
            block.refuse(
                &origin,
                "Missing path in host_volume config",
                format!("host_volume {name:?} {{ path = \"/…\" }}"),
            );
            String::new()
        }
    };
    HostVolume { path: path.into(), read_only }
}
