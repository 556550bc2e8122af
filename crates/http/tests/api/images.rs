//! The image routes, over a driver that knows two images.

use serde_json::json;

use crate::driver::Stage;
use crate::world::World;
use longshore_http::HttpOptions;

#[tokio::test]
async fn images_and_why_they_stay() {
    let world = World::new().await;
    let shown = world.get("/v1/client/images").await.json();
    assert_eq!(
        shown,
        json!({"Note": "", "Images": [
            {"Name": "redis:7", "ID": "sha256:0123", "SizeBytes": 4_000_000, "Provenance": "obtained", "State": "idle",
             "Holds": 0, "Holders": [], "Why": "nobody needs it", "DueAt": "2026-11-30T17:41:36Z",
             "IdleSince": "2026-11-30T17:38:36Z", "LastUsed": "2026-11-30T17:38:33Z", "Progress": ""},
            {"Name": "127.0.0.1:5000/demo/web:1", "ID": "sha256:0123", "SizeBytes": 4_000_000, "Provenance": "obtained",
             "State": "held", "Holds": 1,
             "Holders": [{"Kind": "task", "ID": "a1", "AllocID": "a1", "TaskName": "httpd"}],
             "Why": "nobody needs it", "DueAt": null, "IdleSince": null, "LastUsed": "2026-11-30T17:38:33Z", "Progress": ""}
        ]})
    );
    let explained = world.get("/v1/client/image/127.0.0.1:5000/demo/web:1").await.json();
    assert_eq!((&explained["Status"], &explained["Lines"]), (&shown["Images"][1], &json!(["a task holds it"])));
    let unknown = world.get("/v1/client/image/nothing:1").await;
    assert_eq!(
        (unknown.status, unknown.text().as_str()),
        (
            404,
            "no image \"nothing:1\" is known here (looked for docker.io/library/nothing:1); `longshore image status` lists them"
        )
    );
    let near = world.get("/v1/client/image/redis:8").await.text();
    assert!(near.contains("(looked for docker.io/library/redis:8); known are redis:7; `longshore"), "{near}");
    let metrics = world.get("/v1/metrics?format=prometheus").await.text();
    assert!(metrics.contains("longshore_images_bytes{provenance=\"obtained\",state=\"idle\"} 4000000\n"), "{metrics}");
    assert!(metrics.contains("longshore_images_holders{kind=\"task\"} 1\n"), "{metrics}");
    let removals = "longshore_images_removals_total{outcome=\"removed\",reason=\"due\"} 3\n";
    assert!(metrics.contains(removals), "{metrics}");
    world.close().await;
}

#[tokio::test]
async fn images_are_pinned_and_collected() {
    let world = World::new().await;
    let pin = |pattern: &str, who: &str| json!({"Pattern": pattern, "Who": who, "At": "2026-11-30T17:41:36Z", "Names": ["redis:7"]});
    let shown = world.put("/v1/client/images/pin", &json!({"Pattern": "redis:7"})).await.json();
    assert_eq!(shown, pin("redis:7", "somebody over the API"));
    assert_eq!(world.get("/v1/client/images/pins").await.json(), json!([pin("redis:*", "ann")]));
    let refused = world.put("/v1/client/images/pin", &json!({"Pattern": ""})).await;
    assert_eq!(
        (refused.status, refused.text().as_str()),
        (400, "could not pin images: the pattern is empty; write one")
    );
    let unpinned = world.put("/v1/client/images/unpin", &json!({"Pattern": "redis:7"})).await;
    assert_eq!((unpinned.status, unpinned.json()), (200, json!({"Index": 0})));
    let unknown = world.put("/v1/client/images/unpin", &json!({"Pattern": "web:1"})).await;
    assert_eq!((unknown.status, unknown.text().as_str()), (404, "nothing is pinned by \"web:1\""));
    let shown = world.put("/v1/client/images/pull", &json!({"Name": "redis:7", "Force": true})).await.json();
    assert_eq!(
        shown,
        json!({"Name": "redis:7", "ID": "sha256:0123", "SizeBytes": 4_000_000, "Message": "pulled", "KeptUntil": "2026-11-30T17:41:36Z"})
    );
    let refused = world.put("/v1/client/images/pull", &json!({"Name": "none:1"})).await;
    let text = "could not pull an image: could not pull image none:1: access denied";
    assert_eq!((refused.status, refused.text().as_str()), (500, text));
    for (name, status) in [("gone:1", 404), ("theirs:1", 409)] {
        assert_eq!(world.put("/v1/client/images/pull", &json!({ "Name": name })).await.status, status, "{name}");
    }
    for (body, removed, outcome) in [(json!({"DryRun": true}), false, "would be removed"), (json!({}), true, "removed")]
    {
        let shown = world.put("/v1/client/images/gc", &body).await.json();
        let image = json!({"Name": "redis:7", "ID": "sha256:0123", "SizeBytes": 4_000_000, "Removed": removed, "Outcome": outcome});
        assert_eq!(shown, json!({"Images": [image]}));
    }
    world.close().await;
}

