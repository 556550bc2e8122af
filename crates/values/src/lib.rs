//! Small values that everybody uses: durations as Go writes them, numbers of bytes, globs, secrets that never print, and
//! diagnostics that point at a place in a text, and texts of others made fit to be shown. No I/O, no clock.

mod byte_size;
mod diagnostic;
mod duration;
mod error_text;
mod glob;
mod pattern;
mod secret;
mod shown;
mod spelling;
mod version;

pub use byte_size::{BadByteSize, ByteSize};
pub use diagnostic::{Diagnostic, Place, Severity};
pub use duration::{BadDuration, GoDuration};
pub use error_text::{system_words, with_causes};
pub use glob::Glob;
pub use pattern::regular_expression;
pub use secret::Secret;
pub use shown::{holds_a_login, masked, printable, without_login};
pub use spelling::nearest;
pub use version::{Version, VersionConstraint, VersionRule};
