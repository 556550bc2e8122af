use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Empty, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::header::{CONNECTION, CONTENT_TYPE, HOST, HeaderName, HeaderValue, UPGRADE};
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};
use tokio_util::task::AbortOnDropHandle;

use crate::class::{Asked, Class};
use crate::endpoint::Endpoint;
use crate::error::{Error, Limit};
use crate::path::Path;
use crate::version::ApiVersion;

/// A Docker Engine at an address. Cheap to clone; holds no connection between calls.
#[derive(Debug, Clone)]
pub struct Engine {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    endpoint: Endpoint,
    /// Set by a person: no negotiation.
    pinned: Option<ApiVersion>,
    agreed: Mutex<Option<ApiVersion>>,
}

pub(crate) type RequestBody = UnsyncBoxBody<Bytes, io::Error>;

/// For calls that only look something up.
pub(crate) const LOOK_DEADLINE: Duration = Duration::from_secs(60);
/// For calls that change something: removals of large images take seconds, and a busy disk makes minutes of them.
pub(crate) const CHANGE_DEADLINE: Duration = Duration::from_secs(5 * 60);

pub(crate) enum Payload {
    None,
    Json(Bytes),
    Tar(RequestBody),
}

/// One request, and what it is in words.
pub(crate) struct Call {
    pub(crate) doing: String,
    pub(crate) asked: Asked,
    pub(crate) method: Method,
    pub(crate) path: Path,
    pub(crate) payload: Payload,
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    /// For the whole answer; a stream's for its head only. `None`: the caller's matter.
    pub(crate) deadline: Option<Duration>,
    pub(crate) versioned: bool,
}

impl Call {
    fn new(method: Method, path: Path, doing: String, deadline: Duration) -> Self {
        Self {
            doing,
            asked: Asked::Other,
            method,
            path,
            payload: Payload::None,
            headers: Vec::new(),
            deadline: Some(deadline),
            versioned: true,
        }
    }

    pub(crate) fn get(path: Path, doing: impl Into<String>) -> Self {
        Self::new(Method::GET, path, doing.into(), LOOK_DEADLINE)
    }

    pub(crate) fn post(path: Path, doing: impl Into<String>) -> Self {
        Self::new(Method::POST, path, doing.into(), CHANGE_DEADLINE)
    }

    pub(crate) fn delete(path: Path, doing: impl Into<String>) -> Self {
        Self::new(Method::DELETE, path, doing.into(), CHANGE_DEADLINE)
    }

    pub(crate) fn json(mut self, body: &impl Serialize) -> Result<Self, Error> {
        let json = serde_json::to_vec(body)
            .map_err(|source| Error::Request { doing: self.doing.clone(), source: Box::new(source) })?;
        self.payload = Payload::Json(json.into());
        Ok(self)
    }

    /// Asks for the bare connection instead of an answer.
    pub(crate) fn upgrade(mut self) -> Self {
        self.headers.push((CONNECTION, HeaderValue::from_static("Upgrade")));
        self.headers.push((UPGRADE, HeaderValue::from_static("tcp")));
        self
    }
}

/// An answer's head, and the connection that brings its body. Dropping it closes the connection.
pub(crate) struct Answer {
    pub(crate) doing: String,
    pub(crate) asked: Asked,
    status: StatusCode,
    body: Incoming,
    upgrade: OnUpgrade,
    _connection: AbortOnDropHandle<()>,
}

impl Engine {
    pub fn new(endpoint: Endpoint) -> Self {
        Self::with_version(endpoint, None)
    }

    /// With `pinned`, that version is spoken without asking (`DOCKER_API_VERSION`).
    pub fn with_version(endpoint: Endpoint, pinned: Option<ApiVersion>) -> Self {
        Self { inner: Arc::new(Inner { endpoint, pinned, agreed: Mutex::new(None) }) }
    }

    pub fn endpoint(&self) -> &Endpoint {
        &self.inner.endpoint
    }

