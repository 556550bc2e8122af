//! The mock driver: runs nothing, and behaves as a task's `config` says. For trying out jobs and for tests.

mod config;
mod options;

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use longshore_driver::{
    AcceptRequest, Capabilities, Driver, DriverError, ExitResult, Fingerprint, KnownAllocation, LogFiles, Recovered,
    StartRequest, Started, TaskAddress, TaskHandle, TaskId,
};
use longshore_logs::{LogStream, RotatingWriter};
use longshore_model::{AllocId, Timestamp};
use longshore_values::GoDuration;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use config::{Config, Output};
pub use options::MockOptions;

const NAME: &str = "mock_driver";

/// A task that pretends to run.
#[derive(Debug, Clone)]
struct MockTask {
    config: Arc<Config>,
    started_at: Timestamp,
    /// Told to end by somebody.
    killed: CancellationToken,
    exit: watch::Receiver<Option<ExitResult>>,
}

/// The driver. Its tasks live in this process and end with it.
#[derive(Debug, Default)]
pub struct MockDriver {
    tasks: Mutex<BTreeMap<TaskId, MockTask>>,
}

impl MockDriver {
    pub fn new() -> Self {
        Self::default()
    }

    fn tasks(&self) -> MutexGuard<'_, BTreeMap<TaskId, MockTask>> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn task(&self, handle: &TaskHandle) -> Option<MockTask> {
        self.tasks().get(&handle.id).cloned()
    }
}

fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_nanoseconds(i64::try_from(since.as_nanos()).unwrap_or(i64::MAX))
}

async fn ended(mut exit: watch::Receiver<Option<ExitResult>>) -> ExitResult {
    let told = exit.wait_for(Option::is_some).await.ok().and_then(|told| told.clone());
    told.unwrap_or_else(|| ExitResult {
        exit_code: 0,
        signal: 0,
        oom_killed: false,
        by_engine: false,
        message: "the mock task was dropped".to_owned(),
    })
}

/// Plays the task to its end.
async fn play(config: Arc<Config>, killed: CancellationToken, logs: LogFiles, exit: watch::Sender<Option<ExitResult>>) {
    let outputs = async {
        tokio::join!(write(&config.stdout, LogStream::Stdout, &logs), write(&config.stderr, LogStream::Stderr, &logs));
        std::future::pending::<Infallible>().await
    };
    let run = async {
        tokio::select! {
            () = tokio::time::sleep(config.run_for) => config.exit(),
            () = killed.cancelled() => {
                tokio::time::sleep(config.kill_after).await;
                config.killed()
            }
        }
    };
    let result = tokio::select! {
        // First, so that also a task that ends at once has said its words.
        biased;
        never = outputs => match never {},
        result = run => result,
    };
    exit.send_replace(Some(result));
}

async fn write(output: &Output, stream: LogStream, logs: &LogFiles) {
    if output.text.is_empty() || logs.config.disabled {
        return;
    }
    let size_bytes = u64::from(logs.config.max_file_size_mb) << 20;
    let log = RotatingWriter::open(&logs.folder, &logs.task, stream, logs.config.max_files, size_bytes);
    let mut log = match log {
        Ok(log) => log,
        Err(error) => return tracing::warn!(%error, "a mock task has no log"),
    };
    for round in 0..=output.repeat {
        if round > 0 {
            tokio::time::sleep(output.repeat_delay).await;
        }
        if let Err(error) = log.write(output.text.as_bytes()) {
            return tracing::warn!(%error, "a mock task cannot write its log");
        }
    }
}

#[async_trait]
impl Driver for MockDriver {
    fn name(&self) -> &'static str {
        NAME
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            send_signals: true,
            exec: false,
            image_isolation: false,
            group_networks: false,
            dies_with_agent: true,
        }
    }

    async fn fingerprint(&self) -> Fingerprint {
        let attributes = BTreeMap::from([("driver.mock".to_owned(), "true".to_owned())]);
        Fingerprint { detected: true, healthy: true, description: "Healthy".to_owned(), attributes }
    }

    async fn fingerprint_changed(&self) {
        std::future::pending().await
    }

    fn check_config(&self, config: &serde_json::Value) -> Result<(), DriverError> {
        Config::parse(config).map(|_| ())
    }

    async fn accept(&self, _request: AcceptRequest) -> Result<(), DriverError> {
        Ok(())
    }

    async fn start(&self, request: StartRequest) -> Result<Started, DriverError> {
        let config = Arc::new(Config::parse(&request.config)?);
        tokio::time::sleep(config.start_block_for).await;
        config.start_outcome()?;
        let (sender, exit) = watch::channel(None);
        let killed = CancellationToken::new();
        let task = MockTask { config: Arc::clone(&config), started_at: now(), killed: killed.clone(), exit };
        let started_at = task.started_at;
        let address = config.address.clone().map(|ip| TaskAddress { ip, interface: String::new() });
        self.tasks().insert(request.id.clone(), task);
        tokio::spawn(play(config, killed, request.logs, sender));
        let handle = TaskHandle { id: request.id, driver: NAME.to_owned(), state: serde_json::Value::Null };
        Ok(Started { handle, address, started_at })
    }

    async fn recover(&self, handle: &TaskHandle, _request: StartRequest) -> Result<Recovered, DriverError> {
        let Some(task) = self.task(handle) else { return Ok(Recovered::Gone) };
        let exit = task.exit.borrow().clone();
        Ok(exit.map_or(Recovered::Running { started_at: task.started_at }, Recovered::Exited))
    }

    async fn wait(&self, handle: &TaskHandle) -> Result<ExitResult, DriverError> {
        match self.task(handle) {
            Some(task) => Ok(ended(task.exit).await),
            None => Err(DriverError::fatal("the mock task is not there any more")),
        }
    }

    async fn stop(&self, handle: &TaskHandle, _signal: &str, _timeout: GoDuration) -> Result<(), DriverError> {
        if let Some(task) = self.task(handle) {
            task.killed.cancel();
            ended(task.exit).await;
        }
        Ok(())
    }

    async fn destroy(&self, handle: &TaskHandle) -> Result<(), DriverError> {
        if let Some(task) = self.tasks().remove(&handle.id) {
            task.killed.cancel();
        }
        Ok(())
    }

    async fn signal(&self, handle: &TaskHandle, signal: &str) -> Result<(), DriverError> {
        let Some(task) = self.task(handle) else { return Err(DriverError::fatal("the mock task does not run")) };
        if !task.config.signal_error.is_empty() {
            return Err(DriverError::fatal(task.config.signal_error.clone()));
        }
        tracing::debug!(task = %handle.id, signal, "a mock task was sent a signal");
        Ok(())
    }

    async fn forget(&self, alloc: AllocId, _ended_at: Timestamp) -> Result<(), DriverError> {
        self.tasks().retain(|id, task| {
            if id.alloc == alloc {
                task.killed.cancel();
            }
            id.alloc != alloc
        });
        Ok(())
    }

    async fn restore(&self, _known: Vec<KnownAllocation>) -> Result<(), DriverError> {
        Ok(())
    }

    async fn shutdown(&self) {
        for task in self.tasks().values() {
            task.killed.cancel();
        }
    }
}
