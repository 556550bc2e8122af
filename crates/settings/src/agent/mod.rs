//! The agent's own settings: from flags and the texts of agent files to one typed configuration.

mod client;
mod flags;
mod legacy;
mod plugins;
mod server;
#[cfg(test)]
mod tests;
mod top;
mod validate;

use std::collections::BTreeMap;
use std::path::PathBuf;

use longshore_values::{Diagnostic, GoDuration};

pub use client::{Client, HostNetwork, HostVolume, Reserved};
pub use flags::{AgentFlag, ENVIRONMENT, FLAGS, FlagEffect, FlagKind};
pub use legacy::{DriverTree, docker_options, legacy_docker_options, legacy_mock_options, legacy_raw_exec_options};
pub use plugins::Plugin;
pub use server::{SchedulerDefaults, Server};
pub use validate::port_ranges;

use crate::decode::{Decoded, Effective};
use crate::error::Refusal;
use crate::merge::{Merging, overlay};
use crate::source::Source;
use crate::tree::{Object, Tree};

/// Where an agent's settings come from, in the order in which they are laid on one another: the defaults of `-dev`,
/// each file, variables of the environment, the flags.
#[derive(Debug, Clone, Default)]
pub struct Inputs {
    /// `-dev` was given.
    pub dev: bool,
    /// Path as given, and text.
    pub files: Vec<(String, String)>,
    /// Variables of [`ENVIRONMENT`] with their values.
    pub environment: Vec<(String, String)>,
    /// Flags of [`FLAGS`] in the order given: name without its dash, and value; a repeated one comes repeatedly.
    pub flags: Vec<(String, String)>,
}

/// One agent's settings as they hold.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentConfig {
    pub dev: bool,
    pub region: String,
    pub datacenter: String,
    /// The node's name; `None` means the host's.
    pub name: Option<String>,
    /// `None` only under `-dev`: then a temporary folder serves.
    pub data_dir: Option<PathBuf>,
    pub plugin_dir: Option<PathBuf>,
    pub bind_addr: String,
    pub ports: Ports,
    /// Addresses to listen on where they differ from `bind_addr`.
    pub addresses: Addresses,
    pub advertise: Addresses,
    pub log: Log,
    pub enable_debug: bool,
    pub leave_on_interrupt: bool,
    pub leave_on_terminate: bool,
    pub http_api_response_headers: BTreeMap<String, String>,
    /// Beyond Nomad: origins of web pages that may use the API, such as `https://ui.example`.
    pub http_api_allowed_origins: Vec<String>,
    /// Beyond Nomad: names that a loopback listener answers to, beside `localhost` and loopback addresses.
    pub http_api_allowed_hosts: Vec<String>,
    pub telemetry: Telemetry,
    pub server: Server,
    pub client: Client,
    /// By name: `plugin "docker" { … }`.
    pub plugins: BTreeMap<String, Plugin>,
    /// What is accepted but deserves a word, each with its place.
    pub warnings: Vec<Diagnostic>,
    /// Every setting that holds, with where it came from; plugins' own are listed by their owners.
    pub effective: Vec<Effective>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ports {
    pub http: u16,
    pub rpc: u16,
    pub serf: u16,
}

/// Addresses as given: an address, a host name, or a template such as `{{ GetPrivateIP }}`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Addresses {
    pub http: Option<String>,
    pub rpc: Option<String>,
    pub serf: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Log {
    /// In capitals: `TRACE`, `DEBUG`, `INFO`, `WARN`, `ERROR` or `OFF`.
    pub level: String,
    pub json: bool,
    pub include_location: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Telemetry {
    pub prometheus_metrics: bool,
    pub publish_allocation_metrics: bool,
    pub publish_node_metrics: bool,
    pub collection_interval: GoDuration,
}

impl AgentConfig {
    /// Reads, merges and checks everything that was given.
    ///
    /// # Errors
    /// Everything that stands against starting, each with its place.
    pub fn read(inputs: &Inputs) -> Result<Self, Refusal> {
        Self::examine(inputs).into_result().map(|decoded| decoded.value)
    }

    /// The same for whoever wants to know everything at once: what is wrong in one file or block hides nothing that is
    /// wrong in another. The value is good only when no diagnostic is an error.
    pub fn examine(inputs: &Inputs) -> Decoded<Self> {
        let mut merging = Merging::default();
        let mut whole = if inputs.dev { top::dev_defaults() } else { Object::default() };
        let mut unreadable = Vec::new();
        for (name, text) in &inputs.files {
            match crate::parse::parse(&Source::new(name, text), &mut merging) {
                Ok(object) => overlay(&mut whole, object, &mut merging),
                Err(refusal) => unreadable.extend(refusal.diagnostics),
            }
        }
        overlay(&mut whole, flags::of_environment(&inputs.environment), &mut merging);
        match flags::object(&inputs.flags) {
            Ok(object) => overlay(&mut whole, object, &mut merging),
            Err(refusal) => unreadable.extend(refusal.diagnostics),
        }
        let mut decoded = Tree { path: String::new(), object: whole }.decode(|block| {
            let mut config = top::decode(block);
            config.dev = inputs.dev;
            // What a text that could not be read would have set is not known.
            if unreadable.is_empty() {
                validate::validate(&config, block);
            }
            config
        });
        // Errors first: they are what stands against starting.
        let (errors, warnings): (Vec<_>, Vec<_>) = decoded.diagnostics.into_iter().partition(Diagnostic::is_error);
        decoded.value.warnings = merging.diagnostics;
        decoded.value.warnings.extend(warnings);
        decoded.value.effective.clone_from(&decoded.effective);
        decoded.diagnostics = unreadable;
        decoded.diagnostics.extend(errors);
        decoded.diagnostics.extend(decoded.value.warnings.iter().cloned());
        decoded
    }

    /// Lines that are printed at start whatever the rest says, without `==> `.
    pub fn start_notices(&self) -> Vec<&'static str> {
        if !self.dev && self.server.enabled && self.server.bootstrap_expect == 1 {
            return vec!["WARNING: Bootstrap mode enabled! Potentially unsafe operation."];
        }
        Vec::new()
    }
}

/// Whether a file of this name counts when a folder is given with `-config`: `*.hcl` and `*.json` do, what editors
/// leave behind does not.
pub fn counts_in_folder(file_name: &str) -> bool {
    let leftover = file_name.ends_with('~')
        || file_name.starts_with(".#")
        || (file_name.starts_with('#') && file_name.ends_with('#'));
    !leftover && (file_name.ends_with(".hcl") || file_name.ends_with(".json"))
}
