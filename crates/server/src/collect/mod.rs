//! Forgetting what has ended and is old.

mod run;
mod select;
mod times;

pub(crate) use run::{collect, run as run_collector};
pub(crate) use select::Cutoffs;
pub(crate) use times::Times;
