//! What `job plan` shows: who meets which fate, and which difference forces what.

use std::collections::BTreeMap;

use longshore_api as api;
use longshore_scheduler::GroupAnnotation;

/// Group → how many allocations meet which fate.
pub(crate) fn annotations(groups: &BTreeMap<String, GroupAnnotation>) -> api::PlanAnnotations {
    let one = |counts: &GroupAnnotation| api::DesiredUpdates {
        ignore: counts.ignore.into(),
        place: counts.place.into(),
        migrate: counts.migrate.into(),
        stop: counts.stop.into(),
        in_place_update: counts.in_place_update.into(),
        destructive_update: counts.destructive_update.into(),
        canary: counts.canary.into(),
        preemptions: 0,
    };
    api::PlanAnnotations {
        desired_tg_updates: groups.iter().map(|(group, counts)| (group.clone(), one(counts))).collect(),
        preempted_allocs: Vec::new(),
    }
}

/// Writes into a difference what it leads to.
pub(crate) fn annotate(diff: &mut api::JobDiff, groups: &BTreeMap<String, GroupAnnotation>) {
    for group in &mut diff.task_groups {
        if let Some(counts) = groups.get(&group.name) {
            group.updates = updates(counts);
        }
        annotate_count(group);
        let of_group = group.kind.clone();
        for task in &mut group.tasks {
            task.annotations = of_task(&of_group, task).into_iter().map(str::to_owned).collect();
        }
    }
}

fn updates(counts: &GroupAnnotation) -> BTreeMap<String, u64> {
    [
        ("ignore", counts.ignore),
        ("create", counts.place),
        ("migrate", counts.migrate),
        ("destroy", counts.stop),
        ("canary", counts.canary),
        ("in-place update", counts.in_place_update),
        ("create/destroy update", counts.destructive_update),
    ]
    .into_iter()
    .filter(|(_, count)| *count > 0)
    .map(|(word, count)| (word.to_owned(), u64::from(count)))
    .collect()
}

fn annotate_count(group: &mut api::TaskGroupDiff) {
    let Some(count) = group.fields.iter_mut().find(|field| field.name == "Count") else { return };
    let number = |text: &str| text.parse::<i64>().unwrap_or_default();
    let word = match number(&count.new).cmp(&number(&count.old)) {
        std::cmp::Ordering::Greater => "forces create",
        std::cmp::Ordering::Less => "forces destroy",
        std::cmp::Ordering::Equal => return,
    };
    count.annotations = vec![word.to_owned()];
}

/// The parts of a task that an allocation has to be made anew for, as `longshore_jobs::update_kind` decides.
const DESTRUCTIVE_FIELDS: &[&str] = &["Driver", "User"];
const DESTRUCTIVE_MAPS: &[&str] = &["Env[", "Meta["];
const DESTRUCTIVE_OBJECTS: &[&str] = &[
    "Affinity",
    "Artifact",
    "CSIPlugin",
    "Config",
    "Consul",
    "Identity",
    "Resources",
    "Schedule",
    "Secret",
    "Template",
    "Vault",
    "VolumeMount",
];
/// Blocks of which one field alone asks for that.
const DESTRUCTIVE_FIELDS_OF_OBJECTS: &[(&str, &str)] =
    &[("LogConfig", "Disabled"), ("RestartPolicy", "RenderTemplates")];

fn of_task(of_group: &str, task: &api::TaskDiff) -> Option<&'static str> {
    match (task.kind.as_str(), of_group) {
        ("None", _) => None,
        ("Added", "Added") => Some("forces create"),
        ("Deleted", "Deleted") => Some("forces destroy"),
        ("Added" | "Deleted", _) => Some("forces create/destroy update"),
        _ => {
            let field = |field: &api::FieldDiff| {
                field.kind != "None"
                    && (DESTRUCTIVE_FIELDS.contains(&field.name.as_str())
                        || DESTRUCTIVE_MAPS.iter().any(|map| field.name.starts_with(map)))
            };
            let object = |object: &api::ObjectDiff| {
                object.kind != "None"
                    && (DESTRUCTIVE_OBJECTS.contains(&object.name.as_str()) || has_destructive_field(object))
            };
            let destructive = task.fields.iter().any(field) || task.objects.iter().any(object);
            Some(if destructive { "forces create/destroy update" } else { "forces in-place update" })
        }
    }
}

