use longshore_api::{AllocSignalRequest, GenericResponse};

use crate::commands::{Context, Outcome, target};
use crate::failure::While;

/// What is sent when `-s` does not say.
const USUAL: &str = "SIGKILL";

pub(super) async fn run(context: &mut Context) -> Outcome {
    let target = target::of(context).await?;
    let signal = context.given.text("s").unwrap_or(USUAL).to_owned();
    let body = AllocSignalRequest { task: target.task.unwrap_or_default(), signal };
    let path = format!("/v1/client/allocation/{}/signal", target.alloc.id);
    let _: GenericResponse = target.client.put(&path, &[], &body).await.doing("Error signalling allocation")?;
    Ok(0)
}
