//! What the agent's `plugin "docker" { config { … } }` says, decoded strictly.
//!
//! One `Default` per block: a value means the same whether its block is absent, empty or half given.

mod gc;
mod pull;
mod space;

use std::collections::BTreeMap;
use std::path::PathBuf;

use longshore_engine::Endpoint;
use longshore_model::ImageRef;
use longshore_settings::{Block, Decoded, Origin, Tree};
use longshore_values::{Glob, GoDuration};

pub use gc::{DanglingOptions, GcOptions};
pub use longshore_images::Foreign;
pub use pull::PullChoice;

/// The options of the driver on this node.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// `None`: what the agent's environment says, or the usual socket.
    pub endpoint: Option<Endpoint>,
    pub allow_privileged: bool,
    /// Lower case, without `cap_`; `all` stands for everything.
    pub allow_caps: Vec<String>,
    /// Runtimes of the engine that tasks may name.
    pub allow_runtimes: Vec<String>,
    pub allowed_modes: AllowedModes,
    /// Paths of devices of the host that tasks may have.
    pub allow_devices: Vec<Glob>,
    /// What tasks may have for a `network_mode`.
    pub allow_network_modes: Vec<Glob>,
    /// Registries, or whole image names with their registry, that tasks may use.
    pub allow_registries: Vec<Glob>,
    /// Files of the host, outside of the allocation, that tasks may name as seccomp profiles.
    pub allow_seccomp_profiles: Vec<Glob>,
    /// What networks of groups are made from. `None`: the built-in image, which needs no registry.
    pub infra_image: Option<ImageRef>,
    /// For how long a pull of that may take in all.
    pub infra_image_pull_timeout: GoDuration,
    /// For how long a pull may take in all, unless the task says otherwise.
    pub image_pull_timeout: GoDuration,
    /// For tasks that do not say. `None`: as Nomad does, `latest` is asked for at each start and everything else is not.
    pub pull: Option<PullChoice>,
    /// For how long a pull may show no progress; at least 1 m.
    pub pull_activity_timeout: GoDuration,
    /// So many pulls are at work at once, and as many again that take long.
    pub pull_parallelism: usize,
    pub container_exists_attempts: u32,
    /// 0: no limit of the node's.
    pub pids_limit: i64,
    /// For tasks that say none themselves.
    pub oom_score_adj: i64,
    pub disable_log_collection: bool,
    pub extra_labels: Vec<Glob>,
    pub auth: AuthOptions,
    pub gc: GcOptions,
    pub volumes: VolumeOptions,
    pub logging: LoggingOptions,
}

/// Namespaces beyond the container's own that tasks may join; nothing is a word for "none".
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AllowedModes {
    pub pid: Vec<Glob>,
    pub ipc: Vec<Glob>,
    pub userns: Vec<Glob>,
    pub uts: Vec<Glob>,
}

/// Where credentials come from when a task gives none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthOptions {
    /// A file in the form of Docker's `config.json`, read anew at each pull.
    pub config: Option<PathBuf>,
    /// Suffix of `docker-credential-…`.
    pub helper: Option<String>,
    /// What the environment of helpers has beyond the agent's own, or instead; with `PATH`, where they are looked for.
    pub helper_env: BTreeMap<String, String>,
    /// A helper that takes longer is killed.
    pub helper_timeout: GoDuration,
}

impl Default for AuthOptions {
    fn default() -> Self {
        Self { config: None, helper: None, helper_env: BTreeMap::new(), helper_timeout: GoDuration::seconds(30) }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VolumeOptions {
    /// Whether tasks may mount paths of the host from outside of their allocation.
    pub enabled: bool,
    pub selinuxlabel: Option<String>,
}

/// The engine's own log of a container: the source that the agent reads from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggingOptions {
    pub kind: String,
    pub config: BTreeMap<String, String>,
}

impl Default for LoggingOptions {
    fn default() -> Self {
        let config = [("max-file", "2"), ("max-size", "2m")];
        Self {
            kind: "json-file".to_owned(),
            config: config.into_iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect(),
        }
    }
}

/// What a task may add to its capabilities unless the agent says otherwise.
const ALLOW_CAPS: [&str; 13] = [
    "audit_write",
    "chown",
    "dac_override",
    "fowner",
    "fsetid",
    "kill",
    "mknod",
    "net_bind_service",
    "setfcap",
    "setgid",
    "setpcap",
    "setuid",
    "sys_chroot",
];

const ALLOW_RUNTIMES: [&str; 2] = ["runc", "nvidia"];
const ANY: [&str; 1] = ["*"];

const PULL_ACTIVITY_TIMEOUT_MIN: GoDuration = GoDuration::minutes(1);

impl Default for Options {
    fn default() -> Self {
        Self {
            endpoint: None,
            allow_privileged: false,
            allow_caps: ALLOW_CAPS.iter().map(|cap| (*cap).to_owned()).collect(),
            allow_runtimes: ALLOW_RUNTIMES.map(str::to_owned).to_vec(),
            allowed_modes: AllowedModes::default(),
            allow_devices: ANY.map(Glob::new).to_vec(),
            allow_network_modes: ANY.map(Glob::new).to_vec(),
            allow_registries: ANY.map(Glob::new).to_vec(),
            allow_seccomp_profiles: Vec::new(),
            infra_image: None,
            infra_image_pull_timeout: GoDuration::minutes(5),
            image_pull_timeout: GoDuration::minutes(5),
            pull: None,
            pull_activity_timeout: GoDuration::minutes(2),
            pull_parallelism: 4,
            container_exists_attempts: 5,
            pids_limit: 0,
            oom_score_adj: 0,
            disable_log_collection: false,
            extra_labels: Vec::new(),
            auth: AuthOptions::default(),
            gc: GcOptions::default(),
            volumes: VolumeOptions::default(),
            logging: LoggingOptions::default(),
        }
    }
}

impl Options {
    /// Decodes the `config` block of `plugin "docker"`; without one an empty tree with its path is the same.
    pub fn decode(config: &Tree) -> Decoded<Self> {
        config.decode(Self::read)
    }

