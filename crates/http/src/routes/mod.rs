//! The routes, a module a noun.

pub(crate) mod agent;
pub(crate) mod allocations;
pub(crate) mod ask;
pub(crate) mod deployments;
pub(crate) mod evaluations;
pub(crate) mod exec;
pub(crate) mod files;
pub(crate) mod host;
pub(crate) mod images;
pub(crate) mod job;
pub(crate) mod jobs;
pub(crate) mod logs;
pub(crate) mod metrics;
pub(crate) mod nodes;
pub(crate) mod search;
pub(crate) mod status;
pub(crate) mod submit;
pub(crate) mod system;
