//! Looks after all allocations of the node: compares what the server lists with what is here, takes in new ones, tells
//! runners what is newer, collects what is over.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use longshore_crashpoint::crash_point;
use longshore_driver::{AcceptRequest, AcceptedTask, Driver, ErrorClass};
use longshore_link::{AllocationReport, EarlierVersion, LinkError, NodeAllocations, WishedImages};
use longshore_model::{AllocId, Allocation, ClientStatus, LogIndex, TaskGroup, TaskPhase, TaskState};
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::sync::watch;
use tokio::task::{self, JoinSet};
use tokio_util::sync::CancellationToken;

use crate::clock::{self, Backoff};
use crate::database::{Stored, Write};
use crate::directories;
use crate::lost;
use crate::registration::Registration;
use crate::rules::environment::{TaskVariables, VisibleDirs};
use crate::rules::events;
use crate::rules::interpolation::expand_json;
use crate::rules::reconcile::{Known, Order, reconcile};
use crate::runner::core::{Core, Event};
use crate::runner::records::{AllocRecord, StopCause, TaskRecord};
use crate::runner::shell::{Notice, Runner, View};
use crate::shared::Shared;
use crate::versions;
use crate::wishes::fulfil;

const RETRY_DELAY_MIN: Duration = Duration::from_millis(100);
const RETRY_DELAY_MAX: Duration = Duration::from_secs(10);
/// Between attempts at removing the folder of an allocation that nobody asks for any more.
const REMOVE_RETRY_DELAY_MIN: Duration = Duration::from_secs(1);
const REMOVE_RETRY_DELAY_MAX: Duration = Duration::from_secs(300);
/// What panicked and is needed by all goes on after this.
const AFTER_A_PANIC: Duration = Duration::from_secs(1);

/// What may happen to the whole.
enum Message {
    Listed(NodeAllocations),
    /// An allocation was taken in.
    Accepted(Box<Accepted>),
    /// Its acceptance was given up because nobody wants it to run any more; nothing of it ever ran.
    GivenUp(AllocId),
    /// Nothing of it is left, or of what its acceptance had begun.
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
    /// Those that are being taken in, each with what calls that off.
    accepting: BTreeMap<AllocId, CancellationToken>,
    /// Those of which the last is being removed.
    collecting: BTreeSet<AllocId>,
    listed: Option<NodeAllocations>,
    /// What is wished for, for those who see to it.
    wishes: watch::Sender<Option<Vec<WishedImages>>>,
    /// What can be gone back to, for those who tell drivers.
    earlier: watch::Sender<Option<Vec<EarlierVersion>>>,
    notices: UnboundedReceiver<Notice>,
    notice_sender: UnboundedSender<Notice>,
    messages: UnboundedReceiver<Message>,
    message_sender: UnboundedSender<Message>,
    tasks: JoinSet<()>,
    /// What each of them is.
    works: HashMap<task::Id, Work>,
    /// All allocations that are here, for those who compare.
    known_now: watch::Sender<BTreeSet<AllocId>>,
    stopping_all: bool,
    all_over: Arc<watch::Sender<bool>>,
}

/// An allocation with its runner, which may have ended.
struct Runs {
    /// As the runner was last told it.
    alloc: Arc<Allocation>,
    inbox: UnboundedSender<Event>,
    replaces: Option<AllocId>,
    told_stop: bool,
}

