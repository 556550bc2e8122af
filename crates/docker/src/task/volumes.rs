//! What of the host a task's container sees.

use std::path::{Component, Path, PathBuf};

use longshore_driver::TaskDirs;
use longshore_engine::{HostConfig, Mount};

use super::body::BadTask;
use super::config::TaskConfig;
use super::mounts::TaskMount;
use crate::options::VolumeOptions;

/// So many binds come before those of the task's own.
const USUAL_BINDS: usize = 3;

/// The binds of a task: its allocation's folders first, then its own volumes.
pub(super) fn binds(dirs: &TaskDirs, config: &TaskConfig, options: &VolumeOptions) -> Result<Vec<String>, BadTask> {
    let label = options.selinuxlabel.as_deref();
    let mut binds = vec![
        bind(&dirs.shared_alloc, "/alloc", None, label),
        bind(&dirs.local, "/local", None, label),
        bind(&dirs.secrets, "/secrets", None, label),
    ];
    if !config.volume_driver.is_empty() && !options.enabled {
        return Err(volumes_only("volume_driver".to_owned(), format!("driver {:?}", config.volume_driver)));
    }
    for (n, volume) in config.volumes.iter().enumerate() {
        let key = format!("volumes[{n}]");
        let mut parts = volume.split(':');
        let (Some(source), Some(destination)) = (parts.next(), parts.next()) else {
            let why = format!("{volume:?} is not of the form source:destination[:mode]");
            return Err(BadTask::Wrong { key, why });
        };
        let mode = parts.next().filter(|mode| !mode.is_empty());
        if !config.volume_driver.is_empty() {
            // The name of a volume of that driver.
            binds.push(bind(&lexically_clean(Path::new(source)), destination, mode, label));
            continue;
        }
        let source = host_path(dirs, source, options, key, volume)?;
        binds.push(bind(&source, destination, mode, label));
    }
    Ok(binds)
}

/// The mounts of a task.
pub(super) fn mounts(dirs: &TaskDirs, mounts: &[TaskMount], options: &VolumeOptions) -> Result<Vec<Mount>, BadTask> {
    let mounts = mounts.iter().map(|mount| {
        if mount.is_bind() {
            let key = format!("{}.source", mount.key);
            let source = host_path(dirs, &mount.source, options, key, &mount.source)?;
            Ok(mount.for_engine(source.display().to_string()))
        } else if mount.is_tmpfs() || options.enabled {
            Ok(mount.for_engine(mount.source.clone()))
        } else {
            Err(volumes_only(format!("{}.type", mount.key), format!("a mount of type {:?}", mount.kind)))
        }
    });
    mounts.collect()
}

/// What a task has of its allocation's folder, while it may have nothing else of the host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Within {
    /// Where it was when it was checked, without links.
    pub(crate) path: PathBuf,
    /// Whether a folder is made where nothing is.
    pub(crate) makes_folder: bool,
    slot: Slot,
    /// As the engine would be told.
    told: PathBuf,
}

/// Where in the description of a container a path stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Slot {
    Bind(usize),
    Mount(usize),
}

impl Within {
    fn new(slot: Slot, told: PathBuf) -> Option<Self> {
        let makes_folder = matches!(slot, Slot::Bind(_));
        Some(Self { path: resolved(&told)?, makes_folder, slot, told })
    }

    #[cfg(test)]
    pub(crate) fn for_test(path: PathBuf, makes_folder: bool) -> Self {
        Self { told: path.clone(), path, makes_folder, slot: Slot::Bind(0) }
    }

    /// Has the container get what is at `source`.
    pub(crate) fn put(&self, host: &mut HostConfig, source: &Path) {
        match self.slot {
            Slot::Bind(n) => {
                if let Some(bind) = host.binds.get_mut(n)
                    && let Some(rest) = bind.strip_prefix(&self.told.display().to_string())
                {
                    *bind = format!("{}{rest}", source.display());
                }
            }
            Slot::Mount(n) => {
                if let Some(mount) = host.mounts.get_mut(n) {
                    mount.source = source.display().to_string();
                }
            }
        }
    }
}

