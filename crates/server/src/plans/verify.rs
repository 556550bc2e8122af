//! Checks a plan, made on an older state, against the newest one (R5). Decides only.
//!
//! - V1: what is applied fits: on no node do the plan's new allocations go beyond what is free when its stops are done.
//! - V2: a node's part is applied whole or not at all, stops included: nothing stops for a replacement that has no place.

use std::collections::BTreeMap;
use std::sync::Arc;

use longshore_model::{Allocation, Eligibility, NodeId, NodeStatus};
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
    let mut by_node: BTreeMap<NodeId, Part<'_>> = BTreeMap::new();
    for place in &plan.places {
        by_node.entry(place.node).or_default().places.push(place);
    }
    for stop in &plan.stops {
        if let Some(alloc) = state.allocation(stop.alloc) {
            by_node.entry(alloc.node).or_default().stops.push(alloc);
        }
    }
    let rejections: Vec<Rejection> = by_node
        .iter()
        .filter(|(_, part)| !part.places.is_empty())
        .filter_map(|(node, part)| misfit(state, *node, part).map(|reason| Rejection { node: *node, reason }))
        .collect();
    if !rejections.is_empty() {
        let rejected = |node: NodeId| all_at_once || rejections.iter().any(|rejection| rejection.node == node);
        plan.places.retain(|place| !rejected(place.node));
        plan.stops.retain(|stop| state.allocation(stop.alloc).is_none_or(|alloc| !rejected(alloc.node)));
        if all_at_once {
            plan.deployment = None;
        }
    }
    let progress = !plan.places.is_empty() || !plan.stops.is_empty();
    Verified { plan, rejections, progress }
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
