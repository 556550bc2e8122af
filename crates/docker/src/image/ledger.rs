//! The books about images, on disk: key and text, written in one transaction a step.
//!
//! - L1: what [`Ledger::commit`] was given is durable when it returns.
//! - L2: 8 MiB of disk are set aside in a file beside it and given up, a piece at a time, when the disk is full, so that
//!   holds can still be taken and removals recorded (K10). They are set aside again when there is room.
//! - L3: an entry that does not match its checksum stops the start: wrong books are worse than none.
//! - L4: a ledger of an older format is copied beside itself before anything in it is changed; one of a newer format is
//!   refused.

use std::cmp::Ordering;
use std::fs::File;
use std::path::{Path, PathBuf};

use longshore_images::{Entry, Record};
use longshore_reserve::{Purpose, Reserve};
use rusqlite::{Connection, ErrorCode, OpenFlags, params};

use crate::error::LedgerError;

/// 2: entries may say that an image goes for want of room, or for its age; those of format 1 read as they are.
const FORMAT: i64 = 2;
const RESERVE_BYTES: u64 = 8 << 20;

/// An open ledger.
pub(crate) struct Ledger {
    path: PathBuf,
    /// `None` for one in memory.
    reserve: Option<Reserve>,
    connection: Connection,
}

impl Ledger {
    /// Opens or makes the ledger at `path`.
    pub(crate) fn open(path: &Path) -> Result<Self, LedgerError> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(|source| LedgerError::File {
                path: path.to_owned(),
                doing: "put into its folder",
                source,
            })?;
        }
        let mut reserve = Reserve::at(path.with_extension("reserve"), RESERVE_BYTES);
        let mut ledger =
            reserve.make_room(Purpose::Open, LedgerError::is_full_disk_at_opening, || Self::open_as_is(path))?;
        reserve.restore();
        ledger.reserve = Some(reserve);
        Ok(ledger)
    }

    fn open_as_is(path: &Path) -> Result<Self, LedgerError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags)
            .map_err(|source| LedgerError::Open { path: path.to_owned(), source })?;
        let ledger = Self { path: path.to_owned(), reserve: None, connection };
        ledger.prepare()?;
        Ok(ledger)
    }

    /// One that is forgotten with the process: for an agent that keeps no images.
    pub(crate) fn in_memory() -> Result<Self, LedgerError> {
        let path = PathBuf::from(":memory:");
        let connection =
            Connection::open_in_memory().map_err(|source| LedgerError::Open { path: path.clone(), source })?;
        let ledger = Self { path, reserve: None, connection };
        ledger.prepare()?;
        Ok(ledger)
    }

    fn prepare(&self) -> Result<(), LedgerError> {
        // Exclusive, and said first: then the index of the write-ahead log is in memory. In a file shared with others the
        // kernel kills a process that writes to it when the disk is full and its blocks are smaller than pages.
        let setup =
            "PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA busy_timeout=5000;
            CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
            CREATE TABLE IF NOT EXISTS entries
                (key TEXT PRIMARY KEY, text TEXT NOT NULL, checksum INTEGER NOT NULL) WITHOUT ROWID;";
        self.connection.execute_batch(setup).map_err(|source| self.unwritable(source))?;
        self.connection
            .execute("INSERT OR IGNORE INTO meta (key, value) VALUES ('format', ?1)", [FORMAT])
            .map_err(|source| self.unwritable(source))?;
        let found: i64 = self
            .connection
            .query_row("SELECT value FROM meta WHERE key = 'format'", [], |row| row.get(0))
            .map_err(|source| self.unreadable(source))?;
        match found.cmp(&FORMAT) {
            Ordering::Equal => Ok(()),
            Ordering::Greater => Err(LedgerError::Newer { path: self.path.clone(), found, known: FORMAT }),
            Ordering::Less => self.migrate(found),
        }
    }

    /// From an older format to this one, in one transaction, after a copy (L4).
    fn migrate(&self, found: i64) -> Result<(), LedgerError> {
        let copy = self.path.with_extension(format!("format-{found}.db"));
        let failed = |doing, source| LedgerError::File { path: copy.clone(), doing, source };
        // A copy that a crash cut off, or one of an earlier migration that did not end.
        match std::fs::remove_file(&copy) {
            Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                return Err(failed("put aside before its format is changed", source));
            }
            _ => {}
        }
        self.connection
            .execute("VACUUM INTO ?1", [copy.to_string_lossy()])
            .map_err(|source| self.unwritable(source))?;
        File::open(&copy)
            .and_then(|file| file.sync_all())
            .map_err(|source| failed("put aside before its format is changed", source))?;
        self.connection
            .execute("UPDATE meta SET value = ?1 WHERE key = 'format'", [FORMAT])
            .map_err(|source| self.unwritable(source))?;
        tracing::info!(ledger = %self.path.display(), copy = %copy.display(), from = found, to = FORMAT, "the image ledger has a new format");
        Ok(())
    }

    /// Everything that stands in it.
    pub(crate) fn entries(&self) -> Result<Vec<Entry>, LedgerError> {
        let mut statement = self
            .connection
            .prepare("SELECT key, text, checksum FROM entries ORDER BY key")
            .map_err(|source| self.unreadable(source))?;
        let rows = statement
            .query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?, row.get::<_, i64>(2)?)))
            .map_err(|source| self.unreadable(source))?;
        let (mut entries, mut renamed) = (Vec::new(), Vec::new());
        for row in rows {
            let (key, text, checksum) = row.map_err(|source| self.unreadable(source))?;
            if checksum != checksum_of(&key, &text) {
                return Err(LedgerError::Damaged { path: self.path.clone(), key });
            }
            let entry = Entry::from_text(&text).map_err(|source| LedgerError::Entry {
                path: self.path.clone(),
                key: key.clone(),
                source,
            })?;
            if key == entry.key() {
                entries.push(entry);
            } else {
                renamed.push((key, entry));
            }
        }
        if !renamed.is_empty() {
            self.rename(&renamed, &mut entries)?;
        }
        Ok(entries)
    }

    /// What an earlier version kept under another key stands under this version's from now on: holds of people who asked for
    /// the same name are one, the one that lasts longest.
    fn rename(&self, renamed: &[(String, Entry)], entries: &mut Vec<Entry>) -> Result<(), LedgerError> {
        let expires_at = |entry: &Entry| match entry {
            Entry::Hold(hold) => hold.expires_at,
            _ => None,
        };
        for (_, entry) in renamed {
            match entries.iter_mut().find(|known| known.key() == entry.key()) {
                Some(known) if expires_at(known) < expires_at(entry) => *known = entry.clone(),
                Some(_) => {}
                None => entries.push(entry.clone()),
            }
        }
        let gone = renamed.iter().map(|(key, _)| Record { key: key.clone(), entry: None });
        let moved = |entry: &&Entry| renamed.iter().any(|(_, it)| it.key() == entry.key());
        let here = entries.iter().filter(moved).map(|entry| Record { key: entry.key(), entry: Some(entry.clone()) });
        let records: Vec<Record> = gone.chain(here).collect();
        write(&self.connection, &self.rows(&records)?).map_err(|source| self.unwritable(source))
    }

    /// Writes the records of one step, all or none.
    pub(crate) fn commit(&mut self, records: &[Record]) -> Result<(), LedgerError> {
        if records.is_empty() {
            return Ok(());
        }
        let rows = self.rows(records)?;
        let Some(mut reserve) = self.reserve.take() else { return self.write(&rows) };
        let written = reserve.make_room(Purpose::Write, LedgerError::is_full_disk, || self.write(&rows));
        if written.is_ok() {
            reserve.restore();
        }
        self.reserve = Some(reserve);
        written
    }

    fn rows<'a>(&self, records: &'a [Record]) -> Result<Vec<(&'a str, Option<String>)>, LedgerError> {
        let mut rows = Vec::with_capacity(records.len());
        for record in records {
            let text = match &record.entry {
                None => None,
                Some(entry) => Some(entry.to_text().map_err(|source| LedgerError::Entry {
                    path: self.path.clone(),
                    key: record.key.clone(),
                    source,
                })?),
            };
            rows.push((record.key.as_str(), text));
        }
        Ok(rows)
    }

    fn write(&mut self, rows: &[(&str, Option<String>)]) -> Result<(), LedgerError> {
        write(&self.connection, rows).map_err(|source| self.unwritable(source))
    }

    fn unreadable(&self, source: rusqlite::Error) -> LedgerError {
        LedgerError::Read { path: self.path.clone(), source }
    }

    fn unwritable(&self, source: rusqlite::Error) -> LedgerError {
        LedgerError::Write { path: self.path.clone(), source }
    }
}

