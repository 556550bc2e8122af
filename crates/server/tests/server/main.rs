//! The server as its nodes and clients meet it: everything real but the nodes.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod durability;
mod fixtures;
mod lifecycle;
mod requests;
mod rollout;
mod storm;
mod wishes;
mod world;
