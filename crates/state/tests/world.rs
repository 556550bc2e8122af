//! A seeded world of changes in any order, sensible or not: `apply` takes them all (S1), what is derived agrees with the
//! facts after each (S3), and a second state that only reads the encoded entries comes out the same (replay).

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeMap;
use std::sync::Arc;

use longshore_model::*;
use longshore_samples as samples;
use longshore_state::*;
use longshore_values::GoDuration;

/// Few ids, so that changes meet each other.
struct World {
    seed: u64,
    random: u64,
    state: State,
    replica: State,
    ids: SequentialIds,
    now: Timestamp,
}

impl World {
    fn new(seed: u64) -> Self {
        Self {
            seed,
            random: seed.wrapping_mul(2) | 1,
            state: State::default(),
            replica: State::default(),
            ids: SequentialIds::default(),
            now: Timestamp::from_seconds(1_000),
        }
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.random >> 33) % bound
    }

    fn key(&mut self) -> JobKey {
        JobKey::new("default", format!("job-{}", self.below(3)))
    }

    fn node(&mut self) -> NodeId {
        NodeId::from_u128(u128::from(self.below(3)) + 1)
    }

    fn alloc(&mut self) -> AllocId {
        let known: Vec<AllocId> = self.state.allocations().map(|alloc| alloc.id).collect();
        let at = self.below(known.len() as u64 + 1) as usize;
        known.get(at).copied().unwrap_or(AllocId::from_u128(0xdead))
    }

    fn evaluation(&mut self, key: &JobKey) -> Evaluation {
        let id = EvalId::fresh(&mut self.ids);
        let mut evaluation = Evaluation::pending(id, key.clone(), JobType::Service, 50, Trigger::JobRegister, self.now);
        evaluation.status = match self.below(4) {
            0 => EvalStatus::Pending,
            1 => EvalStatus::Blocked,
            _ => EvalStatus::Complete,
        };
        evaluation.queued_allocations.insert("web".to_owned(), self.below(3) as u32);
        evaluation
    }

    fn maybe_evaluation(&mut self, key: &JobKey) -> Option<Evaluation> {
        (self.below(2) == 0).then(|| self.evaluation(key))
    }

    fn change(&mut self) -> Change {
        match self.below(13) {
            0 | 1 => {
                let key = self.key();
                let job = Arc::new(job(&key, self.below(4)));
                let evaluation = self.maybe_evaluation(&key);
                Change::Job(Box::new(JobChange::Register { job, evaluation }))
            }
            2 => {
                let key = self.key();
                let (purge, no_shutdown_delay) = (self.below(3) == 0, self.below(3) == 0);
                let evaluation = self.maybe_evaluation(&key);
                Change::Job(Box::new(JobChange::Deregister { key, purge, no_shutdown_delay, evaluation }))
            }
            3 => {
                let (key, version) = (self.key(), self.below(3));
                Change::Job(Box::new(JobChange::Stability { key, version, stable: self.below(2) == 0 }))
            }
            4 => {
                let node = Box::new(node(self.node()));
                Change::Node(NodeChange::Register { node, evaluations: Vec::new() })
            }
            5 => {
                let status = if self.below(2) == 0 { NodeStatus::Down } else { NodeStatus::Ready };
                Change::Node(NodeChange::Status { node: self.node(), status, event: None, evaluations: Vec::new() })
            }
            6 | 7 => self.report(),
            8 => {
                let allocations = vec![self.alloc()];
                let evaluations = self.state.evaluations().map(|evaluation| evaluation.id).take(1).collect();
                Change::Evaluation(EvaluationChange::Collect { evaluations, allocations })
            }
            9 => self.answer(),
            _ => self.plan(),
        }
    }

    fn some_deployment(&mut self) -> DeploymentId {
        let known: Vec<_> = self.state.deployments().map(|deployment| deployment.id).collect();
        let at = self.below(known.len() as u64 + 1) as usize;
        known.get(at).copied().unwrap_or(DeploymentId::from_u128(0xdead))
    }

    fn wish(&mut self) -> (DeploymentId, ImageWish) {
        let wish = ImageWish {
            alloc: self.alloc(),
            group: "web".to_owned(),
            node: self.node(),
            node_name: "n".to_owned(),
            images: vec!["web:2".to_owned()],
            since: self.now,
            expires_at: self.now.plus(GoDuration::hours(1)),
            answer: None,
        };
        (self.some_deployment(), wish)
    }

    fn answer(&mut self) -> Change {
        let answer = if self.below(2) == 0 { WishAnswer::Ready } else { WishAnswer::Failed { why: "no".to_owned() } };
        let report =
            WishReport { deployment: self.some_deployment(), group: "web".to_owned(), since: self.now, answer };
        let (node, evaluations) = (self.node(), Vec::new());
        Change::Deployment(Box::new(DeploymentChange::WishesAnswered { node, reports: vec![report], evaluations }))
    }

    fn report(&mut self) -> Change {
        let client_status = match self.below(5) {
            0 => ClientStatus::Pending,
            1 => ClientStatus::Complete,
            2 => ClientStatus::Failed,
            _ => ClientStatus::Running,
        };
        let alloc = self.alloc();
        let deployment = match self.below(4) {
            0 => self.state.deployments().next().map(|deployment| deployment.id),
            _ => self.state.allocation(alloc).and_then(|alloc| alloc.deployment),
        };
        let report = AllocationReport {
            alloc,
            client_status,
            client_description: String::new(),
            task_states: BTreeMap::from([("main".to_owned(), TaskState::default())]),
            healthy: (self.below(2) == 0).then_some((self.random.is_multiple_of(3), self.now)),
            deployment,
            network_status: None,
        };
        Change::Allocation(AllocationChange::Report { reports: vec![report], evaluations: Vec::new() })
    }

    fn plan(&mut self) -> Change {
        let key = self.key();
        let mut plan = PlanChange::default();
        if let Some(job) = self.state.job(&key).cloned() {
            plan.job_create_index = job.create_index;
            if self.below(2) == 0 {
                let id = DeploymentId::fresh(&mut self.ids);
                plan.deployment = Some(deployment(id, &job));
            }
            let eval = self.evaluation(&key);
            for _ in 0..self.below(3) {
                let mut alloc = allocation(AllocId::fresh(&mut self.ids), self.node(), &job, eval.id);
                alloc.deployment = plan.deployment.as_ref().map(|deployment| deployment.id);
                alloc.previous_alloc = (self.below(2) == 0).then(|| self.alloc());
                plan.places.push(alloc);
            }
            plan.evaluations.push(eval);
        }
        if self.below(2) == 0 {
            let client_status = (self.below(3) == 0).then_some(ClientStatus::Lost);
            let stop = AllocStop { alloc: self.alloc(), description: "x".to_owned(), client_status, follow_up: None };
            plan.stops.push(stop);
        }
        if self.below(2) == 0 {
            plan.wishes.push(self.wish());
        }
        Change::Plan(Box::new(plan))
    }

    fn step(&mut self) {
        self.now = self.now.plus(GoDuration::milliseconds(7));
        let entry = Entry { at: self.now, change: self.change() };
        let read = Entry::decode(&entry.encode().unwrap()).unwrap();
        let index = self.state.index().next();
        let effects = self.state.apply(index, entry.at, entry.change.clone());
        assert_eq!(self.replica.apply(index, read.at, read.change), effects, "seed {}", self.seed);
        let breaches = self.state.breaches();
        assert!(breaches.is_empty(), "seed {} after {:?}: {breaches:?}", self.seed, entry.change);
    }
}

