//! Each answer has the keys, and the JSON types behind them, that Nomad was recorded to answer with.

use std::path::Path;

use longshore_api::{Method, ROUTES};
use serde_json::{Value, json};

use crate::world::{World, shop};

/// Where an answer differs from the recorded one on purpose, and why. Paths are compared from their end.
const DIFFERENCES: &[(&str, &str)] =
    &[("011-agent-self.json.config", "the agent gives it, and compares it itself; here it is one line")];
/// Answers of which each part is there, always: a null in the place of something is a fault.
const WHOLE: &[&str] = &["011-agent-self.json", "015-agent-members.json", "036-client-stats-local.json"];
/// Maps whose keys are names that somebody chose: their values are compared, whatever the keys.
const NAMED: &[&str] = &[
    "Attributes",
    "ClassEligibility",
    "ClassExhausted",
    "DesiredTGUpdates",
    "Details",
    "Drivers",
    "Env",
    "FailedTGAllocs",
    "HostVolumes",
    "Labels",
    "Links",
    "Meta",
    "NodesAvailable",
    "QueuedAllocations",
    "ResourcesExhausted",
    "Scores",
    "Config",
    "TaskGroups",
    "Summary",
];

fn recorded(file: &str) -> Value {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../api/tests/recorded");
    let file: Value = serde_json::from_slice(&std::fs::read(folder.join(file)).unwrap()).unwrap();
    file["body"].clone()
}

/// Everything in which an answer does not have the recorded shape.
fn faults(file: &str, shown: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    compare(&recorded(file), shown, file, &mut faults);
    faults
}

#[track_caller]
fn check(file: &str, shown: &Value) {
    let faults = faults(file, shown);
    assert!(faults.is_empty(), "{}\nshown: {shown:#}", faults.join("\n"));
}

fn compare(recorded: &Value, shown: &Value, at: &str, faults: &mut Vec<String>) {
    if DIFFERENCES.iter().any(|(path, _)| at.ends_with(path)) {
        return;
    }
    match (recorded, shown) {
        (Value::Object(recorded), Value::Object(shown)) => {
            let last = at.rsplit('.').next().unwrap_or_default().trim_end_matches("[]");
            if NAMED.contains(&last) {
                if let (Some(one), Some(other)) = (recorded.values().next(), shown.values().next()) {
                    compare(one, other, &format!("{at}.*"), faults);
                }
                return;
            }
            for (key, value) in recorded {
                let at = format!("{at}.{key}");
                match shown.get(key) {
                    Some(other) => compare(value, other, &at, faults),
                    None if DIFFERENCES.iter().any(|(path, _)| at.ends_with(path)) => {}
                    None => faults.push(format!("{at} is missing")),
                }
            }
        }
        (Value::Array(recorded), Value::Array(shown)) => {
            if let (Some(one), Some(other)) = (recorded.first(), shown.first()) {
                compare(one, other, &format!("{at}[]"), faults);
            }
        }
        // What was not set then may be here, and the other way round.
        (Value::Null, _) => {}
        (_, Value::Null) if !WHOLE.iter().any(|file| at.starts_with(file)) => {}
        (one, other) if std::mem::discriminant(one) == std::mem::discriminant(other) => {}
        (one, other) => faults.push(format!("{at}: recorded {one}, shown {other}")),
    }
}

