//! Bodies of requests, which are never held beyond a limit.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::StatusCode;
use http_body_util::BodyExt;
use longshore_api::decode;
use serde::de::DeserializeOwned;

use crate::error::{ApiError, Result, with_causes};

/// The most that a request's body may hold.
pub(crate) const BODY_BYTES_MAX: usize = 32 << 20;
/// The most that all bodies hold together while they come, beside the small ones.
const HELD_BYTES_MAX: usize = 256 << 20;
/// Bodies of this size are read whatever others hold.
const SMALL_BODY_BYTES: usize = 64 << 10;
/// How long a body may take to come.
const BODY_TIME_MAX: Duration = Duration::from_secs(60);
/// How long the rest of a refused body is read and thrown away, so that the client sees the answer and not a reset.
const DRAIN_TIME_MAX: Duration = Duration::from_secs(30);

/// Reads a body that must be there, as JSON.
pub(crate) async fn json<T: DeserializeOwned>(body: Body) -> Result<T> {
    optional_json(body).await?.ok_or_else(|| ApiError::bad_request("Request body is empty"))
}

/// Reads a body as JSON; `None` when there is none.
pub(crate) async fn optional_json<T: DeserializeOwned>(body: Body) -> Result<Option<T>> {
    let bytes = read(body).await?;
    if bytes.is_empty() {
        return Ok(None);
    }
    decode(&bytes).map(Some).map_err(|why| ApiError::bad_request(format!("the request body could not be read: {why}")))
}

/// Bytes of bodies that are being read, of all requests together, without those of small ones.
static HELD_BYTES: AtomicUsize = AtomicUsize::new(0);

/// What a body takes, until it has been read.
#[derive(Default)]
struct Held(usize);

impl Held {
    /// Whether there is room for a body that has grown to this.
    fn grow_to(&mut self, bytes: usize) -> bool {
        let more = bytes.saturating_sub(SMALL_BODY_BYTES).saturating_sub(self.0);
        self.0 += more;
        more == 0 || HELD_BYTES.fetch_add(more, Ordering::Relaxed) + more <= HELD_BYTES_MAX
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        HELD_BYTES.fetch_sub(self.0, Ordering::Relaxed);
    }
}

async fn read(mut body: Body) -> Result<Bytes> {
    if http_body::Body::size_hint(&body).lower() > BODY_BYTES_MAX as u64 {
        drain(body);
        return Err(too_large());
    }
    let (mut read, mut held) = (Vec::new(), Held::default());
    let whole = async {
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|why| {
                ApiError::bad_request(format!("the request body could not be read: {}", with_causes(&why)))
            })?;
            if let Some(data) = frame.data_ref() {
                if read.len() + data.len() > BODY_BYTES_MAX {
                    return Err(too_large());
                }
                if !held.grow_to(read.len() + data.len()) {
                    return Err(too_many());
                }
                read.extend_from_slice(data);
            }
        }
        Ok(())
    };
    match tokio::time::timeout(BODY_TIME_MAX, whole).await {
        Ok(Ok(())) => Ok(Bytes::from(read)),
        Ok(Err(error)) => {
            drain(body);
            Err(error)
        }
        Err(_) => Err(ApiError::new(
            StatusCode::REQUEST_TIMEOUT,
            format!("the request body did not come within {} s", BODY_TIME_MAX.as_secs()),
        )),
    }
}

fn too_many() -> ApiError {
    ApiError::new(
        StatusCode::SERVICE_UNAVAILABLE,
        format!(
            "too many large request bodies at once: all together may hold {} MiB; try again soon",
            HELD_BYTES_MAX >> 20
        ),
    )
}

fn too_large() -> ApiError {
    ApiError::new(
        StatusCode::PAYLOAD_TOO_LARGE,
        format!("the request body is larger than the limit for request bodies, {} MiB", BODY_BYTES_MAX >> 20),
    )
}

fn drain(mut body: Body) {
    tokio::spawn(async move {
        let rest = async { while let Some(Ok(_)) = body.frame().await {} };
        let _ = tokio::time::timeout(DRAIN_TIME_MAX, rest).await;
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::{StreamExt, stream};
    use longshore_api::JobRegisterRequest;

    /// Large bodies are counted for the whole process.
    static LARGE: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

    async fn told(body: Body) -> (u16, String) {
        let error = json::<JobRegisterRequest>(body).await.unwrap_err();
        (error.status.as_u16(), error.message)
    }

    #[tokio::test]
    async fn what_cannot_be_read_is_a_clear_refusal() {
        assert_eq!(told(Body::empty()).await, (400, "Request body is empty".to_owned()));
        let (status, message) = told(Body::from("{\"Job\": {")).await;
        assert_eq!(status, 400);
        assert_eq!(message, "the request body could not be read: EOF while parsing an object at line 1 column 9");
        assert_eq!(told(Body::from("<html>")).await.0, 400);
    }

    #[tokio::test]
    async fn many_large_bodies_are_not_held_at_once() {
        let _turn = LARGE.lock().await;
        let endless = || {
            let piece = Bytes::from(vec![b' '; 30 << 20]);
            Body::from_stream(stream::iter([Ok::<_, std::io::Error>(piece)]).chain(stream::pending()))
        };
        let waiting: Vec<_> = (0..8).map(|_| tokio::spawn(read(endless()))).collect();
        while HELD_BYTES.load(Ordering::Relaxed) < 8 * (29 << 20) {
            tokio::task::yield_now().await;
        }
        let large = Body::from(vec![b' '; 30 << 20]);
        let expected = "too many large request bodies at once: all together may hold 256 MiB; try again soon";
        assert_eq!(told(large).await, (503, expected.to_owned()));
        assert_eq!(told(Body::from("<html>")).await.0, 400, "a small one is read all the same");
        waiting.iter().for_each(tokio::task::JoinHandle::abort);
        for one in waiting {
            assert!(one.await.is_err_and(|error| error.is_cancelled()));
        }
        assert_eq!(HELD_BYTES.load(Ordering::Relaxed), 0);
    }

    #[tokio::test]
    async fn a_body_beyond_the_limit_is_never_held() {
        let _turn = LARGE.lock().await;
        let piece = Bytes::from(vec![b' '; 1 << 20]);
        let pieces = stream::repeat(piece).map(Ok::<_, std::io::Error>).take(2_048);
        let expected = "the request body is larger than the limit for request bodies, 32 MiB";
        assert_eq!(told(Body::from_stream(pieces)).await, (413, expected.to_owned()));
    }
}
