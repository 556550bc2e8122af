use std::sync::Arc;

use longshore_jobs::{UpdateKind, update_kind};
use longshore_model::{
    Allocation, ClientStatus, DeploymentStatus, EvalId, Evaluation, IdSource, TaskGroup, Timestamp, Trigger,
};
use longshore_state::AllocStop;
use longshore_values::GoDuration;

use super::images;
use super::names::Names;
use super::reschedule::{self, Verdict};
use super::{
    NodeTaint, Picture, Placement, Reconciled, STOP_LOST, STOP_MIGRATED, STOP_NOT_NEEDED, STOP_RESCHEDULED,
    STOP_UPDATED, deployment, taint,
};

/// Delayed reschedules this close to each other share one evaluation.
const FOLLOW_UP_WINDOW: GoDuration = GoDuration::seconds(5);

/// The allocations of one group, by what has to happen to them.
#[derive(Default)]
struct Sorted {
    /// They count: running, to be, or done (batch).
    untainted: Vec<Arc<Allocation>>,
    migrate: Vec<Arc<Allocation>>,
    lost: Vec<Arc<Allocation>>,
    reschedule: Vec<Arc<Allocation>>,
    /// They count until their time comes.
    reschedule_later: Vec<(Arc<Allocation>, Timestamp)>,
}

/// Whether the group needs nothing more (for its deployment's end).
pub(super) fn reconcile_group(
    picture: &Picture<'_>,
    group: &TaskGroup,
    allocations: Vec<Arc<Allocation>>,
    result: &mut Reconciled,
    ids: &mut dyn IdSource,
) -> bool {
    let had_this_version = allocations.iter().any(|alloc| is_current(picture, alloc));
    let mut sorted = sort(picture, group, allocations);
    note_later(picture, &sorted, result, ids);
    let mut annotation = crate::GroupAnnotation::default();

    let count = group.count as usize;
    let surplus = stop_surplus(&mut sorted, count);
    annotation.stop += u32_of(surplus.len());
    result.stops.extend(surplus.iter().map(|alloc| stop_of(alloc, STOP_NOT_NEEDED, None)));

    let mut names = Names::new(&picture.job.key.id, &group.name);
    for alloc in sorted.untainted.iter().chain(&sorted.migrate).chain(&sorted.lost).chain(&sorted.reschedule) {
        names.take(alloc.index());
    }

    let (ignored, in_place, destructive) = sort_updates(picture, group, std::mem::take(&mut sorted.untainted));
    let updating = !in_place.is_empty() || !destructive.is_empty();
    let rolled_out = group.roll_out().is_some();
    if rolled_out && picture.deployment.is_none() && count > 0 && (updating || !had_this_version) {
        deployment::add_group(picture, group, result, ids);
    }

    let kept = ignored.len() + in_place.len() + destructive.len();
    let limit = update_limit(picture, group, &ignored);
    let halted = picture
        .deployment
        .is_some_and(|deployment| matches!(deployment.status, DeploymentStatus::Paused | DeploymentStatus::Failed));

    // Replacements for what is lost or failed come first, then what was never there.
    let mut replaced = 0;
    for alloc in &sorted.lost {
        let stop = stop_of(alloc, STOP_LOST, Some(ClientStatus::Lost));
        if kept + sorted.migrate.len() + replaced < count {
            replaced += 1;
            result.placements.push(replacement(alloc, false, None, Some(stop)));
            annotation.place += 1;
        } else {
            result.stops.push(stop);
        }
    }
    for alloc in &sorted.reschedule {
        let of_failed_deployment = halted && alloc.deployment == picture.deployment.map(|deployment| deployment.id);
        if kept + sorted.migrate.len() + replaced < count && !of_failed_deployment {
            replaced += 1;
            let stop = stop_of(alloc, STOP_RESCHEDULED, None);
            result.placements.push(replacement(alloc, true, Some(stop), None));
            annotation.place += 1;
        }
    }
    let missing = count.saturating_sub(kept + sorted.migrate.len() + replaced);
    if !halted {
        for _ in 0..missing {
            result.placements.push(fresh(group, names.next()));
            annotation.place += 1;
        }
    }
    for alloc in &sorted.migrate {
        // Somebody asked for it to go: it goes, whether there is room for another or not.
        let stop = stop_of(alloc, STOP_MIGRATED, None);
        result.placements.push(replacement(alloc, false, None, Some(stop)));
        annotation.migrate += 1;
    }
    for (at, alloc) in destructive.iter().enumerate() {
        if at < limit.saturating_sub(replaced) {
            let stop = stop_of(alloc, STOP_UPDATED, None);
            let images = if rolled_out { images::to_wait_for(alloc, group) } else { Vec::new() };
            result.placements.push(Placement { images, ..replacement(alloc, false, Some(stop), None) });
            annotation.destructive_update += 1;
        } else {
            annotation.ignore += 1;
        }
    }
    annotation.in_place_update += u32_of(in_place.len());
    annotation.ignore += u32_of(ignored.len());
    let nothing_left = !updating && missing == 0 && replaced == 0 && sorted.migrate.is_empty();
    result.in_place.extend(in_place);
    result.annotations.insert(group.name.clone(), annotation);
    nothing_left
}