/// What is read, and the recording that it must have the keys of.
const READ: &[(&str, &str)] = &[
    ("/v1/jobs", "059-jobs-list-v0.json"),
    ("/v1/job/shop-web", "274-job-get-multi-task.json"),
    ("/v1/job/count", "218-job-get-batch.json"),
    ("/v1/job/shop-web/summary", "065-job-summary-v0.json"),
    ("/v1/job/shop-web/evaluations", "062-job-evaluations-v0.json"),
    ("/v1/job/shop-web/versions", "085-job-versions.json"),
    ("/v1/job/shop-web/versions?diffs=true", "086-job-versions-diffs.json"),
    ("/v1/job/shop-web/deployments", "072-deployments-list-v0.json"),
    ("/v1/job/shop-web/deployment", "073-deployment-get-v0.json"),
    ("/v1/job/shop-web/allocations", "068-allocations-list-v0.json"),
    ("/v1/deployments", "072-deployments-list-v0.json"),
    ("/v1/deployment/{deployment}", "073-deployment-get-v0.json"),
    ("/v1/deployment/allocations/{deployment}", "068-allocations-list-v0.json"),
    ("/v1/allocations", "068-allocations-list-v0.json"),
    ("/v1/allocations?resources=true", "136-allocations-list-resources.json"),
    ("/v1/allocation/{alloc}", "067-allocation-get-v0.json"),
    ("/v1/evaluations", "062-job-evaluations-v0.json"),
    ("/v1/evaluation/{eval}", "070-evaluation-get-v0.json"),
    ("/v1/evaluation/{eval}/allocations", "068-allocations-list-v0.json"),
    ("/v1/evaluation/{unplaced}", "253-evaluation-get-failed-placement.json"),
    ("/v1/evaluation/{blocked}", "252-evaluation-get-blocked.json"),
    ("/v1/job/big/summary", "262-job-summary-unplaceable.json"),
    ("/v1/nodes", "002-nodes-list-one.json"),
    ("/v1/nodes?resources=true", "030-nodes-list-resources.json"),
    ("/v1/node/{node}", "031-node-get.json"),
    ("/v1/agent/self", "011-agent-self.json"),
    ("/v1/agent/health", "012-agent-health.json"),
    ("/v1/agent/health?type=client", "013-agent-health-client.json"),
    ("/v1/agent/members", "015-agent-members.json"),
    ("/v1/namespaces", "007-namespaces-list.json"),
    ("/v1/metrics", "307-metrics.json"),
    ("/v1/client/stats", "036-client-stats-local.json"),
];

#[tokio::test]
async fn answers_have_the_recorded_shapes() {
    let world = World::new().await;
    let registered = world.run(&shop("shop-web")).await;
    check("366-job-register.json", &registered);
    world.all_run().await;
    // The deployment asks for another look once its allocations are healthy.
    world.settled(2).await;
    let alloc = world.allocations("shop-web").await[0]["ID"].as_str().unwrap().to_owned();
    let deployment = world.get("/v1/job/shop-web/deployment").await.json()["ID"].as_str().unwrap().to_owned();
    // Whole before the next version: its deployment has yet to hear that they are healthy.
    let of_node = world.get(&format!("/v1/node/{}/allocations", world.node)).await.json();
    let mut found = faults("067-allocation-get-v0.json", &of_node[0]);
    let mut changed = shop("shop-web");
    changed["Meta"] = json!({"team": "backoffice"});
    world.run(&changed).await;
    let mut batch = shop("count");
    (batch["Type"], batch["Update"]) = (json!("batch"), Value::Null);
    world.run(&batch).await;
    let mut big = shop("big");
    big["TaskGroups"][0]["Tasks"][0]["Resources"]["MemoryMB"] = json!(1 << 30);
    let unplaced = world.run(&big).await["EvalID"].as_str().unwrap().to_owned();
    let blocked = world.get(&format!("/v1/evaluation/{unplaced}")).await.json()["BlockedEval"].clone();

    let node = world.node.to_string();
    let ids = [
        ("{alloc}", alloc.as_str()),
        ("{deployment}", &deployment),
        ("{eval}", registered["EvalID"].as_str().unwrap()),
        ("{unplaced}", &unplaced),
        ("{blocked}", blocked.as_str().unwrap()),
        ("{node}", &node),
    ];
    for (path, file) in READ {
        let path = ids.iter().fold((*path).to_owned(), |path, (word, id)| path.replace(word, id));
        found.extend(faults(file, &world.get(&path).await.json()).into_iter().map(|fault| format!("{path}: {fault}")));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));

    let own = world.get("/v1/agent/self").await.json();
    assert_eq!(own["config"], json!({"Region": "global"}));
    assert_eq!(own["stats"]["client"]["node_id"], json!(world.node.to_string()));
    assert_eq!((&own["stats"]["nomad"]["leader"], &own["stats"]["raft"]["num_peers"]), (&json!("true"), &json!("0")));
    let search = world.put("/v1/search", &json!({"Prefix": "shop", "Context": "all"})).await.json();
    check("287-search-all.json", &search);
    assert_eq!(search["Matches"]["jobs"], json!(["shop-web"]));
    world.close().await;
}

