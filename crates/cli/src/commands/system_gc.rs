use crate::commands::{Context, Outcome};
use crate::failure::While;

pub(super) async fn run(context: &mut Context) -> Outcome {
    context.no_arguments()?;
    context.client.put_empty("/v1/system/gc", &[]).await.doing("Error running system garbage-collection")?;
    Ok(0)
}
