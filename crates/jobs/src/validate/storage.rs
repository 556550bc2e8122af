use longshore_api::{Job, Task, TaskGroup, VolumeRequest};

use super::Faults;
use crate::fault::Fault;

/// Rules of the volumes that a group asks for.
pub(super) fn volumes(job: &Job, group: &TaskGroup) -> Vec<Fault> {
    let mut faults = Faults::default();
    for (name, volume) in &group.volumes {
        let prefix = format!("Task group volume validation for {name} failed: ");
        faults.nested(&format!("volume {name:?}"), &prefix, of_volume(job, group, volume));
    }
    faults.0
}

fn of_volume(job: &Job, group: &TaskGroup, volume: &VolumeRequest) -> Vec<Fault> {
    let mut faults = Faults::default();
    faults.at("source", volume.source.is_empty(), || "volume has an empty source".to_owned());
    match volume.kind.as_str() {
        "host" => {
            faults.at("access_mode", !volume.access_mode.is_empty(), || {
                "host volumes cannot have an access mode".to_owned()
            });
            faults.at("attachment_mode", !volume.attachment_mode.is_empty(), || {
                "host volumes cannot have an attachment mode".to_owned()
            });
            faults.at("mount_options", volume.mount_options.is_some(), || {
                "host volumes cannot have mount options".to_owned()
            });
            faults.at("per_alloc", volume.per_alloc, || "host volumes do not support per_alloc".to_owned());
        }
        "csi" => {
            faults.at("attachment_mode", volume.attachment_mode.is_empty(), || {
                "CSI volumes must have an attachment mode".to_owned()
            });
            faults
                .at("access_mode", volume.access_mode.is_empty(), || "CSI volumes must have an access mode".to_owned());
            let writes_alone = matches!(volume.access_mode.as_str(), "single-node-writer" | "multi-node-single-writer");
            let count = group.count.unwrap_or(1);
            faults.at("access_mode", writes_alone && !volume.read_only && count > 1 && !volume.per_alloc, || {
                format!("volume with {} access allows only one writer: {count}", volume.access_mode)
            });
            let of_system = matches!(job.kind.as_deref(), Some("system" | "sysbatch"));
            faults.at("per_alloc", volume.per_alloc && of_system, || {
                "volume cannot be per_alloc for system or sysbatch jobs".to_owned()
            });
            let canaries = group.update.as_ref().and_then(|update| update.canary).unwrap_or(0);
            faults.at("per_alloc", volume.per_alloc && canaries > 0, || {
                "volume cannot be per_alloc when canaries are in use".to_owned()
            });
        }
        other => faults.at("type", true, || format!("volume has unrecognized type {other}")),
    }
    faults.0
}

/// Rules of the places where a task sees volumes.
pub(super) fn mounts(group: &TaskGroup, task: &Task) -> Vec<Fault> {
    let mut faults = Faults::default();
    for (at, mount) in task.volume_mounts.iter().enumerate() {
        let volume = mount.volume.as_deref().unwrap_or_default();
        let mode = mount.propagation_mode.as_deref().unwrap_or_default();
        if volume.is_empty() {
            faults
                .at(&format!("volume_mount[{at}]"), true, || format!("Volume Mount ({at}) references an empty volume"));
        } else {
            faults.at(&format!("volume_mount[{at}] → volume"), !group.volumes.contains_key(volume), || {
                format!("Volume Mount ({at}) references undefined volume {volume}")
            });
        }
        faults.at(
            &format!("volume_mount[{at}] → propagation_mode"),
            !matches!(mode, "private" | "host-to-task" | "bidirectional"),
            || format!("Volume Mount ({at}) has an invalid propagation mode: {mode:?}"),
        );
    }
    faults.0
}
