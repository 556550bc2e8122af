//! The Docker driver's settings as they hold, and how people see them.

use longshore_docker::Options;
use longshore_engine::Endpoint;
use longshore_settings::{AgentConfig, Refusal, legacy_docker_options};
use longshore_values::Diagnostic;
use serde_json::{Value, json};

/// Where an engine listens when nobody says otherwise.
const USUAL_SOCKET: &str = "unix:///var/run/docker.sock";

/// The options, and what is to be told about them.
pub(crate) fn options(config: &AgentConfig) -> Result<(Options, Vec<Diagnostic>), Refusal> {
    let legacy = legacy_docker_options(config);
    let decoded = Options::decode(&legacy.tree).into_result()?;
    let mut warnings = legacy.warnings;
    warnings.extend(decoded.diagnostics);
    Ok((decoded.value, warnings))
}

/// The engine's address: the option, else `DOCKER_HOST`, else the usual socket.
pub(crate) fn endpoint(options: &Options, docker_host: Option<&str>) -> Result<Endpoint, String> {
    if let Some(endpoint) = &options.endpoint {
        return Ok(endpoint.clone());
    }
    let text = docker_host.filter(|text| !text.is_empty()).unwrap_or(USUAL_SOCKET);
    text.parse().map_err(|error| format!("DOCKER_HOST: {error}"))
}

/// The options under their names in the agent file, as `/v1/agent/self` tells them.
pub(crate) fn shown(options: &Options) -> Value {
    let gc = &options.gc;
    let dangling = &gc.dangling_containers;
    json!({
        "allow_caps": options.allow_caps,
        "allow_privileged": options.allow_privileged,
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
            "image": gc.image,
            "image_delay": gc.image_delay.to_string(),
            "keep": gc.keep,
        },
        "image_pull_timeout": options.image_pull_timeout.to_string(),
        "infra_image": options.infra_image,
        "logging": { "config": options.logging.config, "type": options.logging.kind },
        "pids_limit": options.pids_limit,
        "pull_activity_timeout": options.pull_activity_timeout.to_string(),
        "volumes": { "enabled": options.volumes.enabled, "selinuxlabel": options.volumes.selinuxlabel },
    })
}
