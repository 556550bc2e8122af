use longshore_api::{AgentSelf, AllocListStub, Allocation, HostStats, Node, NodeListStub};

use crate::commands::{Context, Outcome};
use crate::failure::{Failure, While};
use crate::json::formatted;
use crate::render::node::{self, Detail, ListOptions};
use crate::resolve::one_node;

pub(super) async fn run(context: &mut Context) -> Outcome {
    match context.given.arguments.as_slice() {
        [] if context.given.switch("self") => {
            let id = own_node(context).await?;
            one(context, &id).await
        }
        [] => list(context).await,
        [prefix] => {
            let prefix = prefix.clone();
            one(context, &prefix).await
        }
        _ => Err(Failure::usage("This command takes either one or no arguments")),
    }
}

/// The node that the agent which is asked runs itself.
async fn own_node(context: &Context) -> Result<String, Failure> {
    let agent: AgentSelf = context.client.get("/v1/agent/self", &[]).await.doing("Error querying agent info")?;
    let id = agent.stats.get("client").and_then(|client| client.get("node_id"));
    id.cloned().ok_or_else(|| Failure::told("Nomad not running in client mode"))
}

async fn list(context: &mut Context) -> Outcome {
    let (json, template) = (context.given.switch("json"), context.given.text("t").map(str::to_owned));
    let options = ListOptions { os: context.given.switch("os") };
    let filter = context.given.text("filter").unwrap_or("").to_owned();
    let (per_page, token) = (context.given.integer("per-page"), context.given.text("page-token").map(str::to_owned));
    let per_page = per_page.map(|count| count.to_string());
    let mut query = vec![("os", if options.os { "true" } else { "false" })];
    if !filter.is_empty() {
        query.push(("filter", &filter));
    }
    query.extend(per_page.as_deref().map(|count| ("per_page", count)));
    query.extend(token.as_deref().map(|token| ("next_token", token)));
    let doing = "Error querying node status";
    let value = context.client.get_value("/v1/nodes", &query).await.doing(doing)?;
    if let Some(text) = formatted(json, template.as_deref(), &value)? {
        context.ui.line(&text);
        return Ok(0);
    }
    let shape = |why| Failure::told(format!("{doing}: {why}"));
    let mut nodes: Vec<NodeListStub> = longshore_api::from_value(value).map_err(shape)?;
    nodes.sort_by_key(|node| std::cmp::Reverse(node.create_index));
    if nodes.is_empty() {
        return Ok(0);
    }
    if context.given.switch("quiet") {
        for node in &nodes {
            context.ui.line(&node.id);
        }
        return Ok(0);
    }
    let running = if context.given.switch("allocs") { Some(running(context, &nodes).await?) } else { None };
    let text = node::list(&context.view(), &nodes, options, running.as_deref());
    context.ui.line(&text);
    Ok(0)
}

async fn running(context: &Context, nodes: &[NodeListStub]) -> Result<Vec<usize>, Failure> {
    let mut counts = Vec::with_capacity(nodes.len());
    for node in nodes {
        let path = format!("/v1/node/{}/allocations", node.id);
        let allocs: Vec<Allocation> = context.client.get(&path, &[]).await.doing("Error querying node allocations")?;
        counts.push(allocs.iter().filter(|alloc| alloc.client_status == "running").count());
    }
    Ok(counts)
}

pub(super) async fn one(context: &mut Context, prefix: &str) -> Outcome {
    let (json, template) = (context.given.switch("json"), context.given.text("t").map(str::to_owned));
    let found = one_node(&context.client, &context.view(), prefix).await?;
    let path = format!("/v1/node/{}", found.id);
    let value = context.client.get_value(&path, &[]).await.doing("Error querying node info")?;
    if let Some(text) = formatted(json, template.as_deref(), &value)? {
        context.ui.line(&text);
        return Ok(0);
    }
    let shape = |why| Failure::told(format!("Error querying node info: {why}"));
    let node: Node = longshore_api::from_value(value).map_err(shape)?;
    let short = context.given.switch("short");
    let doing = "Error querying node allocations";
    let mut allocs: Vec<Allocation> = context.client.get(&format!("{path}/allocations"), &[]).await.doing(doing)?;
    allocs.sort_by_key(|alloc| std::cmp::Reverse(alloc.create_index));
    let stats = if short { None } else { stats(context, &found.id).await };
    let detail = Detail {
        stubs: allocs.iter().map(stub).collect(),
        node,
        stats,
        allocs,
        short,
        show_stats: context.given.switch("stats"),
    };
    let text = node::status(&context.view(), &detail);
    context.ui.line(&text);
    Ok(0)
}

/// How the machine is doing; without it the rest is still worth showing.
async fn stats(context: &mut Context, id: &str) -> Option<HostStats> {
    match context.client.get("/v1/client/stats", &[("node_id", id)]).await {
        Ok(stats) => Some(stats),
        Err(why) => {
            context.ui.error(&format!("error fetching node stats: {why}"));
            None
        }
    }
}

/// An allocation as it stands in a list.
fn stub(alloc: &Allocation) -> AllocListStub {
    AllocListStub {
        id: alloc.id.clone(),
        eval_id: alloc.eval_id.clone(),
        node_id: alloc.node_id.clone(),
        node_name: alloc.node_name.clone(),
        task_group: alloc.task_group.clone(),
        job_version: alloc.job.as_ref().and_then(|job| job.version).unwrap_or(0),
        desired_status: alloc.desired_status.clone(),
        client_status: alloc.client_status.clone(),
        create_time: alloc.create_time,
        modify_time: alloc.modify_time,
        create_index: alloc.create_index,
        ..AllocListStub::default()
    }
}
