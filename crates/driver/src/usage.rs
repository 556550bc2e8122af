use longshore_model::Timestamp;

/// What a task uses, as measured at one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskUsage {
    pub measured_at: Timestamp,
    pub memory: MemoryUsage,
    pub cpu: CpuUsage,
}

/// Bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MemoryUsage {
    pub rss: u64,
    pub cache: u64,
    pub swap: u64,
    pub mapped_file: u64,
    pub usage: u64,
    pub max_usage: u64,
    /// Names of those that mean something here, as Nomad has them (`RSS`, `Max Usage`).
    pub measured: Vec<&'static str>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct CpuUsage {
    /// Of one processor: 200 stands for two that are busy.
    pub percent: f64,
    /// Of what was used, the part in the kernel.
    pub system_percent: f64,
    /// Of what was used, the part outside of it.
    pub user_percent: f64,
    pub throttled_periods: u64,
    /// Nanoseconds.
    pub throttled_time: u64,
    pub measured: Vec<&'static str>,
}
