//! Carries out what the core decides for one allocation: records first, then acts.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use longshore_crashpoint::crash_point;
use longshore_driver::{
    Driver, DriverError, ErrorClass, EventSink, ExitResult, Recovered, StartRequest, Started, TaskHandle,
};
use longshore_link::AllocationReport;
use longshore_model::{AllocId, ClientStatus, TaskPhase, Timestamp};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::attempt::Prepared;
use super::core::{Action, Core, Event, Moment, StartFailure, Step};
use super::told::Told;
use crate::allocations::{has_own_network, requests};
use crate::clock::{self, Backoff};
use crate::database::Write;
use crate::shared::Shared;
use crate::{ClientError, directories, identity};

const RETRY_DELAY_MIN: Duration = Duration::from_millis(100);
const RETRY_DELAY_MAX: Duration = Duration::from_secs(10);

/// What others may know of an allocation on this node.
#[derive(Debug, Clone)]
pub(crate) struct View {
    pub(crate) report: AllocationReport,
    /// The tasks that run, with what finds them.
    pub(crate) running: BTreeMap<String, TaskHandle>,
    /// Those that have ended by themselves, and could start anew beside the others.
    pub(crate) startable: BTreeSet<String>,
    /// All its tasks have ended.
    pub(crate) has_ended: bool,
    /// … and nothing of it is left but its folder and record.
    pub(crate) is_over: bool,
    pub(crate) ended_at: Timestamp,
}

impl View {
    pub(crate) fn of(core: &Core) -> Self {
        let record = core.record();
        Self {
            report: core.report(),
            running: core.running(),
            startable: core.startable(),
            has_ended: core.has_ended(),
            is_over: record.ended_at.is_some() && record.forgotten,
            ended_at: record.ended_at.unwrap_or(Timestamp::NEVER),
        }
    }

    pub(crate) fn client_status(&self) -> ClientStatus {
        self.report.client_status
    }
}

/// What a runner tells those who look after all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Notice {
    /// All tasks have ended: what takes its place may start.
    Ended(AllocId),
    /// Nothing of it is left but its folder and record.
    Over(AllocId),
}

pub(crate) struct Runner {
    shared: Arc<Shared>,
    core: Core,
    inbox: UnboundedReceiver<Event>,
    /// Acts answer into the inbox.
    sender: UnboundedSender<Event>,
    notices: UnboundedSender<Notice>,
    acts: JoinSet<()>,
    starts: HashMap<String, CancellationToken>,
    told_ended: bool,
    /// What stands in the log.
    told: Told,
    /// The record has taken the report that was last sent.
    last_report: Option<AllocationReport>,
}

impl Runner {
    pub(crate) fn new(
        shared: Arc<Shared>,
        core: Core,
        inbox: UnboundedReceiver<Event>,
        sender: UnboundedSender<Event>,
        notices: UnboundedSender<Notice>,
    ) -> Self {
        let told = Told::already(&core.report().task_states);
        Self {
            shared,
            told,
            core,
            inbox,
            sender,
            notices,
            acts: JoinSet::new(),
            starts: HashMap::new(),
            told_ended: false,
            last_report: None,
        }
    }

    /// Runs until everything is done, or until the agent ends: then acts stop where they are.
    #[tracing::instrument(name = "allocation", skip_all, fields(alloc.id = %self.core.id()))]
    pub(crate) async fn run(mut self) {
        let stopping = self.shared.stopping.clone();
        let mut next = Some(Event::Begin);
        loop {
            if let Some(event) = next.take() {
                self.take(event);
                while let Ok(event) = self.inbox.try_recv() {
                    self.take(event);
                }
                let step = self.core.take_step();
                if !self.record(&step).await {
                    return;
                }
                self.tell();
                if self.perform(step.actions) {
                    return;
                }
            }
            let deadline = self.core.next_deadline();
            next = tokio::select! {
                () = stopping.cancelled() => return,
                event = self.inbox.recv() => event,
                () = clock::sleep_until(deadline) => Some(Event::Woken),
                Some(ended) = self.acts.join_next() => match ended {
                    // Nothing would ever come of it: the whole runner breaks off, and is seen to have.
                    Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
                    _ => None,
                },
            };
        }
    }

