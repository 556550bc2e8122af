//! The node against a scripted server and a scripted driver, with real files and real time.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod scripted;

use std::sync::Arc;
use std::time::Duration;

use longshore_client::{Client, ClientConfig, PreparedClient};
use longshore_driver::ExitResult;
use longshore_link::AllocationReport;
use longshore_model::{AllocId, Allocation, ClientStatus, DesiredStatus, LogIndex, WishAnswer};
use longshore_samples::Folder;
use longshore_values::GoDuration;
use scripted::{ScriptedDriver, ScriptedServer, allocation, task};

/// One node with its server and driver; both outlive the node's process.
struct World {
    folder: Folder,
    server: Arc<ScriptedServer>,
    driver: Arc<ScriptedDriver>,
}

impl World {
    fn new() -> Self {
        Self {
            folder: Folder::new(),
            server: Arc::new(ScriptedServer::default()),
            driver: Arc::new(ScriptedDriver::default()),
        }
    }

    async fn start(&self) -> Client {
        let base = self.folder.path();
        let config = ClientConfig::new(base.join("client"), base.join("alloc"), "host-a");
        let prepared = PreparedClient::read(config).unwrap();
        Client::run(prepared, Arc::clone(&self.server) as _, vec![Arc::clone(&self.driver) as _])
    }

    async fn report(&self, alloc: u128, status: ClientStatus) -> AllocationReport {
        self.server.report(AllocId::from_u128(alloc), |report| report.client_status == status).await
    }

    fn folder_of(&self, alloc: u128) -> std::path::PathBuf {
        self.folder.path().join("alloc").join(AllocId::from_u128(alloc).to_string())
    }
}

fn stopped(alloc: &Allocation) -> Allocation {
    let mut alloc = alloc.clone();
    alloc.desired_status = DesiredStatus::Stop;
    alloc.alloc_modify_index = LogIndex(alloc.alloc_modify_index.0 + 1);
    alloc
}

fn exit(exit_code: i32) -> ExitResult {
    ExitResult { exit_code, signal: 0, oom_killed: false, by_engine: false, message: String::new() }
}

