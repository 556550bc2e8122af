use longshore_api::{
    AllocListStub, Deployment, Evaluation, Job, JobDiff, JobListStub, JobSummary, ParameterizedJobConfig,
    ReschedulePolicy,
};

use crate::render::{alloc, blocks, deployment, diff, eval, metric};
use crate::table::{pairs, table};
use crate::view::View;

/// How many groups a job's placement failures are shown for.
const SHOWN_FAILURES: usize = 5;

/// The list of jobs, with their namespaces when several are shown.
pub(crate) fn list(view: &View, jobs: &[JobListStub], namespaces: bool) -> String {
    if jobs.is_empty() {
        return "No running jobs".to_owned();
    }
    let row = |id: String, namespace: String, rest: [String; 4]| {
        let mut row = vec![id];
        if namespaces {
            row.push(namespace);
        }
        row.extend(rest);
        row
    };
    let head = ["Type", "Priority", "Status", "Submit Date"].map(str::to_owned);
    let mut rows = vec![row("ID".to_owned(), "Namespace".to_owned(), head)];
    for job in jobs {
        let kind = match (job.periodic, job.parameterized_job) {
            (true, false) => format!("{}/periodic", job.kind),
            (false, true) => format!("{}/parameterized", job.kind),
            (true, true) => format!("{}/periodic/parameterized", job.kind),
            (false, false) => job.kind.clone(),
        };
        let cells = [kind, job.priority.to_string(), status_words(&job.status, job.stop), view.time(job.submit_time)];
        rows.push(row(job.id.clone(), job.namespace.clone(), cells));
    }
    table(&rows)
}

fn status_words(status: &str, stopped: bool) -> String {
    if stopped { format!("{status} (stopped)") } else { status.to_owned() }
}

/// Everything that `job status` asks for about one job.
#[derive(Debug, Clone, Default)]
pub(crate) struct Detail {
    pub(crate) job: Job,
    pub(crate) summary: JobSummary,
    pub(crate) evals: Vec<Evaluation>,
    pub(crate) deployment: Option<Deployment>,
    pub(crate) allocs: Vec<AllocListStub>,
    /// Jobs that this one made.
    pub(crate) children: Vec<JobListStub>,
    /// `-evals`.
    pub(crate) show_evals: bool,
}

/// The head that `-short` ends with.
pub(crate) fn facts(view: &View, job: &Job) -> String {
    let text = |value: &Option<String>| value.clone().unwrap_or_default();
    let periodic = job.periodic.is_some();
    let mut rows = vec![
        ("ID", text(&job.id)),
        ("Name", text(&job.name)),
        ("Submit Date", view.time(job.submit_time.unwrap_or(0))),
        ("Type", text(&job.kind)),
        ("Priority", job.priority.unwrap_or(0).to_string()),
        ("Datacenters", job.datacenters.join(",")),
        ("Namespace", text(&job.namespace)),
        ("Node Pool", text(&job.node_pool)),
        ("Status", status_words(&text(&job.status), job.stop == Some(true))),
        ("Periodic", periodic.to_string()),
        ("Parameterized", (job.parameterized_job.is_some() && !job.dispatched).to_string()),
    ];
    if let Some(token) = job.dispatch_idempotency_token.as_ref().filter(|token| !token.is_empty()) {
        rows.push(("Idempotency Token", token.clone()));
    }
    if periodic && job.stop == Some(true) {
        rows.push(("Next Periodic Launch", "none (job stopped)".to_owned()));
    }
    pairs(&rows)
}

/// One job in full.
pub(crate) fn status(view: &View, detail: &Detail) -> String {
    let job = &detail.job;
    let mut parts = vec![facts(view, job)];
    if let Some(config) = job.parameterized_job.as_ref().filter(|_| !job.dispatched) {
        parts.extend(parameterized(view, detail, config));
        return blocks(&parts);
    }
    if job.periodic.is_some() {
        parts.extend(periodic(view, detail));
        return blocks(&parts);
    }
    parts.push(format!("{}\n{}", view.bold("Summary"), summary(&detail.summary)));
    if detail.show_evals || view.verbose {
        parts.push(format!("{}\n{}", view.bold("Evaluations"), eval::list(view, &detail.evals)));
    }
    parts.push(placement_failure(view, detail));
    parts.push(future_reschedules(view, detail));
    if let Some(deployment) = &detail.deployment {
        parts.push(deployment::latest(view, deployment));
    }
    parts.push(format!("{}\n{}", view.bold("Allocations"), alloc::list(view, &detail.allocs)));
    blocks(&parts)
}

