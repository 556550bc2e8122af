//! Errors: their status and their words, as clients know them.

use axum::body::Body;
use serde_json::{Value, json};

use crate::world::{World, shop};

const UNKNOWN: &str = "12345678-abcd-efab-cdef-123456789abc";

#[tokio::test]
async fn words_and_codes() {
    let world = World::new().await;
    world.run(&shop("api-web")).await;
    let body = |job: &str| json!({ "JobID": job, "JobVersion": 0 }).to_string();
    let other_job = json!({ "Job": shop("other") }).to_string();
    let rows: Vec<(&str, String, String, u16, &str)> = vec![
        ("GET", "/v1/nothing".into(), "".into(), 404, ""),
        ("GET", "/nothing".into(), "".into(), 404, ""),
        // Ids
        (
            "GET",
            "/v1/node/70536901".into(),
            "".into(),
            500,
            "node lookup failed: index error: UUID must be 36 characters",
        ),
        ("GET", format!("/v1/node/{UNKNOWN}"), "".into(), 404, "node not found"),
        (
            "GET",
            "/v1/allocation/not-an-id".into(),
            "".into(),
            500,
            "alloc lookup failed: index error: UUID must be 36 characters",
        ),
        ("GET", format!("/v1/allocation/{UNKNOWN}"), "".into(), 404, "alloc not found"),
        (
            "GET",
            "/v1/allocations?prefix=3ed6628".into(),
            "".into(),
            500,
            "alloc lookup failed: index error: Input (without hyphens) must be even length",
        ),
        (
            "GET",
            "/v1/allocations?prefix=zz".into(),
            "".into(),
            500,
            "alloc lookup failed: index error: Invalid UUID: encoding/hex: invalid byte: U+007A 'z'",
        ),
        (
            "GET",
            "/v1/allocations?resources=perhaps".into(),
            "".into(),
            500,
            "Failed to parse value of \"resources\" (perhaps) as a bool: strconv.ParseBool: parsing \"perhaps\": invalid syntax",
        ),
        ("GET", format!("/v1/evaluation/{UNKNOWN}"), "".into(), 404, "eval not found"),
        (
            "GET",
            "/v1/evaluation/69dad10b".into(),
            "".into(),
            500,
            "eval lookup failed: index error: UUID must be 36 characters",
        ),
        ("GET", format!("/v1/deployment/{UNKNOWN}"), "".into(), 404, "deployment not found"),
        ("PUT", format!("/v1/allocation/{UNKNOWN}/stop"), "".into(), 404, "allocation not found"),
        (
            "PUT",
            "/v1/allocation/95de016c/stop".into(),
            "".into(),
            500,
            "alloc lookup failed: index error: UUID must be 36 characters",
        ),
        ("PUT", format!("/v1/deployment/fail/{UNKNOWN}"), "".into(), 500, "deployment not found"),
        (
            "PUT",
            format!("/v1/deployment/pause/{UNKNOWN}"),
            "{\"Pause\": true}".into(),
            400,
            "DeploymentID must be specified",
        ),
        (
            "PUT",
            format!("/v1/deployment/pause/{UNKNOWN}"),
            "{\"DeploymentID\": \"x\"}".into(),
            400,
            "Deployment ID does not match",
        ),
        ("PUT", format!("/v1/deployment/promote/{UNKNOWN}"), "".into(), 400, "Request body is empty"),
        // Methods
        ("GET", format!("/v1/deployment/fail/{UNKNOWN}"), "".into(), 405, "Invalid method"),
        ("GET", format!("/v1/allocation/{UNKNOWN}/stop"), "".into(), 405, "Invalid method"),
        ("DELETE", "/v1/jobs".into(), "".into(), 405, "Invalid method"),
        ("PATCH", "/v1/job/api-web".into(), "".into(), 405, "Invalid method"),
        ("GET", "/v1/job/api-web/plan".into(), "".into(), 405, "Invalid method"),
        ("GET", "/v1/validate/job".into(), "".into(), 405, "Invalid method"),
        ("GET", "/v1/jobs/parse".into(), "".into(), 405, "Invalid method"),
        ("GET", "/v1/system/gc".into(), "".into(), 405, "Invalid method"),
        ("GET", "/v1/search".into(), "".into(), 405, "Invalid method"),
        // Reads
        ("GET", "/v1/jobs?index=abc".into(), "".into(), 400, "Invalid index"),
        ("GET", "/v1/jobs?index=5&wait=abc".into(), "".into(), 400, "Invalid wait time"),
        ("GET", "/v1/jobs?region=mars".into(), "".into(), 500, "No path to region"),
        ("GET", "/v1/namespace/nowhere".into(), "".into(), 404, "Namespace not found"),
        ("GET", "/v1/job/".into(), "".into(), 404, "job not found"),
        ("GET", "/v1/job/nothing-here".into(), "".into(), 404, "job not found"),
        ("GET", "/v1/job/nothing-here/summary".into(), "".into(), 404, "job not found"),
        ("GET", "/v1/job/nothing-here/versions".into(), "".into(), 404, "job versions not found"),
        ("GET", "/v1/job/api-web/submission?version=0".into(), "".into(), 404, "job not found"),
        ("GET", "/v1/job/nothing-here/allocations".into(), "".into(), 200, "[]"),
        ("GET", "/v1/job/nothing-here/evaluations".into(), "".into(), 200, "[]"),
        ("GET", "/v1/job/nothing-here/deployments".into(), "".into(), 200, "[]"),
        ("GET", "/v1/job/nothing-here/deployment".into(), "".into(), 200, "null"),
        ("GET", format!("/v1/deployment/allocations/{UNKNOWN}"), "".into(), 200, "[]"),
        ("GET", format!("/v1/evaluation/{UNKNOWN}/allocations"), "".into(), 200, "[]"),
        ("GET", "/v1/jobs?namespace=other".into(), "".into(), 200, "[]"),
        // Registration
        ("PUT", "/v1/jobs".into(), "".into(), 400, "Request body is empty"),
        ("PUT", "/v1/jobs".into(), "{}".into(), 400, "Job must be specified"),
        ("PUT", "/v1/jobs".into(), "{\"Job\": {}}".into(), 400, "Job ID hasn't been provided"),
        (
            "PUT",
            "/v1/jobs".into(),
            "{\"Job\": {".into(),
            400,
            "the request body could not be read: EOF while parsing an object at line 1 column 9",
        ),
        (
            "PUT",
            "/v1/jobs".into(),
            "{\"Job\": {\"ID\": 5}}".into(),
            400,
            "the request body could not be read: Job.ID: invalid type: integer `5`, expected a string",
        ),
        ("POST", "/v1/job/api-other".into(), other_job.clone(), 400, "Job ID does not match name"),
        (
            "PUT",
            "/v1/jobs".into(),
            json!({"Job": shop("api-web"), "EnforceIndex": true}).to_string(),
            500,
            "Enforcing job modify index 0: job already exists",
        ),
        (
            "PUT",
            "/v1/jobs".into(),
            json!({"Job": shop("new"), "EnforceIndex": true, "JobModifyIndex": 7}).to_string(),
            500,
            "Enforcing job modify index 7: job does not exist",
        ),
        (
            "PUT",
            "/v1/jobs".into(),
            json!({"Job": shop("new"), "EvalPriority": 101}).to_string(),
            400,
            "Eval priority must be between 1 and 100 inclusively",
        ),
        ("PUT", "/v1/job/api-web/plan".into(), "".into(), 400, "Request body is empty"),
        ("PUT", "/v1/job/api-web/plan".into(), other_job, 400, "Job ID does not match"),
        ("PUT", "/v1/job/api-web/plan".into(), "{}".into(), 400, "Job must be specified"),
        ("PUT", "/v1/jobs/parse".into(), "{\"JobHCL\": \"\"}".into(), 400, "Job spec is empty"),
        (
            "PUT",
            "/v1/job/api-web/stable".into(),
            json!({"JobID": "api-web", "JobVersion": 99}).to_string(),
            500,
            "job \"api-web\" in namespace \"default\" at version 99 not found",
        ),
        ("PUT", "/v1/job/api-web/stable".into(), body("other"), 400, "Job ID does not match"),
        ("PUT", "/v1/job/api-web/revert".into(), body("api-web"), 500, "can't revert to current version"),
        ("PUT", "/v1/job/nothing-here/revert".into(), body("nothing-here"), 500, "job \"nothing-here\" not found"),
        ("PUT", "/v1/job/api-web/evaluate".into(), body("other"), 400, "JobID not same as job name"),
        ("PUT", "/v1/job/nothing-here/evaluate".into(), body("nothing-here"), 500, "job not found"),
        (
            "DELETE",
            "/v1/job/nothing-here?purge=perhaps".into(),
            "".into(),
            500,
            "Failed to parse value of \"purge\" (perhaps) as a bool: strconv.ParseBool: parsing \"perhaps\": invalid syntax",
        ),
        // Search
        ("PUT", "/v1/search".into(), "".into(), 400, "Request body is empty"),
        (
            "PUT",
            "/v1/search".into(),
            "{\"Prefix\": \"x\"}".into(),
            500,
            "context must be one of [allocs jobs nodes node_pools evals deployment plugins volumes scaling_policy vars namespaces] or 'all' for all contexts; got \"\"",
        ),
        // Logs
        ("GET", "/v1/client/fs/logs/".into(), "".into(), 400, "must provide a valid alloc id"),
        ("GET", format!("/v1/client/fs/logs/{UNKNOWN}?type=stdout"), "".into(), 400, "must provide task name"),
        (
            "GET",
            format!("/v1/client/fs/logs/{UNKNOWN}?task=t"),
            "".into(),
            400,
            "must provide log type (stdout/stderr)",
        ),
        (
            "GET",
            format!("/v1/client/fs/logs/{UNKNOWN}?task=t&type=stdboth"),
            "".into(),
            400,
            "must provide log type (stdout/stderr)",
        ),
        (
            "GET",
            format!("/v1/client/fs/logs/{UNKNOWN}?task=t&type=stdout&follow=perhaps"),
            "".into(),
            400,
            "failed to parse follow field to boolean: strconv.ParseBool: parsing \"perhaps\": invalid syntax",
        ),
        (
            "GET",
            format!("/v1/client/fs/logs/{UNKNOWN}?task=t&type=stdout&origin=middle"),
            "".into(),
            400,
            "origin must be start or end",
        ),
        (
            "GET",
            format!("/v1/client/fs/logs/{UNKNOWN}?task=t&type=stdout"),
            "".into(),
            404,
            "Unknown allocation \"12345678-abcd-efab-cdef-123456789abc\"",
        ),
        (
            "GET",
            "/v1/client/fs/logs/6147b8ca?task=t&type=stdout".into(),
            "".into(),
            500,
            "alloc lookup failed: index error: UUID must be 36 characters",
        ),
        (
            "GET",
            format!("/v1/client/stats?node_id={UNKNOWN}"),
            "".into(),
            404,
            "Unknown node \"12345678-abcd-efab-cdef-123456789abc\"",
        ),
    ];
    for (method, path, body, status, text) in rows {
        let answer = world.ask(method, &path, Body::from(body)).await;
        assert_eq!((answer.status, answer.text().as_str()), (status, text), "{method} {path}");
        let streams = path.contains("/fs/logs/") && (status == 404 || status == 500);
        if status >= 400 && !text.is_empty() && !streams {
            assert_eq!(answer.header("content-type"), "text/plain; charset=utf-8", "{method} {path}");
        }
    }
    world.close().await;
}

