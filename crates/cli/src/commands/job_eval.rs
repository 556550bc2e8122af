use longshore_api::{EvalOptions, JobEvaluateRequest, JobRegisterResponse};

use crate::commands::{Context, Outcome};
use crate::failure::While;
use crate::monitor::Cancelled;
use crate::resolve::{client_for, job_path, one_job};

pub(super) async fn run(context: &mut Context) -> Outcome {
    let prefix = context.one_argument("This command takes one argument: <job>")?;
    let job = one_job(&context.client, &context.view(), &prefix).await?;
    let client = client_for(&context.client, &job);
    let force_reschedule = context.given.switch("force-reschedule");
    let request = JobEvaluateRequest { job_id: job.id.clone(), eval_options: EvalOptions { force_reschedule } };
    let path = format!("{}/evaluate", job_path(&job.id));
    let answer: JobRegisterResponse = client.put(&path, &[], &request).await.doing("Error evaluating job")?;
    if context.given.switch("detach") {
        // The blank at the end is Nomad's.
        context.ui.line(&format!("Created eval ID: {:?} ", context.view().id(&answer.eval_id)));
        return Ok(0);
    }
    Ok(context.monitor(&client, Cancelled::IsFailure).evaluation(&answer.eval_id).await.code())
}
