//! What clients are shown of the model: one function a noun. The only place that knows both.

pub(crate) mod agent;
pub(crate) mod allocation;
pub(crate) mod deployment;
pub(crate) mod evaluation;
pub(crate) mod image;
pub(crate) mod job;
pub(crate) mod metric;
pub(crate) mod node;
pub(crate) mod plan;
pub(crate) mod task;
pub(crate) mod usage;

use std::fmt::Display;

use longshore_api::{DecodeError, GoTime};
use longshore_model::{JobKey, Timestamp};

/// What cannot be shown.
#[derive(Debug, thiserror::Error)]
pub enum ShowError {
    /// The stored document was written by this program, so this is a fault of its own, or a damaged file.
    #[error("the stored document of job {job} version {version} cannot be read")]
    Document {
        job: JobKey,
        version: u64,
        #[source]
        source: DecodeError,
    },
}

pub(crate) fn time(at: Timestamp) -> GoTime {
    GoTime::from_nanoseconds(at.as_nanoseconds())
}

/// An id, or the empty text that stands for none.
pub(crate) fn id<T: Display>(id: Option<T>) -> String {
    id.map(|id| id.to_string()).unwrap_or_default()
}
