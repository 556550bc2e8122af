//! From a snapshot and an evaluation to a plan, with the reasons for it. No I/O, no clock, no chance of its own.
//!
//! - P1: the same snapshot, evaluation, `now` and ids give the same plan.
//! - P2: no placement on a node that a constraint, its drivers, its room or its ports exclude.
//! - P3: every node that is feasible is considered, not a sample.
//! - P4: what cannot be placed is told group by group, with what excluded how many nodes.

mod outcome;
mod place;
mod reconcile;
#[cfg(test)]
mod tests;
mod wait;
#[cfg(test)]
mod world;

use longshore_model::{EvalId, EvalStatus, Evaluation, IdSource, Job, Timestamp, Trigger};
use longshore_state::State;

pub use outcome::{GroupAnnotation, Outcome};
pub use reconcile::may_reschedule;

use place::Stack;
use reconcile::{Placement, Reconciled};

/// What a job's allocations should become, seen from `state`. The caller verifies the plan against newer state.
pub fn plan(state: &State, evaluation: &Evaluation, now: Timestamp, ids: &mut dyn IdSource) -> Outcome {
    let job = state.job(&evaluation.job);
    let reconciled = reconcile::reconcile(state, evaluation, job.map(AsRef::as_ref), now, ids);
    let mut outcome = Outcome::new(evaluation, job.map(AsRef::as_ref));
    outcome.take_reconciled(&reconciled);
    if let Some(job) = job.filter(|job| !job.stop) {
        place_all(state, evaluation, job, reconciled, now, ids, &mut outcome);
    }
    finish(evaluation, now, ids, &mut outcome);
    outcome
}

fn place_all(
    state: &State,
    evaluation: &Evaluation,
    job: &std::sync::Arc<Job>,
    reconciled: Reconciled,
    now: Timestamp,
    ids: &mut dyn IdSource,
    outcome: &mut Outcome,
) {
    let mut stack = Stack::new(state, evaluation, job, &outcome.plan.stops);
    let deployment = reconciled.deployment_of_placements();
    for known in reconciled.in_place {
        stack.update_in_place(&known, deployment, evaluation, outcome);
    }
    let mut placements = reconciled.placements;
    placements.extend(stack.take_misfits());
    let (waiting, free): (Vec<_>, Vec<_>) =
        placements.into_iter().partition(|placement| !placement.images.is_empty() && deployment.is_some());
    for placement in free {
        let Placement { group, .. } = &placement;
        match stack.place(&placement, None, deployment, now, ids) {
            Ok(alloc) => outcome.placed(&placement, alloc),
            Err(metric) => outcome.unplaced(&group.clone(), &placement, *metric),
        }
    }
    if let Some(deployment) = deployment {
        wait::place_when_ready(state, &mut stack, waiting, deployment, now, ids, outcome);
    }
    outcome.class_eligibility = stack.class_eligibility();
    outcome.escaped = stack.escaped();
}

/// The evaluation's own end, and the one that waits for room in its place.
fn finish(evaluation: &Evaluation, now: Timestamp, ids: &mut dyn IdSource, outcome: &mut Outcome) {
    let mut done = evaluation.clone();
    done.status = EvalStatus::Complete;
    done.status_description = String::new();
    done.failed_groups = std::mem::take(&mut outcome.failed_groups);
    done.queued_allocations = std::mem::take(&mut outcome.queued);
    done.modify_time = now;
    if let Some(deployment) = outcome.deployment() {
        done.deployment = Some(deployment);
    }
    if done.failed_groups.is_empty() {
        outcome.evaluation = done;
        return;
    }
    if evaluation.status == EvalStatus::Blocked {
        done.status = EvalStatus::Blocked;
        // It goes on waiting for what it was made for.
        done.status_description.clone_from(&evaluation.status_description);
        done.class_eligibility = std::mem::take(&mut outcome.class_eligibility);
        done.escaped_computed_class = outcome.escaped;
        outcome.evaluation = done;
        return;
    }
    outcome.evaluation = done;
    let blocked = blocked_evaluation(evaluation, EvalId::fresh(ids), Trigger::QueuedAllocs, now, outcome);
    outcome.evaluation.blocked_eval = Some(blocked.id);
    outcome.blocked = Some(blocked);
}

/// The evaluation that waits for room on behalf of `evaluation`, with what kept the outcome's groups from being placed.
pub fn blocked_evaluation(
    evaluation: &Evaluation,
    id: EvalId,
    trigger: Trigger,
    now: Timestamp,
    outcome: &Outcome,
) -> Evaluation {
    let mut blocked =
        Evaluation::pending(id, evaluation.job.clone(), evaluation.kind, evaluation.priority, trigger, now);
    blocked.status = EvalStatus::Blocked;
    blocked.status_description = match trigger {
        Trigger::MaxPlanAttempts => "created due to placement conflicts".to_owned(),
        _ => "created to place remaining allocations".to_owned(),
    };
    blocked.previous_eval = Some(evaluation.id);
    blocked.job_modify_index = evaluation.job_modify_index;
    blocked.failed_groups = outcome.evaluation.failed_groups.clone();
    blocked.class_eligibility = outcome.class_eligibility.clone();
    blocked.escaped_computed_class = outcome.escaped;
    blocked
}
