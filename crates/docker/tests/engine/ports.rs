//! Ports of a group, from the engine's host to the task.

use std::io::{ErrorKind, Read as _};
use std::net::{TcpStream, UdpSocket};
use std::time::Duration;

use longshore_harness::eventually;
use longshore_model::AllocatedPort;
use serde_json::json;

use crate::world::{SOON, World, script};

/// What answers at a port of the engine's host.
fn ask(world: &World, port: u16) -> String {
    let answer = world.engine.namespace().inside(|| {
        let mut text = String::new();
        let ask = |text: &mut String| -> std::io::Result<usize> {
            let mut stream = TcpStream::connect(("127.0.0.1", port))?;
            stream.set_read_timeout(Some(Duration::from_secs(2)))?;
            stream.read_to_string(text)
        };
        Ok(match ask(&mut text) {
            Ok(_) => text.trim().to_owned(),
            Err(error) => error.to_string(),
        })
    });
    answer.unwrap()
}

/// Whether something listens for datagrams there: the engine, as no task of ours can.
fn is_taken_for_udp(world: &World, port: u16) -> bool {
    let bound = world.engine.namespace().inside(|| Ok(UdpSocket::bind(("127.0.0.1", port))));
    bound.unwrap().is_err_and(|error| error.kind() == ErrorKind::AddrInUse)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_port_is_published_for_both_protocols_where_it_leads() {
    let mut world = World::new().await;
    let (_, name) = world.push("acme/web", "1");
    let port = |label: &str, value, to| AllocatedPort {
        label: label.to_owned(),
        value,
        to,
        host_ip: "127.0.0.1".to_owned(),
        is_static: false,
    };
    world.ports = vec![port("mapped", 24_001, 8_080), port("same", 24_002, 0), port("unused", 24_003, 81)];
    let mut config = script(
        &name,
        "serve() { while :; do echo $1 | nc -l -p $2 >/dev/null; done; }; serve mapped 8080 & serve same 24002",
    );
    config["network_mode"] = json!("default");
    config["ports"] = json!(["mapped", "same"]);
    let (id, handle) = world.run_task(config).await;
    for (port, expected) in [(24_001, "mapped"), (24_002, "same")] {
        eventually(SOON, format!("an answer at port {port}"), || {
            let answer = ask(&world, port);
            if answer == expected { Ok(()) } else { Err(answer) }
        })
        .unwrap();
        assert!(is_taken_for_udp(&world, port), "{port}");
    }
    assert!(!is_taken_for_udp(&world, 24_003));
    let container = world.engine.inspect_container(&format!("web-{}", id.alloc)).unwrap();
    let published = container["NetworkSettings"]["Ports"].as_object().unwrap();
    let found: Vec<_> = published.keys().map(String::as_str).collect();
    assert_eq!(found, ["24002/tcp", "24002/udp", "8080/tcp", "8080/udp"]);
    assert_eq!(published["8080/udp"], json!([{"HostIp": "127.0.0.1", "HostPort": "24001"}]));
    world.end_task(&id, &handle).await;

    // A port that somebody has is told by name, and the container is not left.
    let mut taken = script(&name, "sleep 100");
    taken["network_mode"] = json!("default");
    taken["ports"] = json!(["unused"]);
    let listener = world.engine.namespace().inside(|| Ok(std::net::TcpListener::bind("127.0.0.1:24003"))).unwrap();
    let _listener = listener.unwrap();
    let second = world.accept(taken.clone()).await;
    let error = world.start(&second, taken).await.unwrap_err();
    let text = error.full_text();
    assert!(text.contains("24003") && text.contains("another process or container holds the port"), "{text}");
    assert!(world.engine.containers().unwrap().is_empty());
    world.forget(&second).await;
    world.wait_images(&[]);
}
