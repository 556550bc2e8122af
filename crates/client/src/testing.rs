//! Jobs, allocations and nodes for tests.

use std::collections::BTreeMap;
use std::sync::Arc;

use longshore_driver::NodeIdentity;
use longshore_model::{
    AllocId, AllocMetric, AllocatedGroup, AllocatedTask, Allocation, ClientStatus, DesiredStatus, DesiredTransition,
    EphemeralDisk, EvalId, Job, JobKey, JobType, LogConfig, LogIndex, NodeId, RescheduleTracker, Resources,
    RestartMode, RestartPolicy, Task, TaskGroup, Timestamp,
};
use longshore_values::GoDuration;

use crate::rules::environment::NodeFacts;

pub(crate) const RESTART: RestartPolicy = RestartPolicy {
    attempts: 2,
    interval: GoDuration::minutes(30),
    delay: GoDuration::seconds(15),
    mode: RestartMode::Fail,
};

pub(crate) fn task(name: &str) -> Task {
    Task {
        name: name.to_owned(),
        driver: "scripted".to_owned(),
        user: String::new(),
        config: serde_json::json!({}),
        env: BTreeMap::new(),
        meta: BTreeMap::new(),
        constraints: Vec::new(),
        affinities: Vec::new(),
        resources: Resources { cpu_mhz: 100, memory_mb: 300, ..Resources::default() },
        restart: RESTART,
        kill_timeout: GoDuration::seconds(5),
        kill_signal: String::new(),
        shutdown_delay: GoDuration::ZERO,
        leader: false,
        lifecycle: None,
        logs: LogConfig { max_files: 10, max_file_size_mb: 10, disabled: false },
    }
}

pub(crate) fn job(tasks: Vec<Task>) -> Job {
    Job {
        key: JobKey::new("default", "shop"),
        name: "shop".to_owned(),
        kind: JobType::Service,
        region: "global".to_owned(),
        stop: false,
        groups: vec![TaskGroup {
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
        }],
        ..Job::clone(&Job::absent())
    }
}

pub(crate) fn allocation(id: u128, tasks: Vec<Task>) -> Allocation {
    let given = |task: &Task| AllocatedTask {
        cpu_mhz: task.resources.cpu_mhz,
        memory_mb: task.resources.memory_mb,
        memory_max_mb: 0,
    };
    let resources = AllocatedGroup {
        tasks: tasks.iter().map(|task| (task.name.clone(), given(task))).collect(),
        disk_mb: 300,
        ..AllocatedGroup::default()
    };
    Allocation {
        id: AllocId::from_u128(id),
        eval: EvalId::from_u128(1),
        node: NodeId::from_u128(7),
        node_name: "host-a".to_owned(),
        job: JobKey::new("default", "shop"),
        job_version: 0,
        job_spec: Arc::new(job(tasks)),
        group: "web".to_owned(),
        name: "shop.web[0]".to_owned(),
        resources,
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
        create_index: LogIndex(5),
        modify_index: LogIndex(5),
        alloc_modify_index: LogIndex(5),
        create_time: Timestamp::from_seconds(1),
        modify_time: Timestamp::from_seconds(1),
    }
}

pub(crate) fn node_facts() -> NodeFacts {
    NodeFacts {
        identity: NodeIdentity {
            id: NodeId::from_u128(7),
            name: "host-a".to_owned(),
            datacenter: "dc1".to_owned(),
            region: "global".to_owned(),
        },
        class: "small".to_owned(),
        pool: "default".to_owned(),
        attributes: BTreeMap::from([("kernel.name".to_owned(), "linux".to_owned())]),
        meta: BTreeMap::from([("rack".to_owned(), "r1".to_owned())]),
        cgroup_parent: String::new(),
    }
}
