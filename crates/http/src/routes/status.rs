use axum::extract::Path;
use axum::response::Response;
use longshore_api::Namespace;
use longshore_model::LogIndex;

use crate::context::Ask;
use crate::error::{ApiError, Result};
use crate::reply;

/// `GET /v1/status/leader`: where the leader's servers are spoken to.
pub(crate) async fn leader(ask: Ask) -> Result<Response> {
    reply::json(&ask.params, &ask.context.agent.rpc_address)
}

/// `GET /v1/status/peers`.
pub(crate) async fn peers(ask: Ask) -> Result<Response> {
    reply::json(&ask.params, &[&ask.context.agent.rpc_address])
}

/// `GET /v1/regions`.
pub(crate) async fn regions(ask: Ask) -> Result<Response> {
    reply::json(&ask.params, &[&ask.context.agent.region])
}

/// The only namespace of this build; it has been there from the first entry.
fn default_namespace() -> Namespace {
    Namespace {
        name: "default".to_owned(),
        description: "Default shared namespace".to_owned(),
        create_index: 1,
        modify_index: 1,
        ..Namespace::default()
    }
}

/// `GET /v1/namespaces`.
pub(crate) async fn namespaces(ask: Ask) -> Result<Response> {
    let one = default_namespace();
    let shown = if one.name.starts_with(ask.params.text("prefix")) { vec![one] } else { Vec::new() };
    Ok(reply::as_of(reply::json(&ask.params, &shown)?, LogIndex(1)))
}

/// `GET /v1/namespace/{namespace}`.
pub(crate) async fn namespace(ask: Ask, Path(name): Path<String>) -> Result<Response> {
    let one = default_namespace();
    if name != one.name {
        return Ok(reply::as_of(ApiError::not_found("Namespace not found"), LogIndex(1)));
    }
    Ok(reply::as_of(reply::json(&ask.params, &one)?, LogIndex(1)))
}
