//! The logs of tasks on this node: whole or followed, as frames or as they are.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::Path;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use futures_util::stream;
use longshore_api::StreamFrame;
use longshore_client::ReadLogError;
use longshore_logs::{LogFrame, LogOrigin, LogReader, LogStream};
use longshore_model::AllocId;
use tokio_util::sync::CancellationToken;
use tracing::warn;

use crate::context::{Ask, Context};
use crate::error::{ApiError, Result, with_causes};
use crate::params::go_bool;
use crate::prefix::full_id;

/// How often a stream of frames says that it lives.
const HEARTBEAT: Duration = Duration::from_secs(1);

/// `/v1/client/fs/logs/` without an allocation.
pub(crate) async fn without_allocation() -> ApiError {
    ApiError::bad_request("must provide a valid alloc id")
}

/// What a request for logs says.
struct Wanted {
    task: String,
    stream: LogStream,
    follow: bool,
    origin: LogOrigin,
    offset_bytes: u64,
    plain: bool,
}

/// `GET /v1/client/fs/logs/{alloc}`.
pub(crate) async fn logs(ask: Ask, Path(id): Path<String>) -> Result<Response> {
    let wanted = wanted(&ask)?;
    let content_type = HeaderValue::from_static(if wanted.plain { "text/plain" } else { "application/json" });
    let plain = wanted.plain;
    let mut response = match open(&ask.context, &id, wanted).await {
        Ok(reader) => Response::new(Body::from_stream(pieces(reader, plain, ask.context.end.clone()))),
        Err(error) => error.into_response(),
    };
    response.headers_mut().insert(header::CONTENT_TYPE, content_type);
    Ok(response)
}

fn wanted(ask: &Ask) -> Result<Wanted> {
    let task = ask.params.text("task");
    if task.is_empty() {
        return Err(ApiError::bad_request("must provide task name"));
    }
    let follow = match ask.params.text("follow") {
        "" => false,
        text => go_bool(text).ok_or_else(|| {
            ApiError::bad_request(format!(
                "failed to parse follow field to boolean: strconv.ParseBool: parsing \"{text}\": invalid syntax"
            ))
        })?,
    };
    let kind = ask.params.text("type");
    let stream = kind.parse().map_err(|_| ApiError::bad_request("must provide log type (stdout/stderr)"))?;
    let offset_bytes = match ask.params.text("offset") {
        "" => 0,
        text => text.parse::<i64>().map(|offset| offset.max(0).unsigned_abs()).map_err(|_| {
            ApiError::bad_request(format!("error parsing offset: strconv.ParseInt: parsing \"{text}\": invalid syntax"))
        })?,
    };
    let origin = match ask.params.text("origin") {
        "" => LogOrigin::Start,
        text => text.parse().map_err(|_| ApiError::bad_request("origin must be start or end"))?,
    };
    let plain = ask.params.flag("plain")?.unwrap_or(false);
    Ok(Wanted { task: task.to_owned(), stream, follow, origin, offset_bytes, plain })
}

async fn open(context: &Context, id: &str, wanted: Wanted) -> Result<LogReader> {
    let alloc: AllocId = full_id("alloc", id)?;
    let Some(client) = context.client.clone() else { return Err(not_here(context, alloc, &wanted.task)) };
    let task = wanted.task.clone();
    let opened = tokio::task::spawn_blocking(move || {
        client.logs(alloc, &task, wanted.stream, wanted.origin, wanted.offset_bytes, wanted.follow)
    });
    match opened.await.map_err(|why| ApiError::server(format!("the look at the log ended early: {why}")))? {
        Ok(reader) => Ok(reader),
        Err(why @ ReadLogError::UnknownTask(_)) => Err(ApiError::bad_request(why.to_string())),
        Err(why @ ReadLogError::NotStarted(_)) => Err(ApiError::not_found(why.to_string())),
        Err(why @ ReadLogError::Log(_)) => Err(ApiError::server(with_causes(&why))),
        Err(ReadLogError::UnknownAllocation(_)) => Err(not_here(context, alloc, &wanted.task)),
    }
}

/// What the server knows of an allocation that this node does not have.
fn not_here(context: &Context, id: AllocId, task: &str) -> ApiError {
    let state = context.server.snapshot();
    let Some(alloc) = state.allocation(id) else {
        return ApiError::not_found(format!("Unknown allocation {:?}", id.to_string()));
    };
    if context.client.as_ref().is_none_or(|client| client.node_id() != alloc.node) {
        return ApiError::not_found("No path to node");
    }
    // The node has not taken it in yet, or has collected it.
    let has_task = alloc.job_spec.group(&alloc.group).is_some_and(|group| group.task(task).is_some());
    if has_task {
        ApiError::not_found(ReadLogError::NotStarted(task.to_owned()).to_string())
    } else {
        ApiError::bad_request(ReadLogError::UnknownTask(task.to_owned()).to_string())
    }
}

/// The stream of a body. It ends with the log, with the agent, or when the client goes away.
fn pieces(
    reader: LogReader,
    plain: bool,
    end: CancellationToken,
) -> impl stream::Stream<Item = std::result::Result<Bytes, std::io::Error>> {
    stream::unfold(reader, move |mut reader| {
        let end = end.clone();
        async move {
            loop {
                tokio::select! {
                    () = end.cancelled() => return None,
                    next = reader.next() => match next {
                        Ok(Some(frame)) if plain => return Some((Ok(frame.data), reader)),
                        Ok(Some(frame)) => return Some((Ok(encoded(&frame)), reader)),
                        Ok(None) => return None,
                        Err(error) => {
                            warn!(error = %with_causes(&error), "a log stream ended early");
                            return None;
                        }
                    },
                    () = tokio::time::sleep(HEARTBEAT) => {
                        if !plain {
                            return Some((Ok(Bytes::from_static(b"{}")), reader));
                        }
                    }
                }
            }
        }
    })
}

fn encoded(frame: &LogFrame) -> Bytes {
    let shown = StreamFrame {
        offset: i64::try_from(frame.offset).unwrap_or(i64::MAX),
        data: BASE64.encode(&frame.data),
        file: format!("alloc/logs/{}", frame.file),
        file_event: String::new(),
    };
    // A structure of texts and a number is always JSON.
    serde_json::to_vec(&shown).map(Bytes::from).unwrap_or_default()
}
