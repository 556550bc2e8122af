//! An engine, a registry, and a driver with what a node would tell it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Deref, DerefMut};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use longshore_docker::{DockerDriver, DriverSetup, GcOptions, Options};
use longshore_driver::{
    AcceptRequest, AcceptedTask, Driver, DriverError, EventSink, ImageReport, KnownAllocation, KnownTask, LogFiles,
    NodeIdentity, StartRequest, Started, TaskDirs, TaskHandle, TaskId,
};
use longshore_engine::Engine as Client;
use longshore_harness::{Engine, EngineSetup, Image, Registry, Run, eventually};
use longshore_model::{AllocId, AllocatedPort, AllocatedTask, Dns, JobKey, LogConfig, NodeId, TaskEvent, Timestamp};
use longshore_values::GoDuration;
use serde_json::{Value, json};

pub(crate) const SOON: Duration = Duration::from_secs(30);

pub(crate) struct World {
    pub(crate) registry: Registry,
    pub(crate) engine: Engine,
    pub(crate) run: Run,
    node: Node,
}

impl Deref for World {
    type Target = Node;

    fn deref(&self) -> &Node {
        &self.node
    }
}

impl DerefMut for World {
    fn deref_mut(&mut self) -> &mut Node {
        &mut self.node
    }
}

/// A driver with what a node would tell it.
pub(crate) struct Node {
    id: NodeId,
    run: Run,
    endpoint: String,
    pub(crate) driver: Arc<DockerDriver>,
    pub(crate) options: Options,
    /// Of the group of every task that is started from now on.
    pub(crate) ports: Vec<AllocatedPort>,
    /// Of every task that is started from now on.
    pub(crate) logs: LogConfig,
    events: Arc<Mutex<Vec<String>>>,
    known: BTreeMap<AllocId, Vec<KnownTask>>,
    own_networks: BTreeSet<AllocId>,
    next_alloc: u128,
}

/// Images go this long after their last need.
pub(crate) const DELAY: GoDuration = GoDuration::milliseconds(1_500);

pub(crate) fn options() -> Options {
    Options { gc: GcOptions { image_delay: DELAY, ..GcOptions::default() }, ..Options::default() }
}

impl World {
    pub(crate) async fn new() -> Self {
        Self::with(options()).await
    }

    pub(crate) async fn with(options: Options) -> Self {
        Self::on(EngineSetup::default(), options).await
    }

    pub(crate) async fn on(setup: EngineSetup, options: Options) -> Self {
        let run = Run::start().unwrap();
        let engine = Engine::start_with(&run, setup).unwrap();
        let registry = Registry::start(&engine).unwrap();
        let node = Node::new(&run, &engine, node(), options).await;
        Self { registry, engine, run, node }
    }

    pub(crate) fn push(&self, repository: &str, tag: &str) -> (Image, String) {
        let image = Image::sleeper().unwrap();
        self.registry.push(&image, repository, tag).unwrap();
        (image, format!("{}/{repository}:{tag}", self.registry.host()))
    }

    /// Waits until the engine has these images and no other, by name. (A removal takes the name first.)
    pub(crate) fn wait_images(&self, names: &[&str]) {
        eventually(SOON, format!("the engine's images to be {names:?}"), || {
            let images = self.engine.images().map_err(|error| error.to_string())?;
            let found: Vec<&str> = images.iter().flat_map(|image| &image.tags).map(String::as_str).collect();
            if found == names && images.len() == names.len() { Ok(()) } else { Err(format!("{images:?}")) }
        })
        .unwrap();
    }
}

impl Node {
    /// Another agent on the same machine: same locks, a state folder of its own.
    pub(crate) async fn new(run: &Run, engine: &Engine, id: NodeId, options: Options) -> Self {
        let endpoint = engine.endpoint();
        let driver = driver(run, &endpoint, id, &options);
        driver.restore(Vec::new()).await.unwrap();
        let next_alloc = id.as_u128() << 16;
        Self {
            id,
            run: run.clone(),
            endpoint,
            driver,
            options,
            ports: Vec::new(),
            logs: LogConfig { max_files: 3, max_file_size_mb: 1, disabled: false },
            events: Arc::default(),
            known: BTreeMap::new(),
            own_networks: BTreeSet::new(),
            next_alloc,
        }
    }

