use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use longshore_settings::Client;
use serde_json::{Value, json};

use super::{absent, masked};

pub(super) fn client(client: &Client) -> Value {
    let options: BTreeMap<String, String> =
        client.options.iter().map(|(key, given)| (key.clone(), given.value.clone())).collect();
    let path = |path: &Option<PathBuf>| path.as_deref().unwrap_or(Path::new("")).display().to_string();
    let mut shown = json!({
        "AllocDir": path(&client.alloc_dir),
        "CgroupParent": client.cgroup_parent.as_deref().unwrap_or(""),
        "CpuCompute": client.cpu_total_compute.unwrap_or(0),
        "DiskFreeMB": client.disk_free_mb.unwrap_or(0),
        "DiskTotalMB": client.disk_total_mb.unwrap_or(0),
        "Enabled": client.enabled,
        "GCDiskUsageThreshold": client.gc_disk_usage_threshold,
        "GCInodeUsageThreshold": client.gc_inode_usage_threshold,
        "GCInterval": client.gc_interval,
        "GCMaxAllocs": client.gc_max_allocs,
        "GCParallelDestroys": client.gc_parallel_destroys,
        "MaxDynamicPort": client.max_dynamic_port,
        "MaxKillTimeout": client.max_kill_timeout.to_string(),
        "MemoryMB": client.memory_total_mb.unwrap_or(0),
        "Meta": masked(&client.meta),
        "MinDynamicPort": client.min_dynamic_port,
        "NetworkInterface": client.network_interface.as_deref().unwrap_or(""),
        "NetworkSpeed": client.network_speed.unwrap_or(0),
        "NodeClass": client.node_class,
        "NodePool": client.node_pool,
        "Options": masked(&options),
        "Servers": client.servers,
        "StateDir": path(&client.state_dir),
    });
    let networks = client.host_networks.iter().map(|(name, network)| {
        json!({ "CIDR": network.cidr, "Interface": network.interface, "Name": name, "ReservedPorts": network.reserved_ports })
    });
    let volumes = client
        .host_volumes
        .iter()
        .map(|(name, volume)| json!({ "Name": name, "Path": volume.path, "ReadOnly": volume.read_only }));
    for (key, value) in [
        ("HostNetworks", networks.collect()),
        ("HostVolumes", volumes.collect()),
        (
            "Reserved",
            json!({
                "CPU": client.reserved.cpu,
                "Cores": "",
                "DiskMB": client.reserved.disk,
                "MemoryMB": client.reserved.memory,
                "ReservedPorts": client.reserved.reserved_ports,
            }),
        ),
        ("BindWildcardDefaultHostNetwork", json!(true)),
        ("BridgeNetworkHairpinMode", json!(false)),
        ("BridgeNetworkName", json!("")),
        ("BridgeNetworkSubnet", json!("")),
        ("CNIConfigDir", json!("")),
        ("CNIPath", json!("")),
        ("ChrootEnv", json!({})),
        ("ClientMaxPort", json!(14_512)),
        ("ClientMinPort", json!(14_000)),
        ("DisableRemoteExec", json!(client.disable_remote_exec)),
        ("NoHostUUID", json!(true)),
        ("NomadServiceDiscovery", json!(false)),
        ("ReserveableCores", json!("")),
        ("ServerJoin", absent::server_join()),
        (
            "TemplateConfig",
            json!({ "DisableSandbox": false, "FunctionBlacklist": null, "FunctionDenylist": ["plugin", "writeToFile"] }),
        ),
    ] {
        shown[key] = value;
    }
    shown
}
