//! The HTTP client: one connection a request, over TCP or a Unix socket.

use std::fmt;
use std::io;

use base64::Engine;
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::{
    AUTHORIZATION, CONNECTION, CONTENT_TYPE, HOST, HeaderValue, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_VERSION, UPGRADE,
};
use hyper::http::uri::InvalidUri;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use longshore_api::{JobFault, JobRefusal};
use longshore_values::{Secret, system_words};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};
use tokio_tungstenite::tungstenite::Error as WebSocketError;
use tokio_tungstenite::tungstenite::handshake::client::generate_key;
use tokio_tungstenite::{WebSocketStream, client_async};

/// Why there is no answer, or none that can be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ClientError {
    #[error("invalid address {address:?}: {why}")]
    Address { address: String, why: String },
    #[error("https is not in this build: {address} cannot be spoken to; use an http:// or unix:// address")]
    NoTls { address: String },
    #[error("{method} {url:?}: dial {network} {address}: connect: {}", system_words(.source))]
    Connect {
        method: String,
        url: String,
        network: &'static str,
        address: String,
        #[source]
        source: io::Error,
    },
    #[error("{method} {url:?}: {source}")]
    Exchange {
        method: String,
        url: String,
        #[source]
        source: hyper::Error,
    },
    #[error("{method} {url:?}: {source}")]
    Request {
        method: String,
        url: String,
        #[source]
        source: hyper::http::Error,
    },
    #[error("{url:?}: {source}")]
    WebSocket {
        url: String,
        #[source]
        source: Box<WebSocketError>,
    },
    #[error("Unexpected response code: {} ({})", .code.as_u16(), .text)]
    Status {
        code: StatusCode,
        text: String,
        /// What the text is made of, where a job was refused and the server says it.
        faults: Vec<JobFault>,
    },
    #[error("{url:?} answered what is not understood here: {source}")]
    Shape {
        url: String,
        #[source]
        source: longshore_api::DecodeError,
    },
    #[error("the request could not be written: {0}")]
    Encode(#[source] serde_json::Error),
}

impl ClientError {
    /// What the server said, without the words around it.
    pub(crate) fn server_text(&self) -> Option<&str> {
        match self {
            Self::Status { text, .. } => Some(text),
            Self::Address { .. }
            | Self::NoTls { .. }
            | Self::Connect { .. }
            | Self::Exchange { .. }
            | Self::Request { .. }
            | Self::WebSocket { .. }
            | Self::Shape { .. }
            | Self::Encode(_) => None,
        }
    }

    /// What stands against the parts of a job, in the order of the text.
    pub(crate) fn faults(&self) -> &[JobFault] {
        if let Self::Status { faults, .. } = self { faults } else { &[] }
    }

    /// What to try, where there is something.
    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            Self::Connect { .. } => {
                Some("No agent answers there. Start one (\"agent -dev\" for a first try), or name another with -address or NOMAD_ADDR.".to_owned())
            }
            Self::Address { .. }
            | Self::NoTls { .. }
            | Self::Exchange { .. }
            | Self::Request { .. }
            | Self::WebSocket { .. }
            | Self::Status { .. }
            | Self::Shape { .. }
            | Self::Encode(_) => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Endpoint {
    Tcp { host: String, port: u16 },
    Unix { path: String },
}

/// Where the agent is, and who asks.
#[derive(Clone)]
pub(crate) struct Client {
    endpoint: Endpoint,
    /// As given, without a slash at the end.
    address: String,
    token: Secret,
    /// `user:password`.
    basic_auth: Secret,
    region: String,
    namespace: String,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("address", &self.address).finish_non_exhaustive()
    }
}

/// A connection to an agent, whatever it goes over.
pub(crate) trait Connection: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Connection for T {}

pub(crate) type WebSocket = WebSocketStream<Box<dyn Connection>>;

/// An answer with the index of what it shows.
#[derive(Debug, Clone)]
pub(crate) struct Indexed<T> {
    pub(crate) value: T,
    pub(crate) index: u64,
}

