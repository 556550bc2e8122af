//! Blocking queries wake on the change they wait for, on their time, and on the end of the agent.

use std::time::{Duration, Instant};

use axum::body::Body;

use longshore_http::HttpOptions;

use crate::driver::Stage;
use crate::world::{World, shop};

#[tokio::test]
async fn a_query_wakes_when_its_object_changes() {
    let world = World::new().await;
    world.run(&shop("other")).await;
    let before = world.get("/v1/job/web").await;
    assert_eq!(before.status, 404);
    let path = format!("/v1/job/web?index={}&wait=60s", before.index());
    let waiting = world.get(&path);
    let registering = async {
        tokio::task::yield_now().await;
        world.run(&shop("web")).await;
    };
    let (answer, ()) = tokio::join!(waiting, registering);
    assert_eq!(answer.status, 200, "waiting for creation works");
    assert!(answer.index() > before.index());
    assert_eq!(answer.json()["ID"], "web");
    world.close().await;
}

#[tokio::test]
async fn a_query_of_the_past_is_answered_at_once_and_one_of_the_future_after_its_wait() {
    let world = World::new().await;
    world.run(&shop("web")).await;
    let index = world.get("/v1/jobs").await.index();
    let began = Instant::now();
    assert_eq!(world.get(&format!("/v1/jobs?index={}&wait=60s", index - 1)).await.status, 200);
    assert!(began.elapsed() < Duration::from_secs(30));
    let began = Instant::now();
    let answer = world.get(&format!("/v1/jobs?index={}&wait=200ms", index + 1_000)).await;
    assert_eq!(answer.status, 200, "then the same data are answered");
    assert!(began.elapsed() >= Duration::from_millis(200), "{:?}", began.elapsed());
    world.close().await;
}

#[tokio::test]
async fn lists_of_jobs_wake_for_their_summaries() {
    let world = World::with(Stage::new(false, true), &HttpOptions::default()).await;
    world.run(&shop("web")).await;
    let mut index = world.get("/v1/jobs").await.index();
    world.driver.let_start();
    loop {
        let answer = world.get(&format!("/v1/jobs?index={index}&wait=60s")).await;
        assert!(answer.index() > index, "woken for a change, not by time");
        index = answer.index();
        if answer.json()[0]["JobSummary"]["Summary"]["web"]["Running"] == 2 {
            break;
        }
    }
    world.close().await;
}

#[tokio::test]
async fn the_end_of_the_agent_answers_who_waits() {
    let world = World::new().await;
    let index = world.get("/v1/nodes").await.index();
    let path = format!("/v1/nodes?index={index}&wait=300s");
    let ending = async {
        tokio::task::yield_now().await;
        world.end.cancel();
    };
    let began = Instant::now();
    let (answer, ()) = tokio::join!(world.ask("GET", &path, Body::empty()), ending);
    assert_eq!(answer.status, 200);
    assert!(began.elapsed() < Duration::from_secs(30));
    world.close().await;
}
