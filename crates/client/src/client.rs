use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::join_all;
use longshore_driver::{Driver, DriverError, ErrorClass, Images, KnownAllocation, KnownTask, TaskHandle};
use longshore_link::ServerLink;
use longshore_logs::{LogOrigin, LogReader, LogStream};
use longshore_model::{AllocId, LogIndex, Node, NodeId};
use tokio::task::JoinSet;

use crate::allocations::{self, Allocations, AllocationsHandle};
use crate::clock::Backoff;
use crate::database::{NodeDatabase, Stored};
use crate::host::{HostStats, node, read_stats};
use crate::registration::{Heartbeat, Registration, keep_registered};
use crate::runner::core::Event;
use crate::runner::records::Stage;
use crate::runner::shell::{View, has_logs};
use crate::shared::Shared;
use crate::{ClientConfig, ClientError, ReadLogError, clock, directories, identity, reports};

/// How long the end of the agent waits for the server to take the last reports.
const LAST_REPORTS_MAX: Duration = Duration::from_secs(2);
const RESTORE_RETRY_DELAY_MIN: Duration = Duration::from_millis(100);
const RESTORE_RETRY_DELAY_MAX: Duration = Duration::from_secs(10);
/// How long, beyond its own timeout, a task's end may take when the agent stops all of them.
const STOP_ALL_SLACK: Duration = Duration::from_secs(15);

/// A running node. Clones are the same node.
#[derive(Clone)]
pub struct Client {
    shared: Arc<Shared>,
    allocations: AllocationsHandle,
    tasks: Arc<Mutex<JoinSet<()>>>,
}

/// A node that knows what it was and what its machine is, and has not begun to work.
pub struct PreparedClient {
    config: ClientConfig,
    node: Node,
    database: NodeDatabase,
    stored: Vec<Stored>,
}

impl PreparedClient {
    /// Opens the node's record and looks at the machine. Waits for the disk, and needs nothing else of the agent.
    ///
    /// # Errors
    /// When folders or record cannot be used.
    pub fn read(config: ClientConfig) -> Result<Self, ClientError> {
        directories::make_folder(&config.alloc_dir, 0o711)?;
        let node_id = identity::node_id(&config.state_dir)?;
        let (database, stored) =
            NodeDatabase::open(&config.state_dir.join("node.db"), &config.version, config.reserve_bytes)?;
        let node = node::detect(&config, node_id);
        let live: BTreeSet<_> =
            stored.iter().filter(|entry| !entry.record.forgotten).map(|entry| entry.alloc.id).collect();
        directories::release_leftovers(&config.alloc_dir, &live);
        tracing::info!(node.id = %node_id, allocations = live.len(), "node record opened");
        Ok(Self { config, node, database, stored })
    }

    pub fn node_id(&self) -> NodeId {
        self.node.id
    }

    /// Of the allocations that the record says have not ended the one that the server changed last, and the index of that
    /// change.
    pub fn newest_live_allocation(&self) -> Option<(AllocId, LogIndex)> {
        let live = self.stored.iter().filter(|stored| stored.record.ended_at.is_none());
        live.map(|stored| (stored.alloc.id, stored.alloc.modify_index)).max_by_key(|(_, index)| *index)
    }
}

