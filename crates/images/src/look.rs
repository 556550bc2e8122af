use longshore_model::{ContentId, ImageRef};
use serde::{Deserialize, Serialize};

use crate::{Owner, Room};

/// One look at an engine: all its images and all its containers, listed after the look was asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    pub images: Vec<ImageSeen>,
    /// Containers in any state, anybody's.
    pub containers: Vec<ContainerSeen>,
    /// What could not be read, for people. Unless it is empty, what is missing from the lists is unknown, not absent (K6).
    pub unreadable: Vec<String>,
    /// Measured after all that was asked for before this look has been answered (K9).
    #[serde(default)]
    pub room: Room,
}

impl Seen {
    /// Whether everything could be read.
    pub fn is_complete(&self) -> bool {
        self.unreadable.is_empty()
    }
}

/// Content that the engine stores.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImageSeen {
    pub id: ContentId,
    /// Tags and digest names.
    pub names: Vec<ImageRef>,
    pub size_bytes: u64,
    /// `linux/amd64`, when it is known.
    pub platform: Option<String>,
    /// Content that this one was built upon on this engine.
    pub parent: Option<ContentId>,
}

/// A container in any state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContainerSeen {
    pub id: String,
    pub content: ContentId,
    /// The name that it was made from: our label's, else the one the engine shows. None when the engine shows a bare id:
    /// then it is taken to need every name of its content.
    pub made_from: Option<ImageRef>,
    /// Whose it is, when its labels say that it is ours.
    pub owner: Option<Owner>,
}
