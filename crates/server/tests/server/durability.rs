//! What is there after a restart, a crash, or a disk that refuses.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use longshore_journal::{EmbeddedJournal, Entry, Journal, JournalError, MemoryJournal, Opened, Snapshot};
use longshore_model::*;
use longshore_server::{RegisterJob, Server, ServerConfig, ServerError};

use crate::fixtures::{changed, job, node};
use crate::world::*;

#[tokio::test(flavor = "multi_thread")]
async fn a_restart_from_the_journal_keeps_all() {
    let folder = tempfile::tempdir().unwrap();
    let server = server_from(EmbeddedJournal::open(folder.path()).unwrap()).await;
    let sim = SimNode::start(&server, node(1)).await;
    let web = job("web", 3);
    register(&server, &web).await;
    eventually(&server, "the deployment", |state| deployment_is(state, &web, 0, DeploymentStatus::Successful)).await;
    drop(sim);
    server.shutdown().await;
    let before = server.snapshot();
    drop(server);

    let server = server_from(reopened(folder.path())).await;
    let image = |state: &longshore_state::State| String::from_utf8(state.to_image().unwrap()).unwrap();
    assert_eq!(image(&server.snapshot()), image(&before));

    // And it goes on from there.
    let _sim = SimNode::start(&server, node(1)).await;
    register(&server, &changed(&web, |group| group.count = 4)).await;
    eventually(&server, "one more", |state| live(state, &web).len() == 4).await;
    server.shutdown().await;
}

