//! The files of allocations on this node.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::Path;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use futures_util::stream;
use longshore_api::{AllocFileInfo, GoTime, StreamFrame};
use longshore_client::{AllocFile, Client, FileInfo, FilesError};
use longshore_model::AllocId;
use tokio_util::sync::CancellationToken;
use tracing::warn;

use super::ask::elsewhere;
use crate::context::{Ask, Context};
use crate::error::{ApiError, Result};
use crate::params::{Params, go_bool};
use crate::prefix::full_id;
use crate::reply;

/// The most that is read at once, and that a frame carries.
const PIECE_BYTES: usize = 64 * 1024;
/// How often a stream of frames says that it lives.
const HEARTBEAT: Duration = Duration::from_secs(1);
/// How often a file that is followed is looked at: nobody tells when a task writes.
const LOOK_AGAIN: Duration = Duration::from_millis(200);

const NO_NAME: &str = "must provide a file name";

/// `/v1/client/fs/{call}` without an allocation.
pub(crate) async fn without_allocation() -> ApiError {
    ApiError::bad_request("must provide a valid alloc id")
}

/// A call below `/v1/client/fs/` that there is not.
pub(crate) async fn unknown_call() -> ApiError {
    ApiError::not_found("Invalid method")
}

/// `GET /v1/client/fs/ls/{alloc}`.
pub(crate) async fn list(ask: Ask, Path(id): Path<String>) -> Result<Response> {
    let path = ask.params.text("path").to_owned();
    let found = on_disk(&ask.context, &id, move |client, alloc| client.list_files(alloc, &path)).await?;
    let shown: Vec<AllocFileInfo> = found.map_err(failed)?.into_iter().map(shown).collect();
    reply::json(&ask.params, &shown)
}

/// `GET /v1/client/fs/stat/{alloc}`.
pub(crate) async fn stat(ask: Ask, Path(id): Path<String>) -> Result<Response> {
    let path = ask.params.text("path").to_owned();
    if path.is_empty() {
        return Err(ApiError::bad_request(NO_NAME));
    }
    let found = on_disk(&ask.context, &id, move |client, alloc| client.file_info(alloc, &path)).await?;
    reply::json(&ask.params, &shown(found.map_err(failed)?))
}

/// `GET /v1/client/fs/cat/{alloc}`.
pub(crate) async fn cat(ask: Ask, Path(id): Path<String>) -> Result<Response> {
    content(ask, &id, Ok((0, None))).await
}

/// `GET /v1/client/fs/readat/{alloc}`.
pub(crate) async fn read_at(ask: Ask, Path(id): Path<String>) -> Result<Response> {
    let range = range(&ask.params);
    content(ask, &id, range).await
}

fn range(params: &Params) -> Result<(i64, Option<u64>), String> {
    let number = |key: &str, text: &str| {
        text.parse::<i64>()
            .map_err(|_| format!("error parsing {key}: strconv.ParseInt: parsing \"{text}\": invalid syntax"))
    };
    let offset = number("offset", params.text("offset"))?;
    let limit = match params.text("limit") {
        "" => None,
        text => Some(number("limit", text)?).filter(|limit| *limit >= 0).map(i64::unsigned_abs),
    };
    Ok((offset, limit))
}

