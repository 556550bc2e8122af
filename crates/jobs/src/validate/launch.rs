use std::collections::BTreeSet;

use longshore_api::{ParameterizedJobConfig, PeriodicConfig};

use super::{Faults, cron};
use crate::fault::Fault;

/// Rules of `periodic`.
pub(super) fn periodic(periodic: &PeriodicConfig) -> Vec<Fault> {
    let mut faults = Faults::default();
    if periodic.enabled == Some(false) {
        return faults.0;
    }
    let one = periodic.spec.as_deref().unwrap_or_default();
    faults.when(!one.is_empty() && !periodic.specs.is_empty(), || "Only cron or crons may be used".to_owned());
    faults.when(one.is_empty() && periodic.specs.is_empty(), || "Must specify a spec".to_owned());
    let zone = periodic.time_zone.as_deref().unwrap_or_default();
    faults.when(!is_time_zone(zone), || {
        format!("Invalid time zone {zone:?}: a name such as \"UTC\" or \"Europe/Berlin\" is needed")
    });
    match periodic.spec_type.as_deref().unwrap_or_default() {
        "cron" => {
            for spec in periodic.specs.iter().map(String::as_str).chain([one]).filter(|spec| !spec.is_empty()) {
                faults.when(!cron::is_expression(spec), || {
                    format!("Invalid cron spec {spec:?}: 5 fields are needed, 6 with a year or 7 with seconds")
                });
            }
        }
        other => faults.when(true, || format!("Unknown periodic specification type {other:?}")),
    }
    faults.0
}

/// The form of a zone's name; which zones there are only the system knows.
fn is_time_zone(name: &str) -> bool {
    let in_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '+');
    let is_part = |part: &str| part.starts_with(|c: char| c.is_ascii_uppercase()) && part.chars().all(in_name);
    !name.is_empty() && name.split('/').all(is_part)
}

/// Rules of `parameterized`.
pub(super) fn parameterized(parameterized: &ParameterizedJobConfig) -> Vec<Fault> {
    let mut faults = Faults::default();
    let payload = parameterized.payload.as_str();
    faults.when(!matches!(payload, "optional" | "required" | "forbidden"), || {
        format!("Unknown payload requirement: {payload:?}")
    });
    let required: BTreeSet<&String> = parameterized.meta_required.iter().collect();
    let both: Vec<&str> =
        parameterized.meta_optional.iter().filter(|key| required.contains(key)).map(String::as_str).collect();
    faults.when(!both.is_empty(), || {
        format!("Required and optional meta keys should be disjoint. Following keys exist in both: {}", both.join(", "))
    });
    faults.0
}
