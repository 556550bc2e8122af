//! A server and a driver that do as they are told, and keep what they were asked.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use longshore_driver::{
    AcceptRequest, Capabilities, Driver, DriverError, ExitResult, Fingerprint, KnownAllocation, PrefetchId,
    PrefetchRequest, Recovered, StartRequest, Started, TaskHandle,
};
use longshore_link::{
    AllocationReport, EarlierVersion, HeartbeatOrder, LinkError, NodeAllocations, ServerLink, WishedImages,
};
use longshore_model::{
    AllocId, Allocation, DeploymentId, Job, JobType, LogIndex, Node, NodeId, Resources, RestartPolicy, Task, TaskGroup,
    Timestamp, WishAnswer, WishReport,
};
use longshore_samples as samples;
use longshore_values::GoDuration;
use tokio::sync::Notify;

const PATIENCE: Duration = Duration::from_secs(10);

/// Waits for a condition that nobody announces.
pub(crate) async fn until(what: &str, holds: impl Fn() -> bool) {
    let waiting = async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    if tokio::time::timeout(PATIENCE, waiting).await.is_err() {
        panic!("waited in vain: {what}");
    }
}

fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    Timestamp::from_nanoseconds(i64::try_from(since.as_nanos()).unwrap())
}

pub(crate) fn task(name: &str) -> Task {
    Task {
        driver: "scripted".to_owned(),
        config: serde_json::json!({}),
        resources: Resources { cpu_mhz: 100, memory_mb: 300, ..Resources::default() },
        restart: RestartPolicy { delay: GoDuration::milliseconds(10), ..samples::RESTART },
        ..samples::task(name)
    }
}

pub(crate) fn allocation(id: u128, tasks: Vec<Task>) -> Allocation {
    let restart = tasks[0].restart;
    let group = TaskGroup { restart, ..samples::group(tasks) };
    let job = Job { groups: vec![group], ..samples::job("shop", JobType::Service, 1) };
    Allocation {
        create_index: LogIndex(5),
        modify_index: LogIndex(5),
        alloc_modify_index: LogIndex(5),
        create_time: now(),
        modify_time: now(),
        ..samples::allocation(AllocId::from_u128(id), NodeId::from_u128(7), &Arc::new(job))
    }
}

#[derive(Default)]
struct ServerState {
    index: u64,
    allocations: Vec<Arc<Allocation>>,
    wishes: Vec<WishedImages>,
    earlier: Vec<EarlierVersion>,
    answers: Vec<WishReport>,
    reports: BTreeMap<AllocId, AllocationReport>,
    known: bool,
    registrations: usize,
    away: bool,
    in_vain: usize,
}

#[derive(Default)]
pub(crate) struct ScriptedServer {
    state: Mutex<ServerState>,
    changed: Notify,
}

impl ScriptedServer {
    fn state(&self) -> MutexGuard<'_, ServerState> {
        self.state.lock().unwrap()
    }

    /// From now on these are the node's allocations.
    pub(crate) fn list(&self, allocations: Vec<Allocation>) {
        let mut state = self.state();
        state.index += 1;
        state.allocations = allocations.into_iter().map(Arc::new).collect();
        self.changed.notify_waiters();
    }

    /// From now on the node is wished to have the images of these allocations' groups.
    pub(crate) fn wish(&self, allocations: &[&Allocation]) {
        self.wish_since(7, allocations);
    }

    /// From now on these allocations' versions can be gone back to.
    pub(crate) fn can_go_back_to(&self, allocations: &[&Allocation]) {
        let mut state = self.state();
        state.index += 1;
        let earlier = |alloc: &&Allocation| EarlierVersion { job: Arc::clone(&alloc.job_spec), newer_stable: 1 };
        state.earlier = allocations.iter().map(earlier).collect();
        self.changed.notify_waiters();
    }

    pub(crate) fn wish_since(&self, seconds: i64, allocations: &[&Allocation]) {
        let mut state = self.state();
        state.index += 1;
        state.wishes = allocations
            .iter()
            .map(|alloc| WishedImages {
                deployment: DeploymentId::from_u128(alloc.id.as_u128()),
                job: Arc::clone(&alloc.job_spec),
                group: alloc.group.clone(),
                since: Timestamp::from_seconds(seconds),
                expires_at: now().plus(GoDuration::hours(1)),
            })
            .collect();
        self.changed.notify_waiters();
    }

    /// The answers to wishes for an allocation's group, as soon as there are some.
    pub(crate) async fn answers(&self, alloc: &Allocation) -> Vec<WishAnswer> {
        let id = DeploymentId::from_u128(alloc.id.as_u128());
        until("an answer", || self.state().answers.iter().any(|answer| answer.deployment == id)).await;
        let answers: Vec<_> = self.state().answers.iter().filter(|it| it.deployment == id).cloned().collect();
        answers.into_iter().map(|answer| answer.answer).collect()
    }

    /// To which wishes, by their time in seconds, answers have come.
    pub(crate) fn answered(&self) -> Vec<i64> {
        self.state().answers.iter().map(|answer| answer.since.as_nanoseconds() / 1_000_000_000).collect()
    }

    pub(crate) fn be_away(&self, away: bool) {
        self.state().away = away;
    }

    pub(crate) fn forget_node(&self) {
        self.state().known = false;
    }

    pub(crate) fn forget_reports(&self) {
        self.state().reports.clear();
    }

    pub(crate) fn calls_in_vain(&self) -> usize {
        self.state().in_vain
    }

    pub(crate) async fn called_in_vain(&self, times: usize) {
        until("calls while the server is away", || self.state().in_vain >= times).await;
    }

    pub(crate) async fn registered(&self, times: usize) {
        until("registration", || self.state().registrations >= times && self.state().known).await;
    }

    /// The newest report of an allocation, once it is as wanted.
    pub(crate) async fn report(&self, alloc: AllocId, wanted: impl Fn(&AllocationReport) -> bool) -> AllocationReport {
        until("a report", || self.state().reports.get(&alloc).is_some_and(&wanted)).await;
        self.state().reports[&alloc].clone()
    }

    fn check(&self, node: Option<NodeId>) -> Result<(), LinkError> {
        let mut state = self.state();
        if state.away {
            state.in_vain += 1;
            return Err(LinkError::Unavailable { doing: "listen", why: "it is away".to_owned() });
        }
        match node {
            Some(node) if !state.known => Err(LinkError::UnknownNode(node)),
            _ => Ok(()),
        }
    }
}

