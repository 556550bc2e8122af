//! What the node's record says of an allocation and its tasks. Written before it is acted on.

use longshore_driver::TaskHandle;
use longshore_model::{AllocId, AllocNetworkStatus, TaskPhase, TaskState, Timestamp};
use serde::{Deserialize, Serialize};

use crate::rules::events;
use crate::rules::health::HealthWatch;
use crate::rules::restart::RestartTracker;

/// Who wants an allocation to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum StopCause {
    /// The server does, as it says in the allocation.
    Server,
    /// The server does not list it any more.
    NotListed,
    /// The agent ends and leaves nothing running.
    Shutdown,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StopOrder {
    pub(crate) at: Timestamp,
    pub(crate) cause: StopCause,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct AllocRecord {
    /// The allocation on this node that this one takes the place of.
    pub(crate) replaces: Option<AllocId>,
    pub(crate) accepted_at: Timestamp,
    pub(crate) stop: Option<StopOrder>,
    /// When its last task ended; none of them can start again.
    pub(crate) ended_at: Option<Timestamp>,
    /// Its drivers have given back what they held for it.
    pub(crate) forgotten: bool,
    pub(crate) health: Option<HealthWatch>,
    pub(crate) network: Option<AllocNetworkStatus>,
}

impl AllocRecord {
    pub(crate) fn accepted(replaces: Option<AllocId>, now: Timestamp) -> Self {
        Self { replaces, accepted_at: now, stop: None, ended_at: None, forgotten: false, health: None, network: None }
    }
}

/// What comes after the remains of an attempt are gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Next {
    /// Another attempt, not before this instant.
    Restart(Timestamp),
    Nothing,
}

/// Where a task stands, for the node itself.
///
/// ```text
/// Waiting ─▶ Starting ─▶ Running ─▶ Ended ─▶ Dead
///               ▲  └───────(failed)──▲ │
///               └───── Backoff ◀───────┘
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Stage {
    /// Its turn has not come yet.
    Waiting,
    /// The driver was, or is about to be, told to start the present attempt.
    Starting,
    Running {
        handle: TaskHandle,
    },
    /// The attempt is over. What is left of it is to be removed.
    Ended {
        handle: Option<TaskHandle>,
        next: Next,
    },
    /// Waits for its next attempt.
    Backoff {
        start_at: Timestamp,
    },
    /// Nothing of it is left and it never starts again.
    Dead,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct TaskRecord {
    /// As it is reported.
    pub(crate) state: TaskState,
    pub(crate) stage: Stage,
    /// Counts the attempts that were begun.
    pub(crate) attempt: u64,
    pub(crate) restarts: RestartTracker,
    /// It is to end for good, since then.
    pub(crate) kill_at: Option<Timestamp>,
    /// A person wants it to end and to start again.
    #[serde(default)]
    pub(crate) restart_asked: bool,
}

impl TaskRecord {
    pub(crate) fn received(now: Timestamp) -> Self {
        let mut record = Self {
            state: TaskState::default(),
            stage: Stage::Waiting,
            attempt: 0,
            restarts: RestartTracker::default(),
            kill_at: None,
            restart_asked: false,
        };
        events::push(&mut record.state, events::received(now));
        record
    }

    /// It ended for good at `now`; `handle` finds what is left of it.
    pub(crate) fn end(&mut self, handle: Option<TaskHandle>, failed: bool, now: Timestamp) {
        self.state.phase = TaskPhase::Dead;
        self.state.failed |= failed;
        self.state.finished_at = now;
        self.stage = match handle {
            Some(_) => Stage::Ended { handle, next: Next::Nothing },
            None => Stage::Dead,
        };
    }
}
