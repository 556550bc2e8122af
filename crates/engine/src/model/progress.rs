use serde::Deserialize;

use super::null_is_empty;

/// One message of a pull or a load.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct PullMessage {
    /// `Downloading`, `Pull complete`, `Digest: …`, `Retrying in 5 seconds`, …
    #[serde(default, deserialize_with = "null_is_empty")]
    pub status: String,
    /// The layer, by the first digits of its blob's digest; or the tag.
    #[serde(default, deserialize_with = "null_is_empty")]
    pub id: String,
    /// What `load` says.
    #[serde(default, deserialize_with = "null_is_empty")]
    pub stream: String,
    #[serde(default, rename = "progressDetail", deserialize_with = "null_is_empty")]
    pub progress: LayerProgress,
    #[serde(default)]
    pub(crate) error: Option<String>,
    #[serde(default, rename = "errorDetail")]
    pub(crate) error_detail: Option<ErrorDetail>,
    /// What old engines and some refusals inside of a stream use.
    #[serde(default)]
    pub(crate) message: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub(crate) struct ErrorDetail {
    #[serde(default)]
    pub(crate) message: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
pub struct LayerProgress {
    /// Bytes.
    #[serde(default)]
    pub current: i64,
    #[serde(default)]
    pub total: i64,
}

impl PullMessage {
    /// Whether this says that something moved. Retry count-downs do not: they flow for as long as a registry is away.
    pub fn is_progress(&self) -> bool {
        !self.status.starts_with("Retrying")
    }

    /// The manifest's digest, when this is the message that tells it.
    pub fn digest(&self) -> Option<&str> {
        self.status.strip_prefix("Digest: ").map(str::trim)
    }

    pub(crate) fn failure(&self) -> Option<&str> {
        let detail = self.error_detail.as_ref().and_then(|detail| detail.message.as_deref());
        self.error.as_deref().or(detail).or(self.message.as_deref())
    }
}
