//! The shell around the image keeper: books on disk, looks, pulls, credentials, removals.

mod actor;
mod archive;
mod credentials;
mod fetch;
mod follower;
mod gate;
mod keeping;
mod ledger;
mod lock;
mod look;
mod news;
mod progress;
mod space;
mod tally;
mod tell;

pub use self::archive::BadArchive;
pub(crate) use self::archive::{CheckedArchive, check as check_archive};
pub(crate) use self::fetch::Access;
pub(crate) use self::follower::{EngineState, follow};
pub(crate) use self::keeping::{
    Adopt, Answer, Books as KeepingBooks, Grant, KeeperEnded, Keeping, RemoveDead, Setup as KeepingSetup, Status, now,
};
pub(crate) use self::ledger::Ledger;
pub(crate) use self::lock::{KeeperLock, engine_key};
pub(crate) use self::look::Looker;
pub(crate) use self::progress::{Pace, Progress};
pub(crate) use longshore_values::with_causes;
