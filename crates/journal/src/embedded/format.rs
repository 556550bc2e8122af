//! The format number of the journal's file, and how older ones are brought up (J5).

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension, Transaction};

use crate::JournalError;

pub(super) const FORMAT: u32 = 1;

/// Marks the file as ours among SQLite's.
const APPLICATION_ID: i32 = 0x4c6f_4a6c;

const SCHEMA: &str = "
    CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE entries (log_index INTEGER PRIMARY KEY, checksum INTEGER NOT NULL, bytes BLOB NOT NULL);
";

/// Brings a file from one format to the next.
pub(super) struct Upgrade {
    pub from: u32,
    pub run: fn(&Transaction<'_>) -> rusqlite::Result<()>,
}

/// One for each format before `FORMAT`, in their order.
pub(super) const UPGRADES: &[Upgrade] = &[];

/// Makes a whole file under another name first, and waits for the disk once: a crash leaves none, or a good one. Whoever
/// calls this makes the name durable.
pub(super) fn make(file: &Path) -> Result<(), JournalError> {
    let unfinished = file.with_extension("db.unfinished");
    let failed = |why| JournalError::io("create", file, why);
    match fs::remove_file(&unfinished) {
        Err(why) if why.kind() != io::ErrorKind::NotFound => return Err(failed(why)),
        _ => {}
    }
    let mut store = Connection::open(&unfinished).map_err(|why| JournalError::store("create", file, why))?;
    let hasty = |store: &Connection| {
        store.pragma_update(None, "synchronous", "OFF")?;
        store.pragma_update(None, "journal_mode", "MEMORY")
    };
    hasty(&store).map_err(|why| JournalError::store("create", file, why))?;
    prepare(&mut store, file, FORMAT, UPGRADES)?;
    store.pragma_update(None, "journal_mode", "WAL").map_err(|why| JournalError::store("create", file, why))?;
    store.close().map_err(|(_, why)| JournalError::store("create", file, why))?;
    File::open(&unfinished).and_then(|made| made.sync_all()).map_err(failed)?;
    fs::rename(&unfinished, file).map_err(failed)
}

/// Creates the tables of a new file, or sees to it that an existing one has format `target`.
pub(super) fn prepare(
    store: &mut Connection,
    file: &Path,
    target: u32,
    upgrades: &[Upgrade],
) -> Result<(), JournalError> {
    let failed = |why| JournalError::store("read the format of", file, why);
    let found: u32 = store.pragma_query_value(None, "user_version", |row| row.get(0)).map_err(failed)?;
    let tables: u32 = store.query_row("SELECT count(*) FROM sqlite_schema", (), |row| row.get(0)).map_err(failed)?;
    if found == 0 && tables == 0 {
        return create(store, target).map_err(|why| JournalError::store("create", file, why));
    }
    let application: i32 = store.pragma_query_value(None, "application_id", |row| row.get(0)).map_err(failed)?;
    if application != APPLICATION_ID {
        return Err(JournalError::Foreign { file: file.to_owned(), why: format!("its mark is {application:#x}") });
    }
    if found > target {
        let written_by = store
            .query_row("SELECT value FROM about WHERE name = 'written_by'", (), |row| row.get(0))
            .optional()
            .map_err(failed)?;
        let written_by = written_by.unwrap_or_else(|| "of a later version".to_owned());
        return Err(JournalError::TooNew { file: file.to_owned(), found, reads: target, written_by });
    }
    if found < target {
        let copy = copy_aside(store, file, found)?;
        upgrade(store, found, target, upgrades).map_err(|why| JournalError::store("bring up", file, why))?;
        tracing::info!(file = %file.display(), copy = %copy.display(), found, target, "journal brought up to a newer format");
    }
    Ok(())
}

fn create(store: &mut Connection, target: u32) -> rusqlite::Result<()> {
    // Both take effect only before the first table.
    store.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    store.pragma_update(None, "application_id", APPLICATION_ID)?;
    let transaction = store.transaction()?;
    transaction.execute_batch(SCHEMA)?;
    sign(&transaction, target)?;
    transaction.commit()
}

fn sign(transaction: &Transaction<'_>, format: u32) -> rusqlite::Result<()> {
    transaction.execute("REPLACE INTO about VALUES ('written_by', ?1)", [env!("CARGO_PKG_VERSION")])?;
    transaction.pragma_update(None, "user_version", format)
}

fn copy_aside(store: &Connection, file: &Path, found: u32) -> Result<PathBuf, JournalError> {
    const DOING: &str = "copy, before it is brought up,";
    let copy = file.with_extension(format!("db.format-{found}"));
    if copy.exists() {
        return Ok(copy);
    }
    let unfinished = copy.with_extension(format!("format-{found}.unfinished"));
    let failed = |why| JournalError::io(DOING, file, why);
    match fs::remove_file(&unfinished) {
        Err(why) if why.kind() != io::ErrorKind::NotFound => return Err(failed(why)),
        _ => {}
    }
    store
        .execute("VACUUM INTO ?1", [unfinished.to_string_lossy()])
        .map_err(|why| JournalError::store(DOING, file, why))?;
    // Under its name only when it is whole: the next start takes what it finds there for the copy.
    let sync = |path: &Path| File::open(path).and_then(|file| file.sync_all());
    sync(&unfinished).and_then(|()| fs::rename(&unfinished, &copy)).map_err(failed)?;
    copy.parent().map_or(Ok(()), sync).map_err(failed)?;
    Ok(copy)
}

fn upgrade(store: &mut Connection, found: u32, target: u32, upgrades: &[Upgrade]) -> rusqlite::Result<()> {
    let transaction = store.transaction()?;
    for step in upgrades.iter().filter(|step| step.from >= found && step.from < target) {
        (step.run)(&transaction)?;
    }
    sign(&transaction, target)?;
    transaction.commit()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TO_TWO: &[Upgrade] =
        &[Upgrade { from: 1, run: |transaction| transaction.execute_batch("CREATE TABLE added (name TEXT)") }];

    #[test]
    fn an_older_format_is_copied_and_brought_up() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("journal.db");
        let mut store = Connection::open(&file).unwrap();
        prepare(&mut store, &file, 1, UPGRADES).unwrap();
        store.execute("INSERT INTO entries VALUES (1, 0, x'00')", ()).unwrap();
        prepare(&mut store, &file, 2, TO_TWO).unwrap();
        let version: u32 = store.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
        assert_eq!(version, 2);
        store.execute("INSERT INTO added VALUES ('works')", ()).unwrap();

        let copy = Connection::open(folder.path().join("journal.db.format-1")).unwrap();
        let version: u32 = copy.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
        let entries: u32 = copy.query_row("SELECT count(*) FROM entries", (), |row| row.get(0)).unwrap();
        assert_eq!((version, entries), (1, 1));
    }

