//! Snapshots are files of their own beside the journal's, so that writing a large one holds up no append.
//!
//! A file is `snapshot-<index>.image`: a head of 28 bytes (mark, format, checksum, index, length), then the bytes. One
//! that was found damaged, and that something else could take the place of, is kept as `….image.damaged` for people to
//! look at: it counts as none, and one of the same index can be written anew.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use longshore_model::LogIndex;

use crate::{JournalError, Snapshot};

const MARK: &[u8; 4] = b"LoSn";
const FORMAT: u32 = 1;
const HEAD_BYTES: usize = 28;
/// How many stay (J4).
const KEPT: usize = 2;

pub(super) struct SnapshotFolder {
    folder: PathBuf,
}

impl SnapshotFolder {
    /// What an interrupted write has left is removed.
    pub(super) fn open(folder: &Path) -> Result<Self, JournalError> {
        let this = Self { folder: folder.to_owned() };
        for name in this.names()? {
            if name.starts_with("snapshot-") && name.ends_with(".unfinished") {
                let path = folder.join(name);
                fs::remove_file(&path).map_err(|why| JournalError::io("remove", path, why))?;
            }
        }
        Ok(this)
    }

    /// The newest one that is whole. An older one takes the place of a damaged one: its entries are still there.
    pub(super) fn newest(&self) -> Result<Option<Snapshot>, JournalError> {
        let (mut first_failure, mut damaged) = (None, Vec::new());
        for index in self.indexes()?.into_iter().rev() {
            match self.read(index) {
                Ok(snapshot) => {
                    self.set_aside(&damaged)?;
                    return Ok(Some(snapshot));
                }
                Err(why @ JournalError::DamagedFile { .. }) => {
                    tracing::error!(%why, "snapshot is damaged; an older one and more entries are read instead");
                    damaged.push(index);
                    first_failure.get_or_insert(why);
                }
                Err(why) => return Err(why),
            }
        }
        match first_failure {
            Some(newest) => Err(JournalError::NoGoodSnapshot { folder: self.folder.clone(), newest: Box::new(newest) }),
            None => Ok(None),
        }
    }

    /// For one that needs none of them: all are damaged, and every entry is there.
    pub(super) fn set_all_aside(&self) -> Result<(), JournalError> {
        self.set_aside(&self.indexes()?)
    }

    fn set_aside(&self, damaged: &[LogIndex]) -> Result<(), JournalError> {
        for index in damaged {
            let path = self.path(*index);
            fs::rename(&path, path.with_extension("image.damaged"))
                .map_err(|why| JournalError::io("set aside the damaged snapshot", path, why))?;
        }
        Ok(())
    }

    /// Durable when it returns; older ones than the newest two are gone. Returns the index up to which no kept
    /// snapshot needs entries.
    pub(super) fn save(&self, snapshot: &Snapshot) -> Result<LogIndex, JournalError> {
        let path = self.path(snapshot.index);
        if !path.exists() {
            self.write(snapshot, &path)?;
        }
        let indexes = self.indexes()?;
        let (old, kept) = indexes.split_at(indexes.len().saturating_sub(KEPT));
        for index in old {
            let path = self.path(*index);
            fs::remove_file(&path).map_err(|why| JournalError::io("remove", path, why))?;
        }
        let oldest = if kept.len() < KEPT { None } else { kept.first() };
        Ok(oldest.copied().unwrap_or_default())
    }

    fn write(&self, snapshot: &Snapshot, path: &Path) -> Result<(), JournalError> {
        let unfinished = path.with_extension("unfinished");
        let head = Head {
            format: FORMAT,
            checksum: crc32fast::hash(&snapshot.bytes),
            index: snapshot.index,
            length: snapshot.bytes.len() as u64,
        };
        let written = File::create(&unfinished).and_then(|mut file| {
            file.write_all(&head.encode())?;
            file.write_all(&snapshot.bytes)?;
            file.sync_all()
        });
        let placed = written.and_then(|()| fs::rename(&unfinished, path)).and_then(|()| {
            // The name must be durable before entries are let go of.
            File::open(&self.folder)?.sync_all()
        });
        placed.map_err(|why| {
            let _ = fs::remove_file(&unfinished);
            JournalError::io("write the snapshot", path, why)
        })
    }

