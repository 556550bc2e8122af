use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Timestamp;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum TaskPhase {
    Pending,
    Running,
    Dead,
}

impl TaskPhase {
    /// Nomad's word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Running => "running",
            Self::Dead => "dead",
        }
    }
}

/// Where one task of an allocation stands, as its node reports it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskState {
    pub phase: TaskPhase,
    pub failed: bool,
    pub restarts: u32,
    pub last_restart_at: Timestamp,
    pub started_at: Timestamp,
    pub finished_at: Timestamp,
    /// Newest last; the node keeps the last ten.
    pub events: Vec<TaskEvent>,
}

impl Default for TaskState {
    fn default() -> Self {
        Self {
            phase: TaskPhase::Pending,
            failed: false,
            restarts: 0,
            last_restart_at: Timestamp::NEVER,
            started_at: Timestamp::NEVER,
            finished_at: Timestamp::NEVER,
            events: Vec::new(),
        }
    }
}

/// Something that happened to a task, in Nomad's words (`Received`, `Task Setup`, `Driver`, `Started`, `Terminated`…).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskEvent {
    pub kind: String,
    pub at: Timestamp,
    /// What people read.
    pub message: String,
    pub fails_task: bool,
    pub exit_code: Option<i32>,
    pub signal: Option<i32>,
    pub details: BTreeMap<String, String>,
}

impl TaskEvent {
    pub fn new(kind: impl Into<String>, at: Timestamp, message: impl Into<String>) -> Self {
        Self {
            kind: kind.into(),
            at,
            message: message.into(),
            fails_task: false,
            exit_code: None,
            signal: None,
            details: BTreeMap::new(),
        }
    }

    #[must_use]
    pub fn detail(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.details.insert(key.into(), value.into());
        self
    }
}
