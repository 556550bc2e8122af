use longshore_driver::{DriverError, TaskHandle, TaskId};
use serde::{Deserialize, Serialize};

use super::NAME;

/// What finds a container of ours again; kept by the node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct HandleState {
    pub(crate) container_id: String,
    /// As its label has it: a container that says otherwise is not the one that was started.
    pub(crate) config_hash: String,
    /// As the job has it.
    pub(crate) image: String,
    /// The container whose network it shares, when that is its group's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) network: Option<String>,
}

impl HandleState {
    pub(crate) fn of(handle: &TaskHandle) -> Result<Self, DriverError> {
        serde_json::from_value(handle.state.clone()).map_err(|error| {
            DriverError::fatal(format!("the record of task {} is not one of the docker driver's", handle.id))
                .caused_by(error)
        })
    }

    pub(crate) fn into_handle(self, id: TaskId) -> Result<TaskHandle, DriverError> {
        let state = serde_json::to_value(self)
            .map_err(|error| DriverError::fatal("the record of a task cannot be made").caused_by(error))?;
        Ok(TaskHandle { id, driver: NAME.to_owned(), state })
    }
}