    /// As if the agent had been started anew: another driver on the same disk.
    pub(crate) async fn restart_driver(&mut self) {
        self.restart_driver_with_all_ended_at(None).await;
    }

    /// The same, after all allocations had ended and before any was forgotten.
    pub(crate) async fn restart_driver_with_all_ended_at(&mut self, ended_at: Option<Timestamp>) {
        self.driver.shutdown().await;
        self.driver = driver(&self.run, &self.endpoint, self.id, &self.options);
        let known = self.known.iter().map(|(alloc, tasks)| KnownAllocation {
            alloc: *alloc,
            replaces: None,
            tasks: tasks.clone(),
            own_network: self.own_networks.contains(alloc),
            ended_at,
        });
        self.driver.restore(known.collect()).await.unwrap();
    }

    /// Where the driver's ledger lies.
    pub(crate) fn state_folder(&self) -> PathBuf {
        state_folder(&self.run, self.id)
    }

    pub(crate) async fn accept(&mut self, config: Value) -> TaskId {
        self.accept_after(config, None).await
    }

    pub(crate) async fn accept_after(&mut self, config: Value, replaces: Option<AllocId>) -> TaskId {
        self.accept_as(config, replaces, false).await
    }

    /// The group has a network namespace of its own.
    pub(crate) async fn accept_with_network(&mut self, config: Value) -> TaskId {
        let id = self.accept_as(config, None, true).await;
        self.own_networks.insert(id.alloc);
        id
    }

    async fn accept_as(&mut self, config: Value, replaces: Option<AllocId>, own_network: bool) -> TaskId {
        let alloc = AllocId::from_u128(self.next_alloc);
        self.next_alloc += 1;
        let task = AcceptedTask { name: "web".to_owned(), config: config.clone() };
        self.driver.accept(AcceptRequest { alloc, replaces, tasks: vec![task], own_network }).await.unwrap();
        self.known.insert(alloc, vec![KnownTask { name: "web".to_owned(), config, handle: None }]);
        TaskId { alloc, task: "web".to_owned() }
    }

    pub(crate) fn request(&self, id: &TaskId, config: Value) -> StartRequest {
        let root = self.run.dir().join(format!("alloc/{}", id.alloc));
        let task = root.join(&id.task);
        let dirs = TaskDirs {
            shared_alloc: root.join("alloc"),
            local: task.join("local"),
            secrets: task.join("secrets"),
            logs: root.join("alloc/logs"),
            alloc_root: root,
            task,
        };
        for dir in [&dirs.logs, &dirs.local, &dirs.secrets] {
            std::fs::create_dir_all(dir).unwrap();
        }
        let events = self.events.clone();
        StartRequest {
            id: id.clone(),
            attempt: 1,
            node: NodeIdentity { id: self.id, name: "n1".into(), datacenter: "dc1".into(), region: "global".into() },
            job: JobKey::new("default", "job"),
            job_name: "job".to_owned(),
            group: "group".to_owned(),
            user: String::new(),
            config,
            env: BTreeMap::from([("GREETING".to_owned(), "hello".to_owned())]),
            logs: LogFiles { folder: dirs.logs.clone(), task: id.task.clone(), config: self.logs },
            dirs,
            resources: AllocatedTask { cpu_mhz: 100, memory_mb: 32, memory_max_mb: 0 },
            node_cpu_mhz: 4_000,
            ports: self.ports.clone(),
            network_mode: None,
            network: None,
            dns: Dns::default(),
            events: EventSink::new(move |event: TaskEvent| events.lock().unwrap().push(event.message)),
        }
    }

    pub(crate) async fn start(&mut self, id: &TaskId, config: Value) -> Result<Started, DriverError> {
        let started = self.driver.start(self.request(id, config.clone())).await?;
        let task = KnownTask { name: id.task.clone(), config, handle: Some(started.handle.clone()) };
        self.known.insert(id.alloc, vec![task]);
        Ok(started)
    }

