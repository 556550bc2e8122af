//! The agent's configuration as `/v1/agent/self` tells it: under the names that Nomad's clients read, each of them. A
//! setting that holds is shown with its value; one that nothing in this build acts on with Nomad's default.
//!
//! Secrets read `***`.

mod absent;
mod client;
mod server;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use longshore_settings::{AgentConfig, names_a_secret};
use serde_json::{Map, Value, json};

use crate::addresses::{Listener, Listeners};
use crate::banner::API_LEVEL;

/// What is shown beside the settings themselves.
pub(crate) struct Shown<'a> {
    pub(crate) config: &'a AgentConfig,
    pub(crate) listeners: &'a Listeners,
    /// The agent's name.
    pub(crate) name: &'a str,
    /// Agent files that were read.
    pub(crate) files: &'a [String],
    /// The options of the drivers that this agent may have, by name. One that is off is shown where a file speaks of it.
    pub(crate) drivers: BTreeMap<&'static str, Value>,
}

impl Shown<'_> {
    pub(crate) fn rows(self) -> BTreeMap<String, Value> {
        let Self { config, .. } = &self;
        let areas = [
            self.top(),
            json!({
                "ACL": absent::acl(),
                "Audit": absent::audit(),
                "Autopilot": absent::autopilot(),
                "Consul": absent::consul(),
                "Limits": absent::limits(),
                "Sentinel": { "Imports": null },
                "TLSConfig": absent::tls(),
                "UI": absent::ui(),
                "Vault": absent::vault(),
                "Client": client::client(&config.client),
                "Server": server::server(&config.server),
                "Telemetry": server::telemetry(&config.telemetry),
            }),
            self.addresses(),
            self.log(),
        ];
        let objects = areas.into_iter().filter_map(|area| match area {
            Value::Object(rows) => Some(rows),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => None,
        });
        objects.flatten().collect()
    }

    fn top(&self) -> Value {
        let Self { config, .. } = self;
        json!({
            "DataDir": config.data_dir,
            "Datacenter": config.datacenter,
            "DevMode": config.dev,
            // There is neither here.
            "DisableAnonymousSignature": true,
            "DisableUpdateCheck": true,
            "EnableDebug": config.enable_debug,
            "Files": self.files,
            "HTTPAPIResponseHeaders": masked(&config.http_api_response_headers),
            "LeaveOnInt": config.leave_on_interrupt,
            "LeaveOnTerm": config.leave_on_terminate,
            "NodeName": self.name,
            "PluginDir": config.plugin_dir.as_deref().unwrap_or("".as_ref()),
            "Plugins": self.plugins(),
            "Region": config.region,
            "Version": {
                "BuildDate": "0001-01-01T00:00:00Z",
                "Longshore": env!("CARGO_PKG_VERSION"),
                "Revision": "",
                "Version": API_LEVEL,
                "VersionMetadata": "",
                "VersionPrerelease": "",
            },
        })
    }

    fn addresses(&self) -> Value {
        let Self { config, listeners, .. } = self;
        let ip = |listener: &Listener| listener.bind.ip().to_string();
        json!({
            "Addresses": { "HTTP": ip(&listeners.http), "RPC": ip(&listeners.rpc), "Serf": ip(&listeners.serf) },
            "AdvertiseAddrs": {
                "HTTP": listeners.http.advertise,
                "RPC": listeners.rpc.advertise,
                "Serf": listeners.serf.advertise,
            },
            "BindAddr": config.bind_addr,
            "Ports": { "HTTP": config.ports.http, "RPC": config.ports.rpc, "Serf": config.ports.serf },
        })
    }

    fn log(&self) -> Value {
        let log = &self.config.log;
        json!({
            "EnableSyslog": false,
            "LogFile": "",
            "LogIncludeLocation": log.include_location,
            "LogJson": log.json,
            "LogLevel": log.level,
            "LogRotateBytes": 0,
            "LogRotateDuration": "",
            "LogRotateMaxFiles": 0,
            "SyslogFacility": "LOCAL0",
        })
    }

    fn plugins(&self) -> Vec<Value> {
        let is_on = |options: &Value| options.get("enabled") != Some(&Value::Bool(false));
        let on = self.drivers.iter().filter(|(_, options)| is_on(options)).map(|(name, _)| *name);
        let named: BTreeSet<&str> = self.config.plugins.keys().map(String::as_str).chain(on).collect();
        let plugin = |name: &str| json!({ "Name": name, "Args": null, "Config": self.drivers.get(name) });
        named.into_iter().map(plugin).collect()
    }
}

/// A map with what its keys say to be secret left out.
fn masked(map: &BTreeMap<String, String>) -> Map<String, Value> {
    let shown = |key: &str, value: &str| if names_a_secret(key) { "***".to_owned() } else { value.to_owned() };
    map.iter().map(|(key, value)| (key.clone(), Value::String(shown(key, value)))).collect()
}
