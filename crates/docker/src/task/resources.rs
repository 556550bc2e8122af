//! Shares and limits of a task's container.

use longshore_driver::StartRequest;
use longshore_engine::{HostConfig, Ulimit};

use super::body::BadTask;
use super::check::ulimit;
use super::config::TaskConfig;
use crate::options::Options;

/// The engine takes at most this many shares; a node with more is scaled down to it.
const CPU_SHARES_MAX: i64 = 262_144;
const CPU_SHARES_MIN: i64 = 2;
const CPU_CFS_PERIOD: i64 = 100_000;
/// The kernel refuses less than a millisecond; a small share of a large node would be less.
const CPU_CFS_QUOTA_MIN: i64 = 1_000;
pub(super) const MB: i64 = 1 << 20;

pub(super) fn set_cpu(host: &mut HostConfig, request: &StartRequest, config: &TaskConfig, cpus: u32) {
    let (asked, total) = (request.resources.cpu_mhz, request.node_cpu_mhz);
    host.cpuset_cpus.clone_from(&config.cpuset_cpus);
    host.cpu_shares = if total < CPU_SHARES_MAX {
        asked.max(CPU_SHARES_MIN)
    } else {
        let scaled = i128::from(asked) * i128::from(CPU_SHARES_MAX) / i128::from(total);
        i64::try_from(scaled).unwrap_or(CPU_SHARES_MAX).max(CPU_SHARES_MIN)
    };
    if config.cpu_hard_limit && total > 0 {
        let period = config.cpu_cfs_period.filter(|period| *period > 0).unwrap_or(CPU_CFS_PERIOD);
        host.cpu_period = period;
        // Within 53 bits: a period is at most a second, a share of the node at most 1.
        let quota = (asked as f64 / total as f64 * period as f64) as i64 * i64::from(cpus);
        host.cpu_quota = quota.max(CPU_CFS_QUOTA_MIN);
    }
}

pub(super) fn set_memory(host: &mut HostConfig, request: &StartRequest, config: &TaskConfig) -> Result<(), BadTask> {
    let (asked, max) = (request.resources.memory_mb, request.resources.memory_max_mb);
    let (limit, reserved) = match (max, config.memory_hard_limit.max(max)) {
        (-1, _) => (0, asked),
        (_, 0) => (asked, 0),
        (_, high) => (high, asked),
    };
    if limit > 0 && reserved > limit {
        return Err(BadTask::Memory { reserved, limit });
    }
    host.memory = limit * MB;
    host.memory_reservation = reserved * MB;
    // Equal to the memory: no swap.
    host.memory_swap = host.memory;
    Ok(())
}

pub(super) fn pids_limit(config: &TaskConfig, options: &Options) -> Result<i64, BadTask> {
    match (config.pids_limit, options.pids_limit) {
        (Some(asked), limit) if limit > 0 && asked > limit => Err(BadTask::PidsLimit { asked, limit }),
        (Some(asked), _) if asked > 0 => Ok(asked),
        (_, limit) if limit > 0 => Ok(limit),
        _ => Ok(-1),
    }
}

pub(super) fn ulimits(config: &TaskConfig) -> Result<Vec<Ulimit>, BadTask> {
    let limits = config
        .ulimit
        .iter()
        .map(|(name, text)| ulimit(name, text).map_err(|why| BadTask::Wrong { key: format!("ulimit.{name}"), why }));
    limits.collect()
}