    fn take(&mut self, event: Event) {
        self.core.step(Moment { now: clock::now(), chance: identity::chance() }, event);
    }

    /// Makes the step's records durable, for as long as it takes. `false`: the agent ends.
    async fn record(&self, step: &Step) -> bool {
        let mut backoff = Backoff::new(RETRY_DELAY_MIN, RETRY_DELAY_MAX);
        loop {
            let outcome = match self.writes(step) {
                Ok(writes) if writes.is_empty() => return true,
                Ok(writes) => self.shared.database.commit(writes).await,
                Err(error) => Err(Arc::new(error)),
            };
            match outcome {
                Ok(()) => return true,
                Err(error) if matches!(*error, ClientError::RecordClosed) => return false,
                Err(error) => {
                    tracing::error!(%error, "could not record what happened; nothing is done until that works");
                    tokio::select! {
                        () = self.shared.stopping.cancelled() => return false,
                        () = backoff.pause() => {}
                    }
                }
            }
        }
    }

    fn writes(&self, step: &Step) -> Result<Vec<Write>, ClientError> {
        let mut writes = Vec::new();
        if step.save_alloc {
            writes.push(Write::allocation(self.core.alloc(), self.core.record())?);
        } else if step.save_record {
            writes.push(Write::record(self.core.id(), self.core.record())?);
        }
        for task in &step.save_tasks {
            if let Some(record) = self.core.task_record(task) {
                writes.push(Write::task(self.core.id(), task, record)?);
            }
        }
        Ok(writes)
    }

    fn tell(&mut self) {
        let view = View::of(&self.core);
        if self.last_report.as_ref() != Some(&view.report) {
            self.told.tell(&view.report.task_states);
            self.last_report = Some(view.report.clone());
            self.shared.reports.push(view.report.clone());
        }
        let has_ended = view.has_ended;
        self.shared.set_view(self.core.id(), view);
        if has_ended && !self.told_ended {
            self.told_ended = true;
            self.notice(Notice::Ended(self.core.id()));
        }
    }

    fn notice(&self, notice: Notice) {
        // Nobody listens only when the agent ends.
        let _ = self.notices.send(notice);
    }

    /// Begins the acts; `true` when the last of all is done.
    fn perform(&mut self, actions: Vec<Action>) -> bool {
        for action in actions {
            match action {
                Action::BuildDirs => self.build_dirs(),
                Action::Start { task, attempt } => self.start(task, attempt),
                Action::CancelStart { task } => {
                    if let Some(token) = self.starts.get(&task) {
                        token.cancel();
                    }
                }
                Action::Recover { task, attempt, handle } => self.recover(task, attempt, handle),
                Action::Wait { task, attempt, handle } => self.wait(task, attempt, handle),
                Action::Stop { task, attempt, handle, signal, timeout } => {
                    self.act(handle, move |driver, handle| async move {
                        crash_point("client.end_recorded");
                        let result = driver.stop(&handle, &signal, timeout).await;
                        crash_point("client.task_stopped");
                        Event::Stopped { task, attempt, result: texts(result) }
                    });
                }
                Action::Destroy { task, attempt, handle } => {
                    self.act(handle, move |driver, handle| async move {
                        crash_point("client.exit_recorded");
                        let result = driver.destroy(&handle).await;
                        crash_point("client.remains_removed");
                        Event::Destroyed { task, attempt, result: texts(result) }
                    });
                }
                Action::Forget { ended_at } => self.forget(ended_at),
                Action::Finish => {
                    self.notice(Notice::Over(self.core.id()));
                    return true;
                }
            }
        }
        false
    }

