use std::collections::{BTreeMap, BTreeSet};

use crate::apply::wished_nodes;
use crate::{NodeUse, State};

impl State {
    /// Where derived tables differ from the facts; empty when S3 holds. For tests and worlds.
    pub fn breaches(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut used: BTreeMap<_, NodeUse> = BTreeMap::new();
        for alloc in self.allocations.values() {
            if alloc.occupies_node() {
                used.entry(alloc.node).or_default().add(&alloc.resources);
            }
            for (name, holds) in [
                ("job", self.allocations_by_job.get(&alloc.job).is_some_and(|ids| ids.contains(&alloc.id))),
                ("node", self.allocations_by_node.get(&alloc.node).is_some_and(|ids| ids.contains(&alloc.id))),
                (
                    "evaluation",
                    self.allocations_by_evaluation.get(&alloc.eval).is_some_and(|ids| ids.contains(&alloc.id)),
                ),
            ] {
                if !holds {
                    found.push(format!("allocation {} is missing in the index by {name}", alloc.id));
                }
            }
        }
        for (node, known) in &self.node_use {
            let fact = used.remove(node).unwrap_or_default();
            if *known != fact {
                found.push(format!("use of node {node} is {known:?}, its allocations take {fact:?}"));
            }
        }
        for (node, fact) in used {
            if self.nodes.contains_key(&node) {
                found.push(format!("use of node {node} is missing, its allocations take {fact:?}"));
            }
        }
        let mut wishes: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
        for deployment in self.deployments.values() {
            for node in wished_nodes(Some(deployment)) {
                wishes.entry(node).or_default().insert(deployment.id);
            }
        }
        let known = self.wishes_by_node.iter().map(|(node, ids)| (*node, ids.iter().copied().collect())).collect();
        if wishes != known {
            found.push(format!("wishes by node are {known:?}, deployments have {wishes:?}"));
        }
        for job in self.jobs.values() {
            let status = self.job_status(job);
            if job.status != status {
                found.push(format!("status of job {} is {:?}, should be {status:?}", job.key, job.status));
            }
        }
        found
    }
}
