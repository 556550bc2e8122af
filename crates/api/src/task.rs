use std::collections::BTreeMap;

use longshore_values::GoDuration;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::empty::null_if_empty;
use crate::{Affinity, Constraint, Resources, RestartPolicy, ScalingPolicy, Service, VolumeMount};

/// One process or container.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Task {
    pub name: String,
    pub driver: String,
    pub user: String,
    /// What the driver alone reads.
    #[serde(with = "null_if_empty")]
    pub config: BTreeMap<String, Value>,
    #[serde(with = "null_if_empty")]
    pub env: BTreeMap<String, String>,
    #[serde(with = "null_if_empty")]
    pub services: Vec<Service>,
    pub vault: Option<Vault>,
    #[serde(with = "null_if_empty")]
    pub templates: Vec<Template>,
    #[serde(with = "null_if_empty")]
    pub constraints: Vec<Constraint>,
    #[serde(with = "null_if_empty")]
    pub affinities: Vec<Affinity>,
    pub resources: Option<Resources>,
    /// What is not given here is the group's.
    pub restart_policy: Option<RestartPolicy>,
    pub dispatch_payload: Option<DispatchPayloadConfig>,
    pub lifecycle: Option<TaskLifecycle>,
    #[serde(with = "null_if_empty")]
    pub meta: BTreeMap<String, String>,
    /// Between the signal and the kill.
    pub kill_timeout: Option<GoDuration>,
    pub log_config: Option<LogConfig>,
    #[serde(with = "null_if_empty")]
    pub artifacts: Vec<TaskArtifact>,
    /// When it ends the other tasks are stopped.
    pub leader: bool,
    /// Between deregistration and the signal.
    pub shutdown_delay: GoDuration,
    #[serde(with = "null_if_empty")]
    pub volume_mounts: Vec<VolumeMount>,
    #[serde(with = "null_if_empty")]
    pub scaling_policies: Vec<ScalingPolicy>,
    pub kill_signal: String,
    /// Marks proxies and gateways of a service mesh.
    pub kind: String,
    #[serde(rename = "CSIPluginConfig")]
    pub csi_plugin_config: Option<TaskCsiPluginConfig>,
    pub identity: Option<WorkloadIdentity>,
}

/// How much of a task's output is kept.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct LogConfig {
    pub max_files: Option<i64>,
    #[serde(rename = "MaxFileSizeMB")]
    pub max_file_size_mb: Option<i64>,
    pub disabled: Option<bool>,
    /// Request form only: the opposite of `disabled`, deprecated.
    pub enabled: Option<bool>,
}

/// Where a dispatch's payload is written.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct DispatchPayloadConfig {
    /// Relative to the task's `local` folder.
    pub file: String,
}

/// When a task runs in the life of its allocation.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct TaskLifecycle {
    /// `prestart`, `poststart` or `poststop`.
    pub hook: String,
    pub sidecar: bool,
}

/// Something fetched before the task starts.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct TaskArtifact {
    pub getter_source: Option<String>,
    #[serde(with = "null_if_empty")]
    pub getter_options: BTreeMap<String, String>,
    #[serde(with = "null_if_empty")]
    pub getter_headers: BTreeMap<String, String>,
    /// `any`, `file` or `dir`.
    pub getter_mode: Option<String>,
    pub relative_dest: Option<String>,
}

/// A file written for the task, and again when its data change.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Template {
    pub source_path: Option<String>,
    pub dest_path: Option<String>,
    pub embedded_tmpl: Option<String>,
    /// `noop`, `restart`, `signal` or `script`.
    pub change_mode: Option<String>,
    pub change_signal: Option<String>,
    pub change_script: Option<ChangeScript>,
    pub splay: Option<GoDuration>,
    /// Octal, as text.
    pub perms: Option<String>,
    pub uid: Option<i64>,
    pub gid: Option<i64>,
    pub left_delim: Option<String>,
    pub right_delim: Option<String>,
    /// Read the written file as environment.
    pub envvars: Option<bool>,
    /// Deprecated and without effect.
    pub vault_grace: Option<GoDuration>,
    pub wait: Option<WaitConfig>,
    pub err_missing_key: Option<bool>,
}

/// What is run when a template has changed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct ChangeScript {
    pub command: Option<String>,
    #[serde(with = "null_if_empty")]
    pub args: Vec<String>,
    pub timeout: Option<GoDuration>,
    pub fail_on_error: Option<bool>,
}

/// How long to wait for data to settle.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct WaitConfig {
    pub min: Option<GoDuration>,
    pub max: Option<GoDuration>,
}

/// Access to a secret store.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Vault {
    #[serde(with = "null_if_empty")]
    pub policies: Vec<String>,
    pub namespace: Option<String>,
    pub env: Option<bool>,
    pub disable_file: Option<bool>,
    pub change_mode: Option<String>,
    pub change_signal: Option<String>,
}

/// How a task gets its own identity.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct WorkloadIdentity {
    pub env: bool,
    pub file: bool,
}

/// A task that is itself a storage plugin.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct TaskCsiPluginConfig {
    #[serde(rename = "ID")]
    pub id: String,
    /// `node`, `controller` or `monolith`.
    #[serde(rename = "Type")]
    pub kind: String,
    pub mount_dir: String,
    pub stage_publish_base_dir: String,
    pub health_timeout: GoDuration,
}
