//! The folders of allocations: `<alloc_dir>/<id>/{alloc/{data,logs,tmp},<task>/{local,secrets,tmp}}`.
//!
//! - T1: `secrets` is for its task alone (0700) and, where this process may mount, lives in memory.
//! - T2: building again changes nothing: rights are set on what was just made and on nothing else, and the owner of
//!   `secrets` without following links, since tasks may put links in the place of folders.

use std::collections::BTreeSet;
use std::fs::{self, DirBuilder, Permissions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt, lchown};
use std::path::{Component, Path, PathBuf};

use longshore_driver::TaskDirs;
use longshore_model::AllocId;
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::unistd::{Gid, Uid, User};

use crate::ClientError;

/// Room for secrets in memory.
const SECRETS_MOUNT_OPTIONS: &str = "size=1m,mode=0700";
const OPEN_TO_ALL: u32 = 0o1777;

/// A step of the work that failed, in words.
pub(crate) type DirError = String;

/// The folder of an allocation.
pub(crate) fn alloc_root(alloc_dir: &Path, alloc: AllocId) -> PathBuf {
    alloc_dir.join(alloc.to_string())
}

pub(crate) fn task_dirs(alloc_root: &Path, task: &str) -> TaskDirs {
    let shared_alloc = alloc_root.join("alloc");
    let folder = alloc_root.join(task);
    TaskDirs {
        alloc_root: alloc_root.to_owned(),
        logs: shared_alloc.join("logs"),
        shared_alloc,
        local: folder.join("local"),
        secrets: folder.join("secrets"),
        task: folder,
    }
}

/// Makes a folder of the agent's own, with those above it.
pub(crate) fn make_folder(path: &Path, mode: u32) -> Result<(), ClientError> {
    let made = DirBuilder::new().recursive(true).mode(mode).create(path);
    let made = made.and_then(|()| fs::set_permissions(path, Permissions::from_mode(mode)));
    made.map_err(|source| ClientError::Files { doing: "make the folder", path: path.to_owned(), source })
}

/// Makes all folders of an allocation. `tasks`: name and user of each.
pub(crate) fn build(alloc_root: &Path, tasks: &[(String, String)]) -> Result<(), DirError> {
    make(alloc_root, 0o711)?;
    let shared = alloc_root.join("alloc");
    make(&shared, OPEN_TO_ALL)?;
    for name in ["data", "logs", "tmp"] {
        make(&shared.join(name), OPEN_TO_ALL)?;
    }
    for (task, user) in tasks {
        if !is_folder_name(task) || task == "alloc" {
            return Err(format!("task name `{task}` cannot be the name of a folder beside `alloc`"));
        }
        let dirs = task_dirs(alloc_root, task);
        make(&dirs.task, OPEN_TO_ALL)?;
        make(&dirs.local, OPEN_TO_ALL)?;
        make(&dirs.task.join("tmp"), OPEN_TO_ALL)?;
        make(&dirs.secrets, 0o700)?;
        mount_secrets(&dirs.secrets)?;
        give_to(&dirs.secrets, user)?;
    }
    Ok(())
}

fn is_folder_name(name: &str) -> bool {
    let mut parts = Path::new(name).components();
    matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None))
}

fn make(path: &Path, mode: u32) -> Result<(), DirError> {
    let fail = |error: io::Error| format!("could not make the folder {}: {error}", path.display());
    match DirBuilder::new().mode(mode).create(path) {
        // Again, because the process's mask may have taken rights away.
        Ok(()) => fs::set_permissions(path, Permissions::from_mode(mode)).map_err(fail),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            let found = fs::symlink_metadata(path).map_err(fail)?;
            if found.is_dir() { Ok(()) } else { Err(format!("{} is there and is no folder", path.display())) }
        }
        Err(error) => Err(fail(error)),
    }
}

