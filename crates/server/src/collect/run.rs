use std::sync::{Arc, Mutex, PoisonError};

use longshore_model::{JobKey, JobStatus, LogIndex, NodeId, NodeStatus, Timestamp};
use longshore_state::{Change, DeploymentChange, EvaluationChange, JobChange, NodeChange, State};
use longshore_values::GoDuration;
use tokio_util::sync::CancellationToken;

use super::select::{Cutoffs, Garbage, select};
use super::times::Times;
use crate::clock;
use crate::config::CollectConfig;
use crate::error::ServerError;
use crate::published::Published;
use crate::writer::Proposer;

/// What one change of the journal forgets at most.
const PIECE: usize = 2_000;

pub(crate) async fn run(
    config: CollectConfig,
    times: Arc<Mutex<Times>>,
    published: Arc<Published>,
    proposer: Proposer,
    end: CancellationToken,
) {
    loop {
        tokio::select! {
            () = tokio::time::sleep(config.interval.to_std()) => {}
            () = end.cancelled() => return,
        }
        let cutoffs = cutoffs(&config, &times.lock().unwrap_or_else(PoisonError::into_inner), clock::now());
        match collect(&published.snapshot(), &cutoffs, &proposer).await {
            Ok(0) => {}
            Ok(count) => tracing::info!(count, "forgot what had ended"),
            Err(ServerError::ShuttingDown) => return,
            Err(why) => tracing::error!(%why, "what has ended is not forgotten yet; it is tried again"),
        }
    }
}

fn cutoffs(config: &CollectConfig, times: &Times, now: Timestamp) -> Cutoffs {
    let before = |age: GoDuration| times.index_at(now.minus(age));
    Cutoffs {
        evaluations: before(config.evaluation_age),
        batch_evaluations: before(config.batch_evaluation_age),
        jobs: before(config.job_age),
        deployments: before(config.deployment_age),
        nodes: before(config.node_age),
    }
}

impl Cutoffs {
    /// Everything that has ended, however young.
    pub(crate) fn none() -> Self {
        let all = LogIndex(u64::MAX);
        Self { evaluations: all, batch_evaluations: all, jobs: all, deployments: all, nodes: all }
    }
}

/// Returns how many things were forgotten.
pub(crate) async fn collect(state: &State, cutoffs: &Cutoffs, proposer: &Proposer) -> Result<usize, ServerError> {
    let mut garbage = select(state, cutoffs, clock::now());
    let count = garbage.count();
    let jobs = std::mem::take(&mut garbage.jobs);
    let nodes = std::mem::take(&mut garbage.nodes);
    for change in changes(garbage) {
        proposer.propose(move |_, _| Ok((Some(change), ()))).await?;
    }
    if !nodes.is_empty() {
        proposer.propose(move |state, _| Ok((remove(state, nodes), ()))).await?;
    }
    // Jobs go last: a crash in between leaves them to the next collection.
    let seen = state.index();
    for key in jobs {
        proposer.propose(move |state, _| Ok((purge(state, key, seen), ()))).await?;
    }
    Ok(count)
}

/// A node may have come back meanwhile.
fn remove(state: &State, mut nodes: Vec<NodeId>) -> Option<Change> {
    nodes.retain(|id| state.node(*id).is_some_and(|node| node.status == NodeStatus::Down));
    (!nodes.is_empty()).then_some(Change::Node(NodeChange::Remove(nodes)))
}

/// What has ended stays as it is, so it may be forgotten whenever; but a job may have come back to life.
fn purge(state: &State, key: JobKey, seen: LogIndex) -> Option<Change> {
    let job = state.job(&key)?;
    let open = state.evaluations_of_job(&key).any(|evaluation| !evaluation.status.is_terminal());
    if open || job.status != JobStatus::Dead || job.modify_index > seen {
        return None;
    }
    Some(Change::Job(Box::new(JobChange::Deregister { key, purge: true, no_shutdown_delay: false, evaluation: None })))
}

fn changes(garbage: Garbage) -> Vec<Change> {
    let Garbage { evaluations, allocations, deployments, .. } = garbage;
    let mut changes = Vec::new();
    for piece in allocations.chunks(PIECE) {
        let allocations = piece.to_vec();
        changes.push(Change::Evaluation(EvaluationChange::Collect { evaluations: Vec::new(), allocations }));
    }
    for piece in evaluations.chunks(PIECE) {
        let evaluations = piece.to_vec();
        changes.push(Change::Evaluation(EvaluationChange::Collect { evaluations, allocations: Vec::new() }));
    }
    if !deployments.is_empty() {
        changes.push(Change::Deployment(Box::new(DeploymentChange::Collect(deployments))));
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{World, node};

    #[test]
    fn a_node_that_came_back_meanwhile_stays() {
        let mut world = World::with_nodes(2);
        let (gone, back) = (node(1).id, node(2).id);
        let status = NodeStatus::Down;
        world.change(Change::Node(NodeChange::Status { node: gone, status, event: None, evaluations: Vec::new() }));
        let change = remove(&world.state, vec![gone, back]);
        assert_eq!(change, Some(Change::Node(NodeChange::Remove(vec![gone]))));
        assert_eq!(remove(&world.state, vec![back]), None);
    }
}
