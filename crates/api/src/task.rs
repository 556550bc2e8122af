use std::collections::BTreeMap;

use longshore_values::GoDuration;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::empty::{is_default, null_if_empty};
use crate::{Affinity, Constraint, Consul, Resources, RestartPolicy, ScalingPolicy, Service, VolumeMount};

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
    /// Identities beside the default one; since 1.7.
    #[serde(skip_serializing_if = "is_default")]
    pub identities: Vec<WorkloadIdentity>,
    /// Commands that people may run in the task; since 1.7.
    #[serde(skip_serializing_if = "is_default")]
    pub actions: Vec<Action>,
    /// Since 1.7.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub consul: Option<Consul>,
    /// When the task runs at all; since 1.8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedule: Option<TaskSchedule>,
    /// Since 1.11.
    #[serde(skip_serializing_if = "is_default")]
    pub secrets: Vec<TaskSecret>,
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
    /// Since 1.7.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub getter_insecure: Option<bool>,
    /// Give the files to the task's user; since 1.9.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chown: Option<bool>,
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
    /// Rendered once, then left alone; since 1.10.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub once: Option<bool>,
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
    /// Since 2.0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_on_first_render: Option<bool>,
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
    /// Since 1.7, as all below.
    #[serde(skip_serializing_if = "is_default")]
    pub role: String,
    #[serde(skip_serializing_if = "is_default")]
    pub cluster: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_token_expiration: Option<bool>,
}

/// How a task gets its own identity.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct WorkloadIdentity {
    /// `default` unless given; since 1.7, as all but `env` and `file`.
    #[serde(skip_serializing_if = "is_default")]
    pub name: String,
    #[serde(skip_serializing_if = "is_default")]
    pub audience: Vec<String>,
    #[serde(skip_serializing_if = "is_default")]
    pub change_mode: String,
    #[serde(skip_serializing_if = "is_default")]
    pub change_signal: String,
    pub env: bool,
    pub file: bool,
    #[serde(skip_serializing_if = "is_default")]
    pub filepath: String,
    #[serde(skip_serializing_if = "is_default")]
    pub service_name: String,
    #[serde(rename = "TTL", skip_serializing_if = "Option::is_none")]
    pub ttl: Option<GoDuration>,
    /// Since 1.10.
    #[serde(skip_serializing_if = "is_default")]
    pub extra_claims: BTreeMap<String, String>,
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

/// A command that people may run in a running task.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Action {
    pub name: String,
    pub command: String,
    #[serde(with = "null_if_empty")]
    pub args: Vec<String>,
}

/// When a task runs at all.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct TaskSchedule {
    pub cron: Option<TaskScheduleCron>,
}

/// Cron expressions of a task's start and end.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct TaskScheduleCron {
    pub start: String,
    pub end: String,
    pub timezone: String,
}

/// A value fetched for the task, read as `${secret.<name>.<key>}`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct TaskSecret {
    pub name: String,
    pub provider: String,
    pub path: String,
    #[serde(with = "null_if_empty")]
    pub config: BTreeMap<String, Value>,
    #[serde(with = "null_if_empty")]
    pub env: BTreeMap<String, String>,
}
