use longshore_model::{ContentId, ImageRef, Timestamp};
use serde::{Deserialize, Serialize};

use crate::{ActId, Archive, FetchFailure, FetchId, LookId, Notice, Owner, Record};

/// What to do after an event: first the records, durable in one transaction, then the acts in their order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[must_use = "records have to be written and actions carried out"]
pub struct Step {
    pub records: Vec<Record>,
    pub actions: Vec<Action>,
}

/// Something to do. Outcomes come back as events.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// List all images and all containers, beginning now. Answer: `Looked` or `LookFailed`.
    Look { look: LookId },
    /// Pull this name, for the owner whose credentials are to be used. Answer: `Fetched`.
    Pull {
        fetch: FetchId,
        name: ImageRef,
        owner: Owner,
        platform: Option<String>,
        /// Whether a registry that asks for patience is waited for: what is present does not do.
        patient: bool,
    },
    /// Load the archive that this owner's task brought. Answer: `Fetched`.
    Load { fetch: FetchId, name: ImageRef, owner: Owner, archive: Archive },
    /// Nobody waits for this pull or load any more. It is still answered by `Fetched`, however it ends.
    CancelFetch { fetch: FetchId },
    /// The owner may make its container from this content.
    Grant {
        owner: Owner,
        name: ImageRef,
        content: ContentId,
        /// Whether the name pointed at the content at the last look: then the container is made under the name, else by id.
        name_points_at_it: bool,
        /// Whether a pull or load brought it for this owner; else it was present.
        fetched: bool,
        /// Why what was present had to do, when it was to be fresh.
        unasked: Option<FetchFailure>,
        size_bytes: u64,
    },
    /// The owner does not get its image in this attempt.
    Refuse { owner: Owner, name: ImageRef, why: Refusal },
    /// `DELETE` this name, never by id, never with force. Answer: `Removed`.
    RemoveName { act: ActId, name: ImageRef, content: ContentId },
    /// Give the content this private name. Answer: `Tagged`.
    Tag { act: ActId, content: ContentId, name: ImageRef },
    /// Remove containers of ours, of allocations that are over and that do not run. Answer: `DeadRemoved`.
    RemoveDead { act: ActId },
    /// The end of what `Event::NoSpace` began: whether anything was removed.
    RoomMade { any: bool },
    /// Send `Event::Tick` at this time; replaces an earlier wish.
    WakeAt(Timestamp),
    /// Write this line to the log, for people.
    Tell(Notice),
}

/// Why an owner does not get its image.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    /// The pull or load failed.
    #[error(transparent)]
    Fetch(FetchFailure),
    /// An image id names content that is not on this engine, and no registry serves ids.
    #[error(
        "no image with id {content} on this engine, and images cannot be pulled by id; name it by repository and tag or digest"
    )]
    NoSuchId { content: ContentId },
    /// Pulled, and gone again at the look that followed, several times over.
    #[error("`{name}` was brought {times} times and was gone each time: something else removes images on this engine", name = name.familiar())]
    Vanished { name: ImageRef, times: u32 },
    /// Nobody wishes for it any more.
    #[error("nobody wishes for `{name}` any more", name = name.familiar())]
    NotWished { name: ImageRef },
    /// The registry has it for another platform only.
    #[error("`{name}` is an image for {found}, and {wanted} was asked for", name = name.familiar())]
    WrongPlatform { name: ImageRef, wanted: String, found: String },
}
