use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;

use super::null_is_empty;

/// Where a container stands. A word that nobody knew is kept as it came.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "String")]
pub enum ContainerStatus {
    Created,
    Running,
    Paused,
    Restarting,
    Removing,
    Exited,
    Dead,
    Other(String),
}

impl From<String> for ContainerStatus {
    fn from(word: String) -> Self {
        match word.as_str() {
            "created" => Self::Created,
            "running" => Self::Running,
            "paused" => Self::Paused,
            "restarting" => Self::Restarting,
            "removing" => Self::Removing,
            "exited" => Self::Exited,
            "dead" => Self::Dead,
            _ => Self::Other(word),
        }
    }
}

impl Default for ContainerStatus {
    fn default() -> Self {
        Self::Other(String::new())
    }
}

impl fmt::Display for ContainerStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Created => "created",
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Restarting => "restarting",
            Self::Removing => "removing",
            Self::Exited => "exited",
            Self::Dead => "dead",
            Self::Other(word) => word,
        })
    }
}

/// A container in a list.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct ContainerSummary {
    pub id: String,
    /// With a slash in front, as the engine has them.
    #[serde(default, deserialize_with = "null_is_empty")]
    pub names: Vec<String>,
    /// The reference that it was created from, or the id of its image.
    #[serde(default, deserialize_with = "null_is_empty")]
    pub image: String,
    #[serde(default, rename = "ImageID", deserialize_with = "null_is_empty")]
    pub image_id: String,
    /// Seconds since 1970.
    #[serde(default)]
    pub created: i64,
    #[serde(default, deserialize_with = "null_is_empty")]
    pub state: ContainerStatus,
    #[serde(default, deserialize_with = "null_is_empty")]
    pub labels: BTreeMap<String, String>,
    #[serde(default, deserialize_with = "null_is_empty")]
    pub mounts: Vec<MountPoint>,
}

impl ContainerSummary {
    /// Its first name without the slash, or the first twelve characters of its id.
    pub fn name(&self) -> &str {
        match self.names.first() {
            Some(name) => name.trim_start_matches('/'),
            None => self.id.get(..12).unwrap_or(&self.id),
        }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct MountPoint {
    #[serde(default, deserialize_with = "null_is_empty")]
    pub destination: String,
    #[serde(default, deserialize_with = "null_is_empty")]
    pub source: String,
}

/// A container, inspected.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Container {
    pub id: String,
    #[serde(default, deserialize_with = "null_is_empty")]
    pub name: String,
    /// The id of its image.
    #[serde(default, deserialize_with = "null_is_empty")]
    pub image: String,
    /// RFC 3339.
    #[serde(default, deserialize_with = "null_is_empty")]
    pub created: String,
    #[serde(default, deserialize_with = "null_is_empty")]
    pub state: ContainerState,
    #[serde(default, deserialize_with = "null_is_empty")]
    pub config: ContainerConfig,
    #[serde(default, deserialize_with = "null_is_empty")]
    pub host_config: ContainerHostConfig,
    #[serde(default, deserialize_with = "null_is_empty")]
    pub network_settings: NetworkSettings,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct ContainerState {
    #[serde(default, deserialize_with = "null_is_empty")]
    pub status: ContainerStatus,
    #[serde(default)]
    pub running: bool,
    #[serde(default, rename = "OOMKilled")]
    pub oom_killed: bool,
    #[serde(default)]
    pub pid: i64,
    #[serde(default)]
    pub exit_code: i64,
    #[serde(default, deserialize_with = "null_is_empty")]
    pub error: String,
    /// RFC 3339; year 1 when it never started.
    #[serde(default, deserialize_with = "null_is_empty")]
    pub started_at: String,
    #[serde(default, deserialize_with = "null_is_empty")]
    pub finished_at: String,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct ContainerConfig {
    /// The reference as it was given at creation.
    #[serde(default, deserialize_with = "null_is_empty")]
    pub image: String,
    #[serde(default)]
    pub tty: bool,
    #[serde(default, deserialize_with = "null_is_empty")]
    pub labels: BTreeMap<String, String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct ContainerHostConfig {
    #[serde(default, deserialize_with = "null_is_empty")]
    pub log_config: ContainerLogConfig,
}

/// What the engine does with the container's output.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct ContainerLogConfig {
    /// `json-file`, `local`, `none`, …
    #[serde(default, rename = "Type", deserialize_with = "null_is_empty")]
    pub kind: String,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct NetworkSettings {
    #[serde(default, deserialize_with = "null_is_empty")]
    pub networks: BTreeMap<String, EndpointSettings>,
    #[serde(default, deserialize_with = "null_is_empty")]
    pub sandbox_key: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct EndpointSettings {
    #[serde(default, rename = "IPAddress", deserialize_with = "null_is_empty")]
    pub ip_address: String,
    #[serde(default, rename = "GlobalIPv6Address", deserialize_with = "null_is_empty")]
    pub global_ipv6_address: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct CreatedContainer {
    pub id: String,
    #[serde(default, deserialize_with = "null_is_empty")]
    pub warnings: Vec<String>,
}

/// How a container ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct WaitAnswer {
    pub status_code: i64,
}