fn write(connection: &Connection, rows: &[(&str, Option<String>)]) -> rusqlite::Result<()> {
    // Nobody begins one within another: a ledger is used by one thread.
    let transaction = connection.unchecked_transaction()?;
    for (key, text) in rows {
        match text {
            None => transaction.prepare_cached("DELETE FROM entries WHERE key = ?1")?.execute(params![key])?,
            Some(text) => transaction
                .prepare_cached("INSERT OR REPLACE INTO entries (key, text, checksum) VALUES (?1, ?2, ?3)")?
                .execute(params![key, text, checksum_of(key, text)])?,
        };
    }
    transaction.commit()
}

impl LedgerError {
    /// Of other failures nobody knows what a crash would show afterwards: a full disk leaves the transaction undone.
    fn is_full_disk(&self) -> bool {
        self.cause() == Some(ErrorCode::DiskFull)
    }

    /// While the ledger is opened SQLite tells of a file that cannot grow also as an error of input and output; of any
    /// other such error room would not help.
    fn is_full_disk_at_opening(&self) -> bool {
        let (Self::Write { path, .. } | Self::Open { path, .. } | Self::Read { path, .. }) = self else {
            return false;
        };
        match self.cause() {
            Some(ErrorCode::SystemIoFailure) => path.parent().is_some_and(longshore_reserve::is_full),
            cause => cause == Some(ErrorCode::DiskFull),
        }
    }

