use longshore_model::{AllocId, ContentId, ImageRef};
use serde::{Deserialize, Serialize};

use crate::{ContentRecord, Handover, Hold, NameRecord, Owner, Pause, Pin, Story};

/// The format of entries as they are stored; goes up when an older reader could misread them.
///
/// 2: images can go for want of room, or for their age; pauses, and stories of what is gone.
pub const RECORD_FORMAT: u32 = 2;

/// One change to the ledger: the entry under a key is now this one, or gone.
///
/// A ledger is a table of key and text. All records of a step are written in one transaction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    pub key: String,
    pub entry: Option<Entry>,
}

/// What the ledger can hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Entry {
    Hold(Hold),
    Handover(Handover),
    Name(NameRecord),
    Content(ContentRecord),
    Pin(Pin),
    Pause(Pause),
    Story(Story),
}

#[derive(Serialize, Deserialize)]
struct Stored<E> {
    format: u32,
    #[serde(flatten)]
    entry: E,
}

#[derive(Deserialize)]
struct Format {
    format: u32,
}

/// Why a stored entry cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum BadEntry {
    #[error(
        "an entry of the image ledger has format {found}; this version reads up to {RECORD_FORMAT}: start the version that wrote it"
    )]
    Newer { found: u32 },
    #[error("an entry of the image ledger cannot be read")]
    Form(#[source] serde_json::Error),
}

impl Entry {
    /// The key that the entry is stored under.
    pub fn key(&self) -> String {
        match self {
            Self::Hold(hold) => Self::hold_key(&hold.owner, &hold.name),
            Self::Handover(handover) => Self::handover_key(handover.predecessor),
            Self::Name(record) => Self::name_key(&record.name),
            Self::Content(record) => Self::content_key(record.id),
            Self::Pin(pin) => Self::pin_key(&pin.pattern),
            Self::Story(story) => Self::story_key(&story.name),
            Self::Pause(_) => Self::PAUSE_KEY.to_owned(),
        }
    }

    pub(crate) fn story_key(name: &ImageRef) -> String {
        format!("story {}", name.full())
    }

    /// There is one pause at most.
    pub(crate) const PAUSE_KEY: &str = "pause";

    pub(crate) fn hold_key(owner: &Owner, name: &ImageRef) -> String {
        format!("hold {owner} {}", name.full())
    }

    pub(crate) fn handover_key(predecessor: AllocId) -> String {
        format!("handover {predecessor}")
    }

    pub(crate) fn name_key(name: &ImageRef) -> String {
        format!("name {}", name.full())
    }

    pub(crate) fn content_key(id: ContentId) -> String {
        format!("content {id}")
    }

    pub(crate) fn pin_key(pattern: &str) -> String {
        format!("pin {pattern}")
    }

    /// As it is stored, with its format.
    ///
    /// # Errors
    /// None that this version's entries can cause.
    pub fn to_text(&self) -> Result<String, BadEntry> {
        serde_json::to_string(&Stored { format: RECORD_FORMAT, entry: self }).map_err(BadEntry::Form)
    }

    /// Reads a stored entry.
    ///
    /// # Errors
    /// When it was written by a newer version, or is damaged.
    pub fn from_text(text: &str) -> Result<Self, BadEntry> {
        let Format { format: found } = serde_json::from_str(text).map_err(BadEntry::Form)?;
        if found > RECORD_FORMAT {
            return Err(BadEntry::Newer { found });
        }
        serde_json::from_str::<Stored<Self>>(text).map(|stored| stored.entry).map_err(BadEntry::Form)
    }
}
