use longshore_api::{JobValidateRequest, JobValidateResponse};
use longshore_values::Diagnostic;
use serde_json::json;

use crate::client::ClientError;
use crate::commands::{Context, Outcome};
use crate::failure::Failure;
use crate::jobfile::{self, JobFile, WITH_FAULTS};
use crate::json::pretty;

pub(super) async fn run(context: &mut Context) -> Outcome {
    let path = context.one_argument("This command takes one argument: <path>")?;
    match context.given.text("diagnostics").unwrap_or("text") {
        "text" => {}
        "json" => return for_editors(context, &path).await,
        other => {
            return Err(Failure::usage(format!("-diagnostics takes \"text\" or \"json\", not {other:?}")));
        }
    }
    let file = jobfile::read(&path, &context.given)?;
    for warning in &file.warnings {
        context.ui.note(&warning.to_string());
    }
    let answer = ask(context, &file).await?;
    let error = error_of(&answer);
    if !error.is_empty() {
        return Err(Failure::told(format!("Job validation errors:\n{}", file.with_places(&error, &answer.faults))));
    }
    context.tell_warnings(&answer.warnings);
    let text = context.view().bold_green("Job validation successful");
    context.ui.line(&text);
    Ok(0)
}

async fn ask(context: &mut Context, file: &JobFile) -> Result<JobValidateResponse, Failure> {
    let request = JobValidateRequest { job: Some(file.job.clone()) };
    match context.client.put("/v1/validate/job", &[WITH_FAULTS], &request).await {
        Ok(answer) => Ok(answer),
        Err(why @ ClientError::Connect { .. }) => {
            context.ui.note(&format!("{why}\nOnly the file's form was checked: rules are the server's."));
            Ok(JobValidateResponse::default())
        }
        Err(why) => Err(file.refused("Error validating job", why)),
    }
}

fn error_of(answer: &JobValidateResponse) -> String {
    if answer.error.is_empty() { answer.validation_errors.join("\n") } else { answer.error.clone() }
}

/// Everything that is wrong as one JSON object on standard output.
async fn for_editors(context: &mut Context, path: &str) -> Outcome {
    let diagnostics = match jobfile::read(path, &context.given) {
        Err(Failure::Diagnosed { diagnostics, .. }) => diagnostics,
        Err(other) => return Err(other),
        Ok(file) => {
            let answer = ask(context, &file).await?;
            let mut told = file.warnings.clone();
            told.extend(file.diagnose(&error_of(&answer), &answer.faults));
            told.extend(answer.warnings.lines().filter_map(|line| line.strip_prefix("* ")).map(Diagnostic::warning));
            told
        }
    };
    let valid = !diagnostics.iter().any(Diagnostic::is_error);
    let text = pretty(&json!({ "valid": valid, "diagnostics": diagnostics }))?;
    context.ui.line(&text);
    Ok(u8::from(!valid))
}
