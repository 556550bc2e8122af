//! When an image cannot be had: what is told, what is tried again, and what is held afterwards.

use std::process::Stdio;

use longshore_harness::{CountingProxy, Fault, eventually};

use crate::support::*;

const AGENT: &str = "plugin \"docker\" {\n  config {\n    gc {\n      image_delay = \"2s\"\n    }\n  }\n}\n";

fn job(id: &str, image: &str) -> Job {
    Job::new(id, image)
        .group("restart {\n      attempts = 1\n      interval = \"10m\"\n      delay    = \"1s\"\n      mode     = \"fail\"\n    }")
        .group("reschedule {\n      attempts  = 0\n      unlimited = false\n    }")
}

/// Runs a job whose image cannot be had, and reads what people are told.
#[track_caller]
fn check(machine: &Machine, job: &Job, told: &[&str]) {
    let agent = machine.agent(AGENT);
    submit(&agent, job);
    let allocation = eventually(SOON, "a failed allocation", || {
        let all = agent.get(&format!("/v1/job/{}/allocations", job.id)).map_err(|error| error.to_string())?;
        let first = all[0].clone();
        if first["ClientStatus"] == "failed" { Ok(text(&first, "ID")) } else { Err(all.to_string()) }
    })
    .unwrap();

    let events = event_texts(&agent, &allocation, "main");
    let failures: Vec<&String> = events.iter().filter(|it| it.starts_with("Driver Failure")).collect();
    assert_eq!(failures.len(), 2, "one attempt and one restart: {events:#?}");
    assert!(events.iter().any(|it| it.starts_with("Restarting")), "{events:#?}");
    assert!(events.iter().any(|it| it.starts_with("Not Restarting")), "{events:#?}");
    let shown = agent.cli(&["alloc", "status", &allocation]).unwrap().success("show the allocation").unwrap().stdout;
    for word in told {
        assert!(failures[0].contains(word), "`{word}` is told: {failures:#?}");
        assert!(shown.contains(word), "`{word}` is shown:\n{shown}");
    }
    let log = std::fs::read_to_string(machine.run.log_path("agent")).unwrap();
    let lines: Vec<_> = log.lines().filter(|line| line.contains("[WARN]") && line.contains("Driver Failure")).collect();
    assert_eq!(lines.len(), 2, "the agent's log has both failures:\n{log}");
    for word in told.iter().copied().chain([allocation.as_str(), "task=main"]) {
        assert!(lines[0].contains(word), "`{word}` is in the log: {lines:#?}");
    }
    let holders: Vec<_> = image_rows(&agent).into_iter().filter(|row| row["Holds"] != 0).collect();
    assert_eq!(holders, Vec::<serde_json::Value>::new(), "nothing is held after the task has ended for good");
    assert!(machine.containers_of(&[allocation]).is_empty());
}

#[test]
fn a_registry_that_cannot_be_reached() {
    let machine = Machine::start();
    check(
        &machine,
        &job("nowhere", "127.0.0.1:1/shop/none:1"),
        &["127.0.0.1:1/shop/none:1", "127.0.0.1:1", "refused", "try:"],
    );
}

#[test]
fn a_tag_that_does_not_exist() {
    let machine = Machine::start();
    machine.push("shop/known");
    let name = format!("{}/shop/known:nope", machine.proxy.host());
    let host = machine.proxy.host();
    check(&machine, &job("no-tag", &name), &[&name, &host, "not found", "try:"]);
}

#[test]
fn a_login_that_is_refused() {
    let machine = Machine::start();
    machine.push("shop/secret");
    let guarded = CountingProxy::start_at(&machine.engine, &machine.registry, 5002).unwrap();
    guarded.always("/v2/", Fault::Login { user: "sailor".into(), password: "open-sesame".into() });
    let (name, host) = (format!("{}/shop/secret:1", guarded.host()), guarded.host());
    let login = "auth {\n          username = \"sailor\"\n          password = \"wr0ng-p4ss\"\n        }";
    let job = job("refused", &name).config(login);
    check(&machine, &job, &[&name, &host, "unauthorized", "try:"]);
    let log = std::fs::read_to_string(machine.run.log_path("agent")).unwrap();
    assert!(!log.contains("wr0ng-p4ss"), "the password is in the log");
    assert!(guarded.seen().iter().any(|it| it.authorization.is_some()), "the login was tried");
}

/// With the right login the same job runs: what was refused above was the login.
#[test]
fn a_login_that_is_right() {
    let machine = Machine::start();
    machine.push("shop/secret");
    let guarded = CountingProxy::start_at(&machine.engine, &machine.registry, 5002).unwrap();
    guarded.always("/v2/", Fault::Login { user: "sailor".into(), password: "open-sesame".into() });
    let login = "auth {\n          username = \"sailor\"\n          password = \"open-sesame\"\n        }";
    let agent = machine.agent(AGENT);
    run_job(&agent, &job("right", &format!("{}/shop/secret:1", guarded.host())).config(login));
    wait_running(&agent, "right", 1);
}

/// Whoever waits for a new job reads what is wrong while it is still tried, also where there is no terminal.
#[test]
fn what_is_wrong_is_told_while_it_is_tried_again() {
    let machine = Machine::start();
    machine.push("shop/known");
    let name = format!("{}/shop/known:nope", machine.proxy.host());
    let agent = machine.agent(AGENT);
    let restart = "restart {\n      attempts = 9\n      interval = \"1h\"\n      delay    = \"5s\"\n      mode     = \"delay\"\n    }";
    let (file, told) = (agent.file_path("waits.nomad.hcl"), agent.file_path("waits.out"));
    std::fs::write(&file, Job::new("waits", &name).group(restart).text()).unwrap();
    let mut command = agent.cli_command(&["job", "run", file.to_str().unwrap()]);
    command.stdin(Stdio::null()).stdout(std::fs::File::create(&told).unwrap()).stderr(Stdio::null());
    let mut waiting = machine.run.spawn(&mut command).unwrap();
    let text = eventually(SOON, "a word about the image", || {
        let text = std::fs::read_to_string(&told).unwrap();
        if text.contains(&name) { Ok(text) } else { Err(text) }
    })
    .unwrap();
    let line = text.lines().find(|line| line.contains(&name)).unwrap();
    assert!(line.contains("task \"main\"") && line.contains("not found") && line.contains("restarting in"), "{text}");
    let state = agent.get("/v1/job/waits/deployment").unwrap();
    assert_eq!((&state["Status"], waiting.try_wait().unwrap()), (&"running".into(), None), "it goes on waiting");
    waiting.kill().unwrap();
    waiting.wait().unwrap();
}
