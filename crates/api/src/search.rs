use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// `PUT /v1/search`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct SearchRequest {
    pub prefix: String,
    /// `jobs`, `allocs`, `evals`, `nodes`, `deployments`, … or `all`.
    pub context: String,
}

/// At most twenty matches a context.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct SearchResponse {
    /// By context; `None` when nothing matched.
    pub matches: BTreeMap<String, Option<Vec<String>>>,
    pub truncations: BTreeMap<String, bool>,
    pub index: u64,
    pub last_contact: i64,
    pub known_leader: bool,
    pub next_token: String,
}
