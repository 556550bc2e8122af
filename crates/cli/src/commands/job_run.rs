use longshore_api::{JobRegisterRequest, JobRegisterResponse};
use serde::Serialize;

use crate::commands::{Context, Outcome};
use crate::failure::Failure;
use crate::jobfile::{self, JobFile, WITH_FAULTS};
use crate::json::pretty;
use crate::monitor::Cancelled;

/// What the server's text begins with when the job is not at the index that was asked for.
const ENFORCED: &str = "Enforcing job modify index";

pub(super) async fn run(context: &mut Context) -> Outcome {
    let path = context.one_argument("This command takes one argument: <path>")?;
    let index = check_index(context)?;
    let file = jobfile::read(&path, &context.given)?;
    for warning in &file.warnings {
        context.ui.note(&warning.to_string());
    }
    if context.given.switch("output") {
        return output(context, &file);
    }
    let request = JobRegisterRequest {
        job: Some(file.job.clone()),
        submission: Some(file.submission.clone()),
        enforce_index: index.is_some(),
        job_modify_index: index.unwrap_or(0),
        policy_override: context.given.switch("policy-override"),
        preserve_counts: context.given.switch("preserve-counts"),
        eval_priority: context.given.integer("eval-priority").unwrap_or(0),
    };
    // The file's namespace goes before the flag's, as the job goes there.
    let client = match file.job.namespace.as_deref().filter(|namespace| !namespace.is_empty()) {
        Some(namespace) => context.client.in_namespace(namespace),
        None => context.client.clone(),
    };
    let answer: JobRegisterResponse = match client.put("/v1/jobs", &[WITH_FAULTS], &request).await {
        Ok(answer) => answer,
        Err(why) => {
            if let Some(at) = why.server_text().and_then(|text| Some(text.get(text.find(ENFORCED)?..)?.to_owned())) {
                return Err(Failure::told(format!("{at}\nJob not updated")));
            }
            return Err(file.refused("Error submitting job", why));
        }
    };
    context.tell_warnings(&answer.warnings);
    if context.given.switch("detach") || answer.eval_id.is_empty() {
        context.ui.line("Job registration successful");
        if !answer.eval_id.is_empty() {
            context.ui.line(&format!("Evaluation ID: {}", answer.eval_id));
        }
        return Ok(0);
    }
    Ok(context.monitor(&client, Cancelled::IsFailure).evaluation(&answer.eval_id).await.code())
}

fn check_index(context: &Context) -> Result<Option<u64>, Failure> {
    let Some(text) = context.given.text("check-index").filter(|text| !text.is_empty()) else { return Ok(None) };
    text.parse().map(Some).map_err(|_| {
        let why = "invalid syntax";
        Failure::told(format!("Error parsing check-index value {text:?}: strconv.ParseUint: parsing {text:?}: {why}"))
    })
}

fn output(context: &mut Context, file: &JobFile) -> Outcome {
    #[derive(Serialize)]
    struct Wrapped<'a> {
        #[serde(rename = "Job")]
        job: &'a longshore_api::Job,
    }
    context.ui.line(&pretty(&Wrapped { job: &file.job })?);
    Ok(0)
}
