//! The clock and the chance of this process, for those who hand them to what decides.

use std::hash::{BuildHasher, RandomState};
use std::time::{SystemTime, UNIX_EPOCH};

use longshore_model::{IdSource, Timestamp};

pub(crate) fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_nanoseconds(i64::try_from(since.as_nanos()).unwrap_or(i64::MAX))
}

/// Ids from the system's randomness.
#[derive(Debug, Default)]
pub struct SystemIds;

impl IdSource for SystemIds {
    fn next_id(&mut self) -> u128 {
        let mut bytes = [0; 16];
        if getrandom::fill(&mut bytes).is_ok() {
            return u128::from_le_bytes(bytes);
        }
        // A kernel without randomness to give: the keys of the standard library's hash maps and the clock are
        // unlike those of any other moment.
        let keys = RandomState::new();
        let half = |part: u8| u128::from(keys.hash_one((part, now().as_nanoseconds())));
        half(0) << 64 | half(1)
    }
}
