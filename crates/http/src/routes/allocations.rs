use axum::extract::Path;
use axum::response::Response;
use longshore_api as api;
use longshore_model::{AllocId, Allocation};
use longshore_state::{State, Table};

use crate::context::Ask;
use crate::error::{ApiError, Result};
use crate::page::{self, ByAge, Page};
use crate::prefix::{IdPrefix, full_id};
use crate::reply;
use crate::show::allocation::{self, StubFields};

/// `GET /v1/allocations`.
pub(crate) async fn list(ask: Ask) -> Result<Response> {
    let page = Page::of(&ask.params)?;
    let prefix = IdPrefix::parse("alloc", ask.params.text("prefix"))?;
    let fields = StubFields {
        resources: ask.params.flag("resources")?.unwrap_or(false),
        task_states: ask.params.flag("task_states")?.unwrap_or(true),
    };
    let index_of = |state: &State| state.table_index(Table::Allocations);
    let state = ask.context.state(&ask.options, &[Table::Allocations], index_of).await;
    let found: Vec<&Allocation> = state
        .allocations()
        .map(AsRef::as_ref)
        .filter(|alloc| ask.options.namespace.takes(&alloc.job.namespace))
        .filter(|alloc| prefix.begins(alloc.id.as_u128()))
        .collect();
    let place = |alloc: &&Allocation| ByAge { create_index: alloc.create_index, id: alloc.id.as_u128() };
    let (found, next) = page.cut_by_age(found, place)?;
    let shown: Vec<_> = found.into_iter().map(|alloc| allocation::stub(alloc, fields)).collect();
    page::answer(&ask.params, &shown, next, index_of(&state))
}

/// `GET /v1/allocation/{alloc}`.
pub(crate) async fn get(ask: Ask, Path(id): Path<String>) -> Result<Response> {
    let id: AllocId = full_id("alloc", &id)?;
    let index_of = |state: &State| match state.allocation(id) {
        Some(alloc) => alloc.modify_index,
        None => state.table_index(Table::Allocations),
    };
    let state = ask.context.state(&ask.options, &[Table::Allocations], index_of).await;
    match state.allocation(id) {
        Some(alloc) => {
            let shown = allocation::allocation(alloc)?;
            Ok(reply::as_of(reply::json(&ask.params, &shown)?, index_of(&state)))
        }
        None => Ok(reply::as_of(ApiError::not_found("alloc not found"), index_of(&state))),
    }
}

/// `PUT /v1/allocation/{alloc}/stop`.
pub(crate) async fn stop(ask: Ask, Path(id): Path<String>) -> Result<Response> {
    let id: AllocId = full_id("alloc", &id)?;
    if ask.context.server.snapshot().allocation(id).is_none() {
        return Err(ApiError::not_found("allocation not found"));
    }
    let no_shutdown_delay = ask.params.flag("no_shutdown_delay")?.unwrap_or(false);
    let answer = ask.context.server.stop_allocation(id, no_shutdown_delay).await?;
    let shown = api::AllocStopResponse { eval_id: answer.eval.to_string(), index: answer.index.0 };
    Ok(reply::written_at(reply::json(&ask.params, &shown)?, answer.index))
}
