//! What agent and supervisor say to each other: one JSON line each way, a connection a question. An older agent may
//! find a newer supervisor and the other way round: fields are only ever added.

use std::collections::BTreeMap;
use std::path::PathBuf;

use longshore_model::{AllocId, LogConfig, Timestamp};
use serde::{Deserialize, Serialize};

/// One attempt of one task.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct Attempt {
    pub(crate) alloc: AllocId,
    pub(crate) task: String,
    pub(crate) number: u64,
}

impl std::fmt::Display for Attempt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "attempt {} of {}/{}", self.number, self.alloc, self.task)
    }
}

/// What a task's process is to be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Command {
    /// Absolute.
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<String>,
    pub(crate) env: BTreeMap<String, String>,
    pub(crate) folder: PathBuf,
    /// A name or number, with `:group` perhaps; empty for the supervisor's own user.
    pub(crate) user: String,
    /// Control groups to be in: folders that exist.
    pub(crate) control_groups: Vec<PathBuf>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Logs {
    pub(crate) folder: PathBuf,
    pub(crate) config: LogConfig,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Request {
    /// The agent is here as long as this connection stands.
    Attach {
        ends_with_agent: bool,
    },
    /// Told twice it is one start.
    Start {
        attempt: Attempt,
        command: Command,
        logs: Logs,
        with_control_groups: bool,
    },
    Status {
        attempt: Attempt,
    },
    /// Answered when it has ended.
    Wait {
        attempt: Attempt,
    },
    Signal {
        attempt: Attempt,
        signal: i32,
    },
    /// Answered when it has ended.
    Stop {
        attempt: Attempt,
        signal: i32,
        timeout_ms: u64,
    },
    /// Nothing of an ended attempt is kept any longer.
    Destroy {
        attempt: Attempt,
    },
    /// Nothing of the allocation runs or is kept any longer.
    Forget {
        alloc: AllocId,
    },
    /// Only these allocations' tasks may go on.
    Keep {
        allocs: Vec<AllocId>,
    },
    /// Kill everything and end.
    End,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Answer {
    Done,
    Status(TaskStatus),
    /// Why not, in words.
    Refused(String),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum TaskStatus {
    Unknown,
    Running { pid: i32, started_at: Timestamp },
    Exited(Exit),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Exit {
    pub(crate) exit_code: i32,
    /// 0 for none.
    pub(crate) signal: i32,
    pub(crate) oom_killed: bool,
    pub(crate) message: String,
    pub(crate) at: Timestamp,
}
