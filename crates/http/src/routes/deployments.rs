use axum::body::Body;
use axum::extract::Path;
use axum::response::Response;
use longshore_api as api;
use longshore_model::{AllocId, Deployment, DeploymentId};
use longshore_server::DeploymentAnswer;
use longshore_state::{State, Table};

use crate::context::Ask;
use crate::error::{ApiError, Result};
use crate::page::{self, ByAge, Page};
use crate::prefix::{IdPrefix, full_id};
use crate::show::{allocation, deployment};
use crate::{body, reply};

/// `GET /v1/deployments`.
pub(crate) async fn list(ask: Ask) -> Result<Response> {
    let page = Page::of(&ask.params)?;
    let prefix = IdPrefix::parse("deployment", ask.params.text("prefix"))?;
    let index_of = |state: &State| state.table_index(Table::Deployments);
    let state = ask.context.state(&ask.options, &[Table::Deployments], index_of).await;
    let found: Vec<&Deployment> = state
        .deployments()
        .map(AsRef::as_ref)
        .filter(|one| ask.options.namespace.takes(&one.job.namespace))
        .filter(|one| prefix.begins(one.id.as_u128()))
        .collect();
    let place = |one: &&Deployment| ByAge { create_index: one.create_index, id: one.id.as_u128() };
    let (found, next) = page.cut_by_age(found, place)?;
    let shown: Vec<_> = found.into_iter().map(|one| shown(&state, one)).collect();
    page::answer(&ask.params, &shown, next, index_of(&state))
}

/// With the priority that the deployment's evaluations have.
pub(crate) fn shown(state: &State, one: &Deployment) -> api::Deployment {
    let version = state.job_version(&one.job, one.job_version).or_else(|| state.job(&one.job));
    deployment::deployment(one, version.map_or(0, |job| job.priority))
}

/// `GET /v1/deployment/{deployment}`.
pub(crate) async fn get(ask: Ask, Path(id): Path<String>) -> Result<Response> {
    let id: DeploymentId = full_id("deployment", &id)?;
    let index_of = |state: &State| match state.deployment(id) {
        Some(one) => one.modify_index,
        None => state.table_index(Table::Deployments),
    };
    let state = ask.context.state(&ask.options, &[Table::Deployments], index_of).await;
    match state.deployment(id) {
        Some(one) => Ok(reply::as_of(reply::json(&ask.params, &shown(&state, one))?, index_of(&state))),
        None => Ok(reply::as_of(ApiError::not_found("deployment not found"), index_of(&state))),
    }
}

/// `GET /v1/deployment/allocations/{deployment}`.
pub(crate) async fn allocations(ask: Ask, Path(id): Path<String>) -> Result<Response> {
    let id: DeploymentId = full_id("deployment", &id)?;
    let index_of = |state: &State| {
        let newest = state.allocations_of_deployment(id).map(|alloc| alloc.modify_index).max();
        newest.unwrap_or_else(|| state.table_index(Table::Allocations))
    };
    let state = ask.context.state(&ask.options, &[Table::Allocations], index_of).await;
    let shown: Vec<_> =
        state.allocations_of_deployment(id).map(|alloc| allocation::stub(alloc, Default::default())).collect();
    Ok(reply::as_of(reply::json(&ask.params, &shown)?, index_of(&state)))
}

/// `PUT /v1/deployment/fail/{deployment}`.
pub(crate) async fn fail(ask: Ask, Path(id): Path<String>) -> Result<Response> {
    let id: DeploymentId = full_id("deployment", &id)?;
    written(&ask, ask.context.server.fail_deployment(id).await?)
}

/// `PUT /v1/deployment/pause/{deployment}`.
pub(crate) async fn pause(ask: Ask, Path(path): Path<String>, body: Body) -> Result<Response> {
    let request: api::DeploymentPauseRequest = body::json(body).await?;
    same_id(&request.deployment_id, &path)?;
    let id: DeploymentId = full_id("deployment", &path)?;
    written(&ask, ask.context.server.pause_deployment(id, request.pause).await?)
}

/// `PUT /v1/deployment/promote/{deployment}`.
pub(crate) async fn promote(ask: Ask, Path(path): Path<String>, body: Body) -> Result<Response> {
    let request: api::DeploymentPromoteRequest = body::json(body).await?;
    same_id(&request.deployment_id, &path)?;
    let id: DeploymentId = full_id("deployment", &path)?;
    written(&ask, ask.context.server.promote_deployment(id).await?)
}

/// `PUT /v1/deployment/allocation-health/{deployment}`.
pub(crate) async fn allocation_health(ask: Ask, Path(path): Path<String>, body: Body) -> Result<Response> {
    let request: api::DeploymentAllocHealthRequest = body::json(body).await?;
    same_id(&request.deployment_id, &path)?;
    let id: DeploymentId = full_id("deployment", &path)?;
    let healthy = ids(&request.healthy_allocation_ids)?;
    let unhealthy = ids(&request.unhealthy_allocation_ids)?;
    written(&ask, ask.context.server.set_allocation_health(id, healthy, unhealthy).await?)
}

fn ids(texts: &[String]) -> Result<Vec<AllocId>> {
    texts.iter().map(|text| full_id("alloc", text)).collect()
}

fn same_id(in_body: &str, in_path: &str) -> Result<()> {
    if in_body.is_empty() {
        return Err(ApiError::bad_request("DeploymentID must be specified"));
    }
    if in_body != in_path {
        return Err(ApiError::bad_request("Deployment ID does not match"));
    }
    Ok(())
}

fn written(ask: &Ask, answer: DeploymentAnswer) -> Result<Response> {
    let shown = api::DeploymentUpdateResponse {
        eval_id: crate::show::id(answer.eval),
        eval_create_index: if answer.eval.is_some() { answer.index.0 } else { 0 },
        deployment_modify_index: answer.index.0,
        reverted_job_version: answer.reverted_job_version,
        index: answer.index.0,
        ..api::DeploymentUpdateResponse::default()
    };
    Ok(reply::written_at(reply::json(&ask.params, &shown)?, answer.index))
}
