//! A node, a job and an allocation as tests begin with them. Only for tests: each changes in its own words what it is about.

mod folder;

use std::collections::BTreeMap;
use std::sync::Arc;

use longshore_model::{
    AllocId, AllocMetric, AllocatedGroup, AllocatedTask, Allocation, ClientStatus, DelayFunction, DesiredStatus,
    DesiredTransition, Eligibility, EphemeralDisk, EvalId, HealthCheck, Job, JobKey, JobStatus, JobType, LogConfig,
    LogIndex, Node, NodeDriver, NodeId, NodeNetwork, NodeStatus, ReschedulePolicy, RescheduleTracker, Resources,
    RestartMode, RestartPolicy, Task, TaskGroup, Timestamp, UpdatePolicy,
};
use longshore_values::GoDuration;

pub use folder::Folder;

/// Two attempts in half an hour, as a service has them by default.
pub const RESTART: RestartPolicy = RestartPolicy {
    attempts: 2,
    interval: GoDuration::minutes(30),
    delay: GoDuration::seconds(15),
    mode: RestartMode::Fail,
};

/// A ready node of 4,000 MHz and 8,192 MB with a healthy docker driver; no two of different numbers share an id.
pub fn node(number: u32) -> Node {
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
        meta: BTreeMap::new(),
        links: BTreeMap::new(),
        resources: Resources { cpu_mhz: 4_000, memory_mb: 8_192, memory_max_mb: 0, disk_mb: 100_000 },
        reserved: Resources::default(),
        reserved_ports: vec![22],
        min_dynamic_port: 20_000,
        max_dynamic_port: 32_000,
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

/// A docker task of 500 MHz and 256 MB.
pub fn task(name: &str) -> Task {
    Task {
        name: name.to_owned(),
        driver: "docker".to_owned(),
        user: String::new(),
        config: serde_json::json!({"image": "web:1"}),
        env: BTreeMap::new(),
        meta: BTreeMap::new(),
        constraints: Vec::new(),
        affinities: Vec::new(),
        resources: Resources { cpu_mhz: 500, memory_mb: 256, memory_max_mb: 0, disk_mb: 0 },
        restart: RESTART,
        kill_timeout: GoDuration::seconds(5),
        kill_signal: String::new(),
        shutdown_delay: GoDuration::ZERO,
        leader: false,
        lifecycle: None,
        logs: LogConfig { max_files: 10, max_file_size_mb: 10, disabled: false },
    }
}

/// One of `tasks`, called `web`, without policies but that of restarts.
pub fn group(tasks: Vec<Task>) -> TaskGroup {
    TaskGroup {
        name: "web".to_owned(),
        count: 1,
        constraints: Vec::new(),
        affinities: Vec::new(),
        spreads: Vec::new(),
        tasks,
        restart: RESTART,
        reschedule: None,
        update: None,
        ephemeral_disk: EphemeralDisk { size_mb: 300, sticky: false, migrate: false },
        networks: Vec::new(),
        meta: BTreeMap::new(),
        shutdown_delay: None,
    }
}

/// A job of one group `web` with one task `main` and the policies that its type has by default, one at a time in updates.
pub fn job(id: &str, kind: JobType, count: u32) -> Job {
    let service = kind == JobType::Service;
    let group = TaskGroup {
        count,
        reschedule: Some(ReschedulePolicy {
            attempts: if service { 0 } else { 1 },
            interval: if service { GoDuration::ZERO } else { GoDuration::hours(24) },
            delay: if service { GoDuration::seconds(30) } else { GoDuration::seconds(5) },
            delay_function: DelayFunction::Exponential,
            max_delay: GoDuration::hours(1),
            unlimited: service,
        }),
        update: service.then(one_at_a_time),
        ..group(vec![task("main")])
    };
    with_digest(Job {
        key: JobKey::new("default", id),
        name: id.to_owned(),
        kind,
        region: "global".to_owned(),
        priority: 50,
        datacenters: vec!["*".to_owned()],
        node_pool: "default".to_owned(),
        groups: vec![group],
        stop: false,
        status: JobStatus::Pending,
        ..Job::clone(&Job::absent())
    })
}

/// The defaults of updates that are rolled out.
pub fn one_at_a_time() -> UpdatePolicy {
    UpdatePolicy {
        stagger: GoDuration::seconds(30),
        max_parallel: 1,
        health_check: HealthCheck::Checks,
        min_healthy_time: GoDuration::seconds(10),
        healthy_deadline: GoDuration::minutes(5),
        progress_deadline: GoDuration::minutes(10),
        auto_revert: false,
        auto_promote: false,
        canary: 0,
    }
}

/// The job as a client would send it: its document says what its groups say.
pub fn with_digest(mut job: Job) -> Job {
    job.document_digest = serde_json::to_string(&job.groups).unwrap_or_default();
    job.document = Arc::from(job.document_digest.as_str());
    job
}

/// Allocation 0 of the job's first group on the node, just placed by evaluation 1.
pub fn allocation(id: AllocId, node: NodeId, job: &Arc<Job>) -> Allocation {
    let group = job.groups.first();
    let given = |task: &Task| AllocatedTask {
        cpu_mhz: task.resources.cpu_mhz,
        memory_mb: task.resources.memory_mb,
        memory_max_mb: 0,
    };
    let name = group.map_or("web", |group| group.name.as_str());
    Allocation {
        id,
        eval: EvalId::from_u128(1),
        node,
        node_name: node.short(),
        job: job.key.clone(),
        job_version: job.version,
        job_spec: Arc::clone(job),
        group: name.to_owned(),
        name: Allocation::name_of(&job.key.id, name, 0),
        resources: AllocatedGroup {
            tasks: group.into_iter().flat_map(|it| &it.tasks).map(|task| (task.name.clone(), given(task))).collect(),
            disk_mb: group.map_or(0, |group| group.ephemeral_disk.size_mb),
            ..AllocatedGroup::default()
        },
        desired_status: DesiredStatus::Run,
        desired_description: String::new(),
        desired_transition: DesiredTransition::default(),
        client_status: ClientStatus::Pending,
        client_description: String::new(),
        task_states: BTreeMap::new(),
        deployment: None,
        deployment_status: None,
        network_status: None,
        previous_alloc: None,
        next_alloc: None,
        followup_eval: None,
        reschedule_tracker: RescheduleTracker::default(),
        metrics: AllocMetric::default(),
        create_index: LogIndex::default(),
        modify_index: LogIndex::default(),
        alloc_modify_index: LogIndex::default(),
        create_time: Timestamp::NEVER,
        modify_time: Timestamp::NEVER,
    }
}
