//! `client { options { "docker.…" = "…" } }`: settings from before plugins had a block of their own.
//!
//! The three cleanup keys hold, key by key, wherever the plugin's config does not set the same thing. All others follow
//! Nomad: any `config` of the plugin replaces them, so that a forgotten `docker.privileged.enabled` cannot come to life.

use longshore_values::Diagnostic;

use crate::agent::AgentConfig;
use crate::decode::Given;
use crate::source::Origin;
use crate::tree::{Node, Object, Tree, Value};

/// A driver's settings, ready for its owner to decode, and what is to be told about them.
#[derive(Debug, Clone, PartialEq)]
pub struct DriverTree {
    pub tree: Tree,
    pub warnings: Vec<Diagnostic>,
}

struct Legacy {
    option: &'static str,
    path: &'static [&'static str],
    list: bool,
    /// Holds also beside a plugin config that does not set the same thing.
    always: bool,
}

const fn legacy(option: &'static str, path: &'static [&'static str]) -> Legacy {
    Legacy { option, path, list: false, always: false }
}

const fn cleanup(option: &'static str, path: &'static [&'static str]) -> Legacy {
    Legacy { option, path, list: false, always: true }
}

const fn list(option: &'static str, path: &'static [&'static str]) -> Legacy {
    Legacy { option, path, list: true, always: false }
}

/// Where two options stand for one setting the later in this list wins.
const DOCKER: &[Legacy] = &[
    cleanup("docker.cleanup.image", &["gc", "image"]),
    cleanup("docker.cleanup.image.delay", &["gc", "image_delay"]),
    cleanup("docker.cleanup.container", &["gc", "container"]),
    legacy("docker.endpoint", &["endpoint"]),
    legacy("docker.privileged.enabled", &["allow_privileged"]),
    legacy("docker.tls.cert", &["tls", "cert"]),
    legacy("docker.tls.key", &["tls", "key"]),
    legacy("docker.tls.ca", &["tls", "ca"]),
    legacy("docker.auth.config", &["auth", "config"]),
    legacy("docker.auth.helper", &["auth", "helper"]),
    legacy("docker.volumes.selinuxlabel", &["volumes", "selinuxlabel"]),
    legacy("docker.volumes.enabled", &["volumes", "enabled"]),
    list("docker.caps.whitelist", &["allow_caps"]),
    list("docker.caps.allowlist", &["allow_caps"]),
    legacy("docker.nvidia_runtime", &["nvidia_runtime"]),
];

const RAW_EXEC: &[Legacy] =
    &[legacy("driver.raw_exec.enable", &["enabled"]), legacy("driver.raw_exec.no_cgroups", &["no_cgroups"])];

const MOCK: &[Legacy] = &[legacy("driver.mock_driver.enable", &["enabled"])];

/// The options that stand for settings of the Docker driver, each with the dotted path of its setting.
pub fn docker_options() -> impl Iterator<Item = (&'static str, String)> {
    DOCKER.iter().map(|legacy| (legacy.option, legacy.path.join(".")))
}

/// The Docker driver's settings: its `plugin "docker" { config { … } }` with the legacy client options laid under or
/// beside it.
pub fn legacy_docker_options(config: &AgentConfig) -> DriverTree {
    let mut driver = overlay_options(config, "docker", DOCKER);
    for (name, given) in config.client.options.iter().filter(|(name, _)| name.starts_with("docker.")) {
        if !DOCKER.iter().any(|legacy| legacy.option == name) {
            let told = Diagnostic::warning(format!("client option {name:?} is unknown and has no effect"));
            driver.warnings.push(placed(told, &given.origin));
        }
    }
    driver
}

/// The raw_exec driver's settings, likewise.
pub fn legacy_raw_exec_options(config: &AgentConfig) -> DriverTree {
    overlay_options(config, "raw_exec", RAW_EXEC)
}

/// The mock driver's settings, likewise.
pub fn legacy_mock_options(config: &AgentConfig) -> DriverTree {
    overlay_options(config, "mock_driver", MOCK)
}

fn overlay_options(config: &AgentConfig, plugin: &str, table: &[Legacy]) -> DriverTree {
    let given = config.plugins.get(plugin).and_then(|plugin| plugin.config.clone());
    let replaced = given.is_some();
    let path = format!("plugin.{plugin}.config");
    let mut driver =
        DriverTree { tree: given.unwrap_or_else(|| Tree { path, object: Object::default() }), warnings: Vec::new() };
    let tls_without_cert = !config.client.options.contains_key("docker.tls.cert");
    for legacy in table {
        let Some(option) = config.client.options.get(legacy.option) else { continue };
        // What -dev sets for itself is no wish of a person.
        let silent = option.origin == Origin::Dev;
        let told = if replaced && !legacy.always {
            dropped(plugin, legacy, option)
        } else if legacy.path.first() == Some(&"tls") && tls_without_cert {
            let told = Diagnostic::warning(format!(
                "client option {:?} has no effect without \"docker.tls.cert\"",
                legacy.option
            ));
            placed(told, &option.origin)
        } else {
            match driver.tree.object.at(legacy.path).filter(|node| replaced && !is_empty(node)) {
                Some(set) => overruled(plugin, legacy, option, &set.origin),
                None => {
                    driver.tree.object.set(
                        legacy.path,
                        value(legacy, option),
                        &as_option(legacy.option, &option.origin),
                    );
                    holds(plugin, legacy, option)
                }
            }
        };
        if !silent {
            driver.warnings.push(told);
        }
    }
    driver
}

/// An empty text is "not given".
fn is_empty(node: &Node) -> bool {
    matches!(&node.value, Value::Text(text) if text.is_empty())
}

fn as_option(key: &str, origin: &Origin) -> Origin {
    match origin {
        Origin::Dev => Origin::Dev,
        Origin::File(span) => Origin::ClientOption { key: key.to_owned(), span: Some(span.clone()) },
        Origin::Default | Origin::Flag(_) | Origin::Environment(_) | Origin::ClientOption { .. } => {
            Origin::ClientOption { key: key.to_owned(), span: None }
        }
    }
}

fn value(legacy: &Legacy, option: &Given<String>) -> Value {
    if !legacy.list {
        return Value::Text(option.value.clone());
    }
    let items = option.value.split(',').map(str::trim).filter(|item| !item.is_empty());
    let origin = as_option(legacy.option, &option.origin);
    Value::List(items.map(|item| Node { value: Value::Text(item.to_owned()), origin: origin.clone() }).collect())
}

fn placed(told: Diagnostic, origin: &Origin) -> Diagnostic {
    match origin.place() {
        Some(place) => told.at(place),
        None => told,
    }
}

/// How the setting is written in its plugin's block.
fn new_place(plugin: &str, legacy: &Legacy, option: &Given<String>) -> String {
    let shown = if legacy.list {
        let items: Vec<&str> = option.value.split(',').map(str::trim).collect();
        format!("{items:?}")
    } else if matches!(option.value.as_str(), "true" | "false") {
        option.value.clone()
    } else {
        format!("{:?}", option.value)
    };
    let mut written = String::new();
    if let Some((last, above)) = legacy.path.split_last() {
        written = above.iter().rev().fold(format!("{last} = {shown}"), |inner, block| format!("{block} {{ {inner} }}"));
    }
    format!("plugin {plugin:?} {{ config {{ {written} }} }}")
}

fn holds(plugin: &str, legacy: &Legacy, option: &Given<String>) -> Diagnostic {
    let summary = format!("client option {:?} holds, but it has a new place", legacy.option);
    placed(Diagnostic::warning(summary).hint(format!("write {}", new_place(plugin, legacy, option))), &option.origin)
}

fn overruled(plugin: &str, legacy: &Legacy, option: &Given<String>, by: &Origin) -> Diagnostic {
    let setting = legacy.path.join(".");
    let summary =
        format!("client option {:?} has no effect: {setting} of plugin {plugin:?} is set ({by})", legacy.option);
    placed(Diagnostic::warning(summary).hint("remove the option"), &option.origin)
}

fn dropped(plugin: &str, legacy: &Legacy, option: &Given<String>) -> Diagnostic {
    let summary = format!(
        "client option {:?} has no effect: plugin {plugin:?} has a config block, which replaces it",
        legacy.option
    );
    let hint = format!("remove the option, or write {}", new_place(plugin, legacy, option));
    placed(Diagnostic::warning(summary).hint(hint), &option.origin)
}
