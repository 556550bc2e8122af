//! What a driver is told about one attempt to start a task.

use std::collections::BTreeMap;
use std::sync::Arc;

use longshore_driver::{
    AcceptedTask, Driver, EventSink, GroupNetwork, LogFiles, NetworkRequest, StartRequest, TaskDirs, TaskId,
};
use longshore_model::{Allocation, Dns, Task, TaskGroup};

use crate::rules::environment::{NodeFacts, TaskVariables, VisibleDirs};
use crate::rules::interpolation::{expand, expand_json};

/// All of it that is known before the group's network is there.
pub(super) struct Prepared {
    pub(super) driver: Arc<dyn Driver>,
    pub(super) attempt: u64,
    pub(super) alloc: Arc<Allocation>,
    pub(super) group: TaskGroup,
    pub(super) task: Task,
    pub(super) facts: NodeFacts,
    pub(super) inherited_env: BTreeMap<String, String>,
    pub(super) dirs: TaskDirs,
    pub(super) node_cpu_mhz: i64,
    /// The group's tasks that are this driver's, when the group has a network of its own.
    pub(super) in_network: Option<Vec<AcceptedTask>>,
    pub(super) events: EventSink,
}

impl Prepared {
    fn variables(&self, network: Option<&GroupNetwork>) -> TaskVariables {
        let visible = if self.driver.capabilities().image_isolation {
            VisibleDirs::in_image()
        } else {
            VisibleDirs {
                alloc: self.dirs.shared_alloc.display().to_string(),
                local: self.dirs.local.display().to_string(),
                secrets: self.dirs.secrets.display().to_string(),
            }
        };
        let address = network.and_then(|network| network.address.as_ref());
        let Self { alloc, group, task, facts, inherited_env, .. } = self;
        TaskVariables::of(alloc, group, task, facts, &visible, inherited_env, address)
    }

    /// What the group says about names.
    fn dns(&self, variables: &TaskVariables) -> Dns {
        let Some(ask) = self.group.networks.first() else { return Dns::default() };
        let filled = |texts: &[String]| texts.iter().map(|text| expand(text, variables)).collect();
        Dns {
            servers: filled(&ask.dns.servers),
            searches: filled(&ask.dns.searches),
            options: filled(&ask.dns.options),
        }
    }

    /// The network that the group's tasks share; `None` when that is the node's.
    pub(super) fn network_request(&self) -> Option<NetworkRequest> {
        let tasks = self.in_network.clone()?;
        // Whichever task comes first asks for the same.
        let first = self.group.tasks.first().unwrap_or(&self.task);
        let (nothing, visible) = (BTreeMap::new(), VisibleDirs::in_image());
        let variables = TaskVariables::of(&self.alloc, &self.group, first, &self.facts, &visible, &nothing, None);
        let hostname = self.group.networks.first().map(|ask| expand(&ask.hostname, &variables));
        Some(NetworkRequest {
            alloc: self.alloc.id,
            node: self.facts.identity.clone(),
            mode: self.alloc.resources.network_mode.clone().unwrap_or_default(),
            hostname: hostname.unwrap_or_default(),
            dns: self.dns(&variables),
            ports: self.alloc.resources.ports.clone(),
            tasks,
            events: self.events.clone(),
        })
    }

    pub(super) fn request(&self, network: Option<GroupNetwork>) -> StartRequest {
        let variables = self.variables(network.as_ref());
        let (alloc, task) = (&self.alloc, &self.task);
        StartRequest {
            id: TaskId { alloc: alloc.id, task: task.name.clone() },
            attempt: self.attempt,
            node: self.facts.identity.clone(),
            job: alloc.job.clone(),
            job_name: alloc.job_spec.name.clone(),
            group: self.group.name.clone(),
            user: task.user.clone(),
            config: expand_json(&task.config, &variables),
            logs: LogFiles { folder: self.dirs.logs.clone(), task: task.name.clone(), config: task.logs },
            dirs: self.dirs.clone(),
            resources: alloc.resources.tasks.get(&task.name).cloned().unwrap_or_default(),
            node_cpu_mhz: self.node_cpu_mhz,
            ports: alloc.resources.ports.clone(),
            network_mode: alloc.resources.network_mode.clone(),
            network,
            dns: self.dns(&variables),
            env: variables.env,
            events: self.events.clone(),
        }
    }
}