impl Client {
    /// # Errors
    /// An address of no known form.
    pub(crate) fn new(
        address: &str,
        token: Secret,
        basic_auth: Secret,
        region: &str,
        namespace: &str,
    ) -> Result<Self, ClientError> {
        let (address, login) = split_login(address);
        Ok(Self {
            endpoint: endpoint(&address)?,
            address: address.trim_end_matches('/').to_owned(),
            token,
            basic_auth: if basic_auth.is_empty() { login } else { basic_auth },
            region: region.to_owned(),
            namespace: namespace.to_owned(),
        })
    }

    /// The namespace that was asked for; empty for the server's default.
    pub(crate) fn namespace(&self) -> &str {
        &self.namespace
    }

    /// The same agent, another namespace.
    #[must_use]
    pub(crate) fn in_namespace(&self, namespace: &str) -> Self {
        Self { namespace: namespace.to_owned(), ..self.clone() }
    }

    pub(crate) async fn get<T: DeserializeOwned>(&self, path: &str, query: &[(&str, &str)]) -> Result<T, ClientError> {
        Ok(self.get_indexed(path, query).await?.value)
    }

    /// Waits until what is at `path` is newer than `index`, at most `wait`; 0 does not wait.
    pub(crate) async fn get_after<T: DeserializeOwned>(
        &self,
        path: &str,
        query: &[(&str, &str)],
        index: u64,
        wait: &str,
    ) -> Result<Indexed<T>, ClientError> {
        let index = index.to_string();
        let mut query = query.to_vec();
        query.extend([("index", index.as_str()), ("wait", wait)]);
        self.get_indexed(path, &query).await
    }

    pub(crate) async fn get_indexed<T: DeserializeOwned>(
        &self,
        path: &str,
        query: &[(&str, &str)],
    ) -> Result<Indexed<T>, ClientError> {
        let answer = self.send(Method::GET, path, query, None).await?;
        let index = answer.headers().get("X-Nomad-Index").and_then(|value| value.to_str().ok());
        let index = index.and_then(|value| value.parse().ok()).unwrap_or(0);
        Ok(Indexed { value: self.read(path, answer).await?, index })
    }

    /// The answer as it came, for `-json`.
    pub(crate) async fn get_value(&self, path: &str, query: &[(&str, &str)]) -> Result<Value, ClientError> {
        self.get(path, query).await
    }

    pub(crate) async fn put<B: Serialize, T: DeserializeOwned>(
        &self,
        path: &str,
        query: &[(&str, &str)],
        body: &B,
    ) -> Result<T, ClientError> {
        let body = serde_json::to_vec(body).map_err(ClientError::Encode)?;
        let answer = self.send(Method::PUT, path, query, Some(body)).await?;
        self.read(path, answer).await
    }

    /// Writes, and takes no notice of what the answer holds.
    pub(crate) async fn put_empty(&self, path: &str, query: &[(&str, &str)]) -> Result<(), ClientError> {
        self.send(Method::PUT, path, query, Some(Vec::new())).await?;
        Ok(())
    }

    pub(crate) async fn delete<T: DeserializeOwned>(
        &self,
        path: &str,
        query: &[(&str, &str)],
    ) -> Result<T, ClientError> {
        let answer = self.send(Method::DELETE, path, query, None).await?;
        self.read(path, answer).await
    }

    /// An answer whose body comes piece by piece.
    pub(crate) async fn stream(&self, path: &str, query: &[(&str, &str)]) -> Result<Response<Incoming>, ClientError> {
        self.send(Method::GET, path, query, None).await
    }

