use std::collections::BTreeMap;

use longshore_values::GoDuration;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::empty::{is_default, null_if_empty};
use crate::{LogConfig, Resources, VolumeMount};

/// A service's place in a service mesh.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct ConsulConnect {
    pub native: bool,
    pub sidecar_service: Option<ConsulSidecarService>,
    pub sidecar_task: Option<SidecarTask>,
    pub gateway: Option<ConsulGateway>,
}

/// The proxy's own service.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct ConsulSidecarService {
    #[serde(with = "null_if_empty")]
    pub tags: Vec<String>,
    pub port: String,
    pub proxy: Option<ConsulProxy>,
    #[serde(rename = "DisableDefaultTCPCheck")]
    pub disable_default_tcp_check: bool,
    #[serde(with = "null_if_empty")]
    pub meta: BTreeMap<String, String>,
}

/// What the proxy serves and reaches.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct ConsulProxy {
    pub local_service_address: String,
    pub local_service_port: i64,
    #[serde(with = "null_if_empty")]
    pub upstreams: Vec<ConsulUpstream>,
    pub expose: Option<ConsulExposeConfig>,
    /// Since 1.8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transparent_proxy: Option<ConsulTransparentProxy>,
    #[serde(with = "null_if_empty")]
    pub config: BTreeMap<String, Value>,
}

/// Another service that the proxy reaches.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct ConsulUpstream {
    pub destination_name: String,
    pub destination_namespace: String,
    pub destination_peer: String,
    /// Since 1.7.
    #[serde(skip_serializing_if = "is_default")]
    pub destination_partition: String,
    pub destination_type: String,
    pub local_bind_port: i64,
    pub datacenter: String,
    pub local_bind_address: String,
    pub local_bind_socket_path: String,
    pub local_bind_socket_mode: String,
    pub mesh_gateway: Option<ConsulMeshGateway>,
    #[serde(with = "null_if_empty")]
    pub config: BTreeMap<String, Value>,
}

/// Which gateways traffic goes through.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct ConsulMeshGateway {
    pub mode: String,
}

/// Paths served without the mesh's protection.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct ConsulExposeConfig {
    #[serde(with = "null_if_empty")]
    pub paths: Vec<ConsulExposePath>,
}

/// One such path.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct ConsulExposePath {
    pub path: String,
    pub protocol: String,
    pub local_path_port: i64,
    pub listener_port: String,
}

/// What is different about the proxy's task.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct SidecarTask {
    pub name: String,
    pub driver: String,
    pub user: String,
    #[serde(with = "null_if_empty")]
    pub config: BTreeMap<String, Value>,
    #[serde(with = "null_if_empty")]
    pub env: BTreeMap<String, String>,
    pub resources: Option<Resources>,
    #[serde(with = "null_if_empty")]
    pub meta: BTreeMap<String, String>,
    pub kill_timeout: Option<GoDuration>,
    pub log_config: Option<LogConfig>,
    pub shutdown_delay: Option<GoDuration>,
    pub kill_signal: String,
    /// Since 1.10.
    #[serde(skip_serializing_if = "is_default")]
    pub volume_mounts: Vec<VolumeMount>,
}

/// A way into or out of the mesh.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct ConsulGateway {
    pub proxy: Option<ConsulGatewayProxy>,
    pub ingress: Option<ConsulIngressConfigEntry>,
    pub terminating: Option<ConsulTerminatingConfigEntry>,
    pub mesh: Option<ConsulMeshConfigEntry>,
}

/// The gateway's proxy.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct ConsulGatewayProxy {
    pub connect_timeout: Option<GoDuration>,
    pub envoy_gateway_bind_tagged_addresses: bool,
    #[serde(with = "null_if_empty")]
    pub envoy_gateway_bind_addresses: BTreeMap<String, ConsulGatewayBindAddress>,
    pub envoy_gateway_no_default_bind: bool,
    #[serde(rename = "EnvoyDNSDiscoveryType")]
    pub envoy_dns_discovery_type: String,
    #[serde(with = "null_if_empty")]
    pub config: BTreeMap<String, Value>,
}

/// One address that a gateway listens on.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct ConsulGatewayBindAddress {
    #[serde(skip_serializing_if = "is_default")]
    pub name: String,
    pub address: String,
    pub port: i64,
}

/// A gateway's TLS.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct ConsulGatewayTlsConfig {
    pub enabled: bool,
    #[serde(rename = "TLSMinVersion")]
    pub tls_min_version: String,
    #[serde(rename = "TLSMaxVersion")]
    pub tls_max_version: String,
    #[serde(with = "null_if_empty")]
    pub cipher_suites: Vec<String>,
}

/// What comes in.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct ConsulIngressConfigEntry {
    #[serde(rename = "TLS")]
    pub tls: Option<ConsulGatewayTlsConfig>,
    #[serde(with = "null_if_empty")]
    pub listeners: Vec<ConsulIngressListener>,
}

/// One port of an ingress.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct ConsulIngressListener {
    pub port: i64,
    pub protocol: String,
    #[serde(with = "null_if_empty")]
    pub services: Vec<ConsulIngressService>,
}

/// A service behind an ingress.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct ConsulIngressService {
    pub name: String,
    #[serde(with = "null_if_empty")]
    pub hosts: Vec<String>,
}

/// What goes out.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct ConsulTerminatingConfigEntry {
    #[serde(with = "null_if_empty")]
    pub services: Vec<ConsulLinkedService>,
}

/// A service outside of the mesh.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct ConsulLinkedService {
    pub name: String,
    #[serde(rename = "CAFile")]
    pub ca_file: String,
    pub cert_file: String,
    pub key_file: String,
    #[serde(rename = "SNI")]
    pub sni: String,
}

/// A gateway between meshes; it has no settings.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ConsulMeshConfigEntry {}

/// How traffic is led through the proxy without the task's knowledge.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct ConsulTransparentProxy {
    #[serde(rename = "UID")]
    pub uid: String,
    pub outbound_port: u64,
    #[serde(with = "null_if_empty")]
    pub exclude_inbound_ports: Vec<String>,
    #[serde(with = "null_if_empty")]
    pub exclude_outbound_ports: Vec<u64>,
    #[serde(rename = "ExcludeOutboundCIDRs", with = "null_if_empty")]
    pub exclude_outbound_cidrs: Vec<String>,
    #[serde(rename = "ExcludeUIDs", with = "null_if_empty")]
    pub exclude_uids: Vec<String>,
    #[serde(rename = "NoDNS")]
    pub no_dns: bool,
}
