use axum::response::Response;

use crate::context::Ask;
use crate::error::Result;
use crate::reply;

/// `PUT /v1/system/gc`: forgets what has ended, however young.
pub(crate) async fn collect(ask: Ask) -> Result<Response> {
    ask.context.server.system_gc().await?;
    Ok(reply::empty())
}
