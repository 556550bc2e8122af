//! A proxy before the registry: it counts what is asked, and misbehaves as a test wants.

use std::io::{BufReader, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::error::Doing;
use crate::{Engine, Namespace, Registry, Result, http};

/// One request as it came in.
#[derive(Debug, Clone)]
pub struct SeenRequest {
    /// When.
    pub at: Instant,
    /// The method.
    pub method: String,
    /// The path with its query.
    pub path: String,
    /// The repository that it is about; none for `/v2/` itself.
    pub repository: Option<String>,
    /// The `Authorization` header, as it came.
    pub authorization: Option<String>,
}

impl SeenRequest {
    /// Whether it asks for a manifest.
    pub fn is_manifest(&self) -> bool {
        self.path.contains("/manifests/")
    }

    /// Whether it asks for a blob.
    pub fn is_blob(&self) -> bool {
        self.path.contains("/blobs/")
    }
}

/// What the proxy does instead of only passing on.
#[derive(Debug, Clone)]
pub enum Fault {
    /// Answers this itself.
    Status {
        /// The status code.
        code: u16,
        /// Further headers.
        headers: Vec<(String, String)>,
        /// The body.
        body: String,
    },
    /// Waits first, then passes on.
    Delay(Duration),
    /// Never answers, until [`CountingProxy::clear`] or the end.
    Hang,
    /// Passes on so many bytes of the body and hangs up.
    Cut {
        /// The bytes.
        after_bytes: u64,
    },
    /// Passes the body on at this pace.
    Throttle {
        /// Bytes a second.
        bytes_a_second: u64,
    },
    /// Asks for this login and refuses any other.
    Login {
        /// The user.
        user: String,
        /// The password.
        password: String,
    },
}

impl Fault {
    /// An answer with an error as registries write it.
    pub fn error(code: u16, word: &str, message: &str) -> Self {
        let body = format!(r#"{{"errors":[{{"code":"{word}","message":"{message}","detail":{{}}}}]}}"#);
        Self::Status { code, headers: vec![("Content-Type".into(), "application/json".into())], body }
    }
}

/// When a fault applies.
#[derive(Debug, Clone)]
pub struct Rule {
    /// Only for requests whose path holds this text; empty: all.
    pub path_holds: String,
    /// Only so many times; none: always.
    pub times: Option<u32>,
    /// What happens then.
    pub fault: Fault,
}

#[derive(Debug)]
struct Shared {
    seen: Mutex<Vec<SeenRequest>>,
    rules: Mutex<Vec<Rule>>,
    ending: AtomicBool,
    upstream: SocketAddr,
}

/// The proxy. Ends when dropped.
#[derive(Debug)]
pub struct CountingProxy {
    shared: Arc<Shared>,
    namespace: Namespace,
    address: SocketAddr,
    thread: Option<JoinHandle<()>>,
}

impl CountingProxy {
    /// Starts it before a registry, at `127.0.0.1:5001` of the engine's namespace.
    ///
    /// # Errors
    /// When it cannot listen there.
    pub fn start(engine: &Engine, registry: &Registry) -> Result<Self> {
        Self::start_at(engine, registry, 5001)
    }

    /// Starts it at another port.
    ///
    /// # Errors
    /// When it cannot listen there.
    pub fn start_at(engine: &Engine, registry: &Registry, port: u16) -> Result<Self> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let shared = Arc::new(Shared {
            seen: Mutex::default(),
            rules: Mutex::default(),
            ending: AtomicBool::new(false),
            upstream: registry.address(),
        });
        let namespace = engine.namespace().clone();
        let thread = namespace.inside(|| {
            let listener = TcpListener::bind(address).doing(|| format!("listen on {address} for the proxy"))?;
            let shared = shared.clone();
            // A thread made inside the namespace stays inside, and so do the ones that it makes.
            Ok(thread::spawn(move || accept(&listener, &shared)))
        })?;
        Ok(Self { shared, namespace, address, thread: Some(thread) })
    }

    /// `host:port` as it stands in image names.
    pub fn host(&self) -> String {
        self.address.to_string()
    }

    /// Everything that was asked so far.
    pub fn seen(&self) -> Vec<SeenRequest> {
        lock(&self.shared.seen).clone()
    }

    /// What was asked about one repository so far.
    pub fn seen_of(&self, repository: &str) -> Vec<SeenRequest> {
        self.seen().into_iter().filter(|request| request.repository.as_deref() == Some(repository)).collect()
    }

    /// Adds a rule; the first that fits a request applies.
    pub fn add(&self, rule: Rule) {
        lock(&self.shared.rules).push(rule);
    }

    /// From now on everything whose path holds `path_holds` meets this fault.
    pub fn always(&self, path_holds: &str, fault: Fault) {
        self.add(Rule { path_holds: path_holds.to_owned(), times: None, fault });
    }

    /// Drops all rules; what hangs is let go.
    pub fn clear(&self) {
        lock(&self.shared.rules).clear();
    }
}

impl Drop for CountingProxy {
    fn drop(&mut self) {
        self.shared.ending.store(true, Ordering::Relaxed);
        // Wakes the thread that waits for connections.
        let address = self.address;
        let _ = self.namespace.inside(|| TcpStream::connect(address).doing(|| "wake the proxy".to_owned()));
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    for client in listener.incoming().flatten() {
        if shared.ending.load(Ordering::Relaxed) {
            return;
        }
        let shared = shared.clone();
        thread::spawn(move || {
            // A client that hangs up in the middle is none of our business.
            let _ = serve(&client, &shared);
            let _ = client.shutdown(Shutdown::Both);
        });
    }
}

fn serve(client: &TcpStream, shared: &Shared) -> std::io::Result<()> {
    client.set_nodelay(true)?;
    let mut reader = BufReader::new(client.try_clone()?);
    let (first, headers) = http::read_head(&mut reader)?;
    let mut words = first.split(' ');
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let header = |name: &str| headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone());
    lock(&shared.seen).push(SeenRequest {
        at: Instant::now(),
        method: method.to_owned(),
        path: path.to_owned(),
        repository: repository_of(path),
        authorization: header("authorization"),
    });
    let length = header("content-length").and_then(|value| value.parse::<u64>().ok()).unwrap_or(0);
    let mut body = Vec::new();
    reader.take(length).read_to_end(&mut body)?;
    let mut pace = Pace { left: u64::MAX, bytes_a_second: None };
    match take_rule(shared, path) {
        Some(Fault::Status { code, headers, body }) => return answer(client, code, &headers, &body),
        Some(Fault::Login { user, password }) if header("authorization") != Some(basic(&user, &password)) => {
            let challenge = ("WWW-Authenticate".to_owned(), "Basic realm=\"registry\"".to_owned());
            let body = r#"{"errors":[{"code":"UNAUTHORIZED","message":"authentication required","detail":null}]}"#;
            return answer(client, 401, &[challenge], body);
        }
        Some(Fault::Delay(delay)) => thread::sleep(delay),
        Some(Fault::Hang) => {
            hang(client, shared, path);
            return Ok(());
        }
        Some(Fault::Cut { after_bytes }) => pace.left = after_bytes,
        Some(Fault::Throttle { bytes_a_second }) => pace.bytes_a_second = Some(bytes_a_second.max(1)),
        Some(Fault::Login { .. }) | None => {}
    }
    pass_on(client, shared, (method, path), &headers, &body, pace)
}

fn take_rule(shared: &Shared, path: &str) -> Option<Fault> {
    let mut rules = lock(&shared.rules);
    let at = rules.iter().position(|rule| path.contains(&rule.path_holds) && rule.times != Some(0))?;
    let rule = rules.get_mut(at)?;
    rule.times = rule.times.map(|times| times - 1);
    Some(rule.fault.clone())
}

/// Stays silent until the rule is gone, the proxy ends or the client hangs up.
fn hang(client: &TcpStream, shared: &Shared, path: &str) {
    let _ = client.set_read_timeout(Some(Duration::from_millis(20)));
    let still = || {
        !shared.ending.load(Ordering::Relaxed)
            && lock(&shared.rules)
                .iter()
                .any(|rule| path.contains(&rule.path_holds) && matches!(rule.fault, Fault::Hang))
    };
    while still() {
        if let Ok(0) = client.peek(&mut [0]) {
            return;
        }
    }
}

fn answer(mut client: &TcpStream, code: u16, headers: &[(String, String)], body: &str) -> std::io::Result<()> {
    let mut head = format!(
        "HTTP/1.1 {code} Fault\r\nConnection: close\r\nDocker-Distribution-Api-Version: registry/2.0\r\nContent-Length: {}\r\n",
        body.len()
    );
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    client.write_all(format!("{head}\r\n{body}").as_bytes())
}

/// How the body of an answer goes through.
struct Pace {
    left: u64,
    bytes_a_second: Option<u64>,
}

fn pass_on(
    mut client: &TcpStream,
    shared: &Shared,
    (method, path): (&str, &str),
    headers: &[(String, String)],
    body: &[u8],
    mut pace: Pace,
) -> std::io::Result<()> {
    let mut upstream = TcpStream::connect(shared.upstream)?;
    let mut head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
    for (name, value) in headers.iter().filter(|(name, _)| name != "connection" && name != "authorization") {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    upstream.write_all(format!("{head}\r\n").as_bytes())?;
    upstream.write_all(body)?;
    // With a pace: what goes through in a twentieth of a second.
    let step = pace.bytes_a_second.map_or(16 << 10, |rate| usize::try_from(rate / 20).unwrap_or(1).max(1));
    let mut reader = BufReader::with_capacity(step.max(16 << 10), upstream);
    let (first, headers) = http::read_head(&mut reader)?;
    let mut head = format!("{first}\r\n");
    for (name, value) in &headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    client.write_all(format!("{head}\r\n").as_bytes())?;
    let mut buffer = vec![0; step];
    while pace.left > 0 && !shared.ending.load(Ordering::Relaxed) {
        let most = usize::try_from(pace.left).unwrap_or(usize::MAX).min(step);
        let count = reader.read(buffer.split_at_mut(most).0)?;
        if count == 0 {
            break;
        }
        client.write_all(buffer.split_at(count).0)?;
        pace.left -= count as u64;
        if pace.bytes_a_second.is_some() {
            thread::sleep(Duration::from_millis(50));
        }
    }
    Ok(())
}

fn repository_of(path: &str) -> Option<String> {
    let rest = path.strip_prefix("/v2/")?;
    let end = ["/manifests/", "/blobs/", "/tags/"].iter().filter_map(|part| rest.find(part)).min()?;
    Some(rest.split_at(end).0.to_owned())
}

fn basic(user: &str, password: &str) -> String {
    format!("Basic {}", base64(format!("{user}:{password}").as_bytes()))
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let value = group.iter().fold(0u32, |sum, byte| sum << 8 | u32::from(*byte)) << (8 * (3 - group.len()));
        for place in 0..4 {
            let digit = (value >> (18 - 6 * place)) & 63;
            text.push(if place <= group.len() { char::from(DIGITS[digit as usize]) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logins_are_written_as_registries_read_them() {
        for (user, password, expected) in
            [("a", "b", "Basic YTpi"), ("ab", "b", "Basic YWI6Yg=="), ("abc", "b", "Basic YWJjOmI=")]
        {
            assert_eq!(basic(user, password), expected);
        }
    }

    #[test]
    fn requests_are_told_apart_by_repository() {
        for (path, expected) in [
            ("/v2/", None),
            ("/v2/web/manifests/1", Some("web")),
            ("/v2/shop/cart/blobs/sha256:0", Some("shop/cart")),
            ("/v2/shop/cart/tags/list", Some("shop/cart")),
        ] {
            assert_eq!(repository_of(path).as_deref(), expected, "{path}");
        }
    }
}
