use serde::{Deserialize, Serialize};

use crate::empty::{is_default, null_if_empty};

/// A volume that a group asks for.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct VolumeRequest {
    pub name: String,
    /// `host` or `csi`.
    #[serde(rename = "Type")]
    pub kind: String,
    pub source: String,
    pub read_only: bool,
    pub access_mode: String,
    pub attachment_mode: String,
    pub mount_options: Option<CsiMountOptions>,
    pub per_alloc: bool,
    /// Since 1.10.
    #[serde(skip_serializing_if = "is_default")]
    pub sticky: bool,
}

/// How a volume is mounted.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct CsiMountOptions {
    #[serde(rename = "FSType")]
    pub fs_type: String,
    #[serde(with = "null_if_empty")]
    pub mount_flags: Vec<String>,
}

/// Where a task sees a volume.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct VolumeMount {
    pub volume: Option<String>,
    pub destination: Option<String>,
    pub read_only: Option<bool>,
    /// `private`, `host-to-task` or `bidirectional`.
    pub propagation_mode: Option<String>,
    /// Since 1.10.
    #[serde(rename = "SELinuxLabel", skip_serializing_if = "Option::is_none")]
    pub selinux_label: Option<String>,
}
