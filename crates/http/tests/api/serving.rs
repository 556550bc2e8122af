//! The listener: forms of answers, limits, and an orderly end.

use std::io::Read;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::http::Request;
use longshore_http::HttpOptions;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::driver::Stage;
use crate::world::{MINUTE, World};

async fn listening(world: &World) -> (std::net::SocketAddr, tokio::task::JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    (address, tokio::spawn(world.http.clone().serve(listener)))
}

/// Sends bytes and reads until the other side closes.
async fn exchange(address: std::net::SocketAddr, request: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    tokio::time::timeout(MINUTE, stream.read_to_end(&mut answer)).await.unwrap().unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

#[tokio::test]
async fn headers_are_written_as_clients_know_them() {
    let world = World::new().await;
    let (address, _serving) = listening(&world).await;
    let answer = exchange(address, "GET /v1/jobs HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n").await;
    for part in
        ["HTTP/1.1 200 OK\r\n", "Content-Type: application/json\r\n", "X-Nomad-Index: ", "X-Nomad-Knownleader: true"]
    {
        assert!(answer.contains(part), "{part:?} in {answer}");
    }
    assert!(answer.ends_with("[]"), "{answer}");
    world.close().await;
}

#[tokio::test]
async fn the_listener_ends_at_once_though_queries_wait() {
    let world = World::new().await;
    let (address, serving) = listening(&world).await;
    let index = world.get("/v1/nodes").await.index();
    let query = format!("GET /v1/nodes?index={index}&wait=300s HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
    let waiting = tokio::spawn(async move { exchange(address, &query).await });
    let idle = TcpStream::connect(address).await.unwrap();
    // Both connections are there when this one has been answered.
    exchange(address, "GET /v1/regions HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n").await;
    let began = Instant::now();
    world.end.cancel();
    tokio::time::timeout(MINUTE, serving).await.unwrap().unwrap();
    assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
    assert!(waiting.await.unwrap().starts_with("HTTP/1.1 200 OK"));
    assert!(TcpStream::connect(address).await.is_err());
    drop(idle);
    world.close().await;
}

#[tokio::test]
async fn two_gigabytes_are_refused_before_they_come() {
    let world = World::new().await;
    let (address, _serving) = listening(&world).await;
    let head = "PUT /v1/jobs HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 2147483648\r\n\r\n";
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(&vec![b' '; 4 << 20]).await.unwrap();
    let mut answer = vec![0; 4096];
    let count = tokio::time::timeout(MINUTE, stream.read(&mut answer)).await.unwrap().unwrap();
    let answer = String::from_utf8_lossy(&answer[..count]).into_owned();
    assert!(answer.starts_with("HTTP/1.1 413 Payload Too Large"), "{answer}");
    assert!(answer.contains("larger than the limit for request bodies, 32 MiB"), "{answer}");
    assert_eq!(world.get("/v1/jobs").await.status, 200, "the agent goes on");
    world.close().await;
}

#[tokio::test]
async fn connections_of_one_client_have_a_limit() {
    let world =
        World::with(Stage::new(true, true), &HttpOptions { connections_per_client_max: 1, ..HttpOptions::default() })
            .await;
    let (address, _serving) = listening(&world).await;
    let mut first = TcpStream::connect(address).await.unwrap();
    first.write_all(b"GET /v1/regions HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").await.unwrap();
    let mut some = [0; 16];
    first.read_exact(&mut some).await.unwrap();
    let refused = exchange(address, "").await;
    assert!(refused.starts_with("HTTP/1.1 429 "), "{refused}");
    world.close().await;
}

#[tokio::test]
async fn answers_are_packed_and_indented_on_demand() {
    let world = World::new().await;
    let request = Request::get("/v1/nodes").header("Accept-Encoding", "gzip").body(Body::empty()).unwrap();
    let packed = world.send(request).await;
    assert_eq!(packed.header("content-encoding"), "gzip");
    let mut text = String::new();
    flate2::read::GzDecoder::new(&packed.body[..]).read_to_string(&mut text).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap()[0]["Name"], "host-a");
    assert_eq!(world.get("/v1/status/peers?pretty").await.text(), "[\n    \"127.0.0.1:4647\"\n]\n");
    assert_eq!(world.get("/v1/status/peers?pretty=0").await.text(), "[\"127.0.0.1:4647\"]");
    assert_eq!(world.get("/v1/status/leader").await.text(), "\"127.0.0.1:4647\"");
    world.close().await;
}

#[tokio::test]
async fn the_root_leads_to_the_pages() {
    let world = World::new().await;
    let answer = world.get("/?a=b").await;
    assert_eq!((answer.status, answer.header("location")), (307, "/ui/?a=b"));
    world.close().await;
}

#[tokio::test]
async fn configured_headers_are_on_every_answer() {
    let response_headers = [("X-Frame-Options".to_owned(), "DENY".to_owned())].into();
    let world = World::with(Stage::new(true, true), &HttpOptions { response_headers, ..HttpOptions::default() }).await;
    assert_eq!(world.get("/v1/jobs").await.header("x-frame-options"), "DENY");
    assert_eq!(world.get("/nothing").await.header("x-frame-options"), "DENY");
    world.close().await;
}

#[tokio::test]
async fn metrics_are_told_in_both_forms() {
    let world = World::new().await;
    let text = world.get("/v1/metrics?format=prometheus").await;
    assert_eq!(text.header("content-type"), "text/plain; version=0.0.4; charset=utf-8");
    assert!(text.text().contains("\nnomad_client_unallocated_memory{datacenter=\"dc1\","), "{}", text.text());
    let json = world.get("/v1/metrics").await.json();
    assert!(json["Timestamp"].as_str().unwrap().ends_with("0 +0000 UTC"), "{}", json["Timestamp"]);
    world.close().await;
}
