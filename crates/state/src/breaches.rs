use std::collections::BTreeMap;

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
        for job in self.jobs.values() {
            let status = self.job_status(job);
            if job.status != status {
                found.push(format!("status of job {} is {:?}, should be {status:?}", job.key, job.status));
            }
        }
        found
    }
}
