//! What people ask of a running allocation (signals, restarts, files, use of resources), and what a job may not have.

use longshore_harness::{Agent, CliOutput, eventually};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::support::*;

#[track_caller]
fn said(agent: &Agent, words: &[&str]) -> String {
    agent.cli(words).unwrap().success(&words.join(" ")).unwrap().stdout
}

#[track_caller]
fn until_log(agent: &Agent, alloc: &str, text: &str) {
    eventually(SOON, format!("{text:?} in the log of {alloc}"), || {
        let log = agent.cli(&["alloc", "logs", "-stdout", alloc]).map_err(|error| error.to_string())?;
        if log.stdout.contains(text) { Ok(()) } else { Err(format!("{log:?}")) }
    })
    .unwrap();
}

fn restarts(agent: &Agent, alloc: &str) -> u64 {
    let shown: Value = agent.get(&format!("/v1/allocation/{alloc}")).unwrap();
    let task = &shown["TaskStates"]["main"];
    if task["State"] == "running" { task["Restarts"].as_u64().unwrap() } else { u64::MAX }
}

#[track_caller]
fn until_restarts(agent: &Agent, alloc: &str, count: u64) {
    eventually(SOON, format!("{count} restarts of {alloc}"), || match restarts(agent, alloc) {
        found if found == count => Ok(()),
        found => Err(found.to_string()),
    })
    .unwrap();
}

#[test]
fn signals_restarts_files_and_use_of_a_running_task() {
    let machine = Machine::start();
    let mut agent = machine.agent("");
    let (_, name) = machine.push("shop/asked");
    let script = "trap 'echo got usr1' USR1; trap 'sleep 1; exit 0' TERM; echo hello > /local/note.txt; echo s3cret > /secrets/key; \
                  ln -s /secrets/key /local/key; ln -s /etc /local/etc; echo up; while :; do sleep 0.1; done";
    let job = Job::new("asked", &name)
        .config("command = \"/bin/sh\"")
        .config(&format!("args = [\"-c\", {script:?}]"))
        .group("restart {\n      attempts = 0\n      mode = \"fail\"\n    }");
    run_job(&agent, &job);
    let alloc = wait_running(&agent, "asked", 1).remove(0);
    until_log(&agent, &alloc, "up");

    said(&agent, &["alloc", "signal", "-s", "SIGUSR1", &alloc]);
    until_log(&agent, &alloc, "got usr1");

    let listed = said(&agent, &["alloc", "fs", &alloc, "main/local"]);
    assert!(listed.contains("note.txt") && listed.starts_with("Mode"), "{listed}");
    assert_eq!(said(&agent, &["alloc", "fs", &alloc, "main/local/note.txt"]), "hello\n");
    // Nothing secret, and nothing of the host, whatever links a task has made.
    let secret = said(&agent, &["alloc", "fs", &alloc, "main/secrets/key"]);
    assert!(secret.starts_with("Reading secret file prohibited"), "{secret}");
    for path in ["main/local/etc/passwd", "main/local/key", "../../../etc/passwd"] {
        let CliOutput { code, stdout, stderr } = agent.cli(&["alloc", "fs", &alloc, path]).unwrap();
        assert!(code == 1 && stdout.is_empty() && stderr.contains("escapes"), "{path}: {stdout} {stderr}");
    }

    let measured = said(&agent, &["alloc", "status", "-stats", &alloc]);
    assert!(measured.contains("Memory Stats\n") && measured.contains("CPU Stats\nPercent"), "{measured}");

    let before = machine.containers_of(std::slice::from_ref(&alloc)).remove(0).id;
    said(&agent, &["alloc", "restart", &alloc]);
    // Whoever asked is answered when it has happened.
    assert_ne!(machine.containers_of(std::slice::from_ref(&alloc)).remove(0).id, before);
    until_restarts(&agent, &alloc, 1);
    // Asked for, and recorded, just before the agent dies, it is done by the next one.
    let orders = |agent: &Agent| {
        event_texts(agent, &alloc, "main").iter().filter(|it| it.contains("User requested restart")).count()
    };
    assert_eq!(orders(&agent), 1);
    std::thread::scope(|threads| {
        let asking = threads.spawn(|| agent.cli(&["alloc", "restart", &alloc, "main"]).unwrap());
        eventually(SOON, "the order in the record", || match orders(&agent) {
            2 => Ok(()),
            found => Err(found.to_string()),
        })
        .unwrap();
        let process = Pid::from_raw(agent.pid());
        kill(process, Signal::SIGKILL).unwrap();
        asking.join().unwrap();
    });
    agent.kill9();
    agent.resume().unwrap();
    until_restarts(&agent, &alloc, 2);
    assert_eq!(machine.containers_of(std::slice::from_ref(&alloc)).len(), 1);

    stop_job(&machine, &agent, "asked");
    let over = agent.cli(&["alloc", "restart", &alloc]).unwrap();
    assert!(over.code == 1 && over.stderr.contains("Task not running"), "{over:?}");
}

