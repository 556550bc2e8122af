//! Logs over HTTP: whole, from an offset, as frames, followed.

use axum::body::Body;
use axum::http::Request;
use http_body_util::BodyExt;
use longshore_http::HttpOptions;
use longshore_logs::{LogStream, RotatingWriter};
use serde_json::json;
use tower::ServiceExt;

use crate::driver::Stage;
use crate::world::{MINUTE, World, shop};

/// A world with one running allocation, and the writer of its standard output.
async fn world() -> (World, String, RotatingWriter) {
    let world = World::with(Stage::new(false, true), &HttpOptions::default()).await;
    world.run(&shop("web")).await;
    let alloc = world.allocations("web").await[0]["ID"].as_str().unwrap().to_owned();
    let path = format!("/v1/client/fs/logs/{alloc}?task=httpd&type=stdout");
    let early = world.get(&path).await;
    assert_eq!((early.status, early.text().as_str()), (404, "task \"httpd\" not started yet. No logs available"));
    let unknown = world.get(&path.replace("httpd", "nobody")).await;
    assert_eq!((unknown.status, unknown.text().as_str()), (400, "unknown task name \"nobody\""));
    world.driver.let_start();
    world.all_run().await;
    let folder = world.folder.path().join("alloc").join(&alloc).join("alloc/logs");
    let writer = RotatingWriter::open(&folder, "httpd", LogStream::Stdout, 10, 1 << 20).unwrap();
    (world, path, writer)
}

#[tokio::test]
async fn whole_logs() {
    let (world, path, mut writer) = world().await;
    writer.write(b"line 1\nline 2\n").unwrap();
    let frames = world.get(&path).await;
    assert_eq!(
        frames.json(),
        json!({"Data": "bGluZSAxCmxpbmUgMgo=", "File": "alloc/logs/httpd.stdout.0", "Offset": 14})
    );
    let plain = world.get(&format!("{path}&plain=true&origin=end&offset=7")).await;
    assert_eq!((plain.text().as_str(), plain.header("content-type")), ("line 2\n", "text/plain"));
    world.close().await;
}

#[tokio::test]
async fn followed_logs_end_with_the_agent() {
    let (world, path, mut writer) = world().await;
    writer.write(b"old\n").unwrap();
    let request =
        Request::get(format!("{path}&plain=true&follow=true&origin=end&offset=0")).body(Body::empty()).unwrap();
    let answer = world.router().oneshot(request).await.unwrap();
    let mut body = answer.into_body();
    writer.write(b"new\n").unwrap();
    let piece = tokio::time::timeout(MINUTE, body.frame()).await.unwrap().unwrap().unwrap();
    assert_eq!(piece.into_data().unwrap(), "new\n");
    world.end.cancel();
    assert!(tokio::time::timeout(MINUTE, body.frame()).await.unwrap().is_none());
    world.close().await;
}

#[tokio::test]
async fn a_quiet_stream_of_frames_says_that_it_lives() {
    let (world, path, _writer) = world().await;
    let request = Request::get(format!("{path}&follow=true")).body(Body::empty()).unwrap();
    let mut body = world.router().oneshot(request).await.unwrap().into_body();
    let piece = tokio::time::timeout(MINUTE, body.frame()).await.unwrap().unwrap().unwrap();
    assert_eq!(piece.into_data().unwrap(), "{}");
    world.close().await;
}
