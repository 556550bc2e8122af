use std::collections::BTreeMap;

use longshore_values::GoDuration;
use serde::{Deserialize, Serialize};

use crate::empty::{is_default, null_if_empty};
use crate::{ConsulConnect, WorkloadIdentity};

/// Something that others find by name.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Service {
    pub name: String,
    pub task_name: String,
    pub port_label: String,
    pub address_mode: String,
    pub address: String,
    pub enable_tag_override: bool,
    #[serde(with = "null_if_empty")]
    pub tags: Vec<String>,
    #[serde(with = "null_if_empty")]
    pub canary_tags: Vec<String>,
    #[serde(with = "null_if_empty")]
    pub checks: Vec<ServiceCheck>,
    /// Request form only: for checks that say nothing.
    pub check_restart: Option<CheckRestart>,
    pub connect: Option<ConsulConnect>,
    #[serde(with = "null_if_empty")]
    pub meta: BTreeMap<String, String>,
    #[serde(with = "null_if_empty")]
    pub canary_meta: BTreeMap<String, String>,
    #[serde(with = "null_if_empty")]
    pub tagged_addresses: BTreeMap<String, String>,
    pub namespace: String,
    pub on_update: String,
    /// `consul` or `nomad`.
    pub provider: String,
    /// Since 1.7, as all below.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weights: Option<ServiceWeights>,
    #[serde(skip_serializing_if = "is_default")]
    pub kind: String,
    #[serde(skip_serializing_if = "is_default")]
    pub cluster: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub identity: Option<WorkloadIdentity>,
}

/// How a service's health is found out.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct ServiceCheck {
    pub name: String,
    /// `http`, `tcp`, `script` or `grpc`.
    #[serde(rename = "Type")]
    pub kind: String,
    pub command: String,
    #[serde(with = "null_if_empty")]
    pub args: Vec<String>,
    pub path: String,
    pub protocol: String,
    pub port_label: String,
    pub expose: bool,
    pub address_mode: String,
    pub interval: GoDuration,
    pub timeout: GoDuration,
    pub initial_status: String,
    #[serde(rename = "TLSServerName")]
    pub tls_server_name: String,
    #[serde(rename = "TLSSkipVerify")]
    pub tls_skip_verify: bool,
    pub method: String,
    #[serde(with = "null_if_empty")]
    pub header: BTreeMap<String, Vec<String>>,
    pub check_restart: Option<CheckRestart>,
    #[serde(rename = "GRPCService")]
    pub grpc_service: String,
    #[serde(rename = "GRPCUseTLS")]
    pub grpc_use_tls: bool,
    pub task_name: String,
    pub success_before_passing: i64,
    pub failures_before_critical: i64,
    pub body: String,
    pub on_update: String,
    /// Since 1.7.
    #[serde(skip_serializing_if = "is_default")]
    pub notes: String,
    /// Since 1.7.
    #[serde(skip_serializing_if = "is_default")]
    pub failures_before_warning: i64,
}

/// When an unhealthy check restarts its task.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct CheckRestart {
    pub limit: i64,
    pub grace: Option<GoDuration>,
    pub ignore_warnings: bool,
}

/// How much of its traffic a service gets, by its health.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct ServiceWeights {
    pub passing: Option<i64>,
    pub warning: Option<i64>,
}
