//! Answers of real engines, served again as they were.

use longshore_engine::{ContainerStatus, Engine, Error, ListContainers};
use serde::Deserialize;

use crate::misbehaving::Server;

#[derive(Debug, Deserialize)]
struct Recorded {
    engine: String,
    asked: String,
    status: u16,
    body: String,
    class: Option<String>,
}

fn recordings() -> Vec<(String, Recorded)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/recorded");
    let mut found: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .map(|path| {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            (name, serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap())
        })
        .collect();
    found.sort_by(|a, b| a.0.cmp(&b.0));
    assert!(found.len() > 40, "the recorded answers are missing");
    found
}

fn recording(name: &str) -> Recorded {
    recordings().into_iter().find(|(found, _)| found == name).unwrap_or_else(|| panic!("no recording {name}")).1
}

async fn served(name: &str) -> (Server, Engine) {
    let recorded = recording(name);
    let server = Server::answering(recorded.status, recorded.body).await;
    let engine = server.engine();
    (server, engine)
}

/// The outcome of the call that a recording is an answer to.
async fn outcome(engine: &Engine, asked: &str) -> Result<(), Error> {
    match asked {
        "pull" => drain(engine.pull("r/a", "1", None, None).await?).await,
        "load" => drain(engine.load_images(tokio::io::empty(), "a.tar").await?).await,
        "call" => engine.start_container("c").await,
        "removal" => engine.delete_image("a:1", Default::default()).await.map(|_| ()),
        "images" => engine.images().await.map(|_| ()),
        "image" => engine.image("a:1").await.map(|_| ()),
        "containers" => engine.containers(ListContainers::default()).await.map(|_| ()),
        "container" => engine.container("c").await.map(|_| ()),
        "version" => engine.version().await.map(|_| ()),
        "info" => engine.info().await.map(|_| ()),
        "network" => engine.network("bridge").await.map(|_| ()),
        "stats" => engine.container_stats("c").await.map(|_| ()),
        "events" => {
            let mut events = engine.events(None).await?;
            while events.next().await?.is_some() {}
            Ok(())
        }
        other => panic!("nothing asks for {other}"),
    }
}

async fn drain(mut stream: longshore_engine::PullStream) -> Result<(), Error> {
    while stream.next().await?.is_some() {}
    Ok(())
}

#[tokio::test]
async fn each_recorded_answer_is_read_as_its_class() {
    let mut wrong = Vec::new();
    for (name, recorded) in recordings() {
        let server = Server::answering(recorded.status, recorded.body).await;
        let class = outcome(&server.engine(), &recorded.asked).await.err().map(|error| format!("{:?}", error.class()));
        if class != recorded.class {
            wrong.push(format!("{name} ({}): {class:?}, not {:?}", recorded.engine, recorded.class));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test]
async fn lists_and_details_are_read() {
    let (_server, engine) = served("images").await;
    let images = engine.images().await.unwrap();
    assert!(images.unreadable.is_empty(), "{:?}", images.unreadable);
    let good = images.items.iter().find(|image| image.tags().any(|tag| tag == "127.0.0.1:5055/good:1")).unwrap();
    assert_eq!(good.tags().collect::<Vec<_>>(), ["127.0.0.1:5055/good:1", "rec/good:2"]);
    assert_eq!(good.digests().count(), 1);
    assert!(good.id.starts_with("sha256:") && good.size == 1000);

    let (_server, engine) = served("image").await;
    let image = engine.image("x:1").await.unwrap();
    assert_eq!((image.os.as_str(), image.architecture.as_str()), ("linux", "amd64"));

    let (_server, engine) = served("containers").await;
    let containers = engine.containers(ListContainers { all: true, labels: &[] }).await.unwrap();
    let by_name = |name: &str| containers.items.iter().find(|container| container.name() == name).unwrap();
    assert_eq!(by_name("rec-run").state, ContainerStatus::Running);
    assert_eq!(by_name("rec-run").labels.get("longshore.task").map(String::as_str), Some("web"));
    assert_eq!(by_name("rec-new").state, ContainerStatus::Created);
    assert!(by_name("rec-new").image_id.starts_with("sha256:") && by_name("rec-new").created > 1_700_000_000);

    let (_server, engine) = served("container-start-failed").await;
    let failed = engine.container("c").await.unwrap();
    assert_eq!((failed.state.status, failed.state.exit_code), (ContainerStatus::Created, 127));
    assert!(failed.state.error.contains("executable file not found"));

    let (_server, engine) = served("container-bridge").await;
    assert_eq!(engine.container("c").await.unwrap().network_settings.networks["bridge"].ip_address, "172.17.0.2");

    let (_server, engine) = served("network-bridge").await;
    let bridge = engine.network("bridge").await.unwrap();
    // This engine's bridge had no address of its own.
    assert_eq!((bridge.name.as_str(), bridge.gateway()), ("bridge", None));

    let (_server, engine) = served("info").await;
    let info = engine.info().await.unwrap();
    assert_eq!((info.docker_root_dir.as_str(), info.os_type.as_str()), ("/var/lib/docker", "linux"));
    assert!(info.runtimes.contains_key("runc") && !info.id.is_empty());

    let (_server, engine) = served("stats").await;
    let stats = engine.container_stats("c").await.unwrap();
    assert!(stats.memory_stats.usage > 0 && stats.cpu_stats.online_cpus > 0);

    let (_server, engine) = served("call-deleted").await;
    let removed = engine.delete_image("a:1", Default::default()).await.unwrap();
    assert_eq!(removed[0].untagged.as_deref(), Some("127.0.0.1:5055/good:1"));
    assert!(removed.iter().all(|line| line.deleted.is_none()));
}

#[tokio::test]
async fn a_pull_tells_its_layers_and_its_digest() {
    let (_server, engine) = served("pull-good").await;
    let mut stream = engine.pull("127.0.0.1:5055/good", "1", None, None).await.unwrap();
    let mut messages = Vec::new();
    while let Some(message) = stream.next().await.unwrap() {
        messages.push(message);
    }
    assert!(messages.iter().any(|message| message.status == "Pull complete" && message.id.len() == 12));
    assert_eq!(messages.iter().filter_map(|message| message.digest()).count(), 1);
}

#[tokio::test]
async fn events_are_read() {
    let (_server, engine) = served("events").await;
    let mut events = engine.events(Some(1)).await.unwrap();
    let mut found = Vec::new();
    while let Some(event) = events.next().await.unwrap() {
        assert!(event.time_nano > 0, "{event:?}");
        found.push(format!("{} {}", event.kind, event.action));
    }
    for wanted in ["image pull", "image tag", "image untag", "image delete", "container create", "container start"] {
        assert!(found.iter().any(|event| event == wanted), "no {wanted} in {found:?}");
    }
}
