//! The driver against a real, private Docker engine and a real registry.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod dangling;
mod disk;
mod explain;
mod faults;
mod life;
mod logs;
mod options;
mod ports;
mod registries;
mod resilience;
mod second;
mod signals;
mod wishes;
mod world;
