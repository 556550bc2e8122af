//! How evenly a group lies over the values of an attribute (scheduling facts 4.2).

use std::collections::BTreeMap;

use longshore_model::{Job, Node, Spread, TaskGroup};
use longshore_state::State;

use super::Candidate;
use super::constraint::resolve;

/// Where the group's allocations are, by each spread's attribute.
pub(super) struct Spreads {
    count: u32,
    weights: f64,
    /// The spread and its value → allocations there.
    parts: Vec<(Spread, BTreeMap<String, u32>)>,
}

impl Spreads {
    pub(super) fn new(job: &Job, group: &TaskGroup, candidates: &[Candidate], state: &State) -> Self {
        let spreads: Vec<&Spread> = group.spreads.iter().chain(&job.spreads).collect();
        let weights = spreads.iter().map(|spread| f64::from(spread.weight)).sum();
        let parts = spreads.into_iter().map(|spread| (spread.clone(), used(spread, job, group, candidates, state)));
        Self { count: group.count, weights, parts: parts.collect() }
    }

    /// Positive where the group is wanted more, negative where it lies too thick already; 0 without spreads.
    pub(super) fn boost(&self, node: &Node) -> f64 {
        let mut total = 0.0;
        for (spread, used) in &self.parts {
            let Some(value) = resolve(&spread.attribute, node).filter(|value| !value.is_empty()) else {
                total -= 1.0;
                continue;
            };
            total += if spread.targets.is_empty() {
                even_boost(used, &value)
            } else {
                self.target_boost(spread, used, &value)
            };
        }
        total
    }

    fn target_boost(&self, spread: &Spread, used: &BTreeMap<String, u32>, value: &str) -> f64 {
        let count = f64::from(self.count);
        let listed: f64 = spread.targets.iter().map(|target| f64::from(target.percent) / 100.0 * count).sum();
        let desired = match spread.targets.iter().find(|target| target.value == value) {
            Some(target) => f64::from(target.percent) / 100.0 * count,
            // Values that no target names share what the targets leave.
            None if listed < count => count - listed,
            None => return -1.0,
        };
        if desired == 0.0 {
            return -1.0;
        }
        let with_this = f64::from(used.get(value).copied().unwrap_or(0)) + 1.0;
        (desired - with_this) / desired * (f64::from(spread.weight) / self.weights)
    }
}

fn even_boost(used: &BTreeMap<String, u32>, value: &str) -> f64 {
    if used.is_empty() {
        return 0.0;
    }
    let current = f64::from(used.get(value).copied().unwrap_or(0));
    let least = f64::from(used.values().min().copied().unwrap_or(0));
    let most = f64::from(used.values().max().copied().unwrap_or(0));
    if current != least {
        return if least == 0.0 { -1.0 } else { (least - current) / least };
    }
    if least == most {
        return -1.0;
    }
    if least == 0.0 { 1.0 } else { (most - least) / least }
}

/// Value → allocations of the group there. Values of ready nodes without any count with 0.
fn used(
    spread: &Spread,
    job: &Job,
    group: &TaskGroup,
    candidates: &[Candidate],
    state: &State,
) -> BTreeMap<String, u32> {
    let mut used = BTreeMap::new();
    let mut any = false;
    for candidate in candidates {
        let Some(value) = resolve(&spread.attribute, &candidate.node) else { continue };
        let here = candidate.job_groups.iter().filter(|(_, name)| *name == group.name).count();
        any |= here > 0;
        *used.entry(value).or_insert(0) += u32::try_from(here).unwrap_or(u32::MAX);
    }
    let is_candidate = |node| candidates.binary_search_by_key(&node, |candidate| candidate.node.id).is_ok();
    for alloc in state.allocations_of_job(&job.key) {
        if alloc.is_terminal() || alloc.group != group.name || is_candidate(alloc.node) {
            continue;
        }
        if let Some(value) = state.node(alloc.node).and_then(|node| resolve(&spread.attribute, node)) {
            any = true;
            *used.entry(value).or_insert(0) += 1;
        }
    }
    if any { used } else { BTreeMap::new() }
}
