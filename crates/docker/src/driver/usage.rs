//! What a container uses, from two readings of the engine.

use longshore_driver::{CpuUsage, DriverError, MemoryUsage, TaskHandle, TaskUsage};
use longshore_engine::{Stats, parse_rfc3339_nanoseconds};
use longshore_model::Timestamp;

use super::handle::HandleState;
use super::shared::Shared;
use crate::error::of_engine;

/// Takes about two seconds: shares of the processor are those between two readings.
pub(crate) async fn usage(shared: &Shared, handle: &TaskHandle) -> Result<TaskUsage, DriverError> {
    let state = HandleState::of(handle)?;
    let stats = shared.engine.container_stats_twice(&state.container_id).await.map_err(of_engine)?;
    measured(&stats).ok_or_else(|| DriverError::retry(format!("the container of task {} does not run", handle.id)))
}

/// `None`: it did not run.
fn measured(stats: &Stats) -> Option<TaskUsage> {
    let measured_at = parse_rfc3339_nanoseconds(&stats.read).filter(|at| *at > 0).map(Timestamp::from_nanoseconds)?;
    Some(TaskUsage { measured_at, memory: memory(stats), cpu: cpu(stats) })
}

fn memory(stats: &Stats) -> MemoryUsage {
    let told = &stats.memory_stats;
    // Words of the first version of cgroups, and of the second.
    let of = |names: [&str; 2]| names.iter().find_map(|name| told.stats.get(*name)).copied().unwrap_or(0);
    let is_first_version = told.stats.contains_key("rss");
    let mut measured = vec!["RSS", "Cache", "Swap", "Usage"];
    measured.extend(is_first_version.then_some("Max Usage"));
    MemoryUsage {
        rss: of(["rss", "anon"]),
        cache: of(["cache", "file"]),
        swap: of(["swap", "swap"]),
        mapped_file: of(["mapped_file", "file_mapped"]),
        usage: told.usage,
        max_usage: told.max_usage,
        measured,
    }
}

fn cpu(stats: &Stats) -> CpuUsage {
    let (now, before) = (&stats.cpu_stats, &stats.precpu_stats);
    let span = |now: u64, before: u64| now.saturating_sub(before) as f64;
    let used = span(now.cpu_usage.total_usage, before.cpu_usage.total_usage);
    let of_host = span(now.system_cpu_usage, before.system_cpu_usage);
    let share = |part: f64, whole: f64| if whole > 0.0 { part / whole * 100.0 } else { 0.0 };
    let kernel = span(now.cpu_usage.usage_in_kernelmode, before.cpu_usage.usage_in_kernelmode);
    let user = span(now.cpu_usage.usage_in_usermode, before.cpu_usage.usage_in_usermode);
    CpuUsage {
        percent: share(used, of_host) * now.online_cpus as f64,
        system_percent: share(kernel, used),
        user_percent: share(user, used),
        throttled_periods: now.throttling_data.throttled_periods,
        throttled_time: now.throttling_data.throttled_time,
        measured: vec!["Throttled Periods", "Throttled Time", "Percent"],
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn stats(value: serde_json::Value) -> Stats {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn shares_are_those_between_two_readings() {
        let reading = |total: u64, kernel: u64, user: u64, system: u64| {
            json!({ "cpu_usage": {"total_usage": total, "usage_in_kernelmode": kernel, "usage_in_usermode": user},
                "system_cpu_usage": system, "online_cpus": 4, "throttling_data": {"throttled_periods": 2, "throttled_time": 9} })
        };
        let both = stats(json!({
            "read": "2026-11-30T17:00:01Z",
            "cpu_stats": reading(1_500, 300, 1_100, 14_000), "precpu_stats": reading(1_000, 200, 800, 10_000),
            "memory_stats": {"usage": 70, "max_usage": 90, "stats": {"rss": 10, "cache": 20, "swap": 1, "mapped_file": 5}},
        }));
        let usage = measured(&both).unwrap();
        assert_eq!((usage.cpu.percent, usage.cpu.system_percent, usage.cpu.user_percent), (50.0, 20.0, 60.0));
        assert_eq!((usage.cpu.throttled_periods, usage.cpu.throttled_time), (2, 9));
        let memory = usage.memory;
        assert_eq!((memory.rss, memory.cache, memory.swap, memory.mapped_file), (10, 20, 1, 5));
        assert_eq!((memory.usage, memory.max_usage, memory.measured.len()), (70, 90, 5));
    }

    #[test]
    fn the_second_version_has_other_words_and_no_highest() {
        let told = json!({"usage": 70, "stats": {"anon": 10, "file": 20, "file_mapped": 5}});
        let usage = measured(&stats(json!({"read": "2026-11-30T17:00:01Z", "memory_stats": told}))).unwrap();
        assert_eq!((usage.memory.rss, usage.memory.cache, usage.memory.mapped_file), (10, 20, 5));
        assert_eq!(usage.memory.measured, ["RSS", "Cache", "Swap", "Usage"]);
        assert_eq!(usage.cpu.percent, 0.0);
        assert_eq!(measured(&stats(json!({"read": "0001-01-01T00:00:00Z"}))), None);
    }
}
