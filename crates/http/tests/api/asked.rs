//! Signals and restarts, asked of the node.

use axum::body::Body;
use serde_json::{Value, json};

use crate::world::{World, shop};

const UNKNOWN: &str = "12345678-abcd-efab-cdef-123456789abc";

async fn world() -> (World, String) {
    let world = World::new().await;
    world.run(&shop("web")).await;
    world.all_run().await;
    let alloc = world.allocations("web").await[0]["ID"].as_str().unwrap().to_owned();
    (world, format!("/v1/client/allocation/{alloc}"))
}

#[tokio::test]
async fn signals_reach_tasks_by_name() {
    let (world, path) = world().await;
    let signal = format!("{path}/signal");
    for (body, expected) in [
        (json!({"Task": "", "Signal": "SIGUSR1"}), "httpd: SIGUSR1"),
        (json!({"Task": "httpd", "Signal": "sighup"}), "httpd: SIGHUP"),
    ] {
        assert_eq!(world.put(&signal, &body).await.json(), json!({"Index": 0}));
        assert_eq!(world.driver.signals(), [expected]);
    }
    let refused = world.put(&signal, &json!({"Signal": "SIGNOPE"})).await;
    let text = refused.text();
    let head = "1 error occurred:\n\t* Failed to signal task: httpd, err: failed to parse signal: invalid signal \"SIGNOPE\" - valid signals are [\"SIGABRT\" ";
    assert!(refused.status == 500 && text.starts_with(head) && text.ends_with("\"SIGXFSZ\"]\n\n"), "{text}");
    let unknown_task = world.put(&signal, &json!({"Task": "nobody", "Signal": "SIGHUP"})).await;
    assert_eq!((unknown_task.status, unknown_task.text().as_str()), (500, "Task not found"));
    let no_body = world.ask("PUT", &signal, Body::empty()).await;
    assert_eq!((no_body.status, no_body.text().as_str()), (400, "Failed to decode body: Request body is empty"));
    let unknown = world.put(&format!("/v1/client/allocation/{UNKNOWN}/signal"), &json!({"Signal": "SIGHUP"})).await;
    assert_eq!((unknown.status, unknown.text()), (404, format!("Unknown allocation {UNKNOWN:?}")));
    assert_eq!(world.driver.signals(), Vec::<String>::new());
    world.close().await;
}

async fn until_restarts(world: &World, path: &str, count: u64) -> Value {
    let path = path.replace("/v1/client", "/v1");
    let mut index = 0;
    loop {
        let answer = world.get(&format!("{path}?index={index}&wait=30s")).await;
        let task = &answer.json()["TaskStates"]["httpd"];
        if task["Restarts"] == count && task["State"] == "running" {
            return task.clone();
        }
        index = answer.index();
    }
}

#[tokio::test]
async fn tasks_end_and_start_again_whatever_their_policy() {
    let (world, path) = world().await;
    let restart = format!("{path}/restart");
    assert_eq!(world.put(&restart, &json!({"TaskName": "httpd"})).await.json(), json!({"Index": 0}));
    until_restarts(&world, &path, 1).await;
    assert_eq!(world.ask("PUT", &restart, Body::empty()).await.json(), json!({"Index": 0}));
    let task = until_restarts(&world, &path, 2).await;
    let kinds: Vec<&str> =
        task["Events"].as_array().unwrap().iter().map(|event| event["Type"].as_str().unwrap()).collect();
    let tail = ["Started", "Restart Signaled", "Terminated", "Restarting", "Started"];
    assert_eq!(kinds[kinds.len() - 5..], tail, "{kinds:?}");
    let unknown_task = world.put(&restart, &json!({"TaskName": "nobody"})).await;
    let expected = "Could not find task runner for task: nobody";
    assert_eq!((unknown_task.status, unknown_task.text().as_str()), (500, expected));
    let unknown = world.put(&format!("/v1/client/allocation/{UNKNOWN}/restart"), &json!({})).await;
    assert_eq!((unknown.status, unknown.text()), (404, format!("Unknown allocation {UNKNOWN:?}")));
    // What has ended for good does not come back, and PUT alone will do.
    let id = path.rsplit('/').next().unwrap();
    world.put(&format!("/v1/allocation/{id}/stop"), &json!({})).await.json();
    until_status(&world, id, "complete").await;
    assert_eq!(world.get(&restart).await.status, 405, "a picture in a web page is no request to restart");
    let over = world.put(&restart, &json!({})).await;
    assert_eq!((over.status, over.text().as_str()), (500, "1 error occurred:\n\t* Task not running\n\n"));
    let over = world.put(&format!("{path}/signal"), &json!({"Signal": "SIGHUP"})).await;
    let expected = "1 error occurred:\n\t* Failed to signal task: httpd, err: Task not running\n\n";
    assert_eq!((over.status, over.text().as_str()), (500, expected));
    world.close().await;
}

