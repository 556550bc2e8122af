//! Turns the job that clients send into a complete, valid one, and tells how two versions of a job differ.
//!
//! No I/O, no clock.

mod updates;

pub use updates::{UpdateKind, update_kind};
