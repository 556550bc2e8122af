//! The files of allocations, for people. Folders belong to tasks, which may put links in them: nothing is opened that is
//! not beneath the allocation's folder, whatever way a path takes, and nothing is read that is secret or no regular file.

use std::fs::{File, Metadata};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};

use longshore_model::{AllocId, Timestamp};
use longshore_values::system_words;
use nix::errno::Errno;
use nix::fcntl::{OFlag, OpenHow, ResolveFlag, openat2};

use crate::client::Client;

/// How much of a file is looked at to say what it holds.
const SNIFFED_BYTES: usize = 512;
const UNKNOWN_CONTENT: &str = "application/octet-stream";

/// Why a file of an allocation cannot be had. Texts are those that Nomad's clients know.
#[derive(Debug, thiserror::Error)]
pub enum FilesError {
    #[error("Unknown allocation {:?}", .0.to_string())]
    UnknownAllocation(AllocId),
    #[error("Path escapes the alloc directory")]
    Escapes,
    #[error("Reading secret file prohibited: {0}")]
    Secret(String),
    #[error("file {0:?} is a directory")]
    IsFolder(String),
    #[error("file {0:?} is a device, pipe or socket: only regular files are read")]
    Special(String),
    #[error("{doing} {}: {}", .path.display(), system_words(.source))]
    Io {
        doing: &'static str,
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

/// A file or folder of an allocation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileInfo {
    pub name: String,
    pub is_folder: bool,
    pub size_bytes: u64,
    /// `drwxr-xr-x`, in Go's letters.
    pub mode: String,
    pub modified_at: Timestamp,
    /// What it seems to hold; empty in lists.
    pub content_type: String,
}

/// An open file of an allocation.
#[derive(Debug)]
pub struct AllocFile {
    file: File,
    path: PathBuf,
    /// As it was asked for.
    pub name: String,
}

impl AllocFile {
    /// How long it is now.
    ///
    /// # Errors
    /// When the system does not say.
    pub fn size_bytes(&self) -> Result<u64, FilesError> {
        self.file.metadata().map(|found| found.len()).map_err(|source| self.failed("stat", source))
    }

    /// Reads at `offset`; 0 bytes at the end.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn read_at(&self, into: &mut [u8], offset: u64) -> Result<usize, FilesError> {
        // Behind the last place that a file can have the kernel refuses to read.
        if i64::try_from(offset).is_ok_and(|offset| offset.checked_add(into.len() as i64).is_none()) {
            return Ok(0);
        }
        self.file.read_at(into, offset).map_err(|source| self.failed("read", source))
    }

    /// Whether its name still leads to it.
    pub fn is_there(&self) -> bool {
        match (self.file.metadata(), std::fs::symlink_metadata(&self.path)) {
            (Ok(open), Ok(named)) => (open.dev(), open.ino()) == (named.dev(), named.ino()) || named.is_symlink(),
            _ => false,
        }
    }

    /// Where it is on the host.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn failed(&self, doing: &'static str, source: io::Error) -> FilesError {
        FilesError::Io { doing, path: self.path.clone(), source }
    }
}

impl Client {
    /// What a folder of an allocation holds, by name. Waits for the disk.
    ///
    /// # Errors
    /// When there is no such folder in the allocation.
    pub fn list_files(&self, alloc: AllocId, path: &str) -> Result<Vec<FileInfo>, FilesError> {
        list(&self.files_root(alloc)?, path)
    }

    /// A file or folder of an allocation. Waits for the disk.
    ///
    /// # Errors
    /// When there is none of that path in the allocation.
    pub fn file_info(&self, alloc: AllocId, path: &str) -> Result<FileInfo, FilesError> {
        info(&self.files_root(alloc)?, path)
    }

    /// Opens a file of an allocation to read it. Waits for the disk.
    ///
    /// # Errors
    /// When it is not there, no regular file, or secret.
    pub fn open_file(&self, alloc: AllocId, path: &str) -> Result<AllocFile, FilesError> {
        open(&self.files_root(alloc)?, path)
    }

    fn files_root(&self, alloc: AllocId) -> Result<PathBuf, FilesError> {
        self.view(alloc).map(|_| self.alloc_root(alloc)).ok_or(FilesError::UnknownAllocation(alloc))
    }
}

