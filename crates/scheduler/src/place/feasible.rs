//! Whether a node can take a group at all, room aside. Verdicts are kept by class of node.

use std::collections::BTreeMap;

use longshore_model::{Constraint, Job, Node, NodeDriver, Operator, TaskGroup};

use super::Candidate;
use super::constraint::{Patterns, is_unique, resolve, text};

const MISSING_DRIVERS: &str = "missing drivers";

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
    pub(super) fn check(&mut self, job: &Job, group: &TaskGroup, node: &Node, patterns: &Patterns) -> Verdict {
        let alike = if node.computed_class.is_empty() {
            of_class(job, group, node, patterns)
        } else {
            let key = (group.name.clone(), node.computed_class.clone());
            self.by_class.entry(key).or_insert_with(|| of_class(job, group, node, patterns)).clone()
        };
        match alike {
            Verdict::Feasible => of_node(job, group, node, patterns),
            filtered => filtered,
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

/// What holds for all nodes of the node's class.
fn of_class(job: &Job, group: &TaskGroup, node: &Node, patterns: &Patterns) -> Verdict {
    let excludes = |constraint: &&Constraint| !is_unique(constraint) && !patterns.hold(constraint, node);
    if let Some(constraint) = job.constraints.iter().find(excludes) {
        return Verdict::Filtered(text(constraint));
    }
    if !all_drivers(group, node, |driver| driver.detected) {
        return Verdict::Filtered(MISSING_DRIVERS.to_owned());
    }
    if let Some(constraint) = constraints(job, group).skip(job.constraints.len()).find(excludes) {
        return Verdict::Filtered(text(constraint));
    }
    for network in &group.networks {
        if !matches!(network.mode.as_str(), "host" | "bridge" | "none" | "") {
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

/// What may differ between nodes of one class: the health of drivers comes and goes, their detection makes the class.
fn of_node(job: &Job, group: &TaskGroup, node: &Node, patterns: &Patterns) -> Verdict {
    if !all_drivers(group, node, |driver| driver.healthy) {
        return Verdict::Filtered(MISSING_DRIVERS.to_owned());
    }
    match constraints(job, group).filter(|c| is_unique(c)).find(|c| !patterns.hold(c, node)) {
        Some(constraint) => Verdict::Filtered(text(constraint)),
        None => Verdict::Feasible,
    }
}

fn all_drivers(group: &TaskGroup, node: &Node, are: impl Fn(&NodeDriver) -> bool) -> bool {
    group.tasks.iter().all(|task| node.drivers.get(&task.driver).is_some_and(&are))
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
