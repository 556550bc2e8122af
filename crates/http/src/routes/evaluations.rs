use axum::extract::Path;
use axum::response::Response;
use longshore_model::{EvalId, Evaluation};
use longshore_state::{State, Table};

use crate::context::Ask;
use crate::error::{ApiError, Result};
use crate::page::{self, ByAge, Page};
use crate::prefix::{IdPrefix, full_id};
use crate::reply;
use crate::show::{allocation, evaluation};

/// `GET /v1/evaluations`.
pub(crate) async fn list(ask: Ask) -> Result<Response> {
    let page = Page::of(&ask.params)?;
    let prefix = IdPrefix::parse("eval", ask.params.text("prefix"))?;
    let (status, job) = (ask.params.text("status"), ask.params.text("job"));
    let index_of = |state: &State| state.table_index(Table::Evaluations);
    let state = ask.context.state(&ask.options, &[Table::Evaluations], index_of).await;
    let found: Vec<&Evaluation> = state
        .evaluations()
        .map(AsRef::as_ref)
        .filter(|eval| ask.options.namespace.takes(&eval.job.namespace))
        .filter(|eval| prefix.begins(eval.id.as_u128()))
        .filter(|eval| status.is_empty() || eval.status.word() == status)
        .filter(|eval| job.is_empty() || eval.job.id == job)
        .collect();
    let place = |eval: &&Evaluation| ByAge { create_index: eval.create_index, id: eval.id.as_u128() };
    let (found, next) = page.cut_by_age(found, place)?;
    let shown: Vec<_> = found.into_iter().map(evaluation::evaluation).collect();
    page::answer(&ask.params, &shown, next, index_of(&state))
}

/// `GET /v1/evaluation/{eval}`.
pub(crate) async fn get(ask: Ask, Path(id): Path<String>) -> Result<Response> {
    let id: EvalId = full_id("eval", &id)?;
    let related = ask.params.flag("related")?.unwrap_or(false);
    let index_of = |state: &State| match state.evaluation(id) {
        Some(eval) => eval.modify_index,
        None => state.table_index(Table::Evaluations),
    };
    let state = ask.context.state(&ask.options, &[Table::Evaluations], index_of).await;
    let Some(eval) = state.evaluation(id) else {
        return Ok(reply::as_of(ApiError::not_found("eval not found"), index_of(&state)));
    };
    let mut shown = evaluation::evaluation(eval);
    if related {
        shown.related_evals = related_to(&state, eval).map(evaluation::stub).collect();
    }
    Ok(reply::as_of(reply::json(&ask.params, &shown)?, index_of(&state)))
}

/// Those before, after and beside: the others that the evaluation's own references lead to, and those that refer to it.
fn related_to<'a>(state: &'a State, eval: &'a Evaluation) -> impl Iterator<Item = &'a Evaluation> {
    let names = |one: &Evaluation, id: EvalId| {
        [one.next_eval, one.previous_eval, one.blocked_eval].into_iter().flatten().any(|other| other == id)
    };
    state
        .evaluations_of_job(&eval.job)
        .map(AsRef::as_ref)
        .filter(move |other: &&Evaluation| other.id != eval.id && (names(eval, other.id) || names(other, eval.id)))
}

/// `GET /v1/evaluation/{eval}/allocations`.
pub(crate) async fn allocations(ask: Ask, Path(id): Path<String>) -> Result<Response> {
    let id: EvalId = full_id("eval", &id)?;
    let index_of = |state: &State| {
        let newest = state.allocations_of_evaluation(id).map(|alloc| alloc.modify_index).max();
        newest.unwrap_or_else(|| state.table_index(Table::Allocations))
    };
    let state = ask.context.state(&ask.options, &[Table::Allocations], index_of).await;
    let shown: Vec<_> =
        state.allocations_of_evaluation(id).map(|alloc| allocation::stub(alloc, Default::default())).collect();
    Ok(reply::as_of(reply::json(&ask.params, &shown)?, index_of(&state)))
}
