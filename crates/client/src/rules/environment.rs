//! The environment of a task, and what its texts can name.

use std::collections::BTreeMap;

use longshore_driver::{NodeIdentity, TaskAddress};
use longshore_model::{Allocation, Task, TaskGroup};

use super::interpolation::{Lookup, expand};

/// What tasks can be told of their node.
#[derive(Debug, Clone)]
pub(crate) struct NodeFacts {
    pub(crate) identity: NodeIdentity,
    pub(crate) class: String,
    pub(crate) pool: String,
    pub(crate) attributes: BTreeMap<String, String>,
    pub(crate) meta: BTreeMap<String, String>,
    /// The parent of the tasks' control groups; empty when there is none.
    pub(crate) cgroup_parent: String,
}

/// The folders of a task as the task sees them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct VisibleDirs {
    pub(crate) alloc: String,
    pub(crate) local: String,
    pub(crate) secrets: String,
}

impl VisibleDirs {
    /// Of a task that sees its image's file system.
    pub(crate) fn in_image() -> Self {
        Self { alloc: "/alloc".to_owned(), local: "/local".to_owned(), secrets: "/secrets".to_owned() }
    }
}

/// The variables of one task: the node's, and its whole environment.
#[derive(Debug, Clone)]
pub(crate) struct TaskVariables {
    node: BTreeMap<String, String>,
    pub(crate) env: BTreeMap<String, String>,
}

impl Lookup for TaskVariables {
    fn get(&self, name: &str) -> Option<&str> {
        let quoted = name.strip_prefix("env[\"").and_then(|rest| rest.strip_suffix("\"]"));
        let value = match quoted {
            Some(variable) => self.env.get(variable),
            None => self.node.get(name).or_else(|| self.env.get(name)),
        };
        value.map(String::as_str)
    }
}

impl TaskVariables {
    /// `host_env` is what the task inherits: empty for tasks in images. `address` is that of the group's network, when it
    /// has one of its own and is there.
    pub(crate) fn of(
        alloc: &Allocation,
        group: &TaskGroup,
        task: &Task,
        node: &NodeFacts,
        dirs: &VisibleDirs,
        host_env: &BTreeMap<String, String>,
        address: Option<&TaskAddress>,
    ) -> Self {
        let mut variables = Self { node: node_variables(node), env: host_env.clone() };
        variables.env.extend(own_variables(alloc, group, task, node, dirs));
        if let Some(address) = address {
            variables.env.extend(network_variables(alloc, address));
        }
        let job_meta = alloc.job_spec.meta.iter();
        for (key, value) in job_meta.chain(&group.meta).chain(&task.meta) {
            let value = expand(value, &variables);
            variables.env.insert(clean_name(&format!("NOMAD_META_{key}")), value.clone());
            variables.env.insert(clean_name(&format!("NOMAD_META_{}", key.to_uppercase())), value);
        }
        let given: Vec<_> =
            task.env.iter().map(|(key, value)| (expand(key, &variables), expand(value, &variables))).collect();
        variables.env.extend(given);
        variables
    }
}

fn node_variables(node: &NodeFacts) -> BTreeMap<String, String> {
    let identity = &node.identity;
    let mut variables = BTreeMap::from([
        ("node.unique.id".to_owned(), identity.id.to_string()),
        ("node.unique.name".to_owned(), identity.name.clone()),
        ("node.datacenter".to_owned(), identity.datacenter.clone()),
        ("node.region".to_owned(), identity.region.clone()),
        ("node.class".to_owned(), node.class.clone()),
        ("node.pool".to_owned(), node.pool.clone()),
    ]);
    variables.extend(node.attributes.iter().map(|(key, value)| (format!("attr.{key}"), value.clone())));
    variables.extend(node.meta.iter().map(|(key, value)| (format!("meta.{key}"), value.clone())));
    variables
}

