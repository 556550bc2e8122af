//! What a task may do beyond its container, as far as the node allows it.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use longshore_driver::TaskDirs;
use longshore_engine::DeviceMapping;
use longshore_values::Glob;

use super::body::BadTask;
use super::config::TaskConfig;
use super::volumes::{is_beneath, lexically_clean, shows_secrets_of_others};
use crate::options::{Options, capability};

/// What the engine gives a container that asks for nothing, beyond what Nomad allows.
const ENGINE_ONLY_CAP: &str = "net_raw";

pub(super) fn capabilities(config: &TaskConfig, options: &Options) -> Result<(Vec<String>, Vec<String>), BadTask> {
    let normal = |caps: &[String]| caps.iter().map(|cap| capability(cap)).collect::<Vec<_>>();
    let (mut add, mut drop) = (normal(&config.cap_add), normal(&config.cap_drop));
    let allowed = |cap: &str| options.allow_caps.iter().any(|allowed| allowed == cap || allowed == "all");
    let excess: Vec<String> = add.iter().filter(|cap| !allowed(cap)).cloned().collect();
    if !excess.is_empty() {
        return Err(BadTask::Capabilities { caps: excess });
    }
    let defaults = Options::default().allow_caps;
    let engine_gives = defaults.iter().map(String::as_str).chain([ENGINE_ONLY_CAP]);
    for cap in engine_gives.filter(|cap| !allowed(cap)) {
        if !drop.iter().any(|dropped| dropped == cap) {
            drop.push(cap.to_owned());
        }
    }
    for list in [&mut add, &mut drop] {
        if list.iter().any(|cap| cap == "all") {
            *list = vec!["all".to_owned()];
        }
    }
    Ok((add, drop))
}

/// Namespaces of the host or of other containers need the operator's word; a namespace of the container's own does not.
pub(super) fn check_modes(config: &TaskConfig, options: &Options) -> Result<(), BadTask> {
    let modes = &options.allowed_modes;
    for (key, mode, allowed, setting) in [
        ("ipc_mode", &config.ipc_mode, &modes.ipc, "allowed_modes { ipc = [ … ] }"),
        ("pid_mode", &config.pid_mode, &modes.pid, "allowed_modes { pid = [ … ] }"),
        ("userns_mode", &config.userns_mode, &modes.userns, "allowed_modes { userns = [ … ] }"),
        ("uts_mode", &config.uts_mode, &modes.uts, "allowed_modes { uts = [ … ] }"),
    ] {
        let own = mode.is_empty() || (key == "ipc_mode" && matches!(mode.as_str(), "none" | "private" | "shareable"));
        if !own && !options.allow_privileged && !allowed.iter().any(|glob| glob.matches(mode)) {
            return Err(BadTask::NotAllowed { key: key.to_owned(), what: mode.clone(), setting });
        }
    }
    let runtime = &config.runtime;
    if !runtime.is_empty() && !options.allow_runtimes.contains(runtime) {
        return Err(BadTask::NotAllowed {
            key: "runtime".to_owned(),
            what: runtime.clone(),
            setting: "allow_runtimes = [ … ]",
        });
    }
    Ok(())
}

pub(super) fn devices(config: &TaskConfig, options: &Options) -> Result<Vec<DeviceMapping>, BadTask> {
    let allowed = |path: &Path| {
        let text = path.display().to_string();
        options.allow_devices.iter().any(|glob| glob.matches(&text))
    };
    let mut devices = Vec::new();
    for device in &config.devices {
        let path = lexically_clean(Path::new(&device.host_path));
        // Under another name too: a link is as good as what it leads to.
        let real = path.canonicalize();
        if !allowed(&path) || !real.as_deref().map_or(true, allowed) {
            return Err(BadTask::NotAllowed {
                key: format!("{}.host_path", device.key),
                what: device.host_path.clone(),
                setting: "allow_devices = [ … ]",
            });
        }
        devices.push(DeviceMapping {
            path_on_host: path.display().to_string(),
            path_in_container: device.container_path.clone(),
            cgroup_permissions: device.cgroup_permissions.clone(),
        });
    }
    Ok(devices)
}

const UNCONFINED: &str = "unconfined";
/// Larger seccomp profiles than this are refused.
const SECCOMP_PROFILE_BYTES_MAX: u64 = 1 << 20;

/// The options, with seccomp profiles read in: the engine takes their content.
pub(super) fn security_options(
    dirs: &TaskDirs,
    config: &TaskConfig,
    options: &Options,
) -> Result<Vec<String>, BadTask> {
    let mut read = Vec::new();
    for (n, option) in config.security_opt.iter().enumerate() {
        let key = || format!("security_opt[{n}]");
        let profile = option.strip_prefix("seccomp=").or_else(|| option.strip_prefix("seccomp:"));
        match profile {
            None | Some(UNCONFINED) => read.push(option.clone()),
            Some(path) => {
                let path = lexically_clean(&dirs.task.join(path));
                if !may_read(&path, dirs, options) {
                    return Err(BadTask::NotAllowed {
                        key: key(),
                        what: format!("a profile outside of the allocation's folder ({option})"),
                        setting: "allow_seccomp_profiles = [ … ]",
                    });
                }
                let profile = seccomp_profile(&path).map_err(|why| BadTask::Wrong { key: key(), why })?;
                read.push(format!("seccomp={profile}"));
            }
        }
    }
    Ok(read)
}

fn may_read(path: &Path, dirs: &TaskDirs, options: &Options) -> bool {
    let allowed = |globs: &[Glob], path: &Path| globs.iter().any(|glob| glob.matches(&path.display().to_string()));
    if options.volumes.enabled || (is_beneath(path, &dirs.alloc_root) && !shows_secrets_of_others(path, dirs)) {
        return true;
    }
    let globs = &options.allow_seccomp_profiles;
    allowed(globs, path) && path.canonicalize().is_ok_and(|real| allowed(globs, &real))
}

/// The profile, compact. Nothing of its text is in an error: it may be a file that is none.
fn seccomp_profile(path: &Path) -> Result<String, String> {
    let told = |error: std::io::Error| format!("the profile {} cannot be read: {error}", path.display());
    let file = File::open(path).map_err(told)?;
    if !file.metadata().map_err(told)?.is_file() {
        return Err(format!("the profile {} is not a file", path.display()));
    }
    let mut text = Vec::new();
    file.take(SECCOMP_PROFILE_BYTES_MAX + 1).read_to_end(&mut text).map_err(told)?;
    if text.len() as u64 > SECCOMP_PROFILE_BYTES_MAX {
        return Err(format!("the profile {} is larger than {SECCOMP_PROFILE_BYTES_MAX} bytes", path.display()));
    }
    match serde_json::from_slice::<serde_json::Map<String, serde_json::Value>>(&text) {
        Ok(profile) => Ok(serde_json::Value::Object(profile).to_string()),
        Err(_) => Err(format!("the profile {} is not a JSON object", path.display())),
    }
}
