//! Looks after all allocations of the node: compares what the server lists with what is here, takes in new ones, tells
//! runners what is newer, collects what is over.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use longshore_crashpoint::crash_point;
use longshore_driver::{AcceptRequest, AcceptedTask, Driver, ErrorClass};
use longshore_link::{AllocationReport, LinkError, NodeAllocations, WishedImages};
use longshore_model::{AllocId, Allocation, ClientStatus, LogIndex, TaskGroup, TaskPhase, TaskState};
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::clock::{self, Backoff};
use crate::database::{Stored, Write};
use crate::directories;
use crate::registration::Registration;
use crate::rules::environment::{TaskVariables, VisibleDirs};
use crate::rules::events;
use crate::rules::interpolation::expand_json;
use crate::rules::reconcile::{Known, Order, reconcile};
use crate::runner::core::{Core, Event};
use crate::runner::records::{AllocRecord, StopCause, TaskRecord};
use crate::runner::shell::{Notice, Runner, View};
use crate::shared::Shared;
use crate::wishes::fulfil;

const RETRY_DELAY_MIN: Duration = Duration::from_millis(100);
const RETRY_DELAY_MAX: Duration = Duration::from_secs(10);

/// What may happen to the whole.
enum Message {
    Listed(NodeAllocations),
    /// An allocation was taken in.
    Accepted(Box<Accepted>),
    /// Its acceptance was given up because nobody wants it to run any more.
    GivenUp(AllocId),
    Collected(AllocId),
    /// For the runner of an allocation.
    Tell(AllocId, Box<Event>),
    StopAll,
}

struct Accepted {
    alloc: Arc<Allocation>,
    group: TaskGroup,
    record: AllocRecord,
    tasks: BTreeMap<String, TaskRecord>,
}

pub(crate) struct Allocations {
    shared: Arc<Shared>,
    runners: BTreeMap<AllocId, Runs>,
    accepting: BTreeMap<AllocId, Arc<Allocation>>,
    collecting: BTreeSet<AllocId>,
    listed: Option<NodeAllocations>,
    /// What is wished for, for those who see to it.
    wishes: watch::Sender<Option<Vec<WishedImages>>>,
    notices: UnboundedReceiver<Notice>,
    notice_sender: UnboundedSender<Notice>,
    messages: UnboundedReceiver<Message>,
    message_sender: UnboundedSender<Message>,
    tasks: JoinSet<()>,
    stopping_all: bool,
    all_over: Arc<watch::Sender<bool>>,
}

/// An allocation with its runner, which may have ended.
struct Runs {
    inbox: UnboundedSender<Event>,
    replaces: Option<AllocId>,
    /// The newest form that the runner was told.
    told: LogIndex,
    told_stop: bool,
}

/// Reaches the loop from outside.
#[derive(Clone)]
pub(crate) struct AllocationsHandle {
    messages: UnboundedSender<Message>,
    /// Everything was told to stop, and is over.
    all_over: Arc<watch::Sender<bool>>,
}

impl AllocationsHandle {
    /// Stops all tasks; nothing starts any more.
    pub(crate) fn stop_all(&self) {
        // Nobody takes it when the loop has ended: then nothing runs.
        if self.messages.send(Message::StopAll).is_err() {
            self.all_over.send_replace(true);
        }
    }

    /// Tells an allocation's runner something; nobody takes it when that has ended.
    pub(crate) fn tell(&self, alloc: AllocId, event: Event) {
        let _ = self.messages.send(Message::Tell(alloc, Box::new(event)));
    }

    /// Returns when, after [`Self::stop_all`], nothing is left.
    pub(crate) async fn all_over(&self) {
        // The sender lives as long as `self`.
        let _ = self.all_over.subscribe().wait_for(|over| *over).await;
    }
}

