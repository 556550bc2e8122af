//! An agent without an engine: how it starts, what it refuses, how it ends.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use longshore_harness::{Agent, AgentSetup, Run, eventually};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::support::*;

const SLEEPER: &str = r#"job "sleeper" {
  group "g" {
    task "main" {
      driver = "raw_exec"
      config {
        command = "/bin/sleep"
        args    = ["86400"]
      }
    }
  }
}
"#;

/// The folder for temporary files that an agent of `run` is given.
fn temporary(run: &Run) -> PathBuf {
    let folder = run.dir().join("temporary");
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn dev(run: &Run) -> AgentSetup {
    AgentSetup::new(BINARY).named("dev").dev().environment("TMPDIR", temporary(run).to_str().unwrap())
}

/// Nothing of a `-dev` agent is left there: no folder, no mount.
fn assert_nothing_left(folder: &Path) {
    let left: Vec<_> = fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path()).collect();
    assert!(left.is_empty(), "{left:?}");
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    let mounted: Vec<_> = mounts.lines().filter(|line| line.contains(folder.to_str().unwrap())).collect();
    assert!(mounted.is_empty(), "{mounted:?}");
}

/// Processes whose command line names the folder.
fn processes_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let lines = entries.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    let lines = lines.map(|bytes| String::from_utf8_lossy(&bytes).replace('\0', " "));
    lines.filter(|line| line.contains(folder.to_str().unwrap())).collect()
}

/// Without Docker a `-dev` agent says so, runs raw_exec tasks, and takes them with it without waiting for an engine.
#[test]
fn a_dev_agent_without_docker_runs_processes_and_leaves_nothing() {
    let run = Run::start().unwrap();
    let mut agent = Agent::start(&run, dev(&run)).unwrap();
    // The banner comes when the look for Docker is over; the API answers before that.
    eventually(SOON, "the line about Docker", || {
        let log = agent.log();
        if log.contains("==> Docker is not there, raw_exec only: ") { Ok(()) } else { Err(log) }
    })
    .unwrap();
    agent.job_run("sleeper", SLEEPER).unwrap().success("run the job").unwrap();
    wait_running(&agent, "sleeper", 1);
    let began = Instant::now();
    let status = agent.end(Signal::SIGTERM).unwrap();
    assert_eq!(status.code(), Some(1));
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}\n{}", began.elapsed(), agent.log_tail(10));
    assert_nothing_left(&temporary(&run));
    eventually(SOON, "the end of the supervisor", || {
        let left = processes_in(&temporary(&run));
        if left.is_empty() { Ok(()) } else { Err(format!("{left:?}")) }
    })
    .unwrap();
}

/// Whenever the wish to end comes, what has been begun is ended in order.
#[test]
fn a_signal_during_the_start_leaves_nothing() {
    let run = Run::start().unwrap();
    let mut agent = Agent::prepare(&run, dev(&run)).unwrap();
    for delay_ms in (0..60).step_by(4) {
        agent.launch().unwrap();
        std::thread::sleep(Duration::from_millis(delay_ms));
        agent.end(Signal::SIGTERM).unwrap();
        assert_nothing_left(&temporary(&run));
    }
}

/// Two agents share neither a folder nor a port; the second one says why it does not start.
#[test]
fn a_second_agent_on_a_folder_or_a_port_is_refused() {
    let run = Run::start().unwrap();
    let agent = Agent::start(&run, AgentSetup::new(BINARY)).unwrap();
    let file = agent.file_path("00-base.hcl");
    let setup = || AgentSetup::new(BINARY).named("second").without_base_file().file_at(&file);
    let refused = Agent::run_to_end(&run, setup(), SOON).unwrap();
    let folder = agent.data_dir().join("client");
    assert_eq!(refused.code, 1);
    assert_eq!(
        refused.stderr,
        format!("==> another agent uses {}\nhint: end it, or give this one a data_dir of its own\n", folder.display())
    );
    let elsewhere = run.dir().join("elsewhere").display().to_string();
    let setup = setup().argument("-data-dir").argument(&elsewhere);
    let refused = Agent::run_to_end(&run, setup, SOON).unwrap();
    assert_eq!(refused.code, 1);
    let address = agent.http_address();
    assert!(refused.stderr.starts_with(&format!("==> could not listen on {address}: Address")), "{}", refused.stderr);
}

