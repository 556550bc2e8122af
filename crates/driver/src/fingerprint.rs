use std::collections::BTreeMap;

/// What a driver can do, beside starting and stopping.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capabilities {
    pub send_signals: bool,
    pub exec: bool,
    /// Tasks see the image's file system: paths in their environment are those inside (`/alloc`, `/local`, `/secrets`).
    pub image_isolation: bool,
    /// It makes networks that the tasks of a group share ([`crate::Driver::create_network`]).
    pub group_networks: bool,
    /// Tasks end with the agent: nothing outlives it (`mock_driver`).
    pub dies_with_agent: bool,
}

/// What a node tells of a driver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fingerprint {
    pub detected: bool,
    pub healthy: bool,
    /// Why, in words: `Healthy`, or what is wrong and what to try.
    pub description: String,
    /// Attributes for the node, with full names (`driver.docker`, `driver.docker.version`, …).
    pub attributes: BTreeMap<String, String>,
}
