//! A web page of another origin reaches nothing.

use axum::body::Body;
use axum::http::Request;
use longshore_http::{Access, HttpOptions};

use crate::driver::Stage;
use crate::world::{World, shop};

fn request(method: &str, path: &str, headers: &[(&str, &str)]) -> Request<Body> {
    let mut request = Request::builder().method(method).uri(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(Body::from(serde_json::json!({ "Job": shop("evil") }).to_string())).unwrap()
}

#[tokio::test]
async fn a_foreign_page_cannot_register_a_job() {
    let world = World::new().await;
    let host = ("Host", "127.0.0.1:4646");
    let answer = world.send(request("POST", "/v1/jobs", &[host, ("Origin", "https://evil.example")])).await;
    assert_eq!(answer.status, 403);
    assert!(answer.text().contains("\"https://evil.example\""), "{}", answer.text());
    let rebound = world.send(request("POST", "/v1/jobs", &[("Host", "evil.example:4646")])).await;
    assert_eq!(rebound.status, 403);
    assert_eq!(world.get("/v1/jobs").await.text(), "[]");
    let own = world.send(request("POST", "/v1/jobs", &[host, ("Origin", "http://127.0.0.1:4646")])).await;
    assert_eq!(own.status, 200, "{}", own.text());
    world.close().await;
}

#[tokio::test]
async fn configured_origins_and_hosts_may() {
    let access = Access { origins: vec!["https://ui.example".to_owned()], hosts: vec!["dev.example".to_owned()] };
    let world = World::with(Stage::new(true, true), &HttpOptions { access, ..HttpOptions::default() }).await;
    let headers = [("Host", "dev.example:4646"), ("Origin", "https://ui.example")];
    assert_eq!(world.send(request("POST", "/v1/jobs", &headers)).await.status, 200);
    world.close().await;
}

#[tokio::test]
async fn routes_that_nomad_opens_are_open() {
    let world = World::new().await;
    let headers = [("Host", "127.0.0.1:4646"), ("Origin", "http://127.0.0.1:9999")];
    let answer = world.send(request("GET", "/v1/client/stats", &headers)).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("access-control-allow-origin"), "*");
    let preflight = world.send(request("OPTIONS", "/v1/client/stats", &headers)).await;
    assert_eq!((preflight.status, preflight.header("access-control-allow-headers")), (200, "X-Nomad-Token"));
    world.close().await;
}
