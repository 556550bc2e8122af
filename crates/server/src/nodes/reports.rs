//! What nodes report about allocations, written down many at a time.
//!
//! While one batch is made durable the next one gathers: nobody waits for a timer, and a flood becomes few changes.

use std::collections::{BTreeMap, BTreeSet};

use longshore_model::{
    Allocation, AllocationReport, ClientStatus, EvalId, Evaluation, IdSource, JobKey, Timestamp, Trigger,
};
use longshore_state::{AllocationChange, Change, State};
use tokio::sync::{mpsc, oneshot};

use crate::clock::SystemIds;
use crate::error::ServerError;
use crate::writer::Proposer;

/// Calls of nodes that one change takes.
const BATCH_MAX: usize = 512;

pub(crate) struct Report {
    pub(crate) reports: Vec<AllocationReport>,
    pub(crate) reply: oneshot::Sender<Result<(), ServerError>>,
}

pub(crate) async fn run(mut inbox: mpsc::Receiver<Report>, proposer: Proposer) {
    let mut calls = Vec::new();
    while inbox.recv_many(&mut calls, BATCH_MAX).await > 0 {
        let (mut reports, mut replies) = (Vec::new(), Vec::new());
        for call in calls.drain(..) {
            reports.extend(call.reports);
            replies.push(call.reply);
        }
        let written = proposer.propose(move |state, now| Ok((take(state, reports, now, &mut SystemIds), ()))).await;
        let outcome = written.map(|_| ());
        for reply in replies {
            let _ = reply.send(outcome.clone());
        }
    }
}

/// The change that the reports make, with a look at every job of which something failed.
fn take(state: &State, reports: Vec<AllocationReport>, now: Timestamp, ids: &mut dyn IdSource) -> Option<Change> {
    let reports: Vec<AllocationReport> = newest_of_each(reports)
        .into_iter()
        .filter(|report| state.allocation(report.alloc).is_some_and(|known| says_something(known, report)))
        .collect();
    if reports.is_empty() {
        return None;
    }
    let mut failed: BTreeSet<&JobKey> = BTreeSet::new();
    for report in &reports {
        let Some(known) = state.allocation(report.alloc) else { continue };
        if calls_for_another(known, report, now) {
            failed.insert(&known.job);
        }
    }
    let look = |key: &JobKey| {
        let job = state.job(key)?;
        let id = EvalId::fresh(ids);
        let mut evaluation = Evaluation::pending(id, key.clone(), job.kind, job.priority, Trigger::AllocFailure, now);
        evaluation.job_modify_index = job.job_modify_index;
        Some(evaluation)
    };
    let evaluations = failed.into_iter().filter_map(look).collect();
    Some(Change::Allocation(AllocationChange::Report { reports, evaluations }))
}

/// Whether the report says that the allocation failed, and its group's policy lets it be tried again.
fn calls_for_another(known: &Allocation, report: &AllocationReport, now: Timestamp) -> bool {
    let newly_failed = report.client_status == ClientStatus::Failed && known.client_status != ClientStatus::Failed;
    if !newly_failed || known.server_terminal() {
        return false;
    }
    let mut failed = known.clone();
    failed.client_status = report.client_status;
    failed.task_states.clone_from(&report.task_states);
    let policy = failed.job_spec.group(&failed.group).and_then(|group| group.reschedule.as_ref());
    longshore_scheduler::may_reschedule(&failed, policy, now)
}

fn newest_of_each(reports: Vec<AllocationReport>) -> Vec<AllocationReport> {
    let mut newest = BTreeMap::new();
    for (at, report) in reports.into_iter().enumerate() {
        newest.insert(report.alloc, (at, report));
    }
    let mut newest: Vec<_> = newest.into_values().collect();
    newest.sort_by_key(|(at, _)| *at);
    newest.into_iter().map(|(_, report)| report).collect()
}

/// A repetition changes nothing, and so need not be written (L1).
fn says_something(known: &Allocation, report: &AllocationReport) -> bool {
    let healthy = known.deployment_status.and_then(|status| status.healthy);
    known.client_status != report.client_status
        || known.client_description != report.client_description
        || known.task_states != report.task_states
        || report.network_status.as_ref().is_some_and(|status| known.network_status.as_ref() != Some(status))
        || known.deployment.is_some() && report.healthy.is_some_and(|(verdict, _)| healthy != Some(verdict))
}
