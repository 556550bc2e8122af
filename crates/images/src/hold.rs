use longshore_model::{AllocId, ContentId, ImageRef, Timestamp};
use serde::{Deserialize, Serialize};

use crate::Owner;

/// The durable record that an owner needs a name and, once granted, its content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hold {
    pub owner: Owner,
    pub name: ImageRef,
    /// When it was taken.
    pub since: Timestamp,
    /// What was handed out last under this name.
    pub granted: Option<ContentId>,
    /// What its last container was made from: kept until there is a container of what was granted since.
    pub in_use: Option<ContentId>,
    /// When the owner ended. The hold then lingers for the allocation that takes over (K7).
    pub ended_at: Option<Timestamp>,
    /// When the owner's need ends by itself; only what a server wished for has such a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
}

impl Hold {
    /// The content that the hold keeps.
    pub fn contents(&self) -> impl Iterator<Item = ContentId> {
        self.granted.into_iter().chain(self.in_use.filter(|id| Some(*id) != self.granted))
    }
}

/// One allocation takes over from another on this node (K7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Handover {
    pub predecessor: AllocId,
    pub successor: AllocId,
}

/// A person's wish that nothing is removed for a while.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pause {
    /// Who asked for it.
    pub who: String,
    pub at: Timestamp,
    pub until: Timestamp,
}

/// A person's wish that images whose name matches a pattern are never removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pin {
    /// A glob, matched against the full and the familiar form of a name.
    pub pattern: String,
    /// Who asked for it.
    pub who: String,
    pub at: Timestamp,
}
