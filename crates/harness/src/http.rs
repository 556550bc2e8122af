//! A small HTTP/1.1 client over TCP or a Unix socket: one connection a request, bodies that can be read as they come.

use std::fmt;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

use crate::error::Doing;
use crate::{HarnessError, Result};

/// Whom to ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// A Unix socket.
    Unix(PathBuf),
    /// A TCP address.
    Tcp(SocketAddr),
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unix(path) => write!(f, "{}", path.display()),
            Self::Tcp(address) => write!(f, "{address}"),
        }
    }
}

/// The body of a request.
#[derive(Debug, Clone, Copy)]
pub enum Body<'a> {
    /// None.
    Empty,
    /// JSON.
    Json(&'a Value),
    /// Bytes with their content type.
    Bytes(&'a str, &'a [u8]),
}

/// A whole answer.
#[derive(Debug, Clone)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// Header names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body, chunks put together.
    pub body: Vec<u8>,
}

impl Response {
    /// A header's value; the name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The body as JSON.
    ///
    /// # Errors
    /// When it is none.
    pub fn json(&self) -> Result<Value> {
        serde_json::from_slice(&self.body)
            .map_err(|error| HarnessError::refused(format!("read `{}` as JSON", self.text()), error))
    }

    /// This answer, if its status is one of success.
    ///
    /// # Errors
    /// With the answer's text when it is not.
    pub fn success(self, doing: &str) -> Result<Self> {
        if (200..300).contains(&self.status) {
            return Ok(self);
        }
        Err(HarnessError::refused(doing, format!("status {}: {}", self.status, self.text().trim())))
    }
}

/// Sends a request and reads the whole answer; each single read or write may take `patience`.
///
/// # Errors
/// When there is no connection, or the answer is none that can be read.
pub fn request(
    address: &Address,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: Body<'_>,
    patience: Duration,
) -> Result<Response> {
    let mut answer = open(address, method, path, headers, body, Some(patience))?;
    let mut whole = Vec::new();
    answer.body.read_to_end(&mut whole).doing(|| format!("read the answer of {method} {path} from {address}"))?;
    Ok(Response { status: answer.status, headers: answer.headers, body: whole })
}

/// An answer whose body has not been read yet.
pub(crate) struct OpenAnswer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Box<dyn BufRead + Send>,
    pub(crate) connection: Connection,
}

/// A handle on a connection whose body somebody else reads.
#[derive(Debug)]
pub(crate) enum Connection {
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl Connection {
    fn to(address: &Address, patience: Option<Duration>) -> io::Result<Self> {
        match address {
            Address::Unix(path) => {
                let stream = UnixStream::connect(path)?;
                stream.set_read_timeout(patience)?;
                stream.set_write_timeout(patience)?;
                Ok(Self::Unix(stream))
            }
            Address::Tcp(address) => {
                let stream = TcpStream::connect(address)?;
                stream.set_read_timeout(patience)?;
                stream.set_write_timeout(patience)?;
                stream.set_nodelay(true)?;
                Ok(Self::Tcp(stream))
            }
        }
    }

    fn reader(&self) -> io::Result<Box<dyn Read + Send>> {
        Ok(match self {
            Self::Unix(stream) => Box::new(stream.try_clone()?),
            Self::Tcp(stream) => Box::new(stream.try_clone()?),
        })
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Unix(stream) => stream.write_all(bytes),
            Self::Tcp(stream) => stream.write_all(bytes),
        }
    }

    /// Ends it; whoever reads from it sees its end.
    pub(crate) fn hang_up(&self) {
        // It may have ended by itself.
        let _ = match self {
            Self::Unix(stream) => stream.shutdown(Shutdown::Both),
            Self::Tcp(stream) => stream.shutdown(Shutdown::Both),
        };
    }
}

