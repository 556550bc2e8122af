//! The labels that containers of tasks carry: Nomad's and ours.

use std::collections::BTreeMap;

use longshore_driver::StartRequest;
use longshore_images::Owner;
use longshore_model::{AllocId, NodeId};
use longshore_values::Glob;

/// The label that Nomad puts on every container of a task.
pub(crate) const NOMAD_ALLOCATION: &str = "com.hashicorp.nomad.alloc_id";
const NOMAD_PREFIX: &str = "com.hashicorp.nomad.";

pub(crate) const OWN_AGENT: &str = "longshore.agent";
pub(crate) const OWN_ALLOCATION: &str = "longshore.allocation";
pub(crate) const OWN_TASK: &str = "longshore.task";
/// A digest of what the container was made from, registry credentials left out.
pub(crate) const OWN_CONFIG_HASH: &str = "longshore.config_hash";
/// The image's reference as the job has it.
pub(crate) const OWN_IMAGE: &str = "longshore.image";

/// On the container that holds the network of an allocation, in the place of a task's name.
pub(crate) const OWN_NETWORK: &str = "longshore.network";

/// Whose a container says it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) agent: NodeId,
    pub(crate) alloc: AllocId,
    /// The task or the network of the allocation.
    pub(crate) owner: Owner,
    pub(crate) config_hash: String,
}

impl Identity {
    /// What the labels of a container of ours say; `None` when it carries no whole mark of ours.
    pub(crate) fn of_labels(labels: &BTreeMap<String, String>) -> Option<Self> {
        let alloc: AllocId = labels.get(OWN_ALLOCATION)?.parse().ok()?;
        let owner = match labels.contains_key(OWN_NETWORK) {
            true => Owner::Network(alloc),
            false => Owner::task(alloc, labels.get(OWN_TASK)?),
        };
        Some(Self {
            agent: labels.get(OWN_AGENT)?.parse().ok()?,
            alloc,
            owner,
            config_hash: labels.get(OWN_CONFIG_HASH)?.clone(),
        })
    }
}

/// The labels of the container that holds an allocation's network, without hash and image.
pub(crate) fn network_labels(alloc: AllocId, node: NodeId) -> BTreeMap<String, String> {
    let pairs = [
        (NOMAD_ALLOCATION, alloc.to_string()),
        (OWN_AGENT, node.to_string()),
        (OWN_ALLOCATION, alloc.to_string()),
        (OWN_NETWORK, "true".to_owned()),
    ];
    pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

/// The labels of a task's container, without the config hash: that is a digest over these too.
pub(crate) fn labels(
    request: &StartRequest,
    extra_labels: &[Glob],
    image: &str,
    of_task: &BTreeMap<String, String>,
) -> BTreeMap<String, String> {
    let mut labels = of_task.clone();
    let mut set = |key: String, value: String| labels.insert(key, value);
    set(NOMAD_ALLOCATION.to_owned(), request.id.alloc.to_string());
    for (key, value) in [
        ("job_name", &request.job_name),
        ("job_id", &request.job.id),
        ("task_group_name", &request.group),
        ("task_name", &request.id.task),
        ("namespace", &request.job.namespace),
        ("node_name", &request.node.name),
        ("node_id", &request.node.id.to_string()),
    ] {
        if extra_labels.iter().any(|glob| glob.matches(key)) {
            set(format!("{NOMAD_PREFIX}{key}"), value.clone());
        }
    }
    set(OWN_AGENT.to_owned(), request.node.id.to_string());
    set(OWN_ALLOCATION.to_owned(), request.id.alloc.to_string());
    set(OWN_TASK.to_owned(), request.id.task.clone());
    set(OWN_IMAGE.to_owned(), image.to_owned());
    labels
}
