//! A small cluster for tests: real state, plans applied as they come.

use std::collections::BTreeMap;
use std::sync::Arc;

use longshore_model::*;
use longshore_samples as samples;
pub(crate) use longshore_samples::job;
use longshore_state::{AllocationChange, Change, JobChange, NodeChange, State};

use crate::{Outcome, plan};

pub(crate) struct World {
    pub(crate) state: State,
    pub(crate) ids: SequentialIds,
    pub(crate) now: Timestamp,
}

impl World {
    /// Nodes of 4,000 MHz and 8,192 MB.
    pub(crate) fn with_nodes(count: u32) -> Self {
        let mut world =
            Self { state: State::default(), ids: SequentialIds::default(), now: Timestamp::from_seconds(1_000_000) };
        for number in 1..=count {
            let node = Box::new(node(number));
            world.change(Change::Node(NodeChange::Register { node, evaluations: Vec::new() }));
        }
        world
    }

    pub(crate) fn change(&mut self, change: Change) {
        self.state.apply(self.state.index().next(), self.now, change);
        assert_eq!(self.state.breaches(), Vec::<String>::new());
    }

    pub(crate) fn register(&mut self, job: &Job) {
        self.change(Change::Job(Box::new(JobChange::Register { job: Arc::new(job.clone()), evaluation: None })));
    }

    pub(crate) fn evaluate(&mut self, job: &Job) -> Outcome {
        let id = EvalId::fresh(&mut self.ids);
        let evaluation = Evaluation::pending(id, job.key.clone(), job.kind, 50, Trigger::JobRegister, self.now);
        plan(&self.state, &evaluation, self.now, &mut self.ids)
    }

    /// Evaluates and applies what comes out.
    pub(crate) fn settle(&mut self, job: &Job) -> Outcome {
        let outcome = self.evaluate(job);
        self.change(Change::Plan(Box::new(outcome.plan.clone())));
        outcome
    }

    pub(crate) fn live(&self, job: &Job) -> Vec<Arc<Allocation>> {
        let mut live: Vec<_> =
            self.state.allocations_of_job(&job.key).filter(|alloc| !alloc.is_terminal()).cloned().collect();
        live.sort_by_key(|alloc| alloc.name.clone());
        live
    }

    pub(crate) fn report(&mut self, alloc: &Allocation, status: ClientStatus, healthy: Option<bool>) {
        let reports = vec![self.told(alloc, status, healthy)];
        self.change(Change::Allocation(AllocationChange::Report { reports, evaluations: Vec::new() }));
    }

    /// What a node tells of an allocation.
    pub(crate) fn told(&self, alloc: &Allocation, status: ClientStatus, healthy: Option<bool>) -> AllocationReport {
        let failed = status == ClientStatus::Failed;
        let phase = if status.is_terminal() { TaskPhase::Dead } else { TaskPhase::Running };
        let finished_at = if status.is_terminal() { self.now } else { Timestamp::NEVER };
        let task = TaskState { phase, failed, finished_at, ..TaskState::default() };
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

    /// All live allocations run and are healthy.
    pub(crate) fn all_healthy(&mut self, job: &Job) {
        for alloc in self.live(job) {
            self.report(&alloc, ClientStatus::Running, Some(true));
        }
    }
}

/// Every other one in the same rack, with few ports.
pub(crate) fn node(number: u32) -> Node {
    Node {
        meta: BTreeMap::from([("rack".to_owned(), format!("r{}", number % 2))]),
        max_dynamic_port: 20_003,
        ..samples::node(number)
    }
}

/// `job` with another text of environment, so that its tasks must be replaced.
pub(crate) fn changed(job: &Job, value: &str) -> Job {
    let mut job = job.clone();
    job.groups[0].tasks[0].env.insert("V".to_owned(), value.to_owned());
    job.document_digest.push_str(value);
    job
}

pub(crate) fn failed_allocation(number: u128, failed_at: Timestamp) -> Allocation {
    let job = job("web", JobType::Service, 1);
    let mut world = World::with_nodes(1);
    world.register(&job);
    let mut alloc = world.settle(&job).plan.places.remove(0);
    alloc.id = AllocId::from_u128(number);
    alloc.client_status = ClientStatus::Failed;
    let dead = TaskState { phase: TaskPhase::Dead, failed: true, finished_at: failed_at, ..TaskState::default() };
    alloc.task_states.insert("main".to_owned(), dead);
    alloc
}