fn mount_secrets(secrets: &Path) -> Result<(), DirError> {
    if !Uid::effective().is_root() || is_mount_point(secrets) {
        return Ok(());
    }
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    match mount(Some("tmpfs"), secrets, Some("tmpfs"), flags, Some(SECRETS_MOUNT_OPTIONS)) {
        Ok(()) => Ok(()),
        // Root in a container that may not mount: the folder's own rights must do.
        Err(nix::errno::Errno::EPERM | nix::errno::Errno::EACCES) => {
            tracing::warn!(folder = %secrets.display(), "secrets stay on disk: this process may not mount");
            Ok(())
        }
        Err(error) => Err(format!("could not mount memory at {}: {error}", secrets.display())),
    }
}

/// Whether the folder is on another file system than the one above it.
fn is_mount_point(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let device = |path: &Path| fs::symlink_metadata(path).ok().map(|metadata| metadata.dev());
    match (device(path), path.parent().and_then(device)) {
        (Some(own), Some(above)) => own != above,
        _ => false,
    }
}

/// Secrets belong to the user that the task runs as, if this host knows it.
fn give_to(secrets: &Path, user: &str) -> Result<(), DirError> {
    if user.is_empty() || !Uid::effective().is_root() {
        return Ok(());
    }
    let Some((uid, gid)) = find_user(user) else { return Ok(()) };
    // Never what a link points at: whoever owned the folder before may have put one in its place.
    lchown(secrets, Some(uid.as_raw()), Some(gid.as_raw()))
        .map_err(|error| format!("could not give {} to user {user}: {error}", secrets.display()))
}

/// `name`, `uid` or either with `:gid`.
fn find_user(text: &str) -> Option<(Uid, Gid)> {
    let (name, group) = text.split_once(':').map_or((text, None), |(name, group)| (name, Some(group)));
    let numeric = name.parse().ok().map(Uid::from_raw);
    let known = match numeric {
        Some(uid) => User::from_uid(uid).ok().flatten(),
        None => User::from_name(name).ok().flatten(),
    };
    let uid = numeric.or_else(|| known.as_ref().map(|user| user.uid))?;
    let gid = group.and_then(|group| group.parse().ok()).map(Gid::from_raw);
    let gid = gid.or_else(|| known.map(|user| user.gid)).unwrap_or_else(|| Gid::from_raw(uid.as_raw()));
    Some((uid, gid))
}

/// Gives back the memory of an ended allocation's secrets.
pub(crate) fn release_secrets(alloc_root: &Path) {
    for mounted in mounts_below(alloc_root) {
        unmount(&mounted);
    }
}