    /// Begins an act of the driver that `handle` belongs to.
    fn act<F, A>(&mut self, handle: TaskHandle, act: A)
    where
        F: Future<Output = Event> + Send + 'static,
        A: FnOnce(Arc<dyn Driver>, TaskHandle) -> F + Send + 'static,
    {
        let Some(driver) = self.driver(&handle.driver) else {
            tracing::error!(driver = handle.driver, "a task's driver is not there any more; it is left as it is");
            return;
        };
        let sender = self.sender.clone();
        self.acts.spawn(async move {
            let event = act(driver, handle).await;
            // The runner is gone only when the agent ends.
            let _ = sender.send(event);
        });
    }

    fn driver(&self, name: &str) -> Option<Arc<dyn Driver>> {
        self.shared.drivers.get(name).map(Arc::clone)
    }

    fn build_dirs(&mut self) {
        let root = directories::alloc_root(&self.shared.config.alloc_dir, self.core.id());
        let tasks: Vec<_> = self.core.group().tasks.iter().map(|task| (task.name.clone(), task.user.clone())).collect();
        let sender = self.sender.clone();
        self.acts.spawn_blocking(move || {
            let _ = sender.send(Event::DirsBuilt(directories::build(&root, &tasks)));
        });
    }

    fn start(&mut self, task: String, attempt: u64) {
        let token = CancellationToken::new();
        self.starts.insert(task.clone(), token.clone());
        let sender = self.sender.clone();
        let prepared = self.prepare(&task, attempt);
        self.acts.spawn(async move {
            crash_point("client.attempt_recorded");
            let result = match prepared {
                Ok(prepared) => start(prepared, &token).await,
                Err(why) => Err(StartFailure::Fatal(why)),
            };
            if result.is_ok() {
                crash_point("client.task_started");
            }
            let _ = sender.send(Event::Started { task, attempt, result });
        });
    }

    fn recover(&mut self, task: String, attempt: u64, handle: TaskHandle) {
        let sender = self.sender.clone();
        let prepared = self.prepare(&task, attempt);
        self.acts.spawn(async move {
            let result = match prepared {
                Ok(prepared) => recover(&*prepared.driver, &handle, prepared.request(None)).await,
                Err(why) => Err(why),
            };
            let _ = sender.send(Event::Recovered { task, attempt, result });
        });
    }

    fn wait(&mut self, task: String, attempt: u64, handle: TaskHandle) {
        self.act(handle, move |driver, handle| async move {
            let exit = wait(&*driver, &handle).await;
            Event::Exited { task, attempt, exit }
        });
    }

    fn forget(&mut self, ended_at: Timestamp) {
        let alloc = self.core.id();
        let shared = Arc::clone(&self.shared);
        let sender = self.sender.clone();
        // Only those that accepted it: another driver's engine, which may not be there, has no say in its end.
        let names: BTreeSet<_> = self.core.group().tasks.iter().map(|task| task.driver.as_str()).collect();
        let drivers: Vec<_> = names.into_iter().filter_map(|name| self.driver(name)).collect();
        self.acts.spawn(async move {
            crash_point("client.allocation_ended");
            let mut result = Ok(());
            for driver in drivers {
                if let Err(error) = driver.forget(alloc, ended_at).await {
                    tracing::warn!(
                        driver = driver.name(),
                        error = error.full_text(),
                        "could not forget the allocation"
                    );
                    result = Err(error.full_text());
                }
            }
            crash_point("client.holds_forgotten");
            let root = directories::alloc_root(&shared.config.alloc_dir, alloc);
            // Nothing depends on its outcome, which it tells itself.
            let _ = tokio::task::spawn_blocking(move || directories::release_secrets(&root)).await;
            let _ = sender.send(Event::Forgotten(result));
        });
    }

