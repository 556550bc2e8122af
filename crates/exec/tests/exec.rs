//! Real processes under a real supervisor, which is this very program called with a hidden command.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use longshore_driver::{
    AcceptRequest, Driver, DriverError, ErrorClass, EventSink, ExitResult, KnownAllocation, KnownTask, LogFiles,
    NodeIdentity, Recovered, StartRequest, Started, TaskDirs, TaskId,
};
use longshore_exec::{HIDDEN_COMMANDS, MockDriver, RawExec, RawExecSetup, hidden_main};
use longshore_model::{AllocId, AllocatedTask, Dns, JobKey, LogConfig, NodeId, Timestamp};
use longshore_values::GoDuration;
use serde_json::{Value, json};

const PATIENCE: Duration = Duration::from_secs(10);

/// A node's folders, with a supervisor of its own that is ended with it.
struct World {
    alloc: AllocId,
    folder: tempfile::TempDir,
    supervisor: PathBuf,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let supervisor = folder.path().join("supervisor");
        // Control groups are named after allocations, and worlds of other processes have theirs beside ours.
        static WORLDS: AtomicU64 = AtomicU64::new(1);
        let number = u128::from(std::process::id()) << 64 | u128::from(WORLDS.fetch_add(1, Ordering::SeqCst));
        Self { alloc: AllocId::from_u128(number), folder, supervisor }
    }

    /// An agent's driver.
    fn driver(&self) -> RawExec {
        RawExec::new(RawExecSetup::new(&self.supervisor, false))
    }

    fn request(&self, task: &str, attempt: u64, config: Value) -> StartRequest {
        let alloc = self.alloc;
        let alloc_root = self.folder.path().join("alloc").join(alloc.to_string());
        let (shared_alloc, task_folder) = (alloc_root.join("alloc"), alloc_root.join(task));
        let dirs = TaskDirs {
            logs: shared_alloc.join("logs"),
            local: task_folder.join("local"),
            secrets: task_folder.join("secrets"),
            task: task_folder,
            shared_alloc,
            alloc_root,
        };
        for folder in [&dirs.logs, &dirs.local] {
            std::fs::create_dir_all(folder).unwrap();
        }
        let config_of_logs = LogConfig { max_files: 2, max_file_size_mb: 1, disabled: false };
        StartRequest {
            id: TaskId { alloc, task: task.to_owned() },
            attempt,
            node: NodeIdentity {
                id: NodeId::from_u128(7),
                name: "host-a".to_owned(),
                datacenter: "dc1".to_owned(),
                region: "global".to_owned(),
            },
            job: JobKey::new("default", "shop"),
            job_name: "shop".to_owned(),
            group: "web".to_owned(),
            user: String::new(),
            config,
            env: BTreeMap::from([
                ("PATH".to_owned(), "/usr/bin:/bin".to_owned()),
                ("GREETING".to_owned(), "hello".to_owned()),
            ]),
            logs: LogFiles { folder: dirs.logs.clone(), task: task.to_owned(), config: config_of_logs },
            dirs,
            resources: AllocatedTask::default(),
            node_cpu_mhz: 1000,
            ports: Vec::new(),
            network_mode: None,
            network: None,
            dns: Dns::default(),
            events: EventSink::new(|_| {}),
        }
    }

    fn shell(&self, task: &str, attempt: u64, script: &str) -> StartRequest {
        self.request(task, attempt, json!({"command": "sh", "args": ["-c", script]}))
    }

    fn log(&self, task: &str, stream: &str) -> String {
        let logs = self.folder.path().join("alloc").join(self.alloc.to_string()).join("alloc/logs");
        std::fs::read_to_string(logs.join(format!("{task}.{stream}.0"))).unwrap_or_default()
    }

    /// The last line of a task's output, once it has said something.
    async fn said(&self, task: &str) -> String {
        until("the task says something", || self.log(task, "stdout").ends_with('\n')).await;
        self.log(task, "stdout").lines().last().unwrap().to_owned()
    }

    /// The process of the supervisor; 0 for none.
    fn supervisor_pid(&self) -> i32 {
        let wanted = self.supervisor.as_os_str();
        processes()
            .into_iter()
            .find(|(_, arguments)| {
                arguments.get(1).is_some_and(|it| it == "__supervisor")
                    && arguments.get(2).is_some_and(|it| Path::new(it) == wanted)
            })
            .map_or(0, |(pid, _)| pid)
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let pid = self.supervisor_pid();
        if pid != 0 {
            // Told to, it ends its tasks first.
            let _ = nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), nix::sys::signal::Signal::SIGTERM);
            let until = Instant::now() + PATIENCE;
            while self.supervisor_pid() != 0 && Instant::now() < until {
                std::thread::sleep(Duration::from_millis(5));
            }
        }
    }
}

