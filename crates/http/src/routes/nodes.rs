use std::collections::BTreeMap;

use axum::body::Body;
use axum::extract::Path;
use axum::response::Response;
use longshore_api as api;
use longshore_model::{Eligibility, NodeId};
use longshore_server::NodeAnswer;
use longshore_state::{State, Table};

use crate::context::Ask;
use crate::error::{ApiError, Result};
use crate::page::{self, ById, Page};
use crate::prefix::{IdPrefix, full_id};
use crate::show::node::{self, StubFields};
use crate::show::{allocation, job};
use crate::{body, reply};

/// `GET /v1/nodes`.
pub(crate) async fn list(ask: Ask) -> Result<Response> {
    let page = Page::of(&ask.params)?;
    let prefix = IdPrefix::of_any_length("node", ask.params.text("prefix"))?;
    let fields = StubFields {
        resources: ask.params.flag("resources")?.unwrap_or(false),
        attributes: ask.params.flag("os")?.unwrap_or(false),
    };
    let index_of = |state: &State| state.table_index(Table::Nodes);
    let state = ask.context.state(&ask.options, &[Table::Nodes], index_of).await;
    let found = state.nodes().filter(|node| prefix.begins(node.id.as_u128()));
    let (found, next) = page.cut(found, |node| ById(node.id.as_u128()))?;
    let shown: Vec<_> = found.into_iter().map(|node| node::stub(node, fields)).collect();
    page::answer(&ask.params, &shown, next, index_of(&state))
}

/// `GET /v1/node/{node}`.
pub(crate) async fn get(ask: Ask, Path(id): Path<String>) -> Result<Response> {
    let id: NodeId = full_id("node", &id)?;
    let index_of = |state: &State| match state.node(id) {
        Some(node) => node.modify_index,
        None => state.table_index(Table::Nodes),
    };
    let state = ask.context.state(&ask.options, &[Table::Nodes], index_of).await;
    match state.node(id) {
        Some(found) => Ok(reply::as_of(reply::json(&ask.params, &node::node(found))?, index_of(&state))),
        None => Ok(reply::as_of(ApiError::not_found("node not found"), index_of(&state))),
    }
}

/// `GET /v1/node/{node}/allocations`: whole ones, with their jobs.
pub(crate) async fn allocations(ask: Ask, Path(id): Path<String>) -> Result<Response> {
    let id: NodeId = full_id("node", &id)?;
    let index_of = |state: &State| {
        let newest = state.allocations_of_node(id).map(|alloc| alloc.modify_index).max();
        newest.unwrap_or_else(|| state.table_index(Table::Allocations))
    };
    let state = ask.context.state(&ask.options, &[Table::Allocations], index_of).await;
    // Allocations of one version share their job: its document is read once.
    let mut jobs = BTreeMap::new();
    let mut shown = Vec::new();
    for alloc in state.allocations_of_node(id) {
        let key = (&alloc.job, alloc.job_version, alloc.job_spec.create_index);
        let of_alloc = match jobs.get(&key) {
            Some(known) => Clone::clone(known),
            None => {
                let read = job::job(&alloc.job_spec)?;
                jobs.insert(key, read.clone());
                read
            }
        };
        shown.push(allocation::with_job(alloc, of_alloc));
    }
    Ok(reply::as_of(reply::json(&ask.params, &shown)?, index_of(&state)))
}

/// `PUT /v1/node/{node}/eligibility`.
pub(crate) async fn eligibility(ask: Ask, Path(id): Path<String>, body: Body) -> Result<Response> {
    let request: api::NodeEligibilityRequest = body::json(body).await?;
    let eligibility = match request.eligibility.as_str() {
        "eligible" => Eligibility::Eligible,
        "ineligible" => Eligibility::Ineligible,
        other => return Err(ApiError::server(format!("invalid scheduling eligibility {other:?}"))),
    };
    let answer = ask.context.server.set_node_eligibility(full_id("node", &id)?, eligibility).await?;
    let shown = api::NodeEligibilityResponse {
        node_modify_index: answer.index.0,
        eval_create_index: eval_create_index(&answer),
        eval_ids: answer.evals.iter().map(ToString::to_string).collect(),
        index: answer.index.0,
    };
    Ok(reply::written_at(reply::json(&ask.params, &shown)?, answer.index))
}

/// `PUT /v1/node/{node}/evaluate`.
pub(crate) async fn evaluate(ask: Ask, Path(id): Path<String>) -> Result<Response> {
    let answer = ask.context.server.evaluate_node(full_id("node", &id)?).await?;
    updated(&ask, &answer)
}

/// `PUT /v1/node/{node}/purge`.
pub(crate) async fn purge(ask: Ask, Path(id): Path<String>) -> Result<Response> {
    let answer = ask.context.server.purge_node(full_id("node", &id)?).await?;
    updated(&ask, &answer)
}

fn updated(ask: &Ask, answer: &NodeAnswer) -> Result<Response> {
    let shown = api::NodeUpdateResponse {
        eval_ids: answer.evals.iter().map(ToString::to_string).collect(),
        eval_create_index: eval_create_index(answer),
        node_modify_index: answer.index.0,
        index: answer.index.0,
        ..api::NodeUpdateResponse::default()
    };
    Ok(reply::written_at(reply::json(&ask.params, &shown)?, answer.index))
}

fn eval_create_index(answer: &NodeAnswer) -> u64 {
    if answer.evals.is_empty() { 0 } else { answer.index.0 }
}
