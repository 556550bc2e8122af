//! Everything below `/v1/job/`. Ids may hold slashes, so what is asked for is told by the end of the path, as it was sent:
//! `a/plan` is the plan of job `a`, `a%2Fplan` the job of that name.

use axum::body::Body;
use axum::http::{Method, StatusCode, Uri};
use axum::response::Response;
use longshore_api as api;
use longshore_model::{Job, JobKey};
use longshore_state::{State, Table};

use super::{deployments, submit};
use crate::context::Ask;
use crate::error::{ApiError, Result};
use crate::reply;
use crate::show::{allocation, evaluation, job};

const PREFIX: &str = "/v1/job/";
/// What can be asked of a job, by the end of the path.
const PARTS: &[&str] = &[
    "allocations",
    "evaluations",
    "deployments",
    "deployment",
    "versions",
    "summary",
    "plan",
    "evaluate",
    "revert",
    "stable",
];
/// What later builds will do and this one does not: said, rather than taken for a job's name.
const LATER_PARTS: &[&str] = &["periodic/force", "dispatch", "scale"];

/// `/v1/job/{job}` and all below it; the id may be missing.
pub(crate) async fn dispatch(ask: Ask, method: Method, uri: Uri, body: Body) -> Result<Response> {
    let (id, part) = split(uri.path().strip_prefix(PREFIX).unwrap_or_default());
    let id = decoded(id).ok_or_else(|| ApiError::bad_request(format!("invalid URL escape in job ID {id:?}")))?;
    let id = id.as_str();
    let key = JobKey::new(ask.options.namespace.name(), id);
    let writes = method == Method::PUT || method == Method::POST;
    let reads = method == Method::GET;
    match part {
        "" if reads => get(&ask, &key).await,
        "allocations" if reads => allocations(&ask, &key).await,
        "evaluations" if reads => evaluations(&ask, &key).await,
        "deployments" if reads => all_deployments(&ask, &key).await,
        "deployment" if reads => latest_deployment(&ask, &key).await,
        "versions" if reads => versions(&ask, &key).await,
        "summary" if reads => summary(&ask, &key).await,
        "" if writes => submit::update(&ask, id, body).await,
        "" if method == Method::DELETE => submit::deregister(&ask, &key).await,
        "plan" if writes => submit::plan(&ask, id, body).await,
        "evaluate" if writes => submit::evaluate(&ask, &key, body).await,
        "revert" if writes => submit::revert(&ask, &key, body).await,
        "stable" if writes => submit::stable(&ask, &key, body).await,
        later if LATER_PARTS.contains(&later) && writes => {
            Err(ApiError::new(StatusCode::NOT_IMPLEMENTED, format!("this build does not do {later} of jobs yet")))
        }
        _ => Err(ApiError::invalid_method()),
    }
}

fn split(path: &str) -> (&str, &str) {
    let known = PARTS.iter().chain(LATER_PARTS);
    let split = known.filter_map(|part| Some((path.strip_suffix(part)?.strip_suffix('/')?, *part))).next();
    split.unwrap_or((path, ""))
}

/// A part of a path without its escapes; `None` for what is none, or no UTF-8.
fn decoded(part: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(part.len());
    let mut rest = part.bytes();
    while let Some(byte) = rest.next() {
        let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
        bytes.push(match byte {
            b'%' => u8::try_from(digit(rest.next())? * 16 + digit(rest.next())?).ok()?,
            plain => plain,
        });
    }
    String::from_utf8(bytes).ok()
}

fn job_not_found() -> ApiError {
    ApiError::not_found("job not found")
}

async fn get(ask: &Ask, key: &JobKey) -> Result<Response> {
    let index_of = |state: &State| match state.job(key) {
        Some(job) => job.modify_index,
        None => state.table_index(Table::Jobs),
    };
    let state = ask.context.state(&ask.options, &[Table::Jobs], index_of).await;
    match state.job(key) {
        Some(found) => Ok(reply::as_of(reply::json(&ask.params, &job::job(found)?)?, index_of(&state))),
        None => Ok(reply::as_of(job_not_found(), index_of(&state))),
    }
}

async fn summary(ask: &Ask, key: &JobKey) -> Result<Response> {
    let index_of = |state: &State| match state.summary(key) {
        Some(summary) => summary.modify_index,
        None => state.table_index(Table::Jobs),
    };
    let tables = [Table::Jobs, Table::Evaluations, Table::Allocations];
    let state = ask.context.state(&ask.options, &tables, index_of).await;
    match state.summary(key) {
        Some(found) => Ok(reply::as_of(reply::json(&ask.params, &job::summary(found))?, index_of(&state))),
        None => Ok(reply::as_of(job_not_found(), index_of(&state))),
    }
}

/// Whether `of_old` objects (of an earlier job with the same id) are wanted; a bad value is no wish.
fn wants_all(ask: &Ask) -> bool {
    ask.params.flag("all").ok().flatten().unwrap_or(false)
}

