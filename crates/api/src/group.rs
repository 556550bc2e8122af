use std::collections::BTreeMap;

use longshore_values::GoDuration;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::empty::{is_default, null_if_empty};
use crate::{Affinity, Constraint, NetworkResource, Service, Spread, Task, VolumeRequest};

/// Tasks that are placed together, `count` times.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct TaskGroup {
    pub name: Option<String>,
    pub count: Option<i64>,
    pub update: Option<UpdateStrategy>,
    pub migrate: Option<MigrateStrategy>,
    #[serde(with = "null_if_empty")]
    pub constraints: Vec<Constraint>,
    pub scaling: Option<ScalingPolicy>,
    pub restart_policy: Option<RestartPolicy>,
    #[serde(with = "null_if_empty")]
    pub tasks: Vec<Task>,
    pub ephemeral_disk: Option<EphemeralDisk>,
    #[serde(with = "null_if_empty")]
    pub meta: BTreeMap<String, String>,
    pub reschedule_policy: Option<ReschedulePolicy>,
    #[serde(with = "null_if_empty")]
    pub affinities: Vec<Affinity>,
    #[serde(with = "null_if_empty")]
    pub spreads: Vec<Spread>,
    #[serde(with = "null_if_empty")]
    pub networks: Vec<NetworkResource>,
    pub consul: Option<Consul>,
    #[serde(with = "null_if_empty")]
    pub services: Vec<Service>,
    /// By the name that tasks mount.
    #[serde(with = "null_if_empty")]
    pub volumes: BTreeMap<String, VolumeRequest>,
    pub shutdown_delay: Option<GoDuration>,
    pub stop_after_client_disconnect: Option<GoDuration>,
    pub max_client_disconnect: Option<GoDuration>,
    /// Since 1.8; takes the place of the two above.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disconnect: Option<DisconnectStrategy>,
    /// Since 1.7.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prevent_reschedule_on_lost: Option<bool>,
    /// Since 2.0, for batch jobs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_run_duration: Option<GoDuration>,
}

/// How updates roll out.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct UpdateStrategy {
    pub stagger: Option<GoDuration>,
    pub max_parallel: Option<i64>,
    /// `checks`, `task_states` or `manual`.
    pub health_check: Option<String>,
    pub min_healthy_time: Option<GoDuration>,
    pub healthy_deadline: Option<GoDuration>,
    pub progress_deadline: Option<GoDuration>,
    pub auto_revert: Option<bool>,
    pub auto_promote: Option<bool>,
    pub canary: Option<i64>,
}

/// How allocations leave a draining node.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct MigrateStrategy {
    pub max_parallel: Option<i64>,
    pub health_check: Option<String>,
    pub min_healthy_time: Option<GoDuration>,
    pub healthy_deadline: Option<GoDuration>,
}

/// What a node does when a task ends that should not.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct RestartPolicy {
    /// Within `interval`.
    pub attempts: Option<i64>,
    pub interval: Option<GoDuration>,
    pub delay: Option<GoDuration>,
    /// `fail` or `delay`.
    pub mode: Option<String>,
    pub render_templates: Option<bool>,
}

/// What the server does when an allocation fails.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct ReschedulePolicy {
    /// Within `interval`, unless `unlimited`.
    pub attempts: Option<i64>,
    pub interval: Option<GoDuration>,
    pub delay: Option<GoDuration>,
    /// `constant`, `exponential` or `fibonacci`.
    pub delay_function: Option<String>,
    pub max_delay: Option<GoDuration>,
    pub unlimited: Option<bool>,
}

/// The disk that the tasks of a group share.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct EphemeralDisk {
    pub sticky: Option<bool>,
    #[serde(rename = "SizeMB")]
    pub size_mb: Option<i64>,
    pub migrate: Option<bool>,
}

/// How an outside scaler may change `count`, or a task's resources.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct ScalingPolicy {
    #[serde(rename = "ID")]
    pub id: String,
    /// `horizontal`, `vertical_cpu` or `vertical_mem`.
    #[serde(rename = "Type")]
    pub kind: String,
    #[serde(with = "null_if_empty")]
    pub target: BTreeMap<String, String>,
    /// For the scaler alone.
    #[serde(with = "null_if_empty")]
    pub policy: BTreeMap<String, Value>,
    pub min: Option<i64>,
    pub max: Option<i64>,
    pub enabled: Option<bool>,
    pub create_index: u64,
    pub modify_index: u64,
}

/// Where a group's services register.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Consul {
    pub namespace: String,
    /// Since 1.7.
    #[serde(skip_serializing_if = "is_default")]
    pub cluster: String,
    /// Since 1.7.
    #[serde(skip_serializing_if = "is_default")]
    pub partition: String,
}

/// What happens to allocations of a node that is not heard of any more.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct DisconnectStrategy {
    pub lost_after: Option<GoDuration>,
    pub stop_on_client_after: Option<GoDuration>,
    pub replace: Option<bool>,
    /// `keep_original`, `keep_replacement`, `best_score` or `longest_running`.
    pub reconcile: Option<String>,
}