/// All processes that are not over, with their arguments.
fn processes() -> Vec<(i32, Vec<String>)> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    pids.filter_map(|pid| {
        let text = std::fs::read_to_string(format!("/proc/{pid}/cmdline")).ok().filter(|text| !text.is_empty())?;
        Some((pid, text.trim_end_matches('\0').split('\0').map(str::to_owned).collect()))
    })
    .collect()
}

fn lives(pid: i32) -> bool {
    processes().iter().any(|(other, _)| *other == pid)
}

async fn until(what: &str, holds: impl Fn() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < deadline, "waited in vain: {what}");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

async fn start(driver: &dyn Driver, request: StartRequest) -> Started {
    driver.start(request).await.unwrap_or_else(|error| panic!("{}", error.full_text()))
}

async fn run(driver: &dyn Driver, request: StartRequest) -> ExitResult {
    let started = start(driver, request).await;
    tokio::time::timeout(PATIENCE, driver.wait(&started.handle)).await.unwrap().unwrap()
}

fn text(result: Result<Started, DriverError>) -> String {
    result.map_or_else(|error| error.full_text(), |_| "started".to_owned())
}

async fn output_environment_and_exit() {
    let world = World::new();
    let driver = world.driver();
    let script = "echo $GREETING from $(pwd); env | sort | grep -v -e ^PWD -e ^_ -e ^SHLVL >&2; exit 3";
    let exit = run(&driver, world.shell("web", 1, script)).await;
    assert_eq!((exit.exit_code, exit.signal, exit.message.as_str()), (3, 0, ""));
    let folder = world.request("web", 1, json!({})).dirs.task;
    assert_eq!(world.log("web", "stdout"), format!("hello from {}\n", folder.display()));
    assert_eq!(world.log("web", "stderr"), "GREETING=hello\nPATH=/usr/bin:/bin\n");
    let exit = run(&driver, world.shell("web", 2, "kill -TERM $$")).await;
    assert_eq!((exit.exit_code, exit.signal), (143, 15));
}

async fn tasks_outlive_the_agent() {
    let world = World::new();
    let driver = world.driver();
    let stays = start(&driver, world.shell("stays", 1, "echo $$; exec sleep 1000")).await;
    let ends = start(&driver, world.shell("ends", 1, "read x < go; exit 5")).await;
    let pid: i32 = world.said("stays").await.parse().unwrap();
    // Whatever way an agent ends, its connections close.
    drop(driver);

    let go = world.request("ends", 1, json!({})).dirs.task.join("go");
    until("the shell has looked", || lives(pid)).await;
    std::fs::write(&go, "now\n").unwrap();
    let driver = world.driver();
    let request = world.shell("stays", 1, "");
    let recovered = driver.recover(&stays.handle, request.clone()).await.unwrap();
    assert!(matches!(recovered, Recovered::Running { started_at } if started_at == stays.started_at), "{recovered:?}");
    let exit = driver.wait(&ends.handle).await.unwrap();
    // Whether the file was there in time or not, the exit is known.
    assert!([2, 5].contains(&exit.exit_code), "{exit:?}");
    let recovered = driver.recover(&ends.handle, request).await.unwrap();
    assert!(matches!(recovered, Recovered::Exited(found) if found == exit));

    driver.stop(&stays.handle, "", GoDuration::seconds(5)).await.unwrap();
    let exit = driver.wait(&stays.handle).await.unwrap();
    assert_eq!((exit.exit_code, exit.signal), (130, 2));
    assert!(!lives(pid));
    driver.destroy(&stays.handle).await.unwrap();
    driver.destroy(&stays.handle).await.unwrap();
    let gone = driver.recover(&stays.handle, world.shell("stays", 1, "")).await.unwrap();
    assert!(matches!(gone, Recovered::Gone));
}

