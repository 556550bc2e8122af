//! How this machine is doing, from `/proc` at the moment of asking.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::response::Response;
use longshore_api as api;
use longshore_model::NodeId;
use nix::sys::statvfs::statvfs;

use crate::NodeSide;
use crate::context::Ask;
use crate::error::{ApiError, Result};
use crate::prefix::full_id;
use crate::reply;

/// Between the two looks that processor use is the difference of.
const CPU_SAMPLE: Duration = Duration::from_millis(100);

/// `GET /v1/client/stats`.
pub(crate) async fn stats(ask: Ask) -> Result<Response> {
    let asked = ask.params.text("node_id");
    let node = match &ask.context.node {
        Some(node) if asked.is_empty() || node.id.to_string() == asked => node.clone(),
        None if asked.is_empty() => return Err(ApiError::bad_request("No local Node and node_id not provided")),
        _ => return Err(no_path(&ask, asked)?),
    };
    let before = cpu_ticks();
    tokio::time::sleep(CPU_SAMPLE).await;
    let mhz = ask.context.server.snapshot().node(node.id).map_or(0, |known| known.resources.cpu_mhz);
    reply::json(&ask.params, &host_stats(&node, &before, &cpu_ticks(), mhz))
}

fn no_path(ask: &Ask, asked: &str) -> Result<ApiError> {
    let id: NodeId = full_id("node", asked)?;
    Ok(match ask.context.server.snapshot().node(id) {
        Some(_) => ApiError::not_found("No path to node"),
        None => ApiError::not_found(format!("Unknown node {asked:?}")),
    })
}

fn host_stats(node: &NodeSide, before: &Ticks, after: &Ticks, mhz: i64) -> api::HostStats {
    let cpu = cpu_use(before, after, mhz);
    let disk = disk_of(&node.alloc_dir);
    let uptime = std::fs::read_to_string("/proc/uptime").unwrap_or_default();
    api::HostStats {
        memory: Some(memory(&std::fs::read_to_string("/proc/meminfo").unwrap_or_default())),
        cpu_ticks_consumed: cpu.iter().map(|core| core.total_ticks).sum(),
        cpu,
        disk_stats: disk.iter().cloned().collect(),
        alloc_dir_stats: disk,
        device_stats: Vec::new(),
        uptime: uptime.split('.').next().and_then(|seconds| seconds.parse().ok()).unwrap_or_default(),
        timestamp: SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .ok()
            .and_then(|since| i64::try_from(since.as_nanos()).ok())
            .unwrap_or_default(),
    }
}

fn memory(meminfo: &str) -> api::HostMemoryStats {
    let bytes = |name: &str| {
        let line = meminfo.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        let kib = line.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
        kib.unwrap_or_default() * 1024
    };
    let (total, free) = (bytes("MemTotal"), bytes("MemFree"));
    let used = total.saturating_sub(free + bytes("Buffers") + bytes("Cached"));
    api::HostMemoryStats { total, available: bytes("MemAvailable"), used, free }
}

/// Processor → user, system, idle and all ticks since the start of the machine.
type Ticks = BTreeMap<u32, [u64; 4]>;

fn cpu_ticks() -> Ticks {
    parse_ticks(&std::fs::read_to_string("/proc/stat").unwrap_or_default())
}

fn parse_ticks(stat: &str) -> Ticks {
    let one = |line: &str| {
        let (number, rest) = line.strip_prefix("cpu")?.split_once(' ')?;
        let figures: Vec<u64> = rest.split_whitespace().map_while(|figure| figure.parse().ok()).collect();
        let [user, nice, system, idle, ..] = figures[..] else { return None };
        Some((number.parse().ok()?, [user + nice, system, idle, figures.iter().take(8).sum()]))
    };
    stat.lines().filter_map(one).collect()
}

fn cpu_use(before: &Ticks, after: &Ticks, mhz: i64) -> Vec<api::HostCpuStats> {
    let mhz_a_core = mhz as f64 / after.len().max(1) as f64;
    let one = |(number, now): (&u32, &[u64; 4])| {
        let then = before.get(number).copied().unwrap_or_default();
        let part = |at: usize| {
            now.get(at).copied().unwrap_or_default().saturating_sub(then.get(at).copied().unwrap_or_default())
        };
        let all = part(3).max(1) as f64;
        let percent = |at: usize| part(at) as f64 / all * 100.0;
        let busy = 100.0 - percent(2);
        api::HostCpuStats {
            cpu: format!("cpu{number}"),
            user: percent(0),
            system: percent(1),
            idle: percent(2),
            total_percent: busy,
            total_ticks: busy / 100.0 * mhz_a_core,
        }
    };
    after.iter().map(one).collect()
}

fn disk_of(path: &Path) -> Option<api::HostDiskStats> {
    let stats = statvfs(path).ok()?;
    let unit: u64 = stats.fragment_size();
    let (size, free, available) = (stats.blocks() * unit, stats.blocks_free() * unit, stats.blocks_available() * unit);
    let used = size.saturating_sub(free);
    let percent = |part: u64, whole: u64| if whole == 0 { 0.0 } else { part as f64 / whole as f64 * 100.0 };
    Some(api::HostDiskStats {
        device: String::new(),
        mountpoint: path.display().to_string(),
        size,
        used,
        available,
        used_percent: percent(used, used + available),
        inodes_used_percent: percent(stats.files().saturating_sub(stats.files_free()), stats.files()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_use_is_the_difference_of_two_looks() {
        let before = parse_ticks("cpu  9 9 9 9\ncpu0 100 0 50 850 0 0 0 0 0 0\ncpu1 0 0 0 10 0\nintr 5");
        let after = parse_ticks("cpu0 110 10 60 920 0 0 0 0 0 0\ncpu1 0 0 0 10 0\n");
        let shown = cpu_use(&before, &after, 2_000);
        assert_eq!((shown[0].user, shown[0].system, shown[0].idle), (20.0, 10.0, 70.0));
        assert_eq!((shown[0].total_percent, shown[0].total_ticks), (30.0, 300.0));
        assert_eq!(shown[1].cpu, "cpu1");
    }

    #[test]
    fn memory_is_in_bytes() {
        let shown = memory("MemTotal:  100 kB\nMemFree: 20 kB\nMemAvailable: 60 kB\nBuffers: 10 kB\nCached: 30 kB\n");
        assert_eq!((shown.total, shown.available, shown.used, shown.free), (102_400, 61_440, 40_960, 20_480));
        assert_eq!(memory("").total, 0);
    }
}
