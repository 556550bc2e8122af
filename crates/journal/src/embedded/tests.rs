use std::io::{BufRead, BufReader, Write};
use std::process::{Command as Process, Stdio};

use super::*;

fn entry(index: u64) -> Entry {
    Entry { index: LogIndex(index), bytes: format!("change {index}").into_bytes() }
}

fn entries(range: std::ops::RangeInclusive<u64>) -> Vec<Entry> {
    range.map(entry).collect()
}

fn snapshot(index: u64) -> Snapshot {
    Snapshot { index: LogIndex(index), bytes: format!("state {index}").into_bytes() }
}

fn indexes(opened: Opened) -> (Option<u64>, Vec<u64>) {
    let found = opened.entries.map(|entry| entry.unwrap().index.0).collect();
    (opened.snapshot.map(|snapshot| snapshot.index.0), found)
}

async fn closed(opened: Opened) {
    opened.journal.close().await.unwrap();
    assert!(matches!(opened.journal.append(entries(1..=1)).await, Err(JournalError::Closed)));
}

/// Another test of this process may just have forked, and so hold the lock's file until its child has begun.
fn reopened(folder: &Path) -> Opened {
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(5);
    loop {
        match EmbeddedJournal::open(folder) {
            Err(JournalError::InUse { .. }) if std::time::Instant::now() < deadline => thread::yield_now(),
            opened => return opened.unwrap(),
        }
    }
}

#[tokio::test]
async fn what_was_appended_is_there_after_reopening() {
    let folder = tempfile::tempdir().unwrap();
    let opened = EmbeddedJournal::open(folder.path()).unwrap();
    opened.journal.append(entries(1..=3)).await.unwrap();
    opened.journal.append(entries(4..=2_500)).await.unwrap();
    closed(opened).await;

    let opened = reopened(folder.path());
    let found: Vec<Entry> = opened.entries.map(Result::unwrap).collect();
    assert_eq!(found, entries(1..=2_500));
    opened.journal.append(entries(2_501..=2_501)).await.unwrap();
}

#[tokio::test]
async fn appends_that_wait_together_are_all_kept() {
    let folder = tempfile::tempdir().unwrap();
    let opened = EmbeddedJournal::open(folder.path()).unwrap();
    let appends = (1..=500).map(|index| opened.journal.append(entries(index..=index)));
    for outcome in futures(appends.collect()).await {
        outcome.unwrap();
    }
    closed(opened).await;
    assert_eq!(indexes(reopened(folder.path())), (None, (1..=500).collect()));
}

