use std::collections::BTreeMap;

use serde::Deserialize;

use super::null_is_empty;
use crate::version::ApiVersion;

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct ServerVersion {
    #[serde(default, deserialize_with = "null_is_empty")]
    pub version: String,
    pub api_version: ApiVersion,
    #[serde(default, rename = "MinAPIVersion")]
    pub min_api_version: Option<ApiVersion>,
    #[serde(default, deserialize_with = "null_is_empty")]
    pub os: String,
    #[serde(default, deserialize_with = "null_is_empty")]
    pub arch: String,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Info {
    /// Two engines of one host can share it on 20.10: use it together with `docker_root_dir`.
    #[serde(default, rename = "ID", deserialize_with = "null_is_empty")]
    pub id: String,
    #[serde(default, deserialize_with = "null_is_empty")]
    pub docker_root_dir: String,
    #[serde(default, deserialize_with = "null_is_empty")]
    pub server_version: String,
    #[serde(default, rename = "OSType", deserialize_with = "null_is_empty")]
    pub os_type: String,
    #[serde(default, deserialize_with = "null_is_empty")]
    pub architecture: String,
    /// `overlay2`, or `overlayfs` with `driver-type` `io.containerd.snapshotter.v1` for the containerd image store.
    #[serde(default, deserialize_with = "null_is_empty")]
    pub driver: String,
    #[serde(default, deserialize_with = "null_is_empty")]
    pub cgroup_version: String,
    #[serde(default, rename = "NCPU")]
    pub ncpu: i64,
    #[serde(default, deserialize_with = "null_is_empty")]
    pub runtimes: BTreeMap<String, RuntimeInfo>,
    #[serde(default)]
    pub live_restore_enabled: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct RuntimeInfo {
    #[serde(default, deserialize_with = "null_is_empty")]
    pub path: String,
}

/// A network, as far as anything here asks.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Network {
    #[serde(default, deserialize_with = "null_is_empty")]
    pub name: String,
    #[serde(default, rename = "IPAM", deserialize_with = "null_is_empty")]
    ipam: Ipam,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Ipam {
    #[serde(default, deserialize_with = "null_is_empty")]
    config: Vec<IpamConfig>,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct IpamConfig {
    #[serde(default, deserialize_with = "null_is_empty")]
    gateway: String,
}

impl Network {
    /// The first gateway, if it has one.
    pub fn gateway(&self) -> Option<&str> {
        self.ipam.config.iter().map(|config| config.gateway.as_str()).find(|gateway| !gateway.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_gateway_counts() {
        for (config, gateway) in [
            ("null", None),
            (r#"{"Config": null}"#, None),
            (r#"{"Config": [{"Subnet": "172.17.0.0/16"}, {"Gateway": "172.17.0.1"}]}"#, Some("172.17.0.1")),
        ] {
            let network: Network = serde_json::from_str(&format!(r#"{{"Name": "bridge", "IPAM": {config}}}"#)).unwrap();
            assert_eq!(network.gateway(), gateway, "{config}");
        }
    }
}