/// What a task of this loop is, for when it ends as it should not.
#[derive(Debug, Clone, Copy)]
enum Work {
    /// The runner of an allocation, or the end of one whose runner is lost.
    Run(AllocId),
    Accept(AllocId),
    Collect(AllocId),
    Watch,
    Wishes,
    Versions,
    Compare,
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
            earlier: watch::Sender::new(None),
            notices,
            notice_sender,
            messages,
            message_sender,
            tasks: JoinSet::new(),
            works: HashMap::new(),
            known_now: watch::Sender::new(BTreeSet::new()),
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
            .filter(|entry| {
                let all_dead = entry.tasks.values().all(|task| task.state.phase == TaskPhase::Dead);
                !all_dead || (has_own_network(&entry.alloc) && !entry.record.forgotten)
            })
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
            alloc: Arc::clone(alloc),
            replaces: core.record().replaces,
            told_stop: core.record().stop.is_some(),
        };
        let id = core.id();
        self.shared.set_view(id, View::of(&core));
        self.runners.insert(id, runs);
        let runner = Runner::new(Arc::clone(&self.shared), core, inbox, sender, self.notice_sender.clone());
        self.spawn(Work::Run(id), runner.run());
    }

    fn spawn(&mut self, work: Work, task: impl Future<Output = ()> + Send + 'static) {
        let id = self.tasks.spawn(task).id();
        self.works.insert(id, work);
    }

    /// Runs until the agent ends.
    pub(crate) async fn look_after(mut self, registration: Arc<Registration>) {
        let stopping = self.shared.stopping.clone();
        self.watch(&registration, Duration::ZERO);
        self.see_to_wishes(Duration::ZERO);
        self.keep_versions(Duration::ZERO);
        self.compare(Duration::ZERO);
        loop {
            self.known_now.send_replace(self.known());
            tokio::select! {
                () = stopping.cancelled() => break,
                Some(message) = self.messages.recv() => self.take(message),
                Some(notice) = self.notices.recv() => self.notice(notice),
                Some(ended) = self.tasks.join_next_with_id() => match ended {
                    Ok((id, ())) => {
                        self.works.remove(&id);
                        continue;
                    }
                    Err(error) => self.broke_off(&error, &registration),
                },
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

    fn watch(&mut self, registration: &Arc<Registration>, after: Duration) {
        let (shared, registration) = (Arc::clone(&self.shared), Arc::clone(registration));
        let sender = self.message_sender.clone();
        self.spawn(Work::Watch, async move {
            tokio::time::sleep(after).await;
            watch_allocations(shared, registration, sender).await;
        });
    }

    fn see_to_wishes(&mut self, after: Duration) {
        let (shared, wishes) = (Arc::clone(&self.shared), self.wishes.subscribe());
        self.spawn(Work::Wishes, async move {
            tokio::time::sleep(after).await;
            let stopping = shared.stopping.clone();
            stopping.run_until_cancelled(fulfil(shared, wishes)).await;
        });
    }

    fn keep_versions(&mut self, after: Duration) {
        let (shared, earlier) = (Arc::clone(&self.shared), self.earlier.subscribe());
        self.spawn(Work::Versions, async move {
            tokio::time::sleep(after).await;
            let stopping = shared.stopping.clone();
            stopping.run_until_cancelled(versions::keep(shared, earlier)).await;
        });
    }

    fn compare(&mut self, after: Duration) {
        let (shared, known) = (Arc::clone(&self.shared), self.known_now.subscribe());
        self.spawn(Work::Compare, async move {
            tokio::time::sleep(after).await;
            compare(shared, known).await;
        });
    }

    /// A task has panicked: that costs the allocation whose it was, and no other.
    fn broke_off(&mut self, error: &task::JoinError, registration: &Arc<Registration>) {
        let Some(work) = self.works.remove(&error.id()) else { return };
        tracing::error!(?work, %error, "a part of the node broke off: a fault of this program, please report it");
        match work {
            Work::Watch => self.watch(registration, AFTER_A_PANIC),
            Work::Wishes => self.see_to_wishes(AFTER_A_PANIC),
            Work::Versions => self.keep_versions(AFTER_A_PANIC),
            Work::Compare => self.compare(AFTER_A_PANIC),
            Work::Collect(alloc) => {
                tracing::warn!(alloc.id = %alloc, "what is left of it stays until the agent's next start");
            }
            Work::Accept(alloc) => {
                // It stays among those that are let go of: taken in once more it would break off once more.
                self.accepting.remove(&alloc);
                self.collecting.insert(alloc);
                if let Some(alloc) = self.listed(alloc) {
                    self.shared.reports.push(lost::never_accepted(&alloc));
                    let shared = Arc::clone(&self.shared);
                    self.spawn(Work::Collect(alloc.id), async move {
                        let stopping = shared.stopping.clone();
                        stopping.run_until_cancelled(let_go(&shared, alloc.id, &drivers_of(&alloc))).await;
                    });
                }
            }
            Work::Run(alloc) => {
                let (Some(runs), Some(view)) = (self.runners.get(&alloc), self.shared.view(alloc)) else { return };
                if view.is_over {
                    return;
                }
                let end =
                    lost::end(Arc::clone(&self.shared), Arc::clone(&runs.alloc), view, self.notice_sender.clone());
                self.spawn(Work::Run(alloc), end);
            }
        }
    }

    fn listed(&self, alloc: AllocId) -> Option<Arc<Allocation>> {
        self.listed.as_ref()?.allocations.iter().find(|listed| listed.id == alloc).map(Arc::clone)
    }

    fn take(&mut self, message: Message) {
        match message {
            Message::Listed(listed) => {
                self.wishes.send_replace(Some(listed.wishes.clone()));
                self.earlier.send_replace(Some(listed.earlier.clone()));
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
                self.collecting.insert(alloc);
                if let Some(alloc) = self.listed(alloc).filter(|alloc| alloc.server_terminal()) {
                    self.shared.reports.push(never_ran(&alloc));
                }
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
                self.accepting.values().for_each(CancellationToken::cancel);
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
                    alloc_modify_index: runs.alloc.alloc_modify_index,
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
                    runs.alloc = Arc::clone(&alloc);
                    let _ = runs.inbox.send(Event::Newer(alloc));
                }
            }
            Order::GiveUp(alloc) => {
                if let Some(call_off) = self.accepting.get(&alloc) {
                    call_off.cancel();
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
        let called_off = CancellationToken::new();
        self.accepting.insert(id, called_off.clone());
        let shared = Arc::clone(&self.shared);
        let sender = self.message_sender.clone();
        self.spawn(Work::Accept(id), async move {
            let stopping = shared.stopping.clone();
            let work = async {
                let drivers = drivers_of(&alloc);
                tokio::select! {
                    () = called_off.cancelled() => {}
                    accepted = accept(&shared, alloc, group, replaces) => {
                        let _ = sender.send(Message::Accepted(Box::new(accepted)));
                        return;
                    }
                }
                let _ = sender.send(Message::GivenUp(id));
                let_go(&shared, id, &drivers).await;
                let _ = sender.send(Message::Collected(id));
            };
            stopping.run_until_cancelled(work).await;
        });
    }

    fn collect(&mut self, alloc: AllocId) {
        self.runners.remove(&alloc);
        self.shared.remove_view(alloc);
        self.collecting.insert(alloc);
        let shared = Arc::clone(&self.shared);
        let sender = self.message_sender.clone();
        self.spawn(Work::Collect(alloc), async move {
            let stopping = shared.stopping.clone();
            stopping.run_until_cancelled(remove_all(&shared, alloc)).await;
            let _ = sender.send(Message::Collected(alloc));
        });
    }
}

/// Removes an allocation's folder, for as long as it takes, and then the record: what the record does not know any more
/// nobody would ever look for.
async fn remove_all(shared: &Shared, alloc: AllocId) {
    let mut backoff = Backoff::new(REMOVE_RETRY_DELAY_MIN, REMOVE_RETRY_DELAY_MAX);
    loop {
        let root = directories::alloc_root(&shared.config.alloc_dir, alloc);
        let removed = tokio::task::spawn_blocking(move || directories::remove_folder(&root)).await;
        match removed.unwrap_or_else(|error| Err(error.into())) {
            Ok(()) => break,
            Err(error) => tracing::warn!(
                alloc.id = %alloc, %error, "could not remove the folder of an ended allocation; trying again"
            ),
        }
        backoff.pause().await;
    }
    if let Err(error) = shared.database.commit(vec![Write::Remove { id: alloc }]).await {
        tracing::warn!(alloc.id = %alloc, %error, "could not remove an ended allocation from the record");
    }
}

fn drivers_of(alloc: &Allocation) -> BTreeSet<String> {
    let group = alloc.job_spec.group(&alloc.group);
    group.iter().flat_map(|group| &group.tasks).map(|task| task.driver.clone()).collect()
}

/// Gives back what an acceptance that was called off may have taken, for as long as it takes.
async fn let_go(shared: &Shared, alloc: AllocId, drivers: &BTreeSet<String>) {
    for driver in drivers.iter().filter_map(|name| shared.drivers.get(name.as_str())) {
        let mut backoff = Backoff::new(RETRY_DELAY_MIN, RETRY_DELAY_MAX);
        while let Err(error) = driver.forget(alloc, clock::now()).await {
            tracing::debug!(alloc.id = %alloc, error = error.full_text(), "could not give back what it held yet");
            backoff.pause().await;
        }
    }
    // What was being written as it was called off is written by now.
    if let Err(error) = shared.database.commit(vec![Write::Remove { id: alloc }]).await {
        tracing::warn!(alloc.id = %alloc, %error, "could not remove what never ran from the record");
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
    if let Some(why) = network_refusal(shared, alloc, group) {
        refused.extend(group.tasks.iter().map(|task| (task.name.clone(), why.clone())));
    }
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
        let variables = TaskVariables::of(alloc, group, task, &facts, &VisibleDirs::in_image(), &nothing, None);
        let config = expand_json(&task.config, &variables);
        by_driver.entry(&task.driver).or_default().push(AcceptedTask { name: task.name.clone(), config });
    }
    let own_network = has_own_network(alloc);
    by_driver
        .into_iter()
        .filter_map(|(name, tasks)| {
            let driver = shared.drivers.get(name).map(Arc::clone)?;
            Some((driver, AcceptRequest { alloc: alloc.id, replaces, tasks, own_network }))
        })
        .collect()
}

/// Whether the group's network has a namespace of its own.
pub(crate) fn has_own_network(alloc: &Allocation) -> bool {
    let mode = alloc.resources.network_mode.as_deref();
    mode.is_some_and(|mode| matches!(mode, "bridge" | "none") || mode.starts_with("cni/"))
}

/// Why no task of the allocation can run here, whatever its driver: one of them cannot be in the network of the group.
fn network_refusal(shared: &Shared, alloc: &Allocation, group: &TaskGroup) -> Option<String> {
    let mode = alloc.resources.network_mode.as_deref().filter(|_| has_own_network(alloc))?;
    let cannot = |driver: &str| shared.drivers.get(driver).is_some_and(|driver| !driver.capabilities().group_networks);
    let task = group.tasks.iter().find(|task| cannot(&task.driver))?;
    Some(format!(
        "task {} does not support {mode:?} networking mode: driver `{}` has no networks for groups",
        task.name, task.driver
    ))
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
