//! What a task has of its allocation's folder, held fast until its container runs.
//!
//! Whatever runs in an allocation may put a link in the place of one of its folders at any time. So the engine, which follows
//! links, is never given a path that could lead elsewhere by the time it mounts it.
//!
//! - P1: what was checked is what is mounted: it is opened part by part without following links, and the engine gets a mount
//!   of what was opened, in a folder that only the agent can change.
//! - P2: a pin goes when the start has ended, well or not: the container has a mount of its own by then. What a crash leaves
//!   goes at the next start of the agent.
//!
//! An agent that may not mount, which is one without root, can pin nothing; that is said in its log.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Component, Path, PathBuf};
use std::sync::Once;

use longshore_driver::{DriverError, StartRequest};
use longshore_engine::CreateContainer;
use nix::errno::Errno;
use nix::fcntl::{OFlag, openat};
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sys::stat::{Mode, SFlag, fstat, mkdirat};
use nix::unistd::Uid;

use super::shared::Shared;
use crate::options::Options;
use crate::task::{TaskConfig, Within, container_name, within_allocation};

/// Folders that are made for volumes have these rights, as those that engines make.
const FOLDER_MODE: Mode = Mode::from_bits_truncate(0o755);

/// The pins of one start. They go when it is dropped.
#[derive(Debug, Default)]
pub(super) struct Pins {
    folder: PathBuf,
    pinned: Vec<(Within, PathBuf)>,
}

impl Pins {
    /// Pins what the task has within its allocation.
    pub(super) async fn hold(
        shared: &Shared,
        request: &StartRequest,
        config: &TaskConfig,
    ) -> Result<Self, DriverError> {
        let within = wanted(request, config, &shared.options);
        if within.is_empty() {
            return Ok(Self::default());
        }
        let folder = all_pins(&shared.state_folder).join(container_name(&request.id));
        let root = request.dirs.alloc_root.clone();
        let made = tokio::task::spawn_blocking(move || Self::make(folder, &root, within));
        made.await.map_err(|error| DriverError::retry(error.to_string()))?
    }

    /// Has the container made from the pins.
    pub(super) fn put(&self, body: &mut CreateContainer) {
        for (within, place) in &self.pinned {
            within.put(&mut body.host_config, place);
        }
    }

    fn make(folder: PathBuf, root: &Path, within: Vec<Within>) -> Result<Self, DriverError> {
        let failed = |error: io::Error| {
            DriverError::retry(format!("could not make the folder {} for a task's volumes", folder.display()))
                .caused_by(error)
        };
        release(&folder);
        fs::create_dir_all(&folder).map_err(failed)?;
        let mut pins = Self { folder: folder.clone(), pinned: Vec::new() };
        for (n, within) in within.into_iter().enumerate() {
            let opened = open_beneath(root, &within).map_err(|error| {
                DriverError::retry(format!("{} cannot be had for a volume", within.path.display()))
                    .caused_by(error)
                    .hint("see what the tasks of the allocation do with it")
            })?;
            let place = folder.join(n.to_string());
            let is_folder = is_kind(&opened, SFlag::S_IFDIR).map_err(failed)?;
            if is_folder { fs::create_dir(&place) } else { File::create(&place).map(drop) }.map_err(failed)?;
            let pinned = pin(&opened, &place);
            let told = format!("could not mount {} at {}", within.path.display(), place.display());
            pins.pinned.push((within, place));
            pinned.map_err(|error| DriverError::retry(told).caused_by(io::Error::from(error)))?;
        }
        Ok(pins)
    }
}

impl Drop for Pins {
    fn drop(&mut self) {
        self.pinned.iter().for_each(|(_, place)| release_place(place));
        if !self.folder.as_os_str().is_empty() {
            let _ = fs::remove_dir(&self.folder);
        }
    }
}

/// Removes what starts that were cut off left.
pub(super) fn release_left(state_folder: &Path) {
    let Ok(folders) = fs::read_dir(all_pins(state_folder)) else { return };
    folders.flatten().for_each(|folder| release(&folder.path()));
}

fn all_pins(state_folder: &Path) -> PathBuf {
    state_folder.join("pins")
}

