use longshore_api::{AllocListStub, Deployment};

use crate::render::{alloc, blocks};
use crate::table::{pairs, table};
use crate::view::View;

/// The list of deployments, newest first.
pub(crate) fn list(view: &View, deployments: &[Deployment]) -> String {
    if deployments.is_empty() {
        return "No deployments found".to_owned();
    }
    let head = ["ID", "Job ID", "Job Version", "Status", "Description"].map(str::to_owned).to_vec();
    let row = |it: &Deployment| {
        vec![
            view.id(&it.id).to_owned(),
            it.job_id.clone(),
            it.job_version.to_string(),
            it.status.clone(),
            it.status_description.clone(),
        ]
    };
    table(&std::iter::once(head).chain(deployments.iter().map(row)).collect::<Vec<_>>())
}

/// One deployment in full.
pub(crate) fn status(view: &View, deployment: &Deployment) -> String {
    let head = pairs(&[
        ("ID", view.id(&deployment.id).to_owned()),
        ("Job ID", deployment.job_id.clone()),
        ("Job Version", deployment.job_version.to_string()),
        ("Status", deployment.status.clone()),
        ("Description", deployment.status_description.clone()),
    ]);
    blocks(&[head, deployed(view, deployment)])
}

/// A job's latest deployment, under its job.
pub(crate) fn latest(view: &View, deployment: &Deployment) -> String {
    let head = pairs(&[
        ("ID", view.id(&deployment.id).to_owned()),
        ("Status", deployment.status.clone()),
        ("Description", deployment.status_description.clone()),
    ]);
    blocks(&[format!("{}\n{head}", view.bold("Latest Deployment")), deployed(view, deployment)])
}

/// What a monitor shows of a deployment under way.
pub(crate) fn progress(view: &View, deployment: &Deployment, allocs: &[AllocListStub]) -> String {
    let mut parts = vec![format!("{}\n{}", view.clock(), status(view, deployment))];
    if view.verbose && !allocs.is_empty() {
        parts.push(format!("{}\n{}", view.bold("Allocations"), alloc::list(view, allocs)));
    }
    blocks(&parts)
}

/// The groups' table; columns that no group uses are left out.
fn deployed(view: &View, deployment: &Deployment) -> String {
    let groups = &deployment.task_groups;
    if groups.is_empty() {
        return String::new();
    }
    let reverts = groups.values().any(|group| group.auto_revert);
    let canaries = groups.values().any(|group| group.desired_canaries > 0);
    let deadlines = groups.values().any(|group| !group.progress_deadline.is_zero());
    let columns = |row: [String; 9]| {
        let shown = [true, reverts, canaries, true, canaries, true, true, true, deadlines];
        row.into_iter().zip(shown).filter(|(_, shown)| *shown).map(|(cell, _)| cell).collect::<Vec<_>>()
    };
    let head = [
        "Task Group",
        "Auto Revert",
        "Promoted",
        "Desired",
        "Canaries",
        "Placed",
        "Healthy",
        "Unhealthy",
        "Progress Deadline",
    ];
    let mut rows = vec![columns(head.map(str::to_owned))];
    for (name, group) in groups {
        let has_canaries = group.desired_canaries > 0;
        let only_with_canaries = |text: String| if has_canaries { text } else { "N/A".to_owned() };
        let deadline = match group.require_progress_by.as_nanoseconds() {
            0 => "N/A".to_owned(),
            ns => view.time(ns),
        };
        rows.push(columns([
            name.clone(),
            group.auto_revert.to_string(),
            only_with_canaries(group.promoted.to_string()),
            group.desired_total.to_string(),
            only_with_canaries(group.desired_canaries.to_string()),
            group.placed_allocs.to_string(),
            group.healthy_allocs.to_string(),
            group.unhealthy_allocs.to_string(),
            deadline,
        ]));
    }
    format!("{}\n{}", view.bold("Deployed"), table(&rows))
}
