use serde::{Deserialize, Serialize};

use crate::empty::null_if_empty;

/// A rule that a node must meet.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Constraint {
    /// The left side, usually `${attr.…}`.
    #[serde(rename = "LTarget")]
    pub ltarget: String,
    #[serde(rename = "RTarget")]
    pub rtarget: String,
    /// `=`, `!=`, `version`, `regexp`, `distinct_hosts` …
    pub operand: String,
}

/// A wish about nodes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Affinity {
    #[serde(rename = "LTarget")]
    pub ltarget: String,
    #[serde(rename = "RTarget")]
    pub rtarget: String,
    pub operand: String,
    /// -100 to 100, not 0.
    pub weight: Option<i64>,
}

/// A wish for a distribution over the values of an attribute.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Spread {
    pub attribute: String,
    /// 1 to 100.
    pub weight: Option<i64>,
    #[serde(with = "null_if_empty")]
    pub spread_target: Vec<SpreadTarget>,
}

/// The share of one value.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct SpreadTarget {
    pub value: String,
    pub percent: u64,
}