/// All of the allocation's folder that the container of a task gets beside the usual; those too where it gets the folder
/// that they are in. Nothing where tasks may have any path of the host.
pub(crate) fn within_allocation(dirs: &TaskDirs, config: &TaskConfig, options: &VolumeOptions) -> Vec<Within> {
    if options.enabled {
        return Vec::new();
    }
    let place = |source: &str| lexically_clean(&dirs.task.join(source));
    let volumes = config
        .volumes
        .iter()
        .enumerate()
        .filter_map(|(n, volume)| Within::new(Slot::Bind(USUAL_BINDS + n), place(volume.split(':').next()?)));
    let mounts = config.mounts.iter().enumerate().filter(|(_, mount)| mount.is_bind());
    let mounts = mounts.filter_map(|(n, mount)| Within::new(Slot::Mount(n), place(&mount.source)));
    let mut within: Vec<_> = volumes.chain(mounts).collect();
    let own = dirs.task.canonicalize().ok();
    if within.iter().any(|within| own.as_ref() == Some(&within.path)) {
        for (n, usual) in [(1, &dirs.local), (2, &dirs.secrets)] {
            within.extend(Within::new(Slot::Bind(n), usual.clone()));
        }
    }
    within
}

fn volumes_only(key: String, what: String) -> BadTask {
    BadTask::NotAllowed { key, what, setting: "volumes { enabled = true }" }
}

/// The path on the host that a task means, when it may have it. Relative ones begin in the task's folder.
fn host_path(
    dirs: &TaskDirs,
    source: &str,
    options: &VolumeOptions,
    key: String,
    written: &str,
) -> Result<PathBuf, BadTask> {
    let source = lexically_clean(&dirs.task.join(source));
    let what = format!("{written:?}");
    if options.enabled {
        Ok(source)
    } else if !is_beneath(&source, &dirs.alloc_root) {
        Err(BadTask::HostPath { key, what })
    } else if shows_secrets_of_others(&source, dirs) {
        Err(BadTask::OthersSecrets { key, what })
    } else {
        Ok(source)
    }
}

fn bind(source: &Path, destination: &str, mode: Option<&str>, label: Option<&str>) -> String {
    let options: Vec<&str> = mode.into_iter().chain(label).collect();
    let source = source.display();
    if options.is_empty() {
        format!("{source}:{destination}")
    } else {
        format!("{source}:{destination}:{}", options.join(","))
    }
}

/// Without `.` and `..`, as far as the text tells.
pub(super) fn lexically_clean(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                clean.pop();
            }
            Component::CurDir => {}
            other => clean.push(other),
        }
    }
    clean
}

/// Whether a path of the allocation shows what is secret to another of its tasks.
pub(super) fn shows_secrets_of_others(path: &Path, dirs: &TaskDirs) -> bool {
    let (Some(real), Ok(root), Ok(own)) = (resolved(path), dirs.alloc_root.canonicalize(), dirs.task.canonicalize())
    else {
        return true;
    };
    let Ok(within) = real.strip_prefix(&root) else { return true };
    let mut parts = within.components().map(Component::as_os_str);
    match (parts.next(), parts.next()) {
        (None, _) => true,
        (Some(folder), _) if folder == "alloc" || root.join(folder) == own => false,
        (Some(_), inner) => inner.is_none_or(|inner| inner == "secrets"),
    }
}

/// Whether `path` lies in `root`, links followed as far as it exists: a task may have made one that leads out.
pub(super) fn is_beneath(path: &Path, root: &Path) -> bool {
    match (resolved(path), root.canonicalize()) {
        (Some(real), Ok(root)) => real.starts_with(&root),
        _ => false,
    }
}

