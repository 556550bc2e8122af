//! The driver itself: containers for tasks, with images that the keeper grants.

mod ask;
mod attach;
mod attempts;
mod compare;
mod cursor;
mod dangling;
mod dead;
mod exec;
mod fingerprint;
mod first_look;
mod handle;
mod leftovers;
mod lines;
mod near;
mod network;
mod persons;
mod pins;
mod prefetch;
mod pull;
mod pumps;
mod reports;
mod run;
mod shared;
mod start;
mod story;
mod turns;
mod usage;
mod versions;
mod wishes;

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use longshore_driver::{
    AcceptRequest, Capabilities, Driver, DriverError, EarlierVersion, ExecRequest, ExitResult, Fingerprint,
    GroupNetwork, Images, KnownAllocation, NetworkRequest, PrefetchId, PrefetchRequest, Recovered, StartRequest,
    Started, TaskHandle, TaskUsage,
};
use longshore_images::{Event, Need, Owner};
use longshore_model::{AllocId, ImageRef, Timestamp};
use longshore_values::GoDuration;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use self::shared::{Holding, Seen, Shared, closing};
use crate::image::KeeperEnded;
use crate::task::TaskConfig;

pub use self::first_look::FirstLook;
pub use self::shared::DriverSetup;

/// The word that a job's `driver` names.
const NAME: &str = "docker";
/// How long the end of the agent waits for the end of commands that people run in tasks.
const EXECS_MAX: std::time::Duration = std::time::Duration::from_secs(5);

/// Runs tasks in containers of one Docker engine, and keeps that engine's images.
pub struct DockerDriver {
    shared: Arc<Shared>,
}

impl DockerDriver {
    /// A driver that goes looking for its engine at once; until it is reached, what needs it waits or fails with a reason.
    /// To be called within a tokio runtime.
    pub fn new(setup: DriverSetup) -> Result<Self, DriverError> {
        let mut access_key = [0; 32];
        getrandom::fill(&mut access_key)
            .map_err(|error| DriverError::fatal(format!("the system gives no random bytes: {error}")))?;
        let shared = Arc::new(Shared::new(setup, access_key));
        pins::release_left(&shared.state_folder);
        tokio::spawn(attach::attach(shared.clone()));
        tokio::spawn(dangling::sweep(shared.clone()));
        Ok(Self { shared })
    }
}

impl DockerDriver {
    /// What an allocation's network needs, if it has one of its own: the image that it is made from, until it is torn down.
    fn network_need(&self, alloc: AllocId, own_network: bool) -> Option<Need> {
        let name = self.shared.network_image().ok().filter(|_| own_network)?;
        self.shared.know(alloc, Owner::Network(alloc), Holding::Yes { name: Some(name.clone()) });
        Some(Need { owner: Owner::Network(alloc), name })
    }
}

