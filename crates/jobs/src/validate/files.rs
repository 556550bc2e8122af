use longshore_api::{Task, TaskArtifact, Template};
use longshore_values::GoDuration;

use super::Faults;
use crate::fault::Fault;

/// Digests that a `checksum` may name, with their length in hex digits.
const DIGESTS: [(&str, usize); 4] = [("md5", 32), ("sha1", 40), ("sha256", 64), ("sha512", 128)];

/// Rules of a task's templates and artifacts.
pub(super) fn of_task(task: &Task) -> Vec<Fault> {
    let mut faults = Faults::default();
    for (at, template) in task.templates.iter().enumerate() {
        let prefix = format!("Template {} validation failed: ", at + 1);
        faults.nested(&format!("template[{at}]"), &prefix, of_template(template));
    }
    let destinations: Vec<&str> =
        task.templates.iter().map(|template| template.dest_path.as_deref().unwrap_or_default()).collect();
    let named = destinations.iter().copied().filter(|path| !path.is_empty());
    for (at, _, first) in super::repeated(named) {
        faults.at(&format!("template[{}] → destination", at - 1), true, || {
            format!("Template {at} has same destination as {first}")
        });
    }
    for (at, artifact) in task.artifacts.iter().enumerate() {
        let prefix = format!("Artifact {} validation failed: ", at + 1);
        faults.nested(&format!("artifact[{at}]"), &prefix, of_artifact(artifact));
    }
    if let Some(payload) = &task.dispatch_payload {
        faults.at("dispatch_payload → file", payload.file.is_empty() || escapes(&payload.file), || {
            format!("dispatch payload destination {:?} escapes task local directory", payload.file)
        });
    }
    faults.0
}

/// Whether a path below a folder leads out of it.
fn escapes(path: &str) -> bool {
    let mut depth = 0_i64;
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => depth -= 1,
            _ => depth += 1,
        }
        if depth < 0 {
            return true;
        }
    }
    false
}

fn of_template(template: &Template) -> Vec<Fault> {
    let mut faults = Faults::default();
    let text = |slot: &Option<String>| slot.clone().unwrap_or_default();
    let (source, data) = (text(&template.source_path), text(&template.embedded_tmpl));
    faults.at("source", source.is_empty() && data.is_empty(), || {
        "Must specify a source path or have an embedded template".to_owned()
    });
    let destination = text(&template.dest_path);
    faults.at("destination", destination.is_empty(), || "Must specify a destination for the template".to_owned());
    // A template may stand in the folder that the tasks of a group share, one above the task's own.
    let leads_out = escapes(&format!("task/{}", destination.trim_start_matches('/')));
    faults.at("destination", leads_out && !destination.contains("${"), || {
        "destination escapes allocation directory".to_owned()
    });
    let signal = text(&template.change_signal);
    match text(&template.change_mode).as_str() {
        "noop" | "restart" => {}
        "signal" => {
            faults.at("change_signal", signal.is_empty(), || {
                "Must specify signal value when change mode is signal".to_owned()
            });
            faults.at("env", template.envvars == Some(true), || "cannot use signals with env var templates".to_owned());
        }
        "script" => match &template.change_script {
            None => faults.at("change_script", true, || {
                "must specify change script configuration value when change mode is script".to_owned()
            }),
            Some(script) => faults.at("change_script → command", text(&script.command).is_empty(), || {
                "must specify script path value when change mode is script".to_owned()
            }),
        },
        other => {
            faults.at("change_mode", true, || {
                format!("Invalid change mode given: {other:?}; use noop, restart, signal or script")
            });
        }
    }
    faults.at("splay", template.splay.is_some_and(GoDuration::is_negative), || {
        "Must specify positive splay value".to_owned()
    });
    let perms = text(&template.perms);
    let is_octal = !perms.is_empty() && perms.len() <= 5 && perms.bytes().all(|digit| (b'0'..=b'7').contains(&digit));
    faults.at("perms", !is_octal, || format!("Failed to parse {perms:?} as octal"));
    if let Some(wait) = &template.wait {
        let (min, max) = (wait.min.unwrap_or_default(), wait.max.unwrap_or_default());
        faults.at("wait", wait.max.is_some() && min > max, || format!("wait min {min} is greater than max {max}"));
        faults
            .at("wait", min.is_negative() || max.is_negative(), || "wait min and max must not be negative".to_owned());
    }
    faults.0
}

fn of_artifact(artifact: &TaskArtifact) -> Vec<Fault> {
    let mut faults = Faults::default();
    let text = |slot: &Option<String>| slot.clone().unwrap_or_default();
    faults.at("source", text(&artifact.getter_source).is_empty(), || "source must be specified".to_owned());
    let mode = text(&artifact.getter_mode);
    faults.at("mode", !matches!(mode.as_str(), "any" | "file" | "dir"), || {
        format!("invalid artifact mode {mode:?}; must be one of: any, file, dir")
    });
    let destination = text(&artifact.relative_dest);
    faults.at("destination", escapes(&format!("task/{}", destination.trim_start_matches('/'))), || {
        "destination escapes allocation directory".to_owned()
    });
    if let Some(checksum) = artifact.getter_options.get("checksum").filter(|checksum| !checksum.contains("${")) {
        faults.within("options → checksum", of_checksum(checksum));
    }
    faults.0
}

fn of_checksum(checksum: &str) -> Option<Fault> {
    let Some((kind, value)) = checksum.split_once(':') else {
        return Some(Fault::plain(format!("checksum must be given as \"type:value\"; got {checksum:?}")));
    };
    let Some((_, digits)) = DIGESTS.iter().find(|(name, _)| *name == kind) else {
        return Some(Fault::plain(format!("unsupported checksum type {kind:?}; use md5, sha1, sha256 or sha512")));
    };
    let sound = value.len() == *digits && value.bytes().all(|digit| digit.is_ascii_hexdigit());
    (!sound).then(|| Fault::plain(format!("invalid {kind} checksum {value:?}: {digits} hex digits are needed")))
}