#[tokio::test]
async fn plans_and_writes_have_the_recorded_shapes() {
    let world = World::new().await;
    world.run(&shop("shop-web")).await;
    world.all_run().await;
    world.settled(2).await;
    let alloc = world.allocations("shop-web").await[0]["ID"].as_str().unwrap().to_owned();
    let plan = |job: Value| json!({ "Job": job, "Diff": true });
    let with_memory = |mb: i64| {
        let mut job = shop("shop-web");
        job["TaskGroups"][0]["Tasks"][0]["Resources"]["MemoryMB"] = json!(mb);
        job
    };
    let planned = async |job: Value| {
        let path = format!("/v1/job/{}/plan", job["ID"].as_str().unwrap());
        world.put(&path, &plan(job)).await.json()
    };
    check("078-job-plan-web-resources.json", &planned(with_memory(48)).await);
    check("080-job-plan-web-toobig.json", &planned(with_memory(1 << 30)).await);
    check("058-job-plan-new.json", &planned(shop("shop-new")).await);
    check("057-validate-job.json", &world.put("/v1/validate/job", &json!({ "Job": shop("x") })).await.json());
    check(
        "420-job-evaluate.json",
        &world.put("/v1/job/shop-web/evaluate", &json!({ "JobID": "shop-web" })).await.json(),
    );
    let stable = json!({ "JobID": "shop-web", "JobVersion": 0, "Stable": true });
    check("408-job-stable.json", &world.put("/v1/job/shop-web/stable", &stable).await.json());
    world.run(&with_memory(48)).await;
    let back = json!({ "JobID": "shop-web", "JobVersion": 0 });
    check("413-job-revert.json", &world.put("/v1/job/shop-web/revert", &back).await.json());
    let stopped = world.put(&format!("/v1/allocation/{alloc}/stop"), &json!({})).await.json();
    check("122-allocation-stop.json", &stopped);
    check("442-job-deregister.json", &world.ask("DELETE", "/v1/job/shop-web", axum::body::Body::empty()).await.json());
    world.close().await;
}

#[test]
fn what_is_missing_is_found() {
    let file = "036-client-stats-local.json";
    let mut shown = recorded(file);
    assert_eq!(faults(file, &shown), Vec::<String>::new());
    shown["CPU"][0].as_object_mut().unwrap().remove("Total");
    shown["AllocDirStats"]["Device"] = Value::Null;
    shown["Uptime"] = json!("7875");
    assert_eq!(
        faults(file, &shown),
        [
            format!("{file}.AllocDirStats.Device: recorded \"\", shown null"),
            format!("{file}.CPU[].Total is missing"),
            format!("{file}.Uptime: recorded 7875, shown \"7875\""),
        ]
    );
}

/// Every promised route is there: it answers something else than "no such path" and "not this way".
#[tokio::test]
async fn every_promised_route_is_served() {
    let world = World::new().await;
    world.run(&shop("shop-web")).await;
    for route in ROUTES {
        let path = route
            .path
            .replace("{job}", "shop-web")
            .replace("{name}", "redis:7")
            .replace("{namespace}", "default")
            .replace("{node}", &world.node.to_string());
        let path = ["{alloc}", "{eval}", "{deployment}"]
            .iter()
            .fold(path, |path, id| path.replace(id, "12345678-abcd-efab-cdef-123456789abc"));
        let methods: &[&str] = match route.method {
            Method::Get => &["GET"],
            Method::Write => &["PUT", "POST"],
            Method::Delete => &["DELETE"],
        };
        for method in methods {
            let answer = world.ask(method, &path, axum::body::Body::empty()).await;
            assert!(answer.status != 405, "{method} {path}");
            assert!(answer.status != 404 || !answer.body.is_empty(), "{method} {path} is not served");
        }
    }
    world.close().await;
}
