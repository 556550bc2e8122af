//! One allocation on the node: `core` decides, `shell` does, `records` is what is on disk in between.

mod attempt;
pub(crate) mod core;
#[cfg(test)]
mod core_tests;
pub(crate) mod records;
pub(crate) mod shell;
mod told;