    fn read(&self, index: LogIndex) -> Result<Snapshot, JournalError> {
        let path = self.path(index);
        let damaged = |why: &str| JournalError::DamagedFile { file: path.clone(), why: why.to_owned() };
        let failed = |why| JournalError::io("read the snapshot", &path, why);
        let mut file = File::open(&path).map_err(failed)?;
        let length = file.metadata().map_err(failed)?.len();
        let mut head = [0_u8; HEAD_BYTES];
        if length < HEAD_BYTES as u64 {
            return Err(damaged("it is too short"));
        }
        file.read_exact(&mut head).map_err(failed)?;
        let Some(head) = Head::decode(&head) else {
            return Err(damaged("it does not begin with the mark of a snapshot"));
        };
        if head.format > FORMAT {
            return Err(JournalError::TooNew {
                file: path,
                found: head.format,
                reads: FORMAT,
                written_by: "of a later version".to_owned(),
            });
        }
        if head.index != index || head.length != length - HEAD_BYTES as u64 {
            return Err(damaged("its head does not agree with its name and length"));
        }
        let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or_default());
        file.read_to_end(&mut bytes).map_err(failed)?;
        if crc32fast::hash(&bytes) != head.checksum {
            return Err(damaged("its checksum differs"));
        }
        Ok(Snapshot { index, bytes })
    }

    fn path(&self, index: LogIndex) -> PathBuf {
        self.folder.join(format!("snapshot-{:020}.image", index.0))
    }

    /// Oldest first.
    fn indexes(&self) -> Result<Vec<LogIndex>, JournalError> {
        let of_name = |name: String| name.strip_prefix("snapshot-")?.strip_suffix(".image")?.parse().ok().map(LogIndex);
        let mut indexes: Vec<LogIndex> = self.names()?.into_iter().filter_map(of_name).collect();
        indexes.sort_unstable();
        Ok(indexes)
    }

    fn names(&self) -> Result<Vec<String>, JournalError> {
        let failed = |why| JournalError::io("list", &self.folder, why);
        let mut names = Vec::new();
        for item in fs::read_dir(&self.folder).map_err(failed)? {
            names.push(item.map_err(failed)?.file_name().to_string_lossy().into_owned());
        }
        Ok(names)
    }
}

struct Head {
    format: u32,
    checksum: u32,
    index: LogIndex,
    length: u64,
}

impl Head {
    fn encode(&self) -> [u8; HEAD_BYTES] {
        let mut bytes = [0; HEAD_BYTES];
        bytes[..4].copy_from_slice(MARK);
        bytes[4..8].copy_from_slice(&self.format.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.checksum.to_le_bytes());
        bytes[12..20].copy_from_slice(&self.index.0.to_le_bytes());
        bytes[20..].copy_from_slice(&self.length.to_le_bytes());
        bytes
    }

    /// `None` without the mark.
    fn decode(bytes: &[u8; HEAD_BYTES]) -> Option<Self> {
        let (mark, rest) = bytes.split_first_chunk::<4>()?;
        let (format, rest) = rest.split_first_chunk::<4>()?;
        let (checksum, rest) = rest.split_first_chunk::<4>()?;
        let (index, rest) = rest.split_first_chunk::<8>()?;
        let (length, _) = rest.split_first_chunk::<8>()?;
        (mark == MARK).then_some(Self {
            format: u32::from_le_bytes(*format),
            checksum: u32::from_le_bytes(*checksum),
            index: LogIndex(u64::from_le_bytes(*index)),
            length: u64::from_le_bytes(*length),
        })
    }
}