#[tokio::test]
async fn what_is_not_there_tells_the_index_of_its_table() {
    let world = World::new().await;
    world.run(&shop("api-web")).await;
    for path in ["/v1/job/nothing-here".to_owned(), format!("/v1/evaluation/{UNKNOWN}"), format!("/v1/node/{UNKNOWN}")]
    {
        let answer = world.get(&path).await;
        assert_eq!(answer.status, 404);
        assert!(answer.index() >= 1, "{path}");
        assert_eq!((answer.header("x-nomad-knownleader"), answer.header("x-nomad-lastcontact")), ("true", "0"));
    }
    world.close().await;
}

#[tokio::test]
async fn a_job_with_faults_is_refused_with_every_reason() {
    let world = World::new().await;
    let no_tasks = json!({"Job": {"ID": "empty", "Name": "empty", "Type": "service", "Datacenters": ["dc1"]}});
    let answer = world.put("/v1/jobs", &no_tasks).await;
    assert_eq!(answer.status, 400);
    assert_eq!(answer.text(), "1 error occurred:\n\t* Missing job task groups\n\n");
    assert_eq!(world.get("/v1/jobs").await.text(), "[]");
    let validated = world.put("/v1/validate/job", &no_tasks).await.json();
    assert_eq!(validated["Error"], json!(answer.text()));
    assert!(!validated["ValidationErrors"].as_array().unwrap().is_empty());
    world.close().await;
}

