use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use longshore_values::GoDuration;
use serde::{Deserialize, Serialize};

use crate::{Affinity, Constraint, JobKey, LogIndex, Resources, Spread, Timestamp};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum JobType {
    Service,
    Batch,
    System,
    Sysbatch,
}

impl JobType {
    /// Nomad's word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Service => "service",
            Self::Batch => "batch",
            Self::System => "system",
            Self::Sysbatch => "sysbatch",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum JobStatus {
    Pending,
    Running,
    Dead,
}

impl JobStatus {
    /// Nomad's word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Running => "running",
            Self::Dead => "dead",
        }
    }
}

/// A job, complete and valid: only `longshore-jobs` makes one from what clients send.
///
/// `document` is the whole job as clients read it back (JSON, all defaults filled in). What the server sets later
/// (`version` to `stable` below) is kept here and laid over the document when it is shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Job {
    pub key: JobKey,
    pub name: String,
    pub kind: JobType,
    pub region: String,
    /// 1 to 100.
    pub priority: u8,
    pub all_at_once: bool,
    pub datacenters: Vec<String>,
    pub node_pool: String,
    pub constraints: Vec<Constraint>,
    pub affinities: Vec<Affinity>,
    pub spreads: Vec<Spread>,
    pub groups: Vec<TaskGroup>,
    pub meta: BTreeMap<String, String>,
    /// JSON of the API's job with all defaults; without what the server sets.
    pub document: Arc<str>,
    /// A digest of `document` without what does not make a new version; equal digests are equal jobs.
    pub document_digest: String,

    /// Stopped by its owner; its allocations are being stopped or are gone.
    pub stop: bool,
    pub version: u64,
    /// Whether a deployment of this version succeeded, or a person said so.
    pub stable: bool,
    pub status: JobStatus,
    pub submit_time: Timestamp,
    pub create_index: LogIndex,
    pub modify_index: LogIndex,
    /// Changes only with the specification, not with `status`.
    pub job_modify_index: LogIndex,
}

