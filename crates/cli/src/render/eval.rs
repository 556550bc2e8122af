use longshore_api::Evaluation;

use crate::render::blocks;
use crate::render::metric::failures;
use crate::table::{pairs, table};
use crate::view::View;

/// Whether something found no room; not yet known while in progress.
fn placement_failures(eval: &Evaluation) -> String {
    if eval.status == "blocked" {
        return "N/A - In Progress".to_owned();
    }
    (!eval.failed_tg_allocs.is_empty()).to_string()
}

/// The table of a job's evaluations.
pub(crate) fn list(view: &View, evals: &[Evaluation]) -> String {
    let head = ["ID", "Priority", "Triggered By", "Status", "Placement Failures"].map(str::to_owned).to_vec();
    let row = |eval: &Evaluation| {
        vec![
            view.id(&eval.id).to_owned(),
            eval.priority.to_string(),
            eval.triggered_by.clone(),
            eval.status.clone(),
            placement_failures(eval),
        ]
    };
    table(&std::iter::once(head).chain(evals.iter().map(row)).collect::<Vec<_>>())
}

/// The list of all evaluations.
pub(crate) fn list_of_all(view: &View, evals: &[Evaluation]) -> String {
    if evals.is_empty() {
        return "No evals found".to_owned();
    }
    let head = ["ID", "Priority", "Triggered By", "Job ID", "Namespace", "Node ID", "Status", "Placement Failures"];
    let row = |eval: &Evaluation| {
        let node = if eval.node_id.is_empty() { "<none>" } else { view.id(&eval.node_id) };
        vec![
            view.id(&eval.id).to_owned(),
            eval.priority.to_string(),
            eval.triggered_by.clone(),
            eval.job_id.clone(),
            eval.namespace.clone(),
            node.to_owned(),
            eval.status.clone(),
            placement_failures(eval),
        ]
    };
    table(&std::iter::once(head.map(str::to_owned).to_vec()).chain(evals.iter().map(row)).collect::<Vec<_>>())
}

/// One evaluation in full.
pub(crate) fn status(view: &View, eval: &Evaluation) -> String {
    let description = match eval.status_description.as_str() {
        "" => eval.status.clone(),
        text => text.to_owned(),
    };
    let mut rows = vec![
        ("ID", view.id(&eval.id).to_owned()),
        ("Create Time", view.ago(eval.create_time)),
        ("Modify Time", view.ago(eval.modify_time)),
        ("Status", eval.status.clone()),
        ("Status Description", description),
        ("Type", eval.kind.clone()),
        ("TriggeredBy", eval.triggered_by.clone()),
        ("Job ID", eval.job_id.clone()),
        ("Namespace", eval.namespace.clone()),
    ];
    if eval.triggered_by == "node-update" {
        rows.push(("Node ID", view.id(&eval.node_id).to_owned()));
    }
    rows.push(("Priority", eval.priority.to_string()));
    rows.push(("Placement Failures", placement_failures(eval)));
    if !eval.wait_until.is_zero() {
        rows.push(("Wait Until", view.time(eval.wait_until.as_nanoseconds())));
    }
    if view.verbose {
        rows.push(("Previous Eval", eval.previous_eval.clone()));
        rows.push(("Next Eval", eval.next_eval.clone()));
        rows.push(("Blocked Eval", eval.blocked_eval.clone()));
    }
    let mut parts = vec![pairs(&rows)];
    if !eval.failed_tg_allocs.is_empty() {
        let failed = failures(&eval.failed_tg_allocs, "").join("\n\n");
        parts.push(format!("{}\n{failed}", view.bold("Failed Placements")));
        if !eval.blocked_eval.is_empty() {
            let blocked = view.id(&eval.blocked_eval);
            parts.push(format!("Evaluation {blocked:?} waiting for additional capacity to place remainder"));
        }
    }
    blocks(&parts)
}
