use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::empty::{is_default, null_if_empty};
use crate::{Affinity, Constraint, MigrateStrategy, ReschedulePolicy, Spread, TaskGroup, UpdateStrategy};

/// A job: what clients send, what the parser makes, and what is read back.
///
/// As input every scalar may be absent (`None`, `null` on the wire), which is not the same as zero: defaults belong
/// to `longshore-jobs`. What the server keeps has them all filled in. Absent and empty lists and maps are one thing.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Job {
    /// Stopped by its owner.
    pub stop: Option<bool>,
    pub region: Option<String>,
    pub namespace: Option<String>,
    #[serde(rename = "ID")]
    pub id: Option<String>,
    /// The periodic or parameterized job that this one was made from.
    #[serde(rename = "ParentID")]
    pub parent_id: Option<String>,
    pub name: Option<String>,
    /// `service`, `batch`, `system` or `sysbatch`.
    #[serde(rename = "Type")]
    pub kind: Option<String>,
    /// 1 to 100.
    pub priority: Option<i64>,
    pub all_at_once: Option<bool>,
    /// Globs.
    #[serde(with = "null_if_empty")]
    pub datacenters: Vec<String>,
    pub node_pool: Option<String>,
    #[serde(with = "null_if_empty")]
    pub constraints: Vec<Constraint>,
    #[serde(with = "null_if_empty")]
    pub affinities: Vec<Affinity>,
    #[serde(with = "null_if_empty")]
    pub spreads: Vec<Spread>,
    #[serde(with = "null_if_empty")]
    pub task_groups: Vec<TaskGroup>,
    /// For groups that say nothing.
    pub update: Option<UpdateStrategy>,
    pub multiregion: Option<Multiregion>,
    pub periodic: Option<PeriodicConfig>,
    pub parameterized_job: Option<ParameterizedJobConfig>,
    /// Request form only: for groups that say nothing.
    pub reschedule: Option<ReschedulePolicy>,
    /// Request form only: for groups that say nothing.
    pub migrate: Option<MigrateStrategy>,
    /// What web pages show about the job; since 1.8.
    #[serde(rename = "UI", skip_serializing_if = "Option::is_none")]
    pub ui: Option<JobUi>,
    pub dispatched: bool,
    pub dispatch_idempotency_token: Option<String>,
    /// Base64.
    pub payload: Option<String>,
    #[serde(with = "null_if_empty")]
    pub meta: BTreeMap<String, String>,
    pub consul_token: Option<String>,
    pub consul_namespace: Option<String>,
    pub vault_token: Option<String>,
    pub vault_namespace: Option<String>,
    #[serde(rename = "NomadTokenID")]
    pub nomad_token_id: Option<String>,
    /// `pending`, `running` or `dead`; set by the server, as all below.
    pub status: Option<String>,
    pub status_description: Option<String>,
    pub stable: Option<bool>,
    pub version: Option<u64>,
    /// Nanoseconds since 1970.
    pub submit_time: Option<i64>,
    pub create_index: Option<u64>,
    pub modify_index: Option<u64>,
    pub job_modify_index: Option<u64>,
}

/// When a job launches by itself.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct PeriodicConfig {
    pub enabled: Option<bool>,
    /// One cron expression; excludes `specs`.
    pub spec: Option<String>,
    #[serde(with = "null_if_empty")]
    pub specs: Vec<String>,
    /// `cron`.
    pub spec_type: Option<String>,
    pub prohibit_overlap: Option<bool>,
    pub time_zone: Option<String>,
}

/// What a dispatch of a job may and must carry.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct ParameterizedJobConfig {
    /// `optional`, `required` or `forbidden`.
    pub payload: String,
    #[serde(with = "null_if_empty")]
    pub meta_required: Vec<String>,
    #[serde(with = "null_if_empty")]
    pub meta_optional: Vec<String>,
}

/// A job that runs in several regions.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Multiregion {
    pub strategy: Option<MultiregionStrategy>,
    #[serde(with = "null_if_empty")]
    pub regions: Vec<MultiregionRegion>,
}

/// How a roll-out goes from region to region.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct MultiregionStrategy {
    pub max_parallel: Option<i64>,
    /// Empty, `fail_all` or `fail_local`.
    pub on_failure: Option<String>,
}

/// What is different in one region.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct MultiregionRegion {
    pub name: String,
    pub count: Option<i64>,
    #[serde(with = "null_if_empty")]
    pub datacenters: Vec<String>,
    pub node_pool: String,
    #[serde(with = "null_if_empty")]
    pub meta: BTreeMap<String, String>,
}

/// What web pages show about a job.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct JobUi {
    pub description: String,
    #[serde(skip_serializing_if = "is_default")]
    pub links: Vec<JobUiLink>,
}

/// A link on a job's web page.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct JobUiLink {
    pub label: String,
    pub url: String,
}
