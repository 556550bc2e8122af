use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{AllocId, DeploymentId, NodeId, Timestamp};

/// Images that a node is to have before an allocation is stopped for its replacement there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImageWish {
    /// What goes on running until then.
    pub alloc: AllocId,
    pub group: String,
    pub node: NodeId,
    pub node_name: String,
    /// As the tasks of the new version write them.
    pub images: Vec<String>,
    pub since: Timestamp,
    /// After this instant the node lets go of what it brought, and an answer counts no more.
    pub expires_at: Timestamp,
    pub answer: Option<WishAnswer>,
}

impl ImageWish {
    /// Neither settled nor too old.
    pub fn is_open(&self, now: Timestamp) -> bool {
        !self.is_settled() && now < self.expires_at
    }

    /// It came true, or cannot any more.
    pub fn is_settled(&self) -> bool {
        matches!(self.answer, Some(WishAnswer::Ready | WishAnswer::Failed { .. }))
    }

    /// The node has the images, and keeps them.
    pub fn is_ready(&self, now: Timestamp) -> bool {
        self.answer == Some(WishAnswer::Ready) && now < self.expires_at
    }

    /// Whether the node's report says something new of this wish: it was asked up to then, and is not settled yet.
    pub fn is_answered_by(&self, node: NodeId, report: &WishReport) -> bool {
        let is_meant = self.node == node && self.group == report.group && self.since <= report.since;
        is_meant && !self.is_settled() && self.answer.as_ref() != Some(&report.answer)
    }

    /// What is waited for and where, with what stands in its way as far as the node has said.
    pub fn waiting_text(&self) -> String {
        let what = format!("image {} on node {}", self.images_text(), self.node_name);
        match &self.answer {
            Some(WishAnswer::Delayed { why }) => format!("{what}: {why}"),
            _ => what,
        }
    }

    /// The images in one text, for people.
    pub fn images_text(&self) -> String {
        self.images.join(", ")
    }
}

/// What a node says of images that it was wished to have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum WishAnswer {
    Ready,
    /// Not yet, and it is tried again: why, for people.
    Delayed {
        why: String,
    },
    /// They cannot be had; why, for people.
    Failed {
        why: String,
    },
}

/// A node's answer to all wishes of a group's deployment that were made up to an instant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WishReport {
    pub deployment: DeploymentId,
    pub group: String,
    /// When the newest wish was made that is answered.
    pub since: Timestamp,
    pub answer: WishAnswer,
}

/// Whether a node can bring a docker task's image knowing no more than its `config`: nothing in the image's name or the
/// credentials is filled in at the start (`${…}`), and no archive that comes with the task has to be loaded.
pub fn is_image_known_before_start(config: &Value) -> bool {
    let by_archive = config.get("load").and_then(Value::as_str).is_some_and(|path| !path.is_empty());
    let needs_more = ["image", "auth"].iter().filter_map(|key| config.get(key)).any(has_variable);
    !by_archive && !needs_more
}

fn has_variable(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains("${"),
        Value::Array(values) => values.iter().any(has_variable),
        Value::Object(values) => values.values().any(has_variable),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}