impl Allocations {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        let (notice_sender, notices) = mpsc::unbounded_channel();
        let (message_sender, messages) = mpsc::unbounded_channel();
        Self {
            shared,
            runners: BTreeMap::new(),
            accepting: BTreeMap::new(),
            collecting: BTreeSet::new(),
            listed: None,
            wishes: watch::Sender::new(None),
            notices,
            notice_sender,
            messages,
            message_sender,
            tasks: JoinSet::new(),
            stopping_all: false,
            all_over: Arc::new(watch::Sender::new(false)),
        }
    }

    pub(crate) fn handle(&self) -> AllocationsHandle {
        AllocationsHandle { messages: self.message_sender.clone(), all_over: Arc::clone(&self.all_over) }
    }

    /// Goes on with what the record knows.
    pub(crate) fn restore(&mut self, stored: Vec<Stored>) {
        let live: BTreeSet<_> = stored
            .iter()
            .filter(|entry| !entry.tasks.values().all(|task| task.state.phase == TaskPhase::Dead))
            .map(|entry| entry.alloc.id)
            .collect();
        for entry in stored {
            let group = entry.alloc.job_spec.group(&entry.alloc.group).cloned();
            let Some(group) = group else {
                tracing::error!(alloc.id = %entry.alloc.id, "the node's record has an allocation without its group");
                continue;
            };
            let waits = entry.record.replaces.is_some_and(|previous| live.contains(&previous));
            let core = self.core(entry.alloc, group, entry.record, entry.tasks, !waits);
            self.run(core);
        }
    }

    fn core(
        &self,
        alloc: Arc<Allocation>,
        group: TaskGroup,
        record: AllocRecord,
        tasks: BTreeMap<String, TaskRecord>,
        predecessor_ended: bool,
    ) -> Core {
        Core::new(alloc, group, record, tasks, self.shared.config.max_kill_timeout, predecessor_ended)
    }

    fn run(&mut self, core: Core) {
        let (sender, inbox) = mpsc::unbounded_channel();
        let alloc = core.alloc();
        let runs = Runs {
            inbox: sender.clone(),
            replaces: core.record().replaces,
            told: alloc.alloc_modify_index,
            told_stop: core.record().stop.is_some(),
        };
        self.shared.set_view(core.id(), View::of(&core));
        self.runners.insert(core.id(), runs);
        let runner = Runner::new(Arc::clone(&self.shared), core, inbox, sender, self.notice_sender.clone());
        self.tasks.spawn(runner.run());
    }

    /// Runs until the agent ends.
    pub(crate) async fn look_after(mut self, registration: Arc<Registration>) {
        let stopping = self.shared.stopping.clone();
        let watch = watch_allocations(Arc::clone(&self.shared), registration, self.message_sender.clone());
        self.tasks.spawn(watch);
        let (shared, wishes) = (Arc::clone(&self.shared), self.wishes.subscribe());
        self.tasks.spawn(async move {
            let stopping = shared.stopping.clone();
            stopping.run_until_cancelled(fulfil(shared, wishes)).await;
        });
        let (known, shared) = (watch::Sender::new(BTreeSet::new()), Arc::clone(&self.shared));
        self.tasks.spawn(compare(shared, known.subscribe()));
        loop {
            known.send_replace(self.known());
            tokio::select! {
                () = stopping.cancelled() => break,
                Some(message) = self.messages.recv() => self.take(message),
                Some(notice) = self.notices.recv() => self.notice(notice),
                Some(_) = self.tasks.join_next() => continue,
            }
            self.reconcile();
        }
        // Runners stop by themselves; acts that they had begun are dropped with them.
        while self.tasks.join_next().await.is_some() {}
    }

    /// All allocations that are here, coming or going.
    fn known(&self) -> BTreeSet<AllocId> {
        self.runners.keys().chain(self.accepting.keys()).chain(&self.collecting).copied().collect()
    }

    fn take(&mut self, message: Message) {
        match message {
            Message::Listed(listed) => {
                self.wishes.send_replace(Some(listed.wishes.clone()));
                self.listed = Some(listed);
            }
            Message::Accepted(accepted) => {
                let Accepted { alloc, group, record, tasks } = *accepted;
                self.accepting.remove(&alloc.id);
                let previous = record.replaces.and_then(|previous| self.shared.view(previous));
                let predecessor_ended = previous.is_none_or(|view| view.has_ended);
                let id = alloc.id;
                let core = self.core(alloc, group, record, tasks, predecessor_ended);
                self.run(core);
                if self.stopping_all {
                    self.stop(id, StopCause::Shutdown);
                }
            }
            Message::GivenUp(alloc) => {
                self.accepting.remove(&alloc);
            }
            Message::Collected(alloc) => {
                self.collecting.remove(&alloc);
            }
            Message::Tell(alloc, event) => {
                if let Some(runs) = self.runners.get(&alloc) {
                    let _ = runs.inbox.send(*event);
                }
            }
            Message::StopAll => {
                self.stopping_all = true;
                let ids: Vec<_> = self.runners.keys().copied().collect();
                for id in ids {
                    self.stop(id, StopCause::Shutdown);
                }
            }
        }
    }

    fn notice(&mut self, notice: Notice) {
        if let Notice::Ended(ended) = notice {
            for runs in self.runners.values().filter(|runs| runs.replaces == Some(ended)) {
                let _ = runs.inbox.send(Event::PredecessorEnded);
            }
        }
    }

    fn stop(&mut self, alloc: AllocId, cause: StopCause) {
        if let Some(runs) = self.runners.get_mut(&alloc) {
            runs.told_stop = true;
            let _ = runs.inbox.send(Event::Stop(cause));
        }
    }

    fn reconcile(&mut self) {
        if self.stopping_all {
            let mut over = self.accepting.is_empty();
            self.shared.for_each_view(|_, view| over &= view.is_over);
            self.all_over.send_replace(over);
            return;
        }
        let Some(listed) = self.listed.clone() else { return };
        let mut known = BTreeMap::new();
        self.shared.for_each_view(|id, view| {
            if let Some(runs) = self.runners.get(&id) {
                let found = Known {
                    alloc_modify_index: runs.told,
                    client_status: view.client_status(),
                    is_over: view.is_over,
                    ended_at: view.ended_at,
                };
                known.insert(id, found);
            }
        });
        let busy: BTreeSet<_> = self.accepting.keys().chain(&self.collecting).copied().collect();
        for order in reconcile(&listed.allocations, &known, &busy, self.shared.config.gc_max_allocs) {
            self.carry_out(order);
        }
    }

    fn carry_out(&mut self, order: Order) {
        match order {
            Order::Accept(alloc) => self.accept(alloc),
            Order::Update(alloc) => {
                if let Some(runs) = self.runners.get_mut(&alloc.id) {
                    runs.told = alloc.alloc_modify_index;
                    let _ = runs.inbox.send(Event::Newer(alloc));
                }
            }
            Order::NeverRan(alloc) => self.shared.reports.push(never_ran(&alloc)),
            Order::Stop(alloc) => {
                if self.runners.get(&alloc).is_some_and(|runs| !runs.told_stop) {
                    self.stop(alloc, StopCause::NotListed);
                }
            }
            Order::Collect(alloc) => self.collect(alloc),
            Order::Report(alloc) => {
                if let Some(view) = self.shared.view(alloc) {
                    self.shared.reports.push(view.report);
                }
            }
        }
    }

    fn accept(&mut self, alloc: Arc<Allocation>) {
        let id = alloc.id;
        let Some(group) = alloc.job_spec.group(&alloc.group).cloned() else {
            tracing::error!(alloc.id = %id, group = alloc.group, "the server sent an allocation without its group");
            return;
        };
        let replaces = alloc.previous_alloc.filter(|previous| self.runners.contains_key(previous));
        self.accepting.insert(id, Arc::clone(&alloc));
        let shared = Arc::clone(&self.shared);
        let sender = self.message_sender.clone();
        self.tasks.spawn(async move {
            let stopping = shared.stopping.clone();
            let message = tokio::select! {
                () = stopping.cancelled() => Message::GivenUp(id),
                accepted = accept(&shared, alloc, group, replaces) => Message::Accepted(Box::new(accepted)),
            };
            let _ = sender.send(message);
        });
    }

    fn collect(&mut self, alloc: AllocId) {
        self.runners.remove(&alloc);
        self.shared.remove_view(alloc);
        self.collecting.insert(alloc);
        let shared = Arc::clone(&self.shared);
        let sender = self.message_sender.clone();
        self.tasks.spawn(async move {
            let root = directories::alloc_root(&shared.config.alloc_dir, alloc);
            let removed = tokio::task::spawn_blocking(move || directories::remove(&root)).await;
            if let Ok(Err(error)) = removed {
                tracing::warn!(alloc.id = %alloc, %error, "could not remove the folder of an ended allocation");
            }
            if let Err(error) = shared.database.commit(vec![Write::Remove { id: alloc }]).await {
                tracing::warn!(alloc.id = %alloc, %error, "could not remove an ended allocation from the record");
            }
            let _ = sender.send(Message::Collected(alloc));
        });
    }
}