fn own_variables(
    alloc: &Allocation,
    group: &TaskGroup,
    task: &Task,
    node: &NodeFacts,
    dirs: &VisibleDirs,
) -> BTreeMap<String, String> {
    let mut env = BTreeMap::new();
    let mut set = |name: &str, value: &str| env.insert(name.to_owned(), value.to_owned());
    set("NOMAD_ALLOC_DIR", &dirs.alloc);
    set("NOMAD_TASK_DIR", &dirs.local);
    set("NOMAD_SECRETS_DIR", &dirs.secrets);
    set("NOMAD_ALLOC_ID", &alloc.id.to_string());
    set("NOMAD_SHORT_ALLOC_ID", &alloc.id.short());
    set("NOMAD_ALLOC_NAME", &alloc.name);
    set("NOMAD_ALLOC_INDEX", &alloc.index().to_string());
    set("NOMAD_TASK_NAME", &task.name);
    set("NOMAD_GROUP_NAME", &group.name);
    set("NOMAD_JOB_ID", &alloc.job.id);
    set("NOMAD_JOB_NAME", &alloc.job_spec.name);
    set("NOMAD_NAMESPACE", &alloc.job.namespace);
    set("NOMAD_DC", &node.identity.datacenter);
    set("NOMAD_REGION", &node.identity.region);
    if !node.cgroup_parent.is_empty() {
        set("NOMAD_PARENT_CGROUP", &node.cgroup_parent);
    }
    if let Some(given) = alloc.resources.tasks.get(&task.name) {
        set("NOMAD_CPU_LIMIT", &given.cpu_mhz.to_string());
        set("NOMAD_MEMORY_LIMIT", &given.memory_mb.to_string());
        if given.memory_max_mb > 0 {
            set("NOMAD_MEMORY_MAX_LIMIT", &given.memory_max_mb.to_string());
        }
    }
    for port in &alloc.resources.ports {
        let label = &port.label;
        let ip = if port.host_ip.is_empty() { &alloc.resources.network_ip } else { &port.host_ip };
        let outside = port.value.to_string();
        let inside = if port.to == 0 { outside.clone() } else { port.to.to_string() };
        let address = joined(ip, &outside);
        let mut set = |prefix: &str, value: &str| {
            env.insert(clean_name(&format!("NOMAD_{prefix}_{label}")), value.to_owned());
        };
        set("IP", ip);
        set("HOST_IP", ip);
        set("PORT", &inside);
        set("ALLOC_PORT", &inside);
        set("HOST_PORT", &outside);
        set("ADDR", &address);
        set("HOST_ADDR", &address);
    }
    env
}

/// Where the ports of the group are within its own network.
fn network_variables(alloc: &Allocation, address: &TaskAddress) -> BTreeMap<String, String> {
    let mut env = BTreeMap::new();
    for port in &alloc.resources.ports {
        let inside = if port.to == 0 { port.value } else { port.to };
        for (prefix, value) in [
            ("INTERFACE", address.interface.clone()),
            ("IP", address.ip.clone()),
            ("ADDR", joined(&address.ip, &inside.to_string())),
        ] {
            env.insert(clean_name(&format!("NOMAD_ALLOC_{prefix}_{}", port.label)), value);
        }
    }
    env
}

fn joined(ip: &str, port: &str) -> String {
    if ip.contains(':') { format!("[{ip}]:{port}") } else { format!("{ip}:{port}") }
}

