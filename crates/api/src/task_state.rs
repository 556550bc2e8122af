use std::collections::BTreeMap;

use longshore_values::GoDuration;
use serde::{Deserialize, Serialize};

use crate::GoTime;
use crate::empty::null_if_empty;

/// Where a task stands.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct TaskState {
    /// `pending`, `running` or `dead`.
    pub state: String,
    pub failed: bool,
    pub restarts: u64,
    pub last_restart: GoTime,
    pub started_at: GoTime,
    pub finished_at: GoTime,
    /// Newest last; the last ten.
    #[serde(with = "null_if_empty")]
    pub events: Vec<TaskEvent>,
    pub task_handle: Option<TaskHandle>,
}

/// A driver's own reference to a running task; clients have no use for it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct TaskHandle {
    pub version: i64,
    /// Base64.
    pub driver_state: String,
}

/// Something that happened to a task. Fields other than the first five are kept for old clients; each is also in
/// `details`, as text.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct TaskEvent {
    #[serde(rename = "Type")]
    pub kind: String,
    /// Nanoseconds since 1970.
    pub time: i64,
    pub message: String,
    /// What people read.
    pub display_message: String,
    pub details: BTreeMap<String, String>,
    pub fails_task: bool,
    pub restart_reason: String,
    pub setup_error: String,
    pub driver_error: String,
    pub exit_code: i64,
    pub signal: i64,
    pub kill_timeout: GoDuration,
    pub kill_error: String,
    pub kill_reason: String,
    /// Nanoseconds.
    pub start_delay: i64,
    pub download_error: String,
    pub validation_error: String,
    pub disk_limit: i64,
    pub failed_sibling: String,
    pub vault_error: String,
    pub task_signal_reason: String,
    pub task_signal: String,
    pub driver_message: String,
    pub generic_source: String,
}
