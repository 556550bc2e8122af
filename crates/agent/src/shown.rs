//! The agent's configuration as `/v1/agent/self` tells it: under the names that Nomad's clients read.

use std::collections::BTreeMap;

use longshore_settings::{AgentConfig, names_a_secret};
use serde_json::{Value, json};

use crate::addresses::Listeners;
use crate::banner::API_LEVEL;

pub(crate) fn config(config: &AgentConfig, listeners: &Listeners, docker: Option<Value>) -> BTreeMap<String, Value> {
    let ip = |listener: &crate::addresses::Listener| listener.bind.ip().to_string();
    let mut plugins: Vec<Value> =
        config.plugins.keys().filter(|name| *name != "docker").map(|name| json!({ "Name": name })).collect();
    plugins.extend(docker.map(|options| json!({ "Name": "docker", "Args": null, "Config": options })));
    let client = &config.client;
    let options: BTreeMap<&str, &str> =
        client.options.iter().map(|(key, given)| (key.as_str(), given.value.as_str())).collect();
    let shown = json!({
        "ACL": { "Enabled": false },
        "Addresses": { "HTTP": ip(&listeners.http), "RPC": ip(&listeners.rpc), "Serf": ip(&listeners.serf) },
        "AdvertiseAddrs": {
            "HTTP": listeners.http.advertise,
            "RPC": listeners.rpc.advertise,
            "Serf": listeners.serf.advertise,
        },
        "BindAddr": config.bind_addr,
        "Client": {
            "AllocDir": client.alloc_dir,
            "Enabled": client.enabled,
            "GCInterval": client.gc_interval,
            "GCMaxAllocs": client.gc_max_allocs,
            "MaxKillTimeout": client.max_kill_timeout.to_string(),
            "Meta": client.meta,
            "NetworkInterface": client.network_interface,
            "NodeClass": client.node_class,
            "NodePool": client.node_pool,
            "Options": options,
            "Reserved": {
                "CPU": client.reserved.cpu,
                "DiskMB": client.reserved.disk,
                "MemoryMB": client.reserved.memory,
                "ReservedPorts": client.reserved.reserved_ports,
            },
            "Servers": client.servers,
            "StateDir": client.state_dir,
        },
        "DataDir": config.data_dir,
        "Datacenter": config.datacenter,
        "DevMode": config.dev,
        "EnableDebug": config.enable_debug,
        "LeaveOnInt": config.leave_on_interrupt,
        "LeaveOnTerm": config.leave_on_terminate,
        "LogJson": config.log.json,
        "LogLevel": config.log.level,
        "NodeName": config.name,
        "Plugins": plugins,
        "Ports": { "HTTP": config.ports.http, "RPC": config.ports.rpc, "Serf": config.ports.serf },
        "Region": config.region,
        "Server": {
            "BootstrapExpect": config.server.bootstrap_expect,
            "Enabled": config.server.enabled,
            "NumSchedulers": config.server.num_schedulers,
        },
        "TLSConfig": { "EnableHTTP": false, "EnableRPC": false },
        "Telemetry": { "PrometheusMetrics": config.telemetry.prometheus_metrics },
        "UI": { "Enabled": false },
        "Version": {
            "Longshore": env!("CARGO_PKG_VERSION"),
            "Revision": "",
            "Version": API_LEVEL,
            "VersionMetadata": "",
            "VersionPrerelease": "",
        },
    });
    match without_secrets(shown) {
        Value::Object(rows) => rows.into_iter().collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => BTreeMap::new(),
    }
}

/// What stands under a name of something secret is not for whoever asks; the word is Nomad's.
fn without_secrets(value: Value) -> Value {
    let inner = |(key, value): (String, Value)| match value {
        Value::String(text) if names_a_secret(&key) && !text.is_empty() => (key, Value::from("<redacted>")),
        value => (key, without_secrets(value)),
    };
    match value {
        Value::Object(rows) => Value::Object(rows.into_iter().map(inner).collect()),
        Value::Array(values) => Value::Array(values.into_iter().map(without_secrets).collect()),
        value @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_not_told() {
        let config = json!({
            "Client": { "Meta": { "api_token": "s3cret", "rack": "1" }, "Options": { "a.password": "" } },
            "Plugins": [{ "Config": { "logging": { "config": { "splunk-token": "t0ken", "tag": "x" } } } }],
        });
        let told = json!({
            "Client": { "Meta": { "api_token": "<redacted>", "rack": "1" }, "Options": { "a.password": "" } },
            "Plugins": [{ "Config": { "logging": { "config": { "splunk-token": "<redacted>", "tag": "x" } } } }],
        });
        assert_eq!(without_secrets(config), told);
    }
}