    #[test]
    fn a_copy_that_was_cut_short_is_taken_for_none() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("journal.db");
        let mut store = Connection::open(&file).unwrap();
        prepare(&mut store, &file, 1, UPGRADES).unwrap();
        for index in 1..=400 {
            store.execute("INSERT INTO entries VALUES (?1, 0, zeroblob(1000))", [index]).unwrap();
        }
        drop(store);
        let good = fs::read(&file).unwrap();
        let mut bytes = good.clone();
        let half = bytes.len() / 2;
        bytes[half..].fill(0xff);
        fs::write(&file, bytes).unwrap();
        let mut store = Connection::open(&file).unwrap();
        prepare(&mut store, &file, 2, TO_TWO).unwrap_err();
        drop(store);

        fs::write(&file, good).unwrap();
        let mut store = Connection::open(&file).unwrap();
        prepare(&mut store, &file, 2, TO_TWO).unwrap();
        let copy = Connection::open(folder.path().join("journal.db.format-1")).unwrap();
        let entries: u32 = copy.query_row("SELECT count(*) FROM entries", (), |row| row.get(0)).unwrap();
        assert_eq!(entries, 400);
    }

    #[test]
    fn a_newer_format_is_refused_and_names_who_reads_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("journal.db");
        let mut store = Connection::open(&file).unwrap();
        prepare(&mut store, &file, 2, TO_TWO).unwrap();
        store.execute("UPDATE about SET value = '7.1.0' WHERE name = 'written_by'", ()).unwrap();
        let why = prepare(&mut store, Path::new("/data/journal.db"), 1, UPGRADES).unwrap_err();
        insta::assert_snapshot!(why, @"/data/journal.db has format 2, and this build reads up to 1; hint: it was written by longshore 7.1.0, use that version or a newer one");
    }

    #[test]
    fn what_is_not_ours_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("other.db");
        let mut store = Connection::open(&file).unwrap();
        store.execute_batch("CREATE TABLE people (name TEXT)").unwrap();
        let why = prepare(&mut store, &file, 1, UPGRADES).unwrap_err();
        assert!(matches!(why, JournalError::Foreign { .. }), "{why}");
    }
}
