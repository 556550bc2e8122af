use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::empty::{is_default, null_if_empty};
use crate::{Job, JobDiff, Multiregion};

/// A job in a list.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct JobListStub {
    #[serde(rename = "ID")]
    pub id: String,
    #[serde(rename = "ParentID")]
    pub parent_id: String,
    pub name: String,
    #[serde(skip_serializing_if = "is_default")]
    pub namespace: String,
    #[serde(with = "null_if_empty")]
    pub datacenters: Vec<String>,
    pub node_pool: String,
    pub multiregion: Option<Multiregion>,
    #[serde(rename = "Type")]
    pub kind: String,
    pub priority: i64,
    pub periodic: bool,
    pub parameterized_job: bool,
    pub stop: bool,
    pub status: String,
    pub status_description: String,
    pub job_summary: Option<JobSummary>,
    pub create_index: u64,
    pub modify_index: u64,
    pub job_modify_index: u64,
    /// Nanoseconds since 1970.
    pub submit_time: i64,
    /// Only when asked for (`?meta=true`).
    #[serde(deserialize_with = "null_if_empty::deserialize", skip_serializing_if = "is_default")]
    pub meta: BTreeMap<String, String>,
}

/// How many allocations of each group are in which state.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct JobSummary {
    #[serde(rename = "JobID")]
    pub job_id: String,
    pub namespace: String,
    /// By group.
    pub summary: BTreeMap<String, TaskGroupSummary>,
    pub children: Option<JobChildrenSummary>,
    pub create_index: u64,
    pub modify_index: u64,
}

/// The counts of one group.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct TaskGroupSummary {
    /// Wanted, with no room yet.
    pub queued: i64,
    pub complete: i64,
    pub failed: i64,
    pub running: i64,
    pub starting: i64,
    pub lost: i64,
    pub unknown: i64,
}

/// The states of the jobs that a periodic or parameterized job made.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct JobChildrenSummary {
    pub pending: i64,
    pub running: i64,
    pub dead: i64,
}

/// `GET /v1/job/:id/versions`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct JobVersionsResponse {
    /// Newest first.
    #[serde(with = "null_if_empty")]
    pub versions: Vec<Job>,
    /// Each version against the one before; only when asked for.
    #[serde(with = "null_if_empty")]
    pub diffs: Vec<JobDiff>,
    pub index: u64,
    pub last_contact: i64,
    pub known_leader: bool,
    pub next_token: String,
}