/// Bytes of a file from an offset on, as many as the limit says. What goes wrong with the file is told in the body, with a
/// status of success: so clients know it.
async fn content(ask: Ask, id: &str, range: Result<(i64, Option<u64>), String>) -> Result<Response> {
    let path = ask.params.text("path").to_owned();
    if path.is_empty() {
        return Ok(text(NO_NAME));
    }
    let (offset, limit) = match range {
        Ok(range) => range,
        Err(why) => return Ok(text(&why)),
    };
    let file = match on_disk(&ask.context, id, move |client, alloc| client.open_file(alloc, &path)).await? {
        Ok(file) => file,
        Err(why) => return Ok(text(&why.to_string())),
    };
    let Ok(offset) = u64::try_from(offset) else {
        let file = file.path().display();
        return Ok(text(&format!("can't seek to offset '{offset}': seek {file}: invalid argument")));
    };
    let reader = Reader { file: Some(file), offset, left: limit };
    let pieces = stream::unfold((reader, ask.context.end.clone()), |(mut reader, end)| async move {
        match end.run_until_cancelled(reader.piece()).await? {
            Ok(piece) if piece.is_empty() => None,
            Ok(piece) => Some((Ok(piece), (reader, end))),
            Err(why) => {
                warn!(error = %why, "a file could not be read to its end");
                Some((Err(std::io::Error::other(why.to_string())), (reader, end)))
            }
        }
    });
    let mut response = Response::new(Body::from_stream(pieces));
    response.headers_mut().insert(header::CONTENT_TYPE, TEXT);
    Ok(response)
}

const TEXT: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");

fn text(said: &str) -> Response {
    (StatusCode::OK, [(header::CONTENT_TYPE, TEXT)], said.to_owned()).into_response()
}

/// `GET /v1/client/fs/stream/{alloc}`.
pub(crate) async fn stream(ask: Ask, Path(id): Path<String>) -> Result<Response> {
    let path = ask.params.text("path").to_owned();
    if path.is_empty() {
        return Err(ApiError::bad_request(NO_NAME));
    }
    let follow = match ask.params.text("follow") {
        "" => true,
        text => go_bool(text).ok_or_else(|| {
            ApiError::server(format!(
                "failed to parse follow field to boolean: strconv.ParseBool: parsing \"{text}\": invalid syntax"
            ))
        })?,
    };
    let offset = match ask.params.text("offset") {
        "" => 0,
        text => text.parse::<i64>().map(|offset| offset.max(0).unsigned_abs()).map_err(|_| {
            ApiError::bad_request(format!("error parsing offset: strconv.ParseInt: parsing \"{text}\": invalid syntax"))
        })?,
    };
    let from_end = match ask.params.text("origin") {
        "" | "start" => false,
        "end" => true,
        _ => return Err(ApiError::bad_request("origin must be start or end")),
    };
    let opened = on_disk(&ask.context, &id, move |client, alloc| {
        let file = client.open_file(alloc, &path)?;
        Ok((file.size_bytes()?, file))
    });
    let (size, file) = opened.await?.map_err(|why| match why {
        FilesError::Secret(_) | FilesError::Escapes => ApiError::server(why.to_string()),
        other => ApiError::bad_request(other.to_string()),
    })?;
    let offset = if from_end { size.saturating_sub(offset) } else { offset };
    let name = file.name.clone();
    let reader = Reader { file: Some(file), offset, left: None };
    let frames = Frames { reader, name, follow, end: ask.context.end.clone(), over: false };
    let body = stream::unfold(frames, |mut frames| async move { Some((frames.next().await?, frames)) });
    let mut response = Response::new(Body::from_stream(body));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(response)
}

/// A file that is read on, piece by piece.
struct Reader {
    /// Lent to whoever reads.
    file: Option<AllocFile>,
    offset: u64,
    /// How many bytes more; `None` for all that there are.
    left: Option<u64>,
}

/// What can be told of a file that has no more to give for now.
struct AtEnd {
    is_there: bool,
    /// `None` when it cannot be told any more.
    size_bytes: Option<u64>,
}

impl Reader {
    /// The next piece; empty at the end of what there is.
    async fn piece(&mut self) -> Result<Bytes, FilesError> {
        let offset = self.offset;
        let wanted =
            self.left.map_or(PIECE_BYTES, |left| usize::try_from(left).unwrap_or(PIECE_BYTES).min(PIECE_BYTES));
        let read = self.with_file(move |file| {
            let mut piece = vec![0; wanted];
            let read = file.read_at(&mut piece, offset)?;
            piece.truncate(read);
            Ok::<_, FilesError>(Bytes::from(piece))
        });
        let piece = read.await.unwrap_or_else(|| Ok(Bytes::new()))?;
        self.offset += piece.len() as u64;
        self.left = self.left.map(|left| left.saturating_sub(piece.len() as u64));
        Ok(piece)
    }