    /// A WebSocket.
    pub(crate) async fn web_socket(&self, path: &str, query: &[(&str, &str)]) -> Result<WebSocket, ClientError> {
        let target = self.target(path, query);
        let (verb, url) = ("Get".to_owned(), format!("{}{target}", self.address));
        let refused = |source| ClientError::Request { method: "Get".to_owned(), url: url.clone(), source };
        let plain = self.request(Method::GET, &target, None).map_err(refused)?;
        let mut request = Request::builder().uri(&target).body(()).map_err(refused)?;
        *request.headers_mut() = plain.headers().clone();
        let headers = [
            (CONNECTION, "Upgrade".to_owned()),
            (UPGRADE, "websocket".to_owned()),
            (SEC_WEBSOCKET_VERSION, "13".to_owned()),
            (SEC_WEBSOCKET_KEY, generate_key()),
        ];
        for (name, value) in headers {
            let value = HeaderValue::try_from(value).map_err(|why| refused(why.into()))?;
            request.headers_mut().insert(name, value);
        }
        // Only its path and query are sent; its host says that no TLS is meant.
        let uri = format!("ws://agent{target}").parse().map_err(|why: InvalidUri| refused(why.into()))?;
        *request.uri_mut() = uri;
        let stream: Box<dyn Connection> = match &self.endpoint {
            Endpoint::Tcp { host, port } => {
                let dialled = TcpStream::connect((host.as_str(), *port)).await;
                let address = format!("{host}:{port}");
                let failed =
                    |source| ClientError::Connect { method: verb, url: url.clone(), network: "tcp", address, source };
                let stream = dialled.map_err(failed)?;
                let _ = stream.set_nodelay(true);
                Box::new(stream)
            }
            Endpoint::Unix { path } => {
                let address = path.clone();
                let failed =
                    |source| ClientError::Connect { method: verb, url: url.clone(), network: "unix", address, source };
                Box::new(UnixStream::connect(path).await.map_err(failed)?)
            }
        };
        match client_async(request, stream).await {
            Ok((socket, _)) => Ok(socket),
            Err(WebSocketError::Http(answer)) => {
                let (head, body) = answer.into_parts();
                let text = String::from_utf8_lossy(&body.unwrap_or_default()).into_owned();
                Err(ClientError::Status { code: head.status, text, faults: Vec::new() })
            }
            Err(source) => Err(ClientError::WebSocket { url, source: Box::new(source) }),
        }
    }

    async fn read<T: DeserializeOwned>(&self, path: &str, answer: Response<Incoming>) -> Result<T, ClientError> {
        let url = format!("{}{path}", self.address);
        let body = answer.into_body().collect().await;
        let body =
            body.map_err(|source| ClientError::Exchange { method: "Read".to_owned(), url: url.clone(), source })?;
        longshore_api::decode(&body.to_bytes()).map_err(|source| ClientError::Shape { url, source })
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        query: &[(&str, &str)],
        body: Option<Vec<u8>>,
    ) -> Result<Response<Incoming>, ClientError> {
        let target = self.target(path, query);
        let (verb, url) = (title_case(&method), format!("{}{target}", self.address));
        let request = self.request(method, &target, body);
        let request =
            request.map_err(|source| ClientError::Request { method: verb.clone(), url: url.clone(), source })?;
        let failed = |source| ClientError::Exchange { method: verb.clone(), url: url.clone(), source };
        let dial = |network, address: &str| {
            let (method, url, address) = (verb.clone(), url.clone(), address.to_owned());
            move |source| ClientError::Connect { method, url, network, address, source }
        };
        let answer = match &self.endpoint {
            Endpoint::Tcp { host, port } => {
                let stream = TcpStream::connect((host.as_str(), *port)).await;
                exchange(stream.map_err(dial("tcp", &format!("{host}:{port}")))?, request).await.map_err(failed)?
            }
            Endpoint::Unix { path } => {
                let stream = UnixStream::connect(path).await.map_err(dial("unix", path))?;
                exchange(stream, request).await.map_err(failed)?
            }
        };
        if answer.status().is_success() {
            return Ok(answer);
        }
        let code = answer.status();
        let text = answer.into_body().collect().await.map_err(failed)?.to_bytes();
        let refusal = longshore_api::decode::<JobRefusal>(&text).ok().filter(|it| !it.error.is_empty());
        let JobRefusal { error, faults } = refusal.unwrap_or_else(|| JobRefusal {
            error: String::from_utf8_lossy(&text).into_owned(),
            ..JobRefusal::default()
        });
        Err(ClientError::Status { code, text: error, faults })
    }

