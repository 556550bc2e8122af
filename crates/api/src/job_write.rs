use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::empty::{is_default, null_if_empty};
use crate::{AllocListStub, AllocMetric, Evaluation, Job, JobDiff};

/// The text that a job was parsed from.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct JobSubmission {
    pub source: String,
    /// `hcl1`, `hcl2` or `json`.
    pub format: String,
    #[serde(with = "null_if_empty")]
    pub variable_flags: BTreeMap<String, String>,
    pub variables: String,
}

/// `PUT /v1/jobs`, `PUT /v1/job/:id`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct JobRegisterRequest {
    pub job: Option<Job>,
    #[serde(skip_serializing_if = "is_default")]
    pub submission: Option<JobSubmission>,
    /// Only if the stored job's modify index is `job_modify_index`; 0: only if there is none.
    pub enforce_index: bool,
    pub job_modify_index: u64,
    pub policy_override: bool,
    /// Groups that exist keep their `count`.
    pub preserve_counts: bool,
    /// 0: the job's own.
    pub eval_priority: i64,
}

/// The answer to registration, evaluation, revert and scaling.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct JobRegisterResponse {
    /// Empty when none was needed.
    #[serde(rename = "EvalID")]
    pub eval_id: String,
    pub eval_create_index: u64,
    pub job_modify_index: u64,
    pub warnings: String,
    pub index: u64,
    pub last_contact: i64,
    pub known_leader: bool,
    pub next_token: String,
}

/// The answer to `DELETE /v1/job/:id`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct JobDeregisterResponse {
    #[serde(rename = "EvalID")]
    pub eval_id: String,
    pub eval_create_index: u64,
    pub job_modify_index: u64,
    #[serde(rename = "VolumeEvalID")]
    pub volume_eval_id: String,
    pub volume_eval_index: u64,
    pub index: u64,
    pub last_contact: i64,
    pub known_leader: bool,
    pub next_token: String,
}

/// `PUT /v1/job/:id/evaluate`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct JobEvaluateRequest {
    #[serde(rename = "JobID")]
    pub job_id: String,
    pub eval_options: EvalOptions,
}

/// What an evaluation on demand may do.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct EvalOptions {
    pub force_reschedule: bool,
}

/// `PUT /v1/job/:id/revert`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct JobRevertRequest {
    #[serde(rename = "JobID")]
    pub job_id: String,
    pub job_version: u64,
    pub enforce_prior_version: Option<u64>,
    pub consul_token: String,
    pub vault_token: String,
}

/// `PUT /v1/job/:id/stable`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct JobStabilityRequest {
    #[serde(rename = "JobID")]
    pub job_id: String,
    pub job_version: u64,
    pub stable: bool,
}

/// An answer that is only an index.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct IndexResponse {
    pub index: u64,
}

/// `PUT /v1/jobs/parse`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct JobsParseRequest {
    #[serde(rename = "JobHCL")]
    pub job_hcl: String,
    /// Fill in the defaults.
    pub canonicalize: bool,
    /// The text of a variable file.
    pub variables: String,
    /// Not understood any more.
    #[serde(rename = "hclv1")]
    pub hclv1: bool,
}

/// `PUT /v1/validate/job`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct JobValidateRequest {
    pub job: Option<Job>,
}

/// The answer to it: 200 even when the job is bad.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct JobValidateResponse {
    pub driver_config_validated: bool,
    #[serde(with = "null_if_empty")]
    pub validation_errors: Vec<String>,
    pub error: String,
    pub warnings: String,
    /// Beyond Nomad, with the parameter `faults=json`: each thing that is wrong with its part of the job.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<JobFault>,
}

/// One thing that is wrong with a job. Beyond Nomad.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct JobFault {
    /// The part in the words of job files, such as `group "web" → task "server" → resources → cpu`; empty for the whole.
    pub path: String,
    /// As the text of the error has it.
    pub message: String,
}

/// The answer to a job that is not accepted, when it was sent with `faults=json`. Beyond Nomad, which answers with the
/// text alone.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct JobRefusal {
    /// The text that is the whole answer otherwise.
    pub error: String,
    /// What it is made of, in its order.
    pub faults: Vec<JobFault>,
}

/// `PUT /v1/job/:id/plan`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct JobPlanRequest {
    pub job: Option<Job>,
    pub diff: bool,
    pub policy_override: bool,
}

/// What would happen if the job were registered.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct JobPlanResponse {
    /// For `enforce_index`: of the job that the plan was made against, 0 for none.
    pub job_modify_index: u64,
    #[serde(with = "null_if_empty")]
    pub created_evals: Vec<Evaluation>,
    pub diff: Option<JobDiff>,
    pub annotations: Option<PlanAnnotations>,
    /// By group: why what has no room has none.
    #[serde(rename = "FailedTGAllocs", with = "null_if_empty")]
    pub failed_tg_allocs: BTreeMap<String, AllocMetric>,
    /// RFC 3339, in the zone of the job.
    pub next_periodic_launch: Option<String>,
    pub warnings: String,
    pub index: u64,
}

/// What a plan does.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct PlanAnnotations {
    /// By group.
    #[serde(rename = "DesiredTGUpdates", with = "null_if_empty")]
    pub desired_tg_updates: BTreeMap<String, DesiredUpdates>,
    #[serde(with = "null_if_empty")]
    pub preempted_allocs: Vec<AllocListStub>,
}

/// How many allocations of a group meet which fate.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct DesiredUpdates {
    pub ignore: u64,
    pub place: u64,
    pub migrate: u64,
    pub stop: u64,
    pub in_place_update: u64,
    pub destructive_update: u64,
    pub canary: u64,
    pub preemptions: u64,
}
