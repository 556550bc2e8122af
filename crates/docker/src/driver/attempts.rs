//! Which allocations have starts under way. One that was called off goes on until it has ended what it made: whoever
//! forgets an allocation waits for that, or a container could come into being behind its back.

use std::collections::BTreeMap;

use longshore_model::AllocId;
use tokio::sync::watch;

/// How many starts of each allocation are under way; none is no entry.
#[derive(Debug, Default)]
pub(crate) struct Attempts {
    running: watch::Sender<BTreeMap<AllocId, usize>>,
}

impl Attempts {
    /// Counts one until the value is dropped.
    pub(crate) fn begin(&self, alloc: AllocId) -> Attempt {
        self.running.send_modify(|running| *running.entry(alloc).or_default() += 1);
        Attempt { alloc, running: self.running.clone() }
    }

    /// Returns when the allocation has none.
    pub(crate) async fn none_of(&self, alloc: AllocId) {
        // The sender is this value's: it cannot be gone.
        let _ = self.running.subscribe().wait_for(|running| !running.contains_key(&alloc)).await;
    }
}

#[derive(Debug)]
pub(crate) struct Attempt {
    alloc: AllocId,
    running: watch::Sender<BTreeMap<AllocId, usize>>,
}

impl Drop for Attempt {
    fn drop(&mut self) {
        self.running.send_modify(|running| {
            if let Some(count) = running.get_mut(&self.alloc) {
                *count -= 1;
                if *count == 0 {
                    running.remove(&self.alloc);
                }
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn whoever_waits_sees_the_last_one_end() {
        let attempts = Attempts::default();
        let (one, other) = (AllocId::from_u128(1), AllocId::from_u128(2));
        attempts.none_of(one).await;
        let (first, second, elsewhere) = (attempts.begin(one), attempts.begin(one), attempts.begin(other));
        drop(first);
        let waiting = attempts.none_of(one);
        tokio::pin!(waiting);
        assert!(tokio::time::timeout(Duration::from_millis(1), &mut waiting).await.is_err());
        drop(second);
        waiting.await;
        drop(elsewhere);
        attempts.none_of(other).await;
    }
}
