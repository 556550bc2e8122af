use std::collections::BTreeSet;

use longshore_model::{ContentId, ImageRef, Timestamp};
use serde::{Deserialize, Serialize};

use crate::RemovalReason;

/// Content that a pull or load of ours brought while it was absent. What others brought has no record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContentRecord {
    pub id: ContentId,
    pub state: ContentState,
    /// Since when nothing has needed it, under whatever name. None while something does.
    pub idle_since: Option<Timestamp>,
    pub obtained_at: Timestamp,
    pub size_bytes: u64,
    /// Digest names that pulls of ours left on it. Engines drop them with the last tag of their repository, but not
    /// when that tag moves away.
    pub digest_names: BTreeSet<ImageRef>,
}

/// What becomes of content:
/// `Named` → (a pull or load of ours moved its last tag) → `Nameless` → (due) → `Marked` → gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ContentState {
    /// Tags point at it.
    Named,
    /// Others took its last tag: it is told about, and left alone unless a name of ours comes back to it.
    Left,
    /// A pull or load of ours moved its last tag away, or a removal of ours left it with digest names only.
    Nameless,
    /// Others brought it again, so that it is theirs; only our private name on it still has to go.
    Theirs,
    /// Being removed under a private name of ours, which goes last, after the digest names that our pulls left.
    Marked { why: RemovalReason },
}

/// The private name under which nameless content of ours is removed (K5): by name, so that a name which a person gives
/// it meanwhile keeps it. No registry answers to it.
pub fn private_name(id: ContentId) -> ImageRef {
    format!("longshore.invalid/due:{}", id.hex()).parse().unwrap_or_else(|_| ImageRef::from_id(id))
}

/// Whether a name is one of those.
pub fn is_private(name: &ImageRef) -> bool {
    name.repository() == Some("longshore.invalid/due")
}
