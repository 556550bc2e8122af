//! How long an idle image stays, for every way to write the agent file.

use std::time::{Duration, Instant};

use longshore_harness::Agent;
use serde_json::Value;

use crate::support::*;

enum Expected {
    /// Due so many seconds after its last use; when that is a moment, it is really gone then.
    Seconds(f64),
    /// Due after so many seconds, and the log has a warning that names the file's line and this text.
    SecondsWithWarning(f64, &'static str),
    /// Never due; the reason says so.
    Never(&'static str),
}

/// Starts the agent with that file, runs and stops a task, and reads what the running agent says.
#[track_caller]
fn check(machine: &Machine, number: usize, file: &str, expected: &Expected) {
    let repository = format!("row/{number}");
    let (_, name) = machine.push(&repository);
    let job = format!("row-{number}");
    let setup = machine.setup(&format!("agent-{number}")).file("agent.hcl", file);
    let mut agent = Agent::start(&machine.run, setup).unwrap();
    run_job(&agent, &Job::new(&job, &name));
    stop_job(machine, &agent, &job);
    let stopped = Instant::now();
    match expected {
        Expected::Seconds(seconds) if *seconds < 10.0 => {
            if let Some(row) = image_row(&agent, &name).filter(|row| row["IdleSince"].is_string()) {
                check_delay(&row, *seconds);
            }
            machine.wait_image_gone(Duration::from_secs(30), &name);
            let took = stopped.elapsed().as_secs_f64();
            assert!(took <= seconds + 1.0, "{file}: gone after {took} s");
        }
        Expected::Seconds(seconds) => check_delay(&wait_idle(&agent, &name), *seconds),
        Expected::SecondsWithWarning(seconds, warning) => {
            check_delay(&wait_idle(&agent, &name), *seconds);
            let place = agent.file_path("agent.hcl").display().to_string();
            let log = agent.log();
            let line = log.lines().find(|line| line.contains("WARN") && line.contains(warning)).map(str::to_owned);
            let line = line.unwrap_or_else(|| panic!("no warning with `{warning}` in\n{log}"));
            assert!(line.contains(&format!("{place}:4")), "{line}");
        }
        Expected::Never(reason) => {
            let row = wait_idle(&agent, &name);
            assert!(row["DueAt"].is_null(), "{row}");
            assert!(text(&row, "Why").contains(reason), "{row}");
        }
    }
    let seconds = match expected {
        Expected::Seconds(seconds) | Expected::SecondsWithWarning(seconds, _) => Some(*seconds),
        Expected::Never(_) => None,
    };
    check_agent_self(&agent, seconds);
    agent.stop().unwrap();
}

/// `/v1/agent/self` tells the settings that hold, not the ones that were written.
#[track_caller]
fn check_agent_self(agent: &Agent, seconds: Option<f64>) {
    let said = agent.get("/v1/agent/self").unwrap();
    let plugins = said["config"]["Plugins"].as_array().cloned().unwrap_or_default();
    let docker = plugins.iter().find(|it| it["Name"] == "docker").unwrap_or_else(|| panic!("no docker in {plugins:?}"));
    let gc = match &docker["Config"]["gc"] {
        Value::Array(blocks) => blocks[0].clone(),
        other => other.clone(),
    };
    assert_eq!(gc["image"], seconds.is_some(), "{docker}");
    if let Some(seconds) = seconds {
        let written = if seconds == 180.0 { "3m0s" } else { "2s" };
        assert!(gc["image_delay"] == written || gc["image_delay"] == written.trim_end_matches("0s"), "{docker}");
    }
}

fn gc(body: &str) -> String {
    format!("plugin \"docker\" {{\n  config {{\n    gc {{\n      {body}\n    }}\n  }}\n}}\n")
}

#[test]
fn the_default_holds_however_little_is_written() {
    let machine = Machine::start();
    let login = machine.run.write("docker-login.json", "{}").unwrap();
    let only_login =
        format!("plugin \"docker\" {{\n  config {{\n    auth {{ config = \"{}\" }}\n  }}\n}}\n", login.display());
    let rows = [
        String::new(),
        "client {\n  options = {\n    \"docker.volumes.enabled\" = \"true\"\n  }\n}\n".to_owned(),
        "plugin \"docker\" {\n}\n".to_owned(),
        "plugin \"docker\" {\n  config {\n  }\n}\n".to_owned(),
        only_login,
        gc(""),
        gc("container = true"),
        gc("image = true"),
        gc("dangling_containers { enabled = false }"),
    ];
    for (number, file) in rows.iter().enumerate() {
        check(&machine, number, file, &Expected::Seconds(180.0));
    }
}

#[test]
fn a_written_delay_holds_wherever_it_is_written() {
    let machine = Machine::start();
    let rows = [
        (gc("image_delay = \"2s\""), Expected::Seconds(2.0)),
        (
            "client {\n  options = {\n    \"docker.cleanup.image.delay\" = \"2s\"\n  }\n}\n".to_owned(),
            Expected::Seconds(2.0),
        ),
        (gc("image_delay = \"\""), Expected::SecondsWithWarning(180.0, "image_delay")),
        (gc("image = false"), Expected::Never("gc.image is false")),
    ];
    for (number, (file, expected)) in rows.iter().enumerate() {
        check(&machine, number, file, expected);
    }
}

#[test]
fn a_gc_block_in_the_wrong_place_stops_the_start() {
    let machine = Machine::start();
    let setup =
        machine.setup("misplaced").file("agent.hcl", "plugin \"docker\" {\n  gc {\n    image = false\n  }\n}\n");
    let said = Agent::run_to_end(&machine.run, setup, SOON).unwrap();
    assert_eq!(said.code, 1, "{said:?}");
    let told = format!("{}{}", said.stdout, said.stderr);
    assert!(told.contains("agent.hcl:2"), "{told}");
    assert!(told.contains("config"), "the right place is named: {told}");
    assert!(told.contains("gc"), "{told}");
}
