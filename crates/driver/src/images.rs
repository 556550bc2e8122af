use async_trait::async_trait;
use longshore_model::Timestamp;
use serde::{Deserialize, Serialize};

use crate::DriverError;

/// Whose an image name is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Provenance {
    /// A pull or load of ours made the name point where it points.
    Obtained,
    /// It was there before us, or somebody else moved it.
    Foreign,
    /// Nobody's: the name is not on the engine.
    Absent,
}

impl Provenance {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Obtained => "obtained",
            Self::Foreign => "foreign",
            Self::Absent => "absent",
        }
    }
}

/// Who needs an image.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImageHolder {
    /// `task`, `network`, `agent`, `prefetch`, `kept version`, `pin`, `container`.
    pub kind: String,
    /// The allocation's id, the container's id, the pin's pattern….
    pub id: String,
    /// The task's name; empty for others.
    pub task: String,
}

/// One image name, as people are told about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImageReport {
    /// In the familiar form (`redis:7`); for nameless content its id.
    pub name: String,
    /// The id that the engine reports; empty while it is not there.
    pub content_id: String,
    pub size_bytes: u64,
    pub provenance: Provenance,
    /// `pulling`, `held`, `idle`, `removing`, `unsure`, `foreign`, `nameless`, `absent`.
    pub state: String,
    pub holders: Vec<ImageHolder>,
    /// Why it stays, or why it goes, in words.
    pub reason: String,
    /// When it will be removed; `None` when it stays.
    pub due_at: Option<Timestamp>,
    /// Since when nobody has needed it; `None` while it is needed.
    pub idle_since: Option<Timestamp>,
    pub last_used_at: Option<Timestamp>,
    /// Progress of a pull under way, in words; empty otherwise.
    pub progress: String,
}

/// One name with its story.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImageExplanation {
    pub report: ImageReport,
    /// Sentences that answer why it is here, who holds it and when it goes, most important first.
    pub lines: Vec<String>,
}

/// What there is to say about a name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Explained {
    Known(ImageExplanation),
    /// No image of that name is here, and nobody needs one.
    Unknown {
        /// The name in full, as it was looked for.
        looked_for: String,
        /// Names that are here and may have been meant, likeliest first.
        near: Vec<String>,
    },
}

/// What people may ask about the images of a node.
#[async_trait]
pub trait Images: Send + Sync {
    async fn list(&self) -> Result<Vec<ImageReport>, DriverError>;

    /// About a name, or an id or the beginning of one. Fails when it is neither.
    async fn explain(&self, name: &str) -> Result<Explained, DriverError>;

    /// Whether this agent keeps the images of its engine; else why not (another keeper holds the engine, no engine, …).
    async fn keeper_note(&self) -> Option<String>;
}
