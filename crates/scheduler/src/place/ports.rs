//! Which ports a group gets on a node.

use std::ops::RangeInclusive;

use longshore_model::{AllocatedPort, Node, PortAsk, TaskGroup};
use longshore_state::NodeUse;

/// A group's ports on a node where they can be had.
#[derive(Debug, Clone)]
pub(super) struct PortPlan {
    asks: Vec<PortAsk>,
}

impl PortPlan {
    /// The dimension that is exhausted, in Nomad's words, when a fixed port is taken or no dynamic ones are left.
    pub(super) fn new(group: &TaskGroup, node: &Node, used: &NodeUse) -> Result<Self, String> {
        let asks: Vec<PortAsk> = group.networks.iter().flat_map(|network| network.ports.iter().cloned()).collect();
        for ask in &asks {
            if let Some(port) = ask.fixed.filter(|port| used.has_port(*port) || node.reserved_ports.contains(port)) {
                return Err(format!("network: reserved port collision {}={port}", ask.label));
            }
        }
        let dynamic = asks.iter().filter(|ask| ask.fixed.is_none()).count();
        if dynamic > 0 {
            let range = node.min_dynamic_port..=node.max_dynamic_port;
            if !has_free(range, dynamic, |port| is_free(port, &asks, node, used)) {
                return Err("network: dynamic port selection failed".to_owned());
            }
        }
        Ok(Self { asks })
    }

    /// The numbers; `None` only for a node that is not the one of `new`.
    pub(super) fn pick(&self, node: &Node, used: &NodeUse, seed: u128) -> Option<Vec<AllocatedPort>> {
        let mut picked: Vec<AllocatedPort> = Vec::with_capacity(self.asks.len());
        let mut state = u64::try_from((seed ^ (seed >> 64)) & u128::from(u64::MAX)).unwrap_or_default();
        let host_ip = node.networks.first().map(|network| network.ip.clone()).unwrap_or_default();
        let span = u64::from(node.max_dynamic_port.saturating_sub(node.min_dynamic_port)) + 1;
        for ask in &self.asks {
            let value = match ask.fixed {
                Some(port) => port,
                None => {
                    let start = mix(&mut state) % span;
                    (0..span)
                        .filter_map(|step| u16::try_from(u64::from(node.min_dynamic_port) + (start + step) % span).ok())
                        .find(|port| {
                            is_free(*port, &self.asks, node, used) && !picked.iter().any(|other| other.value == *port)
                        })?
                }
            };
            let to = match ask.to {
                -1 => value,
                to => u16::try_from(to).unwrap_or(0),
            };
            picked.push(AllocatedPort {
                label: ask.label.clone(),
                value,
                to,
                host_ip: host_ip.clone(),
                is_static: ask.fixed.is_some(),
            });
        }
        Some(picked)
    }
}

/// Neither taken on the node nor asked for by its number.
fn is_free(port: u16, asks: &[PortAsk], node: &Node, used: &NodeUse) -> bool {
    !used.has_port(port) && !node.reserved_ports.contains(&port) && !asks.iter().any(|ask| ask.fixed == Some(port))
}

/// Ends at the last one that is needed: most nodes have free ports in plenty.
fn has_free(mut range: RangeInclusive<u16>, count: usize, is_free: impl Fn(u16) -> bool) -> bool {
    count == 0 || range.by_ref().filter(|port| is_free(*port)).nth(count - 1).is_some()
}

/// The next of a sequence of well mixed numbers (splitmix64, public domain).
fn mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
