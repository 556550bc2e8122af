//! The driver against a real, private Docker engine and a real registry.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod faults;
mod life;
mod world;
