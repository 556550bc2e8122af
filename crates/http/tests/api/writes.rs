//! Writes change what reads show.

use axum::body::Body;
use serde_json::json;

use crate::world::{World, shop};

#[tokio::test]
async fn a_job_lives_through_versions_revert_stop_and_purge() {
    let world = World::new().await;
    let first = world.run(&shop("a/b")).await;
    let job = world.get("/v1/job/a%2Fb").await.json();
    assert_eq!((&job["ID"], &job["Version"], &job["Stop"]), (&json!("a/b"), &json!(0), &json!(false)));
    assert_eq!(job["JobModifyIndex"], first["JobModifyIndex"]);
    assert_eq!(job["TaskGroups"][0]["Tasks"][0]["KillTimeout"], json!(5_000_000_000_i64), "defaults are filled in");

    let mut changed = shop("a/b");
    changed["TaskGroups"][0]["Tasks"][0]["Env"]["GREETING"] = json!("bye");
    let registered = world.put("/v1/job/a/b", &json!({ "Job": changed })).await.json();
    world.evaluated(registered["EvalID"].as_str().unwrap()).await;
    let versions = world.get("/v1/job/a/b/versions?diffs=true").await.json();
    assert_eq!(versions["Versions"].as_array().unwrap().len(), 2);
    assert_eq!(versions["Versions"][0]["Version"], 1);
    assert_eq!(versions["Diffs"][0]["Type"], "Edited");

    let reverted = world.put("/v1/job/a/b/revert", &json!({"JobID": "a/b", "JobVersion": 0})).await.json();
    assert_ne!(reverted["EvalID"], "");
    let job = world.get("/v1/job/a/b").await.json();
    assert_eq!((&job["Version"], &job["TaskGroups"][0]["Tasks"][0]["Env"]["GREETING"]), (&json!(2), &json!("hello")));

    let answer = world.put("/v1/job/a/b/stable", &json!({"JobID": "a/b", "JobVersion": 2, "Stable": true})).await;
    assert_eq!(answer.index(), answer.json()["Index"].as_u64().unwrap());
    assert_eq!(world.get("/v1/job/a/b").await.json()["Stable"], true);

    let evaluated = world.ask("PUT", "/v1/job/a/b/evaluate", Body::empty()).await.json();
    assert_ne!(evaluated["EvalID"], "");

    let stopped = world.ask("DELETE", "/v1/job/a/b", Body::empty()).await.json();
    world.evaluated(stopped["EvalID"].as_str().unwrap()).await;
    let job = world.get("/v1/job/a/b").await.json();
    assert_eq!((&job["Stop"], &job["Status"]), (&json!(true), &json!("dead")));
    let evals = world.get("/v1/job/a/b/evaluations").await.json();
    assert_eq!(evals[0]["TriggeredBy"], "job-deregister", "newest first");

    world.ask("DELETE", "/v1/job/a/b?purge=true", Body::empty()).await.json();
    assert_eq!(world.get("/v1/job/a/b").await.status, 404);
    let unknown = world.ask("DELETE", "/v1/job/a/b", Body::empty()).await.json();
    assert_eq!(unknown["EvalID"], "");
    world.close().await;
}

#[tokio::test]
async fn what_a_driver_of_this_node_does_not_understand_is_refused() {
    let world = World::new().await;
    let mut job = shop("web");
    job["TaskGroups"][0]["Tasks"][0]["Config"]["colour"] = json!("red");
    let told =
        "1 error occurred:\n\t* group \"web\" → task \"httpd\" → config: `colour` is no option of this driver\n\n";
    for path in ["/v1/jobs", "/v1/job/web", "/v1/job/web/plan"] {
        let answer = world.put(path, &json!({ "Job": job })).await;
        assert_eq!((answer.status, answer.text().as_str()), (400, told), "{path}");
    }
    let validated = world.put("/v1/validate/job", &json!({ "Job": job })).await.json();
    assert_eq!((&validated["Error"], &validated["Faults"]), (&json!(told), &json!(null)));
    // Who asks for it learns which part of the job each fault is about.
    let fault = json!({
        "Path": "group \"web\" → task \"httpd\" → config → colour",
        "Message": "group \"web\" → task \"httpd\" → config: `colour` is no option of this driver",
    });
    for path in ["/v1/jobs", "/v1/job/web", "/v1/job/web/plan"] {
        let answer = world.put(&format!("{path}?faults=json"), &json!({ "Job": job })).await;
        assert_eq!(answer.status, 400, "{path}");
        let shown: serde_json::Value = serde_json::from_str(&answer.text()).unwrap();
        assert_eq!(shown, json!({"Error": told, "Faults": [fault]}), "{path}");
    }
    let validated = world.put("/v1/validate/job?faults=json", &json!({ "Job": job })).await.json();
    assert_eq!((&validated["Error"], &validated["Faults"]), (&json!(told), &json!([fault])));
    assert_eq!(world.get("/v1/jobs").await.text(), "[]");
    // A driver that this node does not have may be another's.
    job["TaskGroups"][0]["Tasks"][0]["Driver"] = json!("java");
    assert_eq!(world.put("/v1/jobs", &json!({ "Job": job })).await.status, 200);
    world.close().await;
}

