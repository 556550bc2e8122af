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

/// A repetition changes nothing, and so need not be written (L1); nor does what comes late of a lost one.
fn says_something(known: &Allocation, report: &AllocationReport) -> bool {
    if known.client_status == ClientStatus::Lost {
        return false;
    }
    let healthy = known.deployment_status.and_then(|status| status.healthy);
    known.client_status != report.client_status
        || known.client_description != report.client_description
        || known.task_states != report.task_states
        || report.network_status.as_ref().is_some_and(|status| known.network_status.as_ref() != Some(status))
        || report.health_in(known.deployment).is_some_and(|(verdict, _)| healthy != Some(verdict))
}

#[cfg(test)]
mod tests {
    use longshore_model::SequentialIds;

    use super::*;
    use crate::testing::{World, changed, job};

    fn taken(world: &World, reports: Vec<AllocationReport>) -> (usize, Vec<Trigger>) {
        let ids = &mut SequentialIds::default();
        match take(&world.state, reports, world.now, ids) {
            Some(Change::Allocation(AllocationChange::Report { reports, evaluations })) => {
                (reports.len(), evaluations.iter().map(|evaluation| evaluation.triggered_by).collect())
            }
            None => (0, Vec::new()),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_flood_becomes_one_change_and_a_repetition_none() {
        let mut world = World::with_nodes(1);
        let web = job("web", 3);
        world.register(&web);
        world.settle(&web);
        let live = world.live(&web);
        let running = |world: &World, at: usize| world.told(&live[at], ClientStatus::Running, None);
        let flood = vec![running(&world, 0), running(&world, 1), running(&world, 0)];
        assert_eq!(taken(&world, flood), (2, vec![]));
        world.report(&live[0], ClientStatus::Running, None);
        assert_eq!(taken(&world, vec![running(&world, 0)]), (0, vec![]));
        let healthy = world.told(&live[0], ClientStatus::Running, Some(true));
        assert_eq!(taken(&world, vec![healthy]), (1, vec![]));
        let mut unknown = running(&world, 1);
        unknown.alloc = longshore_model::AllocId::from_u128(77);
        assert_eq!(taken(&world, vec![unknown]), (0, vec![]));
    }

    #[test]
    fn health_for_an_earlier_deployment_is_none_for_the_present_one() {
        let mut world = World::with_nodes(1);
        let web = job("web", 1);
        world.register(&web);
        world.settle(&web);
        let alloc = world.live(&web).remove(0);
        world.report(&alloc, ClientStatus::Running, None);
        let mut late = world.told(&alloc, ClientStatus::Running, Some(false));
        late.deployment = Some(longshore_model::DeploymentId::from_u128(77));
        assert_eq!(taken(&world, vec![late.clone()]), (0, vec![]), "it says nothing that counts");

        // Beside other news it is left out.
        late.client_description = "Tasks are running".to_owned();
        let reports = vec![late];
        world.change(Change::Allocation(AllocationChange::Report { reports, evaluations: Vec::new() }));
        let known = world.state.allocation(alloc.id).unwrap();
        assert_eq!(known.client_description, "Tasks are running");
        assert_eq!(known.deployment_status.and_then(|status| status.healthy), None);
        let deployment = world.state.latest_deployment(&web.key).unwrap();
        assert_eq!((deployment.groups["web"].healthy_allocs, deployment.groups["web"].unhealthy_allocs), (0, 0));

        world.report(&alloc, ClientStatus::Running, Some(true));
        assert!(world.state.allocation(alloc.id).unwrap().is_healthy());
        let deployment = world.state.latest_deployment(&web.key).unwrap();
        assert_eq!(deployment.groups["web"].healthy_allocs, 1);
    }

    #[test]
    fn a_failure_that_may_be_mended_leads_to_one_look_a_job() {
        for (policy, looks) in [(true, vec![Trigger::AllocFailure]), (false, vec![])] {
            let mut world = World::with_nodes(1);
            let web = changed(&job("web", 2), |group| group.reschedule = group.reschedule.filter(|_| policy));
            world.register(&web);
            world.settle(&web);
            let failed = world.live(&web);
            let reports = failed.iter().map(|alloc| world.told(alloc, ClientStatus::Failed, None)).collect();
            assert_eq!(taken(&world, reports), (2, looks), "with a policy: {policy}");
            world.stop(&web);
            world.settle(&web);
            let late = world.told(&failed[0], ClientStatus::Failed, None);
            assert_eq!(taken(&world, vec![late]), (1, vec![]), "nobody wants it any more");
        }
    }
}
