//! Updates that wait for their image (K8): what runs is replaced only on a node that has what the replacement needs.
//!
//! - W1: an allocation that runs is not stopped by a plan unless the node of its replacement has said that it has the
//!   images, or runs an allocation of the same version of the group, all of whose tasks still hold the same.
//! - W2: a wish stays with its node for as long as that node can take the replacement: later looks do not wander.
//! - W3: what waits takes no room from anything else in the plan, and is given none.

use longshore_model::{
    Allocation, ClientStatus, Deployment, DeploymentId, IdSource, ImageWish, TaskPhase, Timestamp, WishAnswer,
};
use longshore_state::State;
use longshore_values::GoDuration;

use crate::Outcome;
use crate::place::Stack;
use crate::reconcile::Placement;

/// How long a node keeps what it was wished to have.
const LIFE: GoDuration = GoDuration::hours(1);

/// Places what its node is ready for, and wishes the rest its images. To be called last: what waits is placed for trial.
pub(crate) fn place_when_ready(
    state: &State,
    stack: &mut Stack<'_>,
    placements: Vec<Placement>,
    id: DeploymentId,
    now: Timestamp,
    ids: &mut dyn IdSource,
    outcome: &mut Outcome,
) {
    let known = state.deployment(id).map(AsRef::as_ref);
    let mut others = Vec::new();
    for placement in placements {
        let wish = known.zip(placement.previous.as_ref()).and_then(|(known, alloc)| wish_of(known, alloc));
        match wish {
            Some(wish) if wish.is_ready(now) => match stack.place(&placement, Some(wish.node), Some(id), now, ids) {
                Ok(alloc) => outcome.placed(&placement, alloc),
                Err(_) => others.push((placement, None)),
            },
            wish => others.push((placement, wish)),
        }
    }
    let mut on_trial = false;
    for (placement, wish) in others {
        let Some(running) = placement.previous.clone() else { continue };
        if let Some(wish) = wish {
            let over = wish.answer != Some(WishAnswer::Ready) && !wish.is_open(now);
            // What has failed, or was never answered, ends the deployment; what is asked for is waited for where it is.
            if over || wish.is_open(now) && stack.place(&placement, Some(wish.node), Some(id), now, ids).is_ok() {
                on_trial = true;
                continue;
            }
        }
        match stack.place(&placement, None, Some(id), now, ids) {
            Ok(alloc) if !on_trial && is_ready_for(state, known, &alloc, now) => outcome.placed(&placement, alloc),
            Ok(alloc) => {
                on_trial = true;
                outcome.plan.wishes.push((id, new_wish(&running, alloc, placement.images, now)));
            }
            Err(metric) => outcome.unplaced(&placement.group.clone(), &placement, *metric),
        }
    }
}

fn wish_of<'a>(deployment: &'a Deployment, alloc: &Allocation) -> Option<&'a ImageWish> {
    deployment.wishes.iter().find(|wish| wish.alloc == alloc.id)
}

fn new_wish(running: &Allocation, on_trial: Allocation, images: Vec<String>, now: Timestamp) -> ImageWish {
    ImageWish {
        alloc: running.id,
        group: on_trial.group,
        node: on_trial.node,
        node_name: on_trial.node_name,
        images,
        since: now,
        expires_at: now.plus(LIFE),
        answer: None,
    }
}

/// Whether the node has what this placement needs, by what it said or by what runs there.
fn is_ready_for(state: &State, deployment: Option<&Deployment>, alloc: &Allocation, now: Timestamp) -> bool {
    let node = alloc.node;
    let said = |wish: &ImageWish| wish.node == node && wish.group == alloc.group && wish.is_ready(now);
    let runs = |known: &Allocation| {
        known.node == node
            && known.group == alloc.group
            && known.job_version == alloc.job_version
            && known.job_spec.create_index == alloc.job_spec.create_index
            && known.client_status == ClientStatus::Running
            && !known.server_terminal()
            // A task that is over has let go of its image.
            && known.task_states.values().all(|task| task.phase != TaskPhase::Dead)
    };
    deployment.is_some_and(|known| known.wishes.iter().any(said))
        || state.allocations_of_job(&alloc.job).any(|known| runs(known))
}

#[cfg(test)]
mod tests;