fn summary(summary: &JobSummary) -> String {
    let head = ["Task Group", "Queued", "Starting", "Running", "Failed", "Complete", "Lost", "Unknown"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for (group, counts) in &summary.summary {
        let counts = [
            counts.queued,
            counts.starting,
            counts.running,
            counts.failed,
            counts.complete,
            counts.lost,
            counts.unknown,
        ];
        rows.push(std::iter::once(group.clone()).chain(counts.map(|count| count.to_string())).collect());
    }
    table(&rows)
}

fn children_summary(summary: &JobSummary) -> String {
    let children = summary.children.clone().unwrap_or_default();
    let counts = [children.pending, children.running, children.dead].map(|count| count.to_string());
    table(&[["Pending", "Running", "Dead"].map(str::to_owned).to_vec(), counts.to_vec()])
}

fn children(jobs: &[JobListStub]) -> String {
    let mut rows = vec![vec!["ID".to_owned(), "Status".to_owned()]];
    rows.extend(jobs.iter().map(|job| vec![job.id.clone(), job.status.clone()]));
    table(&rows)
}

fn parameterized(view: &View, detail: &Detail, config: &ParameterizedJobConfig) -> Vec<String> {
    let payload = if config.payload.is_empty() { "optional" } else { &config.payload };
    let facts = pairs(&[
        ("Payload", payload.to_owned()),
        ("Required Metadata", config.meta_required.join(", ")),
        ("Optional Metadata", config.meta_optional.join(", ")),
    ]);
    let mut parts = vec![
        format!("{}\n{facts}", view.bold("Parameterized Job")),
        format!("{}\n{}", view.bold("Parameterized Job Summary"), children_summary(&detail.summary)),
    ];
    if detail.children.is_empty() {
        parts.push("No dispatched instances of parameterized job found".to_owned());
    } else {
        parts.push(format!("{}\n{}", view.bold("Dispatched Jobs"), children(&detail.children)));
    }
    parts
}

fn periodic(view: &View, detail: &Detail) -> Vec<String> {
    let mut parts = vec![format!("{}\n{}", view.bold("Children Job Summary"), children_summary(&detail.summary))];
    if detail.children.is_empty() {
        parts.push("No instances of periodic job found".to_owned());
    } else {
        parts.push(format!("{}\n{}", view.bold("Previously Launched Jobs"), children(&detail.children)));
    }
    parts
}

/// Why something waits for room; shown only while it does.
fn placement_failure(view: &View, detail: &Detail) -> String {
    let blocked = detail.evals.iter().any(|eval| eval.status == "blocked");
    let failed =
        detail.evals.iter().filter(|eval| !eval.failed_tg_allocs.is_empty()).max_by_key(|eval| eval.create_index);
    let (true, Some(failed)) = (blocked, failed) else { return String::new() };
    let mut lines = vec![view.bold("Placement Failure")];
    for (group, metrics) in failed.failed_tg_allocs.iter().take(SHOWN_FAILURES) {
        lines.push(format!("Task Group {group:?}:\n{}", metric::reasons(metrics, "  ")));
    }
    if failed.failed_tg_allocs.len() > SHOWN_FAILURES {
        lines.push(format!("\nPlacement failures truncated. To see remainder run:\nnomad eval-status {}", failed.id));
    }
    lines.join("\n")
}

/// Failed allocations that are going to be replaced at a time that is known.
fn future_reschedules(view: &View, detail: &Detail) -> String {
    let mut rows: Vec<Vec<String>> = Vec::new();
    for alloc in &detail.allocs {
        if alloc.followup_eval_id.is_empty() || !alloc.next_allocation.is_empty() || alloc.client_status != "failed" {
            continue;
        }
        let Some(eval) = detail.evals.iter().find(|eval| eval.id == alloc.followup_eval_id) else { continue };
        let at = eval.wait_until.as_nanoseconds();
        if at <= view.now {
            continue;
        }
        let mut row = vec![alloc.task_group.clone()];
        if view.verbose {
            let group = detail.job.task_groups.iter().find(|group| group.name.as_deref() == Some(&alloc.task_group));
            let policy = group.and_then(|group| group.reschedule_policy.as_ref());
            row.push(policy.map_or_else(String::new, policy_words));
        }
        row.extend([view.id(&eval.id).to_owned(), view.relative(at)]);
        if !rows.contains(&row) {
            rows.push(row);
        }
    }
    if rows.is_empty() {
        return String::new();
    }
    let head: &[&str] = if view.verbose {
        &["Task Group", "Reschedule Policy", "Eval ID", "Eval Time"]
    } else {
        &["Task Group", "Eval ID", "Eval Time"]
    };
    rows.insert(0, head.iter().map(|name| (*name).to_owned()).collect());
    format!("{}\n{}", view.bold("Future Rescheduling Attempts"), table(&rows))
}

fn policy_words(policy: &ReschedulePolicy) -> String {
    let span = |span: Option<longshore_values::GoDuration>| span.unwrap_or_default().to_string();
    let function = policy.delay_function.clone().unwrap_or_default();
    let max = span(policy.max_delay);
    if policy.unlimited == Some(true) {
        return format!("unlimited with {function} delay, max_delay = {max}");
    }
    let attempts = policy.attempts.unwrap_or(0);
    format!("{attempts} in {} with {function} delay, max_delay = {max}", span(policy.interval))
}

/// One version of `job history`. `full` is the job as JSON.
pub(crate) fn version(view: &View, job: &Job, difference: Option<&JobDiff>, full: Option<&str>) -> String {
    let mut rows = vec![
        ("Version", job.version.unwrap_or(0).to_string()),
        ("Stable", job.stable.unwrap_or(false).to_string()),
        ("Submit Date", view.time(job.submit_time.unwrap_or(0))),
    ];
    if let Some(difference) = difference {
        // History shows new and deleted parts as a plan does: in full only when asked for.
        rows.push(("Diff", format!("\n{}", diff::job(view, difference))));
    }
    if let Some(full) = full {
        rows.push(("Full", format!("JSON Job:\n{full}")));
    }
    pairs(&rows)
}