async fn who_does_not_listen_is_killed_with_all_its_children() {
    let world = World::new();
    let driver = world.driver();
    let script = "trap '' INT; sleep 1000 & echo $!; wait; sleep 1000";
    let started = start(&driver, world.shell("deaf", 1, script)).await;
    let child: i32 = world.said("deaf").await.parse().unwrap();
    let before = Instant::now();
    driver.stop(&started.handle, "SIGINT", GoDuration::milliseconds(200)).await.unwrap();
    assert!(before.elapsed() >= Duration::from_millis(200));
    let exit = driver.wait(&started.handle).await.unwrap();
    assert_eq!((exit.exit_code, exit.signal), (137, 9));
    assert!(!lives(child));

    // What the main process leaves behind goes with it, and what it said is not lost.
    let started = start(&driver, world.shell("parent", 1, "sleep 1000 & echo $!")).await;
    let exit = tokio::time::timeout(PATIENCE, driver.wait(&started.handle)).await.unwrap().unwrap();
    assert_eq!(exit.exit_code, 0);
    let child: i32 = world.said("parent").await.parse().unwrap();
    assert!(!lives(child));
}

async fn one_attempt_is_one_start() {
    let world = World::new();
    let driver = world.driver();
    let request = world.shell("web", 1, "echo x; exec sleep 1000");
    let first = start(&driver, request.clone()).await;
    world.said("web").await;
    let second = start(&driver, request.clone()).await;
    assert_eq!(second.handle, first.handle);
    assert_eq!(second.started_at, first.started_at);
    assert_eq!(world.log("web", "stdout"), "x\n");
    let rival = text(driver.start(StartRequest { attempt: 2, ..request }).await);
    assert!(rival.ends_with(&format!("attempt 1 of {}/web still runs", world.alloc)), "{rival}");
}

