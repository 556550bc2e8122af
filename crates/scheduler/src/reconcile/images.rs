//! Which images an update has to wait for.

use std::collections::BTreeSet;

use longshore_model::{Allocation, ClientStatus, ImageRef, Task, TaskGroup, is_image_known_before_start};

/// The driver whose tasks have images that a node can be wished to have.
const DRIVER: &str = "docker";

/// The images of the group that the allocation does not use already, as they are written; empty when nothing runs that
/// could be harmed.
pub(super) fn to_wait_for(alloc: &Allocation, group: &TaskGroup) -> Vec<String> {
    if alloc.client_status != ClientStatus::Running {
        return Vec::new();
    }
    let old = alloc.job_spec.group(&alloc.group);
    let used: BTreeSet<Reference<'_>> =
        old.into_iter().flat_map(|group| &group.tasks).filter_map(image).map(Reference::of).collect();
    let mut images: Vec<String> = Vec::new();
    for image in group.tasks.iter().filter_map(known_before_start) {
        if !used.contains(&Reference::of(image)) && !images.iter().any(|known| known == image) {
            images.push(image.to_owned());
        }
    }
    images
}

fn image(task: &Task) -> Option<&str> {
    (task.driver == DRIVER).then_some(&task.config)?.get("image")?.as_str()
}

/// The image of a task that a node can bring without knowing more of the allocation: nothing is filled in at the start,
/// and no archive has to be there.
fn known_before_start(task: &Task) -> Option<&str> {
    image(task).filter(|_| is_image_known_before_start(&task.config))
}

/// `redis` and `docker.io/library/redis:latest` are one; what cannot be read is itself.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Reference<'a> {
    Read(ImageRef),
    Text(&'a str),
}

impl<'a> Reference<'a> {
    fn of(image: &'a str) -> Self {
        ImageRef::from_task_option(image).map_or(Self::Text(image), Self::Read)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::world::failed_allocation;

    #[track_caller]
    fn check(old: Value, new: Value, expected: &[&str]) {
        let mut alloc = failed_allocation(1, longshore_model::Timestamp::NEVER);
        let with = |config: Value| {
            let mut job = longshore_model::Job::clone(&alloc.job_spec);
            job.groups[0].tasks[0].config = config;
            job
        };
        let (before, after) = (with(old), with(new.clone()));
        alloc.job_spec = std::sync::Arc::new(before);
        assert_eq!(to_wait_for(&alloc, &after.groups[0]), Vec::<String>::new(), "it does not run");
        alloc.client_status = ClientStatus::Running;
        assert_eq!(to_wait_for(&alloc, &after.groups[0]), expected, "{new}");
    }

    #[test]
    fn only_other_images_that_are_known_are_waited_for() {
        let old = || json!({"image": "web:1"});
        check(old(), json!({"image": "web:2"}), &["web:2"]);
        check(old(), json!({"image": "web:1", "args": ["x"]}), &[]);
        check(old(), json!({"image": "https://docker.io/library/web:1"}), &[]);
        check(old(), json!({"image": "web"}), &["web"]);
        check(old(), json!({"image": "NOT:a:name"}), &["NOT:a:name"]);
        check(old(), json!({"image": "web:${NOMAD_META_tag}"}), &[]);
        check(old(), json!({"image": "web:2", "auth": [{"password": "${env}"}]}), &[]);
        check(old(), json!({"image": "web:2", "load": "web.tar"}), &[]);
        check(old(), json!({"image": "web:2", "load": ""}), &["web:2"]);
        check(json!({"image": "web:${x}"}), json!({"image": "web:1"}), &["web:1"]);
        check(json!({}), json!({}), &[]);
    }

    #[test]
    fn other_drivers_have_no_images_to_wait_for() {
        let mut alloc = failed_allocation(1, longshore_model::Timestamp::NEVER);
        alloc.client_status = ClientStatus::Running;
        let mut group = alloc.job_spec.groups[0].clone();
        group.tasks[0].config = json!({"image": "web:2"});
        assert_eq!(to_wait_for(&alloc, &group), ["web:2"]);
        group.tasks[0].driver = "raw_exec".to_owned();
        assert_eq!(to_wait_for(&alloc, &group), Vec::<String>::new());
    }
}
