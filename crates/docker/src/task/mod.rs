//! What a task asks for, and the container that it becomes.

mod body;
mod check;
mod config;
mod fields;
mod labels;
mod mounts;
mod network;
mod resources;
mod security;
mod volumes;

pub use body::BadTask;
pub(crate) use body::{check_registry, config_hash, container_body, container_name};
pub use config::{BadTaskConfig, TaskConfig, TaskLogging};
#[cfg(test)]
pub(crate) use labels::OWN_TASK;
pub(crate) use labels::{
    Identity, NOMAD_ALLOCATION, OWN_AGENT, OWN_ALLOCATION, OWN_CONFIG_HASH, OWN_IMAGE, OWN_NETWORK, network_labels,
};
pub use mounts::{TaskDevice, TaskMount};
pub(crate) use network::publish;
pub(crate) use volumes::{Within, within_allocation};
