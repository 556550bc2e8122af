//! A node and a job as tests begin with them.

use std::collections::BTreeMap;
use std::sync::Arc;

use longshore_model::*;
use longshore_values::GoDuration;

/// 4,000 MHz and 8,192 MB: eight allocations of `job`.
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

/// A service with one group `web` of `count`, one task `main` of 500 MHz and 256 MB, `max_parallel` 1.
pub(crate) fn job(id: &str, count: u32) -> Job {
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
    let group = TaskGroup {
        name: "web".to_owned(),
        count,
        constraints: Vec::new(),
        affinities: Vec::new(),
        spreads: Vec::new(),
        tasks: vec![task],
        restart,
        reschedule: Some(ReschedulePolicy {
            attempts: 0,
            interval: GoDuration::ZERO,
            delay: GoDuration::seconds(30),
            delay_function: DelayFunction::Exponential,
            max_delay: GoDuration::hours(1),
            unlimited: true,
        }),
        update: Some(UpdatePolicy {
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
    let job = Job {
        key: JobKey::new("default", id),
        name: id.to_owned(),
        kind: JobType::Service,
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
        document_digest: String::new(),
        stop: false,
        version: 0,
        stable: false,
        status: JobStatus::Pending,
        submit_time: Timestamp::NEVER,
        create_index: LogIndex::default(),
        modify_index: LogIndex::default(),
        job_modify_index: LogIndex::default(),
    };
    written(job)
}

/// The job after a change of its group or its task, as a client would send it.
pub(crate) fn changed(job: &Job, change: impl FnOnce(&mut TaskGroup)) -> Job {
    let mut job = job.clone();
    change(&mut job.groups[0]);
    written(job)
}

pub(crate) fn image(group: &mut TaskGroup, image: &str) {
    group.tasks[0].config = serde_json::json!({"image": image});
}

fn written(mut job: Job) -> Job {
    job.document_digest = serde_json::to_string(&job.groups).unwrap();
    job.document = Arc::from(job.document_digest.as_str());
    job
}
