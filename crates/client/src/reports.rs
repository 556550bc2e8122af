//! Tells the server how allocations stand: at once, together with whatever else is waiting, and again until it is told.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use longshore_link::AllocationReport;
use longshore_model::AllocId;
use tokio::sync::Notify;

use crate::clock::Backoff;
use crate::shared::Shared;

const RETRY_DELAY_MIN: Duration = Duration::from_millis(100);
const RETRY_DELAY_MAX: Duration = Duration::from_secs(15);

/// The reports that wait; a newer one of an allocation takes the place of an older one.
#[derive(Debug, Default)]
pub(crate) struct Reports {
    waiting: Mutex<BTreeMap<AllocId, AllocationReport>>,
    came: Notify,
    sent: Notify,
    sending: std::sync::atomic::AtomicBool,
}

impl Reports {
    pub(crate) fn push(&self, report: AllocationReport) {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).insert(report.alloc, report);
        self.came.notify_one();
    }

    fn take(&self) -> BTreeMap<AllocId, AllocationReport> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        self.sending.store(!waiting.is_empty(), std::sync::atomic::Ordering::SeqCst);
        std::mem::take(&mut *waiting)
    }

    /// Puts back what could not be told, unless there is something newer.
    fn put_back(&self, unsent: BTreeMap<AllocId, AllocationReport>) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        for (alloc, report) in unsent {
            waiting.entry(alloc).or_insert(report);
        }
    }

    fn is_idle(&self) -> bool {
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.is_empty() && !self.sending.load(std::sync::atomic::Ordering::SeqCst)
    }

    /// Returns when everything has been told.
    pub(crate) async fn flushed(&self) {
        loop {
            let sent = self.sent.notified();
            if self.is_idle() {
                return;
            }
            sent.await;
        }
    }
}

/// Sends reports until the agent ends.
pub(crate) async fn send_all(shared: &Shared) {
    let mut backoff = Backoff::new(RETRY_DELAY_MIN, RETRY_DELAY_MAX);
    loop {
        let batch = shared.reports.take();
        if batch.is_empty() {
            shared.reports.sent.notify_waiters();
            shared.reports.came.notified().await;
            continue;
        }
        match shared.link.report(shared.node_id, batch.values().cloned().collect()).await {
            Ok(()) => backoff = Backoff::new(RETRY_DELAY_MIN, RETRY_DELAY_MAX),
            Err(error) => {
                tracing::warn!(%error, reports = batch.len(), "could not tell the server how allocations stand");
                shared.reports.put_back(batch);
                backoff.pause().await;
            }
        }
    }
}
