//! What somebody has at hand who only has the binary: no root, no Docker, or the habit of typing `nomad`.

use longshore_harness::{Agent, AgentSetup, Run, eventually};
use nix::sys::signal::Signal;

use crate::support::*;

/// The user `nobody` of every Debian.
const NOBODY: u32 = 65_534;

const HELLO: &str = r#"job "hello" {
  type = "batch"
  group "g" {
    task "t" {
      driver = "raw_exec"
      config {
        command = "/bin/sh"
        args    = ["-c", "echo I am $(id -u)"]
      }
      resources {
        cpu    = 20
        memory = 16
      }
    }
  }
}
"#;

#[test]
fn a_dev_agent_works_without_root_and_without_docker_and_says_so() {
    let run = Run::start().unwrap();
    let mut agent = Agent::start(&run, AgentSetup::new(BINARY).dev().as_user(NOBODY)).unwrap();
    let owner = std::fs::metadata(format!("/proc/{}", agent.pid())).unwrap();
    assert_eq!(std::os::unix::fs::MetadataExt::uid(&owner), NOBODY);
    agent.job_run("hello", HELLO).unwrap().success("run hello").unwrap();
    let allocation = eventually(SOON, "the end of the task", || {
        let all = agent.get("/v1/job/hello/allocations").map_err(|error| error.to_string())?;
        if all[0]["ClientStatus"] == "complete" { Ok(text(&all[0], "ID")) } else { Err(all.to_string()) }
    })
    .unwrap();
    let said = agent.cli(&["alloc", "logs", &allocation]).unwrap().success("read the log").unwrap();
    assert_eq!(said.stdout, format!("I am {NOBODY}\n"));
    eventually(SOON, "a line about what it cannot do", || {
        let log = agent.log();
        if log.contains("Docker is not there, raw_exec only") { Ok(()) } else { Err(log) }
    })
    .unwrap();
    assert!(agent.end(Signal::SIGINT).unwrap().code().is_some(), "{}", agent.log_tail(5));
}

#[test]
fn it_answers_when_called_nomad() {
    let run = Run::start().unwrap();
    let called = run.dir().join("nomad");
    std::os::unix::fs::symlink(BINARY, &called).unwrap();
    let agent = Agent::start(&run, AgentSetup::new(&called)).unwrap();
    let said = agent.cli(&["version"]).unwrap().success("ask for the version").unwrap();
    assert!(said.stdout.starts_with("Nomad v1.6.3"), "{said:?}");
    let said = agent.cli(&["job", "run"]).unwrap();
    assert_eq!(said.code, 1);
    assert!(said.stderr.contains("nomad job run -help"), "{said:?}");
    let said = agent.cli(&["node", "status"]).unwrap().success("list the nodes").unwrap();
    assert!(said.stdout.contains("ready"), "{said:?}");
}
