use longshore_api::{AllocResourceUsage, Allocation, Evaluation, Node};
use serde_json::Value;

use crate::commands::{Context, Outcome};
use crate::failure::{Failure, While};
use crate::json::formatted;
use crate::render::alloc;
use crate::resolve::{Allocations, SHORT_ID, allocations};

pub(super) async fn run(context: &mut Context) -> Outcome {
    let (json, template) = (context.given.switch("json"), context.given.text("t").map(str::to_owned));
    match context.given.arguments.as_slice() {
        [] if json || template.is_some() => {
            let all = context.client.get_value("/v1/allocations", &[]).await.doing("Error querying allocations")?;
            tell(context, json, template.as_deref(), &all)
        }
        [prefix] => {
            let prefix = prefix.clone();
            one(context, &prefix, json, template.as_deref()).await
        }
        _ => Err(Failure::usage(
            "This command takes one of the following argument conditions:\n * A single <allocation>\n * No arguments, with output format specified",
        )),
    }
}

fn tell(context: &mut Context, json: bool, template: Option<&str>, value: &Value) -> Outcome {
    if let Some(text) = formatted(json, template, value)? {
        context.ui.line(&text);
    }
    Ok(0)
}

pub(super) async fn one(context: &mut Context, prefix: &str, json: bool, template: Option<&str>) -> Outcome {
    if json && template.is_some() {
        return Err(Failure::told("Both json and template formatting are not allowed"));
    }
    let alloc = match allocations(&context.client, &context.view(), prefix, SHORT_ID).await? {
        Allocations::One(alloc) => alloc,
        // Several matches are told on standard output, and are no failure: so it has always been here.
        Allocations::Several(table) => {
            context.ui.line(&table);
            return Ok(0);
        }
    };
    if json || template.is_some() {
        let path = format!("/v1/allocation/{}", alloc.id);
        let client = context.client.in_namespace(&alloc.namespace);
        let value = client.get_value(&path, &[]).await.doing("Error querying allocation")?;
        return tell(context, json, template, &value);
    }
    let view = context.view();
    let text = if context.given.switch("short") {
        alloc::short(&view, &alloc)
    } else {
        let node = context.client.get::<Node>(&format!("/v1/node/{}", alloc.node_id), &[]).await.ok();
        let reschedule_at = reschedule_at(context, &alloc).await;
        let used = used(context, &alloc).await;
        alloc::measured_status(&view, &alloc, node.as_ref(), reschedule_at, used.as_ref())
    };
    context.ui.line(&text);
    Ok(0)
}

/// What the tasks use, with `-stats`, as far as the node says.
async fn used(context: &mut Context, alloc: &Allocation) -> Option<AllocResourceUsage> {
    if !context.given.switch("stats") || alloc.client_status != "running" {
        return None;
    }
    let path = format!("/v1/client/allocation/{}/stats", alloc.id);
    match context.client.in_namespace(&alloc.namespace).get(&path, &[]).await {
        Ok(used) => Some(used),
        Err(why) => {
            context.ui.note(&format!("Couldn't retrieve stats: {why}"));
            None
        }
    }
}

/// When a failed allocation is going to be replaced, where that is known and still to come.
async fn reschedule_at(context: &Context, alloc: &Allocation) -> Option<i64> {
    if alloc.followup_eval_id.is_empty() || !alloc.next_allocation.is_empty() {
        return None;
    }
    let path = format!("/v1/evaluation/{}", alloc.followup_eval_id);
    let eval: Evaluation = context.client.get(&path, &[]).await.ok()?;
    let at = eval.wait_until.as_nanoseconds();
    (at > context.view().now).then_some(at)
}
