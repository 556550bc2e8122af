use longshore_api::{RequestedDevice, ScalingPolicy, TaskGroup, Vault};

use super::{Faults, placement};
use crate::fault::Fault;

/// Rules of `vault`.
pub(super) fn vault(vault: &Vault) -> Vec<Fault> {
    let mut faults = Faults::default();
    // With a role the identity logs in, and the role has the policies.
    faults.at("policies", vault.policies.is_empty() && vault.role.is_empty(), || {
        "Policy list cannot be empty".to_owned()
    });
    faults.at("policies", vault.policies.iter().any(|policy| policy == "root"), || {
        "Can not specify \"root\" policy".to_owned()
    });
    let signal = vault.change_signal.as_deref().unwrap_or_default();
    match vault.change_mode.as_deref().unwrap_or_default() {
        "noop" | "restart" => {}
        "signal" => {
            faults.at("change_signal", signal.is_empty(), || {
                "Signal must be specified when using change mode \"signal\"".to_owned()
            });
        }
        other => faults.at("change_mode", true, || format!("Unknown change mode {other:?}")),
    }
    faults.0
}

/// Rules of a group's `scaling`.
pub(super) fn of_group(group: &TaskGroup, scaling: &ScalingPolicy) -> Vec<Fault> {
    let mut faults = Faults(bounds(scaling));
    let (count, max) = (group.count.unwrap_or(1), scaling.max.unwrap_or(-1));
    faults.at("max", max >= 0 && count > max, || {
        format!(
            "Scaling policy invalid: task group count must not be greater than maximum count in scaling policy: \
             {count} > {max}"
        )
    });
    let min = scaling.min.unwrap_or(0);
    faults.at("min", count < min, || {
        format!(
            "Scaling policy invalid: task group count must not be less than minimum count in scaling policy: {count} \
             < {min}"
        )
    });
    faults.0
}

/// Rules of any `scaling`.
pub(super) fn bounds(scaling: &ScalingPolicy) -> Vec<Fault> {
    let mut faults = Faults::default();
    faults.at("type", scaling.kind.is_empty(), || "missing scaling policy type".to_owned());
    let (min, max) = (scaling.min.unwrap_or(0), scaling.max.unwrap_or(-1));
    faults.at("max", max < 0, || "maximum count must be specified and non-negative".to_owned());
    faults.at("max", max >= 0 && max < min, || "maximum count must not be less than minimum count".to_owned());
    faults.at("min", min < 0, || "minimum count must be specified and non-negative".to_owned());
    faults.0
}

/// Rules of a task's devices.
pub(super) fn devices(devices: &[RequestedDevice]) -> Vec<Fault> {
    let mut faults = Faults::default();
    for (at, device) in devices.iter().enumerate() {
        let mut of_device = Faults::default();
        let parts: Vec<&str> = device.name.splitn(3, '/').collect();
        of_device.when(parts.iter().any(|part| part.is_empty()), || {
            "device name must be given as one of the following: type, vendor/type, or vendor/type/name".to_owned()
        });
        of_device.at("count", device.count == Some(0), || "a device count must be at least 1; got 0".to_owned());
        of_device.0.extend(placement::constraints(&device.constraints));
        of_device.0.extend(placement::affinities(&device.affinities));
        let prefix = format!("Device {} validation failed: ", at + 1);
        faults.nested(&format!("device {:?}", device.name), &prefix, of_device.0);
    }
    faults.0
}