const ORDER: HeartbeatOrder = HeartbeatOrder { ttl: GoDuration::milliseconds(200) };

#[async_trait]
impl ServerLink for ScriptedServer {
    async fn register(&self, _node: Node) -> Result<HeartbeatOrder, LinkError> {
        self.check(None)?;
        let mut state = self.state();
        state.known = true;
        state.registrations += 1;
        Ok(ORDER)
    }

    async fn heartbeat(&self, node: NodeId) -> Result<HeartbeatOrder, LinkError> {
        self.check(Some(node))?;
        Ok(ORDER)
    }

    async fn watch_allocations(&self, node: NodeId, after: LogIndex) -> Result<NodeAllocations, LinkError> {
        loop {
            let changed = self.changed.notified();
            self.check(Some(node))?;
            {
                let state = self.state();
                if after.0 == 0 || state.index > after.0 {
                    let mut allocations = state.allocations.clone();
                    for alloc in &mut allocations {
                        if let Some(report) = state.reports.get(&alloc.id) {
                            Arc::make_mut(alloc).client_status = report.client_status;
                        }
                    }
                    let wishes = state.wishes.clone();
                    let earlier = state.earlier.clone();
                    return Ok(NodeAllocations { index: LogIndex(state.index), allocations, wishes, earlier });
                }
            }
            changed.await;
        }
    }

    async fn report(&self, node: NodeId, reports: Vec<AllocationReport>) -> Result<(), LinkError> {
        self.check(Some(node))?;
        let mut state = self.state();
        for report in reports {
            state.reports.insert(report.alloc, report);
        }
        Ok(())
    }

    async fn report_images(&self, node: NodeId, reports: Vec<WishReport>) -> Result<(), LinkError> {
        self.check(Some(node))?;
        self.state().answers.extend(reports);
        Ok(())
    }
}

#[derive(Default)]
struct DriverState {
    calls: Vec<String>,
    running: BTreeSet<String>,
    exits: BTreeMap<String, ExitResult>,
    refused_accepts: usize,
    failing_starts: BTreeMap<String, usize>,
    hanging_starts: BTreeSet<String>,
    /// What the driver breaks off at: `start 1/web`, `accept 1`.
    faults: BTreeSet<String>,
    deaf_to_wishes: bool,
    /// How much it was last told to keep of what was wished for.
    prefetched: usize,
    /// Which versions it was last told to keep.
    versions: Vec<String>,
    /// What the last comparison was told.
    compared: Option<Vec<String>>,
}

/// Runs tasks by writing their names down.
#[derive(Default)]
pub(crate) struct ScriptedDriver {
    /// Its engine is not there: whatever holds or lets go fails. It goes by another name then.
    away: bool,
    state: Mutex<DriverState>,
    changed: Notify,
}

