//! The image routes, over a driver that knows two images.

use std::sync::Arc;

use async_trait::async_trait;
use longshore_driver::{
    AcceptRequest, Capabilities, Driver, DriverError, ExitResult, Fingerprint, ImageExplanation, ImageHolder,
    ImageReport, Images, KnownAllocation, Provenance, Recovered, StartRequest, Started, TaskHandle,
};
use longshore_http::HttpOptions;
use longshore_model::{AllocId, Timestamp};
use longshore_values::GoDuration;
use serde_json::json;

use crate::world::{World, shop};

struct Shelf;

fn reports() -> Vec<ImageReport> {
    let report = |name: &str| ImageReport {
        name: name.to_owned(),
        content_id: "sha256:0123".to_owned(),
        size_bytes: 4_000_000,
        provenance: Provenance::Obtained,
        state: "idle".to_owned(),
        holders: Vec::new(),
        reason: "nobody needs it".to_owned(),
        due_at: Some(Timestamp::from_seconds(1_796_060_496)),
        idle_since: Some(Timestamp::from_seconds(1_796_060_316)),
        last_used_at: Some(Timestamp::from_seconds(1_796_060_313)),
        progress: String::new(),
    };
    let holder = ImageHolder { kind: "task".to_owned(), id: "a1".to_owned(), task: "httpd".to_owned() };
    let held = ImageReport {
        state: "held".to_owned(),
        holders: vec![holder],
        due_at: None,
        idle_since: None,
        ..report("127.0.0.1:5000/demo/web:1")
    };
    vec![report("redis:7"), held]
}

#[async_trait]
impl Images for Shelf {
    async fn list(&self) -> Result<Vec<ImageReport>, DriverError> {
        Ok(reports())
    }
    async fn explain(&self, name: &str) -> Result<Option<ImageExplanation>, DriverError> {
        let found = reports().into_iter().find(|report| report.name == name);
        Ok(found.map(|report| ImageExplanation { report, lines: vec!["a task holds it".to_owned()] }))
    }
    async fn keeper_note(&self) -> Option<String> {
        None
    }
}

#[async_trait]
impl Driver for Shelf {
    fn name(&self) -> &'static str {
        "docker"
    }
    fn capabilities(&self) -> Capabilities {
        unimplemented()
    }
    async fn fingerprint(&self) -> Fingerprint {
        unimplemented()
    }
    async fn fingerprint_changed(&self) {}
    fn check_config(&self, config: &serde_json::Value) -> Result<(), DriverError> {
        match config.get("colour") {
            Some(_) => Err(DriverError::fatal("`colour` is no option of this driver")),
            None => Ok(()),
        }
    }
    async fn accept(&self, _: AcceptRequest) -> Result<(), DriverError> {
        unimplemented()
    }
    async fn start(&self, _: StartRequest) -> Result<Started, DriverError> {
        unimplemented()
    }
    async fn recover(&self, _: &TaskHandle, _: StartRequest) -> Result<Recovered, DriverError> {
        unimplemented()
    }
    async fn wait(&self, _: &TaskHandle) -> Result<ExitResult, DriverError> {
        unimplemented()
    }
    async fn stop(&self, _: &TaskHandle, _: &str, _: GoDuration) -> Result<(), DriverError> {
        unimplemented()
    }
    async fn destroy(&self, _: &TaskHandle) -> Result<(), DriverError> {
        unimplemented()
    }
    async fn signal(&self, _: &TaskHandle, _: &str) -> Result<(), DriverError> {
        unimplemented()
    }
    async fn forget(&self, _: AllocId, _: Timestamp) -> Result<(), DriverError> {
        unimplemented()
    }
    async fn restore(&self, _: Vec<KnownAllocation>) -> Result<(), DriverError> {
        unimplemented()
    }
    fn images(&self) -> Option<&dyn Images> {
        Some(self)
    }
    async fn shutdown(&self) {}
}

fn unimplemented<T>() -> T {
    panic!("the API runs no tasks")
}

#[tokio::test]
async fn images_and_why_they_stay() {
    let world = World::with(vec![Arc::new(Shelf)], &HttpOptions::default()).await;
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
        (404, "no image \"nothing:1\" is known here; `longshore image status` lists them")
    );
    let metrics = world.get("/v1/metrics?format=prometheus").await.text();
    assert!(metrics.contains("longshore_images_bytes{provenance=\"obtained\",state=\"idle\"} 4000000\n"), "{metrics}");
}

#[tokio::test]
async fn a_node_without_images_says_so() {
    let world = World::new().await;
    let shown = world.get("/v1/client/images").await.json();
    assert_eq!(shown["Images"], json!([]));
    assert_ne!(shown["Note"], "");
}

#[tokio::test]
async fn validation_asks_the_drivers_of_this_node() {
    let world = World::with(vec![Arc::new(Shelf)], &HttpOptions::default()).await;
    let mut job = shop("web");
    job["TaskGroups"][0]["Tasks"][0]["Config"]["colour"] = json!("red");
    let shown = world.put("/v1/validate/job", &json!({ "Job": job })).await.json();
    assert_eq!(shown["Error"], "group \"web\" → task \"httpd\": config: `colour` is no option of this driver");
}
