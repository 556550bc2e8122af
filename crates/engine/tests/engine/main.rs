//! The client against recorded answers of real engines, and against a server that misbehaves.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod misbehaving;
mod recorded;
