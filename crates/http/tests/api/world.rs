//! A server without a disk, a node that only says what it is told to say, and requests to the router.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Request};
use http_body_util::BodyExt;
use longshore_driver::Driver;
use longshore_http::{AgentInfo, Http, HttpOptions, NodeSide};
use longshore_journal::MemoryJournal;
use longshore_link::ServerLink;
use longshore_model::{
    AllocNetworkStatus, AllocationReport, ClientStatus, Eligibility, LogIndex, Node, NodeDriver, NodeId, NodeNetwork,
    NodeStatus, Resources, TaskEvent, TaskPhase, TaskState, Timestamp,
};
use longshore_server::{Server, ServerConfig};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

pub(crate) struct World {
    pub(crate) server: Server,
    pub(crate) http: Http,
    pub(crate) end: CancellationToken,
    pub(crate) node: NodeId,
    /// Where the node's allocations would have their folders.
    pub(crate) alloc_dir: tempfile::TempDir,
}

/// A whole answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.status, 200, "{}", self.text());
        assert_eq!(self.header("content-type"), "application/json");
        serde_json::from_slice(&self.body).unwrap()
    }
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
    pub(crate) fn index(&self) -> u64 {
        self.header("x-nomad-index").parse().unwrap()
    }
}

pub(crate) const MINUTE: Duration = Duration::from_secs(60);

impl World {
    pub(crate) async fn new() -> Self {
        Self::with(Vec::new(), &HttpOptions::default()).await
    }

    pub(crate) async fn with(drivers: Vec<Arc<dyn Driver>>, options: &HttpOptions) -> Self {
        let config = ServerConfig { workers: 1, ..ServerConfig::default() };
        let server = Server::start(config, MemoryJournal::default().open()).await.unwrap();
        let end = CancellationToken::new();
        let id = NodeId::from_u128(0x7053_6901_7b6d_26e9_2488_3dcc_6ae4_b468);
        let alloc_dir = tempfile::tempdir().unwrap();
        let side = NodeSide { id, alloc_dir: alloc_dir.path().to_owned(), drivers };
        let http = Http::new(server.clone(), Some(side), agent(), options, end.clone()).unwrap();
        server.register(node(id)).await.unwrap();
        Self { server, http, end, node: id, alloc_dir }
    }

    pub(crate) fn router(&self) -> Router {
        self.http.router()
    }

    pub(crate) async fn send(&self, request: Request<Body>) -> Answer {
        let answer = tokio::time::timeout(MINUTE, self.router().oneshot(request)).await.expect("an answer in time");
        let (parts, body) = answer.unwrap().into_parts();
        let body = body.collect().await.unwrap().to_bytes().to_vec();
        Answer { status: parts.status.as_u16(), headers: parts.headers, body }
    }

    pub(crate) async fn ask(&self, method: &str, path: &str, body: Body) -> Answer {
        self.send(Request::builder().method(method).uri(path).body(body).unwrap()).await
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, Body::empty()).await
    }

    pub(crate) async fn put(&self, path: &str, body: &Value) -> Answer {
        self.ask("PUT", path, Body::from(body.to_string())).await
    }

    /// Registers a job and waits until it is placed.
    pub(crate) async fn run(&self, job: &Value) -> Value {
        let registered = self.put("/v1/jobs", &json!({ "Job": job })).await.json();
        self.evaluated(registered["EvalID"].as_str().unwrap()).await;
        registered
    }

    pub(crate) async fn evaluated(&self, eval: &str) -> Value {
        let mut index = 0;
        loop {
            let answer = self.get(&format!("/v1/evaluation/{eval}?index={index}&wait=30s")).await;
            let eval = answer.json();
            if eval["Status"] != "pending" {
                return eval;
            }
            index = answer.index();
        }
    }

    /// Waits until no evaluation is pending, and at least `count` are there.
    pub(crate) async fn settled(&self, count: usize) {
        let mut index = 0;
        loop {
            let answer = self.get(&format!("/v1/evaluations?index={index}&wait=30s")).await;
            let evals = answer.json();
            let evals = evals.as_array().unwrap();
            if evals.len() >= count && evals.iter().all(|eval| eval["Status"] != "pending") {
                return;
            }
            index = answer.index();
        }
    }

    /// Allocations of a job, as its list shows them.
    pub(crate) async fn allocations(&self, job: &str) -> Vec<Value> {
        let list = self.get(&format!("/v1/job/{job}/allocations")).await.json();
        list.as_array().unwrap().clone()
    }

    /// The node says that all its pending allocations run, and are healthy.
    pub(crate) async fn all_run(&self) {
        let state = self.server.snapshot();
        let reports = state
            .allocations_of_node(self.node)
            .filter(|alloc| alloc.client_status == ClientStatus::Pending)
            .map(|alloc| AllocationReport {
                alloc: alloc.id,
                client_status: ClientStatus::Running,
                client_description: "Tasks are running".to_owned(),
                task_states: alloc.resources.tasks.keys().map(|task| (task.clone(), running())).collect(),
                healthy: Some((true, Timestamp::from_seconds(1_796_060_316))),
                network_status: Some(AllocNetworkStatus::default()),
            })
            .collect();
        self.server.report(self.node, reports).await.unwrap();
    }
}

