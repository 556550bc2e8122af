//! What the node decides, without doing anything: no I/O, no clock, no chance of its own.

pub(crate) mod environment;
pub(crate) mod events;
pub(crate) mod health;
pub(crate) mod interpolation;
pub(crate) mod lifecycle;
pub(crate) mod reconcile;
pub(crate) mod restart;
pub(crate) mod status;