fn is_current(picture: &Picture<'_>, alloc: &Allocation) -> bool {
    alloc.job_version == picture.job.version && alloc.job_spec.create_index == picture.job.create_index
}

fn sort(picture: &Picture<'_>, group: &TaskGroup, allocations: Vec<Arc<Allocation>>) -> Sorted {
    let mut sorted = Sorted::default();
    let batch = picture.job.is_batch();
    for alloc in allocations {
        let ended = alloc.client_status.is_terminal();
        // A batch allocation of an older specification has no say about the newer one.
        if batch && ended && !is_current(picture, &alloc) {
            continue;
        }
        // One that was stopped by hand ends without failure too, but its successor does its work.
        let replaced = alloc.server_terminal() && alloc.next_alloc.is_some();
        let done = batch && alloc.client_status == ClientStatus::Complete && alloc.ran_successfully();
        if done && !replaced {
            sorted.untainted.push(alloc);
            continue;
        }
        if alloc.server_terminal() {
            continue;
        }
        match alloc.client_status {
            ClientStatus::Complete | ClientStatus::Lost => {}
            ClientStatus::Failed => sort_failed(picture, group, alloc, &mut sorted),
            ClientStatus::Pending | ClientStatus::Running | ClientStatus::Unknown => {
                if taint(picture.state, alloc.node) == NodeTaint::Gone {
                    sorted.lost.push(alloc);
                } else if alloc.desired_transition.migrate {
                    sorted.migrate.push(alloc);
                } else {
                    sorted.untainted.push(alloc);
                }
            }
        }
    }
    sorted
}

fn sort_failed(picture: &Picture<'_>, group: &TaskGroup, alloc: Arc<Allocation>, sorted: &mut Sorted) {
    // The restart policy or an operator asked for a new one already.
    if alloc.next_alloc.is_some() {
        return;
    }
    if alloc.desired_transition.migrate {
        sorted.reschedule.push(alloc);
        return;
    }
    let rolling = picture
        .deployment
        .is_some_and(|deployment| deployment.status.is_active() && alloc.deployment == Some(deployment.id));
    if rolling && !alloc.desired_transition.reschedule && !alloc.desired_transition.force_reschedule {
        sorted.untainted.push(alloc);
        return;
    }
    let awaited = alloc.followup_eval == Some(picture.evaluation.id);
    match reschedule::verdict(&alloc, group.reschedule.as_ref(), picture.now, awaited) {
        Verdict::No => sorted.untainted.push(alloc),
        Verdict::Now => sorted.reschedule.push(alloc),
        Verdict::At(at) => sorted.reschedule_later.push((alloc, at)),
    }
}

/// Evaluations for what is rescheduled later; those waiting count as they are until then.
fn note_later(picture: &Picture<'_>, sorted: &Sorted, result: &mut Reconciled, ids: &mut dyn IdSource) {
    let mut waiting: Vec<_> = sorted
        .reschedule_later
        .iter()
        .filter(|(alloc, _)| {
            let awaited = alloc.followup_eval.and_then(|id| picture.state.evaluation(id));
            awaited.is_none_or(|evaluation| evaluation.status.is_terminal())
        })
        .collect();
    waiting.sort_by_key(|(alloc, at)| (*at, alloc.id));
    let mut shared: Option<(EvalId, Timestamp)> = None;
    for (alloc, at) in waiting {
        let id = match shared {
            Some((id, first)) if at.since(first) <= FOLLOW_UP_WINDOW => id,
            _ => {
                let id = EvalId::fresh(ids);
                let from = picture.evaluation;
                let mut later = Evaluation::pending(
                    id,
                    from.job.clone(),
                    picture.job.kind,
                    picture.job.priority,
                    Trigger::AllocFailure,
                    picture.now,
                );
                later.status_description = "created for delayed rescheduling".to_owned();
                later.wait_until = *at;
                later.previous_eval = Some(from.id);
                later.job_modify_index = picture.job.job_modify_index;
                result.evaluations.push(later);
                shared = Some((id, *at));
                id
            }
        };
        result.follow_ups.push((alloc.id, id));
    }
}

