use crate::agent::{Addresses, AgentConfig, Log, Ports, Telemetry, client, plugins, server};
use crate::decode::Block;
use crate::reference::take_rest;
use crate::source::Origin;
use crate::tree::{Object, Value};
use longshore_values::GoDuration;

const LOG_LEVELS: &[&str] = &["TRACE", "DEBUG", "INFO", "WARN", "ERROR", "OFF"];

/// What `-dev` sets before files and flags have their say.
pub(super) fn dev_defaults() -> Object {
    let mut object = Object::default();
    let mut set = |path: &[&str], value: Value| object.set(path, value, &Origin::Dev);
    let text = |text: &str| Value::Text(text.to_owned());
    let number = |number: &str| Value::Number(number.to_owned());
    set(&["bind_addr"], text("127.0.0.1"));
    set(&["log_level"], text("DEBUG"));
    set(&["enable_debug"], Value::Bool(true));
    set(&["server", "enabled"], Value::Bool(true));
    set(&["server", "bootstrap_expect"], number("1"));
    set(&["client", "enabled"], Value::Bool(true));
    set(&["client", "network_interface"], text(if cfg!(target_os = "macos") { "lo0" } else { "lo" }));
    for option in ["driver.raw_exec.enable", "driver.docker.volumes", "test.tighten_network_timeouts"] {
        set(&["client", "options", option], text("true"));
    }
    set(&["client", "gc_interval"], text("10m"));
    set(&["client", "gc_disk_usage_threshold"], number("99"));
    set(&["client", "gc_inode_usage_threshold"], number("99"));
    set(&["client", "gc_max_allocs"], number("50"));
    set(&["telemetry", "prometheus_metrics"], Value::Bool(true));
    set(&["telemetry", "publish_allocation_metrics"], Value::Bool(true));
    set(&["telemetry", "publish_node_metrics"], Value::Bool(true));
    object
}

/// Options of the Docker driver that people are likely to put elsewhere.
const OF_DOCKER: [&str; 9] = [
    "allow_caps",
    "allow_privileged",
    "allow_runtimes",
    "disable_log_collection",
    "extra_labels",
    "image_pull_timeout",
    "infra_image",
    "pids_limit",
    "pull_activity_timeout",
];

pub(super) fn decode(block: &mut Block<'_>) -> AgentConfig {
    block.belongs("gc", "plugin \"docker\" { config { gc { … } } }");
    block.belongs("docker", "plugin \"docker\" { config { … } }");
    for option in OF_DOCKER {
        block.belongs(option, &format!("plugin \"docker\" {{ config {{ {option} = … }} }}"));
    }
    for option in ["image_delay", "dangling_containers"] {
        block.belongs(option, &format!("plugin \"docker\" {{ config {{ gc {{ {option} … }} }} }}"));
    }
    // There are no external plugins.
    block.note_unused("plugin_dir", "");
    block.note_unused("enable_debug", "");
    let config = AgentConfig {
        dev: false,
        region: block.take_string_or("region", "global"),
        datacenter: block.take_string_or("datacenter", "dc1"),
        name: block.take_string("name"),
        data_dir: block.take_string("data_dir").map(Into::into),
        plugin_dir: block.take_string("plugin_dir").map(Into::into),
        bind_addr: block.take_string_or("bind_addr", "0.0.0.0"),
        ports: block.take_block("ports", |ports| {
            note_not_listening(ports);
            Ports { http: port(ports, "http", 4646), rpc: port(ports, "rpc", 4647), serf: port(ports, "serf", 4648) }
        }),
        addresses: block.take_block("addresses", addresses),
        advertise: block.take_block("advertise", addresses),
        log: Log {
            level: log_level(block),
            json: block.take_bool_or("log_json", false),
            include_location: block.take_bool_or("log_include_location", false),
        },
        enable_debug: block.take_bool_or("enable_debug", false),
        leave_on_interrupt: block.take_bool_or("leave_on_interrupt", false),
        leave_on_terminate: block.take_bool_or("leave_on_terminate", false),
        http_api_response_headers: block.take_map("http_api_response_headers"),
        http_api_allowed_origins: block.take_strings_or("http_api_allowed_origins", &[]),
        http_api_allowed_hosts: block.take_strings_or("http_api_allowed_hosts", &[]),
        telemetry: block.take_block("telemetry", telemetry),
        server: block.take_block("server", server::decode),
        client: block.take_block("client", client::decode),
        plugins: plugins::decode(block),
        warnings: Vec::new(),
        effective: Vec::new(),
    };
    refuse_what_would_be_less_safe(block);
    // There is no update check, no signature and no bug report home to switch off.
    for key in ["disable_update_check", "disable_anonymous_signature"] {
        block.accept(key);
    }
    take_rest(block, "");
    config
}

