//! What a deployment needs next (scheduling facts, section 7). Decides only.
//!
//! - D1: a deployment fails when an unhealthy allocation cannot be tried again, when its group gives no time
//!   (`progress_deadline` 0), or when nothing became healthy for as long as the group allows.
//! - D2: news of health leads to another look by the scheduler, which goes on or declares success.
//! - D3: a failed deployment goes back to the newest other stable version, once, if its group wants that.
//! - D4: a deployment of a job that was stopped or registered anew meanwhile decides nothing any more: what its owner said
//!   last is never undone.
//! - D5: it fails with the reason when the image that its next replacement needs cannot be had; nothing was stopped for
//!   it (K8).
//! - D6: one that fails while it waits for an image says which, where, and what stands in its way.

use std::sync::Arc;

use longshore_model::{
    AllocId, Allocation, ClientStatus, Deployment, DeploymentGroup, DeploymentStatus, EvalId, EvalStatus, Evaluation,
    IdSource, ImageWish, Job, LogIndex, Timestamp, Trigger, WishAnswer,
};
use longshore_state::{DeploymentStatusChange, State};

#[derive(Debug, PartialEq)]
pub(crate) enum Verdict {
    /// Nothing before this instant, if nothing else changes.
    Wait {
        until: Option<Timestamp>,
    },
    /// The scheduler is to look again.
    Evaluate,
    /// Failed allocations may be tried again.
    Reschedule(Vec<AllocId>),
    Fail {
        description: String,
        auto_revert: bool,
    },
}

const PROGRESS_DEADLINE: &str = "Failed due to progress deadline";
const UNHEALTHY: &str = "Failed due to unhealthy allocations";

pub(crate) fn judge(state: &State, deployment: &Deployment, now: Timestamp) -> Verdict {
    if deployment.status != DeploymentStatus::Running || is_outdated(state, deployment) {
        return Verdict::Wait { until: None };
    }
    if let Some((wish, why)) = deployment.wishes.iter().find_map(|wish| Some((wish, failed_wish(wish, now)?))) {
        let description = format!("Failed due to image {} on node {}: {why}", wish.images_text(), wish.node_name);
        let auto_revert = deployment.groups.get(&wish.group).is_some_and(|group| group.auto_revert);
        return Verdict::Fail { description, auto_revert };
    }
    let mut reschedule = Vec::new();
    for alloc in state.allocations_of_deployment(deployment.id).filter(|alloc| alloc.is_unhealthy()) {
        let Some(group) = deployment.groups.get(&alloc.group) else { continue };
        match judge_unhealthy(alloc, group, now) {
            Unhealthy::Fails => {
                return Verdict::Fail { description: UNHEALTHY.to_owned(), auto_revert: group.auto_revert };
            }
            Unhealthy::Again => reschedule.push(alloc.id),
            Unhealthy::Stays => {}
        }
    }
    let open = deployment.groups.values().filter(|group| !enough_healthy(group) && has_deadline(group));
    let (due, ahead): (Vec<_>, Vec<_>) = open.partition(|group| group.require_progress_by <= now);
    if !due.is_empty() {
        let auto_revert = due.iter().any(|group| group.auto_revert);
        let waits = deployment.wishes.iter().find(|wish| !wish.is_settled());
        let description = match waits {
            Some(wish) => format!("{PROGRESS_DEADLINE} while waiting for {}", wish.waiting_text()),
            None => PROGRESS_DEADLINE.to_owned(),
        };
        return Verdict::Fail { description, auto_revert };
    }
    if !reschedule.is_empty() {
        return Verdict::Reschedule(reschedule);
    }
    if has_news(state, deployment) {
        return Verdict::Evaluate;
    }
    let unanswered = deployment.wishes.iter().filter(|wish| !wish.is_settled()).map(|wish| wish.expires_at);
    Verdict::Wait { until: ahead.into_iter().map(|group| group.require_progress_by).chain(unanswered).min() }
}

/// Why a wish cannot come true any more.
fn failed_wish(wish: &ImageWish, now: Timestamp) -> Option<&str> {
    match &wish.answer {
        Some(WishAnswer::Failed { why }) => Some(why),
        Some(WishAnswer::Delayed { why }) if wish.expires_at <= now => Some(why),
        None if wish.expires_at <= now => Some("the node has not answered in time"),
        Some(WishAnswer::Ready | WishAnswer::Delayed { .. }) | None => None,
    }
}

