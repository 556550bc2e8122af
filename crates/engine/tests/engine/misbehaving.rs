//! A server that says what it is told to, and everything that an engine should not do.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use longshore_engine::{Class, Endpoint, Engine, Error, ListContainers, LogOptions, LogStreamKind};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{UnixListener, UnixStream};

/// Answers requests on a socket of its own, until it is dropped.
pub(crate) struct Server {
    folder: tempfile::TempDir,
    /// Request lines, in order.
    requests: Arc<Mutex<Vec<String>>>,
    _accepting: tokio_util::task::AbortOnDropHandle<()>,
}

const VERSION: &str = r#"{"Version":"20.10.24","ApiVersion":"1.41","MinAPIVersion":"1.12"}"#;

impl Server {
    /// `answer` is given the request line and the connection, after the request was read.
    async fn with<F, R>(answer: F) -> Self
    where
        F: Fn(String, UnixStream) -> R + Send + Sync + 'static,
        R: Future<Output = ()> + Send + 'static,
    {
        let folder = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(folder.path().join("s")).unwrap();
        let requests: Arc<Mutex<Vec<String>>> = Arc::default();
        let noted = requests.clone();
        let accepting = tokio::spawn(async move {
            let answer = Arc::new(answer);
            while let Ok((mut stream, _)) = listener.accept().await {
                let (answer, noted) = (answer.clone(), noted.clone());
                tokio::spawn(async move {
                    let line = read_request(&mut stream).await;
                    noted.lock().unwrap().push(line.clone());
                    answer(line, stream).await;
                });
            }
        });
        Self { folder, requests, _accepting: tokio_util::task::AbortOnDropHandle::new(accepting) }
    }

    /// One answer to everything but the question for its version.
    pub(crate) async fn answering(status: u16, body: String) -> Self {
        Self::with(move |line, mut stream| {
            let body = body.clone();
            async move {
                if line.contains(" /version ") && !body.contains("ApiVersion") {
                    say(&mut stream, 200, VERSION).await;
                } else {
                    say(&mut stream, status, &body).await;
                }
            }
        })
        .await
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("s")
    }

    pub(crate) fn engine(&self) -> Engine {
        Engine::new(Endpoint::Unix(self.socket()))
    }

    fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

/// The request line; the whole request is read, its body by length or by chunks.
async fn read_request(stream: &mut UnixStream) -> String {
    let mut bytes = Vec::new();
    let head = loop {
        if let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break at + 4;
        }
        let mut piece = [0; 4096];
        match stream.read(&mut piece).await {
            Ok(0) | Err(_) => return String::new(),
            Ok(n) => bytes.extend_from_slice(&piece[..n]),
        }
    };
    let text = String::from_utf8_lossy(&bytes[..head]).to_ascii_lowercase();
    let length = text.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse::<usize>().ok());
    let chunked = text.contains("transfer-encoding: chunked");
    while bytes.len() < head + length.unwrap_or(0) || (chunked && !bytes.ends_with(b"0\r\n\r\n")) {
        let mut piece = [0; 4096];
        match stream.read(&mut piece).await {
            Ok(0) | Err(_) => break,
            Ok(n) => bytes.extend_from_slice(&piece[..n]),
        }
    }
    String::from_utf8_lossy(&bytes).lines().next().unwrap_or_default().to_owned()
}

