use std::collections::BTreeMap;

use serde::Deserialize;

use super::null_is_empty;

/// An image in a list.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct ImageSummary {
    pub id: String,
    #[serde(default, deserialize_with = "null_is_empty")]
    pub parent_id: String,
    /// Without the placeholder `<none>:<none>`: see [`ImageSummary::tags`].
    #[serde(default, deserialize_with = "null_is_empty")]
    pub repo_tags: Vec<String>,
    #[serde(default, deserialize_with = "null_is_empty")]
    pub repo_digests: Vec<String>,
    /// Bytes, unpacked, shared layers included.
    #[serde(default)]
    pub size: i64,
    /// Seconds since 1970; the date of the build, not of arrival.
    #[serde(default)]
    pub created: i64,
    #[serde(default, deserialize_with = "null_is_empty")]
    pub labels: BTreeMap<String, String>,
}

impl ImageSummary {
    /// Its tags, placeholders left out.
    pub fn tags(&self) -> impl Iterator<Item = &str> {
        self.repo_tags.iter().map(String::as_str).filter(|name| *name != "<none>:<none>")
    }
    /// Its digest names, placeholders left out.
    pub fn digests(&self) -> impl Iterator<Item = &str> {
        self.repo_digests.iter().map(String::as_str).filter(|name| *name != "<none>@<none>")
    }
}

/// An image, inspected.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Image {
    pub id: String,
    #[serde(default, deserialize_with = "null_is_empty")]
    pub repo_tags: Vec<String>,
    #[serde(default, deserialize_with = "null_is_empty")]
    pub repo_digests: Vec<String>,
    #[serde(default, deserialize_with = "null_is_empty")]
    pub parent: String,
    #[serde(default, deserialize_with = "null_is_empty")]
    pub architecture: String,
    #[serde(default, deserialize_with = "null_is_empty")]
    pub variant: String,
    #[serde(default, deserialize_with = "null_is_empty")]
    pub os: String,
    #[serde(default)]
    pub size: i64,
    #[serde(default, deserialize_with = "null_is_empty")]
    pub config: ImageConfig,
    #[serde(default, rename = "RootFS", deserialize_with = "null_is_empty")]
    pub root_fs: ImageRootFs,
}

/// What an image's file system is made of.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct ImageRootFs {
    /// Digests of the unpacked layers, lowest first.
    #[serde(default, deserialize_with = "null_is_empty")]
    pub layers: Vec<String>,
}

/// One step of an image's making.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct HistoryStep {
    /// Bytes of the layer that it made, unpacked; 0 also when it made none.
    #[serde(default)]
    pub size: i64,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct ImageConfig {
    #[serde(default, deserialize_with = "null_is_empty")]
    pub user: String,
    #[serde(default, deserialize_with = "null_is_empty")]
    pub labels: BTreeMap<String, String>,
}

/// One line of what a removal did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct ImageRemoval {
    /// A name that is gone.
    #[serde(default)]
    pub untagged: Option<String>,
    /// An image or layer that is gone.
    #[serde(default)]
    pub deleted: Option<String>,
}