impl Client {
    /// Goes on with the allocations of the record, and keeps the node registered from then on. Returns without waiting
    /// for server or drivers. To be called within a tokio runtime.
    pub fn run(prepared: PreparedClient, link: Arc<dyn ServerLink>, drivers: Vec<Arc<dyn Driver>>) -> Self {
        let PreparedClient { config, node, database, stored } = prepared;
        let drivers: BTreeMap<_, _> = drivers.into_iter().map(|driver| (driver.name(), driver)).collect();
        let shared = Arc::new(Shared::new(config, node, database, link, drivers));
        let mut all = Allocations::new(Arc::clone(&shared));
        let allocations = all.handle();
        let registration = Arc::new(Registration::new());
        let mut tasks = JoinSet::new();
        until_stopped(&mut tasks, &shared, keep_registered(Arc::clone(&shared), Arc::clone(&registration)));
        let at_reports = Arc::clone(&shared);
        until_stopped(&mut tasks, &shared, async move { reports::send_all(&at_reports).await });
        let at_work = Arc::clone(&shared);
        tasks.spawn(async move {
            let restored = at_work.stopping.run_until_cancelled(restore_drivers(&at_work, &stored)).await;
            if restored.is_some() {
                all.restore(stored);
                all.look_after(registration).await;
            }
        });
        Self { shared, allocations, tasks: Arc::new(Mutex::new(tasks)) }
    }

    pub fn node_id(&self) -> NodeId {
        self.shared.node_id
    }

    /// The node as the server was last told of it.
    pub fn node(&self) -> Arc<Node> {
        self.shared.node()
    }

    /// The last word of the server to this node; `None` before the first.
    pub fn heartbeat(&self) -> Option<Heartbeat> {
        self.shared.heartbeat()
    }

    /// One look at the machine. None when it ended early, with the agent: a look can wait for a file system that hangs.
    pub async fn stats(&self) -> Option<HostStats> {
        let folder = self.shared.config.alloc_dir.clone();
        tokio::task::spawn_blocking(move || read_stats(&folder, clock::now())).await.ok()
    }

    /// The images of this node, by driver.
    pub fn images(&self) -> Vec<(&'static str, &dyn Images)> {
        self.shared.drivers.iter().filter_map(|(name, driver)| Some((*name, driver.images()?))).collect()
    }

    /// Whether a driver of this node understands a task's `config`; `None` when the node has no such driver.
    pub fn check_config(&self, driver: &str, config: &serde_json::Value) -> Option<Result<(), DriverError>> {
        self.shared.drivers.get(driver).map(|driver| driver.check_config(config))
    }

    /// The labels of the group's ports that a task's `config` names, as the driver reads it.
    pub fn ports_named(&self, driver: &str, config: &serde_json::Value) -> Vec<String> {
        self.shared.drivers.get(driver).map(|driver| driver.ports_named(config)).unwrap_or_default()
    }

