//! Finds the program that a task's `command` names.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use longshore_driver::{DriverError, TaskDirs};

/// Looks in the task's `local` folder, in the task's folder, then along the task's `PATH`.
pub(super) fn find(command: &str, dirs: &TaskDirs, env: &BTreeMap<String, String>) -> Result<PathBuf, DriverError> {
    let written = Path::new(command);
    let mut places = vec![dirs.local.join(written), dirs.task.join(written)];
    if written.is_absolute() {
        places.truncate(1);
    } else if written.components().count() == 1
        && let Some(path) = env.get("PATH")
    {
        places.extend(std::env::split_paths(path).filter(|folder| folder.is_absolute()).map(|at| at.join(written)));
    }
    if let Some(found) = places.iter().find(|place| is_program(place)) {
        return Ok(found.clone());
    }
    let listed: Vec<_> = places.iter().map(|place| place.display().to_string()).collect();
    Err(DriverError::fatal(format!("there is no program `{command}`: looked at {}", listed.join(", ")))
        .hint("`command` is an absolute path, a path within the task's folder, or a name on PATH"))
}

fn is_program(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs;

    use super::*;

    #[test]
    fn places_in_order() {
        let base = tempfile::tempdir().unwrap();
        let task = base.path().join("web");
        let dirs = TaskDirs {
            alloc_root: base.path().to_owned(),
            shared_alloc: base.path().join("alloc"),
            local: task.join("local"),
            secrets: task.join("secrets"),
            logs: base.path().join("alloc/logs"),
            task: task.clone(),
        };
        let (near, far) = (task.join("local/run.sh"), base.path().join("bin/run.sh"));
        let env = BTreeMap::from([("PATH".to_owned(), format!("relative:{}", far.parent().unwrap().display()))]);
        let program = |path: &Path, mode: u32| {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        };
        assert!(
            find("run.sh", &dirs, &env).unwrap_err().message.starts_with("there is no program `run.sh`: looked at")
        );
        program(&far, 0o755);
        assert_eq!(find("run.sh", &dirs, &env).unwrap(), far);
        program(&near, 0o644);
        assert_eq!(find("run.sh", &dirs, &env).unwrap(), far);
        program(&near, 0o755);
        assert_eq!(find("run.sh", &dirs, &env).unwrap(), near);
        assert_eq!(find("local/run.sh", &dirs, &env).unwrap(), near);
        assert_eq!(find(far.to_str().unwrap(), &dirs, &env).unwrap(), far);
        assert!(find("/nothing/here", &dirs, &env).is_err());
    }
}
