//! Job ids as people and mischief write them: refused as Nomad refuses them, or of use in every route.

use axum::body::Body;
use serde_json::{Value, json};

use crate::world::{World, shop};

/// As clients write a part of a path.
fn escape(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    text.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

fn batch(id: &str) -> Value {
    let mut job = shop(id);
    job["Type"] = json!("batch");
    job.as_object_mut().unwrap().remove("Update");
    job
}

#[tokio::test]
async fn every_id_that_is_accepted_works_everywhere() {
    let world = World::new().await;
    let long = "x".repeat(1_024);
    let ids = [
        ".",
        "..",
        "a/../b",
        "a/./b",
        "../../etc/passwd",
        "/",
        "//",
        "/abs",
        "a//b",
        "a/",
        "plan",
        "a/plan",
        "a/plan/plan",
        "periodic/force",
        "a/periodic/force",
        "x/allocations",
        "deployments",
        "a%2Fb",
        "a%2fplan",
        "%",
        "%zz",
        "%00",
        "a?b=c",
        "a#b",
        "a&b=c;d",
        "a+b",
        "-detach",
        "--",
        "*",
        "{id}",
        ":id",
        "a:b@c",
        "'\"\\`$(id)",
        "<script>",
        "ä/日本/🦀",
        "e\u{301}",
        "\u{a0}",
        "\u{202e}gnp",
        "a.b.c",
        &long,
    ];
    let mut indexes = Vec::new();
    for id in ids {
        let registered = world.put("/v1/jobs", &json!({ "Job": batch(id) })).await.json();
        indexes.push(registered["JobModifyIndex"].clone());
    }
    for (id, index) in ids.iter().zip(&indexes) {
        let path = format!("/v1/job/{}", escape(id));
        let job = world.get(&path).await.json();
        assert_eq!((&job["ID"], &job["JobModifyIndex"]), (&json!(id), index), "{id}");
        for part in ["allocations", "evaluations", "deployments", "deployment", "versions", "summary"] {
            let answer = world.get(&format!("{path}/{part}")).await;
            assert_eq!(answer.status, 200, "{id} {part}: {}", answer.text());
        }
        assert_eq!(world.get(&format!("{path}/summary")).await.json()["JobID"], json!(id));
        let mut changed = batch(id);
        changed["Priority"] = json!(60);
        let wish = json!({ "Job": changed });
        assert_eq!(world.put(&format!("{path}/plan"), &wish).await.json()["JobModifyIndex"], *index, "{id}");
        world.put(&path, &wish).await.json();
        let of_job = json!({"JobID": id, "JobVersion": 0, "Stable": true});
        for part in ["revert", "stable", "evaluate"] {
            let answer = world.put(&format!("{path}/{part}"), &of_job).await;
            assert_eq!(answer.status, 200, "{id} {part}: {}", answer.text());
        }
        assert_eq!(world.get(&path).await.json()["Version"], 2, "{id}");
        let listed = world.get(&format!("/v1/jobs?prefix={}", escape(id))).await.json();
        assert!(listed.as_array().unwrap().iter().any(|job| job["ID"] == json!(id)), "{id}");
        let found = world.put("/v1/search", &json!({"Prefix": id, "Context": "jobs"})).await.json();
        assert!(found["Matches"]["jobs"].as_array().unwrap().contains(&json!(id)), "{id}: {found}");
        let evals = world.get(&format!("/v1/evaluations?job={}", escape(id))).await.json();
        assert!(!evals.as_array().unwrap().is_empty(), "{id}");
    }
    // Page by page, by the token of the page before.
    let (mut walked, mut token) = (Vec::new(), String::new());
    loop {
        let page = world.get(&format!("/v1/jobs?per_page=3&next_token={}", escape(&token))).await;
        walked.extend(page.json().as_array().unwrap().iter().map(|job| job["ID"].as_str().unwrap().to_owned()));
        let Some(next) = page.headers.get("x-nomad-nexttoken") else { break };
        token = String::from_utf8(next.as_bytes().to_vec()).unwrap();
    }
    let mut sorted = ids.map(str::to_owned);
    sorted.sort();
    assert_eq!(walked, sorted);
    for id in ids {
        let purged = world.ask("DELETE", &format!("/v1/job/{}?purge=true", escape(id)), Body::empty()).await.json();
        assert_ne!(purged["EvalID"], "", "{id}");
    }
    assert_eq!(world.get("/v1/jobs").await.text(), "[]");
    world.close().await;
}

#[tokio::test]
async fn ids_that_no_client_can_write_are_refused() {
    let world = World::new().await;
    let rows = [
        ("", "Job ID hasn't been provided"),
        (" ", "Job ID contains a space"),
        ("a b", "Job ID contains a space"),
        ("a\0b", "Job ID contains a null character"),
        ("a\nb", "Job ID contains a control character"),
        ("\u{1b}[2J", "Job ID contains a control character"),
        ("\u{7f}", "Job ID contains a control character"),
        ("\u{85}", "Job ID contains a control character"),
    ];
    for (id, why) in rows {
        let answer = world.put("/v1/jobs", &json!({ "Job": batch(id) })).await;
        assert_eq!(answer.status, 400, "{id:?}");
        assert!(answer.text().contains(why), "{id:?}: {}", answer.text());
    }
    assert_eq!(world.get("/v1/jobs").await.text(), "[]");
    let bad = world.get("/v1/job/a%zz").await;
    assert_eq!((bad.status, bad.text().as_str()), (400, "invalid URL escape in job ID \"a%zz\""));
    world.close().await;
}
