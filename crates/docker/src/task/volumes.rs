//! What of the host a task's container sees.

use std::path::{Component, Path, PathBuf};

use longshore_driver::TaskDirs;

use crate::options::VolumeOptions;

/// Why a volume cannot be mounted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadVolume {
    #[error(
        "volume {volume:?} is outside of the allocation's folder, and volumes are not enabled on this node (plugin \"docker\" {{ config {{ volumes {{ enabled = true }} }} }})"
    )]
    NotAllowed { volume: String },
    #[error("volume {volume:?} is not of the form source:destination[:mode]")]
    Form { volume: String },
}

/// The binds of a task: its allocation's folders first, then its own volumes.
pub(crate) fn binds(dirs: &TaskDirs, volumes: &[String], options: &VolumeOptions) -> Result<Vec<String>, BadVolume> {
    let label = options.selinuxlabel.as_deref();
    let mut binds = vec![
        bind(&dirs.shared_alloc, "/alloc", None, label),
        bind(&dirs.local, "/local", None, label),
        bind(&dirs.secrets, "/secrets", None, label),
    ];
    for volume in volumes {
        let mut parts = volume.split(':');
        let (Some(source), Some(destination)) = (parts.next(), parts.next()) else {
            return Err(BadVolume::Form { volume: volume.clone() });
        };
        let mode = parts.next().filter(|mode| !mode.is_empty());
        let source = lexically_clean(&dirs.task.join(source));
        if !options.enabled && !is_beneath(&source, &dirs.alloc_root) {
            return Err(BadVolume::NotAllowed { volume: volume.clone() });
        }
        binds.push(bind(&source, destination, mode, label));
    }
    Ok(binds)
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
fn lexically_clean(path: &Path) -> PathBuf {
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

/// Whether `path` lies in `root`, links followed as far as it exists: a task may have made one that leads out.
fn is_beneath(path: &Path, root: &Path) -> bool {
    let Ok(root) = root.canonicalize() else { return false };
    let mut existing = path;
    loop {
        match existing.canonicalize() {
            Ok(real) => {
                // What does not exist yet has no links in it; what is left over is plain names.
                return real.starts_with(&root) || (root.starts_with(&real) && path.starts_with(&root));
            }
            Err(_) => match existing.parent() {
                Some(parent) if existing.symlink_metadata().is_err() => existing = parent,
                // A link that leads nowhere: the engine would follow it.
                _ => return false,
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
        std::os::unix::fs::symlink("/nowhere/x", root.join("web/broken")).unwrap();
        let off = VolumeOptions::default();
        let on = VolumeOptions { enabled: true, selinuxlabel: Some("z".to_owned()) };
        let check = |volume: &str, allowed: bool, bind: &str| {
            let volumes = [volume.to_owned()];
            let expected = if allowed {
                Ok(bind.replace("ROOT", &root.display().to_string()))
            } else {
                Err(BadVolume::NotAllowed { volume: volume.to_owned() })
            };
            assert_eq!(binds(&dirs, &volumes, &off).map(|mut binds| binds.pop().unwrap()), expected, "{volume}");
        };
        check("local/data:/data", true, "ROOT/web/local/data:/data");
        check("local:/data:ro", true, "ROOT/web/local:/data:ro");
        check("../alloc/x:/x", true, "ROOT/alloc/x:/x");
        check("../../x:/x", false, "");
        check("/etc:/x", false, "");
        check("link/passwd:/x", false, "");
        check("broken:/x", false, "");
        let all = binds(&dirs, &["/etc:/x:ro".to_owned()], &on).unwrap();
        assert_eq!(all.last().unwrap(), "/etc:/x:ro,z");
        assert_eq!(all[0], format!("{}/alloc:/alloc:z", root.display()));
    }
}
