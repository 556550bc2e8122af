//! The Docker driver's settings as they hold, and how people see them.

use longshore_docker::{FirstLook, Foreign, Options};
use longshore_engine::{ApiVersion, Endpoint};
use serde_json::{Value, json};

/// Where an engine listens when nobody says otherwise.
pub(crate) const USUAL_SOCKET: &str = "unix:///var/run/docker.sock";

/// The engine's address: the option, else `DOCKER_HOST`, else the usual socket.
pub(crate) fn endpoint(options: &Options, docker_host: Option<&str>) -> Result<Endpoint, String> {
    if let Some(endpoint) = &options.endpoint {
        return Ok(endpoint.clone());
    }
    let text = docker_host.filter(|text| !text.is_empty()).unwrap_or(USUAL_SOCKET);
    text.parse().map_err(|error| format!("DOCKER_HOST: {error}"))
}

/// The version of the engine's API that is spoken without asking: `DOCKER_API_VERSION`, read like `DOCKER_HOST` only where no
/// option names the engine, as Nomad does.
pub(crate) fn api_version(options: &Options, given: Option<&str>) -> Result<Option<ApiVersion>, String> {
    let given = given.filter(|text| !text.is_empty() && options.endpoint.is_none());
    let Some(given) = given else { return Ok(None) };
    let version: ApiVersion = given.parse().map_err(|error| format!("DOCKER_API_VERSION: {error}"))?;
    let (oldest, newest) = (ApiVersion::OLDEST, ApiVersion::NEWEST);
    if !(oldest..=newest).contains(&version) {
        return Err(format!(
            "DOCKER_API_VERSION: {version} is not spoken here; this build speaks {oldest} to {newest}"
        ));
    }
    Ok(Some(version))
}

/// What the banner says about the engine; `None` for `look` stands for an engine that has not answered yet.
pub(crate) fn note(look: Option<&FirstLook>, dev: bool, raw_exec: bool) -> Option<String> {
    match look {
        Some(FirstLook::Fine) => None,
        Some(FirstLook::But(note)) => Some(format!("WARNING: {note}")),
        Some(FirstLook::Away(why)) if dev && raw_exec => Some(format!("Docker is not there, raw_exec only: {why}")),
        Some(FirstLook::Away(why)) => {
            Some(format!("WARNING: Docker is not there, and its tasks are not placed on this node until it is: {why}"))
        }
        None => Some("Docker is being looked for; its tasks are placed on this node as soon as it answers".to_owned()),
    }
}

/// The options under their names in the agent file, as `/v1/agent/self` tells them.
pub(crate) fn shown(options: &Options) -> Value {
    let gc = &options.gc;
    let dangling = &gc.dangling_containers;
    json!({
        "allow_caps": options.allow_caps,
        "allow_devices": options.allow_devices,
        "allow_network_modes": options.allow_network_modes,
        "allow_privileged": options.allow_privileged,
        "allow_registries": options.allow_registries,
        "allow_runtimes": options.allow_runtimes,
        "allow_seccomp_profiles": options.allow_seccomp_profiles,
        "allowed_modes": {
            "ipc": options.allowed_modes.ipc,
            "pid": options.allowed_modes.pid,
            "userns": options.allowed_modes.userns,
            "uts": options.allowed_modes.uts,
        },
        "auth": {
            "config": options.auth.config,
            "helper": options.auth.helper,
        },
        "container_exists_attempts": options.container_exists_attempts,
        "disable_log_collection": options.disable_log_collection,
        "extra_labels": options.extra_labels,
        "gc": {
            "container": gc.container,
            "dangling_containers": {
                "creation_grace": dangling.creation_grace.to_string(),
                "dry_run": dangling.dry_run,
                "enabled": dangling.enabled,
                "period": dangling.period.to_string(),
            },
            "foreign": foreign_word(gc.foreign),
            "image": gc.image,
            "image_delay": gc.image_delay.to_string(),
            "keep": gc.keep,
            "keep_versions": gc.keep_versions,
            "budget": gc.space.budget_bytes,
            "disk_high": gc.space.disk_high,
            "disk_low": gc.space.low(),
            "max_age": gc.space.max_age.to_string(),
            "min_age": gc.space.min_age.to_string(),
            "min_free": gc.space.min_free_bytes,
            "reclaim": gc.space.reclaim,
            "retain": gc.space.retain,
        },
        "image_pull_timeout": options.image_pull_timeout.to_string(),
        "infra_image": options.infra_image.as_ref().map(|image| image.familiar()),
        "logging": { "config": options.logging.config, "type": options.logging.kind },
        "oom_score_adj": options.oom_score_adj,
        "pids_limit": options.pids_limit,
        "pull_activity_timeout": options.pull_activity_timeout.to_string(),
        "volumes": { "enabled": options.volumes.enabled, "selinuxlabel": options.volumes.selinuxlabel },
    })
}

fn foreign_word(foreign: Foreign) -> &'static str {
    match foreign {
        Foreign::Keep => "keep",
        Foreign::Collect => "collect",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(look: Option<&FirstLook>, dev: bool, expected: &str) {
        assert_eq!(note(look, dev, true).unwrap_or_default(), expected);
    }

    #[test]
    fn a_version_is_pinned_where_no_option_names_the_engine() {
        let check = |given: &str, endpoint: Option<&str>| {
            let options = Options { endpoint: endpoint.map(|it| it.parse().unwrap()), ..Options::default() };
            api_version(&options, Some(given)).map(|version| version.map(|it| it.to_string()))
        };
        assert_eq!(check("1.41", None), Ok(Some("1.41".to_owned())));
        assert_eq!(check("", None), Ok(None));
        assert_eq!(check("1.41", Some("unix:///run/d.sock")), Ok(None));
        assert!(check("new", None).unwrap_err().starts_with("DOCKER_API_VERSION: \"new\" is no version"));
        assert!(check("1.24", None).unwrap_err().ends_with("this build speaks 1.41 to 1.53"));
    }

    #[test]
    fn the_banner_says_what_is_not_as_usual() {
        let away = FirstLook::Away("no socket".to_owned());
        check(Some(&FirstLook::Fine), true, "");
        check(Some(&away), true, "Docker is not there, raw_exec only: no socket");
        check(
            Some(&away),
            false,
            "WARNING: Docker is not there, and its tasks are not placed on this node until it is: no socket",
        );
        check(Some(&FirstLook::But("another one keeps".to_owned())), false, "WARNING: another one keeps");
        check(None, true, "Docker is being looked for; its tasks are placed on this node as soon as it answers");
    }
}
