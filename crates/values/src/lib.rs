//! Small values that everybody uses: durations as Go writes them, globs, secrets that never print, and
//! diagnostics that point at a place in a text. No I/O, no clock.

mod diagnostic;
mod duration;
mod glob;
mod secret;
mod version;

pub use diagnostic::{Diagnostic, Place, Severity};
pub use duration::{BadDuration, GoDuration};
pub use glob::Glob;
pub use secret::Secret;
pub use version::{Version, VersionConstraint, VersionRule};