    async fn at_end(&mut self) -> Option<AtEnd> {
        self.with_file(|file| AtEnd { is_there: file.is_there(), size_bytes: file.size_bytes().ok() }).await
    }

    /// Does what waits for the disk apart from everything else. `None` when there is no file to work with any more.
    async fn with_file<T: Send + 'static>(&mut self, work: impl FnOnce(&AllocFile) -> T + Send + 'static) -> Option<T> {
        let file = self.file.take()?;
        let done = tokio::task::spawn_blocking(move || (work(&file), file)).await;
        let (done, file) = done.ok()?;
        self.file = Some(file);
        Some(done)
    }
}

/// A file as a stream of frames.
struct Frames {
    reader: Reader,
    name: String,
    follow: bool,
    end: CancellationToken,
    over: bool,
}

impl Frames {
    async fn next(&mut self) -> Option<std::result::Result<Bytes, std::io::Error>> {
        if self.over {
            return None;
        }
        let end = self.end.clone();
        end.run_until_cancelled(self.frame()).await?
    }

    async fn frame(&mut self) -> Option<std::result::Result<Bytes, std::io::Error>> {
        let heartbeat = tokio::time::Instant::now() + HEARTBEAT;
        loop {
            match self.reader.piece().await {
                Ok(piece) if !piece.is_empty() => return Some(Ok(self.encoded(&piece, ""))),
                Ok(_) if !self.follow => return None,
                Ok(_) => {}
                Err(why) => {
                    warn!(error = %why, "a stream of a file ended early");
                    return None;
                }
            }
            let file = self.reader.at_end().await?;
            if !file.is_there {
                self.over = true;
                return Some(Ok(self.encoded(&[], "file deleted")));
            }
            if file.size_bytes? < self.reader.offset {
                self.reader.offset = 0;
                return Some(Ok(self.encoded(&[], "file truncated")));
            }
            let wake = (tokio::time::Instant::now() + LOOK_AGAIN).min(heartbeat);
            tokio::time::sleep_until(wake).await;
            if wake == heartbeat {
                return Some(Ok(Bytes::from_static(b"{}")));
            }
        }
    }

    fn encoded(&self, data: &[u8], event: &str) -> Bytes {
        let frame = StreamFrame {
            offset: i64::try_from(self.reader.offset).unwrap_or(i64::MAX),
            data: BASE64.encode(data),
            file: self.name.clone(),
            file_event: event.to_owned(),
        };
        // A structure of texts and a number is always JSON.
        serde_json::to_vec(&frame).map(Bytes::from).unwrap_or_default()
    }
}

/// Does what waits for the disk apart from everything else.
async fn on_disk<T: Send + 'static>(
    context: &Context,
    id: &str,
    work: impl FnOnce(&Client, AllocId) -> Result<T, FilesError> + Send + 'static,
) -> Result<Result<T, FilesError>> {
    let alloc: AllocId = full_id("alloc", id)?;
    let Some(client) = context.client.clone() else { return Err(elsewhere(context, alloc)) };
    let done = tokio::task::spawn_blocking(move || work(&client, alloc)).await;
    match done {
        Ok(Err(FilesError::UnknownAllocation(_))) => Err(elsewhere(context, alloc)),
        Ok(done) => Ok(done),
        Err(why) => Err(ApiError::server(format!("the look at the disk ended early: {why}"))),
    }
}

fn failed(error: FilesError) -> ApiError {
    ApiError::server(error.to_string())
}

fn shown(file: FileInfo) -> AllocFileInfo {
    AllocFileInfo {
        name: file.name,
        is_dir: file.is_folder,
        size: i64::try_from(file.size_bytes).unwrap_or(i64::MAX),
        file_mode: file.mode,
        mod_time: GoTime::from_nanoseconds(file.modified_at.as_nanoseconds()),
        content_type: file.content_type,
    }
}
