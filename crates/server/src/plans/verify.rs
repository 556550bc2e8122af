//! Checks a plan, made on an older state, against the newest one (R5). Decides only.
//!
//! - V1: what is applied fits: on no node do the plan's new allocations go beyond what is free when its stops are done.
//! - V2: a node's part is applied whole or not at all, stops included, and what was to be replaced on a node that takes
//!   nothing stays, wherever it is: nothing stops for a replacement that has no place.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use longshore_model::{AllocId, Allocation, Eligibility, NodeId, NodeStatus};
use longshore_state::{PlanChange, State};

/// Why a node's part of a plan was left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rejection {
    pub(crate) node: NodeId,
    pub(crate) reason: &'static str,
}

#[derive(Debug)]
pub(crate) struct Verified {
    /// What may be applied.
    pub(crate) plan: PlanChange,
    pub(crate) rejections: Vec<Rejection>,
    /// Something of it places or stops, so that another look starts from new ground.
    pub(crate) progress: bool,
}

pub(crate) fn verify(state: &State, mut plan: PlanChange, all_at_once: bool) -> Verified {
    let mut rejections: Vec<Rejection> = Vec::new();
    // What is left out may have made room for the rest: looked at until all that is left fits.
    loop {
        let misfits = misfits(state, &plan);
        if misfits.is_empty() {
            break;
        }
        rejections.extend(misfits);
        let rejected = |node: NodeId| all_at_once || rejections.iter().any(|rejection| rejection.node == node);
        let (left_out, places): (Vec<_>, Vec<_>) = plan.places.into_iter().partition(|place| rejected(place.node));
        plan.places = places;
        let replaced: BTreeSet<AllocId> = left_out.iter().filter_map(|place| place.previous_alloc).collect();
        plan.stops.retain(|stop| {
            let rejected = state.allocation(stop.alloc).is_some_and(|alloc| rejected(alloc.node));
            !rejected && !replaced.contains(&stop.alloc)
        });
    }
    if all_at_once && !rejections.is_empty() {
        plan.deployment = None;
    }
    let progress = !plan.places.is_empty() || !plan.stops.is_empty();
    Verified { plan, rejections, progress }
}

/// The nodes on which the plan's placements do not fit.
fn misfits(state: &State, plan: &PlanChange) -> Vec<Rejection> {
    let mut by_node: BTreeMap<NodeId, Part<'_>> = BTreeMap::new();
    for place in &plan.places {
        by_node.entry(place.node).or_default().places.push(place);
    }
    for stop in &plan.stops {
        if let Some(alloc) = state.allocation(stop.alloc) {
            by_node.entry(alloc.node).or_default().stops.push(alloc);
        }
    }
    by_node
        .iter()
        .filter(|(_, part)| !part.places.is_empty())
        .filter_map(|(node, part)| misfit(state, *node, part).map(|reason| Rejection { node: *node, reason }))
        .collect()
}

#[derive(Default)]
struct Part<'a> {
    places: Vec<&'a Allocation>,
    stops: Vec<&'a Arc<Allocation>>,
}

/// The word for what keeps the node's part from being applied.
fn misfit(state: &State, id: NodeId, part: &Part<'_>) -> Option<&'static str> {
    let Some(node) = state.node(id) else { return Some("node does not exist") };
    if node.status != NodeStatus::Ready {
        return Some("node is not ready for placements");
    }
    let known = |place: &Allocation| state.allocation(place.id).filter(|known| !known.is_terminal());
    if part.places.iter().all(|place| known(place).is_some()) {
        return None;
    }
    if node.eligibility != Eligibility::Eligible {
        return Some("node is not eligible");
    }
    let mut used = state.node_use(id);
    let updated = part.places.iter().filter_map(|place| known(place));
    for gone in part.stops.iter().copied().chain(updated).filter(|alloc| alloc.occupies_node()) {
        used.remove(&gone.resources);
    }
    let available = node.available();
    for place in &part.places {
        if let Some(dimension) = used.exhausted_by(place.resources.total(), available) {
            return Some(dimension);
        }
        let taken = |port: u16| used.has_port(port) || node.reserved_ports.contains(&port);
        if place.resources.ports.iter().any(|port| taken(port.value)) {
            return Some("network: port collision");
        }
        used.add(&place.resources);
    }
    None
}

#[cfg(test)]
mod tests;
