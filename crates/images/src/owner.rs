use std::fmt;

use longshore_model::{AllocId, JobKey};
use serde::{Deserialize, Serialize};

/// Whoever needs an image. A hold belongs to its owner, not to an attempt of it (K3).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Owner {
    /// A task of an allocation: from the node's acceptance until the task can never start again.
    Task { alloc: AllocId, task: String },
    /// The network of an allocation, which needs the infra image until it is torn down.
    Network(AllocId),
    /// The agent itself, for its infra image.
    Agent,
    /// A task of a job version that a server wishes to have here before it is placed.
    Prefetch { job: JobKey, version: u64, group: String, task: String },
    /// An earlier, stable version of a job that can be gone back to.
    KeptVersion { job: JobKey, version: u64 },
    /// A pattern that a person asked to keep.
    Pin { pattern: String },
    /// People who asked for a name, however often: until the hold expires.
    Asked { name: String },
}

impl Owner {
    /// The owner of a task's image.
    pub fn task(alloc: AllocId, task: impl Into<String>) -> Self {
        Self::Task { alloc, task: task.into() }
    }

    /// Whether it asks for its image by itself. The others keep what is there: of what is absent they tell nobody.
    pub(crate) fn asks(&self) -> bool {
        !matches!(self, Self::Agent | Self::KeptVersion { .. } | Self::Pin { .. })
    }

    pub(crate) fn is_prefetch(&self) -> bool {
        matches!(self, Self::Prefetch { .. })
    }

    /// Whether its holds end by themselves.
    pub(crate) fn is_wish(&self) -> bool {
        matches!(self, Self::Prefetch { .. } | Self::Asked { .. })
    }

    /// The allocation that the owner belongs to, if to any.
    pub fn alloc(&self) -> Option<AllocId> {
        match self {
            Self::Task { alloc, .. } | Self::Network(alloc) => Some(*alloc),
            Self::Agent | Self::Prefetch { .. } | Self::KeptVersion { .. } | Self::Pin { .. } | Self::Asked { .. } => {
                None
            }
        }
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Task { alloc, task } => write!(f, "task {alloc}/{task}"),
            Self::Network(alloc) => write!(f, "network {alloc}"),
            Self::Agent => f.write_str("agent"),
            Self::Prefetch { job, version, group, task } => write!(f, "prefetch {job} v{version} {group}/{task}"),
            Self::KeptVersion { job, version } => write!(f, "kept version {job} v{version}"),
            Self::Pin { pattern } => write!(f, "pin {pattern}"),
            Self::Asked { name } => write!(f, "pull {name}"),
        }
    }
}
