//! Looks at every active deployment when something of it changed and when its time has come.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use longshore_model::{Deployment, DeploymentId, IdSource, Timestamp};
use longshore_state::{Change, DeploymentChange, Effect, EvaluationChange, State};
use longshore_values::GoDuration;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::judge::{Verdict, failure, judge, look};
use crate::clock::{self, SystemIds};
use crate::error::ServerError;
use crate::published::Published;
use crate::writer::Proposer;

/// After a change that could not be made durable.
const RETRY_DELAY: GoDuration = GoDuration::seconds(5);

/// Tells the watcher what may have changed.
#[derive(Clone)]
pub(crate) struct Wakes(mpsc::UnboundedSender<DeploymentId>);

impl Wakes {
    pub(crate) fn channel() -> (Self, mpsc::UnboundedReceiver<DeploymentId>) {
        let (sender, inbox) = mpsc::unbounded_channel();
        (Self(sender), inbox)
    }

    pub(crate) fn follow(&self, state: &State, effects: &[Effect]) {
        for effect in effects {
            let id = match effect {
                Effect::Deployment(id) => Some(*id),
                // News that came while it was worked on may still need a look.
                Effect::EvaluationEnded(id) => state
                    .evaluation(*id)
                    .and_then(|evaluation| state.latest_deployment(&evaluation.job))
                    .map(|deployment| deployment.id),
                _ => None,
            };
            if let Some(id) = id
                && state.deployment(id).is_some_and(|deployment| deployment.status.is_active())
            {
                // Closed only when all ends.
                let _ = self.0.send(id);
            }
        }
    }
}

pub(crate) async fn run(
    mut wakes: mpsc::UnboundedReceiver<DeploymentId>,
    published: Arc<Published>,
    proposer: Proposer,
    end: CancellationToken,
) {
    let active = |deployment: &&Arc<Deployment>| deployment.status.is_active();
    let mut looks: BTreeSet<DeploymentId> =
        published.snapshot().deployments().filter(active).map(|deployment| deployment.id).collect();
    let mut deadlines: BTreeMap<DeploymentId, Timestamp> = BTreeMap::new();
    loop {
        for id in std::mem::take(&mut looks) {
            deadlines.remove(&id);
            match look_at(&published.snapshot(), id, &proposer).await {
                Ok(Some(at)) => {
                    deadlines.insert(id, at);
                }
                Ok(None) => {}
                Err(ServerError::ShuttingDown) => return,
                Err(why) => {
                    tracing::error!(deployment.id = %id, %why, "the deployment could not go on; it is tried again");
                    deadlines.insert(id, clock::now().plus(RETRY_DELAY));
                }
            }
        }
        let next = deadlines.values().min().map(|at| at.since(clock::now()).to_std());
        let mut woken = Vec::new();
        tokio::select! {
            count = wakes.recv_many(&mut woken, 1_024) => {
                if count == 0 {
                    return;
                }
            }
            () = tokio::time::sleep(next.unwrap_or(Duration::from_secs(3_600))) => {}
            () = end.cancelled() => return,
        }
        looks.extend(woken);
        let now = clock::now();
        looks.extend(deadlines.iter().filter(|(_, at)| **at <= now).map(|(id, _)| *id));
    }
}

/// Returns when to look again if nothing changes.
#[tracing::instrument(name = "deployment", skip_all, fields(deployment.id = %id))]
async fn look_at(state: &State, id: DeploymentId, proposer: &Proposer) -> Result<Option<Timestamp>, ServerError> {
    let Some(deployment) = state.deployment(id) else { return Ok(None) };
    if let Verdict::Wait { until } = judge(state, deployment, clock::now()) {
        return Ok(until);
    }
    // Judged again on the newest state, for the change must rest on that.
    proposer.propose(move |state, now| Ok((act(state, id, now, &mut SystemIds), ()))).await?;
    Ok(None)
}

fn act(state: &State, id: DeploymentId, now: Timestamp, ids: &mut dyn IdSource) -> Option<Change> {
    let deployment = state.deployment(id)?;
    match judge(state, deployment, now) {
        Verdict::Wait { .. } => None,
        Verdict::Evaluate => {
            let evaluation = look(state, deployment, now, ids)?;
            Some(Change::Evaluation(EvaluationChange::Upsert(vec![evaluation])))
        }
        Verdict::Reschedule(allocations) => {
            tracing::info!(allocations = allocations.len(), "failed allocations are tried again");
            let evaluation = look(state, deployment, now, ids);
            let change = DeploymentChange::AllowReschedule { deployment: id, allocations, evaluation };
            Some(Change::Deployment(Box::new(change)))
        }
        Verdict::Fail { description, auto_revert } => {
            let change = failure(state, deployment, &description, auto_revert, now, ids);
            tracing::warn!(job.id = %deployment.job, description = %change.description, "deployment failed");
            Some(Change::Deployment(Box::new(DeploymentChange::Status(Box::new(change)))))
        }
    }
}
