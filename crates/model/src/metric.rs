use std::collections::BTreeMap;

use longshore_values::GoDuration;
use serde::{Deserialize, Serialize};

use crate::NodeId;

/// Why a placement went where it went, or nowhere (scheduling facts 4.4).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct AllocMetric {
    pub nodes_evaluated: u32,
    pub nodes_filtered: u32,
    pub nodes_in_pool: u32,
    /// Datacenter → ready nodes.
    pub nodes_available: BTreeMap<String, u32>,
    pub class_filtered: BTreeMap<String, u32>,
    pub constraint_filtered: BTreeMap<String, u32>,
    pub nodes_exhausted: u32,
    pub class_exhausted: BTreeMap<String, u32>,
    pub dimension_exhausted: BTreeMap<String, u32>,
    pub scores: Vec<NodeScore>,
    pub allocation_time: GoDuration,
    pub coalesced_failures: u32,
}

/// How one candidate was rated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NodeScore {
    pub node: NodeId,
    /// Scorer's name → score.
    pub scores: BTreeMap<String, f64>,
    pub normalized: f64,
}