    fn target(&self, path: &str, query: &[(&str, &str)]) -> String {
        let mut pairs: Vec<(&str, &str)> = Vec::new();
        if !self.region.is_empty() {
            pairs.push(("region", &self.region));
        }
        if !self.namespace.is_empty() && !query.iter().any(|(key, _)| *key == "namespace") {
            pairs.push(("namespace", &self.namespace));
        }
        pairs.extend(query);
        let query: Vec<String> = pairs.iter().map(|(key, value)| format!("{key}={}", escape(value))).collect();
        if query.is_empty() { path.to_owned() } else { format!("{path}?{}", query.join("&")) }
    }

    fn request(
        &self,
        method: Method,
        target: &str,
        body: Option<Vec<u8>>,
    ) -> Result<Request<Full<Bytes>>, hyper::http::Error> {
        let host = match &self.endpoint {
            Endpoint::Tcp { host, port } if host.contains(':') => format!("[{host}]:{port}"),
            Endpoint::Tcp { host, port } => format!("{host}:{port}"),
            Endpoint::Unix { .. } => "localhost".to_owned(),
        };
        let mut request = Request::builder().method(method).uri(target).header(HOST, host);
        if !self.token.is_empty() {
            request = request.header("X-Nomad-Token", sensitive(self.token.reveal())?);
        }
        if !self.basic_auth.is_empty() {
            let login = base64::engine::general_purpose::STANDARD.encode(self.basic_auth.reveal());
            request = request.header(AUTHORIZATION, sensitive(&format!("Basic {login}"))?);
        }
        if body.is_some() {
            request = request.header(CONTENT_TYPE, "application/json");
        }
        request.body(Full::new(Bytes::from(body.unwrap_or_default())))
    }
}

fn sensitive(value: &str) -> Result<HeaderValue, hyper::http::Error> {
    let mut value = HeaderValue::from_str(value)?;
    value.set_sensitive(true);
    Ok(value)
}

async fn exchange<S>(stream: S, request: Request<Full<Bytes>>) -> Result<Response<Incoming>, hyper::Error>
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static,
{
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    // The connection ends with the answer's body, or with the runtime when nobody reads it.
    tokio::spawn(connection);
    sender.send_request(request).await
}

/// `Get`, as Go's client writes a method in its errors.
fn title_case(method: &Method) -> String {
    let lower = method.as_str().to_lowercase();
    let mut letters = lower.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// The address alone, and `user:password` when it holds a login, as Go's clients take one.
fn split_login(address: &str) -> (String, Secret) {
    let (scheme, rest) = address.split_once("://").map_or(("", address), |(scheme, rest)| (scheme, rest));
    let authority = rest.split(['/', '?']).next().unwrap_or(rest);
    match authority.rsplit_once('@') {
        Some((login, _)) if scheme != "unix" => {
            let bare = rest.get(login.len() + 1..).unwrap_or(rest);
            let bare = if scheme.is_empty() { bare.to_owned() } else { format!("{scheme}://{bare}") };
            (bare, Secret::new(unescape(login)))
        }
        _ => (address.to_owned(), Secret::default()),
    }
}

/// With `%XX` as what they stand for; anything else stays.
fn unescape(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('%') {
        bytes.extend_from_slice(before.as_bytes());
        let byte = after.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(byte.unwrap_or(b'%'));
        rest = if byte.is_some() { after.get(2..).unwrap_or_default() } else { after };
    }
    bytes.extend_from_slice(rest.as_bytes());
    String::from_utf8_lossy(&bytes).into_owned()
}

fn endpoint(address: &str) -> Result<Endpoint, ClientError> {
    let bad = |why: &str| ClientError::Address { address: address.to_owned(), why: why.to_owned() };
    if address.starts_with("https://") {
        return Err(ClientError::NoTls { address: address.to_owned() });
    }
    if let Some(path) = address.strip_prefix("unix://") {
        return if path.is_empty() { Err(bad("no path")) } else { Ok(Endpoint::Unix { path: path.to_owned() }) };
    }
    let rest = match address.split_once("://") {
        Some(("http", rest)) => rest,
        Some((scheme, _)) => return Err(bad(&format!("unknown scheme {scheme:?}"))),
        None => address,
    };
    let authority = rest.split(['/', '?']).next().unwrap_or(rest);
    let (host, port) = match authority.strip_prefix('[').and_then(|inner| inner.split_once(']')) {
        Some((host, after)) => (host, after.strip_prefix(':')),
        None => match authority.rsplit_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (authority, None),
        },
    };
    if host.is_empty() {
        return Err(bad("no host"));
    }
    let port = port.map_or(Ok(80), |port| port.parse::<u16>().map_err(|_| bad("the port is no number below 65536")))?;
    Ok(Endpoint::Tcp { host: host.to_owned(), port })
}

