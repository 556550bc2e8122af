use std::sync::Arc;

use longshore_model::{Node, NodeEvent, NodeId};

use super::Step;
use crate::{Effect, NodeChange, State, Table};

/// How many events of a node are kept, as in Nomad.
const KEPT_EVENTS: usize = 10;

impl State {
    pub(super) fn apply_node(&mut self, step: &mut Step, change: NodeChange) {
        match change {
            NodeChange::Register { node, evaluations } => {
                self.register_node(step, *node);
                self.put_evaluations(step, evaluations);
            }
            NodeChange::Status { node, status, event, evaluations } => {
                self.change_node(step, node, event, |node, now| {
                    node.status = status;
                    node.status_updated_at = now;
                });
                self.put_evaluations(step, evaluations);
            }
            NodeChange::Eligibility { node, eligibility, event, evaluations } => {
                self.change_node(step, node, event, |node, _| node.eligibility = eligibility);
                self.put_evaluations(step, evaluations);
            }
            NodeChange::Remove(ids) => {
                for id in ids {
                    self.remove_node(step, id);
                }
            }
            NodeChange::Purge { node, evaluations } => {
                self.remove_node(step, node);
                self.put_evaluations(step, evaluations);
            }
        }
    }

    fn remove_node(&mut self, step: &mut Step, id: NodeId) {
        if self.nodes.remove(&id).is_some() {
            self.node_use.remove(&id);
            self.touch(Table::Nodes, step.index);
            // A node that waits for its allocations learns at once that it has to register anew.
            self.node_allocations_index.insert(id, step.index);
            step.effects.push(Effect::NodeAllocations(id));
        }
    }

    fn register_node(&mut self, step: &mut Step, mut node: Node) {
        match self.nodes.get(&node.id) {
            Some(known) => {
                node.create_index = known.create_index;
                node.eligibility = known.eligibility;
                node.events = known.events.clone();
                if known.status != node.status {
                    node.status_updated_at = step.now;
                    push_event(step, &mut node, event(step, "Node re-registered"));
                } else {
                    node.status_updated_at = known.status_updated_at;
                }
            }
            None => {
                node.create_index = step.index;
                node.status_updated_at = step.now;
                node.events.clear();
                push_event(step, &mut node, event(step, "Node registered"));
            }
        }
        node.modify_index = step.index;
        self.put_node(step, node);
    }

    fn change_node(
        &mut self,
        step: &mut Step,
        id: NodeId,
        told: Option<NodeEvent>,
        change: impl FnOnce(&mut Node, longshore_model::Timestamp),
    ) {
        let Some(known) = self.nodes.get(&id) else { return };
        let mut node = Node::clone(known);
        change(&mut node, step.now);
        if let Some(told) = told {
            push_event(step, &mut node, told);
        }
        node.modify_index = step.index;
        self.put_node(step, node);
    }

    fn put_node(&mut self, step: &mut Step, node: Node) {
        if node.takes_placements() {
            step.effects.push(Effect::NodeCapacity(node.id));
        }
        self.nodes.insert(node.id, Arc::new(node));
        self.touch(Table::Nodes, step.index);
    }
}

fn event(step: &Step, message: &str) -> NodeEvent {
    NodeEvent {
        message: message.to_owned(),
        subsystem: "Cluster".to_owned(),
        at: step.now,
        details: std::collections::BTreeMap::new(),
        create_index: step.index,
    }
}

fn push_event(step: &Step, node: &mut Node, mut told: NodeEvent) {
    told.create_index = step.index;
    node.events.push(told);
    if node.events.len() > KEPT_EVENTS {
        node.events.remove(0);
    }
}