/// Removes the folder of one allocation, or of many, with all that is in it. What is not there is no error.
///
/// # Errors
/// When something within would not go. Secrets were unmounted then.
pub fn remove_folder(alloc_root: &Path) -> io::Result<()> {
    release_secrets(alloc_root);
    match fs::remove_dir_all(alloc_root) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// Unmounts what earlier runs left mounted for allocations that do not live any more.
pub(crate) fn release_leftovers(alloc_dir: &Path, live: &BTreeSet<AllocId>) {
    // Without folders there nothing can be mounted, and the machine's list of mounts may be long.
    if fs::read_dir(alloc_dir).is_ok_and(|mut folders| folders.next().is_none()) {
        return;
    }
    for mounted in mounts_below(alloc_dir) {
        let first = mounted.strip_prefix(alloc_dir).ok().and_then(|rest| rest.components().next());
        let alloc = first.and_then(|part| part.as_os_str().to_str()).and_then(|name| name.parse::<AllocId>().ok());
        if alloc.is_some_and(|alloc| !live.contains(&alloc)) {
            unmount(&mounted);
        }
    }
}

fn unmount(path: &Path) {
    if let Err(error) = umount2(path, MntFlags::MNT_DETACH | MntFlags::UMOUNT_NOFOLLOW) {
        tracing::warn!(folder = %path.display(), %error, "could not unmount the secrets of an ended allocation");
    }
}

/// The mount points below a folder that are named `secrets`, innermost first.
fn mounts_below(folder: &Path) -> Vec<PathBuf> {
    let text = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let folder = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    let mut found: Vec<_> = text
        .lines()
        .filter_map(|line| line.split(' ').nth(4))
        .map(|field| PathBuf::from(unescape(field)))
        .filter(|path| path.starts_with(&folder) && path.ends_with("secrets"))
        .collect();
    found.sort();
    found.reverse();
    found
}

/// The kernel writes blanks and the like as `\040`.
fn unescape(field: &str) -> String {
    let mut out = Vec::with_capacity(field.len());
    let mut bytes = field.bytes().peekable();
    while let Some(byte) = bytes.next() {
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        let digits: Vec<u8> = bytes.by_ref().take(3).collect();
        let code = std::str::from_utf8(&digits).ok().and_then(|digits| u8::from_str_radix(digits, 8).ok());
        match code {
            Some(code) => out.push(code),
            None => {
                out.push(byte);
                out.extend(digits);
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o7777
    }

    #[test]
    fn folders_are_made_once_and_removed_whole() {
        let base = tempfile::tempdir().unwrap();
        let root = alloc_root(base.path(), AllocId::from_u128(5));
        let tasks = [("web".to_owned(), String::new())];
        build(&root, &tasks).unwrap();
        let dirs = task_dirs(&root, "web");
        assert_eq!(mode(&dirs.secrets), 0o700);
        assert_eq!(mode(&dirs.local), 0o1777);
        fs::write(dirs.secrets.join("token"), "x").unwrap();
        // Building again keeps what is there and mounts nothing over it.
        build(&root, &tasks).unwrap();
        assert_eq!(fs::read_to_string(dirs.secrets.join("token")).unwrap(), "x");
        remove_folder(&root).unwrap();
        assert!(!root.exists());
        remove_folder(&root).unwrap();
    }

    #[test]
    fn a_link_in_the_place_of_a_folder_is_refused_and_its_target_left_alone() {
        let base = tempfile::tempdir().unwrap();
        let root = alloc_root(base.path(), AllocId::from_u128(5));
        build(&root, &[]).unwrap();
        let victim = base.path().join("victim");
        DirBuilder::new().mode(0o700).create(&victim).unwrap();
        fs::remove_dir(root.join("alloc/logs")).unwrap();
        std::os::unix::fs::symlink(&victim, root.join("alloc/logs")).unwrap();
        assert!(build(&root, &[]).unwrap_err().ends_with("is there and is no folder"));
        assert_eq!(mode(&victim), 0o700);
    }

    #[test]
    fn names_that_are_no_folders_are_refused() {
        for bad in ["", "..", ".", "a/b", "/etc", "alloc"] {
            let base = tempfile::tempdir().unwrap();
            let root = alloc_root(base.path(), AllocId::from_u128(5));
            assert!(build(&root, &[(bad.to_owned(), String::new())]).is_err(), "{bad}");
        }
    }

    #[test]
    fn mount_points_with_blanks() {
        assert_eq!(unescape(r"/a\040b/c"), "/a b/c");
        assert_eq!(unescape(r"/a\x"), r"/a\x");
    }

    #[test]
    fn leftovers_of_ended_allocations_are_unmounted() {
        let base = tempfile::tempdir().unwrap();
        let (live, gone) = (AllocId::from_u128(1), AllocId::from_u128(2));
        for alloc in [live, gone] {
            build(&alloc_root(base.path(), alloc), &[("web".to_owned(), String::new())]).unwrap();
        }
        let secrets = |alloc| task_dirs(&alloc_root(base.path(), alloc), "web").secrets;
        // Who may not mount has nothing to be left over.
        let mounted = mounts_below(base.path());
        assert!(mounted.is_empty() || mounted == [secrets(gone), secrets(live)], "{mounted:?}");
        release_leftovers(base.path(), &BTreeSet::from([live]));
        let expected: Vec<_> = mounted.into_iter().filter(|path| *path == secrets(live)).collect();
        assert_eq!(mounts_below(base.path()), expected);
        release_secrets(&alloc_root(base.path(), live));
    }
}
