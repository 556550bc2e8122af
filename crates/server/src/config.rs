use longshore_values::GoDuration;

/// How a server behaves; the defaults are Nomad's where Nomad has them.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerConfig {
    /// How many evaluations are worked on at once (`num_schedulers`).
    pub workers: usize,
    pub heartbeat: HeartbeatConfig,
    pub collect: CollectConfig,
    /// A snapshot is taken when this much was appended since the last one, or as much as that one's size if larger.
    pub snapshot_after_bytes: usize,
}

impl Default for ServerConfig {
    fn default() -> Self {
        Self {
            workers: std::thread::available_parallelism().map_or(1, usize::from),
            heartbeat: HeartbeatConfig::default(),
            collect: CollectConfig::default(),
            snapshot_after_bytes: 16 << 20,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct HeartbeatConfig {
    /// The shortest span that a node is given (`min_heartbeat_ttl`).
    pub ttl_min: GoDuration,
    /// What a node may be late (`heartbeat_grace`).
    pub grace: GoDuration,
    /// The span grows with the number of nodes so that no more than this many come in a second.
    pub rate_max: f64,
    /// What every node is given after a start (`failover_heartbeat_ttl`).
    pub failover_ttl: GoDuration,
}

impl Default for HeartbeatConfig {
    fn default() -> Self {
        Self {
            ttl_min: GoDuration::seconds(10),
            grace: GoDuration::seconds(10),
            rate_max: 50.0,
            failover_ttl: GoDuration::minutes(5),
        }
    }
}

/// How old what has ended must be before it is forgotten.
#[derive(Debug, Clone, PartialEq)]
pub struct CollectConfig {
    /// How often it is looked for (`job_gc_interval`).
    pub interval: GoDuration,
    pub evaluation_age: GoDuration,
    pub batch_evaluation_age: GoDuration,
    pub job_age: GoDuration,
    pub deployment_age: GoDuration,
    pub node_age: GoDuration,
}

impl Default for CollectConfig {
    fn default() -> Self {
        Self {
            interval: GoDuration::minutes(5),
            evaluation_age: GoDuration::hours(1),
            batch_evaluation_age: GoDuration::hours(24),
            job_age: GoDuration::hours(4),
            deployment_age: GoDuration::hours(1),
            node_age: GoDuration::hours(24),
        }
    }
}