fn wanted(request: &StartRequest, config: &TaskConfig, options: &Options) -> Vec<Within> {
    static TOLD: Once = Once::new();
    let within = within_allocation(&request.dirs, config, &options.volumes);
    if within.is_empty() || Uid::effective().is_root() {
        return within;
    }
    TOLD.call_once(|| {
        tracing::warn!(
            "without root, tasks that change their folders while others start can have the engine mount any path of \
             the host: run only jobs that you trust, or run the agent as root"
        );
    });
    Vec::new()
}

fn release(folder: &Path) {
    let Ok(places) = fs::read_dir(folder) else { return };
    places.flatten().for_each(|place| release_place(&place.path()));
    let _ = fs::remove_dir(folder);
}

/// Never removes what is in a place: where the mount cannot be ended that is the allocation's.
fn release_place(place: &Path) {
    match umount2(place, MntFlags::MNT_DETACH | MntFlags::UMOUNT_NOFOLLOW) {
        // Not mounted yet, or gone.
        Ok(()) | Err(Errno::EINVAL | Errno::ENOENT) => {}
        Err(error) => {
            tracing::warn!(folder = %place.display(), %error, "a mount for a task's volume could not be ended")
        }
    }
    if fs::remove_file(place).is_err() {
        let _ = fs::remove_dir(place);
    }
}

fn pin(opened: &OwnedFd, place: &Path) -> nix::Result<()> {
    let source = format!("/proc/self/fd/{}", opened.as_raw_fd());
    let none = None::<&str>;
    mount(Some(source.as_str()), place, none, MsFlags::MS_BIND | MsFlags::MS_REC, none)?;
    // Its end must not be passed on to what it was made from; engines want what they share to be shared.
    mount(none, place, none, MsFlags::MS_PRIVATE | MsFlags::MS_REC, none)?;
    mount(none, place, none, MsFlags::MS_SHARED, none)
}

/// Opens the path without following a link; makes folders on the way where an engine would.
fn open_beneath(root: &Path, within: &Within) -> io::Result<OwnedFd> {
    let root = root.canonicalize()?;
    let outside = || io::Error::other("it is outside of the allocation's folder");
    let path = within.path.strip_prefix(&root).map_err(|_| outside())?;
    let flags = OFlag::O_PATH | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    let mut at: OwnedFd = File::open(&root)?.into();
    for part in path.components() {
        let Component::Normal(name) = part else { return Err(outside()) };
        at = match openat(&at, name, flags, Mode::empty()) {
            Err(Errno::ENOENT) if within.makes_folder => {
                match mkdirat(&at, name, FOLDER_MODE) {
                    Ok(()) | Err(Errno::EEXIST) => {}
                    Err(error) => return Err(error.into()),
                }
                openat(&at, name, flags, Mode::empty())?
            }
            opened => opened?,
        };
        if is_kind(&at, SFlag::S_IFLNK)? {
            return Err(io::Error::new(ErrorKind::PermissionDenied, "a link was put in its place"));
        }
    }
    Ok(at)
}

fn is_kind(opened: &OwnedFd, kind: SFlag) -> io::Result<bool> {
    let mode = SFlag::from_bits_truncate(fstat(opened)?.st_mode & SFlag::S_IFMT.bits());
    Ok(mode == kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn open(root: &Path, path: &str, makes_folder: bool) -> Result<PathBuf, String> {
        let within = Within::for_test(root.join(path), makes_folder);
        let opened = open_beneath(root, &within).map_err(|error| error.to_string())?;
        fs::read_link(format!("/proc/self/fd/{}", opened.as_raw_fd())).map_err(|error| error.to_string())
    }

    #[test]
    fn no_link_is_followed() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("alloc/data")).unwrap();
        fs::write(root.join("alloc/file"), "").unwrap();
        std::os::unix::fs::symlink("/etc", root.join("alloc/link")).unwrap();
        assert_eq!(open(&root, "alloc/data", false), Ok(root.join("alloc/data")));
        assert_eq!(open(&root, "alloc/file", true), Ok(root.join("alloc/file")));
        assert_eq!(open(&root, "alloc/new/deep", true), Ok(root.join("alloc/new/deep")));
        assert!(open(&root, "alloc/missing", false).unwrap_err().contains("No such file"));
        assert!(open(&root, "alloc/link", true).unwrap_err().contains("a link was put in its place"));
        assert!(open(&root, "alloc/link/hostname", true).unwrap_err().contains("a link was put in its place"));
        assert!(open(&root, "/etc", true).unwrap_err().contains("outside"));
    }
}