/// Where a path leads, links followed as far as it exists. What does not exist yet has no links in it: what is left over
/// is plain names.
fn resolved(path: &Path) -> Option<PathBuf> {
    let mut existing = path;
    loop {
        match existing.canonicalize() {
            Ok(real) => return path.strip_prefix(existing).ok().map(|rest| real.join(rest)),
            Err(_) => match existing.parent() {
                Some(parent) if existing.symlink_metadata().is_err() => existing = parent,
                // A link that leads nowhere: the engine would follow it.
                _ => return None,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dirs(root: &Path) -> TaskDirs {
        let task = root.join("web");
        let dirs = TaskDirs {
            alloc_root: root.to_owned(),
            shared_alloc: root.join("alloc"),
            local: task.join("local"),
            secrets: task.join("secrets"),
            logs: root.join("alloc/logs"),
            task,
        };
        for dir in [&dirs.logs, &dirs.local, &dirs.secrets] {
            std::fs::create_dir_all(dir).unwrap();
        }
        dirs
    }

    #[test]
    fn paths_stay_in_the_allocation_unless_volumes_are_enabled() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let dirs = dirs(&root);
        std::os::unix::fs::symlink("/etc", root.join("web/link")).unwrap();
        std::os::unix::fs::symlink("/", root.join("web/above")).unwrap();
        std::os::unix::fs::symlink("/nowhere/x", root.join("web/broken")).unwrap();
        let off = VolumeOptions::default();
        let on = VolumeOptions { enabled: true, selinuxlabel: Some("z".to_owned()) };
        let config = |volume: &str| TaskConfig { volumes: vec![volume.to_owned()], ..TaskConfig::default() };
        let check = |source: &str, expected: Option<&str>| {
            let expected = expected.map(|path| path.replace("ROOT", &root.display().to_string()));
            let volume = format!("{source}:/x:ro");
            let got = binds(&dirs, &config(&volume), &off).map(|mut binds| binds.pop().unwrap());
            let refused = |key: &str, what: &str| BadTask::HostPath { key: key.to_owned(), what: format!("{what:?}") };
            match &expected {
                Some(path) => assert_eq!(got, Ok(format!("{path}:/x:ro"))),
                None => assert_eq!(got, Err(refused("volumes[0]", &volume))),
            }
            let mount = TaskMount {
                key: "mount[0]".to_owned(),
                kind: "bind".to_owned(),
                source: source.to_owned(),
                target: "/x".to_owned(),
                ..TaskMount::default()
            };
            let got = mounts(&dirs, &[mount], &off).map(|mut mounts| mounts.pop().unwrap().source);
            assert_eq!(got, expected.ok_or_else(|| refused("mount[0].source", source)), "{source}");
        };
        let secrets = |source: &str| {
            let got = binds(&dirs, &config(&format!("{source}:/x")), &off);
            let what = format!("{:?}", format!("{source}:/x"));
            assert_eq!(got, Err(BadTask::OthersSecrets { key: "volumes[0]".to_owned(), what }), "{source}");
        };
        std::fs::create_dir_all(root.join("other/secrets")).unwrap();
        std::fs::create_dir_all(root.join("other/local")).unwrap();
        std::os::unix::fs::symlink("../other/secrets", root.join("web/theirs")).unwrap();
        for source in ["..", "../other", "../other/secrets", "../other/secrets/key", "theirs", "theirs/key"] {
            secrets(source);
        }
        check("../other/local", Some("ROOT/other/local"));
        check("secrets", Some("ROOT/web/secrets"));
        check("local/data", Some("ROOT/web/local/data"));
        check("local", Some("ROOT/web/local"));
        check("./local/../local", Some("ROOT/web/local"));
        check("../alloc/x", Some("ROOT/alloc/x"));
        check("../../x", None);
        check("local/../../../x", None);
        check("/etc", None);
        check("//etc", None);
        check("/", None);
        check("link/passwd", None);
        check("link", None);
        check("above", None);
        check("above/etc", None);
        check("broken", None);
        // The allocation's own folder, by its absolute path.
        check(&format!("{}/web/local", root.display()), Some("ROOT/web/local"));
        check(&format!("{}-other", root.display()), None);
        let all = binds(&dirs, &config("/etc:/x:ro"), &on).unwrap();
        assert_eq!(all.last().unwrap(), "/etc:/x:ro,z");
        assert_eq!(all[0], format!("{}/alloc:/alloc:z", root.display()));
    }
}
