use longshore_api::{AllocRestartRequest, GenericResponse};

use crate::commands::{Context, Outcome, target};
use crate::failure::Failure;

pub(super) async fn run(context: &mut Context) -> Outcome {
    let target = target::of(context).await?;
    let all_tasks = context.given.switch("all-tasks");
    if all_tasks && target.task.is_some() {
        return Err(Failure::told("The -all-tasks option is not allowed when restarting a specific task."));
    }
    let body = AllocRestartRequest { task_name: target.task.unwrap_or_default(), all_tasks };
    let path = format!("/v1/client/allocation/{}/restart", target.alloc.id);
    let answer: Result<GenericResponse, _> = target.client.put(&path, &[], &body).await;
    answer.map(|_| 0).map_err(|why| Failure::told(format!("Failed to restart allocation:\n\n{why}")))
}