impl Job {
    pub fn group(&self, name: &str) -> Option<&TaskGroup> {
        self.groups.iter().find(|group| group.name == name)
    }
    /// The job of an allocation that was read from a journal or file, where the job stands apart and is joined to it
    /// by the reader: no groups, no name. Shared by all.
    pub fn absent() -> Arc<Self> {
        static ABSENT: LazyLock<Arc<Job>> = LazyLock::new(|| {
            Arc::new(Job {
                key: JobKey::new("", ""),
                name: String::new(),
                kind: JobType::Service,
                region: String::new(),
                priority: 1,
                all_at_once: false,
                datacenters: Vec::new(),
                node_pool: String::new(),
                constraints: Vec::new(),
                affinities: Vec::new(),
                spreads: Vec::new(),
                groups: Vec::new(),
                meta: BTreeMap::new(),
                document: Arc::from("{}"),
                document_digest: String::new(),
                stop: true,
                version: 0,
                stable: false,
                status: JobStatus::Dead,
                submit_time: Timestamp::NEVER,
                create_index: LogIndex::default(),
                modify_index: LogIndex::default(),
                job_modify_index: LogIndex::default(),
            })
        });
        Arc::clone(&ABSENT)
    }
    /// Whether allocations of finished tasks count as done (`batch`, `sysbatch`).
    pub fn is_batch(&self) -> bool {
        matches!(self.kind, JobType::Batch | JobType::Sysbatch)
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskGroup {
    pub name: String,
    pub count: u32,
    pub constraints: Vec<Constraint>,
    pub affinities: Vec<Affinity>,
    pub spreads: Vec<Spread>,
    pub tasks: Vec<Task>,
    pub restart: RestartPolicy,
    /// `None` for system jobs, which are not rescheduled.
    pub reschedule: Option<ReschedulePolicy>,
    /// `None` for jobs whose updates are not rolled out (batch).
    pub update: Option<UpdatePolicy>,
    pub ephemeral_disk: EphemeralDisk,
    /// At most one.
    pub networks: Vec<NetworkAsk>,
    pub meta: BTreeMap<String, String>,
    pub shutdown_delay: Option<GoDuration>,
}

impl TaskGroup {
    pub fn task(&self, name: &str) -> Option<&Task> {
        self.tasks.iter().find(|task| task.name == name)
    }
    /// The policy by which updates are rolled out in deployments; `None` when they are made all at once.
    pub fn roll_out(&self) -> Option<&UpdatePolicy> {
        self.update.as_ref().filter(|update| update.max_parallel > 0)
    }
    /// What one allocation of the group needs, disk included.
    pub fn total_ask(&self) -> Resources {
        let mut sum = Resources { disk_mb: self.ephemeral_disk.size_mb, ..Resources::default() };
        for task in &self.tasks {
            sum.cpu_mhz += task.resources.cpu_mhz;
            sum.memory_mb += task.resources.memory_mb;
        }
        sum
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Task {
    pub name: String,
    pub driver: String,
    pub user: String,
    /// The `config` block, as the driver will decode it: a JSON object.
    pub config: serde_json::Value,
    pub env: BTreeMap<String, String>,
    pub meta: BTreeMap<String, String>,
    pub constraints: Vec<Constraint>,
    pub affinities: Vec<Affinity>,
    pub resources: Resources,
    pub restart: RestartPolicy,
    pub kill_timeout: GoDuration,
    /// Empty: the driver's own.
    pub kill_signal: String,
    pub shutdown_delay: GoDuration,
    pub leader: bool,
    pub lifecycle: Option<Lifecycle>,
    pub logs: LogConfig,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lifecycle {
    pub hook: LifecycleHook,
    pub sidecar: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum LifecycleHook {
    Prestart,
    Poststart,
    Poststop,
}

impl LifecycleHook {
    /// Nomad's word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Prestart => "prestart",
            Self::Poststart => "poststart",
            Self::Poststop => "poststop",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogConfig {
    pub max_files: u32,
    pub max_file_size_mb: u32,
    pub disabled: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum RestartMode {
    Fail,
    Delay,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RestartPolicy {
    pub attempts: u32,
    pub interval: GoDuration,
    pub delay: GoDuration,
    pub mode: RestartMode,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum DelayFunction {
    Constant,
    Exponential,
    Fibonacci,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReschedulePolicy {
    pub attempts: u32,
    pub interval: GoDuration,
    pub delay: GoDuration,
    pub delay_function: DelayFunction,
    pub max_delay: GoDuration,
    pub unlimited: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum HealthCheck {
    Checks,
    TaskStates,
    Manual,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct UpdatePolicy {
    pub stagger: GoDuration,
    /// 0: no roll-out, all at once.
    pub max_parallel: u32,
    pub health_check: HealthCheck,
    pub min_healthy_time: GoDuration,
    pub healthy_deadline: GoDuration,
    pub progress_deadline: GoDuration,
    pub auto_revert: bool,
    pub auto_promote: bool,
    pub canary: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct EphemeralDisk {
    pub size_mb: i64,
    pub sticky: bool,
    pub migrate: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetworkAsk {
    /// `host`, `bridge`, `none` or `cni/…`.
    pub mode: String,
    pub hostname: String,
    /// Jobs that older builds wrote down have none.
    #[serde(default)]
    pub dns: Dns,
    pub ports: Vec<PortAsk>,
}

/// How names are looked up; empty lists leave it to the node.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dns {
    pub servers: Vec<String>,
    pub searches: Vec<String>,
    pub options: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PortAsk {
    pub label: String,
    /// The very number that is asked for; `None` for a dynamic one.
    pub fixed: Option<u16>,
    /// The port inside of the task's network: 0 for the same as outside, -1 likewise but told to the task.
    pub to: i32,
    pub host_network: String,
}