/// The scheduler is about to cancel it (D4).
fn is_outdated(state: &State, deployment: &Deployment) -> bool {
    state.job(&deployment.job).is_none_or(|job| {
        job.stop || job.version != deployment.job_version || job.create_index != deployment.job_create_index
    })
}

enum Unhealthy {
    Fails,
    Again,
    Stays,
}

fn judge_unhealthy(alloc: &Allocation, group: &DeploymentGroup, now: Timestamp) -> Unhealthy {
    if group.progress_deadline.is_zero() {
        return Unhealthy::Fails;
    }
    let over = alloc.server_terminal() || alloc.next_alloc.is_some() || alloc.desired_transition.reschedule;
    // One that still runs but did not become healthy in time holds the roll-out up until the group's deadline.
    if over || alloc.client_status != ClientStatus::Failed {
        return Unhealthy::Stays;
    }
    let policy = alloc.job_spec.group(&alloc.group).and_then(|group| group.reschedule.as_ref());
    if longshore_scheduler::may_reschedule(alloc, policy, now) { Unhealthy::Again } else { Unhealthy::Fails }
}

fn has_deadline(group: &DeploymentGroup) -> bool {
    !group.require_progress_by.is_never()
}

fn enough_healthy(group: &DeploymentGroup) -> bool {
    let canarying = group.desired_canaries > 0 && !group.promoted;
    group.healthy_allocs >= if canarying { group.desired_canaries } else { group.desired_total }
}

/// Whether something became healthy that no evaluation has seen or is about to see (D2).
fn has_news(state: &State, deployment: &Deployment) -> bool {
    let news = state
        .allocations_of_deployment(deployment.id)
        .filter(|alloc| alloc.is_healthy())
        .filter_map(|alloc| alloc.deployment_status.map(|status| status.modify_index))
        .max();
    let Some(news) = news else { return false };
    let mut seen = LogIndex::default();
    for evaluation in state.evaluations_of_job(&deployment.job) {
        if evaluation.status == EvalStatus::Pending && evaluation.wait_until.is_never() {
            return false;
        }
        seen = seen.max(evaluation.snapshot_index);
    }
    news > seen
}

/// The version to go back to (D3), and what the description says of it.
fn rollback_target(state: &State, deployment: &Deployment) -> (Option<Arc<Job>>, String) {
    if is_outdated(state, deployment) {
        return (None, String::new());
    }
    let stable = state.job_versions(&deployment.job).find(|job| job.stable && job.version != deployment.job_version);
    let Some(stable) = stable else { return (None, " - no stable job version to auto revert to".to_owned()) };
    let version = stable.version;
    if state.job(&deployment.job).is_some_and(|current| current.document_digest == stable.document_digest) {
        let why = "as current job has same specification";
        return (None, format!(" - not rolling back to stable job version {version} {why}"));
    }
    (Some(Arc::clone(stable)), format!(" - rolling back to job version {version}"))
}

/// The change that fails a deployment, with the look that follows.
pub(crate) fn failure(
    state: &State,
    deployment: &Deployment,
    description: &str,
    auto_revert: bool,
    now: Timestamp,
    ids: &mut dyn IdSource,
) -> DeploymentStatusChange {
    let (revert, suffix) = if auto_revert { rollback_target(state, deployment) } else { (None, String::new()) };
    DeploymentStatusChange {
        deployment: deployment.id,
        status: DeploymentStatus::Failed,
        description: format!("{description}{suffix}"),
        revert,
        evaluation: look(state, deployment, now, ids),
    }
}

/// Another look by the scheduler; `None` when the job is gone.
pub(crate) fn look(
    state: &State,
    deployment: &Deployment,
    now: Timestamp,
    ids: &mut dyn IdSource,
) -> Option<Evaluation> {
    let job = state.job(&deployment.job)?;
    let id = EvalId::fresh(ids);
    let trigger = Trigger::DeploymentWatcher;
    let mut evaluation = Evaluation::pending(id, job.key.clone(), job.kind, job.priority, trigger, now);
    evaluation.job_modify_index = job.job_modify_index;
    evaluation.deployment = Some(deployment.id);
    Some(evaluation)
}

#[cfg(test)]
mod tests;
