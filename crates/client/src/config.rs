use std::collections::BTreeMap;
use std::path::PathBuf;

use longshore_model::Resources;
use longshore_values::GoDuration;

/// Variables that tasks do not inherit from the agent: credentials of clouds and of what Nomad works with.
pub const ENV_DENYLIST: [&str; 11] = [
    "ATLAS_TOKEN",
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "CONSUL_HTTP_AUTH",
    "CONSUL_HTTP_TOKEN",
    "CONSUL_TOKEN",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "NOMAD_LICENSE",
    "NOMAD_TOKEN",
    "VAULT_TOKEN",
];

/// What a node is told by its agent.
#[derive(Debug, Clone)]
pub struct ClientConfig {
    /// Absolute. Holds the node's identity and record; made when missing, mode 0700.
    pub state_dir: PathBuf,
    /// Absolute. Holds the folders of allocations; made when missing.
    pub alloc_dir: PathBuf,
    pub name: String,
    pub region: String,
    pub datacenter: String,
    pub node_class: String,
    pub node_pool: String,
    pub meta: BTreeMap<String, String>,
    /// `host:port` under which this agent's HTTP API can be reached.
    pub http_address: String,
    /// The interface whose addresses tasks are given; empty: that of the default route.
    pub network_interface: String,
    pub network_speed_mbits: u32,
    /// 0: what the machine has.
    pub cpu_total_mhz: i64,
    /// 0: what the machine has.
    pub memory_total_mb: i64,
    /// 0: what the file system of `alloc_dir` has.
    pub disk_total_mb: i64,
    /// 0: what is free on the file system of `alloc_dir`.
    pub disk_free_mb: i64,
    /// Kept back from tasks.
    pub reserved: Resources,
    pub reserved_ports: Vec<u16>,
    pub min_dynamic_port: u16,
    pub max_dynamic_port: u16,
    /// No task's `kill_timeout` counts for more.
    pub max_kill_timeout: GoDuration,
    /// How many ended allocations stay on the node, for their logs, while the server still knows them.
    pub gc_max_allocs: usize,
    /// Nobody runs commands in tasks of this node.
    pub exec_disabled: bool,
    /// How often drivers are told which allocations the node knows.
    pub compare_period: GoDuration,
    /// The parent of the tasks' control groups, as tasks are told; empty when there is none.
    pub cgroup_parent: String,
    /// What tasks outside of images inherit; the agent's environment without [`ENV_DENYLIST`], unless set otherwise.
    pub inherited_env: BTreeMap<String, String>,
    /// Room set aside on the disk of `state_dir`, so that the node's record can be opened and written when it is full.
    pub reserve_bytes: u64,
    /// The build's own version.
    pub version: String,
}

impl ClientConfig {
    /// The defaults of Nomad 1.6, with nothing inherited.
    pub fn new(state_dir: impl Into<PathBuf>, alloc_dir: impl Into<PathBuf>, name: impl Into<String>) -> Self {
        Self {
            state_dir: state_dir.into(),
            alloc_dir: alloc_dir.into(),
            name: name.into(),
            region: "global".to_owned(),
            datacenter: "dc1".to_owned(),
            node_class: String::new(),
            node_pool: "default".to_owned(),
            meta: BTreeMap::new(),
            http_address: String::new(),
            network_interface: String::new(),
            network_speed_mbits: 0,
            cpu_total_mhz: 0,
            memory_total_mb: 0,
            disk_total_mb: 0,
            disk_free_mb: 0,
            reserved: Resources::default(),
            reserved_ports: Vec::new(),
            min_dynamic_port: 20_000,
            max_dynamic_port: 32_000,
            max_kill_timeout: GoDuration::seconds(30),
            gc_max_allocs: 50,
            exec_disabled: false,
            compare_period: GoDuration::minutes(1),
            cgroup_parent: String::new(),
            inherited_env: BTreeMap::new(),
            reserve_bytes: 4 << 20,
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }

    /// `environment` without the variables of `denylist`.
    pub fn filtered_env(
        environment: impl IntoIterator<Item = (String, String)>,
        denylist: &[&str],
    ) -> BTreeMap<String, String> {
        environment.into_iter().filter(|(name, _)| !denylist.contains(&name.as_str())).collect()
    }
}