#[tokio::test]
async fn ports_and_drivers_that_are_not_there_are_told_at_submission() {
    let world = World::new().await;
    let mut job = shop("web");
    job["TaskGroups"][0]["Tasks"][0]["Config"]["ports"] = json!(["http", "htpp", "${NOMAD_META_port}"]);
    let refused = world.put("/v1/jobs", &json!({ "Job": job })).await;
    let expected = "group \"web\" → task \"httpd\" → config: ports names \"htpp\", but the group has no port of that label (it has http)";
    assert!(refused.status == 400 && refused.text().contains(expected), "{}", refused.text());
    assert!(!refused.text().contains("NOMAD_META"), "{}", refused.text());
    let mut job = shop("web");
    job["TaskGroups"][0]["Tasks"][0]["Driver"] = json!("dokcer");
    let taken = world.put("/v1/jobs", &json!({ "Job": job })).await.json();
    let warnings = taken["Warnings"].as_str().unwrap();
    let expected = "no node has the driver \"dokcer\", so its tasks wait until one does: did you mean \"docker\"?";
    assert!(warnings.contains(expected), "{warnings}");
    world.close().await;
}

#[tokio::test]
async fn a_job_file_with_an_error_points_at_the_line() {
    let world = World::new().await;
    let hcl = "job \"shop-bad\" {\n  datacenters = [\"dc1\"]\n  colour      = \"red\"\n}\n";
    let answer = world.put("/v1/jobs/parse", &json!({ "JobHCL": hcl })).await;
    assert_eq!(answer.status, 400);
    assert!(answer.text().starts_with("input.hcl:3:3: "), "{}", answer.text());
    let answer = world.put("/v1/jobs/parse?diagnostics=json", &json!({ "JobHCL": hcl })).await;
    assert_eq!(answer.status, 400);
    let told: Value = serde_json::from_str(&answer.text()).unwrap();
    let told = &told["Diagnostics"][0];
    assert_eq!((&told["severity"], &told["place"]["line"]), (&json!("error"), &json!(3)), "{told}");
    let hcl = "job \"a\" {\n  name = uuidv4()\n}\n";
    let parsed = world.put("/v1/jobs/parse", &json!({ "JobHCL": hcl })).await.json();
    assert_eq!(parsed["Name"].as_str().map(str::len), Some(36), "{parsed}");
    world.close().await;
}
