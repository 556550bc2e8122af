use longshore_api::{JobValidateRequest, JobValidateResponse};

use crate::client::ClientError;
use crate::commands::{Context, Outcome};
use crate::failure::{Failure, While};
use crate::jobfile;

pub(super) async fn run(context: &mut Context) -> Outcome {
    let path = context.one_argument("This command takes one argument: <path>")?;
    let file = jobfile::read(&path, &context.given)?;
    for warning in &file.warnings {
        context.ui.note(warning);
    }
    let request = JobValidateRequest { job: Some(file.job.clone()) };
    let answer: JobValidateResponse = match context.client.put("/v1/validate/job", &[], &request).await {
        Ok(answer) => answer,
        Err(why @ ClientError::Connect { .. }) => {
            context.ui.note(&format!("{why}\nOnly the file's form was checked: rules are the server's."));
            JobValidateResponse::default()
        }
        Err(why) => return Err(why).doing("Error validating job"),
    };
    if !answer.error.is_empty() || !answer.validation_errors.is_empty() {
        let error = if answer.error.is_empty() { answer.validation_errors.join("\n") } else { answer.error.clone() };
        return Err(Failure::told(format!("Job validation errors:\n{}", file.with_place(&error))));
    }
    context.tell_warnings(&answer.warnings);
    let text = context.view().bold_green("Job validation successful");
    context.ui.line(&text);
    Ok(0)
}
