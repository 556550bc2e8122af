//! One at a time for each allocation: its tasks start together, and share one network.

use std::collections::BTreeSet;

use longshore_model::AllocId;
use tokio::sync::watch;

#[derive(Debug, Default)]
pub(crate) struct Turns {
    taken: watch::Sender<BTreeSet<AllocId>>,
}

impl Turns {
    /// Returns when nobody else has the allocation's turn; it is given back when the value is dropped.
    pub(crate) async fn take(&self, alloc: AllocId) -> Turn {
        let mut taken = self.taken.subscribe();
        while !self.taken.send_if_modified(|taken| taken.insert(alloc)) {
            // The sender is this value's: it cannot be gone.
            let _ = taken.wait_for(|taken| !taken.contains(&alloc)).await;
        }
        Turn { alloc, taken: self.taken.clone() }
    }
}

#[derive(Debug)]
pub(crate) struct Turn {
    alloc: AllocId,
    taken: watch::Sender<BTreeSet<AllocId>>,
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.taken.send_if_modified(|taken| taken.remove(&self.alloc));
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn the_next_one_comes_when_the_first_is_done() {
        let turns = Turns::default();
        let (one, other) = (AllocId::from_u128(1), AllocId::from_u128(2));
        let first = turns.take(one).await;
        let elsewhere = turns.take(other).await;
        let second = turns.take(one);
        tokio::pin!(second);
        assert!(tokio::time::timeout(Duration::from_millis(1), &mut second).await.is_err());
        drop(first);
        let second = second.await;
        drop((second, elsewhere));
        assert!(turns.taken.borrow().is_empty());
    }
}
