//! What a task driver promises to the node that uses it. There is no driver in here.
//!
//! - D1: `accept` has made every hold of the allocation durable when it returns; `forget` gives them back. Between the
//!   two, attempts, restarts and retries take and give back nothing.
//! - D2: `start` either returns a handle of a task that runs, or leaves nothing of the attempt behind.
//! - D3: after `restore` the driver knows which allocations live; before it, it removes nothing.
//! - D4: dropping the future of `start` cancels the attempt; what it made is ended by the driver itself.

mod error;
mod exec;
mod fingerprint;
mod images;
mod request;
mod usage;

use std::collections::BTreeSet;

use async_trait::async_trait;
use longshore_model::{AllocId, Timestamp};
use longshore_values::GoDuration;

pub use error::{ConfigFault, DriverError, ErrorClass, Reason};
pub use exec::{ExecInput, ExecOutput, ExecRequest};
pub use fingerprint::{Capabilities, Fingerprint};
pub use images::{
    Adopted, Collected, Explained, ImageCount, ImageExplanation, ImageHolder, ImageReport, ImageRoom, Images,
    PauseReport, PinReport, Pulled,
};
pub use request::{
    AcceptRequest, AcceptedTask, DelaySink, EarlierVersion, EventSink, ExitResult, GroupNetwork, KnownAllocation,
    KnownTask, LogFiles, NetworkRequest, NodeIdentity, PrefetchId, PrefetchRequest, Recovered, StartRequest, Started,
    TaskAddress, TaskDirs, TaskHandle, TaskId,
};
pub use usage::{CpuUsage, MemoryUsage, TaskUsage};

/// One way to run tasks: `docker`, `raw_exec`, …
#[async_trait]
pub trait Driver: Send + Sync {
    /// The word that a job's `driver` names.
    fn name(&self) -> &'static str;

    fn capabilities(&self) -> Capabilities;

    /// What the node can tell of this driver now: whether it is there and healthy, with its attributes.
    async fn fingerprint(&self) -> Fingerprint;

    /// Returns when the fingerprint may have changed since the last call of `fingerprint`.
    async fn fingerprint_changed(&self);

    /// Whether a task's `config` can be understood, before anything is made. Values may still hold `${…}`.
    fn check_config(&self, config: &serde_json::Value) -> Result<(), DriverError>;

    /// The labels of the group's ports that a task's `config` names; those with `${…}` are not known yet.
    fn ports_named(&self, _config: &serde_json::Value) -> Vec<String> {
        Vec::new()
    }

    /// The node accepts an allocation: its holds are durable when this returns. Repeating it changes nothing.
    async fn accept(&self, request: AcceptRequest) -> Result<(), DriverError>;

    /// Makes the network that the tasks of a group share, or finds the one that was made before, by another task's start
    /// or another run of the agent. It goes with the allocation ([`Driver::forget`]). Dropping the future calls it off.
    async fn create_network(&self, request: NetworkRequest) -> Result<GroupNetwork, DriverError> {
        let (driver, mode) = (self.name(), request.mode);
        Err(DriverError::fatal(format!("driver `{driver}` does not support networks of mode {mode:?}")))
    }

    /// Starts one task, once. The holds of its allocation were taken by `accept`. Told again with the same attempt, after a
    /// crash, it finds what the first call made and starts nothing anew.
    async fn start(&self, request: StartRequest) -> Result<Started, DriverError>;

    /// Finds a task again that was started before the agent (or the driver) came back.
    async fn recover(&self, handle: &TaskHandle, request: StartRequest) -> Result<Recovered, DriverError>;

    /// Returns when the task has ended. May be called again after an error.
    async fn wait(&self, handle: &TaskHandle) -> Result<ExitResult, DriverError>;

    /// Asks the task to end with `signal` (empty: the driver's own), then ends it after `timeout`. Returns when it has ended.
    async fn stop(&self, handle: &TaskHandle, signal: &str, timeout: GoDuration) -> Result<(), DriverError>;

    /// Removes what is left of an ended task (its container). Repeating it changes nothing.
    async fn destroy(&self, handle: &TaskHandle) -> Result<(), DriverError>;

    async fn signal(&self, handle: &TaskHandle, signal: &str) -> Result<(), DriverError>;

    /// Runs a command beside a task that runs, in the task's own surroundings, and returns its exit code when it has ended
    /// and all of its output has been taken. Dropping the future ends the command, as far as the driver can reach it.
    async fn exec(&self, handle: &TaskHandle, _request: ExecRequest) -> Result<i32, DriverError> {
        Err(DriverError::fatal(format!("driver `{}` runs no commands in tasks", handle.driver)))
    }

    /// What a running task uses; may take seconds. `None`: this driver does not measure.
    async fn usage(&self, _handle: &TaskHandle) -> Result<Option<TaskUsage>, DriverError> {
        Ok(None)
    }

    /// The allocation can never start a task here again; its tasks ended at `ended_at`. Repeating it changes nothing. What
    /// may be left of it without a handle (a start that a crash interrupted, a stop that came meanwhile) goes with it.
    async fn forget(&self, alloc: AllocId, ended_at: Timestamp) -> Result<(), DriverError>;

    /// Said once after the start of the agent, when all allocations of the node's record are known.
    async fn restore(&self, known: Vec<KnownAllocation>) -> Result<(), DriverError>;

    /// Said from time to time: all allocations that the node knows now. What the driver knows or holds beyond them, twice in
    /// a row, is given back, and what it should hold and does not is taken; both are told.
    async fn compare(&self, _known: BTreeSet<AllocId>) -> Result<(), DriverError> {
        Ok(())
    }

    /// Brings what a task will need (its image) and keeps it until `expires_at`, or until it is not among what
    /// [`Driver::keep_prefetched`] names. Returns when it is here, or cannot be had. Dropping the future calls it off; what
    /// was brought stays until it is let go.
    async fn prefetch(&self, _request: PrefetchRequest) -> Result<(), DriverError> {
        Ok(())
    }

    /// All versions that jobs with an allocation here may go back to; of none else is anything kept for that. Told at each
    /// change, and again until it is taken.
    async fn keep_versions(&self, _earlier: Vec<EarlierVersion>) -> Result<(), DriverError> {
        Ok(())
    }

    /// These are all that somebody still wishes for: the rest of what [`Driver::prefetch`] keeps is let go.
    async fn keep_prefetched(&self, _wished: Vec<PrefetchId>) -> Result<(), DriverError> {
        Ok(())
    }

    /// The driver's images, when it has any.
    fn images(&self) -> Option<&dyn Images> {
        None
    }

    /// The agent ends. Tasks go on; what the driver holds in this process (connections, locks) is given back.
    async fn shutdown(&self);
}
