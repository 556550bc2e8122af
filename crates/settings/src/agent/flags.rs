use longshore_values::Diagnostic;

use crate::error::Refusal;
use crate::source::Origin;
use crate::tree::{Entry, Node, Object, Value};

/// What a flag of `agent` takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlagKind {
    /// A text, a number or a duration.
    Text,
    /// A switch: alone, or with `=true` and `=false`.
    Switch,
    /// A text that may be given repeatedly.
    Repeated,
    /// `a,b,c`.
    CommaList,
    /// `key=value`, repeatedly.
    Pairs,
}

/// A flag of `agent` that stands for a key of the agent file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AgentFlag {
    /// Without its dash.
    pub name: &'static str,
    /// The key it stands for.
    pub path: &'static [&'static str],
    pub kind: FlagKind,
    /// One line for `agent -help`.
    pub help: &'static str,
    pub effect: FlagEffect,
}

/// What a flag does in this build.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlagEffect {
    Holds,
    /// It is accepted, and a warning names it.
    Nothing,
    /// It asks for what this build must not do without, or not do otherwise: the agent does not start.
    Refused,
}

const fn flag(name: &'static str, path: &'static [&'static str], kind: FlagKind, help: &'static str) -> AgentFlag {
    AgentFlag { name, path, kind, help, effect: FlagEffect::Holds }
}

const fn refused(name: &'static str, path: &'static [&'static str], kind: FlagKind, help: &'static str) -> AgentFlag {
    AgentFlag { effect: FlagEffect::Refused, ..flag(name, path, kind, help) }
}

const fn unused(name: &'static str, path: &'static [&'static str], kind: FlagKind, help: &'static str) -> AgentFlag {
    AgentFlag { effect: FlagEffect::Nothing, ..flag(name, path, kind, help) }
}

/// Every flag of `agent` but `-config`, `-dev` and `-dev-connect`.
pub const FLAGS: &[AgentFlag] = &[
    flag("bind", &["bind_addr"], FlagKind::Text, "Address to listen on."),
    flag("data-dir", &["data_dir"], FlagKind::Text, "Folder for everything that outlives the process."),
    unused("plugin-dir", &["plugin_dir"], FlagKind::Text, "Folder of plugins."),
    flag("dc", &["datacenter"], FlagKind::Text, "Datacenter of this agent."),
    flag("log-level", &["log_level"], FlagKind::Text, "TRACE, DEBUG, INFO, WARN, ERROR or OFF."),
    flag("log-json", &["log_json"], FlagKind::Switch, "Write the log as lines of JSON."),
    flag("log-include-location", &["log_include_location"], FlagKind::Switch, "Name file and line in the log."),
    flag("node", &["name"], FlagKind::Text, "Name of this agent; the host's name if not given."),
    flag("region", &["region"], FlagKind::Text, "Region of this agent."),
    flag("server", &["server", "enabled"], FlagKind::Switch, "Take the server role."),
    flag(
        "bootstrap-expect",
        &["server", "bootstrap_expect"],
        FlagKind::Text,
        "How many servers form the cluster; this build runs one.",
    ),
    unused("encrypt", &["server", "encrypt"], FlagKind::Text, "Key for the gossip of servers."),
    unused(
        "raft-protocol",
        &["server", "raft_protocol"],
        FlagKind::Text,
        "Version of the Raft protocol; only 3 is accepted.",
    ),
    unused("rejoin", &["server", "rejoin_after_leave"], FlagKind::Switch, "Join again after leaving."),
    refused("join", &["server", "server_join", "start_join"], FlagKind::Repeated, "Server to join at start."),
    refused(
        "retry-join",
        &["server", "server_join", "retry_join"],
        FlagKind::Repeated,
        "Server to join, trying again.",
    ),
    unused("retry-max", &["server", "server_join", "retry_max"], FlagKind::Text, "How often to try to join."),
    unused("retry-interval", &["server", "server_join", "retry_interval"], FlagKind::Text, "Time between attempts."),
    flag("client", &["client", "enabled"], FlagKind::Switch, "Take the client role: run tasks."),
    flag("state-dir", &["client", "state_dir"], FlagKind::Text, "Folder of the client's own state."),
    flag("alloc-dir", &["client", "alloc_dir"], FlagKind::Text, "Folder of allocations."),
    unused("servers", &["client", "servers"], FlagKind::CommaList, "Servers to register with."),
    flag("node-class", &["client", "node_class"], FlagKind::Text, "Class of this node."),
    flag("node-pool", &["client", "node_pool"], FlagKind::Text, "Pool of this node."),
    flag("meta", &["client", "meta"], FlagKind::Pairs, "A key=value of this node's metadata."),
    flag("network-interface", &["client", "network_interface"], FlagKind::Text, "Interface whose address tasks get."),
    flag("network-speed", &["client", "network_speed"], FlagKind::Text, "Speed of that interface in Mbit/s."),
    refused("acl-enabled", &["acl", "enabled"], FlagKind::Switch, "Ask for access control."),
    unused("acl-replication-token", &["acl", "replication_token"], FlagKind::Text, "Token for copying policies."),
    unused("consul-address", &["consul", "address"], FlagKind::Text, "Address of Consul."),
    unused(
        "consul-allow-unauthenticated",
        &["consul", "allow_unauthenticated"],
        FlagKind::Switch,
        "Let jobs do without a token.",
    ),
    unused("consul-auth", &["consul", "auth"], FlagKind::Text, "Basic authentication for Consul."),
    unused("consul-auto-advertise", &["consul", "auto_advertise"], FlagKind::Switch, "Register in Consul."),
    unused("consul-ca-file", &["consul", "ca_file"], FlagKind::Text, "Authority of Consul's certificate."),
    unused("consul-cert-file", &["consul", "cert_file"], FlagKind::Text, "Certificate for Consul."),
    unused(
        "consul-checks-use-advertise",
        &["consul", "checks_use_advertise"],
        FlagKind::Switch,
        "Check the advertised address.",
    ),
    unused(
        "consul-client-auto-join",
        &["consul", "client_auto_join"],
        FlagKind::Switch,
        "Find servers through Consul.",
    ),
    unused(
        "consul-client-http-check-name",
        &["consul", "client_http_check_name"],
        FlagKind::Text,
        "Name of the client's check.",
    ),
    unused(
        "consul-client-service-name",
        &["consul", "client_service_name"],
        FlagKind::Text,
        "Name of the client's service.",
    ),
    unused("consul-key-file", &["consul", "key_file"], FlagKind::Text, "Key for Consul."),
    unused(
        "consul-server-auto-join",
        &["consul", "server_auto_join"],
        FlagKind::Switch,
        "Find other servers through Consul.",
    ),
    unused(
        "consul-server-http-check-name",
        &["consul", "server_http_check_name"],
        FlagKind::Text,
        "Name of the HTTP check.",
    ),
    unused(
        "consul-server-rpc-check-name",
        &["consul", "server_rpc_check_name"],
        FlagKind::Text,
        "Name of the RPC check.",
    ),
    unused(
        "consul-server-serf-check-name",
        &["consul", "server_serf_check_name"],
        FlagKind::Text,
        "Name of the gossip check.",
    ),
    unused(
        "consul-server-service-name",
        &["consul", "server_service_name"],
        FlagKind::Text,
        "Name of the server's service.",
    ),
    unused("consul-ssl", &["consul", "ssl"], FlagKind::Switch, "Speak TLS with Consul."),
    unused("consul-token", &["consul", "token"], FlagKind::Text, "Token for Consul."),
    unused("consul-verify-ssl", &["consul", "verify_ssl"], FlagKind::Switch, "Check Consul's certificate."),
    unused("vault-enabled", &["vault", "enabled"], FlagKind::Switch, "Use Vault."),
    unused("vault-address", &["vault", "address"], FlagKind::Text, "Address of Vault."),
    unused(
        "vault-allow-unauthenticated",
        &["vault", "allow_unauthenticated"],
        FlagKind::Switch,
        "Let jobs do without a token.",
    ),
    unused("vault-ca-file", &["vault", "ca_file"], FlagKind::Text, "Authority of Vault's certificate."),
    unused("vault-ca-path", &["vault", "ca_path"], FlagKind::Text, "Folder of authorities."),
    unused("vault-cert-file", &["vault", "cert_file"], FlagKind::Text, "Certificate for Vault."),
    unused("vault-create-from-role", &["vault", "create_from_role"], FlagKind::Text, "Role for tokens of tasks."),
    unused("vault-key-file", &["vault", "key_file"], FlagKind::Text, "Key for Vault."),
    unused("vault-namespace", &["vault", "namespace"], FlagKind::Text, "Namespace of Vault."),
    unused("vault-tls-server-name", &["vault", "tls_server_name"], FlagKind::Text, "Name in Vault's certificate."),
    unused(
        "vault-tls-skip-verify",
        &["vault", "tls_skip_verify"],
        FlagKind::Switch,
        "Do not check Vault's certificate.",
    ),
    unused("vault-token", &["vault", "token"], FlagKind::Text, "Token for Vault."),
];

/// Variables of the agent's environment that stand for a key of the agent file.
pub const ENVIRONMENT: &[(&str, &[&str])] = &[
    ("CONSUL_HTTP_ADDR", &["consul", "address"]),
    ("CONSUL_HTTP_TOKEN", &["consul", "token"]),
    ("NOMAD_LICENSE_PATH", &["server", "license_path"]),
    ("VAULT_NAMESPACE", &["vault", "namespace"]),
    ("VAULT_TOKEN", &["vault", "token"]),
];

/// The variables as the object that is laid on the files.
pub(super) fn of_environment(given: &[(String, String)]) -> Object {
    let mut object = Object::default();
    for (name, value) in given.iter().filter(|(_, value)| !value.is_empty()) {
        if let Some((_, path)) = ENVIRONMENT.iter().find(|(known, _)| known == name) {
            object.set(path, Value::Text(value.clone()), &Origin::Environment(name.clone()));
        }
    }
    object
}

/// The flags as the object that is laid on the files.
pub(super) fn object(given: &[(String, String)]) -> Result<Object, Refusal> {
    let mut object = Object::default();
    for (name, value) in given {
        let Some(flag) = FLAGS.iter().find(|flag| flag.name == name) else {
            return Err(Refusal::one(Diagnostic::error(format!("flag provided but not defined: -{name}"))));
        };
        let origin = Origin::Flag(format!("-{name}"));
        let text = |text: &str| Node { value: Value::Text(text.to_owned()), origin: origin.clone() };
        match flag.kind {
            FlagKind::Text | FlagKind::Switch => object.set(flag.path, Value::Text(value.clone()), &origin),
            FlagKind::Repeated => append(&mut object, flag.path, vec![text(value)], &origin),
            FlagKind::CommaList => {
                let items = value.split(',').map(str::trim).filter(|item| !item.is_empty()).map(text).collect();
                append(&mut object, flag.path, items, &origin);
            }
            FlagKind::Pairs => {
                let Some((key, value)) = value.split_once('=') else {
                    let told = Diagnostic::error(format!("-{name} {value:?} has no \"=\""));
                    return Err(Refusal::one(told.hint(format!("write -{name} key=value"))));
                };
                let mut inner = object.object_at(flag.path).cloned().unwrap_or_default();
                inner.entries.insert(key.to_owned(), Entry { key_origin: origin.clone(), node: text(value) });
                object.set(flag.path, Value::Object(inner), &origin);
            }
        }
    }
    Ok(object)
}

fn append(object: &mut Object, path: &[&str], items: Vec<Node>, origin: &Origin) {
    let mut all = match object.at(path).map(|node| &node.value) {
        Some(Value::List(earlier)) => earlier.clone(),
        Some(Value::Text(_) | Value::Number(_) | Value::Bool(_) | Value::Object(_)) | None => Vec::new(),
    };
    all.extend(items);
    object.set(path, Value::List(all), origin);
}