/// A segment of a path, or a value of a query, with everything unusual as `%XX`.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => out.push(char::from(byte)),
            other => out.push_str(&format!("%{other:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(address: &str, expected: &str) {
        let got = match endpoint(address) {
            Ok(Endpoint::Tcp { host, port }) => format!("tcp {host} {port}"),
            Ok(Endpoint::Unix { path }) => format!("unix {path}"),
            Err(why) => why.to_string(),
        };
        assert_eq!(got, expected, "{address}");
    }

    #[test]
    fn addresses() {
        check("http://127.0.0.1:4646", "tcp 127.0.0.1 4646");
        check("http://127.0.0.1:4646/", "tcp 127.0.0.1 4646");
        check("127.0.0.1:4646", "tcp 127.0.0.1 4646");
        check("http://host", "tcp host 80");
        check("http://[::1]:4646/x", "tcp ::1 4646");
        check("unix:///run/api.sock", "unix /run/api.sock");
        check("unix://", "invalid address \"unix://\": no path");
        check("ftp://x", "invalid address \"ftp://x\": unknown scheme \"ftp\"");
        check("http://:1", "invalid address \"http://:1\": no host");
        check("http://a:99999", "invalid address \"http://a:99999\": the port is no number below 65536");
        check(
            "https://a:1",
            "https is not in this build: https://a:1 cannot be spoken to; use an http:// or unix:// address",
        );
    }

    #[test]
    fn a_login_in_the_address_is_used_and_not_shown() {
        let check = |address: &str, bare: &str, login: &str| {
            let (got, secret) = split_login(address);
            assert_eq!((got.as_str(), secret.reveal()), (bare, login), "{address}");
        };
        check("http://ann:s3cret@h:1/x", "http://h:1/x", "ann:s3cret");
        check("ann:p%40ss%@h:1", "h:1", "ann:p@ss%");
        check("http://h:1/a@b", "http://h:1/a@b", "");
        check("unix:///run/a@b", "unix:///run/a@b", "");
        let client = |own: &str| Client::new("http://ann:a@h", Secret::default(), Secret::new(own.to_owned()), "", "");
        assert_eq!(client("").unwrap().basic_auth.reveal(), "ann:a");
        assert_eq!(client("bob:b").unwrap().basic_auth.reveal(), "bob:b");
        let refused = Client::new("ftp://ann:s3cret@h", Secret::default(), Secret::default(), "", "").unwrap_err();
        assert_eq!(refused.to_string(), "invalid address \"ftp://h\": unknown scheme \"ftp\"");
    }

    #[test]
    fn ids_are_escaped_and_namespaces_added() {
        let client = Client::new("http://h:1/", Secret::default(), Secret::default(), "r", "team a").unwrap();
        assert_eq!(client.target("/v1/jobs", &[]), "/v1/jobs?region=r&namespace=team%20a");
        assert_eq!(client.target("/v1/jobs", &[("namespace", "*")]), "/v1/jobs?region=r&namespace=%2A");
        assert_eq!(escape("a/b é"), "a%2Fb%20%C3%A9");
    }
}