    /// How many allocations of this node stand where: each status with its number.
    pub fn allocation_counts(&self) -> BTreeMap<&'static str, usize> {
        let mut counts = BTreeMap::new();
        self.shared.for_each_view(|_, view| *counts.entry(view.client_status().word()).or_insert(0) += 1);
        counts
    }

    pub(crate) fn view(&self, alloc: AllocId) -> Option<View> {
        self.shared.view(alloc)
    }

    /// The first that `found` makes of an allocation's view, as it is now or becomes.
    pub(crate) async fn wait_for_view<T>(&self, alloc: AllocId, found: impl Fn(Option<&View>) -> Option<T>) -> T {
        self.shared.wait_for_view(alloc, found).await
    }

    pub(crate) fn exec_disabled(&self) -> bool {
        self.shared.config.exec_disabled
    }

    pub(crate) fn driver_of(&self, handle: &TaskHandle) -> Option<&Arc<dyn Driver>> {
        self.shared.drivers.get(handle.driver.as_str())
    }

    pub(crate) fn tell(&self, alloc: AllocId, event: Event) {
        self.allocations.tell(alloc, event);
    }

    /// Where an allocation's folder is, or was.
    pub(crate) fn alloc_root(&self, alloc: AllocId) -> PathBuf {
        directories::alloc_root(&self.shared.config.alloc_dir, alloc)
    }

    /// Reads one output of a task; offsets are counted across its rotated files.
    pub fn logs(
        &self,
        alloc: AllocId,
        task: &str,
        stream: LogStream,
        origin: LogOrigin,
        offset_bytes: u64,
        follow: bool,
    ) -> Result<LogReader, ReadLogError> {
        let view = self.shared.view(alloc).ok_or(ReadLogError::UnknownAllocation(alloc))?;
        match has_logs(&view.report, task) {
            None => return Err(ReadLogError::UnknownTask(task.to_owned())),
            Some(false) => return Err(ReadLogError::NotStarted(task.to_owned())),
            Some(true) => {}
        }
        let root = directories::alloc_root(&self.shared.config.alloc_dir, alloc);
        let folder = directories::task_dirs(&root, task).logs;
        Ok(LogReader::open(folder, task, stream, origin, offset_bytes, follow)?)
    }

    /// Ends the node's work in this process. Tasks go on and are found again by the next start, unless they are to be
    /// stopped first. Returns when everything that was begun has ended or been given back.
    pub async fn shutdown(&self, stop_tasks: bool) {
        if stop_tasks {
            self.stop_tasks().await;
        }
        if tokio::time::timeout(LAST_REPORTS_MAX, self.shared.reports.flushed()).await.is_err() {
            tracing::warn!("the server has not taken the last reports; they are told again after the next start");
        }
        self.shared.stopping.cancel();
        let mut tasks = std::mem::take(&mut *self.tasks.lock().unwrap_or_else(PoisonError::into_inner));
        while tasks.join_next().await.is_some() {}
        for driver in self.shared.drivers.values() {
            driver.shutdown().await;
        }
        self.shared.database.close();
    }

    async fn stop_tasks(&self) {
        self.allocations.stop_all();
        let limit = self.shared.config.max_kill_timeout.to_std() + STOP_ALL_SLACK;
        if tokio::time::timeout(limit, self.allocations.all_over()).await.is_err() {
            tracing::error!("not all tasks have ended; what is left is ended by its driver or found by the next start");
        }
    }
}

fn until_stopped(tasks: &mut JoinSet<()>, shared: &Shared, work: impl Future<Output = ()> + Send + 'static) {
    let stopping = shared.stopping.clone();
    tasks.spawn(async move {
        stopping.run_until_cancelled(work).await;
    });
}

/// Tells each driver what the record knows, before anything else is asked of it.
async fn restore_drivers(shared: &Shared, stored: &[Stored]) {
    let restores = shared.drivers.values().map(|driver| async move {
        let mut backoff = Backoff::new(RESTORE_RETRY_DELAY_MIN, RESTORE_RETRY_DELAY_MAX);
        while let Err(error) = driver.restore(known_to(shared, driver.name(), stored)).await {
            tracing::error!(driver = driver.name(), error = error.full_text(), "could not restore the driver");
            if error.class == ErrorClass::Fatal {
                break;
            }
            backoff.pause().await;
        }
    });
    join_all(restores).await;
}

fn known_to(shared: &Shared, driver: &str, stored: &[Stored]) -> Vec<KnownAllocation> {
    let mut known = Vec::new();
    for entry in stored {
        let Some(group) = entry.alloc.job_spec.group(&entry.alloc.group) else { continue };
        let requests = allocations::requests(shared, &entry.alloc, group, entry.record.replaces);
        let Some((_, request)) = requests.into_iter().find(|(found, _)| found.name() == driver) else { continue };
        let tasks = request.tasks.into_iter().map(|task| {
            let handle = entry.tasks.get(&task.name).and_then(|record| match &record.stage {
                Stage::Running { handle } => Some(handle.clone()),
                Stage::Ended { handle, .. } => handle.clone(),
                Stage::Waiting | Stage::Starting | Stage::Backoff { .. } | Stage::Dead => None,
            });
            KnownTask { name: task.name, config: task.config, handle }
        });
        known.push(KnownAllocation {
            alloc: entry.alloc.id,
            replaces: entry.record.replaces,
            tasks: tasks.collect(),
            own_network: request.own_network,
            ended_at: entry.record.ended_at,
        });
    }
    known
}
