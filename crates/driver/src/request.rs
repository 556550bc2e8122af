use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use longshore_model::{AllocId, AllocatedPort, AllocatedTask, Dns, JobKey, LogConfig, NodeId, TaskEvent, Timestamp};
use serde::{Deserialize, Serialize};

use crate::DriverError;

/// One task of one allocation.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TaskId {
    pub alloc: AllocId,
    pub task: String,
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.alloc, self.task)
    }
}

/// The node that a task runs on, as its labels and names tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeIdentity {
    pub id: NodeId,
    pub name: String,
    pub datacenter: String,
    pub region: String,
}

/// An allocation that the node accepts: what the driver must hold for it from now on.
#[derive(Debug, Clone)]
pub struct AcceptRequest {
    pub alloc: AllocId,
    /// The allocation on this node that this one takes the place of; it lets go only after this one has been granted
    /// what it needs, or has ended.
    pub replaces: Option<AllocId>,
    /// Only the tasks of this driver.
    pub tasks: Vec<AcceptedTask>,
    /// Whether its group has a network namespace of its own: what the driver makes that from is held too.
    pub own_network: bool,
}

/// A task of an accepted allocation. What can be interpolated before the start (node, job, meta) is interpolated.
#[derive(Debug, Clone)]
pub struct AcceptedTask {
    pub name: String,
    pub config: serde_json::Value,
}

/// A task of a job's version that is to come.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PrefetchId {
    pub job: JobKey,
    pub version: u64,
    pub group: String,
    pub task: String,
}

/// A stable version of a job that a newer one follows, with what its tasks of one driver need.
#[derive(Debug, Clone, PartialEq)]
pub struct EarlierVersion {
    pub job: JobKey,
    pub version: u64,
    /// How many newer versions have become stable.
    pub newer_stable: usize,
    /// The `config` of each task, as it stands in the job.
    pub configs: Vec<serde_json::Value>,
}

/// What a task will need is to be here before it is placed.
#[derive(Debug, Clone)]
pub struct PrefetchRequest {
    pub id: PrefetchId,
    /// As it stands in the job; nothing is filled in.
    pub config: serde_json::Value,
    /// For how long it is kept, if nobody lets go of it before.
    pub expires_at: Timestamp,
    /// Takes what an attempt failed with that is made again.
    pub delays: DelaySink,
}

/// The folders of a task on the host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskDirs {
    /// `<data>/alloc/<id>`: the whole allocation.
    pub alloc_root: PathBuf,
    /// `<alloc_root>/alloc`: shared by its tasks.
    pub shared_alloc: PathBuf,
    /// `<alloc_root>/<task>`.
    pub task: PathBuf,
    /// `<task>/local`.
    pub local: PathBuf,
    /// `<task>/secrets`.
    pub secrets: PathBuf,
    /// `<shared_alloc>/logs`.
    pub logs: PathBuf,
}

/// Where the output of a task goes: `<folder>/<task>.stdout.N` and `.stderr.N`, rotated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogFiles {
    pub folder: PathBuf,
    pub task: String,
    pub config: LogConfig,
}

/// Takes the events of a task as they happen. Never blocks.
#[derive(Clone)]
pub struct EventSink(Arc<dyn Fn(TaskEvent) + Send + Sync>);

impl EventSink {
    pub fn new(take: impl Fn(TaskEvent) + Send + Sync + 'static) -> Self {
        Self(Arc::new(take))
    }

    pub fn emit(&self, event: TaskEvent) {
        (self.0)(event);
    }
}

impl fmt::Debug for EventSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EventSink")
    }
}

/// Takes what stands in the way of something that is still tried. Never blocks.
#[derive(Clone)]
pub struct DelaySink(Arc<dyn Fn(&DriverError) + Send + Sync>);

impl DelaySink {
    pub fn new(take: impl Fn(&DriverError) + Send + Sync + 'static) -> Self {
        Self(Arc::new(take))
    }

