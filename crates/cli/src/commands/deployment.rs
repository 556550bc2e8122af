use longshore_api::{Deployment, DeploymentFailRequest, DeploymentUpdateResponse};

use crate::commands::{Context, Outcome};
use crate::failure::{Failure, While};
use crate::json::formatted;
use crate::monitor::Cancelled;
use crate::render::deployment;
use crate::resolve::one_deployment;
use crate::view::View;

pub(super) async fn list(context: &mut Context) -> Outcome {
    context.no_arguments()?;
    all(context).await
}

async fn all(context: &mut Context) -> Outcome {
    let filter = context.given.text("filter").unwrap_or("").to_owned();
    let query: Vec<(&str, &str)> = if filter.is_empty() { Vec::new() } else { vec![("filter", &filter)] };
    let doing = "Error retrieving deployments";
    let value = context.client.get_value("/v1/deployments", &query).await.doing(doing)?;
    context.show(value, doing, newest_first)
}

pub(super) fn newest_first(view: &View, mut deployments: Vec<Deployment>) -> String {
    deployments.sort_by_key(|deployment| std::cmp::Reverse(deployment.create_index));
    deployment::list(view, &deployments)
}

pub(super) async fn status(context: &mut Context) -> Outcome {
    match context.given.arguments.as_slice() {
        [] => all(context).await,
        [prefix] => {
            let prefix = prefix.clone();
            one(context, &prefix).await
        }
        _ => Err(Failure::usage("This command takes one argument: <deployment id>")),
    }
}

pub(super) async fn one(context: &mut Context, prefix: &str) -> Outcome {
    let (json, template) = (context.given.switch("json"), context.given.text("t").map(str::to_owned));
    let found = one_deployment(&context.client, &context.view(), prefix).await?;
    let client = context.client.in_namespace(&found.namespace);
    if context.given.switch("monitor") {
        let ended = context.monitor(&client, Cancelled::IsFailure).deployment(&found.id).await;
        return Ok(ended.code());
    }
    let text = if json || template.is_some() {
        let path = format!("/v1/deployment/{}", found.id);
        let value = client.get_value(&path, &[]).await.doing("Error retrieving deployment")?;
        formatted(json, template.as_deref(), &value)?.unwrap_or_default()
    } else {
        deployment::status(&context.view(), &found)
    };
    context.ui.line(&text);
    Ok(0)
}

pub(super) async fn fail(context: &mut Context) -> Outcome {
    let prefix = context.one_argument("This command takes one argument: <deployment id>")?;
    let found = one_deployment(&context.client, &context.view(), &prefix).await?;
    let client = context.client.in_namespace(&found.namespace);
    let request = DeploymentFailRequest { deployment_id: found.id.clone() };
    let path = format!("/v1/deployment/fail/{}", found.id);
    let answer: DeploymentUpdateResponse = client.put(&path, &[], &request).await.doing("Error failing deployment")?;
    let reverted = match answer.reverted_job_version {
        None => String::new(),
        Some(version) => format!(". Auto-reverted to job version {version}."),
    };
    context.ui.line(&format!("Deployment {:?} failed{reverted}", found.id));
    if context.given.switch("detach") || answer.eval_id.is_empty() {
        if !answer.eval_id.is_empty() {
            context.ui.line(&format!("Evaluation ID: {}", answer.eval_id));
        }
        return Ok(0);
    }
    context.ui.line("");
    let ended = context.monitor(&client, Cancelled::IsExpected).evaluation(&answer.eval_id).await;
    Ok(ended.code())
}
