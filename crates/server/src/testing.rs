//! A small cluster for unit tests: real state, changes applied as they come.

use std::collections::BTreeMap;
use std::sync::Arc;

use longshore_model::*;
use longshore_scheduler::Outcome;
use longshore_state::{AllocationChange, Change, EvaluationChange, JobChange, NodeChange, State};
use longshore_values::GoDuration;

#[path = "../tests/server/fixtures.rs"]
mod fixtures;

pub(crate) use fixtures::{changed, image, job, node};

pub(crate) struct World {
    pub(crate) state: State,
    pub(crate) ids: SequentialIds,
    pub(crate) now: Timestamp,
}

impl World {
    pub(crate) fn with_nodes(count: u32) -> Self {
        let now = Timestamp::from_seconds(1_000_000);
        let mut world = Self { state: State::default(), ids: SequentialIds::default(), now };
        for number in 1..=count {
            world.change(Change::Node(NodeChange::Register { node: Box::new(node(number)), evaluations: Vec::new() }));
        }
        world
    }

    pub(crate) fn change(&mut self, change: Change) {
        self.state.apply(self.state.index().next(), self.now, change);
    }

    pub(crate) fn pass(&mut self, span: GoDuration) {
        self.now = self.now.plus(span);
    }

    pub(crate) fn register(&mut self, job: &Job) {
        self.change(Change::Job(Box::new(JobChange::Register { job: Arc::new(job.clone()), evaluation: None })));
    }

    pub(crate) fn stop(&mut self, job: &Job) {
        let change =
            JobChange::Deregister { key: job.key.clone(), purge: false, no_shutdown_delay: false, evaluation: None };
        self.change(Change::Job(Box::new(change)));
    }

    pub(crate) fn evaluation(&mut self, job: &Job) -> Evaluation {
        let id = EvalId::fresh(&mut self.ids);
        Evaluation::pending(id, job.key.clone(), job.kind, job.priority, Trigger::JobRegister, self.now)
    }

    pub(crate) fn plan(&mut self, job: &Job) -> Outcome {
        let evaluation = self.evaluation(job);
        let mut outcome = longshore_scheduler::plan(&self.state, &evaluation, self.now, &mut self.ids);
        outcome.evaluation.snapshot_index = self.state.index();
        outcome
    }

    /// Evaluates a job and applies all that comes out.
    pub(crate) fn settle(&mut self, job: &Job) {
        let mut outcome = self.plan(job);
        outcome.plan.evaluations.push(outcome.evaluation);
        outcome.plan.evaluations.extend(outcome.blocked);
        self.change(Change::Plan(Box::new(outcome.plan)));
    }

    pub(crate) fn live(&self, job: &Job) -> Vec<Arc<Allocation>> {
        let of_job = self.state.allocations_of_job(&job.key);
        let mut live: Vec<_> = of_job.filter(|alloc| !alloc.is_terminal()).cloned().collect();
        live.sort_by_key(|alloc| alloc.name.clone());
        live
    }

    pub(crate) fn report(&mut self, alloc: &Allocation, status: ClientStatus, healthy: Option<bool>) {
        let reports = vec![self.told(alloc, status, healthy)];
        self.change(Change::Allocation(AllocationChange::Report { reports, evaluations: Vec::new() }));
    }

    pub(crate) fn told(&self, alloc: &Allocation, status: ClientStatus, healthy: Option<bool>) -> AllocationReport {
        let ended = status.is_terminal();
        let task = TaskState {
            phase: if ended { TaskPhase::Dead } else { TaskPhase::Running },
            failed: status == ClientStatus::Failed,
            finished_at: if ended { self.now } else { Timestamp::NEVER },
            ..TaskState::default()
        };
        AllocationReport {
            alloc: alloc.id,
            client_status: status,
            client_description: String::new(),
            task_states: BTreeMap::from([("main".to_owned(), task)]),
            healthy: healthy.map(|healthy| (healthy, self.now)),
            deployment: alloc.deployment,
            network_status: None,
        }
    }

    pub(crate) fn upsert(&mut self, evaluations: Vec<Evaluation>) {
        self.change(Change::Evaluation(EvaluationChange::Upsert(evaluations)));
    }
}