    /// All that the driver is told about an attempt, but for what is known with the group's network only.
    fn prepare(&self, name: &str, attempt: u64) -> Result<Prepared, String> {
        let (alloc, group) = (self.core.alloc(), self.core.group());
        let Some(task) = group.task(name) else { return Err(format!("the job has no task `{name}`")) };
        let Some(driver) = self.driver(&task.driver) else {
            return Err(format!("driver `{}` is not on this node", task.driver));
        };
        let config = &self.shared.config;
        let root = directories::alloc_root(&config.alloc_dir, alloc.id);
        let requests = if has_own_network(alloc) { requests(&self.shared, alloc, group, None) } else { Vec::new() };
        let accepted = requests.into_iter().find(|(found, _)| found.name() == driver.name());
        let (sender, told) = (self.sender.clone(), name.to_owned());
        Ok(Prepared {
            attempt,
            alloc: Arc::clone(alloc),
            group: group.clone(),
            task: task.clone(),
            facts: self.shared.facts(),
            inherited_env: if driver.capabilities().image_isolation {
                BTreeMap::new()
            } else {
                config.inherited_env.clone()
            },
            driver,
            dirs: directories::task_dirs(&root, name),
            node_cpu_mhz: self.shared.node().resources.cpu_mhz,
            in_network: accepted.map(|(_, request)| request.tasks),
            events: EventSink::new(move |event| {
                let _ = sender.send(Event::Told { task: told.clone(), event });
            }),
        })
    }
}

async fn start(prepared: Prepared, cancel: &CancellationToken) -> Result<Started, StartFailure> {
    let network = match prepared.network_request() {
        None => None,
        Some(request) => Some(until(cancel, prepared.driver.create_network(request)).await?),
    };
    let request = prepared.request(network);
    prepared.driver.check_config(&request.config).map_err(|error| StartFailure::Invalid(error.full_text()))?;
    until(cancel, prepared.driver.start(request)).await
}

/// What the driver does, until it is called off.
async fn until<T>(
    cancel: &CancellationToken,
    act: impl Future<Output = Result<T, DriverError>>,
) -> Result<T, StartFailure> {
    let outcome = tokio::select! {
        biased;
        () = cancel.cancelled() => return Err(StartFailure::Cancelled),
        outcome = act => outcome,
    };
    outcome.map_err(|error| match error.class {
        ErrorClass::Retry => StartFailure::Retry(error.full_text()),
        ErrorClass::Fatal => StartFailure::Fatal(error.full_text()),
        ErrorClass::Cancelled => StartFailure::Cancelled,
    })
}

/// Asks until the driver knows: an engine that is away says nothing about the task.
async fn recover(driver: &dyn Driver, handle: &TaskHandle, request: StartRequest) -> Result<Recovered, String> {
    let mut backoff = Backoff::new(RETRY_DELAY_MIN, RETRY_DELAY_MAX);
    loop {
        match driver.recover(handle, request.clone()).await {
            Ok(recovered) => return Ok(recovered),
            Err(error) if error.class == ErrorClass::Fatal => return Err(error.full_text()),
            Err(error) => {
                tracing::warn!(task = %handle.id, error = error.full_text(), "could not find the task yet");
                backoff.pause().await;
            }
        }
    }
}

async fn wait(driver: &dyn Driver, handle: &TaskHandle) -> ExitResult {
    let mut backoff = Backoff::new(RETRY_DELAY_MIN, RETRY_DELAY_MAX);
    loop {
        match driver.wait(handle).await {
            Ok(exit) => return exit,
            Err(error) if error.class == ErrorClass::Fatal => {
                let message = error.full_text();
                return ExitResult { exit_code: 0, signal: 0, oom_killed: false, by_engine: false, message };
            }
            Err(error) => {
                tracing::warn!(task = %handle.id, error = error.full_text(), "could not wait for the task's end");
                backoff.pause().await;
            }
        }
    }
}

fn texts(result: Result<(), DriverError>) -> Result<(), String> {
    result.map_err(|error| error.full_text())
}

/// A task has begun at least once: there may be something in its logs.
pub(crate) fn has_logs(report: &AllocationReport, task: &str) -> Option<bool> {
    report.task_states.get(task).map(|state| state.phase != TaskPhase::Pending || !state.started_at.is_never())
}
