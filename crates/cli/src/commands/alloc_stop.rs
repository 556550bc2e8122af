use longshore_api::AllocStopResponse;

use crate::commands::{Context, Outcome};
use crate::failure::While;
use crate::monitor::Cancelled;
use crate::resolve::one_allocation;

pub(super) async fn run(context: &mut Context) -> Outcome {
    let prefix = context.one_argument("This command takes one argument: <alloc-id>")?;
    let alloc = one_allocation(&context.client, &context.view(), &prefix).await?;
    let client = context.client.in_namespace(&alloc.namespace);
    let delay = if context.given.switch("no-shutdown-delay") { "true" } else { "false" };
    let path = format!("/v1/allocation/{}/stop", alloc.id);
    let answer: AllocStopResponse =
        client.put(&path, &[("no_shutdown_delay", delay)], &()).await.doing("Error stopping allocation")?;
    if context.given.switch("detach") {
        context.ui.line(&answer.eval_id);
        return Ok(0);
    }
    Ok(context.monitor(&client, Cancelled::IsFailure).evaluation(&answer.eval_id).await.code())
}
