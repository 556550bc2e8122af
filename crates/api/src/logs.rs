use serde::{Deserialize, Serialize};

use crate::empty::is_default;

/// A piece of a log or file stream; an empty one (`{}`) says that the stream lives.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct StreamFrame {
    /// The position in the file after `data`.
    #[serde(skip_serializing_if = "is_default")]
    pub offset: i64,
    /// Base64.
    #[serde(skip_serializing_if = "is_default")]
    pub data: String,
    /// The path within the allocation.
    #[serde(skip_serializing_if = "is_default")]
    pub file: String,
    /// Empty, `file deleted` or `file truncated`.
    #[serde(skip_serializing_if = "is_default")]
    pub file_event: String,
}