    /// Accepts and starts in one.
    pub(crate) async fn run_task(&mut self, config: Value) -> (TaskId, TaskHandle) {
        let id = self.accept(config.clone()).await;
        let started = self.start(&id, config).await.unwrap_or_else(|error| panic!("{}", error.full_text()));
        (id, started.handle)
    }

    pub(crate) async fn end_task(&mut self, id: &TaskId, handle: &TaskHandle) {
        self.driver.stop(handle, "", GoDuration::seconds(5)).await.unwrap();
        self.driver.wait(handle).await.unwrap();
        self.driver.destroy(handle).await.unwrap();
        self.forget(id).await;
    }

    pub(crate) async fn forget(&mut self, id: &TaskId) {
        self.known.remove(&id.alloc);
        self.driver.forget(id.alloc, now()).await.unwrap();
    }

    pub(crate) fn messages(&self) -> Vec<String> {
        std::mem::take(&mut *self.events.lock().unwrap())
    }

    pub(crate) fn log(&self, id: &TaskId, stream: &str) -> String {
        let path = self.run.dir().join(format!("alloc/{}/alloc/logs/{}.{stream}.0", id.alloc, id.task));
        std::fs::read_to_string(path).unwrap_or_default()
    }

    /// The log files of one output of a task, oldest first: number and contents.
    pub(crate) fn log_files(&self, id: &TaskId, stream: &str) -> Vec<(u64, Vec<u8>)> {
        let folder = self.run.dir().join(format!("alloc/{}/alloc/logs", id.alloc));
        let prefix = format!("{}.{stream}.", id.task);
        let mut files: Vec<_> = std::fs::read_dir(folder)
            .unwrap()
            .filter_map(|entry| {
                let path = entry.unwrap().path();
                let number = path.file_name()?.to_str()?.strip_prefix(&prefix)?.parse().ok()?;
                Some((number, std::fs::read(path).unwrap()))
            })
            .collect();
        files.sort();
        files
    }

    pub(crate) fn log_bytes(&self, id: &TaskId, stream: &str) -> Vec<u8> {
        self.log_files(id, stream).into_iter().flat_map(|(_, bytes)| bytes).collect()
    }

    pub(crate) async fn report(&self, name: &str) -> Option<ImageReport> {
        let deadline = std::time::Instant::now() + SOON;
        loop {
            match self.driver.images().unwrap().list().await {
                Ok(images) => return images.into_iter().find(|image| image.name == name),
                // Just started: the engine was not reached yet.
                Err(error) => assert!(std::time::Instant::now() < deadline, "{error}"),
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    pub(crate) fn client(&self) -> Client {
        client(&self.endpoint)
    }
}

pub(crate) fn node() -> NodeId {
    NodeId::from_u128(0xabc)
}

pub(crate) fn now() -> Timestamp {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    Timestamp::from_nanoseconds(i64::try_from(since.as_nanos()).unwrap())
}

fn client(endpoint: &str) -> Client {
    Client::new(endpoint.parse().unwrap())
}

fn state_folder(run: &Run, id: NodeId) -> PathBuf {
    PathBuf::from(run.dir()).join(format!("state/{id}"))
}

fn driver(run: &Run, endpoint: &str, id: NodeId, options: &Options) -> Arc<DockerDriver> {
    let driver = DockerDriver::new(DriverSetup {
        options: options.clone(),
        engine: client(endpoint),
        node: id,
        state_folder: state_folder(run, id),
        lock_folder: PathBuf::from(run.dir()).join("locks"),
    });
    Arc::new(driver.unwrap())
}

/// A shell script in the image.
pub(crate) fn script(image: &str, script: &str) -> Value {
    json!({ "image": image, "network_mode": "none", "command": "/bin/sh", "args": ["-c", script] })
}

pub(crate) fn sleeper(image: &str) -> Value {
    json!({ "image": image, "network_mode": "none" })
}
