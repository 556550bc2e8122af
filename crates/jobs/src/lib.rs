//! Turns the job that clients send into a complete, valid one, and tells how two versions of a job differ.
//!
//! 1. One way in: [`complete`] is the only maker of [`longshore_model::Job`] from outside.
//! 2. Defaults stand in one place (`defaults`), by job type; every rule has Nomad's wording.
//! 3. What this version does not act on is refused by name: nothing starts without what it asked for.
//! 4. No I/O, no clock, no ids: the same job in gives the same job out, and the same digest.

mod complete;
mod defaults;
mod diff;
mod fault;
mod refuse;
#[cfg(test)]
mod tests;
mod updates;
mod validate;
mod warnings;

pub use complete::{Completed, complete};
pub use defaults::canonicalize;
pub use diff::diff;
pub use fault::{Fault, Invalid, PlacedFault, format_warnings};
pub use updates::{UpdateKind, update_kind};
