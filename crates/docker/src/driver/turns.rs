//! One after the other, for each of many things.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{Mutex as Turn, OwnedMutexGuard};

/// Turns by what they are about. What nobody waits for takes no room.
#[derive(Debug)]
pub(crate) struct Turns<K>(Mutex<BTreeMap<K, Arc<Turn<()>>>>);

impl<K> Default for Turns<K> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Ord + Clone> Turns<K> {
    /// Waits for those who came before, and has the turn until the answer is dropped.
    pub(crate) async fn take(&self, key: &K) -> OwnedMutexGuard<()> {
        let turn = self.of(key);
        turn.lock_owned().await
    }

    fn of(&self, key: &K) -> Arc<Turn<()>> {
        let mut turns = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        turns.retain(|_, turn| Arc::strong_count(turn) > 1);
        Arc::clone(turns.entry(key.clone()).or_default())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn the_next_one_waits_and_others_do_not() {
        let turns = Turns::default();
        let first = turns.take(&1).await;
        let _other = turns.take(&2).await;
        let mut second = std::pin::pin!(turns.take(&1));
        assert!(tokio::time::timeout(Duration::from_millis(1), &mut second).await.is_err());
        drop(first);
        drop(second.await);
        drop(turns.take(&3).await);
        drop(turns.take(&4).await);
        assert_eq!(turns.0.lock().unwrap().keys().copied().collect::<Vec<_>>(), [2, 4]);
    }
}