async fn what_cannot_start_says_why() {
    let world = World::new();
    let driver = world.driver();
    let missing = text(driver.start(world.request("web", 1, json!({"command": "no-such-program"}))).await);
    assert!(missing.starts_with("there is no program `no-such-program`: looked at "), "{missing}");
    let request = StartRequest { user: "no-such-user".to_owned(), ..world.shell("web", 1, "true") };
    let user = text(driver.start(request.clone()).await);
    assert_eq!(user, "could not start the task: there is no user `no-such-user` on this host");
    // Nothing of the attempt is left: it may be made again.
    let exit = run(&driver, StartRequest { user: String::new(), ..request }).await;
    assert_eq!(exit.exit_code, 0);
    let folder = world.folder.path().join("not-a-program");
    std::fs::write(&folder, "#!/no/such/interpreter\n").unwrap();
    std::fs::set_permissions(&folder, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let bad = text(driver.start(world.request("bad", 1, json!({"command": folder}))).await);
    assert!(bad.contains("No such file or directory"), "{bad}");
}

async fn another_user() {
    let world = World::new();
    let driver = world.driver();
    // The folders above the task's own are closed to others; its own program in there can be run all the same.
    let request = world.request("web", 1, json!({"command": "local/who.sh"}));
    let program = request.dirs.local.join("who.sh");
    std::fs::write(&program, "#!/bin/sh\nid -un; id -G\n").unwrap();
    open_to_all(&program);
    open_to_all(&request.dirs.local);
    open_to_all(&request.dirs.task);
    let request = StartRequest { user: "nobody".to_owned(), ..request };
    if nix::unistd::Uid::effective().is_root() {
        let exit = run(&driver, request).await;
        assert_eq!(exit.exit_code, 0, "{}", world.log("web", "stderr"));
        let gid = nix::unistd::User::from_name("nobody").unwrap().unwrap().gid;
        assert_eq!(world.log("web", "stdout"), format!("nobody\n{gid}\n"));
    } else {
        let refused = text(driver.start(StartRequest { user: "root".to_owned(), ..request }).await);
        assert!(refused.ends_with("the agent must run as root for that"), "{refused}");
    }
}

fn open_to_all(folder: &Path) {
    std::fs::set_permissions(folder, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
}

async fn a_supervisor_that_dies_takes_its_tasks_with_it() {
    let world = World::new();
    let driver = world.driver();
    let started = start(&driver, world.shell("web", 1, "trap '' PIPE; echo $$; sleep 1000; echo x")).await;
    let pid: i32 = world.said("web").await.parse().unwrap();
    let supervisor = nix::unistd::Pid::from_raw(world.supervisor_pid());
    let (exit, ()) = tokio::join!(
        async {
            // The question that was under way fails; asked again it reaches the successor.
            loop {
                match driver.wait(&started.handle).await {
                    Ok(exit) => break exit,
                    Err(error) => assert_eq!(error.class, ErrorClass::Retry, "{}", error.full_text()),
                }
            }
        },
        async { nix::sys::signal::kill(supervisor, nix::sys::signal::Signal::SIGKILL).unwrap() }
    );
    assert_eq!(exit.signal, 9);
    assert_eq!(exit.message, "the supervisor of tasks or the machine went down, and the task with it");
    assert!(!lives(pid));
}

async fn with_the_agent_under_dev() {
    let world = World::new();
    let driver = RawExec::new(RawExecSetup::new(&world.supervisor, true));
    start(&driver, world.shell("web", 1, "echo $$; exec sleep 1000")).await;
    let pid: i32 = world.said("web").await.parse().unwrap();
    let supervisor = world.supervisor_pid();
    assert!(lives(supervisor));
    drop(driver);
    until("supervisor and task have ended", || !lives(supervisor) && !lives(pid)).await;
}

async fn what_nobody_knows_is_ended() {
    let world = World::new();
    let driver = world.driver();
    let web = start(&driver, world.shell("web", 1, "echo $$; exec sleep 1000")).await;
    let pid: i32 = world.said("web").await.parse().unwrap();
    let alloc = web.handle.id.alloc;
    let known = KnownAllocation {
        alloc,
        replaces: None,
        tasks: vec![KnownTask { name: "web".to_owned(), config: json!({}), handle: Some(web.handle.clone()) }],
        own_network: false,
        ended_at: None,
    };
    drop(driver);
    let driver = world.driver();
    driver.restore(vec![known.clone()]).await.unwrap();
    assert!(lives(pid));
    let ended = KnownAllocation { ended_at: Some(Timestamp::from_seconds(1)), ..known };
    driver.restore(vec![ended]).await.unwrap();
    assert!(!lives(pid));

    start(&driver, world.shell("web", 2, "echo $$; exec sleep 1000")).await;
    until("the second says something", || world.log("web", "stdout").lines().count() == 2).await;
    let pid: i32 = world.said("web").await.parse().unwrap();
    driver.forget(alloc, Timestamp::from_seconds(1)).await.unwrap();
    assert!(!lives(pid));
    driver.forget(alloc, Timestamp::from_seconds(1)).await.unwrap();
}

async fn a_driver_without_tasks_has_no_supervisor() {
    let world = World::new();
    let driver = world.driver();
    driver.restore(Vec::new()).await.unwrap();
    let accept = AcceptRequest { alloc: world.alloc, replaces: None, tasks: Vec::new(), own_network: false };
    driver.accept(accept).await.unwrap();
    driver.forget(world.alloc, Timestamp::from_seconds(1)).await.unwrap();
    driver.shutdown().await;
    assert_eq!(world.supervisor_pid(), 0);
    assert!(!world.supervisor.exists());
}

async fn a_long_path_is_no_obstacle() {
    let mut world = World::new();
    world.supervisor = world.folder.path().join("d".repeat(100)).join("e".repeat(100)).join("supervisor");
    let driver = world.driver();
    assert_eq!(run(&driver, world.shell("web", 1, "true")).await.exit_code, 0);
}

async fn a_start_that_is_called_off_leaves_nothing() {
    let world = World::new();
    let driver = Arc::new(world.driver());
    // So that the supervisor is there and the start is quick.
    run(&*driver, world.shell("first", 1, "true")).await;
    for attempt in 1..20 {
        let request = world.shell("web", attempt, "exec sleep 7654");
        let starting = {
            let driver = Arc::clone(&driver);
            tokio::spawn(async move { driver.start(request).await.map(|_| ()) })
        };
        tokio::time::sleep(Duration::from_micros(attempt * 400)).await;
        starting.abort();
        let _ = starting.await;
        driver.forget(world.alloc, Timestamp::from_seconds(1)).await.unwrap();
        let left: Vec<_> = processes()
            .into_iter()
            .filter(|(_, arguments)| arguments == &["sleep", "7654"])
            .filter(|(pid, _)| {
                let folder = std::fs::read_link(format!("/proc/{pid}/cwd")).unwrap_or_default();
                folder.starts_with(world.folder.path())
            })
            .collect();
        assert_eq!(left, [], "attempt {attempt}");
    }
}

async fn mock_tasks_do_as_they_are_told() {
    let world = World::new();
    let driver = MockDriver::new();
    let config = json!({"run_for": "20ms", "exit_code": 7, "exit_err_msg": "disk on fire", "stdout_string": "hi\n"});
    let exit = run(&driver, world.request("web", 1, config)).await;
    assert_eq!((exit.exit_code, exit.message.as_str()), (7, "disk on fire"));
    assert_eq!(world.log("web", "stdout"), "hi\n");
    let started = start(&driver, world.request("web", 2, json!({"run_for": "1h"}))).await;
    let (stopped, exit) =
        tokio::join!(driver.stop(&started.handle, "", GoDuration::seconds(5)), driver.wait(&started.handle));
    stopped.unwrap();
    assert!(exit.unwrap().successful());
    driver.destroy(&started.handle).await.unwrap();
    let gone = driver.recover(&started.handle, world.request("web", 2, json!({}))).await.unwrap();
    assert!(matches!(gone, Recovered::Gone));
    let error = text(driver.start(world.request("web", 3, json!({"start_error": "engine is cold"}))).await);
    assert_eq!(error, "engine is cold");
}

/// The tests by name, in the little of libtest's ways that test runners need.
macro_rules! tests {
    ($($name:ident),* $(,)?) => {
        fn run_test(name: &str) {
            let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
            match name {
                $(stringify!($name) => runtime.block_on($name()),)*
                other => panic!("there is no test {other}"),
            }
        }
        const TESTS: &[&str] = &[$(stringify!($name)),*];
    };
}

tests! {
    output_environment_and_exit,
    tasks_outlive_the_agent,
    who_does_not_listen_is_killed_with_all_its_children,
    one_attempt_is_one_start,
    what_cannot_start_says_why,
    another_user,
    a_supervisor_that_dies_takes_its_tasks_with_it,
    with_the_agent_under_dev,
    what_nobody_knows_is_ended,
    a_driver_without_tasks_has_no_supervisor,
    a_long_path_is_no_obstacle,
    a_start_that_is_called_off_leaves_nothing,
    mock_tasks_do_as_they_are_told,
}

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1).peekable();
    if arguments.peek().and_then(|first| first.to_str()).is_some_and(|first| HIDDEN_COMMANDS.contains(&first)) {
        return hidden_main(arguments);
    }
    let arguments: Vec<_> = arguments.filter_map(|argument| argument.into_string().ok()).collect();
    let arguments: Vec<_> = arguments.into_iter().filter(|argument| argument != "terse").collect();
    let given = |flag: &str| arguments.iter().any(|argument| argument == flag);
    let filters: Vec<_> = arguments.iter().filter(|argument| !argument.starts_with('-')).collect();
    let wanted = |name: &str| {
        let matches = |filter: &String| if given("--exact") { name == *filter } else { name.contains(filter.as_str()) };
        (filters.is_empty() || filters.iter().any(|filter| matches(filter))) && !given("--ignored")
    };
    let names: Vec<_> = TESTS.iter().filter(|name| wanted(name)).collect();
    if given("--list") {
        for name in names {
            println!("{name}: test");
        }
        return ExitCode::SUCCESS;
    }
    let failed = Mutex::new(Vec::new());
    for name in names {
        if std::panic::catch_unwind(|| run_test(name)).is_err() {
            failed.lock().unwrap().push(*name);
        }
    }
    let failed = failed.into_inner().unwrap();
    println!("failed: {failed:?}");
    if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
