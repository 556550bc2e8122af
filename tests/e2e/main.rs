//! The real binary against a real Docker engine and a real registry, both private to each test.
//!
//! A module for each promise about images and jobs; the checker sees only what a person could see: the engine, its
//! events, the registry's requests, the command line and the HTTP API.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod adopt;
mod agent_alone;
mod asked;
mod bad_input;
mod behind_our_back;
mod client_options;
mod crashes;
mod dangling;
mod delays;
mod examples;
mod exec;
mod foreign;
mod full_disk;
mod group_networks;
mod holds;
mod life;
mod logs;
mod many;
mod newcomers;
mod pins;
mod placement;
mod pull_errors;
mod rolling;
mod soak;
mod space;
mod support;
mod updates;
mod versions;
mod wishes;