/// Takes an allocation in, for as long as it takes: first the drivers' holds, then the node's record.
async fn accept(shared: &Shared, alloc: Arc<Allocation>, group: TaskGroup, replaces: Option<AllocId>) -> Accepted {
    let mut backoff = Backoff::new(RETRY_DELAY_MIN, RETRY_DELAY_MAX);
    loop {
        match try_accept(shared, &alloc, &group, replaces).await {
            Ok((record, tasks)) => return Accepted { alloc, group, record, tasks },
            Err(why) => tracing::warn!(alloc.id = %alloc.id, why, "could not take the allocation in yet"),
        }
        backoff.pause().await;
    }
}

async fn try_accept(
    shared: &Shared,
    alloc: &Arc<Allocation>,
    group: &TaskGroup,
    replaces: Option<AllocId>,
) -> Result<(AllocRecord, BTreeMap<String, TaskRecord>), String> {
    let now = clock::now();
    let mut refused = BTreeMap::new();
    let requests = requests(shared, alloc, group, replaces);
    let outcomes = requests.into_iter().map(|(driver, request)| async move {
        let names: Vec<_> = request.tasks.iter().map(|task| task.name.clone()).collect();
        (names, driver.accept(request).await)
    });
    for (names, outcome) in join_all(outcomes).await {
        match outcome {
            Ok(()) => {}
            Err(error) if error.class == ErrorClass::Fatal => {
                refused.extend(names.into_iter().map(|name| (name, error.full_text())));
            }
            Err(error) => return Err(error.full_text()),
        }
    }
    crash_point("client.holds_accepted");
    let record = AllocRecord::accepted(replaces, now);
    let mut tasks = BTreeMap::new();
    for task in &group.tasks {
        let mut entry = TaskRecord::received(now);
        if let Some(why) = refused.get(&task.name) {
            events::push(&mut entry.state, events::failed_validation(now, why));
            events::push(&mut entry.state, events::not_restarting(now, "Error was unrecoverable"));
            entry.end(None, true, now);
        }
        tasks.insert(task.name.clone(), entry);
    }
    let mut writes = vec![Write::allocation(alloc, &record).map_err(|error| error.to_string())?];
    for (name, entry) in &tasks {
        writes.push(Write::task(alloc.id, name, entry).map_err(|error| error.to_string())?);
    }
    shared.database.commit(writes).await.map_err(|error| error.to_string())?;
    crash_point("client.allocation_accepted");
    Ok((record, tasks))
}