fn running() -> TaskState {
    let at = Timestamp::from_seconds(1_796_060_313);
    TaskState {
        phase: TaskPhase::Running,
        started_at: at,
        events: vec![
            TaskEvent::new("Received", at, "Task received by client"),
            TaskEvent::new("Task Setup", at, "Building Task Directory").detail("message", "Building Task Directory"),
            TaskEvent::new("Started", at, "Task started by client"),
        ],
        ..TaskState::default()
    }
}

fn agent() -> AgentInfo {
    AgentInfo {
        name: "host-a".to_owned(),
        region: "global".to_owned(),
        datacenter: "dc1".to_owned(),
        server_id: "0d05b841-b6d6-a1ed-1f5d-aff57d6e0b89".to_owned(),
        api_version: "1.6.3".to_owned(),
        version: "0.1.0".to_owned(),
        rpc_address: "127.0.0.1:4647".to_owned(),
        serf_port: 4648,
        config: BTreeMap::from([("Region".to_owned(), json!("global"))]),
        prometheus_metrics: true,
    }
}

fn node(id: NodeId) -> Node {
    let driver = || NodeDriver {
        detected: true,
        healthy: true,
        health_description: "Healthy".to_owned(),
        update_time: Timestamp::from_seconds(1_796_060_255),
        attributes: BTreeMap::from([("driver.docker".to_owned(), "true".to_owned())]),
    };
    let attributes = [
        ("cpu.arch", "amd64"),
        ("cpu.numcores", "2"),
        ("driver.docker", "1"),
        ("driver.mock_driver", "1"),
        ("kernel.name", "linux"),
        ("nomad.version", "1.6.3"),
        ("os.name", "debian"),
    ];
    Node {
        id,
        name: "host-a".to_owned(),
        datacenter: "dc1".to_owned(),
        node_pool: "default".to_owned(),
        class: "small".to_owned(),
        computed_class: "v1:1".to_owned(),
        http_address: "127.0.0.1:4646".to_owned(),
        attributes: attributes.map(|(key, value)| (key.to_owned(), value.to_owned())).into(),
        meta: BTreeMap::from([("rack".to_owned(), "r1".to_owned())]),
        links: BTreeMap::new(),
        resources: Resources { cpu_mhz: 4_200, memory_mb: 24_105, memory_max_mb: 0, disk_mb: 74_589 },
        reserved: Resources { cpu_mhz: 100, memory_mb: 256, memory_max_mb: 0, disk_mb: 512 },
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
        drivers: BTreeMap::from([("docker".to_owned(), driver()), ("mock_driver".to_owned(), driver())]),
        status: NodeStatus::Initializing,
        status_description: String::new(),
        status_updated_at: Timestamp::NEVER,
        eligibility: Eligibility::Eligible,
        events: Vec::new(),
        create_index: LogIndex::default(),
        modify_index: LogIndex::default(),
    }
}

/// The job of the recordings, as `job run` sends it.
pub(crate) fn shop(id: &str) -> Value {
    json!({
        "ID": id, "Name": id, "Type": "service", "Datacenters": ["dc1"], "Meta": {"team": "storefront"},
        "TaskGroups": [{
            "Name": "web", "Count": 2,
            "EphemeralDisk": {"SizeMB": 50},
            "Networks": [{"Mode": "host", "DynamicPorts": [{"Label": "http", "To": 8080}]}],
            "RestartPolicy": {"Attempts": 0, "Mode": "fail"},
            "ReschedulePolicy": {"Attempts": 0, "Unlimited": false},
            "Tasks": [{
                "Name": "httpd", "Driver": "docker", "Env": {"GREETING": "hello"},
                "Config": {"image": "127.0.0.1:5056/shop/web:1", "command": "/bin/busybox", "args": ["httpd"], "ports": ["http"]},
                "Resources": {"CPU": 50, "MemoryMB": 32}, "LogConfig": {"MaxFiles": 2, "MaxFileSizeMB": 5}
            }]
        }],
        "Update": {"MaxParallel": 1, "HealthCheck": "task_states", "MinHealthyTime": 2_000_000_000_i64,
                   "HealthyDeadline": 20_000_000_000_i64, "ProgressDeadline": 40_000_000_000_i64, "AutoRevert": true}
    })
}
