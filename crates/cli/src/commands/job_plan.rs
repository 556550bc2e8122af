use longshore_api::{JobPlanRequest, JobPlanResponse};

use crate::commands::{Context, Outcome};
use crate::failure::Failure;
use crate::jobfile::{self, WITH_FAULTS};
use crate::render::{diff, plan};
use crate::resolve::job_path;

/// What `job plan` exits with when there is no plan.
const NO_PLAN: u8 = 255;

pub(super) async fn run(context: &mut Context) -> Outcome {
    plan(context).await.map_err(|failure| match failure {
        Failure::Usage { .. } => failure,
        other => other.with_code(NO_PLAN),
    })
}

async fn plan(context: &mut Context) -> Outcome {
    let path = context.one_argument("This command takes one argument: <path>")?;
    let file = jobfile::read(&path, &context.given)?;
    for warning in &file.warnings {
        context.ui.note(&warning.to_string());
    }
    let with_diff = context.given.switch_or("diff", true);
    let id = file.job.id.clone().unwrap_or_default();
    let request = JobPlanRequest {
        job: Some(file.job.clone()),
        diff: with_diff,
        policy_override: context.given.switch("policy-override"),
    };
    let client = match file.job.namespace.as_deref().filter(|namespace| !namespace.is_empty()) {
        Some(namespace) => context.client.in_namespace(namespace),
        None => context.client.clone(),
    };
    let answer: JobPlanResponse = client
        .put(&format!("{}/plan", job_path(&id)), &[WITH_FAULTS], &request)
        .await
        .map_err(|why| file.refused("Error during plan", why))?;
    let view = context.view();
    if let (true, Some(diff)) = (with_diff, &answer.diff) {
        context.ui.line(&format!("{}\n", diff::job(&view, diff)));
    }
    context.ui.line(&view.bold("Scheduler dry-run:"));
    let kind = file.job.kind.clone().unwrap_or_else(|| "service".to_owned());
    context.ui.line(&plan::dry_run(&view, &answer, &kind));
    context.ui.line("");
    context.tell_warnings(&answer.warnings);
    let preempted = answer.annotations.as_ref().map_or(&[][..], |annotations| annotations.preempted_allocs.as_slice());
    let preemptions = plan::preemptions(&view, preempted);
    if !preemptions.is_empty() {
        context.ui.line(&preemptions);
    }
    let flags = repeated_flags(context);
    context.ui.line(&plan::how_to_run(&view, &context.program, answer.job_modify_index, &flags, &path));
    let unchanged = answer.diff.as_ref().is_some_and(|diff| diff.kind == "None");
    Ok(u8::from(!unchanged && plan::changes_allocations(&answer)))
}

/// The flags that running the job needs as its planning did.
fn repeated_flags(context: &Context) -> String {
    let mut flags = String::new();
    for (name, value) in context.given.in_order() {
        match *name {
            "var" => flags.push_str(&format!("-var={value:?} ")),
            "var-file" => flags.push_str(&format!("-var-file={value:?} ")),
            "namespace" => flags.push_str(&format!("-namespace={value:?} ")),
            "json" if value == "true" => flags.push_str("-json "),
            _ => {}
        }
    }
    flags
}