    fn cause(&self) -> Option<ErrorCode> {
        match self {
            Self::Write { source, .. } | Self::Open { source, .. } | Self::Read { source, .. } => {
                source.sqlite_error_code()
            }
            _ => None,
        }
    }
}

fn checksum_of(key: &str, text: &str) -> i64 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(key.as_bytes());
    hasher.update(&[0]);
    hasher.update(text.as_bytes());
    i64::from(hasher.finalize())
}

#[cfg(test)]
mod tests {
    use longshore_images::{Hold, Owner};
    use longshore_model::{AllocId, Timestamp};

    use super::*;

    fn hold(n: u128) -> Entry {
        Entry::Hold(Hold {
            owner: Owner::task(AllocId::from_u128(n), "web"),
            name: "redis:7".parse().unwrap(),
            since: Timestamp::from_seconds(1),
            granted: Default::default(),
            in_use: Default::default(),
            ended_at: None,
            expires_at: None,
        })
    }

    fn put(entry: &Entry) -> Record {
        Record { key: entry.key(), entry: Some(entry.clone()) }
    }

    #[test]
    fn what_was_committed_is_there_after_opening_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("images/ledger.db");
        let (a, b) = (hold(1), hold(2));
        let mut ledger = Ledger::open(&path).unwrap();
        assert_eq!(ledger.entries().unwrap(), []);
        ledger.commit(&[put(&a), put(&b)]).unwrap();
        ledger.commit(&[Record { key: a.key(), entry: None }]).unwrap();
        ledger.commit(&[]).unwrap();
        drop(ledger);
        assert_eq!(Ledger::open(&path).unwrap().entries().unwrap(), [b]);
        assert_eq!(std::fs::metadata(path.with_extension("reserve")).unwrap().len(), 8 << 20);
    }

    #[test]
    fn what_an_earlier_version_kept_for_each_question_is_one_hold() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.db");
        let asked = |expires_at: i64| {
            let Entry::Hold(hold) = hold(1) else { panic!("a hold") };
            let owner = Owner::Asked { name: "redis:7".to_owned() };
            Entry::Hold(Hold { owner, expires_at: Some(Timestamp::from_seconds(expires_at)), ..hold })
        };
        let mut ledger = Ledger::open(&path).unwrap();
        for (n, expires_at) in [30, 90, 60].into_iter().enumerate() {
            let key = format!("hold pull redis:7 {n} docker.io/library/redis:7");
            ledger.commit(&[Record { key, entry: Some(asked(expires_at)) }]).unwrap();
        }
        assert_eq!(ledger.entries().unwrap(), [asked(90)]);
        ledger.commit(&[Record { key: asked(90).key(), entry: None }]).unwrap();
        drop(ledger);
        assert_eq!(Ledger::open(&path).unwrap().entries().unwrap(), []);
    }

    #[test]
    fn damage_and_newer_formats_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.db");
        Ledger::open(&path).unwrap().commit(&[put(&hold(1))]).unwrap();
        let change = |act: &str| Connection::open(&path).unwrap().execute(act, []).unwrap();
        change("UPDATE entries SET text = replace(text, 'redis', 'radis')");
        let error = Ledger::open(&path).unwrap().entries().unwrap_err();
        assert!(matches!(error, LedgerError::Damaged { .. }), "{error}");
        change("UPDATE meta SET value = 99");
        let error = Ledger::open(&path).err().unwrap();
        assert!(error.to_string().contains("format 99"), "{error}");
    }

    /// A ledger as the first released form wrote it.
    fn write_format_1(path: &Path) {
        let text = |line: &str| line.to_owned();
        let rows = [
            (
                "hold task 00000000-0000-0000-0000-000000000001/web docker.io/library/redis:7",
                text(
                    r#"{"format":1,"hold":{"owner":{"task":{"alloc":"00000000-0000-0000-0000-000000000001","task":"web"}},"name":"docker.io/library/redis:7","since":1000000000,"granted":null,"in_use":null,"ended_at":null}}"#,
                ),
            ),
            (
                "name docker.io/library/redis:7",
                format!(
                    r#"{{"format":1,"name":{{"name":"docker.io/library/redis:7","binding":{{"removing":{{"content":"sha256:{}","idle_since":5,"why":"due"}}}},"intent":null,"uses":3,"last_used_at":4}}}}"#,
                    "ab".repeat(32)
                ),
            ),
        ];
        let connection = Connection::open(path).unwrap();
        connection
            .execute_batch(
                "CREATE TABLE meta (key TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
                CREATE TABLE entries (key TEXT PRIMARY KEY, text TEXT NOT NULL, checksum INTEGER NOT NULL) WITHOUT ROWID;
                INSERT INTO meta VALUES ('format', 1);",
            )
            .unwrap();
        for (key, text) in rows {
            let checksum = checksum_of(key, &text);
            connection.execute("INSERT INTO entries VALUES (?1, ?2, ?3)", params![key, text, checksum]).unwrap();
        }
    }

    #[test]
    fn an_older_ledger_is_migrated_after_a_copy() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("images-a.db");
        write_format_1(&path);
        // What an earlier migration left when it was cut off.
        std::fs::write(folder.path().join("images-a.format-1.db"), "half").unwrap();
        for _ in 0..2 {
            let ledger = Ledger::open(&path).unwrap();
            let [Entry::Hold(hold), Entry::Name(name)] = &ledger.entries().unwrap()[..] else { panic!("two entries") };
            assert_eq!((hold.name.familiar(), name.uses, name.took), ("redis:7", 3, None));
        }
        let format = |path: &Path| -> i64 {
            let connection = Connection::open(path).unwrap();
            connection.query_row("SELECT value FROM meta WHERE key = 'format'", [], |row| row.get(0)).unwrap()
        };
        assert_eq!((format(&path), format(&folder.path().join("images-a.format-1.db"))), (FORMAT, 1));
    }

    #[test]
    fn an_error_of_the_disk_is_no_full_disk() {
        let folder = tempfile::tempdir().unwrap();
        let failure = |code, path: &Path| LedgerError::Write {
            path: path.to_owned(),
            source: rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(code), None),
        };
        let path = folder.path().join("ledger.db");
        let broken = failure(rusqlite::ffi::SQLITE_IOERR_READ, &path);
        assert!(!broken.is_full_disk_at_opening() && !broken.is_full_disk());
        let full = failure(rusqlite::ffi::SQLITE_FULL, &path);
        assert!(full.is_full_disk_at_opening() && full.is_full_disk());
        // Which has no room at all.
        let cannot_grow = failure(rusqlite::ffi::SQLITE_IOERR_SHMSIZE, Path::new("/proc/ledger.db"));
        assert!(cannot_grow.is_full_disk_at_opening() && !cannot_grow.is_full_disk());
    }

    #[test]
    fn the_reserve_is_given_up_when_there_is_no_room() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.db");
        let mut ledger = Ledger::open(&path).unwrap();
        let reserve_bytes = || std::fs::metadata(path.with_extension("reserve")).unwrap().len();
        let pages: i64 = ledger.connection.query_row("PRAGMA page_count", [], |row| row.get(0)).unwrap();
        // SQLite's own limit stands in for a full disk: giving up room does not help, so all that writes may take goes.
        ledger.connection.pragma_update(None, "max_page_count", pages).unwrap();
        let many: Vec<Record> = (0..200).map(|n| put(&hold(n))).collect();
        let full = ledger.commit(&many);
        assert!(full.as_ref().is_err_and(LedgerError::is_full_disk), "{full:?}");
        assert_eq!(reserve_bytes(), longshore_reserve::FOR_OPENING_BYTES);
        // With room again, the next commit sets it aside anew.
        ledger.connection.pragma_update(None, "max_page_count", 1 << 30).unwrap();
        ledger.commit(&many).unwrap();
        assert_eq!((ledger.entries().unwrap().len(), reserve_bytes()), (200, RESERVE_BYTES));
    }
}
