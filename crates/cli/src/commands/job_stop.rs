use longshore_api::JobDeregisterResponse;

use crate::commands::{Context, Outcome};
use crate::failure::{Failure, While};
use crate::monitor::Cancelled;
use crate::resolve::{client_for, job_path, one_job};

pub(super) async fn run(context: &mut Context) -> Outcome {
    let prefixes = context.given.arguments.clone();
    if prefixes.is_empty() {
        return Err(Failure::usage("This command takes at least one argument: <job>"));
    }
    let mut worst = 0;
    for prefix in &prefixes {
        let code = match stop(context, prefix, prefixes.len() == 1).await {
            Ok(code) => code,
            Err(failure) if prefixes.len() == 1 => return Err(failure),
            Err(failure) => {
                context.ui.error(&failure.message());
                failure.code()
            }
        };
        worst = worst.max(code);
    }
    Ok(worst)
}

async fn stop(context: &mut Context, prefix: &str, alone: bool) -> Outcome {
    let job = one_job(&context.client, &context.view(), prefix).await?;
    if job.id != prefix && alone && !context.given.switch("yes") {
        match confirmed(context, &job.id) {
            Confirmed::Yes => {}
            Confirmed::No(text) => {
                context.ui.line(text);
                return Ok(0);
            }
            Confirmed::Unclear(text) => {
                context.ui.line(text);
                return Ok(1);
            }
        }
    }
    let client = client_for(&context.client, &job);
    let priority = context.given.integer("eval-priority").unwrap_or(0).to_string();
    let mut query = Vec::new();
    for (flag, key) in [("purge", "purge"), ("global", "global"), ("no-shutdown-delay", "no_shutdown_delay")] {
        query.push((key, if context.given.switch(flag) { "true" } else { "false" }));
    }
    query.push(("eval_priority", &priority));
    let answer: JobDeregisterResponse =
        client.delete(&job_path(&job.id), &query).await.doing("Error deregistering job")?;
    if answer.eval_id.is_empty() {
        return Ok(0);
    }
    if context.given.switch("detach") {
        context.ui.line(&answer.eval_id);
        return Ok(0);
    }
    Ok(context.monitor(&client, Cancelled::IsExpected).evaluation(&answer.eval_id).await.code())
}

enum Confirmed {
    Yes,
    No(&'static str),
    Unclear(&'static str),
}

fn confirmed(context: &mut Context, id: &str) -> Confirmed {
    let answer = context.ui.ask(&format!("Are you sure you want to stop job {id:?}? [y/N]"));
    match answer.as_str() {
        "y" => Confirmed::Yes,
        answer if answer.is_empty() || answer.to_lowercase().starts_with('n') => Confirmed::No("Cancelling job stop"),
        answer if answer.to_lowercase().starts_with('y') => {
            Confirmed::No("For confirmation, an exact ‘y’ is required.")
        }
        _ => Confirmed::Unclear("No confirmation detected. For confirmation, an exact 'y' is required."),
    }
}