fn job(key: &JobKey, variant: u64) -> Job {
    Job { key: key.clone(), document_digest: variant.to_string(), ..samples::job(&key.id, JobType::Service, 2) }
}

fn node(id: NodeId) -> Node {
    Node { id, name: id.short(), ..samples::node(1) }
}

fn deployment(id: DeploymentId, job: &Job) -> Deployment {
    Deployment {
        id,
        job: job.key.clone(),
        job_version: job.version,
        job_modify_index: job.modify_index,
        job_spec_modify_index: job.job_modify_index,
        job_create_index: job.create_index,
        groups: BTreeMap::from([("web".to_owned(), DeploymentGroup { desired_total: 2, ..Default::default() })]),
        wishes: Vec::new(),
        status: DeploymentStatus::Running,
        status_description: String::new(),
        create_index: LogIndex::default(),
        modify_index: LogIndex::default(),
    }
}

/// With a static port, which no other on its node can have.
fn allocation(id: AllocId, node: NodeId, job: &Arc<Job>, eval: EvalId) -> Allocation {
    let port = AllocatedPort { label: "http".to_owned(), value: 80, to: 0, host_ip: String::new(), is_static: true };
    let mut alloc = Allocation { eval, ..samples::allocation(id, node, job) };
    alloc.resources.ports.push(port);
    alloc
}

#[test]
fn any_order_of_changes_keeps_the_books_right() {
    let (mut placed, mut jobs) = (0, 0);
    for seed in 0..60 {
        let mut world = World::new(seed);
        for _ in 0..200 {
            world.step();
        }
        let image = world.state.to_image().unwrap();
        assert_eq!(image, world.replica.to_image().unwrap(), "seed {seed}: the replica differs");
        let restored = State::from_image(&image).unwrap();
        assert_eq!(restored.breaches(), Vec::<String>::new(), "seed {seed}");
        assert_eq!(restored.to_image().unwrap(), image, "seed {seed}: an image reads back as itself");
        placed += world.state.allocations().count();
        jobs += world.state.jobs().count() as i64;
    }
    assert!(placed > 100 && jobs > 60, "the world is too quiet: {placed} allocations, {jobs} jobs");
}

#[test]
fn entries_of_a_newer_form_are_refused() {
    assert_eq!(
        Entry::decode(&[9, 1]).unwrap_err().to_string(),
        "the entry has form 9, this build reads form 1: a newer Longshore wrote it"
    );
    assert!(matches!(Entry::decode(&[]), Err(BadEntry::Empty)));
}
