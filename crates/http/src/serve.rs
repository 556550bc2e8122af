//! The accept loop: connections with limits, ended in good order.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt;
use tracing::{debug, warn};

use crate::guard::ListenerAddress;

/// How long a client may take to send the head of a request, an idle connection included.
const HEAD_TIME_MAX: Duration = Duration::from_secs(120);
/// How long requests under way may take after the end was asked for.
const END_TIME_MAX: Duration = Duration::from_secs(5);
/// How long to let others end when the system has no more file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Answers on `listener` until `end`, then gives requests under way some seconds.
///
/// Blocking queries and streams watch `end` themselves, so nothing waits for them.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    connections_per_client_max: usize,
    end: CancellationToken,
) {
    let connections = TaskTracker::new();
    let clients = Clients::default();
    let hard_end = CancellationToken::new();
    loop {
        let (stream, peer) = tokio::select! {
            () = end.cancelled() => break,
            accepted = listener.accept() => match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    warn!(%error, "could not accept an HTTP connection");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                    continue;
                }
            },
        };
        match clients.admit(peer.ip(), connections_per_client_max) {
            Some(place) => {
                let connection = answer(stream, router.clone(), end.clone());
                let hard_end = hard_end.clone();
                connections.spawn(async move {
                    let _place = place;
                    tokio::select! {
                        () = connection => {}
                        () = hard_end.cancelled() => {}
                    }
                });
            }
            None => {
                connections.spawn(refuse(stream));
            }
        }
    }
    drop(listener);
    connections.close();
    if tokio::time::timeout(END_TIME_MAX, connections.wait()).await.is_err() {
        hard_end.cancel();
        connections.wait().await;
    }
}

async fn answer(stream: TcpStream, router: Router, end: CancellationToken) {
    let _ = stream.set_nodelay(true);
    let Ok(local) = stream.local_addr() else { return };
    let service = service_fn(move |request: hyper::Request<Incoming>| {
        let mut request: Request = request.map(Body::new);
        request.extensions_mut().insert(ListenerAddress::of(local.ip()));
        router.clone().oneshot(request)
    });
    let connection = http1::Builder::new()
        .title_case_headers(true)
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME_MAX)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    let mut connection = std::pin::pin!(connection);
    let outcome = tokio::select! {
        outcome = connection.as_mut() => outcome,
        () = end.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = outcome {
        debug!(%error, "an HTTP connection ended early");
    }
}

async fn refuse(mut stream: TcpStream) {
    let text = "Your IP is issuing too many concurrent connections, please rate limit your calls\n";
    let answer = format!(
        "HTTP/1.1 429 Too Many Requests\r\nContent-Type: text/plain\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{text}",
        text.len()
    );
    let write = async {
        stream.write_all(answer.as_bytes()).await?;
        stream.shutdown().await
    };
    let _ = tokio::time::timeout(Duration::from_secs(1), write).await;
}

/// How many connections each client has.
#[derive(Debug, Clone, Default)]
struct Clients(Arc<Mutex<HashMap<IpAddr, usize>>>);

impl Clients {
    /// A place for one more connection; `max` 0 stands for no limit.
    fn admit(&self, client: IpAddr, max: usize) -> Option<Place> {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(client).or_default();
        if max > 0 && *count >= max {
            return None;
        }
        *count += 1;
        Some(Place { clients: self.clone(), client })
    }
}

/// One connection's place, given back when dropped.
#[derive(Debug)]
struct Place {
    clients: Clients,
    client: IpAddr,
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut counts = self.clients.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = counts.get_mut(&self.client) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.client);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_given_back() {
        let clients = Clients::default();
        let ip = IpAddr::from([127, 0, 0, 1]);
        let first = clients.admit(ip, 2);
        let second = clients.admit(ip, 2);
        assert!(first.is_some() && second.is_some());
        assert!(clients.admit(ip, 2).is_none());
        assert!(clients.admit(IpAddr::from([127, 0, 0, 2]), 2).is_some());
        drop(first);
        assert!(clients.admit(ip, 2).is_some());
        assert!(clients.admit(ip, 0).is_some(), "0 is no limit");
    }
}