    fn read(block: &mut Block<'_>) -> Self {
        say_where_keys_belong(block);
        let default = Self::default();
        let options = Self {
            endpoint: block.take_parsed("endpoint", |text| text.parse().map_err(|why| format!("{why}"))),
            allow_privileged: block.take_bool_or("allow_privileged", default.allow_privileged),
            allow_caps: capabilities(block),
            allow_runtimes: block.take_strings_or("allow_runtimes", &ALLOW_RUNTIMES),
            allowed_modes: block.take_block("allowed_modes", read_modes),
            allow_devices: globs(block, "allow_devices", &ANY),
            allow_network_modes: globs(block, "allow_network_modes", &ANY),
            allow_registries: globs(block, "allow_registries", &ANY),
            allow_seccomp_profiles: globs(block, "allow_seccomp_profiles", &[]),
            infra_image: block
                .take_parsed("infra_image", |text| ImageRef::from_task_option(text).map_err(|why| format!("{why}"))),
            infra_image_pull_timeout: positive(block, "infra_image_pull_timeout", default.infra_image_pull_timeout),
            pull: block.take_parsed("pull", str::parse),
            image_pull_timeout: positive(block, "image_pull_timeout", default.image_pull_timeout),
            pull_activity_timeout: at_least(
                block,
                "pull_activity_timeout",
                default.pull_activity_timeout,
                PULL_ACTIVITY_TIMEOUT_MIN,
            ),
            pull_parallelism: usize::try_from(block.take_integer_or(
                "pull_parallelism",
                i64::try_from(default.pull_parallelism).unwrap_or(1),
                1..=64,
            ))
            .unwrap_or(default.pull_parallelism),
            container_exists_attempts: u32::try_from(block.take_integer_or(
                "container_exists_attempts",
                i64::from(default.container_exists_attempts),
                0..=1000,
            ))
            .unwrap_or(default.container_exists_attempts),
            pids_limit: block.take_integer_or("pids_limit", default.pids_limit, 0..=i64::MAX),
            oom_score_adj: block.take_integer_or("oom_score_adj", 0, -1_000..=1_000),
            disable_log_collection: block.take_bool_or("disable_log_collection", default.disable_log_collection),
            extra_labels: globs(block, "extra_labels", &[]),
            auth: block.take_block("auth", |auth| AuthOptions {
                config: auth.take_string("config").map(PathBuf::from),
                helper: auth.take_string("helper"),
                helper_env: auth.take_map("helper_env"),
                helper_timeout: positive(auth, "helper_timeout", AuthOptions::default().helper_timeout),
            }),
            gc: block.take_block("gc", GcOptions::read),
            volumes: block.take_block("volumes", |volumes| VolumeOptions {
                enabled: volumes.take_bool_or("enabled", false),
                selinuxlabel: volumes.take_string("selinuxlabel"),
            }),
            logging: block.take_block("logging", read_logging),
        };
        refuse_tls(block);
        for key in UNUSED {
            block.accept_unused(key);
        }
        options
    }
}

/// Known to Nomad; nothing in this build acts on them.
const UNUSED: [&str; 2] = ["nvidia_runtime", "windows_allow_insecure_container_admin"];

/// Keys that people are likely to put in the wrong block.
fn say_where_keys_belong(block: &mut Block<'_>) {
    for (key, place) in [
        ("image", "gc { image = … }"),
        ("image_delay", "gc { image_delay = … }"),
        ("keep", "gc { keep = … }"),
        ("foreign", "gc { foreign = … }"),
        ("keep_versions", "gc { keep_versions = … }"),
        ("container", "gc { container = … }"),
        ("dangling_containers", "gc { dangling_containers { … } }"),
        ("period", "gc { dangling_containers { period = … } }"),
        ("creation_grace", "gc { dangling_containers { creation_grace = … } }"),
        ("budget", "gc { budget = … }"),
        ("disk_high", "gc { disk_high = … }"),
        ("disk_low", "gc { disk_low = … }"),
        ("min_free", "gc { min_free = … }"),
        ("min_age", "gc { min_age = … }"),
        ("max_age", "gc { max_age = … }"),
        ("retain", "gc { retain = … }"),
        ("reclaim", "gc { reclaim = … }"),
        ("dry_run", "gc { dangling_containers { dry_run = … } }"),
        ("enabled", "volumes { enabled = … } or gc { dangling_containers { enabled = … } }"),
        ("selinuxlabel", "volumes { selinuxlabel = … }"),
        ("helper", "auth { helper = … }"),
        ("config", "auth { config = … } or logging { config { … } }"),
        ("type", "logging { type = … }"),
        ("auth", "config { auth { … } }, beside gc, volumes and logging"),
        ("gc", "config { gc { … } }, beside auth, volumes and logging"),
        ("volumes", "config { volumes { … } }, beside auth, gc and logging"),
    ] {
        block.belongs(key, place);
    }
}

fn globs(block: &mut Block<'_>, key: &str, default: &[&str]) -> Vec<Glob> {
    block.take_strings_or(key, default).into_iter().map(Glob::new).collect()
}

/// Each entry must be a mode itself, with stars in it or not: a lone star would be more than anybody means.
fn read_modes(block: &mut Block<'_>) -> AllowedModes {
    let mut modes = |key: &str, words: &[&str]| {
        let origin = block.origin_of(key).unwrap_or(Origin::Default);
        let given = block.take_strings_or(key, &[]);
        for mode in &given {
            let right = words.iter().any(|word| match word.strip_suffix("<name>") {
                Some(prefix) => mode.strip_prefix(prefix).is_some_and(|name| !name.is_empty()),
                None => word == mode,
            });
            if !right && !mode.is_empty() {
                let summary = format!("{}: {mode:?} is no such mode", block.path_of(key));
                block.refuse(
                    &origin,
                    summary,
                    format!("modes are {}; the name may be a pattern such as container:*", words.join(", ")),
                );
            }
        }
        given.into_iter().map(Glob::new).collect()
    };
    AllowedModes {
        pid: modes("pid", &["host", "container:<name>"]),
        ipc: modes("ipc", &["none", "private", "shareable", "host", "container:<name>"]),
        userns: modes("userns", &["host"]),
        uts: modes("uts", &["host"]),
    }
}

fn capabilities(block: &mut Block<'_>) -> Vec<String> {
    block.take_strings_or("allow_caps", &ALLOW_CAPS).iter().map(|cap| capability(cap)).collect()
}

/// Lower case, without `cap_`.
pub(crate) fn capability(name: &str) -> String {
    let name = name.to_lowercase();
    name.strip_prefix("cap_").unwrap_or(&name).to_owned()
}

fn read_logging(block: &mut Block<'_>) -> LoggingOptions {
    let default = LoggingOptions::default();
    let kind = block.take_string("type");
    let config = block.take_map("config");
    match (kind, config.is_empty()) {
        (None, true) => default,
        // The default's options are those of its type only.
        (Some(kind), true) if kind != default.kind => LoggingOptions { kind, config },
        (Some(_), true) => default,
        (kind, false) => LoggingOptions { kind: kind.unwrap_or(default.kind), config },
    }
}

fn refuse_tls(block: &mut Block<'_>) {
    let given = block.take_block("tls", |tls| ["cert", "key", "ca"].map(|key| tls.take_given_string(key)));
    if let Some(first) = given.into_iter().flatten().next() {
        block.refuse_what_nomad_does(
            &first.origin,
            "tls is given, but this build cannot speak TLS to a Docker engine",
            "use the engine's Unix socket, or plain tcp:// inside of a trusted network",
        );
    }
}

fn positive(block: &mut Block<'_>, key: &str, default: GoDuration) -> GoDuration {
    let origin = block.origin_of(key);
    let span = block.take_duration_or(key, default);
    if span > GoDuration::ZERO {
        return span;
    }
    let summary = format!("{} must be longer than 0, not {span}", block.path_of(key));
    block.refuse(&origin.unwrap_or(Origin::Default), summary, "");
    default
}

fn at_least(block: &mut Block<'_>, key: &str, default: GoDuration, least: GoDuration) -> GoDuration {
    let origin = block.origin_of(key);
    let span = block.take_duration_or(key, default);
    if span < least {
        let summary = format!("{} must be at least {least}, not {span}", block.path_of(key));
        block.refuse(&origin.unwrap_or(Origin::Default), summary, "");
        return default;
    }
    span
}

#[cfg(test)]
mod tests;
