//! An engine, a registry, and a driver with what a node would tell it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use longshore_docker::{DockerDriver, DriverSetup, GcOptions, Options};
use longshore_driver::{
    AcceptRequest, AcceptedTask, Driver, DriverError, EventSink, ImageReport, KnownAllocation, KnownTask, LogFiles,
    NodeIdentity, StartRequest, Started, TaskDirs, TaskHandle, TaskId,
};
use longshore_engine::Engine as Client;
use longshore_harness::{Engine, Image, Registry, Run, eventually};
use longshore_model::{AllocId, AllocatedTask, JobKey, LogConfig, NodeId, TaskEvent, Timestamp};
use longshore_values::GoDuration;
use serde_json::{Value, json};

pub(crate) const SOON: Duration = Duration::from_secs(30);

pub(crate) struct World {
    pub(crate) registry: Registry,
    pub(crate) engine: Engine,
    pub(crate) run: Run,
    pub(crate) driver: DockerDriver,
    pub(crate) options: Options,
    events: Arc<Mutex<Vec<String>>>,
    known: BTreeMap<AllocId, Vec<KnownTask>>,
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
        let run = Run::start().unwrap();
        let engine = Engine::start(&run).unwrap();
        let registry = Registry::start(&engine).unwrap();
        let driver = driver(&run, &engine, &options);
        driver.restore(Vec::new()).await.unwrap();
        Self { registry, engine, run, driver, options, events: Arc::default(), known: BTreeMap::new(), next_alloc: 1 }
    }

    /// As if the agent had been killed: a new driver on the same disk. Its lock is free only when the old one is gone.
    pub(crate) async fn restart_driver(&mut self) {
        self.driver.shutdown().await;
        eventually(SOON, "the old keeper's lock to be free", || self.lock_is_free()).unwrap();
        self.driver = driver(&self.run, &self.engine, &self.options);
        let known = self.known.iter().map(|(alloc, tasks)| KnownAllocation {
            alloc: *alloc,
            replaces: None,
            tasks: tasks.clone(),
            ended_at: None,
        });
        self.driver.restore(known.collect()).await.unwrap();
    }

    fn lock_is_free(&self) -> Result<(), String> {
        for entry in std::fs::read_dir(self.run.dir().join("locks")).unwrap() {
            let file = std::fs::File::open(entry.unwrap().path()).unwrap();
            file.try_lock().map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    pub(crate) fn push(&self, repository: &str, tag: &str) -> (Image, String) {
        let image = Image::sleeper().unwrap();
        self.registry.push(&image, repository, tag).unwrap();
        (image, format!("{}/{repository}:{tag}", self.registry.host()))
    }

    pub(crate) async fn accept(&mut self, config: Value) -> TaskId {
        self.accept_after(config, None).await
    }

    pub(crate) async fn accept_after(&mut self, config: Value, replaces: Option<AllocId>) -> TaskId {
        let alloc = AllocId::from_u128(self.next_alloc);
        self.next_alloc += 1;
        let task = AcceptedTask { name: "web".to_owned(), config: config.clone() };
        self.driver.accept(AcceptRequest { alloc, replaces, tasks: vec![task] }).await.unwrap();
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
            node: NodeIdentity { id: node(), name: "n1".into(), datacenter: "dc1".into(), region: "global".into() },
            job: JobKey::new("default", "job"),
            job_name: "job".to_owned(),
            group: "group".to_owned(),
            user: String::new(),
            config,
            env: BTreeMap::from([("GREETING".to_owned(), "hello".to_owned())]),
            logs: LogFiles {
                folder: dirs.logs.clone(),
                task: id.task.clone(),
                config: LogConfig { max_files: 3, max_file_size_mb: 1, disabled: false },
            },
            dirs,
            resources: AllocatedTask { cpu_mhz: 100, memory_mb: 32, memory_max_mb: 0 },
            node_cpu_mhz: 4_000,
            ports: Vec::new(),
            network_mode: None,
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

    pub(crate) async fn report(&self, name: &str) -> Option<ImageReport> {
        self.driver.images().unwrap().list().await.unwrap().into_iter().find(|image| image.name == name)
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

    pub(crate) fn client(&self) -> Client {
        client(&self.engine)
    }
}

pub(crate) fn node() -> NodeId {
    NodeId::from_u128(0xabc)
}

pub(crate) fn now() -> Timestamp {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    Timestamp::from_nanoseconds(i64::try_from(since.as_nanos()).unwrap())
}

pub(crate) fn client(engine: &Engine) -> Client {
    Client::new(format!("unix://{}", engine.socket().display()).parse().unwrap())
}

fn driver(run: &Run, engine: &Engine, options: &Options) -> DockerDriver {
    DockerDriver::new(DriverSetup {
        options: options.clone(),
        engine: client(engine),
        node: node(),
        state_folder: PathBuf::from(run.dir()).join("state"),
        lock_folder: PathBuf::from(run.dir()).join("locks"),
    })
    .unwrap()
}

/// A shell script in the image.
pub(crate) fn script(image: &str, script: &str) -> Value {
    json!({ "image": image, "network_mode": "none", "command": "/bin/sh", "args": ["-c", script] })
}

pub(crate) fn sleeper(image: &str) -> Value {
    json!({ "image": image, "network_mode": "none" })
}
