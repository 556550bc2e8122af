//! Each answer has the keys, and the JSON types behind them, that Nomad was recorded to answer with.

use std::path::Path;

use longshore_api::{Method, ROUTES};
use serde_json::{Value, json};

use crate::world::{World, shop};

/// What only versions before 1.6 wrote.
const GONE_SINCE: &[&str] = &[".CPU[].Total"];
/// Maps whose keys are names that somebody chose: their values are compared, whatever the keys.
const NAMED: &[&str] = &[
    "Attributes",
    "Details",
    "Drivers",
    "Env",
    "HostVolumes",
    "Labels",
    "Links",
    "Meta",
    "NodesAvailable",
    "Scores",
    "Config",
    "TaskGroups",
    "Summary",
    "stats",
    "config",
    "Tags",
];

fn recorded(file: &str) -> Value {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../api/tests/recorded");
    let file: Value = serde_json::from_slice(&std::fs::read(folder.join(file)).unwrap()).unwrap();
    file["body"].clone()
}

#[track_caller]
fn check(file: &str, shown: &Value) {
    check_against(&recorded(file), shown, file);
}

#[track_caller]
fn check_against(recorded: &Value, shown: &Value, file: &str) {
    let mut faults = Vec::new();
    compare(recorded, shown, "", &mut faults);
    assert!(faults.is_empty(), "{file}:\n{}\nshown: {shown:#}", faults.join("\n"));
}

fn compare(recorded: &Value, shown: &Value, at: &str, faults: &mut Vec<String>) {
    match (recorded, shown) {
        (Value::Null, _) | (_, Value::Null) => {}
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
                    None if GONE_SINCE.iter().any(|gone| at.ends_with(gone)) => {}
                    None => faults.push(format!("{at} is missing")),
                }
            }
        }
        (Value::Array(recorded), Value::Array(shown)) => {
            if let (Some(one), Some(other)) = (recorded.first(), shown.first()) {
                compare(one, other, &format!("{at}[]"), faults);
            }
        }
        (one, other) if std::mem::discriminant(one) == std::mem::discriminant(other) => {}
        (one, other) => faults.push(format!("{at}: recorded {one}, shown {other}")),
    }
}

#[tokio::test]
async fn answers_have_the_recorded_shapes() {
    let world = World::new().await;
    let registered = world.run(&shop("shop-web")).await;
    check("366-job-register.json", &registered);
    world.all_run().await;
    // The deployment asks for another look once its allocations are healthy.
    world.settled(2).await;

    let get = async |path: &str| world.get(path).await.json();
    check("059-jobs-list-v0.json", &get("/v1/jobs").await);
    check("274-job-get-multi-task.json", &get("/v1/job/shop-web").await);
    check("065-job-summary-v0.json", &get("/v1/job/shop-web/summary").await);
    check("062-job-evaluations-v0.json", &get("/v1/job/shop-web/evaluations").await);
    check("085-job-versions.json", &get("/v1/job/shop-web/versions").await);
    check("072-deployments-list-v0.json", &get("/v1/job/shop-web/deployments").await);
    check("072-deployments-list-v0.json", &get("/v1/deployments").await);
    let deployment = get("/v1/job/shop-web/deployment").await;
    check("073-deployment-get-v0.json", &deployment);
    let deployment = deployment["ID"].as_str().unwrap().to_owned();
    check("073-deployment-get-v0.json", &get(&format!("/v1/deployment/{deployment}")).await);
    check("068-allocations-list-v0.json", &get(&format!("/v1/deployment/allocations/{deployment}")).await);
    check("068-allocations-list-v0.json", &get("/v1/allocations").await);
    check("136-allocations-list-resources.json", &get("/v1/allocations?resources=true").await);
    check("068-allocations-list-v0.json", &get("/v1/job/shop-web/allocations").await);
    let alloc = world.allocations("shop-web").await[0]["ID"].as_str().unwrap().to_owned();
    check("067-allocation-get-v0.json", &get(&format!("/v1/allocation/{alloc}")).await);
    let eval = registered["EvalID"].as_str().unwrap();
    check("070-evaluation-get-v0.json", &get(&format!("/v1/evaluation/{eval}")).await);
    check("068-allocations-list-v0.json", &get(&format!("/v1/evaluation/{eval}/allocations")).await);
    check("062-job-evaluations-v0.json", &get("/v1/evaluations").await);

    check("002-nodes-list-one.json", &get("/v1/nodes").await);
    check("030-nodes-list-resources.json", &get("/v1/nodes?resources=true").await);
    check("031-node-get.json", &get(&format!("/v1/node/{}", world.node)).await);
    let whole = get(&format!("/v1/node/{}/allocations", world.node)).await;
    check("067-allocation-get-v0.json", &whole[0]);

    // The configuration is the agent's to give; here it is one line.
    let own = get("/v1/agent/self").await;
    assert_eq!(own["config"], json!({"Region": "global"}));
    let mut recorded_self = recorded("011-agent-self.json");
    for area in ["config", "stats"] {
        recorded_self.as_object_mut().unwrap().remove(area);
    }
    check_against(&recorded_self, &own, "011-agent-self.json");
    assert_eq!(own["stats"]["client"]["node_id"], json!(world.node.to_string()));
    assert_eq!(own["stats"]["nomad"]["leader"], "true");
    check("012-agent-health.json", &get("/v1/agent/health").await);
    check("013-agent-health-client.json", &get("/v1/agent/health?type=client").await);
    check("015-agent-members.json", &get("/v1/agent/members").await);
    check("007-namespaces-list.json", &get("/v1/namespaces").await);
    check("307-metrics.json", &get("/v1/metrics").await);
    check("036-client-stats-local.json", &get("/v1/client/stats").await);
    let search = world.put("/v1/search", &json!({"Prefix": "shop", "Context": "all"})).await.json();
    check("287-search-all.json", &search);
    assert_eq!(search["Matches"]["jobs"], json!(["shop-web"]));

    let plan = |job: Value| json!({ "Job": job, "Diff": true });
    let mut changed = shop("shop-web");
    changed["TaskGroups"][0]["Tasks"][0]["Resources"]["MemoryMB"] = json!(48);
    let planned = world.put("/v1/job/shop-web/plan", &plan(changed)).await.json();
    check("078-job-plan-web-resources.json", &planned);
    check("058-job-plan-new.json", &world.put("/v1/job/shop-new/plan", &plan(shop("shop-new"))).await.json());
    check("057-validate-job.json", &world.put("/v1/validate/job", &json!({ "Job": shop("x") })).await.json());
    let stopped = world.put(&format!("/v1/allocation/{alloc}/stop"), &json!({})).await.json();
    check("122-allocation-stop.json", &stopped);
    check("442-job-deregister.json", &world.ask("DELETE", "/v1/job/shop-web", axum::body::Body::empty()).await.json());
    world.close().await;
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