#[async_trait]
impl Driver for DockerDriver {
    fn name(&self) -> &'static str {
        NAME
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            send_signals: true,
            exec: true,
            image_isolation: true,
            group_networks: true,
            dies_with_agent: false,
        }
    }

    async fn fingerprint(&self) -> Fingerprint {
        fingerprint::fingerprint(&self.shared).await
    }

    async fn fingerprint_changed(&self) {
        let Seen { mut engine, mut books } = self.shared.seen_last();
        tokio::select! {
            _ = engine.changed() => {}
            _ = books.changed() => {}
        }
    }

    fn check_config(&self, config: &serde_json::Value) -> Result<(), DriverError> {
        TaskConfig::decode(config).map(|_| ()).map_err(DriverError::from)
    }

    fn ports_named(&self, config: &serde_json::Value) -> Vec<String> {
        TaskConfig::decode(config).map(|config| config.ports).unwrap_or_default()
    }

    async fn accept(&self, request: AcceptRequest) -> Result<(), DriverError> {
        let keeping = self.shared.keeping().await?;
        let mut needs = Vec::new();
        for task in &request.tasks {
            let (owner, name) = (Owner::task(request.alloc, &task.name), wanted_image(&task.config));
            self.shared.know(request.alloc, owner.clone(), holding(&task.config));
            needs.extend(name.map(|name| Need { owner, name }));
        }
        needs.extend(self.network_need(request.alloc, request.own_network));
        let event = Event::Accepted { alloc: request.alloc, needs, replaces: request.replaces };
        keeping.record(event).await.map_err(ended)
    }

    async fn create_network(&self, request: NetworkRequest) -> Result<GroupNetwork, DriverError> {
        let cancel = CancellationToken::new();
        let _cancel_on_drop = cancel.clone().drop_guard();
        // Whoever forgets the allocation waits for its end, so that nothing is made behind its back.
        let under_way = self.shared.attempts.begin(request.alloc);
        let making = network::create(self.shared.clone(), request, cancel);
        let made = tokio::spawn(async move {
            let outcome = making.await;
            drop(under_way);
            outcome
        });
        made.await.unwrap_or_else(|error| Err(DriverError::retry("the network was not made").caused_by(error)))
    }

    async fn start(&self, request: StartRequest) -> Result<Started, DriverError> {
        let cancel = CancellationToken::new();
        // Dropping this future is how a start is called off; the attempt itself then ends what it made.
        let _cancel_on_drop = cancel.clone().drop_guard();
        let under_way = self.shared.attempts.begin(request.id.alloc);
        let shared = self.shared.clone();
        let (answer, answered) = oneshot::channel();
        let (take, taken) = oneshot::channel();
        tokio::spawn(async move {
            // One that was called off has a question open until it has ended: they are asked in the task's name.
            let turn = shared.starts.take(&request.id).await;
            let outcome = start::attempt(shared.clone(), request, cancel).await;
            let started = outcome.as_ref().ok().map(|started| started.handle.clone());
            // Called off in the moment in which it succeeded, nobody else knows of the container.
            let is_taken = answer.send(outcome).is_ok() && taken.await.is_ok();
            if let Some(handle) = started.filter(|_| !is_taken) {
                start::undo(&shared, &handle).await;
            }
            drop((turn, under_way));
        });
        let outcome = answered.await;
        // The caller has it with this very step.
        let _ = take.send(());
        outcome.unwrap_or_else(|error| Err(DriverError::retry("the attempt ended unexpectedly").caused_by(error)))
    }

    async fn recover(&self, handle: &TaskHandle, request: StartRequest) -> Result<Recovered, DriverError> {
        run::recover(&self.shared, handle, &request).await
    }

    async fn wait(&self, handle: &TaskHandle) -> Result<ExitResult, DriverError> {
        run::wait(&self.shared, handle).await
    }

    async fn stop(&self, handle: &TaskHandle, signal: &str, timeout: GoDuration) -> Result<(), DriverError> {
        run::stop(&self.shared, handle, signal, timeout).await
    }

    async fn destroy(&self, handle: &TaskHandle) -> Result<(), DriverError> {
        run::destroy(&self.shared, handle).await
    }

    async fn signal(&self, handle: &TaskHandle, signal: &str) -> Result<(), DriverError> {
        run::signal(&self.shared, handle, signal).await
    }

    async fn exec(&self, handle: &TaskHandle, request: ExecRequest) -> Result<i32, DriverError> {
        exec::exec(&self.shared, handle, request).await
    }

    async fn usage(&self, handle: &TaskHandle) -> Result<Option<TaskUsage>, DriverError> {
        usage::usage(&self.shared, handle).await.map(Some)
    }

    async fn forget(&self, alloc: AllocId, ended_at: Timestamp) -> Result<(), DriverError> {
        let owners = self.shared.known().get(&alloc).cloned().unwrap_or_default();
        let ours: Vec<_> = owners.into_iter().filter(|(_, holding)| *holding != Holding::No).collect();
        // Allocations of other drivers hold nothing here, and do not wait for an engine.
        if !ours.is_empty() {
            let keeping = self.shared.keeping().await?;
            self.shared.attempts.none_of(alloc).await;
            // Containers first: what still has one is not over, and its image would stay with it.
            leftovers::end_all_of(&self.shared, alloc).await.map_err(|error| {
                DriverError::retry(format!("could not remove what is left of allocation {alloc}")).caused_by(error)
            })?;
            for (owner, _) in ours.into_iter().filter(|(_, holding)| matches!(holding, Holding::Yes { .. })) {
                keeping.record(Event::Ended { owner, at: ended_at }).await.map_err(ended)?;
            }
        }
        // Taken out last: one that could not be recorded is known still.
        self.shared.known().remove(&alloc);
        Ok(())
    }

    async fn restore(&self, known: Vec<KnownAllocation>) -> Result<(), DriverError> {
        let (mut events, mut live, mut over) = (Vec::new(), Vec::new(), Vec::new());
        for allocation in &known {
            let mut needs = Vec::new();
            for task in &allocation.tasks {
                let owner = Owner::task(allocation.alloc, &task.name);
                match allocation.ended_at {
                    // Known until it is forgotten: only then has its last container been looked for.
                    Some(at) => {
                        self.shared.know(allocation.alloc, owner.clone(), Holding::GivenBack);
                        over.push((owner, at));
                    }
                    None => {
                        self.shared.know(allocation.alloc, owner.clone(), holding(&task.config));
                        needs.extend(wanted_image(&task.config).map(|name| Need { owner: owner.clone(), name }));
                        live.push(owner);
                    }
                }
            }
            match allocation.ended_at {
                Some(at) if allocation.own_network => {
                    self.shared.know(allocation.alloc, Owner::Network(allocation.alloc), Holding::GivenBack);
                    over.push((Owner::Network(allocation.alloc), at));
                }
                Some(_) => {}
                None => {
                    let need = self.network_need(allocation.alloc, allocation.own_network);
                    live.extend(need.iter().map(|need| need.owner.clone()));
                    needs.extend(need);
                }
            }
            // A ledger that was lost, or one in memory, has not heard of it; any other takes no notice.
            if allocation.ended_at.is_none() && !needs.is_empty() {
                events.push(Event::Accepted { alloc: allocation.alloc, needs, replaces: allocation.replaces });
            }
        }
        events.push(Event::Restored { live, ended: over });
        self.shared.restored.send_replace(Some(events));
        Ok(())
    }

    async fn compare(&self, known: BTreeSet<AllocId>) -> Result<(), DriverError> {
        compare::compare(self, &known).await
    }

    async fn prefetch(&self, request: PrefetchRequest) -> Result<(), DriverError> {
        prefetch::prefetch(&self.shared, request).await
    }

    async fn keep_prefetched(&self, wished: Vec<PrefetchId>) -> Result<(), DriverError> {
        prefetch::keep(&self.shared, wished).await
    }

    async fn keep_versions(&self, earlier: Vec<EarlierVersion>) -> Result<(), DriverError> {
        versions::keep(&self.shared, earlier).await
    }

    fn images(&self) -> Option<&dyn Images> {
        Some(self)
    }

    async fn shutdown(&self) {
        self.shared.pumps.stop_all().await;
        let keeping = self.shared.keeping_now();
        self.shared.closing.cancel();
        self.shared.execs.close();
        if tokio::time::timeout(EXECS_MAX, self.shared.execs.wait()).await.is_err() {
            tracing::warn!("commands that people run in tasks have not ended; they go on in their containers");
        }
        if let Ok(keeping) = keeping {
            keeping.stop().await;
        }
    }
}

/// The image that a task will need, as far as that is known before its start.
fn wanted_image(config: &serde_json::Value) -> Option<ImageRef> {
    let image = config.get("image")?.as_str()?;
    ImageRef::from_task_option(image).ok()
}

/// A text that is filled in at the start only may come to name one.
fn holding(config: &serde_json::Value) -> Holding {
    let name = wanted_image(config);
    let image = config.get("image").and_then(serde_json::Value::as_str).unwrap_or_default();
    if name.is_some() || image.contains("${") { Holding::Yes { name } } else { Holding::No }
}

fn ended(_: KeeperEnded) -> DriverError {
    closing()
}
