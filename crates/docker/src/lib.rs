//! The Docker driver, and the shell around the image keeper.
//!
//! It makes containers of tasks, from images that the keeper (`longshore-images`) grants, and does for the keeper what
//! that decides: looks, pulls, loads, removals by name.
//!
//! Promises:
//! - S1: a container is made from the content that was granted, and is looked at before it is started.
//! - S2: nothing is acted upon that was not on disk before.
//! - S3: a container is adopted only when this agent's record and the container's labels agree.
//! - S4: an option that nothing acts on is refused by name.

mod driver;
mod error;
mod image;
mod options;
mod pause;
mod reference;
mod task;

pub use driver::{DockerDriver, DriverSetup, FirstLook};
pub use error::{LedgerError, LockError};
pub use image::BadArchive;
pub use options::{
    AllowedModes, AuthOptions, DanglingOptions, Foreign, GcOptions, LoggingOptions, Options, PullChoice, VolumeOptions,
};
pub use reference::{AGENT_OPTIONS, OptionRow, TASK_OPTIONS, reference};
pub use task::{BadTask, BadTaskConfig, TaskConfig, TaskDevice, TaskLogging, TaskMount};