/// Polls all in their order, so that each has sent its command before the next.
async fn futures<F: Future + Unpin>(mut all: Vec<F>) -> Vec<F::Output> {
    let mut done = Vec::new();
    std::future::poll_fn(|context| {
        let mut waiting = Vec::new();
        for mut one in all.drain(..) {
            match std::pin::Pin::new(&mut one).poll(context) {
                std::task::Poll::Ready(output) => done.push(output),
                std::task::Poll::Pending => waiting.push(one),
            }
        }
        all = waiting;
        if all.is_empty() { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
    done
}

#[tokio::test]
async fn an_entry_that_does_not_follow_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let opened = EmbeddedJournal::open(folder.path()).unwrap();
    opened.journal.append(entries(1..=2)).await.unwrap();
    for wrong in [2, 4] {
        let why = opened.journal.append(entries(wrong..=wrong)).await.unwrap_err();
        assert!(matches!(why, JournalError::OutOfOrder { expected: LogIndex(3), .. }), "{why}");
    }
    opened.journal.append(entries(3..=3)).await.unwrap();
}

#[tokio::test]
async fn two_snapshots_stay_with_what_the_older_one_needs() {
    let folder = tempfile::tempdir().unwrap();
    let (opened, store) = open(folder.path(), None).unwrap();
    opened.journal.append(entries(1..=1_500)).await.unwrap();
    opened.journal.save_snapshot(snapshot(100)).await.unwrap();
    opened.journal.save_snapshot(snapshot(1_200)).await.unwrap();
    opened.journal.save_snapshot(snapshot(1_400)).await.unwrap();
    // Pruning goes on in the background; it is done when everything asked before is.
    let oldest =
        || locked(&store).query_row("SELECT min(log_index) FROM entries", (), |row| row.get::<_, u64>(0)).unwrap();
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(10);
    while oldest() < 1_201 {
        assert!(std::time::Instant::now() < deadline, "entries up to 1200 are still there");
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    assert_eq!(oldest(), 1_201);
    drop(store);
    closed(opened).await;
    assert_eq!(indexes(reopened(folder.path())), (Some(1_400), (1_401..=1_500).collect()));

    // J4: with the newest one damaged, the older one and its entries are read.
    let newest = folder.path().join("snapshot-00000000000000001400.image");
    let mut bytes = fs::read(&newest).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&newest, bytes).unwrap();
    assert_eq!(indexes(reopened(folder.path())), (Some(1_200), (1_201..=1_500).collect()));

    // A damaged one counts for nothing: it is written anew, and the older one with its entries is kept beside it.
    let opened = reopened(folder.path());
    assert_eq!(opened.snapshot.as_ref().unwrap().index.0, 1_200);
    opened.journal.save_snapshot(snapshot(1_400)).await.unwrap();
    closed(opened).await;
    assert_eq!(indexes(reopened(folder.path())), (Some(1_400), (1_401..=1_500).collect()));
    fs::write(&newest, "nonsense").unwrap();
    let opened = reopened(folder.path());
    assert_eq!(opened.snapshot.as_ref().unwrap().index.0, 1_200);
    opened.journal.save_snapshot(snapshot(1_500)).await.unwrap();
    closed(opened).await;
    fs::write(folder.path().join("snapshot-00000000000000001500.image"), "nonsense").unwrap();
    assert_eq!(indexes(reopened(folder.path())), (Some(1_200), (1_201..=1_500).collect()));
    let opened = reopened(folder.path());
    opened.journal.save_snapshot(snapshot(1_400)).await.unwrap();
    closed(opened).await;

    // With both damaged nothing is made up, however often it is tried.
    fs::write(folder.path().join("snapshot-00000000000000001200.image"), "nonsense").unwrap();
    let mut bytes = fs::read(&newest).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&newest, bytes).unwrap();
    assert!(EmbeddedJournal::open(folder.path()).is_err());
    let why = match EmbeddedJournal::open(folder.path()) {
        Err(why) => why.to_string().replace(&folder.path().to_string_lossy().into_owned(), "/data"),
        Ok(_) => "it opened".to_owned(),
    };
    insta::assert_snapshot!(why, @"no snapshot in /data can be read, the newest because: /data/snapshot-00000000000000001400.image is damaged: its checksum differs; hint: restore the folder from a copy, or move it away to start empty");
}

#[tokio::test]
async fn a_damaged_first_snapshot_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let opened = EmbeddedJournal::open(folder.path()).unwrap();
    opened.journal.append(entries(1..=30)).await.unwrap();
    opened.journal.save_snapshot(snapshot(20)).await.unwrap();
    closed(opened).await;
    fs::write(folder.path().join("snapshot-00000000000000000020.image"), "nonsense").unwrap();
    assert_eq!(indexes(reopened(folder.path())), (None, (1..=30).collect()), "J4");
}

#[tokio::test]
async fn a_damaged_entry_stops_the_reading_there() {
    let damage = [
        ("UPDATE entries SET bytes = x'00' WHERE log_index = 3", "its checksum differs"),
        ("DELETE FROM entries WHERE log_index = 3", "it is missing, and later ones are there"),
    ];
    for (act, why) in damage {
        let folder = tempfile::tempdir().unwrap();
        let opened = EmbeddedJournal::open(folder.path()).unwrap();
        opened.journal.append(entries(1..=5)).await.unwrap();
        closed(opened).await;
        Connection::open(folder.path().join(FILE)).unwrap().execute(act, ()).unwrap();

        let mut found = reopened(folder.path()).entries;
        assert_eq!(found.next().unwrap().unwrap(), entry(1));
        assert_eq!(found.next().unwrap().unwrap(), entry(2));
        let told = found.next().unwrap().unwrap_err().to_string();
        assert!(
            told.starts_with("entry 3 of /") && told.contains("journal.db is damaged") && told.contains(why),
            "{told}"
        );
        assert!(found.next().is_none(), "J3: nothing behind the damage is given out");
    }
}

