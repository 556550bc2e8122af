use crate::commands::{Context, Outcome};
use crate::failure::{Failure, While};
use crate::json::formatted;
use crate::monitor::Cancelled;
use crate::render::eval;
use crate::resolve::one_evaluation;

pub(super) async fn run(context: &mut Context) -> Outcome {
    let (json, template) = (context.given.switch("json"), context.given.text("t").map(str::to_owned));
    match context.given.arguments.as_slice() {
        [] if json || template.is_some() => {
            let all = context.client.get_value("/v1/evaluations", &[]).await.doing("Error querying evaluations")?;
            if let Some(text) = formatted(json, template.as_deref(), &all)? {
                context.ui.line(&text);
            }
            Ok(0)
        }
        [prefix] => {
            let prefix = prefix.clone();
            one(context, &prefix).await
        }
        _ => Err(Failure::usage("This command takes one argument")),
    }
}

pub(super) async fn one(context: &mut Context, prefix: &str) -> Outcome {
    let (json, template) = (context.given.switch("json"), context.given.text("t").map(str::to_owned));
    let eval = one_evaluation(&context.client, &context.view(), prefix).await?;
    let client = context.client.in_namespace(&eval.namespace);
    if context.given.switch("monitor") {
        let ended = context.monitor(&client, Cancelled::IsFailure).evaluation(&eval.id).await;
        return Ok(ended.code());
    }
    let text = if json || template.is_some() {
        let value =
            client.get_value(&format!("/v1/evaluation/{}", eval.id), &[]).await.doing("Error querying evaluation")?;
        formatted(json, template.as_deref(), &value)?.unwrap_or_default()
    } else {
        eval::status(&context.view(), &eval)
    };
    context.ui.line(&text);
    Ok(0)
}
