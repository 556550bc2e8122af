//! What tasks use, as `alloc status -stats` shows it.

use longshore_api::{AllocResourceUsage, ResourceUsage};

use crate::table::table_with_blanks;
use crate::view::bytes;

/// What was measured of one task.
pub(crate) fn of_task<'a>(usage: Option<&'a AllocResourceUsage>, task: &str) -> Option<&'a ResourceUsage> {
    usage?.tasks.get(task)?.resource_usage.as_ref()
}

/// `12/50`: MHz of those that were asked for.
pub(crate) fn cpu(usage: Option<&ResourceUsage>, asked_mhz: i64) -> String {
    match usage.and_then(|usage| usage.cpu_stats.as_ref()) {
        Some(cpu) => format!("{:.0}/{asked_mhz} MHz", cpu.total_ticks.floor()),
        None => format!("{asked_mhz} MHz"),
    }
}

/// `48 KiB/32 MiB`: of what was asked for.
pub(crate) fn memory(usage: Option<&ResourceUsage>, asked: String) -> String {
    match usage.and_then(|usage| usage.memory_stats.as_ref()) {
        Some(memory) => format!("{}/{asked}", bytes(if memory.rss > 0 { memory.rss } else { memory.usage })),
        None => asked,
    }
}

/// A table of one row for memory, and one for the processor.
pub(crate) fn tables(usage: &ResourceUsage) -> Vec<String> {
    let mut tables = Vec::new();
    if let Some(memory) = &usage.memory_stats {
        let values = [
            ("Cache", memory.cache),
            ("Kernel Max Usage", memory.kernel_max_usage),
            ("Kernel Usage", memory.kernel_usage),
            ("Mapped File", memory.mapped_file),
            ("Max Usage", memory.max_usage),
            ("RSS", memory.rss),
            ("Swap", memory.swap),
            ("Usage", memory.usage),
        ];
        let row = values.map(|(name, value)| (name, bytes(value)));
        tables.extend(one_row("Memory Stats", &row, memory.measured.as_deref()));
    }
    if let Some(cpu) = &usage.cpu_stats {
        let row = [
            ("Percent", format!("{:.2}%", cpu.percent)),
            ("System Mode", format!("{:.2}%", cpu.system_mode)),
            ("Throttled Periods", cpu.throttled_periods.to_string()),
            ("Throttled Time", cpu.throttled_time.to_string()),
            ("User Mode", format!("{:.2}%", cpu.user_mode)),
        ];
        tables.extend(one_row("CPU Stats", &row, cpu.measured.as_deref()));
    }
    tables
}

fn one_row(title: &str, values: &[(&str, String)], measured: Option<&[String]>) -> Option<String> {
    let measured = measured?;
    let known = values.iter().filter(|(name, _)| measured.iter().any(|one| one == name));
    let (head, row): (Vec<String>, Vec<String>) =
        known.map(|(name, value)| ((*name).to_owned(), value.clone())).unzip();
    (!head.is_empty()).then(|| format!("{title}\n{}", table_with_blanks(&[head, row])))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_was_measured_and_nothing_else() {
        let usage: ResourceUsage = serde_json::from_value(json!({
            "CpuStats": {"Measured": ["Throttled Periods", "Throttled Time", "Percent"], "Percent": 0.004, "TotalTicks": 12.9},
            "MemoryStats": {"Measured": ["RSS", "Cache", "Swap", "Usage", "Max Usage"], "MaxUsage": 3821568, "RSS": 49152, "Usage": 331776},
        }))
        .unwrap();
        insta::assert_snapshot!(tables(&usage).join("\n\n"), @"
        Memory Stats
        Cache  Max Usage  RSS     Swap  Usage
        0 B    3.6 MiB    48 KiB  0 B   324 KiB

        CPU Stats
        Percent  Throttled Periods  Throttled Time
        0.00%    0                  0
        ");
        assert_eq!(cpu(Some(&usage), 50), "12/50 MHz");
        assert_eq!(memory(Some(&usage), "32 MiB".to_owned()), "48 KiB/32 MiB");
        assert_eq!((cpu(None, 50), memory(None, "32 MiB".to_owned())), ("50 MHz".to_owned(), "32 MiB".to_owned()));
        assert!(tables(&ResourceUsage::default()).is_empty());
    }
}
