//! The files that newcomers start with.

use std::path::{Path, PathBuf};
use std::time::Duration;

use longshore_harness::{Address, Agent, AgentSetup, Body, Run, eventually, request};

use crate::support::*;

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples")
}

#[test]
fn every_job_file_is_valid() {
    let run = Run::start().unwrap();
    let agent = Agent::start(&run, AgentSetup::new(BINARY)).unwrap();
    let files: Vec<PathBuf> = std::fs::read_dir(examples()).unwrap().flatten().map(|it| it.path()).collect();
    let jobs = files.iter().filter(|path| path.to_string_lossy().ends_with(".nomad.hcl"));
    let mut count = 0;
    for path in jobs {
        let said = agent.cli(&["job", "validate", path.to_str().unwrap()]).unwrap();
        assert_eq!(said.code, 0, "{}: {said:?}", path.display());
        count += 1;
    }
    assert!(count > 0);
}

#[test]
fn the_web_server_serves_under_the_agent_file_beside_it() {
    let machine = Machine::start();
    machine.push("demo/web");
    let setup = machine.setup("example").file_at(&examples().join("agent.hcl")).base_file_last();
    let agent = Agent::start(&machine.run, setup).unwrap();
    let job = examples().join("web.nomad.hcl");
    agent.cli(&["job", "run", job.to_str().unwrap()]).unwrap().success("run the example").unwrap();

    let allocation = wait_running(&agent, "web", 1).remove(0);
    let ports =
        agent.get(&format!("/v1/allocation/{allocation}")).unwrap()["AllocatedResources"]["Shared"]["Ports"].clone();
    let port = u16::try_from(ports[0]["Value"].as_u64().unwrap()).unwrap();
    let address = Address::Tcp(([127, 0, 0, 1], port).into());
    let page = machine.engine.namespace().inside(|| {
        eventually(SOON, "the page", || {
            request(&address, "GET", "/", &[], Body::Empty, SOON).map_err(|error| error.to_string())
        })
    });
    assert_eq!(page.unwrap().text(), "<h1>Hello from web.web[0]</h1>\n");
    let logs = agent.cli(&["alloc", "logs", &allocation]).unwrap().success("read the log").unwrap().stdout;
    assert!(logs.contains("serving on port 8080"), "{logs}");

    stop_job(&machine, &agent, "web");
    check_delay(&wait_idle(&agent, &machine.name("demo/web")), 10.0);
    machine.wait_image_gone(Duration::from_secs(20), &machine.name("demo/web"));
}