/// Sends a request and reads the head of the answer.
pub(crate) fn open(
    address: &Address,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: Body<'_>,
    patience: Option<Duration>,
) -> Result<OpenAnswer> {
    let doing = || format!("ask {address} for {method} {path}");
    let mut connection = Connection::to(address, patience).doing(doing)?;
    let reader = connection.reader().doing(doing)?;
    let json;
    let (content_type, bytes) = match body {
        Body::Empty => (None, &[][..]),
        Body::Json(value) => {
            json = value.to_string();
            (Some("application/json"), json.as_bytes())
        }
        Body::Bytes(content_type, bytes) => (Some(content_type), bytes),
    };
    let host = match address {
        Address::Unix(_) => "localhost".to_owned(),
        Address::Tcp(address) => address.to_string(),
    };
    let mut head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
    if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
        head.push_str(&format!("Host: {host}\r\n"));
    }
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    if let Some(content_type) = content_type {
        head.push_str(&format!("Content-Type: {content_type}\r\n"));
    }
    if !bytes.is_empty() || !matches!(method, "GET" | "HEAD" | "DELETE") {
        head.push_str(&format!("Content-Length: {}\r\n", bytes.len()));
    }
    head.push_str("\r\n");
    // A server may answer and hang up before it has read a body it does not want: then its answer counts.
    let sent = connection.write(head.as_bytes()).and_then(|()| connection.write(bytes));
    let mut reader = BufReader::new(reader);
    match read_head(&mut reader) {
        Ok((first, headers)) => {
            let status = first.split(' ').nth(1).and_then(|code| code.parse().ok());
            let status = status.ok_or_else(|| HarnessError::refused(doing(), format!("answered `{first}`")))?;
            let body = body_reader(reader, &headers, method == "HEAD" || status == 204 || status == 304);
            Ok(OpenAnswer { status, headers, body, connection })
        }
        Err(error) => Err(sent.err().unwrap_or(error)).doing(doing),
    }
}

/// Reads a first line and headers (names in lower case), of a request or an answer.
pub(crate) fn read_head(reader: &mut impl BufRead) -> io::Result<(String, Vec<(String, String)>)> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let first = line.trim_end().to_owned();
    let mut headers = Vec::new();
    loop {
        line.clear();
        if reader.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let text = line.trim_end();
        if text.is_empty() {
            return Ok((first, headers));
        }
        if let Some((name, value)) = text.split_once(':') {
            headers.push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
        }
    }
}

fn body_reader(
    reader: BufReader<Box<dyn Read + Send>>,
    headers: &[(String, String)],
    empty: bool,
) -> Box<dyn BufRead + Send> {
    let header = |name: &str| headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
    if empty {
        return Box::new(io::empty());
    }
    if header("transfer-encoding").is_some_and(|value| value.eq_ignore_ascii_case("chunked")) {
        return Box::new(BufReader::new(Chunked { reader, left: 0, ended: false, begun: false }));
    }
    match header("content-length").and_then(|value| value.parse().ok()) {
        Some(length) => Box::new(BufReader::new(Exactly { reader, left: length })),
        None => Box::new(reader),
    }
}

/// A body of a known length; one that is cut short is an error.
struct Exactly<R> {
    reader: R,
    left: u64,
}

impl<R: Read> Read for Exactly<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = usize::try_from(self.left).unwrap_or(usize::MAX).min(buffer.len());
        let (wanted, _) = buffer.split_at_mut(most);
        let count = self.reader.read(wanted)?;
        if count == 0 && most > 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.left -= count as u64;
        Ok(count)
    }
}

/// A body in chunks; one that is cut short is an error.
struct Chunked<R> {
    reader: R,
    left: u64,
    begun: bool,
    ended: bool,
}

impl<R: BufRead> Chunked<R> {
    fn next_size(&mut self) -> io::Result<()> {
        let mut line = String::new();
        if self.begun {
            self.reader.read_line(&mut line)?;
            line.clear();
        }
        self.begun = true;
        if self.reader.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let digits = line.trim().split(';').next().unwrap_or_default();
        self.left = u64::from_str_radix(digits, 16).map_err(|_| io::Error::from(io::ErrorKind::InvalidData))?;
        self.ended = self.left == 0;
        Ok(())
    }
}

impl<R: BufRead> Read for Chunked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 && !self.ended {
            self.next_size()?;
        }
        if self.ended {
            return Ok(0);
        }
        let most = usize::try_from(self.left).unwrap_or(usize::MAX).min(buffer.len());
        let (wanted, _) = buffer.split_at_mut(most);
        let count = self.reader.read(wanted)?;
        if count == 0 && most > 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.left -= count as u64;
        Ok(count)
    }
}