/// Takes away what is too many: migrating ones first, then the highest numbers.
fn stop_surplus(sorted: &mut Sorted, count: usize) -> Vec<Arc<Allocation>> {
    sorted.untainted.extend(sorted.reschedule_later.drain(..).map(|(alloc, _)| alloc));
    let mut surplus = (sorted.untainted.len() + sorted.migrate.len()).saturating_sub(count);
    let mut stopped = Vec::new();
    for list in [&mut sorted.migrate, &mut sorted.untainted] {
        list.sort_by_key(|alloc| (alloc.index(), alloc.create_index, alloc.id));
        while surplus > 0 {
            let Some(alloc) = list.pop() else { break };
            surplus -= 1;
            // What has ended needs no stop; it only counts no more.
            if !alloc.client_status.is_terminal() {
                stopped.push(alloc);
            }
        }
    }
    stopped
}

type Allocations = Vec<Arc<Allocation>>;

/// (as they are, updated in place, replaced)
fn sort_updates(
    picture: &Picture<'_>,
    group: &TaskGroup,
    allocations: Allocations,
) -> (Allocations, Allocations, Allocations) {
    let (mut ignored, mut in_place, mut destructive) = (Vec::new(), Vec::new(), Vec::new());
    for alloc in allocations {
        if is_current(picture, &alloc) || picture.job.is_batch() && alloc.client_status.is_terminal() {
            ignored.push(alloc);
            continue;
        }
        match update_kind(&alloc.job_spec, picture.job, &group.name) {
            UpdateKind::Ignore => ignored.push(alloc),
            // What has failed for good follows to the new version only by being replaced.
            UpdateKind::InPlace if alloc.client_status.is_terminal() => destructive.push(alloc),
            UpdateKind::InPlace => in_place.push(alloc),
            UpdateKind::Destructive { .. } => destructive.push(alloc),
        }
    }
    (ignored, in_place, destructive)
}

/// How many may be replaced at this look. `kept` are those that stay as they are: what was stopped or has a successor
/// holds nothing up any more.
fn update_limit(picture: &Picture<'_>, group: &TaskGroup, kept: &[Arc<Allocation>]) -> usize {
    let Some(update) = group.roll_out() else { return usize::MAX };
    let Some(deployment) = picture.deployment else { return update.max_parallel as usize };
    if deployment.status != DeploymentStatus::Running {
        return 0;
    }
    let of_deployment = || kept.iter().filter(|alloc| alloc.deployment == Some(deployment.id));
    if of_deployment().any(|alloc| alloc.is_unhealthy()) {
        return 0;
    }
    let undecided = of_deployment().filter(|alloc| !alloc.is_healthy()).count();
    (update.max_parallel as usize).saturating_sub(undecided)
}

fn stop_of(alloc: &Allocation, why: &str, client_status: Option<ClientStatus>) -> AllocStop {
    AllocStop { alloc: alloc.id, description: why.to_owned(), client_status, follow_up: None }
}

fn replacement(
    alloc: &Arc<Allocation>,
    rescheduled: bool,
    stop_when_placed: Option<AllocStop>,
    stop_in_any_case: Option<AllocStop>,
) -> Placement {
    Placement {
        group: alloc.group.clone(),
        name: alloc.name.clone(),
        previous: Some(Arc::clone(alloc)),
        rescheduled,
        stop_when_placed: stop_when_placed.or_else(|| stop_in_any_case.clone()),
        stop_in_any_case,
        images: Vec::new(),
    }
}

fn fresh(group: &TaskGroup, name: String) -> Placement {
    Placement {
        group: group.name.clone(),
        name,
        previous: None,
        rescheduled: false,
        stop_when_placed: None,
        stop_in_any_case: None,
        images: Vec::new(),
    }
}

fn u32_of(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