/// SIGHUP reads the files anew: the log's level holds at once, all else is named, and a bad file changes nothing.
#[test]
fn a_hangup_sets_the_level_of_the_log() {
    let run = Run::start().unwrap();
    let agent = Agent::start(&run, AgentSetup::new(BINARY).file("level.hcl", "log_level = \"ERROR\"\n")).unwrap();
    let mut count = 0;
    let mut hangup = |text: &str, expected: &str| {
        fs::write(agent.file_path("level.hcl"), text).unwrap();
        count += 1;
        kill(Pid::from_raw(agent.pid()), Signal::SIGHUP).unwrap();
        eventually(SOON, "the answer to a hangup", || {
            let log = agent.log();
            let answers: Vec<_> = log.split("==> Reloading configuration...\n").skip(count).collect();
            if answers.iter().any(|it| it.contains(expected)) { Ok(()) } else { Err(log) }
        })
        .unwrap();
    };
    hangup("log_level = \"DEBUG\"\nregion = \"mars\"\n", "==> Log level: DEBUG\n");
    hangup("log_level = \"TRACE\"\nregion = \"mars\"\n", "from the next start on only: region\n");
    hangup("log_level = \"LOUD\"\n", "==> Failed to reload configs: ");
}

/// `config validate` says before a start what the start would say.
#[test]
fn agent_files_are_checked_without_an_agent() {
    let run = Run::start().unwrap();
    let setup = AgentSetup::new(BINARY).file("odd.hcl", "client {\n  gc {\n    image_delay = \"1h\"\n  }\n}\n");
    let agent = Agent::prepare(&run, setup).unwrap();
    let (base, odd) = (agent.file_path("00-base.hcl"), agent.file_path("odd.hcl"));
    let good = agent.cli(&["config", "validate", base.to_str().unwrap()]).unwrap();
    assert_eq!((good.code, good.stdout.as_str()), (0, "Configuration is valid!\n"), "{}", good.stderr);
    let bad = agent.cli(&["config", "validate", base.to_str().unwrap(), odd.to_str().unwrap()]).unwrap();
    assert_eq!((bad.code, bad.stdout.as_str()), (1, ""));
    let place = format!("error: {}:2:3: client unexpected keys gc\n", odd.display());
    assert!(bad.stderr.starts_with(&place), "{}", bad.stderr);
    assert!(bad.stderr.contains("hint: it belongs in plugin \"docker\" { config { gc"), "{}", bad.stderr);
    assert!(bad.stderr.ends_with("\nConfiguration is invalid\n"), "{}", bad.stderr);
}

/// A role that does not start ends the others in order: the error is told, and nothing else.
#[test]
fn a_failed_start_ends_what_had_begun() {
    for (name, damage, told) in [
        ("record", Some("data/client/node.db"), "could not open the node's record"),
        ("header", None, "is no HTTP header"),
    ] {
        let run = Run::start().unwrap();
        if let Some(path) = damage {
            run.write(&format!("{name}/{path}"), "no database").unwrap();
        }
        let file = "http_api_response_headers {\n  \"a b\" = \"c\"\n}\n";
        let mut setup = AgentSetup::new(BINARY).named(name);
        if damage.is_none() {
            setup = setup.file("agent.hcl", file);
        }
        let said = Agent::run_to_end(&run, setup, SOON).unwrap();
        assert_eq!(said.code, 1, "{said:?}");
        assert!(said.stderr.contains(told), "{}", said.stderr);
        let all = format!("{}{}", said.stdout, said.stderr);
        assert!(!all.contains("panicked") && !all.contains("ended by a panic"), "{all}");
    }
}