    /// The version that is spoken with this engine, agreed on at the first need.
    pub async fn api_version(&self) -> Result<ApiVersion, Error> {
        if let Some(pinned) = self.inner.pinned {
            return Ok(pinned);
        }
        let agreed = *self.inner.agreed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(version) = agreed {
            return Ok(version);
        }
        let server = self.version().await?;
        let version = ApiVersion::agree(server.api_version, server.min_api_version).ok_or(Error::NoCommonVersion {
            oldest: server.min_api_version.unwrap_or(server.api_version),
            newest: server.api_version,
        })?;
        self.set_agreed(Some(version));
        Ok(version)
    }

    fn set_agreed(&self, version: Option<ApiVersion>) {
        *self.inner.agreed.lock().unwrap_or_else(PoisonError::into_inner) = version;
    }

    /// Sends a call; the answer is one that the engine did not refuse.
    pub(crate) async fn send(&self, mut call: Call) -> Result<Answer, Error> {
        let answer = self.send_once(&mut call).await;
        match answer {
            // Another engine now listens at the same address: agree anew.
            Err(error)
                if error.class() == Class::Version
                    && self.inner.pinned.is_none()
                    && !matches!(error, Error::NoCommonVersion { .. })
                    && !matches!(call.payload, Payload::Tar(_)) =>
            {
                self.set_agreed(None);
                self.send_once(&mut call).await
            }
            answer => answer,
        }
    }

    async fn send_once(&self, call: &mut Call) -> Result<Answer, Error> {
        let prefix = if call.versioned { format!("/v{}", Box::pin(self.api_version()).await?) } else { String::new() };
        let request = call.request(&self.inner.endpoint, &prefix)?;
        let exchange = async {
            let (mut response, connection) = self.exchange(&call.doing, request).await?;
            let upgrade = hyper::upgrade::on(&mut response);
            let (head, body) = response.into_parts();
            let answer = Answer {
                doing: call.doing.clone(),
                asked: call.asked,
                status: head.status,
                body,
                upgrade,
                _connection: connection,
            };
            if answer.status.is_success()
                || matches!(answer.status, StatusCode::NOT_MODIFIED | StatusCode::SWITCHING_PROTOCOLS)
            {
                Ok(answer)
            } else {
                Err(answer.refusal().await)
            }
        };
        within(call.deadline, &call.doing, exchange).await
    }

    async fn exchange(
        &self,
        doing: &str,
        request: Request<RequestBody>,
    ) -> Result<(Response<Incoming>, AbortOnDropHandle<()>), Error> {
        let unreachable =
            |source| Error::Unreachable { doing: doing.to_owned(), endpoint: self.inner.endpoint.clone(), source };
        match &self.inner.endpoint {
            Endpoint::Unix(path) => talk(doing, UnixStream::connect(path).await.map_err(unreachable)?, request).await,
            Endpoint::Tcp { host, port } => {
                let host = host.trim_start_matches('[').trim_end_matches(']');
                talk(doing, TcpStream::connect((host, *port)).await.map_err(unreachable)?, request).await
            }
        }
    }

    /// Sends a call and reads its whole answer within the call's deadline.
    pub(crate) async fn json<T: DeserializeOwned>(&self, call: Call) -> Result<T, Error> {
        let (doing, bytes) = self.bytes(call).await?;
        serde_json::from_slice(&bytes).map_err(|why| Error::unreadable(&doing, why))
    }

    /// Sends a call of whose answer only the success matters.
    pub(crate) async fn done(&self, call: Call) -> Result<(), Error> {
        self.bytes(call).await.map(|_| ())
    }

    async fn bytes(&self, call: Call) -> Result<(String, Bytes), Error> {
        let (deadline, doing) = (call.deadline, call.doing.clone());
        let read = async {
            let answer = self.send(call).await?;
            answer.read(Limit::ANSWER).await
        };
        let bytes = within(deadline, &doing, read).await?;
        Ok((doing, bytes))
    }
}