#[tokio::test]
async fn a_full_disk_is_told_and_appends_go_on_when_there_is_room() {
    let folder = tempfile::tempdir().unwrap();
    let (opened, _) = open(folder.path(), Some(20)).unwrap();
    let large = |index| Entry { index: LogIndex(index), bytes: vec![7; 20_000] };
    let mut index = 1;
    let why = loop {
        match opened.journal.append(vec![large(index)]).await {
            Ok(()) => index += 1,
            Err(why) => break why,
        }
        assert!(index < 100, "the limit does not hold");
    };
    assert!(matches!(why, JournalError::DiskFull { .. }), "{why}");
    assert!(why.to_string().contains("hint: free space"), "{why}");
    // J6: room was given up until only that for the next opening was left.
    let reserve = fs::metadata(folder.path().join(RESERVE)).map_or(0, |about| about.len());
    assert!(reserve <= longshore_reserve::FOR_OPENING_BYTES, "{reserve}");
    opened.journal.append(entries(index..=index)).await.unwrap();
    closed(opened).await;
    assert_eq!(indexes(reopened(folder.path())).1, (1..=index).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_folder_has_one_user() {
    let folder = tempfile::tempdir().unwrap();
    let _first = EmbeddedJournal::open(folder.path()).unwrap();
    assert!(matches!(EmbeddedJournal::open(folder.path()), Err(JournalError::InUse { .. })));
}

const CHILD: &str = "LONGSHORE_JOURNAL_CHILD";

/// J1, against the death of the process: the test starts itself as the process that writes.
#[test]
fn kill_nine_loses_nothing_that_was_acknowledged() {
    if let Ok(folder) = std::env::var(CHILD) {
        return append_for_ever(Path::new(&folder));
    }
    let folder = tempfile::tempdir().unwrap();
    for round in 0..8_u64 {
        let mut child = Process::new(std::env::current_exe().unwrap())
            .args(["--exact", "embedded::tests::kill_nine_loses_nothing_that_was_acknowledged", "--nocapture"])
            .env(CHILD, folder.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut acknowledged = 0;
        let mut seen = 0;
        while seen < 20 + round * 37 {
            let line = lines.next().expect("the child ended early").unwrap();
            if let Some(index) = line.strip_prefix("acknowledged ") {
                acknowledged = index.parse().unwrap();
                seen += 1;
            }
        }
        child.kill().unwrap();
        // What it had still said before it died counts too.
        for line in lines.map_while(Result::ok) {
            if let Some(index) = line.strip_prefix("acknowledged ") {
                acknowledged = index.parse().unwrap_or(acknowledged);
            }
        }
        child.wait().unwrap();
        let opened = reopened(folder.path());
        let after = opened.snapshot.map(|it| it.index.0).unwrap_or_default();
        let found: Vec<Entry> = opened.entries.map(Result::unwrap).collect();
        let last = after + found.len() as u64;
        assert_eq!(found, entries(after + 1..=last), "round {round}");
        assert!(last >= acknowledged, "J1: {acknowledged} was acknowledged, the last one is {last}, round {round}");
    }
}

fn append_for_ever(folder: &Path) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let opened = EmbeddedJournal::open(folder).unwrap();
        let after = opened.snapshot.as_ref().map(|it| it.index.0).unwrap_or_default();
        let mut last = after + opened.entries.count() as u64;
        loop {
            let end = last + 1 + last % 7;
            opened.journal.append(entries(last + 1..=end)).await.unwrap();
            last = end;
            let mut out = std::io::stdout().lock();
            writeln!(out, "acknowledged {last}").unwrap();
            out.flush().unwrap();
            drop(out);
            if last.is_multiple_of(50) {
                opened.journal.save_snapshot(snapshot(last)).await.unwrap();
            }
        }
    });
}

#[tokio::test]
async fn after_a_failure_of_the_store_nothing_more_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    let (opened, store) = open(folder.path(), None).unwrap();
    opened.journal.append(entries(1..=1)).await.unwrap();
    let refuse = "CREATE TRIGGER refuse BEFORE INSERT ON entries BEGIN SELECT RAISE(FAIL, 'no'); END";
    locked(&store).execute_batch(refuse).unwrap();
    let why = opened.journal.append(entries(2..=2)).await.unwrap_err();
    assert!(matches!(why, JournalError::Store { .. }), "{why}");
    locked(&store).execute_batch("DROP TRIGGER refuse").unwrap();
    let why = opened.journal.append(entries(2..=2)).await.unwrap_err();
    assert!(matches!(why, JournalError::Broken { .. }), "{why}");
    drop((opened, store));
    assert_eq!(indexes(reopened(folder.path())), (None, vec![1]));
}

/// The disk was full, and has room again when nobody appends any more.
#[test]
fn what_could_not_be_tidied_up_is_tidied_up_without_another_append() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(FILE);
    let in_the_way = folder.path().join(RESERVE);
    fs::create_dir(&in_the_way).unwrap();
    let (commands, inbox) = mpsc::channel();
    let writer = Writer {
        store: Arc::new(Mutex::new(open_store(folder.path(), &file, None).unwrap())),
        file,
        last: LogIndex::default(),
        commands: inbox,
        prune_up_to: LogIndex::default(),
        broken: None,
        dirty: true,
        folding_failed: false,
        reserve: Reserve::at(&in_the_way, RESERVE_BYTES),
        idle: std::time::Duration::from_millis(2),
    };
    let writer = thread::spawn(move || writer.run());
    // Many times the pause after which it was tried in vain.
    thread::sleep(std::time::Duration::from_millis(300));
    fs::remove_dir(&in_the_way).unwrap();
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(10);
    while fs::metadata(&in_the_way).map_or(0, |about| about.len()) < RESERVE_BYTES {
        assert!(std::time::Instant::now() < deadline, "the reserve was not made whole again");
        thread::sleep(std::time::Duration::from_millis(5));
    }
    drop(commands);
    writer.join().unwrap();
}