/// Another test of this process may just have forked, and so hold the lock's file until its child has begun.
fn reopened(folder: &Path) -> Opened {
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(5);
    loop {
        match EmbeddedJournal::open(folder) {
            Err(JournalError::InUse { .. }) if std::time::Instant::now() < deadline => std::thread::yield_now(),
            opened => return opened.unwrap(),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_waited_for_room_is_tried_again_after_a_restart() {
    let journal = MemoryJournal::default();
    let server = server_from(journal.open()).await;
    let web = job("web", 1);
    register(&server, &web).await;
    let blocked = |state: &longshore_state::State| {
        state.evaluations_of_job(&web.key).any(|evaluation| evaluation.status == EvalStatus::Blocked)
    };
    eventually(&server, "a blocked evaluation", blocked).await;
    server.shutdown().await;
    let server = server_from(journal.open()).await;
    assert!(blocked(&server.snapshot()));
    let _sim = SimNode::start(&server, node(1)).await;
    eventually(&server, "the deployment", |state| deployment_is(state, &web, 0, DeploymentStatus::Successful)).await;
    server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn snapshots_are_taken_on_the_way_and_shorten_the_start() {
    let journal = MemoryJournal::default();
    let config = ServerConfig { workers: 1, snapshot_after_bytes: 10_000, ..ServerConfig::default() };
    let server = Server::start(config, journal.open()).await.unwrap();
    for number in 0..60 {
        register(&server, &job(&format!("web-{number}"), 1)).await;
    }
    // While evaluations wait, workers go on writing between the look at the journal and that at the state.
    eventually(&server, "the end of all evaluations", |state| {
        state.evaluations().all(|evaluation| evaluation.status != EvalStatus::Pending)
    })
    .await;
    // No orderly end: what is there now is what a crash would leave.
    let Opened { snapshot, entries, .. } = journal.open();
    let after = snapshot.expect("no snapshot was taken").index;
    assert!(after > LogIndex(0));
    assert_eq!(after.0 + entries.count() as u64, server.snapshot().index().0);
    server.shutdown().await;
    assert_eq!(journal.open().entries.count(), 0, "the last snapshot leaves nothing to repeat");
}

/// A journal that can be told to refuse.
struct Refusing {
    inner: Arc<dyn Journal>,
    refuses: AtomicBool,
}

#[async_trait]
impl Journal for Refusing {
    async fn append(&self, entries: Vec<Entry>) -> Result<(), JournalError> {
        if self.refuses.load(Ordering::SeqCst) {
            return Err(JournalError::DiskFull { doing: "append to", file: "/data/journal.db".into() });
        }
        self.inner.append(entries).await
    }
    async fn save_snapshot(&self, snapshot: Snapshot) -> Result<(), JournalError> {
        self.inner.save_snapshot(snapshot).await
    }
    async fn close(&self) -> Result<(), JournalError> {
        self.inner.close().await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_journal_refuses_never_happened() {
    let opened = MemoryJournal::default().open();
    let refusing = Arc::new(Refusing { inner: Arc::clone(&opened.journal), refuses: AtomicBool::new(false) });
    let journal: Arc<dyn Journal> = Arc::<Refusing>::clone(&refusing);
    let server = server_from(Opened { journal, ..opened }).await;
    register(&server, &job("first", 1)).await;
    eventually(&server, "a blocked evaluation", |state| {
        state.evaluations().any(|evaluation| evaluation.status == EvalStatus::Blocked)
    })
    .await;
    let before = server.snapshot();
    refusing.refuses.store(true, Ordering::SeqCst);
    let second = RegisterJob { job: job("second", 1), enforce_index: None, eval_priority: None, kept_counts: None };
    let why = server.register_job(second.clone()).await.unwrap_err();
    let cause = std::error::Error::source(&why).unwrap().to_string();
    assert!(matches!(why, ServerError::NotDurable(_)), "{why}");
    insta::assert_snapshot!(
        cause,
        @"could not append to: no space left for /data/journal.db; hint: free space on its file system"
    );
    assert!(Arc::ptr_eq(&server.snapshot(), &before), "R1: nothing of it is visible");
    refusing.refuses.store(false, Ordering::SeqCst);
    server.register_job(second.clone()).await.unwrap();
    assert!(server.snapshot().job(&second.job.key).is_some());
    server.shutdown().await;
}

const CHILD: &str = "LONGSHORE_SERVER_CHILD";

fn small(number: usize) -> Job {
    changed(&job(&format!("job-{number}"), 1), |group| {
        let task = &mut group.tasks[0];
        (task.resources.cpu_mhz, task.resources.memory_mb, group.ephemeral_disk.size_mb) = (1, 1, 1);
    })
}

/// R1, against the death of the process: the test starts itself as the server that is killed.
#[test]
fn kill_nine_keeps_what_was_acknowledged() {
    if let Ok(folder) = std::env::var(CHILD) {
        return register_for_ever(Path::new(&folder));
    }
    let folder = tempfile::tempdir().unwrap();
    let mut acknowledged = 0;
    for round in 0..4_usize {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "durability::kill_nine_keeps_what_was_acknowledged", "--nocapture"])
            .env(CHILD, folder.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut seen = 0;
        while seen < 5 + round * 11 {
            let line = lines.next().expect("the child ended early").unwrap();
            if let Some(number) = line.strip_prefix("acknowledged ") {
                acknowledged = number.parse().unwrap();
                seen += 1;
            }
        }
        child.kill().unwrap();
        for line in lines.map_while(Result::ok) {
            if let Some(number) = line.strip_prefix("acknowledged ") {
                acknowledged = number.parse().unwrap_or(acknowledged);
            }
        }
        child.wait().unwrap();
    }
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let server = server_from(EmbeddedJournal::open(folder.path()).unwrap()).await;
        assert_eq!(server.snapshot().breaches(), Vec::<String>::new());
        for number in 0..=acknowledged {
            let key = small(number).key;
            assert!(server.snapshot().job(&key).is_some(), "{key} was acknowledged");
        }
        // What was under way when it died goes on: in the end each of them runs, once.
        let _sim = SimNode::start(&server, node(1)).await;
        let state = eventually(&server, "all jobs running", |state| {
            (0..=acknowledged).all(|number| {
                let job = small(number);
                live(state, &job).len() == 1 && deployment_is(state, &job, 0, DeploymentStatus::Successful)
            })
        })
        .await;
        assert_eq!(state.breaches(), Vec::<String>::new());
        server.shutdown().await;
    });
}

fn register_for_ever(folder: &Path) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let config = ServerConfig { workers: 2, snapshot_after_bytes: 50_000, ..ServerConfig::default() };
        let server = Server::start(config, EmbeddedJournal::open(folder).unwrap()).await.unwrap();
        let _sim = SimNode::start(&server, node(1)).await;
        for number in server.snapshot().jobs().count().. {
            register(&server, &small(number)).await;
            let mut out = std::io::stdout().lock();
            writeln!(out, "acknowledged {number}").unwrap();
            out.flush().unwrap();
        }
    });
}
