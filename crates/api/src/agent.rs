use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::empty::{is_default, null_if_empty};

/// `GET /v1/agent/self`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentSelf {
    /// The effective configuration, secrets masked.
    #[serde(rename = "config")]
    pub config: BTreeMap<String, Value>,
    #[serde(rename = "member")]
    pub member: AgentMember,
    /// By area; all values are texts.
    #[serde(rename = "stats")]
    pub stats: BTreeMap<String, BTreeMap<String, String>>,
}

/// `GET /v1/agent/members`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct ServerMembers {
    pub server_name: String,
    pub server_region: String,
    #[serde(rename = "ServerDC")]
    pub server_dc: String,
    #[serde(with = "null_if_empty")]
    pub members: Vec<AgentMember>,
}

/// One server, as others know it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct AgentMember {
    pub name: String,
    pub addr: Option<String>,
    pub port: u64,
    #[serde(with = "null_if_empty")]
    pub tags: BTreeMap<String, String>,
    /// `alive`, `leaving`, `left`, `failed`, or `none` on an agent that is no server.
    pub status: String,
    pub protocol_min: u64,
    pub protocol_max: u64,
    pub protocol_cur: u64,
    pub delegate_min: u64,
    pub delegate_max: u64,
    pub delegate_cur: u64,
}

/// `GET /v1/agent/health`: 200 when all that was asked for is well, 500 otherwise, with the same body.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentHealthResponse {
    #[serde(rename = "client", skip_serializing_if = "is_default")]
    pub client: Option<AgentHealth>,
    #[serde(rename = "server", skip_serializing_if = "is_default")]
    pub server: Option<AgentHealth>,
}

/// How one role of an agent is.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentHealth {
    #[serde(rename = "ok")]
    pub ok: bool,
    #[serde(rename = "message")]
    pub message: String,
}

/// A namespace.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Namespace {
    pub name: String,
    pub description: String,
    pub quota: String,
    pub capabilities: Option<Value>,
    pub node_pool_configuration: Option<Value>,
    #[serde(with = "null_if_empty")]
    pub meta: BTreeMap<String, String>,
    /// Base64.
    pub hash: String,
    pub create_index: u64,
    pub modify_index: u64,
}