fn has_destructive_field(object: &api::ObjectDiff) -> bool {
    let is_one = |field: &api::FieldDiff| {
        field.kind != "None"
            && DESTRUCTIVE_FIELDS_OF_OBJECTS.contains(&(object.name.as_str(), field.name.as_str()))
            && !(object.kind == "Added" && field.new == "false")
    };
    object.fields.iter().any(is_one)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(kind: &str, fields: &[&str], objects: &[&str]) -> api::TaskDiff {
        let field =
            |name: &&str| api::FieldDiff { kind: "Edited".to_owned(), name: (*name).to_owned(), ..Default::default() };
        let object =
            |name: &&str| api::ObjectDiff { kind: "Edited".to_owned(), name: (*name).to_owned(), ..Default::default() };
        api::TaskDiff {
            kind: kind.to_owned(),
            name: "t".to_owned(),
            fields: fields.iter().map(field).collect(),
            objects: objects.iter().map(object).collect(),
            annotations: Vec::new(),
        }
    }

    #[test]
    fn tasks() {
        assert_eq!(of_task("None", &task("None", &[], &[])), None);
        assert_eq!(of_task("Added", &task("Added", &["Driver"], &[])), Some("forces create"));
        assert_eq!(of_task("Deleted", &task("Deleted", &[], &[])), Some("forces destroy"));
        assert_eq!(of_task("Edited", &task("Added", &[], &[])), Some("forces create/destroy update"));
        assert_eq!(of_task("Edited", &task("Edited", &["Env[A]"], &[])), Some("forces create/destroy update"));
        assert_eq!(of_task("Edited", &task("Edited", &[], &["Resources"])), Some("forces create/destroy update"));
        assert_eq!(
            of_task("Edited", &task("Edited", &["KillTimeout"], &["LogConfig"])),
            Some("forces in-place update")
        );
        for object in ["Template", "Artifact", "VolumeMount", "CSIPlugin", "Identity", "Vault", "Consul"] {
            assert_eq!(
                of_task("Edited", &task("Edited", &[], &[object])),
                Some("forces create/destroy update"),
                "{object}"
            );
        }
        for object in ["Service", "DispatchPayload", "Lifecycle", "Scaling", "Constraint", "Action"] {
            assert_eq!(of_task("Edited", &task("Edited", &[], &[object])), Some("forces in-place update"), "{object}");
        }
    }

    #[test]
    fn one_field_of_a_block_may_force_more_than_the_rest() {
        let mut edited = task("Edited", &[], &["LogConfig"]);
        let field = |name: &str| api::FieldDiff {
            kind: "Edited".to_owned(),
            name: name.to_owned(),
            old: "false".to_owned(),
            new: "true".to_owned(),
            annotations: Vec::new(),
        };
        edited.objects[0].fields = vec![field("MaxFiles")];
        assert_eq!(of_task("Edited", &edited), Some("forces in-place update"));
        edited.objects[0].fields.push(field("Disabled"));
        assert_eq!(of_task("Edited", &edited), Some("forces create/destroy update"));
    }

    #[test]
    fn groups_and_counts() {
        let count = api::FieldDiff {
            kind: "Edited".to_owned(),
            name: "Count".to_owned(),
            old: "2".to_owned(),
            new: "10".to_owned(),
            annotations: Vec::new(),
        };
        let group = api::TaskGroupDiff { name: "web".to_owned(), fields: vec![count], ..Default::default() };
        let mut diff = api::JobDiff { task_groups: vec![group], ..Default::default() };
        let counts = GroupAnnotation { ignore: 2, place: 8, ..GroupAnnotation::default() };
        annotate(&mut diff, &BTreeMap::from([("web".to_owned(), counts)]));
        assert_eq!(diff.task_groups[0].fields[0].annotations, ["forces create"]);
        let updates: Vec<_> = diff.task_groups[0].updates.iter().map(|(word, count)| (word.as_str(), *count)).collect();
        assert_eq!(updates, [("create", 8), ("ignore", 2)]);
    }
}