#[tokio::test]
async fn images_are_adopted() {
    let world = World::new().await;
    for (body, adopted, outcome) in [
        (json!({"Pattern": "web:1", "DryRun": true}), false, "would be adopted"),
        (json!({"Pattern": "web:1", "Who": "ann"}), true, "adopted by ann"),
        (json!({"Pattern": "web:1"}), true, "adopted by somebody over the API"),
    ] {
        let shown = world.put("/v1/client/images/adopt", &body).await.json();
        let image = json!({"Name": "web:1", "ID": "sha256:0123", "SizeBytes": 4_000_000, "Adopted": adopted, "Outcome": outcome});
        assert_eq!(shown, json!({"Images": [image]}));
    }
    let refused = world.put("/v1/client/images/adopt", &json!({"Pattern": "none:*"})).await;
    assert_eq!(
        (refused.status, refused.text().as_str()),
        (404, "could not adopt images: no image here matches none:*")
    );
    world.close().await;
}

#[tokio::test]
async fn removals_are_paused_and_the_list_says_so() {
    let world = World::new().await;
    let pause = json!({"Who": "ann", "At": "2026-11-30T17:41:36Z", "Until": "2026-11-30T19:41:36Z"});
    let shown = world.put("/v1/client/images/pause", &json!({"Duration": "2h", "Who": "ann"})).await.json();
    assert_eq!(shown, pause);
    assert_eq!(world.get("/v1/client/images").await.json()["Pause"], pause);
    let ended = world.put("/v1/client/images/pause", &json!({"Duration": "0s"})).await.json();
    assert_eq!(ended, json!({"Who": "", "At": null, "Until": null}));
    assert!(world.get("/v1/client/images").await.json().get("Pause").is_none());
    let refused = world.put("/v1/client/images/pause", &json!({"Duration": "soon"})).await;
    assert!(refused.status == 400 && refused.text().starts_with("could not pause the removal of images: "));
    world.close().await;
}

#[tokio::test]
async fn a_node_without_images_says_so() {
    let world = World::with(Stage::new(true, false), &HttpOptions::default()).await;
    let shown = world.get("/v1/client/images").await.json();
    assert_eq!(shown["Images"], json!([]));
    assert_ne!(shown["Note"], "");
    assert_eq!(world.get("/v1/client/images/pins").await.json(), json!([]));
    assert_eq!(world.put("/v1/client/images/gc", &json!({})).await.status, 404);
    world.close().await;
}

#[tokio::test]
async fn an_engine_that_is_away_is_told_in_the_note() {
    let world = World::new().await;
    world.driver.go_away();
    let shown = world.get("/v1/client/images").await.json();
    assert_eq!(
        shown,
        json!({"Note": "could not list the images: the engine does not answer: it is being restarted", "Images": []})
    );
    world.close().await;
}