/// Whatever cannot be in the name of a variable becomes `_`.
fn clean_name(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use longshore_model::{AllocatedPort, AllocatedTask};

    use super::*;
    use crate::testing;

    fn variables() -> TaskVariables {
        variables_at(None)
    }

    fn variables_at(address: Option<&TaskAddress>) -> TaskVariables {
        let mut alloc = testing::allocation(1, vec![testing::task("web")]);
        alloc
            .resources
            .tasks
            .insert("web".to_owned(), AllocatedTask { cpu_mhz: 500, memory_mb: 256, memory_max_mb: 0 });
        alloc.resources.network_ip = "192.0.2.10".to_owned();
        let port = |label: &str, value, to, host_ip: &str| AllocatedPort {
            label: label.to_owned(),
            value,
            to,
            host_ip: host_ip.to_owned(),
            is_static: false,
        };
        alloc.resources.ports = vec![port("http", 24_000, 8080, ""), port("ad-min", 25_000, 0, "2001:db8::10")];
        let job = std::sync::Arc::make_mut(&mut alloc.job_spec);
        job.meta.insert("owner".to_owned(), "ops".to_owned());
        job.meta.insert("tier.one".to_owned(), "${node.class}".to_owned());
        let group = &mut job.groups[0];
        group.meta.insert("owner".to_owned(), "web-team".to_owned());
        let task = &mut group.tasks[0];
        task.env.insert("GREETING".to_owned(), "${NOMAD_META_owner}@${attr.kernel.name} ${meta.rack}".to_owned());
        task.env.insert("NOMAD_DC".to_owned(), "mine".to_owned());
        task.env.insert("PATH2".to_owned(), "${env[\"PATH\"]}:/x".to_owned());
        let group = alloc.job_spec.groups[0].clone();
        let host_env = BTreeMap::from([("PATH".to_owned(), "/bin".to_owned())]);
        let node = testing::node_facts();
        TaskVariables::of(&alloc, &group, &group.tasks[0], &node, &VisibleDirs::in_image(), &host_env, address)
    }

    #[test]
    fn the_whole_environment() {
        let env = variables().env;
        let text: String = env.iter().map(|(key, value)| format!("{key}={value}\n")).collect();
        insta::assert_snapshot!(text, @r"
        GREETING=web-team@linux r1
        NOMAD_ADDR_ad_min=[2001:db8::10]:25000
        NOMAD_ADDR_http=192.0.2.10:24000
        NOMAD_ALLOC_DIR=/alloc
        NOMAD_ALLOC_ID=00000000-0000-0000-0000-000000000001
        NOMAD_ALLOC_INDEX=0
        NOMAD_ALLOC_NAME=shop.web[0]
        NOMAD_ALLOC_PORT_ad_min=25000
        NOMAD_ALLOC_PORT_http=8080
        NOMAD_CPU_LIMIT=500
        NOMAD_DC=mine
        NOMAD_GROUP_NAME=web
        NOMAD_HOST_ADDR_ad_min=[2001:db8::10]:25000
        NOMAD_HOST_ADDR_http=192.0.2.10:24000
        NOMAD_HOST_IP_ad_min=2001:db8::10
        NOMAD_HOST_IP_http=192.0.2.10
        NOMAD_HOST_PORT_ad_min=25000
        NOMAD_HOST_PORT_http=24000
        NOMAD_IP_ad_min=2001:db8::10
        NOMAD_IP_http=192.0.2.10
        NOMAD_JOB_ID=shop
        NOMAD_JOB_NAME=shop
        NOMAD_MEMORY_LIMIT=256
        NOMAD_META_OWNER=web-team
        NOMAD_META_TIER_ONE=small
        NOMAD_META_owner=web-team
        NOMAD_META_tier_one=small
        NOMAD_NAMESPACE=default
        NOMAD_PORT_ad_min=25000
        NOMAD_PORT_http=8080
        NOMAD_REGION=global
        NOMAD_SECRETS_DIR=/secrets
        NOMAD_SHORT_ALLOC_ID=00000000
        NOMAD_TASK_DIR=/local
        NOMAD_TASK_NAME=web
        PATH=/bin
        PATH2=/bin:/x
        ");
    }

    #[test]
    fn where_ports_are_in_a_network_of_the_group_s_own() {
        let address = TaskAddress { ip: "172.17.0.2".to_owned(), interface: "eth0".to_owned() };
        let (plain, with) = (variables().env, variables_at(Some(&address)).env);
        let added: String = with
            .iter()
            .filter(|(key, _)| !plain.contains_key(*key))
            .map(|(key, value)| format!("{key}={value}\n"))
            .collect();
        insta::assert_snapshot!(added, @r"
        NOMAD_ALLOC_ADDR_ad_min=172.17.0.2:25000
        NOMAD_ALLOC_ADDR_http=172.17.0.2:8080
        NOMAD_ALLOC_INTERFACE_ad_min=eth0
        NOMAD_ALLOC_INTERFACE_http=eth0
        NOMAD_ALLOC_IP_ad_min=172.17.0.2
        NOMAD_ALLOC_IP_http=172.17.0.2
        ");
        assert_eq!(with["NOMAD_ADDR_http"], plain["NOMAD_ADDR_http"], "from outside it is where it was");
    }

    #[track_caller]
    fn check(variable: &str, expected: Option<&str>) {
        assert_eq!(variables().get(variable), expected);
    }

    #[test]
    fn what_texts_can_name() {
        check("node.unique.name", Some("host-a"));
        check("node.class", Some("small"));
        check("attr.kernel.name", Some("linux"));
        check("meta.rack", Some("r1"));
        check("NOMAD_JOB_ID", Some("shop"));
        check("GREETING", Some("web-team@linux r1"));
        check("env[\"PATH\"]", Some("/bin"));
        check("attr.nothing", None);
        check("env[\"nothing\"]", None);
    }
}
