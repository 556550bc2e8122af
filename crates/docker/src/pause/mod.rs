//! The image that networks of allocations are made from when the settings name none: built here, so that it needs no
//! registry.
//!
//! - P1: the same version is the same image to its last byte, whoever builds it.
//! - P2: its one program waits, reaps what it is left as a parent of, and ends at once on TERM and INT.

mod archive;
mod elf;
mod program;

pub(crate) use self::archive::image;
pub(crate) use self::program::Architecture;

/// Changes with every byte of the image.
pub(crate) const VERSION: &str = "1";

/// The image's name on the engine.
pub(crate) fn name() -> String {
    format!("longshore/pause:{VERSION}")
}