async fn until_status(world: &World, id: &str, status: &str) -> Value {
    let mut index = 0;
    loop {
        let answer = world.get(&format!("/v1/allocation/{id}?index={index}&wait=30s")).await;
        if answer.json()["ClientStatus"] == status {
            return answer.json();
        }
        index = answer.index();
    }
}

/// Each way, of what runs and of what is waiting for its delay already.
#[tokio::test]
async fn an_end_waits_for_no_shutdown_delay_when_a_person_says_so() {
    let world = World::new().await;
    let mut job = shop("web");
    job["TaskGroups"][0]["Count"] = json!(1);
    job["TaskGroups"][0]["ShutdownDelay"] = json!(3_600_000_000_000_u64);
    job["TaskGroups"][0]["Tasks"][0]["ShutdownDelay"] = json!(1_800_000_000_000_u64);
    world.run(&job).await;
    world.all_run().await;
    let first = world.allocations("web").await[0]["ID"].as_str().unwrap().to_owned();
    let transition = world.get(&format!("/v1/allocation/{first}")).await.json()["DesiredTransition"].clone();
    assert_eq!(transition["NoShutdownDelay"], Value::Null);
    world.put(&format!("/v1/allocation/{first}/stop?no_shutdown_delay=true"), &json!({})).await.json();
    let over = until_status(&world, &first, "complete").await;
    assert_eq!(over["DesiredTransition"]["NoShutdownDelay"], true);

    let next = over["NextAllocation"].as_str().unwrap();
    until_status(&world, next, "running").await;
    world.ask("DELETE", "/v1/job/web", Body::empty()).await.json();
    let told = async {
        let mut index = 0;
        loop {
            let answer = world.get(&format!("/v1/allocation/{next}?index={index}&wait=30s")).await;
            if answer.json()["DesiredStatus"] == "stop" {
                return;
            }
            index = answer.index();
        }
    };
    told.await;
    assert_eq!(world.get(&format!("/v1/allocation/{next}")).await.json()["ClientStatus"], "running");
    world.ask("DELETE", "/v1/job/web?no_shutdown_delay=true", Body::empty()).await.json();
    until_status(&world, next, "complete").await;
    world.close().await;
}

#[tokio::test]
async fn a_restart_is_answered_when_it_has_happened() {
    let (world, path) = world().await;
    let restart = format!("{path}/restart");
    world.driver.hold_starts();
    let everything = json!({});
    let answered = {
        let mut answer = std::pin::pin!(world.put(&restart, &everything));
        // Until the task waits to be started anew, no answer has come.
        tokio::select! {
            early = &mut answer => panic!("{early:?}"),
            () = async {
                while world.driver.held() == 0 {
                    tokio::task::yield_now().await;
                }
            } => {}
        }
        world.driver.let_start();
        answer.await
    };
    assert_eq!(answered.json(), json!({"Index": 0}));
    assert_eq!(until_restarts(&world, &path, 1).await["State"], "running");

    world.driver.fail_starts("could not start: no such runtime");
    let failed = world.put(&restart, &json!({"TaskName": "httpd"})).await;
    let expected = "1 error occurred:\n\t* Failed to restart task: httpd, err: it ended and does not start again: could not start: no such runtime\n\n";
    assert_eq!((failed.status, failed.text().as_str()), (500, expected));
    world.close().await;
}

#[tokio::test]
async fn what_is_not_measured_is_an_empty_answer() {
    let (world, path) = world().await;
    let nothing = world.get(&format!("{path}/stats")).await.json();
    assert_eq!(nothing["Tasks"], json!({}));
    assert_eq!(nothing["Timestamp"], 0);
    let sum = &nothing["ResourceUsage"];
    assert_eq!((&sum["CpuStats"]["Measured"], &sum["DeviceStats"]), (&Value::Null, &json!([])));
    let unknown = world.get(&format!("/v1/client/allocation/{UNKNOWN}/stats")).await;
    assert_eq!((unknown.status, unknown.text()), (404, format!("Unknown allocation {UNKNOWN:?}")));
    world.close().await;
}