/// The path within the allocation, without `.`, `..` and a slash in front.
fn within(path: &str) -> Result<PathBuf, FilesError> {
    let mut clean = PathBuf::new();
    for part in Path::new(path).components() {
        match part {
            Component::Normal(name) => clean.push(name),
            Component::ParentDir if !clean.pop() => return Err(FilesError::Escapes),
            Component::ParentDir | Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    Ok(clean)
}

/// Opens `path` beneath `root`: links may lead about inside of it, and not out.
fn open_beneath(root: &Path, path: &Path, flags: OFlag, doing: &'static str) -> Result<File, FilesError> {
    let full = root.join(path);
    let failed = |errno: Errno| match errno {
        Errno::EXDEV | Errno::ELOOP => FilesError::Escapes,
        errno => FilesError::Io { doing, path: full.clone(), source: errno.into() },
    };
    let folder = File::open(root).map_err(|source| FilesError::Io { doing, path: root.to_owned(), source })?;
    let how = OpenHow::new()
        .flags(flags | OFlag::O_CLOEXEC)
        .resolve(ResolveFlag::RESOLVE_BENEATH | ResolveFlag::RESOLVE_NO_MAGICLINKS);
    let relative = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    openat2(&folder, relative, how).map(File::from).map_err(failed)
}

fn list(root: &Path, path: &str) -> Result<Vec<FileInfo>, FilesError> {
    let path = within(path)?;
    let full = root.join(&path);
    let failed = |source| FilesError::Io { doing: "open", path: full.clone(), source };
    let folder = open_beneath(root, &path, OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_NONBLOCK, "open")?;
    let mut found = Vec::new();
    // By what was opened: the path may lead elsewhere by now.
    for entry in std::fs::read_dir(format!("/proc/self/fd/{}", folder.as_raw_fd())).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        // One that went away meanwhile is not there.
        if let Ok(metadata) = entry.metadata() {
            found.push(file_info(entry.file_name().to_string_lossy().into_owned(), &metadata, String::new()));
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}

fn info(root: &Path, path: &str) -> Result<FileInfo, FilesError> {
    let path = within(path)?;
    let full = root.join(&path);
    let failed = |source| FilesError::Io { doing: "stat", path: full.clone(), source };
    let file = open_beneath(root, &path, OFlag::O_PATH, "stat")?;
    let metadata = file.metadata().map_err(failed)?;
    let name = full.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let content_type = if metadata.is_file() { content_type(root, &path) } else { UNKNOWN_CONTENT.to_owned() };
    Ok(file_info(name, &metadata, content_type))
}

fn open(root: &Path, path: &str) -> Result<AllocFile, FilesError> {
    let clean = within(path)?;
    let full = root.join(&clean);
    if is_secret(&clean) {
        return Err(FilesError::Secret(path.to_owned()));
    }
    // Looked at before it is opened: tasks may make devices, and those of the host are not theirs to read.
    let found = open_beneath(root, &clean, OFlag::O_PATH, "stat")?;
    let failed = |source| FilesError::Io { doing: "stat", path: full.clone(), source };
    let kind = found.metadata().map_err(failed)?.file_type();
    if kind.is_dir() {
        return Err(FilesError::IsFolder(path.to_owned()));
    }
    if !kind.is_file() {
        return Err(FilesError::Special(path.to_owned()));
    }
    let here = format!("/proc/self/fd/{}", found.as_raw_fd());
    // Where it led in the end: a link may have led to what is secret.
    let real = std::fs::read_link(&here).map_err(failed)?;
    let root = root.canonicalize().map_err(failed)?;
    if real.strip_prefix(&root).is_ok_and(is_secret) {
        return Err(FilesError::Secret(path.to_owned()));
    }
    let file = File::open(&here).map_err(|source| FilesError::Io { doing: "open", path: full.clone(), source })?;
    Ok(AllocFile { file, path: full.clone(), name: path.trim_start_matches('/').to_owned() })
}

/// Whether a path within an allocation is in the secrets of a task.
fn is_secret(path: &Path) -> bool {
    let mut parts = path.components();
    let task = parts.next();
    task.is_some_and(|task| task.as_os_str() != "alloc")
        && parts.next().is_some_and(|part| part.as_os_str() == "secrets")
}

fn content_type(root: &Path, path: &Path) -> String {
    let by_name = match path.extension().and_then(|extension| extension.to_str()) {
        Some("html" | "htm") => Some("text/html; charset=utf-8"),
        Some("css") => Some("text/css; charset=utf-8"),
        Some("js") => Some("text/javascript; charset=utf-8"),
        Some("xml") => Some("text/xml; charset=utf-8"),
        Some("json") => Some("application/json"),
        Some("pdf") => Some("application/pdf"),
        Some("png") => Some("image/png"),
        Some("gif") => Some("image/gif"),
        Some("jpg" | "jpeg") => Some("image/jpeg"),
        Some("svg") => Some("image/svg+xml"),
        _ => None,
    };
    if let Some(known) = by_name {
        return known.to_owned();
    }
    let mut head = [0; SNIFFED_BYTES];
    let read = path.to_str().and_then(|path| open(root, path).ok()?.read_at(&mut head, 0).ok()).unwrap_or(0);
    let is_text = |byte: &u8| !matches!(byte, 0..=8 | 11 | 14..=26 | 28..=31);
    match head.get(..read) {
        Some(head) if read > 0 && head.iter().all(is_text) => "text/plain; charset=utf-8".to_owned(),
        _ => UNKNOWN_CONTENT.to_owned(),
    }
}

fn file_info(name: String, metadata: &Metadata, content_type: String) -> FileInfo {
    let seconds = metadata.mtime().saturating_mul(1_000_000_000);
    FileInfo {
        name,
        is_folder: metadata.is_dir(),
        size_bytes: metadata.len(),
        mode: mode(metadata),
        modified_at: Timestamp::from_nanoseconds(seconds.saturating_add(metadata.mtime_nsec())),
        content_type,
    }
}

/// A file's mode in Go's letters: what it is, then nine rights.
fn mode(metadata: &Metadata) -> String {
    let (kind, bits) = (metadata.file_type(), metadata.permissions().mode());
    let mut text = String::new();
    let letters = [
        ('d', kind.is_dir()),
        ('L', kind.is_symlink()),
        ('D', kind.is_block_device() || kind.is_char_device()),
        ('p', kind.is_fifo()),
        ('S', kind.is_socket()),
        ('u', bits & 0o4000 != 0),
        ('g', bits & 0o2000 != 0),
        ('c', kind.is_char_device()),
        ('t', bits & 0o1000 != 0),
    ];
    text.extend(letters.iter().filter(|(_, is_so)| *is_so).map(|(letter, _)| letter));
    if text.is_empty() {
        text.push('-');
    }
    for shift in (0..9).rev() {
        let letter = ['x', 'w', 'r'].get(shift % 3).copied().unwrap_or('-');
        text.push(if bits & (1 << shift) != 0 { letter } else { '-' });
    }
    text
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn alloc() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("a1");
        for path in ["alloc/logs", "web/local", "web/secrets", "alloc/secrets"] {
            std::fs::create_dir_all(root.join(path)).unwrap();
        }
        for (path, text) in [
            ("web/secrets/key", "s3cret"),
            ("web/local/a.txt", "hello\n"),
            ("web/local/b", "\u{0}\u{1}"),
            ("alloc/secrets/x", "shared"),
            ("../outside", "of the host"),
        ] {
            std::fs::write(root.join(path), text).unwrap();
        }
        for (to, from) in [
            ("/etc/passwd", "web/local/absolute"),
            ("../../../outside", "web/local/up"),
            ("../..", "web/local/top"),
            ("../secrets/key", "web/local/key"),
            ("../secrets", "web/local/inner"),
            ("a.txt", "web/local/link"),
            ("loop", "web/local/loop"),
        ] {
            symlink(to, root.join(from)).unwrap();
        }
        nix::unistd::mkfifo(&root.join("web/local/pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
        (folder, root)
    }

    fn read(root: &Path, path: &str) -> String {
        let mut bytes = [0; 64];
        match open(root, path).and_then(|file| file.read_at(&mut bytes, 0)) {
            Ok(read) => String::from_utf8_lossy(&bytes[..read]).into_owned(),
            Err(error) => error.to_string().replace(root.to_str().unwrap(), "ROOT"),
        }
    }

    #[test]
    fn nothing_is_read_that_is_not_in_the_allocation_or_is_secret() {
        let (_folder, root) = alloc();
        let escapes = "Path escapes the alloc directory";
        let secret = |path: &str| format!("Reading secret file prohibited: {path}");
        for (path, expected) in [
            ("web/local/a.txt", "hello\n".to_owned()),
            ("/web/local/a.txt", "hello\n".to_owned()),
            ("web/./local/../local/a.txt", "hello\n".to_owned()),
            ("web/local/link", "hello\n".to_owned()),
            ("alloc/secrets/x", "shared".to_owned()),
            ("../outside", escapes.to_owned()),
            ("web/../../outside", escapes.to_owned()),
            ("web/local/up", escapes.to_owned()),
            ("web/local/absolute", escapes.to_owned()),
            ("web/local/loop", escapes.to_owned()),
            ("web/local/top/web/local/a.txt", "hello\n".to_owned()),
            ("web/local/top/../outside", "stat ROOT/web/local/outside: no such file or directory".to_owned()),
            ("web/secrets/key", secret("web/secrets/key")),
            ("web/local/../secrets/key", secret("web/local/../secrets/key")),
            ("web/local/key", secret("web/local/key")),
            ("web/local/inner/key", secret("web/local/inner/key")),
            ("web/local/top/web/secrets/key", secret("web/local/top/web/secrets/key")),
            ("web", "file \"web\" is a directory".to_owned()),
            (
                "web/local/pipe",
                "file \"web/local/pipe\" is a device, pipe or socket: only regular files are read".to_owned(),
            ),
            ("none", "stat ROOT/none: no such file or directory".to_owned()),
            ("web/local/a.txt/x", "stat ROOT/web/local/a.txt/x: not a directory".to_owned()),
        ] {
            assert_eq!(read(&root, path), expected, "{path}");
        }
    }

    #[test]
    fn lists_and_looks() {
        let (_folder, root) = alloc();
        let names = |path: &str| match list(&root, path) {
            Ok(found) => {
                found.into_iter().map(|file| format!("{} {}", file.mode, file.name)).collect::<Vec<_>>().join(", ")
            }
            Err(error) => error.to_string().replace(root.to_str().unwrap(), "ROOT"),
        };
        assert_eq!(names(""), "drwxr-xr-x alloc, drwxr-xr-x web");
        assert_eq!(names("/"), names("web/.."));
        assert_eq!(names("web/secrets"), "-rw-r--r-- key");
        assert_eq!(names("web/local").split(", ").next().unwrap(), "-rw-r--r-- a.txt");
        assert_eq!(names("web/local/top/../.."), "drwxr-xr-x local, drwxr-xr-x secrets");
        assert_eq!(names("../.."), "Path escapes the alloc directory");
        assert_eq!(names("none"), "open ROOT/none: no such file or directory");
        let look =
            |path: &str| info(&root, path).map(|file| (file.name, file.is_folder, file.size_bytes, file.content_type));
        let file = |name: &str, size, content: &str| (name.to_owned(), false, size, content.to_owned());
        assert_eq!(look("web/local/a.txt").unwrap(), file("a.txt", 6, "text/plain; charset=utf-8"));
        assert_eq!(look("web/local/b").unwrap(), file("b", 2, UNKNOWN_CONTENT));
        // Nothing of a secret is read to say what it holds.
        assert_eq!(look("web/secrets/key").unwrap(), file("key", 6, UNKNOWN_CONTENT));
        assert!(look("web/local").unwrap().1);
        assert_eq!(look("web/local/up").unwrap_err().to_string(), "Path escapes the alloc directory");
    }

    #[test]
    fn modes_in_gos_letters() {
        let (_folder, root) = alloc();
        let path = root.join("web/local/b");
        for (bits, expected) in
            [(0o644, "-rw-r--r--"), (0o4755, "urwxr-xr-x"), (0o1777, "trwxrwxrwx"), (0, "----------")]
        {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(bits)).unwrap();
            assert_eq!(mode(&path.metadata().unwrap()), expected);
        }
        assert_eq!(mode(&root.join("web/local/link").symlink_metadata().unwrap()), "Lrwxrwxrwx");
    }
}
