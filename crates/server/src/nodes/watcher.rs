//! Listens for heartbeats that do not come.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use longshore_model::{NodeEvent, NodeId, NodeStatus, Timestamp};
use longshore_state::{Change, NodeChange, State};
use longshore_values::GoDuration;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::evaluations_for_node;
use super::heartbeats::{Heartbeats, ttl};
use crate::clock::{self, SystemIds};
use crate::config::HeartbeatConfig;
use crate::error::ServerError;
use crate::writer::Proposer;

/// The heartbeats of all nodes.
pub(crate) struct Pulse {
    config: HeartbeatConfig,
    heartbeats: Mutex<Heartbeats>,
    changed: Notify,
}

impl Pulse {
    pub(crate) fn new(config: HeartbeatConfig) -> Self {
        Self { config, heartbeats: Mutex::default(), changed: Notify::new() }
    }

    /// After a start every node that was up has some time to come back.
    pub(crate) fn restore(&self, state: &State, now: Timestamp) {
        let mut heartbeats = self.lock();
        for node in state.nodes().filter(|node| node.status != NodeStatus::Down) {
            heartbeats.expect(node.id, now.plus(self.config.failover_ttl));
        }
    }

    /// The node is heard. Returns the span within which it has to be heard again.
    pub(crate) fn heard(&self, node: NodeId) -> GoDuration {
        let mut heartbeats = self.lock();
        let span = ttl(&self.config, heartbeats.len(), &mut SystemIds);
        heartbeats.expect(node, clock::now().plus(span).plus(self.config.grace));
        self.changed.notify_one();
        span
    }

    pub(crate) fn forget(&self, node: NodeId) {
        self.lock().forget(node);
    }

    pub(crate) async fn run(self: Arc<Self>, proposer: Proposer, end: CancellationToken) {
        loop {
            let now = clock::now();
            let (silent, next) = {
                let mut heartbeats = self.lock();
                (heartbeats.take_silent(now), heartbeats.next_deadline())
            };
            for node in silent {
                tracing::warn!(node.id = %node, "node heartbeat missed");
                let this = Arc::clone(&self);
                match proposer.propose(move |state, now| Ok((this.down_if_silent(state, node, now), ()))).await {
                    Ok(_) => {}
                    Err(ServerError::ShuttingDown) => return,
                    Err(why) => {
                        tracing::error!(node.id = %node, %why, "could not mark the node as down; it is tried again");
                        self.lock().expect(node, now.plus(self.config.grace));
                    }
                }
            }
            let wait = next.map_or(Duration::from_secs(3_600), |at| at.since(clock::now()).to_std());
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                () = self.changed.notified() => {}
                () = end.cancelled() => return,
            }
        }
    }

    /// Nothing for one that was heard since it was found silent: others' turn may have taken a while.
    fn down_if_silent(&self, state: &State, node: NodeId, now: Timestamp) -> Option<Change> {
        if self.lock().expects(node) {
            return None;
        }
        down(state, node, now)
    }

    fn lock(&self) -> MutexGuard<'_, Heartbeats> {
        self.heartbeats.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn down(state: &State, id: NodeId, now: Timestamp) -> Option<Change> {
    let node = state.node(id).filter(|node| node.status != NodeStatus::Down)?;
    let event = NodeEvent {
        message: "Node heartbeat missed".to_owned(),
        subsystem: "Cluster".to_owned(),
        at: now,
        details: std::collections::BTreeMap::new(),
        create_index: longshore_model::LogIndex::default(),
    };
    let evaluations = evaluations_for_node(state, node, now, &mut SystemIds);
    Some(Change::Node(NodeChange::Status { node: id, status: NodeStatus::Down, event: Some(event), evaluations }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{World, node};

    #[test]
    fn a_node_that_is_heard_at_the_last_moment_is_not_down() {
        let world = World::with_nodes(1);
        let pulse = Pulse::new(HeartbeatConfig::default());
        let id = node(1).id;
        assert!(pulse.down_if_silent(&world.state, id, world.now).is_some());
        pulse.heard(id);
        assert!(pulse.down_if_silent(&world.state, id, world.now).is_none());
    }
}