/// What each driver is to hold for an allocation. Drivers that are not here hold nothing: the start will say so.
pub(crate) fn requests(
    shared: &Shared,
    alloc: &Allocation,
    group: &TaskGroup,
    replaces: Option<AllocId>,
) -> Vec<(Arc<dyn Driver>, AcceptRequest)> {
    let facts = shared.facts();
    let mut by_driver: BTreeMap<&str, Vec<AcceptedTask>> = BTreeMap::new();
    for task in &group.tasks {
        let nothing = BTreeMap::new();
        let variables = TaskVariables::of(alloc, group, task, &facts, &VisibleDirs::in_image(), &nothing);
        let config = expand_json(&task.config, &variables);
        by_driver.entry(&task.driver).or_default().push(AcceptedTask { name: task.name.clone(), config });
    }
    let own_network = alloc.resources.network_mode.as_deref().is_some_and(has_own_namespace);
    by_driver
        .into_iter()
        .filter_map(|(name, tasks)| {
            let driver = shared.drivers.get(name).map(Arc::clone)?;
            Some((driver, AcceptRequest { alloc: alloc.id, replaces, tasks, own_network }))
        })
        .collect()
}

/// Whether a group network of this mode has a namespace of its own.
fn has_own_namespace(mode: &str) -> bool {
    matches!(mode, "bridge" | "none") || mode.starts_with("cni/")
}

/// Nothing of an allocation ever ran here.
fn never_ran(alloc: &Allocation) -> AllocationReport {
    let dead = TaskState { phase: TaskPhase::Dead, finished_at: clock::now(), ..TaskState::default() };
    let names = alloc.resources.tasks.keys();
    AllocationReport {
        alloc: alloc.id,
        client_status: ClientStatus::Complete,
        client_description: "All tasks have completed".to_owned(),
        task_states: names.map(|name| (name.clone(), dead.clone())).collect(),
        healthy: None,
        deployment: None,
        network_status: None,
    }
}

/// Tells drivers from time to time which allocations the node knows, so that what they hold for others is found.
async fn compare(shared: Arc<Shared>, known: watch::Receiver<BTreeSet<AllocId>>) {
    let period = shared.config.compare_period.to_std();
    let comparing = async {
        loop {
            tokio::time::sleep(period).await;
            for driver in shared.drivers.values() {
                let known = known.borrow().clone();
                if let Err(error) = driver.compare(known).await {
                    let error = error.full_text();
                    tracing::debug!(
                        driver = driver.name(),
                        error,
                        "allocations could not be compared with the driver's"
                    );
                }
            }
        }
    };
    shared.stopping.run_until_cancelled(comparing).await;
}

/// Follows what the server lists for this node, once the node is registered.
async fn watch_allocations(shared: Arc<Shared>, registration: Arc<Registration>, sender: UnboundedSender<Message>) {
    let watching = async {
        let mut backoff = Backoff::new(RETRY_DELAY_MIN, RETRY_DELAY_MAX);
        let mut after = LogIndex::default();
        loop {
            registration.registered().await;
            match shared.link.watch_allocations(shared.node_id, after).await {
                Ok(listed) => {
                    backoff = Backoff::new(RETRY_DELAY_MIN, RETRY_DELAY_MAX);
                    after = listed.index;
                    if sender.send(Message::Listed(listed)).is_err() {
                        return;
                    }
                }
                Err(error) => {
                    if matches!(error, LinkError::UnknownNode(_)) {
                        registration.forgotten();
                    }
                    tracing::warn!(%error, "could not ask the server for allocations");
                    after = LogIndex::default();
                    backoff.pause().await;
                }
            }
        }
    };
    tokio::select! {
        () = shared.stopping.cancelled() => {}
        () = watching => {}
    }
}
