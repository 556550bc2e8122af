use std::collections::BTreeMap;

use longshore_values::GoDuration;
use serde::{Deserialize, Serialize};

use crate::Resources;
use crate::empty::null_if_empty;

/// Why a placement went where it went, or nowhere.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct AllocMetric {
    pub nodes_evaluated: i64,
    pub nodes_filtered: i64,
    pub nodes_in_pool: i64,
    /// By datacenter.
    #[serde(with = "null_if_empty")]
    pub nodes_available: BTreeMap<String, i64>,
    #[serde(with = "null_if_empty")]
    pub class_filtered: BTreeMap<String, i64>,
    #[serde(with = "null_if_empty")]
    pub constraint_filtered: BTreeMap<String, i64>,
    pub nodes_exhausted: i64,
    #[serde(with = "null_if_empty")]
    pub class_exhausted: BTreeMap<String, i64>,
    #[serde(with = "null_if_empty")]
    pub dimension_exhausted: BTreeMap<String, i64>,
    #[serde(with = "null_if_empty")]
    pub quota_exhausted: Vec<String>,
    #[serde(with = "null_if_empty")]
    pub resources_exhausted: BTreeMap<String, Resources>,
    #[serde(with = "null_if_empty")]
    pub scores: BTreeMap<String, f64>,
    /// Best first.
    #[serde(with = "null_if_empty")]
    pub score_meta_data: Vec<NodeScoreMeta>,
    pub allocation_time: GoDuration,
    /// How many more of the group failed for the same reason.
    pub coalesced_failures: i64,
}

/// How one node was rated.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct NodeScoreMeta {
    #[serde(rename = "NodeID")]
    pub node_id: String,
    /// By scorer.
    #[serde(with = "null_if_empty")]
    pub scores: BTreeMap<String, f64>,
    pub norm_score: f64,
}
