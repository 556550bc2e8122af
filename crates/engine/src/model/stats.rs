use std::collections::BTreeMap;

use serde::Deserialize;

use super::null_is_empty;

/// What a container uses, at one moment. All zero when it does not run.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct Stats {
    /// RFC 3339.
    #[serde(default, deserialize_with = "null_is_empty")]
    pub read: String,
    #[serde(default, deserialize_with = "null_is_empty")]
    pub cpu_stats: CpuStats,
    /// Of the reading before; zero in a single one.
    #[serde(default, deserialize_with = "null_is_empty")]
    pub precpu_stats: CpuStats,
    #[serde(default, deserialize_with = "null_is_empty")]
    pub memory_stats: MemoryStats,
    #[serde(default, deserialize_with = "null_is_empty")]
    pub pids_stats: PidsStats,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct CpuStats {
    #[serde(default, deserialize_with = "null_is_empty")]
    pub cpu_usage: CpuUsage,
    /// Nanoseconds of all processors of the host.
    #[serde(default)]
    pub system_cpu_usage: u64,
    #[serde(default)]
    pub online_cpus: u64,
    #[serde(default, deserialize_with = "null_is_empty")]
    pub throttling_data: Throttling,
}

/// Nanoseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize)]
pub struct CpuUsage {
    #[serde(default)]
    pub total_usage: u64,
    #[serde(default)]
    pub usage_in_kernelmode: u64,
    #[serde(default)]
    pub usage_in_usermode: u64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize)]
pub struct Throttling {
    #[serde(default)]
    pub throttled_periods: u64,
    /// Nanoseconds.
    #[serde(default)]
    pub throttled_time: u64,
}

/// Bytes. `stats` holds the cgroup's own words, which differ between its versions.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct MemoryStats {
    #[serde(default)]
    pub usage: u64,
    #[serde(default)]
    pub max_usage: u64,
    #[serde(default)]
    pub limit: u64,
    #[serde(default, deserialize_with = "null_is_empty")]
    pub stats: BTreeMap<String, u64>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize)]
pub struct PidsStats {
    #[serde(default)]
    pub current: u64,
}
