//! Jobs, allocations and nodes for tests.

use std::collections::BTreeMap;
use std::sync::Arc;

use longshore_driver::NodeIdentity;
use longshore_model::{AllocId, Allocation, Job, JobType, LogIndex, NodeId, Resources, Task, Timestamp};
use longshore_samples as samples;
pub(crate) use longshore_samples::RESTART;

use crate::rules::environment::NodeFacts;

pub(crate) fn task(name: &str) -> Task {
    Task {
        driver: "scripted".to_owned(),
        config: serde_json::json!({}),
        resources: Resources { cpu_mhz: 100, memory_mb: 300, ..Resources::default() },
        ..samples::task(name)
    }
}

pub(crate) fn job(tasks: Vec<Task>) -> Job {
    Job { groups: vec![samples::group(tasks)], ..samples::job("shop", JobType::Service, 1) }
}

pub(crate) fn allocation(id: u128, tasks: Vec<Task>) -> Allocation {
    Allocation {
        node_name: "host-a".to_owned(),
        create_index: LogIndex(5),
        modify_index: LogIndex(5),
        alloc_modify_index: LogIndex(5),
        create_time: Timestamp::from_seconds(1),
        modify_time: Timestamp::from_seconds(1),
        ..samples::allocation(AllocId::from_u128(id), NodeId::from_u128(7), &Arc::new(job(tasks)))
    }
}

pub(crate) fn node_facts() -> NodeFacts {
    NodeFacts {
        identity: NodeIdentity {
            id: NodeId::from_u128(7),
            name: "host-a".to_owned(),
            datacenter: "dc1".to_owned(),
            region: "global".to_owned(),
        },
        class: "small".to_owned(),
        pool: "default".to_owned(),
        attributes: BTreeMap::from([("kernel.name".to_owned(), "linux".to_owned())]),
        meta: BTreeMap::from([("rack".to_owned(), "r1".to_owned())]),
        cgroup_parent: String::new(),
    }
}
