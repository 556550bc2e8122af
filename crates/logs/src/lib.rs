//! The rotated log files of tasks, as Nomad has them: `<task>.stdout.0`, `<task>.stdout.1`, …, numbered upward.
//!
//! - G1: what a write has taken is in the file when it returns: a reader sees it at once, and the writer's death loses
//!   none of it. (The machine's death may: logs are not synced.)
//! - G2: one stream keeps at most `max_files` files; the oldest go. A number is never used twice, also across restarts,
//!   unless all that stood in that file was taken back.
//! - G3: no file here is opened through a symbolic link: the folder belongs to the task.

mod error;
mod files;
mod reader;
mod writer;

pub use error::LogError;
pub use files::{LogStream, file_name};
pub use reader::{LogFrame, LogOrigin, LogReader};
pub use writer::{LogPosition, RotatingWriter};
