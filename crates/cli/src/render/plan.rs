use std::collections::BTreeMap;

use longshore_api::{AllocListStub, JobPlanResponse};

use crate::render::metric::failures;
use crate::table::table;
use crate::view::View;

/// What the scheduler would do: the lines below `Scheduler dry-run:`.
pub(crate) fn dry_run(view: &View, plan: &JobPlanResponse, job_type: &str) -> String {
    let mut lines = Vec::new();
    if plan.failed_tg_allocs.is_empty() {
        lines.push(view.bold_green("- All tasks successfully allocated."));
    } else {
        let warning = match job_type {
            "system" | "sysbatch" => "- WARNING: Failed to place allocations on all nodes.",
            _ => "- WARNING: Failed to place all allocations.",
        };
        lines.push(view.yellow(warning));
        lines.extend(failures(&plan.failed_tg_allocs, "  ").iter().map(|text| view.yellow(text)));
    }
    if let Some(next) = &plan.next_periodic_launch {
        lines.push(format!("- If submitted now, next periodic launch would be at {next}."));
    }
    lines.join("\n")
}

/// Whether some allocation would come or go: the exit code of `job plan`.
pub(crate) fn changes_allocations(plan: &JobPlanResponse) -> bool {
    plan.annotations
        .iter()
        .flat_map(|annotations| annotations.desired_tg_updates.values())
        .any(|updates| updates.stop + updates.place + updates.migrate + updates.destructive_update + updates.canary > 0)
}

/// Whom the job would push out; nothing when nobody.
pub(crate) fn preemptions(view: &View, allocs: &[AllocListStub]) -> String {
    if allocs.is_empty() {
        return String::new();
    }
    let rows = if allocs.len() < 10 {
        let head = ["Alloc ID", "Job ID", "Task Group"].map(str::to_owned).to_vec();
        std::iter::once(head)
            .chain(allocs.iter().map(|alloc| vec![alloc.id.clone(), alloc.job_id.clone(), alloc.task_group.clone()]))
            .collect::<Vec<_>>()
    } else {
        by_job(allocs)
    };
    format!("{}\n\n{}", view.bold("Preemptions:"), table(&rows))
}

fn by_job(allocs: &[AllocListStub]) -> Vec<Vec<String>> {
    let mut jobs: BTreeMap<(&str, &str, &str), usize> = BTreeMap::new();
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    for alloc in allocs {
        *jobs.entry((&alloc.job_id, &alloc.namespace, &alloc.job_type)).or_default() += 1;
        *kinds.entry(&alloc.job_type).or_default() += 1;
    }
    if jobs.len() < 10 {
        let head = ["Job ID", "Namespace", "Job Type", "Preemptions"].map(str::to_owned).to_vec();
        let row = |((id, namespace, kind), count): ((&str, &str, &str), usize)| {
            vec![id.to_owned(), namespace.to_owned(), kind.to_owned(), count.to_string()]
        };
        return std::iter::once(head).chain(jobs.into_iter().map(row)).collect();
    }
    let head = ["Job Type", "Preemptions"].map(str::to_owned).to_vec();
    std::iter::once(head)
        .chain(kinds.into_iter().map(|(kind, count)| vec![kind.to_owned(), count.to_string()]))
        .collect()
}

/// The last lines of a plan: how to run just what was planned.
pub(crate) fn how_to_run(view: &View, program: &str, index: u64, flags: &str, path: &str) -> String {
    format!(
        "{}\nTo submit the job with version verification run:\n\n{program} job run -check-index {index} {flags}{path}\n\n\
         With -check-index the job is only run while the server still has it at this index.\n\
         If somebody has changed it since, what was planned here may not hold any more, and\n\
         the run is refused.",
        view.bold(&format!("Job Modify Index: {index}"))
    )
}
