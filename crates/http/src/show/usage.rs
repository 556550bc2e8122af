use std::collections::BTreeMap;

use longshore_api::{AllocResourceUsage, ResourceUsage, TaskCpuStats, TaskMemoryStats, TaskResourceUsage};
use longshore_client::MeasuredTask;

/// What tasks use, and the sum of it.
pub(crate) fn usage(tasks: &BTreeMap<String, MeasuredTask>) -> AllocResourceUsage {
    let (mut memory, mut cpu, mut timestamp) = (TaskMemoryStats::default(), TaskCpuStats::default(), 0);
    let mut shown = BTreeMap::new();
    for (name, task) in tasks {
        let one = of_task(task);
        if let (Some(of_memory), Some(of_cpu)) = (&one.memory_stats, &one.cpu_stats) {
            add(&mut memory, of_memory);
            cpu.system_mode += of_cpu.system_mode;
            cpu.user_mode += of_cpu.user_mode;
            cpu.total_ticks += of_cpu.total_ticks;
            cpu.throttled_periods += of_cpu.throttled_periods;
            cpu.throttled_time += of_cpu.throttled_time;
            cpu.percent += of_cpu.percent;
            cpu.measured.clone_from(&of_cpu.measured);
        }
        let at = task.usage.measured_at.as_nanoseconds();
        timestamp = timestamp.max(at);
        shown.insert(name.clone(), TaskResourceUsage { resource_usage: Some(one), timestamp: at, pids: None });
    }
    let sum = ResourceUsage { memory_stats: Some(memory), cpu_stats: Some(cpu), device_stats: Some(Vec::new()) };
    AllocResourceUsage { resource_usage: Some(sum), tasks: shown, timestamp }
}

fn add(sum: &mut TaskMemoryStats, one: &TaskMemoryStats) {
    sum.rss += one.rss;
    sum.cache += one.cache;
    sum.swap += one.swap;
    sum.mapped_file += one.mapped_file;
    sum.usage += one.usage;
    sum.max_usage += one.max_usage;
    sum.measured.clone_from(&one.measured);
}

fn of_task(task: &MeasuredTask) -> ResourceUsage {
    let (memory, cpu) = (&task.usage.memory, &task.usage.cpu);
    let names = |measured: &[&str]| Some(measured.iter().map(|name| (*name).to_owned()).collect());
    ResourceUsage {
        memory_stats: Some(TaskMemoryStats {
            rss: memory.rss,
            cache: memory.cache,
            swap: memory.swap,
            mapped_file: memory.mapped_file,
            usage: memory.usage,
            max_usage: memory.max_usage,
            measured: names(&memory.measured),
            ..TaskMemoryStats::default()
        }),
        cpu_stats: Some(TaskCpuStats {
            system_mode: cpu.system_percent,
            user_mode: cpu.user_percent,
            total_ticks: task.cpu_mhz,
            throttled_periods: cpu.throttled_periods,
            throttled_time: cpu.throttled_time,
            percent: cpu.percent,
            measured: names(&cpu.measured),
        }),
        device_stats: None,
    }
}

#[cfg(test)]
mod tests {
    use longshore_driver::{CpuUsage, MemoryUsage, TaskUsage};
    use longshore_model::Timestamp;

    use super::*;

    #[test]
    fn the_whole_is_the_sum() {
        let task = |second, rss, percent| MeasuredTask {
            usage: TaskUsage {
                measured_at: Timestamp::from_seconds(second),
                memory: MemoryUsage { rss, measured: vec!["RSS"], ..MemoryUsage::default() },
                cpu: CpuUsage { percent, measured: vec!["Percent"], ..CpuUsage::default() },
            },
            cpu_mhz: percent * 20.0,
        };
        let tasks = [("a".to_owned(), task(1, 10, 0.5)), ("b".to_owned(), task(2, 30, 1.5))];
        let shown = usage(&tasks.into_iter().collect());
        let sum = shown.resource_usage.unwrap();
        let (memory, cpu) = (sum.memory_stats.unwrap(), sum.cpu_stats.unwrap());
        assert_eq!((memory.rss, cpu.percent, cpu.total_ticks), (40, 2.0, 40.0));
        assert_eq!((memory.measured, cpu.measured), (Some(vec!["RSS".to_owned()]), Some(vec!["Percent".to_owned()])));
        assert_eq!(shown.timestamp, 2_000_000_000);
        assert_eq!(shown.tasks["a"].timestamp, 1_000_000_000);
        assert_eq!((&shown.tasks["a"].pids, &sum.device_stats), (&None, &Some(Vec::new())));
    }
}
