//! A small cluster for tests: real state, plans applied as they come.

use std::collections::BTreeMap;
use std::sync::Arc;

use longshore_model::*;
use longshore_state::{AllocationChange, Change, JobChange, NodeChange, State};
use longshore_values::GoDuration;

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
        let failed = status == ClientStatus::Failed;
        let phase = if status.is_terminal() { TaskPhase::Dead } else { TaskPhase::Running };
        let finished_at = if status.is_terminal() { self.now } else { Timestamp::NEVER };
        let task = TaskState { phase, failed, finished_at, ..TaskState::default() };
        let report = AllocationReport {
            alloc: alloc.id,
            client_status: status,
            client_description: String::new(),
            task_states: BTreeMap::from([("main".to_owned(), task)]),
            healthy: healthy.map(|healthy| (healthy, self.now)),
            network_status: None,
        };
        self.change(Change::Allocation(AllocationChange::Report { reports: vec![report], evaluations: Vec::new() }));
    }

    /// All live allocations run and are healthy.
    pub(crate) fn all_healthy(&mut self, job: &Job) {
        for alloc in self.live(job) {
            self.report(&alloc, ClientStatus::Running, Some(true));
        }
    }
}

pub(crate) fn node(number: u32) -> Node {
    let healthy = NodeDriver {
        detected: true,
        healthy: true,
        health_description: "Healthy".to_owned(),
        update_time: Timestamp::NEVER,
        attributes: BTreeMap::new(),
    };
    Node {
        id: NodeId::from_u128(u128::from(number) << 96),
        name: format!("n{number}"),
        datacenter: "dc1".to_owned(),
        node_pool: "default".to_owned(),
        class: String::new(),
        computed_class: "v1:1".to_owned(),
        http_address: "127.0.0.1:4646".to_owned(),
        attributes: BTreeMap::from([("kernel.name".to_owned(), "linux".to_owned())]),
        meta: BTreeMap::from([("rack".to_owned(), format!("r{}", number % 2))]),
        links: BTreeMap::new(),
        resources: Resources { cpu_mhz: 4_000, memory_mb: 8_192, memory_max_mb: 0, disk_mb: 100_000 },
        reserved: Resources::default(),
        reserved_ports: vec![22],
        min_dynamic_port: 20_000,
        max_dynamic_port: 20_003,
        networks: vec![NodeNetwork {
            mode: "host".to_owned(),
            device: "lo".to_owned(),
            ip: "127.0.0.1".to_owned(),
            cidr: "127.0.0.1/32".to_owned(),
            speed_mbits: 1_000,
        }],
        drivers: BTreeMap::from([("docker".to_owned(), healthy)]),
        status: NodeStatus::Ready,
        status_description: String::new(),
        status_updated_at: Timestamp::NEVER,
        eligibility: Eligibility::Eligible,
        events: Vec::new(),
        create_index: LogIndex::default(),
        modify_index: LogIndex::default(),
    }
}

/// One group `web` with one task `main`: 500 MHz, 256 MB.
pub(crate) fn job(id: &str, kind: JobType, count: u32) -> Job {
    let restart = RestartPolicy {
        attempts: 2,
        interval: GoDuration::minutes(30),
        delay: GoDuration::seconds(15),
        mode: RestartMode::Fail,
    };
    let task = Task {
        name: "main".to_owned(),
        driver: "docker".to_owned(),
        user: String::new(),
        config: serde_json::json!({"image": "web:1"}),
        env: BTreeMap::new(),
        meta: BTreeMap::new(),
        constraints: Vec::new(),
        affinities: Vec::new(),
        resources: Resources { cpu_mhz: 500, memory_mb: 256, memory_max_mb: 0, disk_mb: 0 },
        restart,
        kill_timeout: GoDuration::seconds(5),
        kill_signal: String::new(),
        shutdown_delay: GoDuration::ZERO,
        leader: false,
        lifecycle: None,
        logs: LogConfig { max_files: 10, max_file_size_mb: 10, disabled: false },
    };
    let service = kind == JobType::Service;
    let group = TaskGroup {
        name: "web".to_owned(),
        count,
        constraints: Vec::new(),
        affinities: Vec::new(),
        spreads: Vec::new(),
        tasks: vec![task],
        restart,
        reschedule: Some(ReschedulePolicy {
            attempts: if service { 0 } else { 1 },
            interval: if service { GoDuration::ZERO } else { GoDuration::hours(24) },
            delay: if service { GoDuration::seconds(30) } else { GoDuration::seconds(5) },
            delay_function: DelayFunction::Exponential,
            max_delay: GoDuration::hours(1),
            unlimited: service,
        }),
        update: service.then_some(UpdatePolicy {
            stagger: GoDuration::seconds(30),
            max_parallel: 1,
            health_check: HealthCheck::Checks,
            min_healthy_time: GoDuration::seconds(10),
            healthy_deadline: GoDuration::minutes(5),
            progress_deadline: GoDuration::minutes(10),
            auto_revert: false,
            auto_promote: false,
            canary: 0,
        }),
        ephemeral_disk: EphemeralDisk { size_mb: 300, sticky: false, migrate: false },
        networks: Vec::new(),
        meta: BTreeMap::new(),
        shutdown_delay: None,
    };
    Job {
        key: JobKey::new("default", id),
        name: id.to_owned(),
        kind,
        region: "global".to_owned(),
        priority: 50,
        all_at_once: false,
        datacenters: vec!["*".to_owned()],
        node_pool: "default".to_owned(),
        constraints: Vec::new(),
        affinities: Vec::new(),
        spreads: Vec::new(),
        groups: vec![group],
        meta: BTreeMap::new(),
        document: Arc::from("{}"),
        document_digest: format!("{id}-{count}"),
        stop: false,
        version: 0,
        stable: false,
        status: JobStatus::Pending,
        submit_time: Timestamp::NEVER,
        create_index: LogIndex::default(),
        modify_index: LogIndex::default(),
        job_modify_index: LogIndex::default(),
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
