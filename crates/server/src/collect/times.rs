//! Which entry of the journal was the newest at a time: what is older than an entry has no clock of its own.

use std::collections::VecDeque;

use longshore_model::{LogIndex, Timestamp};
use longshore_values::GoDuration;

/// No finer than this is remembered…
const GRAIN: GoDuration = GoDuration::minutes(1);
/// …and no further back.
const REACH: GoDuration = GoDuration::hours(72);

#[derive(Debug, Default)]
pub(crate) struct Times {
    /// Oldest first.
    seen: VecDeque<(Timestamp, LogIndex)>,
}

impl Times {
    /// The entry `index` was made at `at`.
    pub(crate) fn witness(&mut self, index: LogIndex, at: Timestamp) {
        match self.seen.back_mut() {
            Some((since, newest)) if at.since(*since) < GRAIN => *newest = index.max(*newest),
            _ => self.seen.push_back((at, index)),
        }
        while self.seen.front().is_some_and(|(oldest, _)| at.since(*oldest) > REACH) {
            self.seen.pop_front();
        }
    }

    /// The newest entry that surely was there at `at`; 0 when nothing is known of that time.
    pub(crate) fn index_at(&self, at: Timestamp) -> LogIndex {
        let later = self.seen.partition_point(|(since, _)| since.plus(GRAIN) <= at);
        later.checked_sub(1).and_then(|position| self.seen.get(position)).map(|(_, index)| *index).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_is_found_by_time_and_never_too_young() {
        let at = Timestamp::from_seconds;
        let mut times = Times::default();
        for (seconds, index) in [(0, 1), (30, 2), (59, 3), (60, 4), (200, 5)] {
            times.witness(LogIndex(index), at(1_000 + seconds));
        }
        for (seconds, index) in [(0, 0), (59, 0), (60, 3), (119, 3), (120, 4), (259, 4), (260, 5), (9_999, 5)] {
            assert_eq!(times.index_at(at(1_000 + seconds)), LogIndex(index), "at {seconds} s");
        }
        times.witness(LogIndex(6), at(1_000).plus(GoDuration::hours(80)));
        assert_eq!(times.index_at(at(5_000)), LogIndex(0), "too long ago to be known");
    }
}
