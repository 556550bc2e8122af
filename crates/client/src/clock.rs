use std::time::{Duration, SystemTime, UNIX_EPOCH};

use longshore_model::Timestamp;

/// The wall clock.
pub(crate) fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    Timestamp::from_nanoseconds(i64::try_from(since.as_nanos()).unwrap_or(i64::MAX))
}

/// Returns at `at`; never when there is none.
pub(crate) async fn sleep_until(at: Option<Timestamp>) {
    match at {
        Some(at) => tokio::time::sleep(at.since(now()).to_std()).await,
        None => std::future::pending().await,
    }
}

/// Growing pauses between attempts at something.
#[derive(Debug)]
pub(crate) struct Backoff {
    next: Duration,
    max: Duration,
}

impl Backoff {
    pub(crate) fn new(min: Duration, max: Duration) -> Self {
        Self { next: min, max }
    }

    pub(crate) async fn pause(&mut self) {
        tokio::time::sleep(self.next).await;
        self.next = (self.next * 2).min(self.max);
    }
}
