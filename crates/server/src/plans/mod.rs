//! What stands between a scheduler's plan and its effect.

mod finish;
mod verify;

pub(crate) use finish::with_superseded;
pub(crate) use verify::{Rejection, verify};