fn events(report: &AllocationReport, task: &str) -> String {
    report.task_states[task].events.iter().map(|event| format!("{}: {}\n", event.kind, event.message)).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_allocation_runs_and_is_stopped() {
    let world = World::new();
    let client = world.start().await;
    world.server.registered(1).await;
    let alloc = allocation(1, vec![task("web")]);
    let listed_at = std::time::Instant::now();
    world.server.list(vec![alloc.clone()]);
    let report = world.report(1, ClientStatus::Running).await;
    println!("running was told {:?} after the server had listed it", listed_at.elapsed());
    insta::assert_snapshot!(events(&report, "web"), @r"
    Received: Task received by client
    Task Setup: Building Task Directory
    Started: Task started by client
    ");
    assert!(world.folder_of(1).join("web/secrets").is_dir());

    world.server.list(vec![stopped(&alloc)]);
    let report = world.report(1, ClientStatus::Complete).await;
    insta::assert_snapshot!(events(&report, "web"), @r"
    Received: Task received by client
    Task Setup: Building Task Directory
    Started: Task started by client
    Killing: Sent interrupt. Waiting 5s before force killing
    Terminated: Exit Code: 0, Signal: 2
    Killed: Task successfully killed
    ");
    world.driver.called("forget 1").await;
    insta::assert_snapshot!(world.driver.calls().join("\n"), @r"
    restore 
    accept 1
    start 1/web attempt 1
    stop 1/web
    stopped 1/web
    destroy 1/web
    forget 1
    ");

    // The server has collected it: nothing is left.
    world.server.list(Vec::new());
    world.gone(1).await;
    client.shutdown(false).await;
}

impl World {
    async fn gone(&self, alloc: u128) {
        let folder = self.folder_of(alloc);
        scripted::until("the folder is gone", || !folder.exists()).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_successor_is_accepted_first_and_starts_last() {
    let world = World::new();
    let client = world.start().await;
    let first = allocation(1, vec![task("web")]);
    world.server.list(vec![first.clone()]);
    world.report(1, ClientStatus::Running).await;

    // The successor cannot be accepted at once: nothing is stopped meanwhile.
    world.driver.refuse_accepts(2);
    let mut second = allocation(2, vec![task("web")]);
    second.previous_alloc = Some(first.id);
    world.server.list(vec![stopped(&first), second]);
    world.report(2, ClientStatus::Running).await;
    world.driver.called("forget 1").await;
    let calls = world.driver.calls();
    let at =
        |wanted: &str| calls.iter().position(|call| call == wanted).unwrap_or_else(|| panic!("{wanted}: {calls:?}"));
    assert_eq!(calls.iter().filter(|call| *call == "refused 2 replacing 1").count(), 2);
    assert!(at("accept 2 replacing 1") < at("stop 1/web"), "{calls:?}");
    assert!(at("stopped 1/web") < at("start 2/web attempt 1"), "{calls:?}");
    client.shutdown(false).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tasks_outlive_the_agent_and_are_found_again() {
    let world = World::new();
    let client = world.start().await;
    let (one, two) = (allocation(1, vec![task("web")]), allocation(2, vec![task("web")]));
    world.server.list(vec![one.clone(), two.clone()]);
    world.report(1, ClientStatus::Running).await;
    world.report(2, ClientStatus::Running).await;
    let id = client.node_id();
    client.shutdown(false).await;
    assert_eq!(world.driver.running(), ["1/web", "2/web"]);

    world.driver.exit("2/web", exit(0));
    world.driver.forget_calls();
    world.server.forget_reports();
    let client = world.start().await;
    assert_eq!(client.node_id(), id);
    // The one that ended meanwhile is told with its end, and starts again by its policy.
    let report = world.server.report(two.id, |report| report.task_states["web"].restarts == 1).await;
    assert!(events(&report, "web").contains("Terminated: Exit Code: 0\n"), "{report:?}");
    world.report(2, ClientStatus::Running).await;
    world.report(1, ClientStatus::Running).await;
    let calls = world.driver.calls();
    assert_eq!(calls[0], "restore 1 2");
    assert!(calls.contains(&"recover 1/web".to_owned()), "{calls:?}");
    assert!(!calls.iter().any(|call| call.starts_with("start 1/web")), "{calls:?}");

    // With the whole agent, as under -dev.
    client.shutdown(true).await;
    assert_eq!(world.driver.running(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_restart_policy_ends_a_task_that_cannot_start() {
    let world = World::new();
    let client = world.start().await;
    world.driver.fail_starts("1/web", 9);
    let mut web = task("web");
    web.restart.attempts = 1;
    web.restart.delay = GoDuration::milliseconds(20);
    world.server.list(vec![allocation(1, vec![web, task("side")])]);
    let report = world.report(1, ClientStatus::Failed).await;
    insta::with_settings!({filters => [(r"restarting in [0-9.]+ms", "restarting in [delay]")]}, {
        insta::assert_snapshot!(events(&report, "web"), @r#"
        Received: Task received by client
        Task Setup: Building Task Directory
        Driver Failure: engine is cold (hint: warm it)
        Restarting: Task restarting in [delay]
        Driver Failure: engine is cold (hint: warm it)
        Not Restarting: Exceeded allowed attempts 1 in interval 30m0s and mode is "fail"
        "#);
    });
    insta::assert_snapshot!(events(&report, "side"), @r#"
    Received: Task received by client
    Task Setup: Building Task Directory
    Started: Task started by client
    Sibling Task Failed: Task's sibling "web" failed
    Killing: Sent interrupt. Waiting 5s before force killing
    Terminated: Exit Code: 0, Signal: 2
    Killed: Task successfully killed
    "#);
    assert!(report.task_states["web"].failed && !report.task_states["side"].failed);
    world.driver.called("forget 1").await;
    client.shutdown(false).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_was_away_or_forgot_is_told_again() {
    let world = World::new();
    world.server.be_away(true);
    let client = world.start().await;
    world.server.called_in_vain(2).await;
    world.server.be_away(false);
    world.server.registered(1).await;
    world.server.forget_node();
    world.server.registered(2).await;
    world.server.list(vec![allocation(1, vec![task("web")])]);
    world.report(1, ClientStatus::Running).await;
    world.server.be_away(true);
    let failed = world.server.calls_in_vain();
    world.driver.exit("1/web", exit(3));
    world.server.called_in_vain(failed + 1).await;
    world.server.be_away(false);
    world.server.report(AllocId::from_u128(1), |report| report.task_states["web"].restarts == 1).await;
    client.shutdown(false).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_stopped_before_it_came_here_never_starts() {
    let world = World::new();
    let client = world.start().await;
    world.server.list(vec![stopped(&allocation(1, vec![task("web")]))]);
    let report = world.report(1, ClientStatus::Complete).await;
    assert!(report.task_states["web"].started_at.is_never());
    client.shutdown(false).await;
    assert_eq!(world.driver.calls(), ["restore "]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_start_that_hangs_is_called_off() {
    let world = World::new();
    let client = world.start().await;
    world.driver.hang_starts("1/web");
    let alloc = allocation(1, vec![task("web")]);
    world.server.list(vec![alloc.clone()]);
    world.driver.called("start 1/web attempt 1").await;
    world.server.list(vec![stopped(&alloc)]);
    let report = tokio::time::timeout(Duration::from_secs(5), world.report(1, ClientStatus::Complete)).await.unwrap();
    insta::assert_snapshot!(events(&report, "web"), @r"
    Received: Task received by client
    Task Setup: Building Task Directory
    Killing: Sent interrupt. Waiting 5s before force killing
    Killed: Task successfully killed
    ");
    world.driver.called("forget 1").await;
    client.shutdown(false).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_driver_that_is_away_holds_up_no_other_drivers_tasks() {
    let world = World::new();
    let absent = Arc::new(ScriptedDriver::away());
    let base = world.folder.path();
    let config = ClientConfig::new(base.join("client"), base.join("alloc"), "host-a");
    let drivers: Vec<Arc<dyn longshore_driver::Driver>> =
        vec![Arc::clone(&world.driver) as _, Arc::clone(&absent) as _];
    let client = Client::run(PreparedClient::read(config).unwrap(), Arc::clone(&world.server) as _, drivers);
    world.server.list(vec![allocation(1, vec![task("web")])]);
    world.report(1, ClientStatus::Running).await;
    // Over means that every driver has forgotten what it held; the other one never held anything.
    tokio::time::timeout(Duration::from_secs(10), client.shutdown(true)).await.unwrap();
    assert!(world.driver.calls().contains(&"forget 1".to_owned()));
    assert!(!absent.calls().contains(&"forget 1".to_owned()), "{:?}", absent.calls());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_server_wishes_for_is_brought_answered_and_let_go() {
    let world = World::new();
    let (good, bad) = (allocation(1, vec![task("web"), task("side")]), allocation(2, vec![task("cold")]));
    world.driver.fail_starts("cold", 1);
    let client = world.start().await;
    world.server.registered(1).await;
    world.server.wish(&[&good, &bad]);
    assert_eq!(world.server.answers(&good).await, [WishAnswer::Ready]);
    let why = "engine is cold".to_owned();
    assert_eq!(world.server.answers(&bad).await, [WishAnswer::Failed { why }]);
    let calls = world.driver.calls();
    let at = |call: &str| calls.iter().position(|made| made == call).unwrap_or_else(|| panic!("{call} in {calls:?}"));
    assert!(at("keep 3 prefetched") < at("prefetch shop@default v0 web/side"), "what is over goes first");

    // Told once more, it is answered; but nobody asks again for what was answered.
    world.driver.forget_calls();
    world.server.wish(&[&good]);
    world.driver.called("keep 2 prefetched").await;
    client.shutdown(false).await;
    assert_eq!(world.driver.calls(), ["keep 2 prefetched"]);

    // After a restart it is wished for still, and so asked for again.
    world.driver.forget_calls();
    let client = world.start().await;
    world.driver.called("prefetch shop@default v0 web/web").await;
    world.server.wish(&[]);
    world.driver.called("keep 0 prefetched").await;
    client.shutdown(false).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn drivers_are_told_what_can_be_gone_back_to_until_they_take_it() {
    let world = World::new();
    let alloc = allocation(1, vec![task("web")]);
    world.driver.be_deaf_to_wishes(true);
    let client = world.start().await;
    world.server.registered(1).await;
    world.server.can_go_back_to(&[&alloc]);
    world.driver.be_deaf_to_wishes(false);
    world.driver.called("keep versions shop@default v0").await;
    world.server.can_go_back_to(&[]);
    world.driver.called("keep versions").await;
    client.shutdown(false).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wish_that_ends_is_called_off_without_an_answer() {
    let world = World::new();
    let slow = allocation(1, vec![task("web")]);
    world.driver.hang_starts("web");
    let client = world.start().await;
    world.server.registered(1).await;
    world.server.wish(&[&slow]);
    world.driver.called("prefetch shop@default v0 web/web").await;
    world.driver.forget_calls();
    world.server.wish(&[]);
    world.driver.called("keep 0 prefetched").await;
    assert_eq!(world.driver.calls(), ["dropped prefetch shop@default v0 web/web", "keep 0 prefetched"]);
    let quick = allocation(2, vec![task("quick")]);
    world.server.wish_since(8, &[&quick]);
    assert_eq!(world.server.answers(&quick).await, [WishAnswer::Ready], "nothing holds it up");
    client.shutdown(false).await;
    assert_eq!(world.server.answered(), [8]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wish_that_is_told_anew_goes_on_with_what_is_under_way() {
    let world = World::new();
    let alloc = allocation(1, vec![task("web")]);
    world.driver.hang_starts("web");
    let client = world.start().await;
    world.server.registered(1).await;
    world.server.wish_since(7, &[&alloc]);
    world.driver.called("prefetch shop@default v0 web/web").await;
    // The other allocation's wish is the proof that the list was taken.
    let other = allocation(2, vec![task("quick")]);
    world.server.wish_since(8, &[&alloc, &other]);
    world.server.answers(&other).await;
    world.driver.let_go("web");
    assert_eq!(world.server.answers(&alloc).await, [WishAnswer::Ready]);
    assert!(!world.driver.calls().iter().any(|call| call.starts_with("dropped")), "{:?}", world.driver.calls());
    assert_eq!(world.server.answered(), [8, 8], "only the newest wish is open");

    // After its answer, too.
    world.server.wish_since(9, &[&alloc]);
    scripted::until("the newest wish's answer", || world.server.answered() == [8, 8, 9]).await;
    client.shutdown(false).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_delays_a_wish_is_told_once_and_then_its_answer() {
    let world = World::new();
    world.driver.hang_starts("web");
    world.driver.fail_starts("web", 1);
    let client = world.start().await;
    world.server.registered(1).await;
    let alloc = allocation(1, vec![task("web")]);
    world.server.wish(&[&alloc]);
    let why = "engine is cold (hint: warm it)".to_owned();
    let delayed = WishAnswer::Delayed { why };
    assert_eq!(world.server.answers(&alloc).await.first(), Some(&delayed));
    // It fails the same way again.
    world.driver.nudge();
    world.driver.let_go("web");
    let failed = WishAnswer::Failed { why: "engine is cold".to_owned() };
    let both = async {
        while world.server.answers(&alloc).await.len() < 2 {
            tokio::task::yield_now().await;
        }
        world.server.answers(&alloc).await
    };
    assert_eq!(tokio::time::timeout(Duration::from_secs(10), both).await.unwrap(), [delayed, failed]);
    client.shutdown(false).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn wishes_are_answered_though_a_driver_takes_no_list() {
    let world = World::new();
    let alloc = allocation(1, vec![task("web")]);
    world.driver.be_deaf_to_wishes(true);
    let client = world.start().await;
    world.server.registered(1).await;
    world.server.wish(&[&alloc]);
    assert_eq!(world.server.answers(&alloc).await, [WishAnswer::Ready]);
    world.driver.be_deaf_to_wishes(false);
    world.driver.called("keep 1 prefetched").await;
    client.shutdown(false).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_acceptance_that_cannot_succeed_is_given_up_when_nobody_wants_it_any_more() {
    let world = World::new();
    world.driver.refuse_accepts(usize::MAX);
    let client = world.start().await;
    let (alloc, purged) = (allocation(1, vec![task("web")]), allocation(2, vec![task("web")]));
    world.server.list(vec![alloc.clone(), purged]);
    world.driver.called("refused 1").await;
    world.driver.called("refused 2").await;
    world.server.list(vec![stopped(&alloc)]);
    let report = world.report(1, ClientStatus::Complete).await;
    assert!(report.task_states["web"].started_at.is_never());
    world.driver.called("forget 1").await;
    world.driver.called("forget 2").await;
    world.driver.forget_calls();
    // Nor does the end of the agent wait for what cannot be taken in.
    world.server.list(vec![allocation(3, vec![task("web")])]);
    world.driver.called("refused 3").await;
    tokio::time::timeout(Duration::from_secs(5), client.shutdown(true)).await.unwrap();
    let calls = world.driver.calls();
    assert!(!calls.iter().any(|call| call == "refused 1" || call == "refused 2"), "{calls:?}");
    world.driver.refuse_accepts(0);
    let client = world.start().await;
    world.report(3, ClientStatus::Running).await;
    client.shutdown(false).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fault_of_the_agent_costs_one_allocation_and_no_other() {
    let world = World::new();
    world.driver.break_off_at("start 1/side");
    world.driver.break_off_at("accept 3");
    let client = world.start().await;
    let tasks = || vec![task("web"), task("side")];
    let all = [allocation(1, tasks()), allocation(2, vec![task("web")]), allocation(3, vec![task("web")])];
    world.server.list(all.to_vec());
    let report = world.report(1, ClientStatus::Failed).await;
    assert!(report.client_description.contains("fault of its own"), "{}", report.client_description);
    assert!(report.task_states.values().all(|state| state.failed));
    world.driver.called("forget 1").await;
    world.report(3, ClientStatus::Failed).await;
    world.driver.called("forget 3").await;
    world.report(2, ClientStatus::Running).await;
    assert_eq!(world.driver.running(), ["2/web"]);
    client.shutdown(false).await;
    // Nor is it taken up again by the next start.
    world.driver.forget_calls();
    world.server.list(all.to_vec());
    let client = world.start().await;
    world.driver.called("recover 2/web").await;
    world.server.list(vec![stopped(&all[1])]);
    world.report(2, ClientStatus::Complete).await;
    client.shutdown(false).await;
    let calls = world.driver.calls();
    assert!(!calls.iter().any(|call| call.starts_with("start")), "{calls:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_folder_that_cannot_be_removed_yet_is_not_forgotten() {
    use std::os::unix::fs::PermissionsExt;

    let world = World::new();
    let client = world.start().await;
    let alloc = allocation(1, vec![task("web")]);
    world.server.list(vec![alloc.clone()]);
    world.report(1, ClientStatus::Running).await;
    world.server.list(vec![stopped(&alloc)]);
    world.report(1, ClientStatus::Complete).await;
    // What nobody may remove: root because something is mounted there, others because of the folder's rights.
    let busy = world.folder_of(1).join("busy");
    std::fs::create_dir_all(busy.join("inner")).unwrap();
    let root = nix::unistd::Uid::effective().is_root();
    let free = || {
        if root {
            nix::mount::umount(&busy).unwrap();
        } else {
            std::fs::set_permissions(&busy, std::fs::Permissions::from_mode(0o700)).unwrap();
        }
    };
    if root {
        let flags = nix::mount::MsFlags::empty();
        nix::mount::mount(Some("tmpfs"), &busy, Some("tmpfs"), flags, Some("size=64k")).unwrap();
    } else {
        std::fs::set_permissions(&busy, std::fs::Permissions::from_mode(0o500)).unwrap();
    }
    world.server.list(Vec::new());
    let logs = world.folder_of(1).join("alloc");
    scripted::until("the first try", || !logs.exists()).await;
    client.shutdown(false).await;
    assert!(busy.exists());
    free();
    // The next start knows of it still.
    let client = world.start().await;
    scripted::until("the folder to be gone", || !world.folder_of(1).exists()).await;
    client.shutdown(false).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn drivers_are_told_from_time_to_time_which_allocations_there_are() {
    let world = World::new();
    let base = world.folder.path();
    let mut config = ClientConfig::new(base.join("client"), base.join("alloc"), "host-a");
    config.compare_period = GoDuration::milliseconds(50);
    let prepared = PreparedClient::read(config).unwrap();
    let client = Client::run(prepared, Arc::clone(&world.server) as _, vec![Arc::clone(&world.driver) as _]);
    world.driver.called("compare ").await;
    let alloc = allocation(1, vec![task("web")]);
    world.server.list(vec![alloc.clone()]);
    world.driver.called("compare 1").await;
    world.server.list(vec![stopped(&alloc)]);
    world.report(1, ClientStatus::Complete).await;
    world.server.list(Vec::new());
    world.gone(1).await;
    let nothing_left = async {
        while world.driver.calls().iter().filter(|call| *call == "compare ").count() < 2 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), nothing_left).await.unwrap();
    client.shutdown(false).await;
}
