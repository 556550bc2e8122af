//! Defaults of the smaller blocks, which do not depend on the type of the job.

use longshore_api::{Service, Task, TaskArtifact, Template, Vault};
use longshore_values::GoDuration;

fn text(slot: &mut Option<String>, default: &str) {
    slot.get_or_insert_with(|| default.to_owned());
}

pub(super) fn of_task(task: &mut Task) {
    task.artifacts.iter_mut().for_each(artifact);
    task.templates.iter_mut().for_each(template);
    if let Some(given) = &mut task.vault {
        vault(given);
    }
    for mount in &mut task.volume_mounts {
        mount.read_only.get_or_insert(false);
        text(&mut mount.propagation_mode, "private");
    }
    for scaling in &mut task.scaling_policies {
        scaling.enabled.get_or_insert(true);
    }
    if let Some(plugin) = &mut task.csi_plugin_config {
        if plugin.mount_dir.is_empty() {
            plugin.mount_dir = "/csi".to_owned();
        }
        if plugin.health_timeout.is_zero() {
            plugin.health_timeout = GoDuration::seconds(30);
        }
    }
}

fn artifact(artifact: &mut TaskArtifact) {
    text(&mut artifact.getter_source, "");
    text(&mut artifact.getter_mode, "any");
    let destination = match (artifact.getter_mode.as_deref(), artifact.getter_source.as_deref()) {
        (Some("file"), Some(source)) => format!("local/{}", source.rsplit('/').next().unwrap_or_default()),
        _ => "local/".to_owned(),
    };
    artifact.relative_dest.get_or_insert(destination);
}

fn template(template: &mut Template) {
    for (slot, default) in [
        (&mut template.source_path, ""),
        (&mut template.dest_path, ""),
        (&mut template.embedded_tmpl, ""),
        (&mut template.change_mode, "restart"),
        (&mut template.perms, "0644"),
        (&mut template.left_delim, "{{"),
        (&mut template.right_delim, "}}"),
    ] {
        text(slot, default);
    }
    let signals = template.change_mode.as_deref() == Some("signal");
    let signal = template.change_signal.take().map(|signal| signal.to_uppercase());
    template.change_signal = Some(signal.unwrap_or_else(|| if signals { "SIGHUP" } else { "" }.to_owned()));
    template.splay.get_or_insert(GoDuration::seconds(5));
    template.envvars.get_or_insert(false);
    template.vault_grace.get_or_insert(GoDuration::ZERO);
    template.err_missing_key.get_or_insert(false);
    if let Some(script) = &mut template.change_script {
        text(&mut script.command, "");
        script.timeout.get_or_insert(GoDuration::seconds(5));
        script.fail_on_error.get_or_insert(false);
    }
}

fn vault(vault: &mut Vault) {
    text(&mut vault.namespace, "");
    vault.env.get_or_insert(true);
    vault.disable_file.get_or_insert(false);
    text(&mut vault.change_mode, "restart");
    text(&mut vault.change_signal, "SIGHUP");
}

pub(super) fn of_service(service: &mut Service) {
    if let Some(restart) = &mut service.check_restart {
        restart.grace.get_or_insert(GoDuration::seconds(1));
    }
    if let Some(weights) = &mut service.weights {
        weights.passing.get_or_insert(1);
        weights.warning.get_or_insert(1);
    }
    let sidecar = service.connect.as_mut().and_then(|connect| connect.sidecar_task.as_mut());
    let Some(sidecar) = sidecar else { return };
    if let Some(asked) = &mut sidecar.resources {
        super::resources(asked);
    }
    if let Some(logs) = &mut sidecar.log_config {
        super::log_config(logs);
    }
    for mount in &mut sidecar.volume_mounts {
        mount.read_only.get_or_insert(false);
        text(&mut mount.propagation_mode, "private");
    }
}
