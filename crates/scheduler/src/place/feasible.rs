//! Whether a node can take a group at all, room aside. Verdicts are kept by class of node.

use std::collections::BTreeMap;

use longshore_model::{Constraint, Job, Node, Operator, TaskGroup};

use super::Candidate;
use super::constraint::{constraint_holds, is_unique, resolve, text};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verdict {
    Feasible,
    /// Excluded, with the reason as people are told.
    Filtered(String),
}

/// Verdicts by group and computed class, for constraints that look at nothing unique.
#[derive(Debug, Default)]
pub(super) struct Feasibility {
    by_class: BTreeMap<(String, String), Verdict>,
}

impl Feasibility {
    pub(super) fn check(&mut self, job: &Job, group: &TaskGroup, node: &Node) -> Verdict {
        if node.computed_class.is_empty() {
            return verdict(job, group, node, |_| true);
        }
        let key = (group.name.clone(), node.computed_class.clone());
        let by_class =
            self.by_class.entry(key).or_insert_with(|| verdict(job, group, node, |constraint| !is_unique(constraint)));
        match by_class {
            Verdict::Feasible => unique_constraints(job, group, node),
            Verdict::Filtered(_) => by_class.clone(),
        }
    }

    pub(super) fn class_eligibility(&self) -> BTreeMap<String, bool> {
        let mut eligible = BTreeMap::new();
        for ((_, class), verdict) in &self.by_class {
            *eligible.entry(class.clone()).or_insert(false) |= *verdict == Verdict::Feasible;
        }
        eligible
    }

    pub(super) fn escaped(&self, job: &Job) -> bool {
        job.groups.iter().any(|group| constraints(job, group).any(is_unique))
    }
}

/// All constraints that bear on a group: its job's, its own and its tasks'.
fn constraints<'a>(job: &'a Job, group: &'a TaskGroup) -> impl Iterator<Item = &'a Constraint> {
    let of_tasks = group.tasks.iter().flat_map(|task| &task.constraints);
    job.constraints.iter().chain(&group.constraints).chain(of_tasks)
}

fn verdict(job: &Job, group: &TaskGroup, node: &Node, concerns: impl Fn(&Constraint) -> bool) -> Verdict {
    let excludes = |constraint: &&Constraint| concerns(constraint) && !constraint_holds(constraint, node);
    if let Some(constraint) = job.constraints.iter().find(excludes) {
        return Verdict::Filtered(text(constraint));
    }
    let has = |driver: &str| node.drivers.get(driver).is_some_and(|driver| driver.detected && driver.healthy);
    if !group.tasks.iter().all(|task| has(&task.driver)) {
        return Verdict::Filtered("missing drivers".to_owned());
    }
    if let Some(constraint) = constraints(job, group).skip(job.constraints.len()).find(excludes) {
        return Verdict::Filtered(text(constraint));
    }
    for network in &group.networks {
        if !matches!(network.mode.as_str(), "host" | "none" | "") {
            return Verdict::Filtered("missing network".to_owned());
        }
        for port in &network.ports {
            if !matches!(port.host_network.as_str(), "" | "default") {
                return Verdict::Filtered(format!(
                    "missing host network {:?} for port {:?}",
                    port.host_network, port.label
                ));
            }
        }
    }
    Verdict::Feasible
}

fn unique_constraints(job: &Job, group: &TaskGroup, node: &Node) -> Verdict {
    match constraints(job, group).filter(|c| is_unique(c)).find(|c| !constraint_holds(c, node)) {
        Some(constraint) => Verdict::Filtered(text(constraint)),
        None => Verdict::Feasible,
    }
}

/// Why allocations of the same job elsewhere exclude this node, or `None`.
pub(super) fn distinct(
    job: &Job,
    group: &TaskGroup,
    candidates: &[Candidate],
    candidate: &Candidate,
) -> Option<String> {
    for (constraint, whole_job) in job
        .constraints
        .iter()
        .map(|constraint| (constraint, true))
        .chain(group.constraints.iter().map(|constraint| (constraint, false)))
    {
        let counts = |other: &&(longshore_model::AllocId, String)| whole_job || other.1 == group.name;
        match constraint.operator {
            Operator::DistinctHosts
                if constraint.right != "false" && candidate.job_groups.iter().any(|other| counts(&other)) =>
            {
                return Some("distinct_hosts".to_owned());
            }
            Operator::DistinctProperty => {
                let Some(value) = resolve(&constraint.left, &candidate.node) else {
                    return Some(format!("missing property {:?}", constraint.left));
                };
                let allowed = constraint.right.parse::<usize>().unwrap_or(1).max(1);
                let used: usize = candidates
                    .iter()
                    .filter(|other| resolve(&constraint.left, &other.node).as_ref() == Some(&value))
                    .map(|other| other.job_groups.iter().filter(counts).count())
                    .sum();
                if used >= allowed {
                    return Some(format!("distinct_property: {}={value} used by {used} allocs", constraint.left));
                }
            }
            _ => {}
        }
    }
    None
}
