//! Ids by their beginning, for completion on the command line.

use axum::body::Body;
use axum::response::Response;
use longshore_api as api;
use longshore_model::LogIndex;
use longshore_state::{State, Table};

use crate::context::Ask;
use crate::error::{ApiError, Result};
use crate::prefix::IdPrefix;
use crate::{body, reply};

/// The most that one context tells.
const MATCHES_MAX: usize = 20;
const CONTEXTS: &[&str] = &[
    "allocs",
    "jobs",
    "nodes",
    "node_pools",
    "evals",
    "deployment",
    "plugins",
    "volumes",
    "scaling_policy",
    "vars",
    "namespaces",
];
/// Contexts whose objects have UUIDs.
const UUID_CONTEXTS: &[&str] = &["allocs", "nodes", "evals", "deployment"];

/// `PUT /v1/search`.
pub(crate) async fn search(ask: Ask, body: Body) -> Result<Response> {
    let request: api::SearchRequest = body::json(body).await?;
    let asked = request.context.as_str();
    let id_prefix = IdPrefix::lenient(&request.prefix);
    let contexts: Vec<&str> = if asked == "all" {
        CONTEXTS.iter().copied().filter(|name| id_prefix.is_some() || !UUID_CONTEXTS.contains(name)).collect()
    } else if CONTEXTS.contains(&asked) {
        vec![asked]
    } else {
        return Err(ApiError::server(format!(
            "context must be one of [{}] or 'all' for all contexts; got {asked:?}",
            CONTEXTS.join(" ")
        )));
    };
    let state = ask.context.server.snapshot();
    let mut answer = api::SearchResponse { known_leader: true, ..api::SearchResponse::default() };
    for context in contexts {
        let (matches, truncated) = matches(&state, context, &request.prefix, id_prefix.as_ref(), &ask);
        answer.matches.insert(context.to_owned(), (!matches.is_empty()).then_some(matches));
        answer.truncations.insert(context.to_owned(), truncated);
    }
    let index = index_of(&state);
    answer.index = index.0;
    Ok(reply::as_of(reply::json(&ask.params, &answer)?, index))
}

fn index_of(state: &State) -> LogIndex {
    let tables = [Table::Jobs, Table::Evaluations, Table::Allocations, Table::Deployments, Table::Nodes];
    tables.into_iter().map(|table| state.table_index(table)).max().unwrap_or_default()
}

fn matches(state: &State, context: &str, prefix: &str, id_prefix: Option<&IdPrefix>, ask: &Ask) -> (Vec<String>, bool) {
    let namespace = &ask.options.namespace;
    let begins = |id: u128| id_prefix.is_some_and(|prefix| prefix.begins(id));
    let first = |ids: &mut dyn Iterator<Item = String>| {
        let found: Vec<String> = ids.take(MATCHES_MAX).collect();
        (found, ids.next().is_some())
    };
    match context {
        "jobs" => first(
            &mut state
                .jobs()
                .filter(|job| namespace.takes(&job.key.namespace) && job.key.id.starts_with(prefix))
                .map(|job| job.key.id.clone()),
        ),
        "allocs" => first(
            &mut state
                .allocations()
                .filter(|alloc| namespace.takes(&alloc.job.namespace) && begins(alloc.id.as_u128()))
                .map(|alloc| alloc.id.to_string()),
        ),
        "evals" => first(
            &mut state
                .evaluations()
                .filter(|eval| namespace.takes(&eval.job.namespace) && begins(eval.id.as_u128()))
                .map(|eval| eval.id.to_string()),
        ),
        "deployment" => first(
            &mut state
                .deployments()
                .filter(|one| namespace.takes(&one.job.namespace) && begins(one.id.as_u128()))
                .map(|one| one.id.to_string()),
        ),
        "nodes" => first(&mut state.nodes().filter(|node| begins(node.id.as_u128())).map(|node| node.id.to_string())),
        "namespaces" => first(&mut ["default"].into_iter().filter(|name| name.starts_with(prefix)).map(str::to_owned)),
        "node_pools" => {
            first(&mut ["all", "default"].into_iter().filter(|name| name.starts_with(prefix)).map(str::to_owned))
        }
        _ => (Vec::new(), false),
    }
}