async fn say(stream: &mut UnixStream, status: u16, body: &str) {
    let head = format!("HTTP/1.1 {status} X\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
    let _ = stream.write_all(head.as_bytes()).await;
    let _ = stream.write_all(body.as_bytes()).await;
}

/// Says a chunked head and some chunks, without the end.
async fn say_chunks(stream: &mut UnixStream, chunks: &[&[u8]]) {
    let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n").await;
    for chunk in chunks {
        let _ = stream.write_all(format!("{:x}\r\n", chunk.len()).as_bytes()).await;
        let _ = stream.write_all(chunk).await;
        let _ = stream.write_all(b"\r\n").await;
    }
}

#[tokio::test]
async fn the_version_is_asked_once_and_sent_with_each_call() {
    let server = Server::answering(200, "[]".to_owned()).await;
    let engine = server.engine();
    engine.images().await.unwrap();
    engine.containers(ListContainers { all: true, labels: &["a=b"] }).await.unwrap();
    assert_eq!(
        server.requests(),
        [
            "GET /version HTTP/1.1",
            "GET /v1.41/images/json HTTP/1.1",
            "GET /v1.41/containers/json?all=1&filters=%7B%22label%22%3A%5B%22a%3Db%22%5D%7D HTTP/1.1",
        ]
    );
    let pinned = Engine::with_version(Endpoint::Unix(server.socket()), Some("1.44".parse().unwrap()));
    pinned.images().await.unwrap();
    assert_eq!(server.requests().last().unwrap(), "GET /v1.44/images/json HTTP/1.1");
}

#[tokio::test]
async fn another_engine_at_the_same_address_is_agreed_with_anew() {
    let server = Server::with(|line, mut stream| async move {
        match line.split(' ').nth(1).unwrap() {
            "/version" => say(&mut stream, 200, VERSION).await,
            "/v1.41/images/json" => say(&mut stream, 200, "[]").await,
            _ => {
                say(
                    &mut stream,
                    400,
                    r#"{"message":"client version 1.50 is too new. Maximum supported API version is 1.41"}"#,
                )
                .await
            }
        }
    })
    .await;
    let engine = server.engine();
    engine.images().await.unwrap();
    // As if a newer engine had stood there before.
    let older = Server::answering(
        400,
        r#"{"message":"client version 1.41 is too old. Minimum supported API version is 1.44"}"#.into(),
    )
    .await;
    let error = older.engine().images().await.unwrap_err();
    assert_eq!(error.class(), Class::Version);
    assert_eq!(older.requests().iter().filter(|line| line.contains("/version")).count(), 2);
}

#[tokio::test]
async fn nobody_there() {
    let engine = Engine::new("unix:///nowhere/at/all.sock".parse().unwrap());
    let error = engine.ping().await.unwrap_err();
    assert_eq!(error.class(), Class::EngineUnreachable);
    assert!(error.to_string().contains("unix:///nowhere/at/all.sock"), "{error}");
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_cut_and_not_done() {
    let server = Server::with(|line, mut stream| async move {
        if line.contains("/version") {
            say(&mut stream, 200, VERSION).await;
        } else {
            say_chunks(&mut stream, &[b"{\"status\":\"Waiting\",\"id\":\"a\"}\r\n"]).await;
        }
    })
    .await;
    let mut stream = server.engine().pull("r/a", "1", None, None).await.unwrap();
    assert_eq!(stream.next().await.unwrap().unwrap().status, "Waiting");
    assert_eq!(stream.next().await.unwrap_err().class(), Class::Cut);
    assert_eq!(server.engine().wait_container("c").await.unwrap_err().class(), Class::Cut);
}

#[tokio::test]
async fn dropping_a_pull_closes_its_connection() {
    let (closed, mut seen) = tokio::sync::mpsc::unbounded_channel();
    let server = Server::with(move |line, mut stream| {
        let closed = closed.clone();
        async move {
            if line.contains("/version") {
                return say(&mut stream, 200, VERSION).await;
            }
            if line.contains("silent") {
                // Not even a head, as an engine that waits for a silent registry.
            } else {
                say_chunks(&mut stream, &[b"{\"status\":\"Waiting\",\"id\":\"a\"}\r\n"]).await;
            }
            let _ = stream.read(&mut [0; 1]).await;
            let _ = closed.send(());
        }
    })
    .await;
    let engine = server.engine();
    let mut stream = engine.pull("r/a", "1", None, None).await.unwrap();
    stream.next().await.unwrap();
    drop(stream);
    tokio::time::timeout(Duration::from_secs(10), seen.recv()).await.expect("the connection stays open").unwrap();
    let silent = tokio::time::timeout(Duration::from_millis(50), engine.pull("r/silent", "1", None, None)).await;
    assert!(silent.is_err());
    tokio::time::timeout(Duration::from_secs(10), seen.recv()).await.expect("the connection stays open").unwrap();
}

#[tokio::test]
async fn entries_that_cannot_be_read_are_told_beside_the_others() {
    let body = r#"[{"Id":"c1","State":"pondering","Labels":null,"Names":null,"New":{"a":1}},
        {"Id":"c2","Labels":[1]},{"State":"running"},7]"#;
    let server = Server::answering(200, body.to_owned()).await;
    let containers = server.engine().containers(ListContainers::default()).await.unwrap();
    assert_eq!(containers.items.len(), 1);
    assert_eq!(containers.items[0].state.to_string(), "pondering");
    let ids: Vec<_> = containers.unreadable.iter().map(|entry| entry.id.as_deref()).collect();
    assert_eq!(ids, [Some("c2"), None, None]);
}

#[tokio::test]
async fn limits_are_named() {
    let server = Server::with(|line, mut stream| async move {
        if line.contains("/version") {
            return say(&mut stream, 200, VERSION).await;
        }
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n").await;
        let piece = [b"10000\r\n".as_slice(), &[b'x'; 0x10000], b"\r\n"].concat();
        while stream.write_all(&piece).await.is_ok() {}
    })
    .await;
    let engine = server.engine();
    for (error, limit) in [
        (engine.images().await.unwrap_err(), "engine answer"),
        (engine.pull("r/a", "1", None, None).await.unwrap().next().await.unwrap_err(), "engine stream line"),
    ] {
        assert!(matches!(&error, Error::TooLarge { limit: found, .. } if found.name == limit), "{error}");
    }
    let refused = Server::answering(500, "y".repeat(1 << 20)).await.engine().start_container("c").await.unwrap_err();
    assert!(refused.to_string().len() < 70_000);
}

#[tokio::test]
async fn logs_are_taken_apart_and_a_torn_frame_is_told() {
    let frames: &[u8] = b"\x01\0\0\0\0\0\0\x04one\n\x02\0\0\0\0\0\0\x04two\n\x01\0\0\0\0\0\0\x05thr";
    let server = Server::answering(200, String::from_utf8(frames.to_vec()).unwrap()).await;
    let mut stream = server.engine().container_logs("c", LogOptions::default()).await.unwrap();
    let first = stream.next().await.unwrap().unwrap();
    assert_eq!((first.kind, &first.bytes[..]), (LogStreamKind::Stdout, &b"one\n"[..]));
    assert_eq!(stream.next().await.unwrap().unwrap().kind, LogStreamKind::Stderr);
    assert_eq!(stream.next().await.unwrap_err().class(), Class::Cut);
}

#[tokio::test]
async fn only_whole_names_are_removed() {
    let server = Server::answering(200, "[]".to_owned()).await;
    let engine = server.engine();
    for name in ["redis", "ce60", "localhost:5000/redis", "sha256:ce60"] {
        let error = engine.delete_image(name, Default::default()).await.unwrap_err();
        assert!(matches!(error, Error::Request { .. }), "{name}: {error}");
    }
    for name in ["redis:7", "localhost:5000/redis:7", "r/a@sha256:ab"] {
        engine.delete_image(name, Default::default()).await.unwrap();
    }
    assert_eq!(server.requests().len(), 4);
}
