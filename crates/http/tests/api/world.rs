//! A server without a disk, a node with a driver that runs nothing, and requests to the router.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Request};
use http_body_util::BodyExt;
use longshore_client::{Client, ClientConfig, PreparedClient};
use longshore_http::{AgentInfo, Http, HttpOptions};
use longshore_journal::MemoryJournal;
use longshore_model::NodeId;
use longshore_samples::Folder;
use longshore_server::{Server, ServerConfig};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use crate::driver::Stage;

pub(crate) struct World {
    pub(crate) server: Server,
    pub(crate) http: Http,
    pub(crate) end: CancellationToken,
    pub(crate) node: NodeId,
    pub(crate) client: Client,
    pub(crate) driver: Arc<Stage>,
    /// Holds the node's record, and below `alloc` the folders of its allocations.
    pub(crate) folder: Folder,
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
        Self::with(Stage::new(true, true), &HttpOptions::default()).await
    }

    pub(crate) async fn with(driver: Stage, options: &HttpOptions) -> Self {
        let config = ServerConfig { workers: 1, ..ServerConfig::default() };
        let server = Server::start(config, MemoryJournal::default().open()).await.unwrap();
        let folder = Folder::new();
        let mut config = ClientConfig::new(folder.path().join("client"), folder.path().join("alloc"), "host-a");
        config.http_address = "127.0.0.1:4646".to_owned();
        let driver = Arc::new(driver);
        let client = Client::run(PreparedClient::read(config).unwrap(), Arc::new(server.clone()), vec![driver.clone()]);
        let end = CancellationToken::new();
        let http = Http::new(server.clone(), Some(client.clone()), agent(), options, end.clone()).unwrap();
        let world = Self { server, node: client.node_id(), client, http, end, driver, folder };
        world.node_is_ready().await;
        world
    }

    async fn node_is_ready(&self) {
        let mut index = 0;
        loop {
            let answer = self.get(&format!("/v1/nodes?index={index}&wait=30s")).await;
            let nodes = answer.json();
            if nodes[0]["Status"] == "ready" && nodes[0]["Drivers"]["docker"]["Healthy"] == true {
                return;
            }
            index = answer.index();
        }
    }

    /// Ends everything in order.
    pub(crate) async fn close(self) {
        self.end.cancel();
        self.client.shutdown(true).await;
        self.server.shutdown().await;
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

    /// Waits until a job has `count` allocations.
    pub(crate) async fn allocated(&self, job: &str, count: usize) {
        let mut index = 0;
        loop {
            let answer = self.get(&format!("/v1/job/{job}/allocations?index={index}&wait=30s")).await;
            if answer.json().as_array().unwrap().len() == count {
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

    /// Waits until all allocations run and are healthy.
    pub(crate) async fn all_run(&self) {
        let well = |alloc: &Value| alloc["ClientStatus"] == "running" && alloc["DeploymentStatus"]["Healthy"] == true;
        let mut index = 0;
        loop {
            let answer = self.get(&format!("/v1/allocations?index={index}&wait=30s")).await;
            if answer.json().as_array().unwrap().iter().all(well) {
                return;
            }
            index = answer.index();
        }
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
        "Update": {"MaxParallel": 1, "HealthCheck": "task_states", "MinHealthyTime": 10_000_000_i64,
                   "HealthyDeadline": 20_000_000_000_i64, "ProgressDeadline": 40_000_000_000_i64, "AutoRevert": true}
    })
}
