//! A server with pretended nodes: they start, fail and stop what they are given, as the image's name says.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use longshore_journal::{MemoryJournal, Opened};
use longshore_link::{NodeAllocations, ServerLink, WishedImages};
use longshore_model::*;
use longshore_server::{JobAnswer, RegisterJob, Server, ServerConfig};
use longshore_state::State;
use tokio_util::sync::CancellationToken;

/// Nothing here takes a tenth of it; what never comes fails the test then.
const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) async fn server() -> Server {
    server_from(MemoryJournal::default().open()).await
}

pub(crate) async fn server_from(opened: Opened) -> Server {
    Server::start(ServerConfig { workers: 2, ..ServerConfig::default() }, opened).await.unwrap()
}

pub(crate) async fn register(server: &Server, job: &Job) -> JobAnswer {
    let request = RegisterJob { job: job.clone(), enforce_index: None, eval_priority: None, kept_counts: None };
    server.register_job(request).await.unwrap()
}

/// The first state that the predicate accepts.
#[track_caller]
pub(crate) fn eventually(
    server: &Server,
    what: &'static str,
    is_there: impl Fn(&State) -> bool + Send,
) -> impl Future<Output = Arc<State>> {
    let caller = std::panic::Location::caller();
    async move {
        match server.wait_until(PATIENCE, is_there).await {
            Some(state) => state,
            None => panic!("at {caller}: never saw {what}; the state is {}", told(&server.snapshot())),
        }
    }
}

/// What a person needs to see why a test waits for ever.
pub(crate) fn told(state: &State) -> String {
    let mut lines = vec![String::new()];
    for job in state.jobs() {
        lines.push(format!("job {} v{} {:?} stable={}", job.key, job.version, job.status, job.stable));
    }
    for it in state.evaluations() {
        let (status, why) = (it.status.word(), &it.status_description);
        lines.push(format!(
            "eval {} {} {status} {why:?} {:?}",
            it.id.short(),
            it.triggered_by,
            it.failed_groups.keys()
        ));
    }
    for it in state.allocations() {
        let (wanted, is) = (it.desired_status.word(), it.client_status.word());
        let healthy = it.deployment_status.and_then(|status| status.healthy);
        lines.push(format!("alloc {} {} v{} {wanted}/{is} {healthy:?}", it.id.short(), it.name, it.job_version));
    }
    for it in state.deployments() {
        let (status, why) = (it.status.word(), &it.status_description);
        lines.push(format!("deployment {} v{} {status} {why:?}", it.id.short(), it.job_version));
    }
    lines.join("\n")
}

pub(crate) fn live(state: &State, job: &Job) -> Vec<Arc<Allocation>> {
    let mut live: Vec<_> = state.allocations_of_job(&job.key).filter(|alloc| !alloc.is_terminal()).cloned().collect();
    live.sort_by_key(|alloc| alloc.name.clone());
    live
}

pub(crate) fn deployment_is(state: &State, job: &Job, version: u64, status: DeploymentStatus) -> bool {
    state
        .latest_deployment(&job.key)
        .is_some_and(|deployment| deployment.job_version == version && deployment.status == status)
}

/// A node that acts by itself until it is dropped.
pub(crate) struct SimNode {
    pub(crate) id: NodeId,
    end: CancellationToken,
}

impl Drop for SimNode {
    fn drop(&mut self) {
        self.end.cancel();
    }
}

impl SimNode {
    pub(crate) async fn start(server: &Server, node: Node) -> Self {
        let (id, end) = (node.id, CancellationToken::new());
        let order = server.register(node).await.unwrap();
        let acting = act(server.clone(), id);
        let beating = beat(server.clone(), id, order.ttl.to_std() / 4);
        let ended = end.clone();
        tokio::spawn(async move {
            tokio::select! {
                () = acting => {}
                () = beating => {}
                () = ended.cancelled() => {}
            }
        });
        Self { id, end }
    }
}

async fn beat(server: Server, id: NodeId, every: Duration) {
    while server.heartbeat(id).await.is_ok() {
        tokio::time::sleep(every).await;
    }
}

async fn act(server: Server, id: NodeId) {
    let mut index = LogIndex::default();
    let mut told: BTreeMap<AllocId, ClientStatus> = BTreeMap::new();
    while let Ok(NodeAllocations { index: newer, allocations, wishes, .. }) = server.watch_allocations(id, index).await
    {
        index = newer;
        let answers = wishes.iter().filter_map(answer).collect();
        if server.report_images(id, answers).await.is_err() {
            return;
        }
        for alloc in allocations {
            let before = told.get(&alloc.id).copied().unwrap_or(alloc.client_status);
            if before.is_terminal() {
                continue;
            }
            let reports = if alloc.server_terminal() {
                vec![report(&alloc, ClientStatus::Complete, None)]
            } else {
                start(&alloc, before)
            };
            for report in reports {
                told.insert(alloc.id, report.client_status);
                if server.report(id, vec![report]).await.is_err() {
                    return;
                }
            }
        }
    }
}

/// What comes of an image that is wished for: one that is `missing` cannot be had, one that is `slow` never comes.
fn answer(wished: &WishedImages) -> Option<WishReport> {
    let group = wished.job.group(&wished.group)?;
    let image = group.tasks[0].config["image"].as_str().unwrap_or_default();
    let answer = match image.split(':').next() {
        Some("slow") => return None,
        Some("missing") => WishAnswer::Failed { why: "no such image".to_owned() },
        _ => WishAnswer::Ready,
    };
    Some(WishReport { deployment: wished.deployment, group: wished.group.clone(), since: wished.since, answer })
}

/// What comes of an allocation that is given, given once more for a new deployment, or found after a crash.
fn start(alloc: &Allocation, before: ClientStatus) -> Vec<AllocationReport> {
    let image = alloc.job_spec.groups[0].tasks[0].config["image"].as_str().unwrap_or_default();
    let running = report(alloc, ClientStatus::Running, None);
    if image.starts_with("failing") {
        return vec![running, report(alloc, ClientStatus::Failed, Some(false))];
    }
    if image.starts_with("starting") {
        return if before == ClientStatus::Pending { vec![running] } else { Vec::new() };
    }
    if image.starts_with("finishing") {
        return vec![running, report(alloc, ClientStatus::Complete, None)];
    }
    if alloc.is_healthy() {
        return Vec::new();
    }
    vec![running, report(alloc, ClientStatus::Running, Some(true))]
}

pub(crate) fn report(alloc: &Allocation, status: ClientStatus, healthy: Option<bool>) -> AllocationReport {
    let now = now();
    let ended = status.is_terminal();
    let task = TaskState {
        phase: if ended { TaskPhase::Dead } else { TaskPhase::Running },
        failed: status == ClientStatus::Failed,
        started_at: now,
        finished_at: if ended { now } else { Timestamp::NEVER },
        ..TaskState::default()
    };
    AllocationReport {
        alloc: alloc.id,
        client_status: status,
        client_description: String::new(),
        task_states: BTreeMap::from([("main".to_owned(), task)]),
        healthy: healthy.map(|healthy| (healthy, now)),
        deployment: alloc.deployment,
        network_status: None,
    }
}

fn now() -> Timestamp {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    Timestamp::from_nanoseconds(i64::try_from(since.as_nanos()).unwrap())
}