/// A call that may be dropped before its end, which takes its time.
struct UnderWay<'a> {
    driver: &'a ScriptedDriver,
    call: Option<String>,
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        if let Some(call) = self.call.take() {
            std::thread::sleep(Duration::from_millis(100));
            self.driver.call(format!("dropped {call}"));
        }
    }
}

fn name(alloc: AllocId, task: &str) -> String {
    format!("{}/{task}", alloc.as_u128())
}

fn handle_name(handle: &TaskHandle) -> String {
    name(handle.id.alloc, &handle.id.task)
}

impl ScriptedDriver {
    fn state(&self) -> MutexGuard<'_, DriverState> {
        self.state.lock().unwrap()
    }

    fn call(&self, text: String) {
        self.state().calls.push(text);
    }

    pub(crate) fn away() -> Self {
        Self { away: true, ..Self::default() }
    }

    pub(crate) fn calls(&self) -> Vec<String> {
        self.state().calls.clone()
    }

    pub(crate) fn forget_calls(&self) {
        self.state().calls.clear();
    }

    pub(crate) async fn called(&self, call: &str) {
        until(call, || self.state().calls.iter().any(|made| made == call)).await;
    }

    pub(crate) fn running(&self) -> Vec<String> {
        self.state().running.iter().cloned().collect()
    }

    /// The task ends by itself.
    pub(crate) fn exit(&self, task: &str, exit: ExitResult) {
        let mut state = self.state();
        assert!(state.running.remove(task), "{task} does not run");
        state.exits.insert(task.to_owned(), exit);
        self.changed.notify_waiters();
    }

    pub(crate) fn refuse_accepts(&self, times: usize) {
        self.state().refused_accepts = times;
    }

    pub(crate) fn fail_starts(&self, task: &str, times: usize) {
        self.state().failing_starts.insert(task.to_owned(), times);
    }

    pub(crate) fn hang_starts(&self, task: &str) {
        self.state().hanging_starts.insert(task.to_owned());
    }

    /// What hangs looks again whether it may go on.
    pub(crate) fn nudge(&self) {
        self.changed.notify_waiters();
    }

    pub(crate) fn let_go(&self, task: &str) {
        self.state().hanging_starts.remove(task);
        self.changed.notify_waiters();
    }

    /// Its own fault: it panics in this call.
    pub(crate) fn break_off_at(&self, call: &str) {
        self.state().faults.insert(call.to_owned());
    }

    /// It does not take what it is told to keep of what was wished for.
    pub(crate) fn be_deaf_to_wishes(&self, deaf: bool) {
        self.state().deaf_to_wishes = deaf;
    }

    fn perhaps_break_off(&self, call: &str) {
        let breaks_off = self.state().faults.contains(call);
        assert!(!breaks_off, "the scripted fault at {call}");
    }
}