    pub fn tell(&self, why: &DriverError) {
        (self.0)(why);
    }
}

impl fmt::Debug for DelaySink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DelaySink")
    }
}

/// The network that the tasks of an allocation's group share.
#[derive(Debug, Clone)]
pub struct NetworkRequest {
    pub alloc: AllocId,
    pub node: NodeIdentity,
    /// `bridge` or `none`; whatever else a job may say, the driver refuses.
    pub mode: String,
    /// Fully interpolated, as is `dns`; empty: the driver's own choice.
    pub hostname: String,
    pub dns: Dns,
    pub ports: Vec<AllocatedPort>,
    /// Those of the group's tasks that are this driver's, as accepted: what they say about their network may be the
    /// group's to set up.
    pub tasks: Vec<AcceptedTask>,
    pub events: EventSink,
}

/// The network of a group as it stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupNetwork {
    /// The driver's own name for it.
    pub id: String,
    /// Its address on the node; none without a way out.
    pub address: Option<TaskAddress>,
}

/// One attempt to start a task.
#[derive(Debug, Clone)]
pub struct StartRequest {
    pub id: TaskId,
    /// Counts the attempts of this task, from 1.
    pub attempt: u64,
    pub node: NodeIdentity,
    pub job: JobKey,
    pub job_name: String,
    pub group: String,
    pub user: String,
    /// Fully interpolated; a JSON object.
    pub config: serde_json::Value,
    /// The whole environment of the task.
    pub env: BTreeMap<String, String>,
    pub dirs: TaskDirs,
    pub resources: AllocatedTask,
    /// What the node has in all: shares of the processor are relative to it.
    pub node_cpu_mhz: i64,
    pub ports: Vec<AllocatedPort>,
    pub network_mode: Option<String>,
    /// The network of its group, when that has one of its own.
    pub network: Option<GroupNetwork>,
    /// What the group says about names, for tasks that are not in its network.
    pub dns: Dns,
    pub logs: LogFiles,
    pub events: EventSink,
}

/// What finds a task again, in this process or after a restart of the agent. The node keeps it on disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskHandle {
    pub id: TaskId,
    pub driver: String,
    /// The driver's own; opaque to everybody else.
    pub state: serde_json::Value,
}

/// The address of a task that has one of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskAddress {
    pub ip: String,
    pub interface: String,
}

/// A task that runs.
#[derive(Debug, Clone)]
pub struct Started {
    pub handle: TaskHandle,
    pub address: Option<TaskAddress>,
    pub started_at: Timestamp,
}

/// What became of a task while nobody watched.
#[derive(Debug, Clone)]
pub enum Recovered {
    Running {
        started_at: Timestamp,
    },
    /// It ended; its exit is known.
    Exited(ExitResult),
    /// It is not there any more and nobody can say how it ended.
    Gone,
}

/// How a task ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExitResult {
    pub exit_code: i32,
    /// The number of the signal that ended it; 0 for none.
    pub signal: i32,
    pub oom_killed: bool,
    /// What runs tasks was stopped or restarted, and took it along: that says nothing of the task.
    pub by_engine: bool,
    pub message: String,
}

impl ExitResult {
    pub fn successful(&self) -> bool {
        self.exit_code == 0 && self.signal == 0 && !self.oom_killed && self.message.is_empty()
    }
}

/// An allocation of the node's record, as the driver is told after a start of the agent.
#[derive(Debug, Clone)]
pub struct KnownAllocation {
    pub alloc: AllocId,
    pub replaces: Option<AllocId>,
    /// Only the tasks of this driver.
    pub tasks: Vec<KnownTask>,
    /// As in [`AcceptRequest`].
    pub own_network: bool,
    /// When it ended for good; `None` while it can still start tasks.
    pub ended_at: Option<Timestamp>,
}

#[derive(Debug, Clone)]
pub struct KnownTask {
    pub name: String,
    pub config: serde_json::Value,
    pub handle: Option<TaskHandle>,
}