#[tokio::test]
async fn a_job_without_room_tells_why() {
    let world = World::new().await;
    let mut big = shop("big-cache");
    big["TaskGroups"][0]["Tasks"][0]["Resources"]["MemoryMB"] = json!(500_000);
    let planned = world.put("/v1/job/big-cache/plan", &json!({ "Job": big })).await.json();
    assert_eq!(planned["FailedTGAllocs"]["web"]["DimensionExhausted"], json!({"memory": 1}));
    assert_eq!(planned["Diff"], json!(null));
    let registered = world.run(&big).await;
    let eval =
        world.get(&format!("/v1/evaluation/{}?related=true", registered["EvalID"].as_str().unwrap())).await.json();
    assert_eq!(eval["FailedTGAllocs"]["web"]["NodesExhausted"], 1);
    assert_eq!(eval["RelatedEvals"][0]["ID"], eval["BlockedEval"]);
    let blocked = world.get("/v1/evaluations?status=blocked").await.json();
    assert_eq!(blocked.as_array().unwrap().len(), 1);
    assert_eq!(blocked[0]["ID"], eval["BlockedEval"]);
    world.close().await;
}

#[tokio::test]
async fn names_in_any_case_are_read() {
    let world = World::new().await;
    let body = json!({"job": {"id": "low", "name": "low", "datacenters": ["dc1"], "type": "batch", "taskgroups": [
        {"name": "g", "tasks": [{"name": "t", "driver": "mock_driver", "config": {"run_for": "1s"}}]}
    ]}});
    let registered = world.put("/v1/jobs", &body).await.json();
    assert_ne!(registered["EvalID"], "");
    let job = world.get("/v1/job/low").await.json();
    assert_eq!(job["TaskGroups"][0]["Tasks"][0]["Config"], json!({"run_for": "1s"}));
    world.close().await;
}

#[tokio::test]
async fn counts_may_be_kept() {
    let world = World::new().await;
    world.run(&shop("web")).await;
    let mut job = shop("web");
    job["TaskGroups"][0]["Count"] = json!(5);
    world.put("/v1/jobs", &json!({"Job": job, "PreserveCounts": true})).await.json();
    assert_eq!(world.get("/v1/job/web").await.json()["TaskGroups"][0]["Count"], 2);
    world.put("/v1/jobs", &json!({"Job": job})).await.json();
    assert_eq!(world.get("/v1/job/web").await.json()["TaskGroups"][0]["Count"], 5);
    world.close().await;
}

#[tokio::test]
async fn lists_come_in_pages_and_by_prefix() {
    let world = World::new().await;
    for id in ["alpha", "beta", "bets"] {
        world.run(&shop(id)).await;
    }
    let ids = |list: serde_json::Value| -> Vec<String> {
        list.as_array().unwrap().iter().map(|job| job["ID"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(ids(world.get("/v1/jobs?prefix=bet").await.json()), ["beta", "bets"]);
    let first = world.get("/v1/jobs?per_page=2").await;
    assert_eq!(
        (ids(first.json()), first.header("x-nomad-nexttoken")),
        (vec!["alpha".into(), "beta".into()], "default.bets")
    );
    let next = world.get("/v1/jobs?per_page=2&next_token=default.bets").await;
    assert_eq!((ids(next.json()), next.header("x-nomad-nexttoken")), (vec!["bets".into()], ""));
    let meta = world.get("/v1/jobs?prefix=alpha&meta=true&namespace=*").await.json();
    assert_eq!(meta[0]["Meta"], json!({"team": "storefront"}));
    let alloc = world.allocations("beta").await[0]["ID"].as_str().unwrap().to_owned();
    let found = world.get(&format!("/v1/allocations?prefix={}", &alloc[..8])).await.json();
    assert_eq!(found[0]["ID"], json!(alloc));
    world.close().await;
}

#[tokio::test]
async fn a_node_can_be_set_aside() {
    let world = World::new().await;
    let path = format!("/v1/node/{}/eligibility", world.node);
    let set = world.put(&path, &json!({"Eligibility": "ineligible"})).await;
    assert_eq!(set.json()["NodeModifyIndex"].as_u64(), Some(set.index()));
    assert_eq!(world.get(&format!("/v1/node/{}", world.node)).await.json()["SchedulingEligibility"], "ineligible");
    let registered = world.run(&shop("web")).await;
    let eval = world.evaluated(registered["EvalID"].as_str().unwrap()).await;
    assert_ne!(eval["BlockedEval"], json!(null), "nothing is placed on it");
    let set = world.put(&path, &json!({"Eligibility": "eligible"})).await;
    assert_eq!(set.status, 200);
    world.allocated("web", 2).await;
    let bad = world.put(&path, &json!({"Eligibility": "maybe"})).await;
    assert_eq!((bad.status, bad.text().as_str()), (500, "invalid scheduling eligibility \"maybe\""));
    let evaluated = world.ask("PUT", &format!("/v1/node/{}/evaluate", world.node), Body::empty()).await.json();
    assert_eq!(evaluated["EvalIDs"].as_array().unwrap().len(), 1, "{evaluated}");
    world.close().await;
}

#[tokio::test]
async fn system_gc_forgets_what_has_ended() {
    let world = World::new().await;
    world.run(&shop("web")).await;
    let stopped = world.ask("DELETE", "/v1/job/web", Body::empty()).await.json();
    world.evaluated(stopped["EvalID"].as_str().unwrap()).await;
    let answer = world.ask("PUT", "/v1/system/gc", Body::empty()).await;
    assert_eq!((answer.status, answer.text().as_str()), (200, ""));
    world.close().await;
}
