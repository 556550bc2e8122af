use longshore_api::{Job, TaskGroup};

use crate::fault::Fault;

/// What is accepted but not as it may seem.
pub(crate) fn warnings(job: &Job) -> Vec<String> {
    let mut warnings = Vec::new();
    if job.periodic.as_ref().and_then(|periodic| periodic.spec.as_deref()).is_some_and(|spec| !spec.is_empty()) {
        warnings.push("cron is deprecated and may be removed in a future release. Use crons instead".to_owned());
    }
    let promotes = |group: &TaskGroup| group.update.as_ref().and_then(|update| update.auto_promote) == Some(true);
    let promoting = job.task_groups.iter().filter(|group| promotes(group)).count();
    if promoting > 0 && promoting < job.task_groups.len() {
        warnings.push("auto_promote must be true for all groups to enable automatic promotion".to_owned());
    }
    for group in &job.task_groups {
        let name = group.name.as_deref().unwrap_or_default();
        if let Some(warning) = Fault::nested(format!("Group {name:?} has warnings: "), of_group(group)) {
            warnings.push(warning.to_string());
        }
        for task in &group.tasks {
            let ceiling = task.resources.as_ref().and_then(|resources| resources.memory_max_mb).unwrap_or(0);
            if ceiling > 0 {
                warnings.push(format!(
                    "Memory oversubscription is not enabled; Task \"{name}.{}\" memory_max value will be ignored. \
                     Update the Scheduler Configuration to allow oversubscription.",
                    task.name
                ));
            }
        }
        let services = group.services.iter().chain(group.tasks.iter().flat_map(|task| &task.services));
        for service in services {
            warnings.push(format!(
                "group {name:?} → service: {:?} is not registered and its checks are not run by this version of \
                 Longshore; health comes from task states",
                service.name
            ));
        }
    }
    warnings
}

fn of_group(group: &TaskGroup) -> Vec<Fault> {
    let mut faults = Vec::new();
    let count = group.count.unwrap_or(0);
    let in_parallel = group.update.as_ref().and_then(|update| update.max_parallel).unwrap_or(0);
    if in_parallel > count {
        faults.push(Fault::plain(format!(
            "Update max parallel count is greater than task group count ({in_parallel} > {count}). A destructive \
             change would result in the simultaneous replacement of all allocations."
        )));
    }
    if group.networks.iter().any(|network| network.mbits.is_some_and(|mbits| mbits > 0)) {
        faults.push(Fault::plain(
            "mbits has been deprecated as of Nomad 0.12.0. Please remove mbits from the network block",
        ));
    }
    for task in &group.tasks {
        let iops = task.resources.as_ref().and_then(|resources| resources.iops).unwrap_or(0);
        let has_network = task.resources.as_ref().is_some_and(|resources| !resources.networks.is_empty());
        if has_network {
            faults.push(Fault::plain(format!(
                "Task {:?}: task network resources have been deprecated as of Nomad 0.12.0. Please configure \
                 networking via group network block.",
                task.name
            )));
        }
        if task.templates.iter().any(|template| template.vault_grace.is_some_and(|grace| !grace.is_zero())) {
            faults.push(Fault::plain(format!(
                "Task {:?}: VaultGrace has been deprecated as of Nomad 0.11 and ignored since Vault 0.5. Please remove \
                 VaultGrace / vault_grace from template block.",
                task.name
            )));
        }
        if iops > 0 {
            faults.push(Fault::plain(format!(
                "Task {:?}: IOPS has been deprecated as of Nomad 0.9.0. Please remove IOPS from resource block.",
                task.name
            )));
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use longshore_jobspec::{Input, parse};

    use super::*;

    /// What is warned about in a job file, whether or not this version takes the job.
    #[track_caller]
    fn check(text: &str, expected: &str) {
        let mut job = parse(&Input::new("job.hcl", text)).unwrap_or_else(|why| panic!("{text}\n{why}")).job;
        crate::canonicalize(&mut job);
        let told = warnings(&job).join("\n");
        assert!(told.contains(expected), "expected {expected:?} from\n{text}\ngot\n{told}");
    }

    #[test]
    fn of_jobs() {
        let cron = "job \"j\" {\n type = \"batch\"\n periodic { cron = \"@daily\" }\n group \"g\" {}\n}";
        check(cron, "cron is deprecated and may be removed in a future release. Use crons instead");
        let promoting = "group \"a\" {\n update {\n canary = 1\n auto_promote = true\n }\n}";
        let some = format!("job \"j\" {{\n{promoting}\n group \"b\" {{}}\n}}");
        check(&some, "auto_promote must be true for all groups to enable automatic promotion");
    }

    #[test]
    fn of_tasks() {
        let task = |lines: &str| format!("job \"j\" {{\ngroup \"g\" {{\ntask \"t\" {{\n{lines}\n}}\n}}\n}}");
        check(
            &task("resources {\n network { mbits = 1 }\n}"),
            "Task \"t\": task network resources have been deprecated as of Nomad 0.12.0.",
        );
        check(&task("template { vault_grace = \"1s\" }"), "Task \"t\": VaultGrace has been deprecated");
        check(
            &task("resources { memory_max = 500 }"),
            "Memory oversubscription is not enabled; Task \"g.t\" memory_max value will be ignored. Update the \
             Scheduler Configuration to allow oversubscription.",
        );
    }
}
