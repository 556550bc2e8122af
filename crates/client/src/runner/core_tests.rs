//! The core against a pretend driver: some stories in full, and seeded worlds in which acts end late, out of order and
//! badly, and the agent dies anywhere.

#![allow(clippy::unwrap_used, clippy::panic)]

mod stories;
mod world;