impl Call {
    fn request(&mut self, endpoint: &Endpoint, prefix: &str) -> Result<Request<RequestBody>, Error> {
        let host = match endpoint {
            Endpoint::Unix(_) => "docker".to_owned(),
            Endpoint::Tcp { host, port } => format!("{host}:{port}"),
        };
        let mut request = Request::builder()
            .method(self.method.clone())
            .uri(format!("{prefix}{}", self.path.as_str()))
            .header(HOST, host);
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let nothing = || Empty::new().map_err(|never| match never {}).boxed_unsync();
        let body = match std::mem::replace(&mut self.payload, Payload::None) {
            Payload::None => nothing(),
            Payload::Json(json) => {
                request = request.header(CONTENT_TYPE, "application/json");
                self.payload = Payload::Json(json.clone());
                Full::new(json).map_err(|never| match never {}).boxed_unsync()
            }
            Payload::Tar(body) => {
                request = request.header(CONTENT_TYPE, "application/x-tar");
                body
            }
        };
        request.body(body).map_err(|source| Error::Request { doing: self.doing.clone(), source: Box::new(source) })
    }
}

impl Answer {
    /// The bare connection that was asked for.
    pub(crate) async fn upgraded(self) -> Result<Upgraded, Error> {
        self.upgrade.await.map_err(|source| Error::Cut { doing: self.doing, source: Some(Box::new(source)) })
    }

    /// The next piece of the body; `None` at its end.
    pub(crate) async fn piece(&mut self) -> Result<Option<Bytes>, Error> {
        loop {
            match self.body.frame().await {
                None => return Ok(None),
                Some(Ok(frame)) => {
                    if let Ok(data) = frame.into_data() {
                        return Ok(Some(data));
                    }
                }
                Some(Err(source)) => {
                    return Err(Error::Cut { doing: self.doing.clone(), source: Some(Box::new(source)) });
                }
            }
        }
    }

    async fn read(mut self, limit: Limit) -> Result<Bytes, Error> {
        let mut whole = BytesMut::new();
        while let Some(piece) = self.piece().await? {
            if whole.len() + piece.len() > limit.bytes {
                return Err(Error::TooLarge { doing: self.doing, limit });
            }
            whole.extend_from_slice(&piece);
        }
        Ok(whole.freeze())
    }

    /// What the engine said against it: its message, or what else stands there, cut to [`Limit::REFUSAL`].
    async fn refusal(mut self) -> Error {
        let mut text = BytesMut::new();
        while let Ok(Some(piece)) = self.piece().await {
            let room = Limit::REFUSAL.bytes.saturating_sub(text.len());
            text.extend_from_slice(piece.get(..room).unwrap_or(&piece));
            if piece.len() >= room {
                break;
            }
        }
        let message = serde_json::from_slice::<serde_json::Value>(&text)
            .ok()
            .and_then(|value| value.get("message").and_then(|message| message.as_str()).map(str::to_owned))
            .unwrap_or_else(|| String::from_utf8_lossy(&text).into_owned());
        let message = match message.trim() {
            "" => format!("the engine answered {}", self.status),
            message => message.to_owned(),
        };
        Error::answered(self.asked, &self.doing, Some(self.status.as_u16()), message)
    }
}

async fn talk(
    doing: &str,
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    request: Request<RequestBody>,
) -> Result<(Response<Incoming>, AbortOnDropHandle<()>), Error> {
    let cut = |source: hyper::Error| Error::Cut { doing: doing.to_owned(), source: Some(Box::new(source)) };
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(cut)?;
    let connection = AbortOnDropHandle::new(tokio::spawn(async move {
        // Its errors reach whoever waits for the answer or reads the body.
        let _ = connection.with_upgrades().await;
    }));
    let response = sender.send_request(request).await.map_err(cut)?;
    Ok((response, connection))
}

async fn within<T>(
    deadline: Option<Duration>,
    doing: &str,
    work: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    match deadline {
        None => work.await,
        Some(after) => match tokio::time::timeout(after, work).await {
            Ok(outcome) => outcome,
            Err(_) => Err(Error::Timeout { doing: doing.to_owned(), after }),
        },
    }
}
