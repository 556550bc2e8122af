use std::sync::Arc;

use longshore_journal::JournalError;
use longshore_link::LinkError;
use longshore_model::{AllocId, JobKey, LogIndex, NodeId};
use longshore_state::{BadEntry, BadImage};

use crate::operations::GroupCounts;

/// Why a request was not carried out. Nothing of it happened then.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ServerError {
    #[error("the server is shutting down")]
    ShuttingDown,
    /// The same request may succeed later.
    #[error("the change could not be made durable, and was not made")]
    NotDurable(#[source] JournalError),
    #[error("the change could not be encoded")]
    Encode(#[source] Arc<serde_json::Error>),
    /// A fault of Longshore itself; the log has where.
    #[error("the server came upon a fault of its own and changed nothing; hint: the log has a panic message to report")]
    Panicked,
    /// What the request names is not there: `job`, `eval`, `alloc`, `deployment` or `node`.
    #[error("{0} not found")]
    NotFound(&'static str),
    #[error(transparent)]
    Refused(#[from] Refusal),
}

/// A request that does not fit what is there, in the words that clients know.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("Enforcing job modify index 0: job already exists")]
    JobExists,
    #[error("Enforcing job modify index {0}: job does not exist")]
    JobMissing(LogIndex),
    #[error("Enforcing job modify index {enforced}: job exists with conflicting job modify index: {found}")]
    JobChanged { enforced: LogIndex, found: LogIndex },
    #[error("cannot update job from type \"{from}\" to \"{to}\"")]
    JobType { from: &'static str, to: &'static str },
    /// The job was made with counts of its groups that do not hold any more; these do.
    #[error("the counts of the job's groups have changed meanwhile")]
    CountsChanged(GroupCounts),
    #[error("can't revert to current version")]
    RevertToCurrent,
    #[error("Current job has version {found}; enforcing version {enforced}")]
    RevertFromOther { found: u64, enforced: u64 },
    #[error("job \"{}\" not found", .0.id)]
    RevertUnknown(JobKey),
    #[error("job \"{}\" in namespace \"{}\" at version {version} not found", key.id, key.namespace)]
    NoVersion { key: JobKey, version: u64 },
    #[error("can't {0} terminal deployment")]
    DeploymentEnded(&'static str),
    #[error("can't set health of allocations for a terminal deployment")]
    HealthOfEndedDeployment,
    #[error("must specify at least one healthy/unhealthy allocation ID")]
    NoAllocations,
    #[error("unknown alloc \"{0}\"")]
    UnknownAlloc(AllocId),
}

/// Why a server could not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("could not read the journal")]
    Journal(#[from] JournalError),
    #[error("could not restore the state from the snapshot at entry {index}")]
    Snapshot { index: LogIndex, source: BadImage },
    #[error("could not read entry {index} of the journal")]
    Entry { index: LogIndex, source: BadEntry },
    #[error("could not write the first entry of a new journal")]
    Found(#[source] ServerError),
    #[error("the restoring was cut short")]
    Cancelled,
    #[error("could not start a worker thread")]
    Thread(#[source] std::io::Error),
}

impl ServerError {
    pub(crate) fn into_link(self, doing: &'static str, node: NodeId) -> LinkError {
        match self {
            Self::ShuttingDown => LinkError::ShuttingDown,
            Self::NotFound(_) => LinkError::UnknownNode(node),
            other => {
                let mut why = other.to_string();
                let mut cause = std::error::Error::source(&other);
                while let Some(deeper) = cause {
                    why = format!("{why}: {deeper}");
                    cause = deeper.source();
                }
                LinkError::Unavailable { doing, why }
            }
        }
    }
}
