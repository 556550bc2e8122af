//! Areas of Nomad's configuration that nothing in this build acts on: its defaults, as far as they are true here.

use serde_json::{Value, json};

const SECOND: i64 = 1_000_000_000;

pub(super) fn acl() -> Value {
    json!({
        "Enabled": false,
        "PolicyTTL": 30 * SECOND,
        "ReplicationToken": "",
        "RoleTTL": 30 * SECOND,
        "TokenMaxExpirationTTL": 24 * 3_600 * SECOND,
        "TokenMinExpirationTTL": 60 * SECOND,
        "TokenTTL": 30 * SECOND,
    })
}

pub(super) fn audit() -> Value {
    json!({ "Enabled": null, "Filters": null, "Sinks": null })
}

pub(super) fn autopilot() -> Value {
    json!({
        "CleanupDeadServers": null,
        "DisableUpgradeMigration": null,
        "EnableCustomUpgrades": null,
        "EnableRedundancyZones": null,
        "LastContactThreshold": SECOND / 5,
        "MaxTrailingLogs": 250,
        "MinQuorum": 0,
        "ServerStabilizationTime": 10 * SECOND,
    })
}

/// Nothing is registered with Consul and nobody is found through it.
pub(super) fn consul() -> Value {
    let mut shown = json!({
        "Addr": "127.0.0.1:8500",
        "AllowUnauthenticated": true,
        "Auth": "",
        "AutoAdvertise": false,
        "CAFile": "",
        "CertFile": "",
        "ChecksUseAdvertise": false,
        "ClientAutoJoin": false,
        "EnableSSL": false,
        "GRPCAddr": "",
        "GRPCCAFile": "",
        "KeyFile": "",
        "Namespace": "",
        "ServerAutoJoin": false,
        "ShareSSL": null,
        "Tags": null,
        "Timeout": 5 * SECOND,
        "Token": "",
        "VerifySSL": true,
    });
    for (key, name) in [
        ("ClientHTTPCheckName", "Nomad Client HTTP Check"),
        ("ClientServiceName", "nomad-client"),
        ("ServerHTTPCheckName", "Nomad Server HTTP Check"),
        ("ServerRPCCheckName", "Nomad Server RPC Check"),
        ("ServerSerfCheckName", "Nomad Server Serf Check"),
        ("ServerServiceName", "nomad"),
    ] {
        shown[key] = json!(name);
    }
    shown
}

/// HTTP connections are limited; the others do not exist.
pub(super) fn limits() -> Value {
    json!({
        "HTTPMaxConnsPerClient": crate::roles::CONNECTIONS_PER_CLIENT_MAX,
        "HTTPSHandshakeTimeout": "5s",
        "RPCHandshakeTimeout": "5s",
        "RPCMaxConnsPerClient": 100,
    })
}

pub(super) fn tls() -> Value {
    json!({
        "CAFile": "",
        "CertFile": "",
        "Checksum": "",
        "EnableHTTP": false,
        "EnableRPC": false,
        "KeyFile": "",
        "KeyLoader": {},
        "RPCUpgradeMode": false,
        "TLSCipherSuites": "",
        "TLSMinVersion": "",
        "TLSPreferServerCipherSuites": false,
        "VerifyHTTPSClient": false,
        "VerifyServerHostname": false,
    })
}

/// There are no web pages.
pub(super) fn ui() -> Value {
    json!({
        "Consul": { "BaseUIURL": "" },
        "ContentSecurityPolicy": null,
        "Enabled": false,
        "Label": { "BackgroundColor": "", "Text": "", "TextColor": "" },
        "Vault": { "BaseUIURL": "" },
    })
}

pub(super) fn vault() -> Value {
    json!({
        "Addr": "https://vault.service.consul:8200",
        "AllowUnauthenticated": true,
        "ConnectionRetryIntv": 30 * SECOND,
        "Enabled": null,
        "Namespace": "",
        "Role": "",
        "TLSCaFile": "",
        "TLSCaPath": "",
        "TLSCertFile": "",
        "TLSKeyFile": "",
        "TLSServerName": "",
        "TLSSkipVerify": null,
        "TaskTokenTTL": "",
        "Token": "",
    })
}

/// Servers are not joined.
pub(super) fn server_join() -> Value {
    json!({ "RetryInterval": 30 * SECOND, "RetryJoin": [], "RetryMaxAttempts": 0, "StartJoin": null })
}
