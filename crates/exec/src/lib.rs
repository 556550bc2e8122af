//! Drivers that run processes of the host. `raw_exec` runs them as they are, under one supervisor process a node; the
//! mock driver runs nothing and tells what it is told to tell.
//!
//! - X1: a task's processes outlive the agent: their parent and the other end of their pipes is the supervisor.
//! - X2: the process is on the supervisor's record before the task's command starts, and its exit before it is told.
//! - X3: what is left of an attempt when its main process ends (children, daemons in its control group) is killed.

mod error;
mod mock;
mod raw_exec;
mod supervisor;

pub use error::ExecError;
pub use mock::{MockDriver, MockOptions};
pub use raw_exec::{RawExec, RawExecOptions, RawExecSetup};
pub use supervisor::{HIDDEN_COMMANDS, hidden_main};
