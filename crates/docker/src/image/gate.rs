//! How many pulls are at work at once, and which registry is left in peace for a while.
//!
//! - G1: so many pulls that began lately are at work at once, and as many again that take long: a small image does not
//!   stay behind big ones.
//! - G2: a registry that asked for fewer requests is asked by nobody before its time, which doubles with each further
//!   refusal. (Engines do not pass on how long it wishes to be left alone.)

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::progress::Stage;

/// Whoever pulls passes through.
#[derive(Debug)]
pub(crate) struct Gate {
    parallel: usize,
    young: Arc<Semaphore>,
    old: Arc<Semaphore>,
    old_after: Duration,
    resting: Mutex<BTreeMap<String, Rest>>,
}

/// A registry that asked for fewer requests.
#[derive(Debug)]
struct Rest {
    until: Instant,
    wait: Duration,
    why: String,
}

/// A pull that may be at work, until it is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    permit: OwnedSemaphorePermit,
    old: Arc<Semaphore>,
    old_after: Duration,
}

/// A pull that takes longer than this is no small one.
const OLD_AFTER: Duration = Duration::from_secs(20);
const REST_MIN: Duration = Duration::from_secs(5);
const REST_MAX: Duration = Duration::from_secs(120);

impl Gate {
    pub(crate) fn new(parallel: usize) -> Self {
        let permits = || Arc::new(Semaphore::new(parallel));
        Self { parallel, young: permits(), old: permits(), old_after: OLD_AFTER, resting: Mutex::default() }
    }

    /// Waits for a place, and until the registry may be asked. What is waited for is told.
    pub(crate) async fn enter(&self, registry: &str, tell: impl Fn(Stage)) -> Place {
        loop {
            if let Some((until, why)) = self.rest_of(registry) {
                tell(Stage::Resting { until, why });
                tokio::time::sleep_until(until.into()).await;
            }
            if self.young.available_permits() == 0 {
                tell(Stage::Queued { at_work: self.parallel });
            }
            // Never closed.
            let Ok(permit) = self.young.clone().acquire_owned().await else { std::future::pending().await };
            if self.rest_of(registry).is_none() {
                return Place { permit, old: self.old.clone(), old_after: self.old_after };
            }
        }
    }

    /// Why the registry is left in peace now, if it is.
    pub(crate) fn rests(&self, registry: &str) -> Option<String> {
        self.rest_of(registry).map(|(_, why)| why)
    }

    /// The registry asked for fewer requests.
    pub(crate) fn limited(&self, registry: &str, why: &str) {
        let now = Instant::now();
        let mut resting = self.resting();
        let wait = match resting.get(registry) {
            // Several pulls were refused at once: that counts once.
            Some(rest) if rest.until > now => return,
            Some(rest) => (rest.wait * 2).min(REST_MAX),
            None => REST_MIN,
        };
        resting.insert(registry.to_owned(), Rest { until: now + wait, wait, why: why.to_owned() });
    }

    /// The registry gave what it was asked for.
    pub(crate) fn gave(&self, registry: &str) {
        self.resting().remove(registry);
    }

    fn rest_of(&self, registry: &str) -> Option<(Instant, String)> {
        let resting = self.resting();
        let rest = resting.get(registry).filter(|rest| rest.until > Instant::now())?;
        Some((rest.until, rest.why.clone()))
    }

    fn resting(&self) -> MutexGuard<'_, BTreeMap<String, Rest>> {
        self.resting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    /// Makes room for younger ones when it has been at work for long. Never ends.
    pub(crate) async fn grow_old(&mut self) -> Infallible {
        tokio::time::sleep(self.old_after).await;
        if let Ok(permit) = self.old.clone().acquire_owned().await {
            self.permit = permit;
        }
        std::future::pending().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether somebody who comes now gets in within that time, with what he was told.
    async fn enters(gate: &Gate, registry: &str, within: Duration) -> (Option<Place>, Vec<String>) {
        let told = Mutex::new(Vec::new());
        let tell = |stage: Stage| told.lock().unwrap().push(stage.to_string());
        let place = tokio::time::timeout(within, gate.enter(registry, tell)).await.ok();
        (place, told.into_inner().unwrap())
    }

    #[tokio::test]
    async fn small_ones_do_not_stay_behind_big_ones() {
        let old_after = Duration::from_millis(20);
        let gate = Gate { old_after, ..Gate::new(1) };
        let (mut first, _) = enters(&gate, "a", Duration::ZERO).await;
        let (second, told) = enters(&gate, "b", old_after).await;
        assert!(second.is_none());
        assert_eq!(told, ["waiting for one of 1 pulls at work to end"]);
        let grown = tokio::time::timeout(old_after * 3, first.as_mut().unwrap().grow_old()).await;
        assert!(grown.is_err());
        let (mut second, _) = enters(&gate, "b", Duration::ZERO).await;
        assert!(second.is_some(), "the first one takes long");
        // There is one place for those as well.
        assert!(tokio::time::timeout(old_after * 3, second.as_mut().unwrap().grow_old()).await.is_err());
        assert!(enters(&gate, "c", Duration::ZERO).await.0.is_none());
        drop(first);
        assert!(tokio::time::timeout(old_after * 3, second.as_mut().unwrap().grow_old()).await.is_err());
        assert!(enters(&gate, "c", Duration::ZERO).await.0.is_some());
    }

    #[test]
    fn a_registry_that_asks_for_patience_gets_ever_more_of_it() {
        let gate = Gate::new(2);
        let wait = |gate: &Gate| gate.resting().get("a").map(|rest| rest.wait.as_secs());
        let later = |gate: &Gate| {
            if let Some(rest) = gate.resting().get_mut("a") {
                rest.until = Instant::now();
            }
        };
        for expected in [5, 10, 20, 40, 80, 120, 120] {
            gate.limited("a", "too many");
            gate.limited("a", "too many, another one says");
            assert_eq!(wait(&gate), Some(expected));
            assert!(gate.rest_of("a").is_some_and(|(_, why)| why == "too many"));
            assert!(gate.rest_of("b").is_none());
            later(&gate);
            assert!(gate.rest_of("a").is_none());
        }
        gate.gave("a");
        gate.limited("a", "again");
        assert_eq!(wait(&gate), Some(5));
    }
}
