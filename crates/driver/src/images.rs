use async_trait::async_trait;
use longshore_model::{Provenance, Timestamp};
use longshore_values::GoDuration;
use serde::{Deserialize, Serialize};

use crate::DriverError;

/// Who needs an image.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImageHolder {
    /// `task`, `network`, `agent`, `prefetch`, `kept version`, `pin`, `pull`, `container`.
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

/// A person's wish that what matches a pattern is never removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PinReport {
    /// `*` stands for any run of characters.
    pub pattern: String,
    pub who: String,
    pub at: Timestamp,
    /// Names that are here and match.
    pub names: Vec<String>,
}

/// An image that goes, or would go, because a person asks for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Collected {
    /// In the familiar form; for nameless content its id.
    pub name: String,
    pub content_id: String,
    pub size_bytes: u64,
    /// Whether it is gone.
    pub removed: bool,
    /// `would be removed`, `removed`, or why it is still there.
    pub outcome: String,
}

/// A person's wish that no image is removed for a while.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PauseReport {
    pub who: String,
    pub at: Timestamp,
    pub until: Timestamp,
}

/// An image that a person takes back, or would take back, as brought by us.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Adopted {
    /// In the familiar form; for nameless content its id.
    pub name: String,
    pub content_id: String,
    pub size_bytes: u64,
    /// Whether it is ours now and was not before.
    pub adopted: bool,
    /// `adopted`, `would be adopted`, `already obtained`, or why not.
    pub outcome: String,
}

/// An image that a person asked for, and that is here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pulled {
    pub name: String,
    pub content_id: String,
    pub size_bytes: u64,
    /// How it came, in words.
    pub message: String,
    /// Until then it stays, whoever needs it.
    pub kept_until: Timestamp,
}

/// How often something was done with images, or how much of it, since the agent's start: grows only.
#[derive(Debug, Clone, PartialEq)]
pub struct ImageCount {
    /// `grants`, `fetches`, `removals`, …; bytes and seconds say so.
    pub what: &'static str,
    /// What it is told apart by, as metrics label it.
    pub labels: Vec<(&'static str, &'static str)>,
    pub value: f64,
}

/// The room on the file system with the engine's images.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageRoom {
    /// None when it cannot be measured from here.
    pub disk_total_bytes: Option<u64>,
    pub disk_free_bytes: Option<u64>,
    /// What images of ours take, each shared layer once.
    pub obtained_bytes: u64,
    /// What room can be short for, and whether it is: `no_space`, `disk_high`, `min_free`, `budget`.
    pub short: Vec<(&'static str, bool)>,
}

/// What people may ask about the images of a node.
#[async_trait]
pub trait Images: Send + Sync {
    async fn list(&self) -> Result<Vec<ImageReport>, DriverError>;

    /// About a name, or an id or the beginning of one. Fails when it is neither.
    async fn explain(&self, name: &str) -> Result<Explained, DriverError>;

    /// From now on what matches the pattern is not removed. One without `*` is a name, as engines read it (`redis` is
    /// `redis:latest`). Repeating it changes who and when. Fails when this agent does not keep its engine's images.
    async fn pin(&self, pattern: &str, who: &str) -> Result<PinReport, DriverError>;

    /// Takes a pin back; whether there was one.
    async fn unpin(&self, pattern: &str) -> Result<bool, DriverError>;

    /// All pins, by pattern.
    async fn pins(&self) -> Result<Vec<PinReport>, DriverError>;

    /// From now on what is foreign and matches the pattern counts as brought by us: it goes when nothing needs it. One
    /// without `*` is a name, or the id of content without a name. Fails with [`Reason::NotFound`](crate::Reason) when
    /// nothing that is here matches. With `dry_run` it only tells what would be adopted.
    async fn adopt(&self, pattern: &str, who: &str, dry_run: bool) -> Result<Vec<Adopted>, DriverError>;

    /// Removes no image for so long, for any reason; what was sent to the engine already may still go. Zero ends the pause.
    /// Another one replaces it. `None` when there is none now.
    async fn pause(&self, span: GoDuration, who: &str) -> Result<Option<PauseReport>, DriverError>;

    /// The pause that holds, if there is one.
    async fn paused(&self) -> Result<Option<PauseReport>, DriverError>;

    /// Removes what nobody needs now, whatever its delay and whether images are removed at all; or only tells what
    /// that would be. Returns when it is gone, or after some seconds.
    async fn collect(&self, dry_run: bool) -> Result<Vec<Collected>, DriverError>;

    /// Brings an image if it is not here (`fresh`: asks the registry in any case), and keeps it for an hour. Returns when
    /// it is here, or cannot be had within the node's limit; dropping the future calls it off.
    async fn pull(&self, name: &str, fresh: bool) -> Result<Pulled, DriverError>;

    /// What has been done with images since the agent's start.
    async fn counts(&self) -> Result<Vec<ImageCount>, DriverError> {
        Ok(Vec::new())
    }

    /// The room on the engine's disk, where that is known.
    async fn room(&self) -> Result<Option<ImageRoom>, DriverError> {
        Ok(None)
    }

    /// Whether this agent keeps the images of its engine; else why not (another keeper holds the engine, no engine, …).
    async fn keeper_note(&self) -> Option<String>;
}