#[async_trait]
impl Driver for ScriptedDriver {
    fn name(&self) -> &'static str {
        if self.away { "absent" } else { "scripted" }
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            send_signals: true,
            exec: false,
            image_isolation: false,
            group_networks: false,
            dies_with_agent: false,
        }
    }

    async fn fingerprint(&self) -> Fingerprint {
        let description = "Healthy".to_owned();
        Fingerprint { detected: true, healthy: true, description, attributes: BTreeMap::new() }
    }

    async fn fingerprint_changed(&self) {
        std::future::pending().await
    }

    fn check_config(&self, _config: &serde_json::Value) -> Result<(), DriverError> {
        Ok(())
    }

    async fn accept(&self, request: AcceptRequest) -> Result<(), DriverError> {
        self.perhaps_break_off(&format!("accept {}", request.alloc.as_u128()));
        let replaces = request.replaces.map(|other| format!(" replacing {}", other.as_u128())).unwrap_or_default();
        let mut state = self.state();
        if state.refused_accepts > 0 {
            state.refused_accepts -= 1;
            state.calls.push(format!("refused {}{replaces}", request.alloc.as_u128()));
            return Err(DriverError::retry("the ledger is full"));
        }
        state.calls.push(format!("accept {}{replaces}", request.alloc.as_u128()));
        Ok(())
    }

    async fn compare(&self, known: BTreeSet<AllocId>) -> Result<(), DriverError> {
        let ids: Vec<_> = known.iter().map(|alloc| alloc.as_u128().to_string()).collect();
        let mut state = self.state();
        if state.compared.as_ref() != Some(&ids) {
            state.calls.push(format!("compare {}", ids.join(" ")));
            state.compared = Some(ids);
        }
        Ok(())
    }

    async fn prefetch(&self, request: PrefetchRequest) -> Result<(), DriverError> {
        let PrefetchId { job, version, group, task } = request.id;
        let call = format!("prefetch {job} v{version} {group}/{task}");
        self.call(call.clone());
        let mut under_way = UnderWay { driver: self, call: Some(call) };
        loop {
            let changed = self.changed.notified();
            if !self.state().hanging_starts.contains(&task) {
                break;
            }
            if self.state().failing_starts.contains_key(&task) {
                request.delays.tell(&DriverError::retry("engine is cold").hint("warm it"));
            }
            changed.await;
        }
        under_way.call = None;
        match self.state().failing_starts.get(&task) {
            Some(_) => Err(DriverError::retry("engine is cold")),
            None => Ok(()),
        }
    }

    async fn keep_versions(&self, earlier: Vec<longshore_driver::EarlierVersion>) -> Result<(), DriverError> {
        let mut state = self.state();
        if state.deaf_to_wishes {
            return Err(DriverError::retry("the books are not open"));
        }
        let words: Vec<_> = earlier.iter().map(|it| format!(" {} v{}", it.job, it.version)).collect();
        if state.versions != words {
            state.calls.push(format!("keep versions{}", words.concat()));
            state.versions = words;
        }
        Ok(())
    }

    async fn keep_prefetched(&self, wished: Vec<PrefetchId>) -> Result<(), DriverError> {
        let mut state = self.state();
        if state.deaf_to_wishes {
            return Err(DriverError::retry("the books are not open"));
        }
        if state.prefetched != wished.len() {
            state.prefetched = wished.len();
            state.calls.push(format!("keep {} prefetched", wished.len()));
        }
        Ok(())
    }

    async fn start(&self, request: StartRequest) -> Result<Started, DriverError> {
        let task = name(request.id.alloc, &request.id.task);
        self.call(format!("start {task} attempt {}", request.attempt));
        self.perhaps_break_off(&format!("start {task}"));
        if self.state().hanging_starts.contains(&task) {
            return std::future::pending().await;
        }
        if let Some(left) = self.state().failing_starts.get_mut(&task).filter(|left| **left > 0) {
            *left -= 1;
            return Err(DriverError::retry("engine is cold").hint("warm it"));
        }
        let mut state = self.state();
        assert!(state.running.insert(task.clone()), "{task} runs twice");
        state.exits.remove(&task);
        let handle = TaskHandle { id: request.id, driver: "scripted".to_owned(), state: serde_json::Value::Null };
        Ok(Started { handle, address: None, started_at: now() })
    }

    async fn recover(&self, handle: &TaskHandle, _request: StartRequest) -> Result<Recovered, DriverError> {
        let task = handle_name(handle);
        self.call(format!("recover {task}"));
        let state = self.state();
        if state.running.contains(&task) {
            return Ok(Recovered::Running { started_at: now() });
        }
        Ok(state.exits.get(&task).map_or(Recovered::Gone, |exit| Recovered::Exited(exit.clone())))
    }

    async fn wait(&self, handle: &TaskHandle) -> Result<ExitResult, DriverError> {
        let task = handle_name(handle);
        loop {
            let changed = self.changed.notified();
            if let Some(exit) = self.state().exits.get(&task) {
                return Ok(exit.clone());
            }
            changed.await;
        }
    }

    async fn stop(&self, handle: &TaskHandle, _signal: &str, _timeout: GoDuration) -> Result<(), DriverError> {
        let task = handle_name(handle);
        self.call(format!("stop {task}"));
        let mut state = self.state();
        if state.running.remove(&task) {
            state.calls.push(format!("stopped {task}"));
            let exit =
                ExitResult { exit_code: 0, signal: 2, oom_killed: false, by_engine: false, message: String::new() };
            state.exits.insert(task, exit);
        }
        self.changed.notify_waiters();
        Ok(())
    }

    async fn destroy(&self, handle: &TaskHandle) -> Result<(), DriverError> {
        self.call(format!("destroy {}", handle_name(handle)));
        Ok(())
    }

    async fn signal(&self, _handle: &TaskHandle, _signal: &str) -> Result<(), DriverError> {
        Ok(())
    }

    async fn forget(&self, alloc: AllocId, _ended_at: Timestamp) -> Result<(), DriverError> {
        self.call(format!("forget {}", alloc.as_u128()));
        if self.away { Err(DriverError::retry("the engine is away")) } else { Ok(()) }
    }

    async fn restore(&self, known: Vec<KnownAllocation>) -> Result<(), DriverError> {
        let ids: Vec<_> = known.iter().map(|entry| entry.alloc.as_u128().to_string()).collect();
        self.call(format!("restore {}", ids.join(" ")));
        Ok(())
    }

    async fn shutdown(&self) {}
}