#[test]
fn all_tasks_start_anew_with_those_that_have_ended() {
    let machine = Machine::start();
    let agent = machine.agent("");
    let (_, name) = machine.push("shop/anew");
    let init = format!(
        "task \"init\" {{\n driver = \"docker\"\n lifecycle {{\n hook = \"prestart\"\n }}\n config {{\n image = {name:?}\n \
         command = \"/bin/sh\"\n args = [\"-c\", \"echo init >> /alloc/order\"]\n }}\n resources {{\n cpu = 20\n memory = 32\n }}\n }}"
    );
    let script = "echo main >> /alloc/order; trap 'exit 0' TERM; while :; do sleep 0.1; done";
    let job = Job::new("anew", &name)
        .group(&init)
        .config("command = \"/bin/sh\"")
        .config(&format!("args = [\"-c\", {script:?}]"));
    run_job(&agent, &job);
    let alloc = wait_running(&agent, "anew", 1).remove(0);
    let order = || said(&agent, &["alloc", "fs", &alloc, "alloc/order"]);
    assert_eq!(order(), "init\nmain\n");
    said(&agent, &["alloc", "restart", &alloc]);
    eventually(SOON, "the main task's word", || match order() {
        words if words == "init\nmain\nmain\n" => Ok(()),
        words => Err(words),
    })
    .unwrap();
    said(&agent, &["alloc", "restart", "-all-tasks", &alloc]);
    eventually(SOON, "both tasks' words", || match order() {
        words if words == "init\nmain\nmain\ninit\nmain\n" => Ok(()),
        words => Err(words),
    })
    .unwrap();
    stop_job(&machine, &agent, "anew");
    let over = agent.cli(&["alloc", "restart", "-all-tasks", &alloc]).unwrap();
    assert!(over.code == 1 && over.stderr.contains("Task not running"), "{over:?}");
}

/// Interpolated on the node, just before the start: what comes out is judged then.
#[test]
fn a_hostile_job_gets_nothing_of_the_host() {
    let machine = Machine::start();
    let agent = machine.agent("");
    let (_, name) = machine.push("shop/hostile");
    for (id, config, expected) in [
        ("volume", "volumes = [\"${NOMAD_META_where}:/host\"]", "config.volumes[0]: \"/etc:/host\" is outside"),
        (
            "mount",
            "mount {\n  type = \"bind\"\n  source = \"${NOMAD_META_where}\"\n  target = \"/host\"\n}",
            "config.mount[0].source: \"/etc\" is outside",
        ),
        ("privileged", "privileged = \"${NOMAD_META_yes}\"", "config.privileged is not allowed on this node"),
        ("caps", "cap_add = [\"${NOMAD_META_cap}\"]", "config.cap_add: sys_admin not allowed on this node"),
        ("pid", "pid_mode = \"${NOMAD_META_host}\"", "config.pid_mode: host is not allowed on this node"),
    ] {
        let meta = "meta {\n  where = \"/etc\"\n  yes = \"true\"\n  cap = \"SYS_ADMIN\"\n  host = \"host\"\n}";
        let job = Job::new(id, &name).task(meta).config(config).group(
            "restart {\n  attempts = 0\n  mode = \"fail\"\n}\nreschedule {\n  attempts = 0\n  unlimited = false\n}",
        );
        submit(&agent, &job);
        eventually(SOON, format!("the refusal of {id}"), || {
            let found = allocations(&agent, id);
            let Some(alloc) = found.first().map(|alloc| text(alloc, "ID")) else {
                return Err("no allocation".to_owned());
            };
            let events = event_texts(&agent, &alloc, "main");
            if events.iter().any(|event| event.contains(expected)) { Ok(()) } else { Err(format!("{events:#?}")) }
        })
        .unwrap();
        assert!(machine.engine.containers().unwrap().is_empty(), "{id}");
    }
}

#[test]
fn a_link_put_in_the_place_of_a_volume_leads_nowhere() {
    let machine = Machine::start();
    let agent = machine.agent("");
    let (_, name) = machine.push("shop/swapped");
    // As soon as the folder that was asked for is there, a link to the root of the host stands in its way.
    let swap = "while [ ! -d /alloc/x/etc ]; do :; done; mv /alloc/x /alloc/y && ln -s / /alloc/x; exec sleep 100000";
    let swapper = format!(
        "task \"swapper\" {{\n  driver = \"docker\"\n  lifecycle {{\n    hook = \"prestart\"\n    sidecar = true\n  }}\n  \
         config {{\n    image = \"{name}\"\n    command = \"/bin/sh\"\n    args = [\"-c\", \"{swap}\"]\n  }}\n  \
         resources {{\n    cpu = 20\n    memory = 32\n  }}\n}}"
    );
    let look = "until [ -L /alloc/x ]; do sleep 0.01; done; \
                if [ -e /mnt/passwd ]; then echo it is the host; else echo it is $(ls /mnt | wc -l) files; fi; exec sleep 100000";
    let job = Job::new("swapped", &name)
        .group(&swapper)
        .config("command = \"/bin/sh\"")
        .config(&format!("args = [\"-c\", \"{look}\"]"))
        .config("volumes = [\"../alloc/x/etc:/mnt\"]");
    submit(&agent, &job);
    let alloc = wait_running(&agent, "swapped", 1).remove(0);
    eventually(SOON, "what the task sees".to_owned(), || {
        let log = agent.cli(&["alloc", "logs", "-task", "main", &alloc]).map_err(|error| error.to_string())?;
        if log.stdout.starts_with("it is") { Ok(log.stdout) } else { Err(format!("{log:?}")) }
    })
    .map(|seen| assert_eq!(seen, "it is 0 files\n"))
    .unwrap();
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    let pins = agent.data_dir().display().to_string();
    let left: Vec<_> = mounts.lines().filter(|line| line.contains(&pins) && line.contains("/pins/")).collect();
    assert!(left.is_empty(), "{left:#?}");
    // What a task writes there is in the allocation's folder.
    agent
        .cli(&["alloc", "exec", "-task", "main", &alloc, "/bin/sh", "-c", "echo kept > /mnt/file"])
        .unwrap()
        .success("write")
        .unwrap();
    let read = agent.cli(&["alloc", "fs", &alloc, "alloc/y/etc/file"]).unwrap().success("read").unwrap();
    assert_eq!(read.stdout, "kept\n");
}
