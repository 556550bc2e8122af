//! When a node has been silent for too long. Decides only.

use std::collections::{BTreeMap, BTreeSet};

use longshore_model::{IdSource, NodeId, Timestamp};
use longshore_values::GoDuration;

use crate::config::HeartbeatConfig;

#[derive(Debug, Default)]
pub(crate) struct Heartbeats {
    deadlines: BTreeMap<NodeId, Timestamp>,
    by_time: BTreeSet<(Timestamp, NodeId)>,
}

impl Heartbeats {
    /// The node is heard; it is silent for too long after `deadline`.
    pub(crate) fn expect(&mut self, node: NodeId, deadline: Timestamp) {
        self.forget(node);
        self.deadlines.insert(node, deadline);
        self.by_time.insert((deadline, node));
    }

    pub(crate) fn forget(&mut self, node: NodeId) {
        if let Some(deadline) = self.deadlines.remove(&node) {
            self.by_time.remove(&(deadline, node));
        }
    }

    pub(crate) fn expects(&self, node: NodeId) -> bool {
        self.deadlines.contains_key(&node)
    }

    /// Those that are silent for too long, each told once.
    pub(crate) fn take_silent(&mut self, now: Timestamp) -> Vec<NodeId> {
        let mut silent = Vec::new();
        while let Some((_, node)) = self.by_time.first().copied().filter(|(deadline, _)| *deadline <= now) {
            self.forget(node);
            silent.push(node);
        }
        silent
    }

    pub(crate) fn next_deadline(&self) -> Option<Timestamp> {
        self.by_time.first().map(|(deadline, _)| *deadline)
    }

    pub(crate) fn len(&self) -> usize {
        self.deadlines.len()
    }
}

/// The span that one of `nodes` nodes is given: longer when there are many, spread by chance.
pub(crate) fn ttl(config: &HeartbeatConfig, nodes: usize, ids: &mut dyn IdSource) -> GoDuration {
    let by_rate = nodes as f64 / config.rate_max.max(f64::MIN_POSITIVE) * 1e9;
    let base = config.ttl_min.as_nanoseconds().max(by_rate as i64).max(1);
    let chance = i64::try_from(ids.next_id() % base.unsigned_abs() as u128).unwrap_or_default();
    GoDuration::nanoseconds(base.saturating_add(chance))
}

#[cfg(test)]
mod tests {
    use longshore_model::SequentialIds;

    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_seconds(seconds)
    }

    #[test]
    fn the_silent_are_told_once_and_in_order() {
        let node = NodeId::from_u128;
        let mut heartbeats = Heartbeats::default();
        heartbeats.expect(node(1), at(10));
        heartbeats.expect(node(2), at(5));
        heartbeats.expect(node(3), at(7));
        heartbeats.expect(node(1), at(20));
        heartbeats.forget(node(3));
        assert_eq!(heartbeats.next_deadline(), Some(at(5)));
        assert_eq!(heartbeats.take_silent(at(4)), []);
        assert_eq!(heartbeats.take_silent(at(10)), [node(2)]);
        assert_eq!(heartbeats.take_silent(at(100)), [node(1)]);
        assert_eq!((heartbeats.take_silent(at(1_000)), heartbeats.len()), (vec![], 0));
    }

    #[test]
    fn many_nodes_are_heard_less_often() {
        let config = HeartbeatConfig::default();
        for (nodes, seconds) in [(1, 10), (500, 10), (5_000, 100)] {
            let span = ttl(&config, nodes, &mut SequentialIds::default());
            let base = GoDuration::seconds(seconds);
            assert!(span >= base && span < base.saturating_mul(2), "{nodes} nodes: {span}");
        }
    }
}