async fn allocations(ask: &Ask, key: &JobKey) -> Result<Response> {
    let index_of = |state: &State| state.table_index(Table::Allocations);
    let state = ask.context.state(&ask.options, &[Table::Allocations], index_of).await;
    let of_now = state.job(key).map(|job| job.create_index);
    let all = wants_all(ask);
    let shown: Vec<_> = state
        .allocations_of_job(key)
        .filter(|alloc| all || of_now.is_none_or(|created| alloc.job_spec.create_index == created))
        .map(|alloc| allocation::stub(alloc, Default::default()))
        .collect();
    Ok(reply::as_of(reply::json(&ask.params, &shown)?, index_of(&state)))
}

/// Newest first.
async fn evaluations(ask: &Ask, key: &JobKey) -> Result<Response> {
    let index_of = |state: &State| state.table_index(Table::Evaluations);
    let state = ask.context.state(&ask.options, &[Table::Evaluations], index_of).await;
    let mut found: Vec<_> = state.evaluations_of_job(key).collect();
    found.sort_by_key(|eval| std::cmp::Reverse((eval.create_index, eval.id)));
    let shown: Vec<_> = found.into_iter().map(|eval| evaluation::evaluation(eval)).collect();
    Ok(reply::as_of(reply::json(&ask.params, &shown)?, index_of(&state)))
}

async fn all_deployments(ask: &Ask, key: &JobKey) -> Result<Response> {
    let index_of = |state: &State| state.table_index(Table::Deployments);
    let state = ask.context.state(&ask.options, &[Table::Deployments], index_of).await;
    let of_now = state.job(key).map(|job| job.create_index);
    let all = wants_all(ask);
    let shown: Vec<_> = state
        .deployments_of_job(key)
        .filter(|one| all || of_now.is_none_or(|created| one.job_create_index == created))
        .map(|one| deployments::shown(&state, one))
        .collect();
    Ok(reply::as_of(reply::json(&ask.params, &shown)?, index_of(&state)))
}

async fn latest_deployment(ask: &Ask, key: &JobKey) -> Result<Response> {
    let index_of = |state: &State| match state.latest_deployment(key) {
        Some(one) => one.modify_index,
        None => state.table_index(Table::Deployments),
    };
    let state = ask.context.state(&ask.options, &[Table::Deployments], index_of).await;
    let shown: Option<api::Deployment> = state.latest_deployment(key).map(|one| deployments::shown(&state, one));
    Ok(reply::as_of(reply::json(&ask.params, &shown)?, index_of(&state)))
}

async fn versions(ask: &Ask, key: &JobKey) -> Result<Response> {
    let with_diffs = ask.params.flag("diffs")?.unwrap_or(false);
    let index_of = |state: &State| match state.job(key) {
        Some(job) => job.modify_index,
        None => state.table_index(Table::Jobs),
    };
    let state = ask.context.state(&ask.options, &[Table::Jobs], index_of).await;
    let versions: Vec<&Job> = state.job_versions(key).map(AsRef::as_ref).collect();
    let index = index_of(&state);
    if versions.is_empty() {
        return Ok(reply::as_of(ApiError::not_found("job versions not found"), index));
    }
    let shown = api::JobVersionsResponse {
        versions: versions.iter().map(|version| job::job(version)).collect::<std::result::Result<_, _>>()?,
        diffs: if with_diffs { diffs(&versions)? } else { Vec::new() },
        index: index.0,
        known_leader: true,
        ..api::JobVersionsResponse::default()
    };
    Ok(reply::as_of(reply::json(&ask.params, &shown)?, index))
}

/// Each version against the one before it, newest first.
fn diffs(versions: &[&Job]) -> Result<Vec<api::JobDiff>> {
    let pairs = versions.iter().zip(versions.iter().skip(1));
    pairs.map(|(newer, older)| submit::difference(Some(older), newer)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_is_at_the_end_of_the_path() {
        assert_eq!(split("web"), ("web", ""));
        assert_eq!(split("web/allocations"), ("web", "allocations"));
        assert_eq!(split("a/b/plan"), ("a/b", "plan"));
        assert_eq!(split("photo/dispatch-1-2"), ("photo/dispatch-1-2", ""));
        assert_eq!(split("ledger/periodic/force"), ("ledger", "periodic/force"));
        assert_eq!(split("plan"), ("plan", ""));
        assert_eq!(split("deployment/deployments"), ("deployment", "deployments"));
        assert_eq!(split(""), ("", ""));
        assert_eq!(split("a%2Fplan"), ("a%2Fplan", ""));
        assert_eq!(split("a%2Fplan/plan"), ("a%2Fplan", "plan"));
    }

    #[test]
    fn escapes() {
        assert_eq!(decoded("a%2Fb%25%c3%A4+").as_deref(), Some("a/b%ä+"));
        for bad in ["%", "%2", "a%zz", "%ff", "%+1"] {
            assert_eq!(decoded(bad), None, "{bad}");
        }
    }
}
