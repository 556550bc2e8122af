//! What becomes of an allocation whose part of the node has panicked: it fails, as a whole and for good.
//!
//! What runs of it is ended all the same, and its drivers give back what they hold; the others go on.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use longshore_link::AllocationReport;
use longshore_model::{Allocation, ClientStatus, TaskPhase, TaskState, Timestamp};
use tokio::sync::mpsc::UnboundedSender;

use crate::clock::{self, Backoff};
use crate::database::Write;
use crate::directories;
use crate::rules::events;
use crate::runner::records::{AllocRecord, Stage, TaskRecord};
use crate::runner::shell::{Notice, View};
use crate::shared::Shared;

const RETRY_DELAY_MIN: Duration = Duration::from_millis(100);
const RETRY_DELAY_MAX: Duration = Duration::from_secs(10);
const WHY: &str = "the agent met a fault of its own in this allocation; see the agent's log";

/// Of one that could not even be taken in.
pub(crate) fn never_accepted(alloc: &Allocation) -> AllocationReport {
    let names = alloc.resources.tasks.keys();
    AllocationReport {
        alloc: alloc.id,
        client_status: ClientStatus::Failed,
        client_description: WHY.to_owned(),
        task_states: names.map(|name| (name.clone(), failed(TaskState::default(), clock::now()))).collect(),
        healthy: None,
        deployment: None,
        network_status: None,
    }
}

fn failed(mut state: TaskState, now: Timestamp) -> TaskState {
    if state.phase != TaskPhase::Dead {
        events::push(&mut state, events::not_restarting(now, WHY));
        state.phase = TaskPhase::Dead;
        state.failed = true;
        state.finished_at = now;
    }
    state
}

/// Ends what runs of the allocation, and sees to it that nothing of it starts again: neither here nor after a start of
/// the agent. Until the agent ends.
pub(crate) async fn end(shared: Arc<Shared>, alloc: Arc<Allocation>, view: View, notices: UnboundedSender<Notice>) {
    let stopping = shared.stopping.clone();
    let _ = stopping.run_until_cancelled(end_all(&shared, &alloc, view, &notices)).await;
}

async fn end_all(shared: &Shared, alloc: &Allocation, mut view: View, notices: &UnboundedSender<Notice>) {
    let group = alloc.job_spec.group(&alloc.group);
    for (name, handle) in std::mem::take(&mut view.running) {
        let Some(driver) = shared.drivers.get(handle.driver.as_str()) else { continue };
        let task = group.and_then(|group| group.task(&name));
        let signal = task.map(|task| task.kill_signal.clone()).unwrap_or_default();
        let timeout = task.map(|task| task.kill_timeout).unwrap_or_default().min(shared.config.max_kill_timeout);
        let ended = driver.stop(&handle, &signal, timeout).await;
        // Forgetting ends what this left.
        if let Err(error) = ended.and(driver.destroy(&handle).await) {
            tracing::warn!(task = %handle.id, error = error.full_text(), "could not end the task yet");
        }
    }
    let now = clock::now();
    let names: BTreeSet<_> = group.iter().flat_map(|group| &group.tasks).map(|task| task.driver.as_str()).collect();
    for driver in names.into_iter().filter_map(|name| shared.drivers.get(name)) {
        let mut backoff = Backoff::new(RETRY_DELAY_MIN, RETRY_DELAY_MAX);
        while let Err(error) = driver.forget(alloc.id, now).await {
            tracing::warn!(driver = driver.name(), error = error.full_text(), "could not forget the allocation");
            backoff.pause().await;
        }
    }
    let root = directories::alloc_root(&shared.config.alloc_dir, alloc.id);
    let _ = tokio::task::spawn_blocking(move || directories::release_secrets(&root)).await;
    let states = std::mem::take(&mut view.report.task_states);
    view.report.task_states = states.into_iter().map(|(name, state)| (name, failed(state, now))).collect();
    view.report.client_status = ClientStatus::Failed;
    view.report.client_description = WHY.to_owned();
    (view.has_ended, view.is_over, view.ended_at) = (true, true, now);
    write_down(shared, alloc, &view, now).await;
    shared.reports.push(view.report.clone());
    shared.set_view(alloc.id, view);
    for notice in [Notice::Ended(alloc.id), Notice::Over(alloc.id)] {
        let _ = notices.send(notice);
    }
}

async fn write_down(shared: &Shared, alloc: &Allocation, view: &View, now: Timestamp) {
    let record = AllocRecord { ended_at: Some(now), forgotten: true, ..AllocRecord::accepted(None, now) };
    let mut writes = vec![Write::allocation(alloc, &record)];
    for (name, state) in &view.report.task_states {
        let task = TaskRecord { state: state.clone(), stage: Stage::Dead, ..TaskRecord::received(now) };
        writes.push(Write::task(alloc.id, name, &task));
    }
    let outcome = match writes.into_iter().collect::<Result<Vec<_>, _>>() {
        Ok(writes) => shared.database.commit(writes).await,
        Err(error) => Err(Arc::new(error)),
    };
    if let Err(error) = outcome {
        tracing::error!(alloc.id = %alloc.id, %error, "the end of an allocation could not be written down");
    }
}