fn port(block: &mut Block<'_>, key: &str, default: u16) -> u16 {
    let value = block.take_integer_or(key, i64::from(default), 0..=65_535);
    u16::try_from(value).unwrap_or(default)
}

/// One server and its nodes in one process need no listener but HTTP.
fn note_not_listening(block: &mut Block<'_>) {
    for key in ["rpc", "serf"] {
        block.note_unused(key, "only HTTP is listened on");
    }
}

fn addresses(block: &mut Block<'_>) -> Addresses {
    note_not_listening(block);
    Addresses { http: block.take_string("http"), rpc: block.take_string("rpc"), serf: block.take_string("serf") }
}

fn log_level(block: &mut Block<'_>) -> String {
    let given = block.take_parsed("log_level", |text| {
        let level = text.to_ascii_uppercase();
        if LOG_LEVELS.contains(&level.as_str()) {
            Ok(level)
        } else {
            Err(format!("a log level is one of {}", LOG_LEVELS.join(", ")))
        }
    });
    given.unwrap_or_else(|| block.default_text("log_level", "INFO"))
}

fn telemetry(block: &mut Block<'_>) -> Telemetry {
    for key in ["publish_allocation_metrics", "publish_node_metrics", "collection_interval"] {
        block.note_unused(key, "");
    }
    let telemetry = Telemetry {
        prometheus_metrics: block.take_bool_or("prometheus_metrics", false),
        publish_allocation_metrics: block.take_bool_or("publish_allocation_metrics", false),
        publish_node_metrics: block.take_bool_or("publish_node_metrics", false),
        collection_interval: block.take_duration_or("collection_interval", GoDuration::seconds(1)),
    };
    take_rest(block, "telemetry");
    telemetry
}

/// Nothing runs less safe than it was asked to: what protects the agent and is not in this build stops the start.
fn refuse_what_would_be_less_safe(block: &mut Block<'_>) {
    block.take_block("tls", |tls| {
        for key in ["http", "rpc", "verify_https_client", "verify_server_hostname"] {
            refuse_if_on(
                tls,
                key,
                "TLS is not in this build, and the agent must not speak in the clear when TLS is asked for",
            );
        }
        take_rest(tls, "tls");
    });
    block.take_block("acl", |acl| {
        refuse_if_on(acl, "enabled", "access control lists are not in this build, and the agent must not answer everybody when they are asked for");
        take_rest(acl, "acl");
    });
    block.take_block("audit", |audit| {
        refuse_if_on(audit, "enabled", "the audit log is not in this build");
        take_rest(audit, "audit");
    });
    let keyring = block.origin_of("keyring");
    block.accept("keyring");
    if let Some(origin) = keyring {
        block.refuse_what_nomad_does(&origin, "keyring is not in this build", "remove the block");
    }
}

fn refuse_if_on(block: &mut Block<'_>, key: &str, why: &str) {
    let origin = block.origin_of(key);
    if block.take_bool_or(key, false)
        && let Some(origin) = origin
    {
        let summary = format!("{} = true: {why}", block.path_of(key));
        block.refuse_what_nomad_does(
            &origin,
            summary,
            format!("set {key} = false and protect the agent's ports by other means"),
        );
    }
}
