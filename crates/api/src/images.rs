//! The image routes, which are Longshore's own: what the agent's image keeper knows of the images of its engine.

use serde::{Deserialize, Serialize};

use crate::GoTime;

/// `GET /v1/client/images`: every image name that the engine has or that somebody here needs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct ImagesResponse {
    /// What people should know about the keeper as a whole (another keeper holds the engine, the engine was not reached yet
    /// or is away and what is listed is as of an earlier look, …); empty when all is well.
    pub note: String,
    /// The pause of removals that holds now; absent when there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pause: Option<ImagePause>,
    pub images: Vec<ImageStatus>,
}

/// One name at one content.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct ImageStatus {
    /// In the familiar form (`redis:7`); for content without a name its id.
    pub name: String,
    /// The content's id as the engine reports it; empty while it is not there.
    #[serde(rename = "ID")]
    pub id: String,
    /// As the engine reports it, layers shared with others included.
    pub size_bytes: u64,
    /// `obtained` when our own pull or load made the name point there, else `foreign`; `absent` while it points nowhere.
    pub provenance: String,
    /// `pulling`, `held`, `idle`, `removing`, `unsure`, `foreign`, `nameless` or `absent`.
    pub state: String,
    /// How many holds there are: holders other than containers, which need an image without a record of ours.
    pub holds: u64,
    pub holders: Vec<ImageHolder>,
    /// Why it stays, or why it goes, in words.
    pub why: String,
    /// When it will be removed; `null` when it stays.
    pub due_at: GoTime,
    /// Since when nobody has needed it; `null` while needed.
    pub idle_since: GoTime,
    /// When a task was last granted it; `null` for never.
    pub last_used: GoTime,
    /// Of a pull under way, in words; empty otherwise.
    pub progress: String,
}

/// Who needs an image.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct ImageHolder {
    /// `task`, `network`, `agent`, `prefetch`, `kept version`, `pin`, `pull` or `container`.
    pub kind: String,
    /// What tells it apart: the allocation's id, the container's id, the pin's pattern.
    #[serde(rename = "ID")]
    pub id: String,
    /// The same id, when the holder is a part of an allocation; else empty.
    #[serde(rename = "AllocID")]
    pub alloc_id: String,
    /// Empty for all but tasks.
    pub task_name: String,
}

/// `GET /v1/client/image/:name`: one name with its story.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct ImageExplain {
    pub status: ImageStatus,
    /// Why it is here, who holds it and when it goes, most important first.
    pub lines: Vec<String>,
}

/// `PUT /v1/client/images/pin` and `…/unpin`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct ImagePinRequest {
    /// `*` stands for any run of characters; without one, a name.
    pub pattern: String,
    /// Who asks, for those who wonder later; `unpin` does not read it.
    pub who: String,
}

/// `GET /v1/client/images/pins`, an element; and the answer to `PUT /v1/client/images/pin`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct ImagePin {
    pub pattern: String,
    pub who: String,
    pub at: GoTime,
    /// Names that are here and match.
    pub names: Vec<String>,
}

/// `PUT /v1/client/images/gc`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct ImageCollectRequest {
    /// Only tell what would go.
    pub dry_run: bool,
}

/// What a collection did, or would do.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct ImageCollectResponse {
    pub images: Vec<ImageCollected>,
}

/// One image of it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct ImageCollected {
    pub name: String,
    #[serde(rename = "ID")]
    pub id: String,
    pub size_bytes: u64,
    pub removed: bool,
    /// `would be removed`, `removed`, or why it is still there.
    pub outcome: String,
}

/// `PUT /v1/client/images/pull`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct ImagePullRequest {
    pub name: String,
    /// Ask the registry also when the name is here.
    pub force: bool,
}

/// An image that is here now.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct ImagePulled {
    pub name: String,
    #[serde(rename = "ID")]
    pub id: String,
    pub size_bytes: u64,
    /// How it came, in words.
    pub message: String,
    /// Until then it stays, whoever needs it.
    pub kept_until: GoTime,
}

/// `PUT /v1/client/images/pause`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct ImagePauseRequest {
    /// For how long nothing is removed (`2h`); `0s` ends the pause.
    pub duration: String,
    /// Who asks, for those who wonder later.
    pub who: String,
}

/// Its answer, and what `GET /v1/client/images` tells of it: all zero when there is no pause.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct ImagePause {
    pub who: String,
    pub at: GoTime,
    pub until: GoTime,
}

/// `PUT /v1/client/images/adopt`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct ImageAdoptRequest {
    /// `*` stands for any run of characters; without one, a name, or the id of content that has none.
    pub pattern: String,
    /// Who asks, for those who wonder later.
    pub who: String,
    /// Only tell what would be adopted.
    pub dry_run: bool,
}

/// What an adoption did, or would do.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct ImageAdoptResponse {
    pub images: Vec<ImageAdopted>,
}

/// One image of it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct ImageAdopted {
    pub name: String,
    #[serde(rename = "ID")]
    pub id: String,
    pub size_bytes: u64,
    /// Whether it is ours now and was not before.
    pub adopted: bool,
    /// `adopted`, `would be adopted`, `already obtained`, or why not.
    pub outcome: String,
}
