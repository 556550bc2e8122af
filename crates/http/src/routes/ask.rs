//! What is asked of allocations on this node: signals and restarts.

use axum::body::Body;
use axum::extract::Path;
use axum::response::Response;
use longshore_api::{AllocRestartRequest, AllocSignalRequest, GenericResponse};
use longshore_client::{AskError, Client};
use longshore_model::AllocId;

use crate::body;
use crate::context::{Ask, Context};
use crate::error::{ApiError, Result};
use crate::prefix::full_id;
use crate::reply;
use crate::show::usage::usage;

/// `PUT /v1/client/allocation/{alloc}/signal`.
pub(crate) async fn signal(ask: Ask, Path(id): Path<String>, body: Body) -> Result<Response> {
    let (alloc, client) = here(&ask.context, &id)?;
    let asked: AllocSignalRequest = body::json(body)
        .await
        .map_err(|error| ApiError { message: format!("Failed to decode body: {}", error.message), ..error })?;
    let sent = ask.context.unless_ended(client.signal(alloc, named(&asked.task), &asked.signal)).await;
    sent.unwrap_or_else(|| Err(ending())).map_err(refused)?;
    reply::json(&ask.params, &GenericResponse::default())
}

/// `PUT /v1/client/allocation/{alloc}/restart`; no body is all tasks. Answered when they run again, or do not. Nomad takes any method here: a page that a person
/// happens to open could then restart tasks by showing a picture.
pub(crate) async fn restart(ask: Ask, Path(id): Path<String>, body: Body) -> Result<Response> {
    let (alloc, client) = here(&ask.context, &id)?;
    let asked: AllocRestartRequest = body::optional_json(body).await?.unwrap_or_default();
    let restarted = ask.context.unless_ended(client.restart(alloc, named(&asked.task_name), asked.all_tasks)).await;
    restarted.unwrap_or_else(|| Err(ending())).map_err(refused)?;
    reply::json(&ask.params, &GenericResponse::default())
}

/// `GET /v1/client/allocation/{alloc}/stats`.
pub(crate) async fn stats(ask: Ask, Path(id): Path<String>) -> Result<Response> {
    let (alloc, client) = here(&ask.context, &id)?;
    let measured = client.usage(alloc, named(ask.params.text("task")));
    let measured = ask.context.unless_ended(measured).await.unwrap_or_else(|| Ok(Default::default()));
    reply::json(&ask.params, &usage(&measured.map_err(refused)?))
}

fn ending() -> AskError {
    AskError::Tasks(vec!["the agent is ending".to_owned()])
}

/// Empty: all of them.
fn named(task: &str) -> Option<&str> {
    Some(task).filter(|task| !task.is_empty())
}

/// The node of an allocation, when that is this one.
pub(crate) fn here<'a>(context: &'a Context, id: &str) -> Result<(AllocId, &'a Client)> {
    let alloc: AllocId = full_id("alloc", id)?;
    match &context.client {
        Some(client) if client.has_allocation(alloc) => Ok((alloc, client)),
        _ => Err(elsewhere(context, alloc)),
    }
}

/// What there is to say of an allocation that this node does not have.
pub(crate) fn elsewhere(context: &Context, id: AllocId) -> ApiError {
    let unknown = || ApiError::not_found(AskError::UnknownAllocation(id).to_string());
    let state = context.server.snapshot();
    match (state.allocation(id), &context.client) {
        (None, _) => unknown(),
        // The node has not taken it in yet, or has collected it.
        (Some(alloc), Some(client)) if client.node_id() == alloc.node => unknown(),
        (Some(_), _) => ApiError::not_found("No path to node"),
    }
}

pub(crate) fn refused(error: AskError) -> ApiError {
    match error {
        AskError::UnknownAllocation(_) | AskError::NotRunning(_) => ApiError::not_found(error.to_string()),
        AskError::UnknownTask(_) | AskError::Driver(_) | AskError::Tasks(_) => ApiError::server(error.to_string()),
    }
}
