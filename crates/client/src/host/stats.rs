//! How busy the machine is.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use longshore_model::Timestamp;
use nix::sys::statvfs::statvfs;

use super::facts::{memory_field, mounted_device};

/// One look at the machine.
#[derive(Debug, Clone, PartialEq)]
pub struct HostStats {
    pub at: Timestamp,
    /// Seconds since the machine started.
    pub uptime_seconds: u64,
    pub memory: MemoryStats,
    pub cpus: Vec<CpuStats>,
    /// The file system that allocations live on.
    pub alloc_dir: DiskStats,
    /// Every file system of a block device, each device once, at its first mount point.
    pub disks: Vec<DiskStats>,
}

/// All in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MemoryStats {
    pub total: u64,
    pub available: u64,
    pub used: u64,
    pub free: u64,
}

/// Shares of one processor's time since the machine started, in percent.
#[derive(Debug, Clone, PartialEq)]
pub struct CpuStats {
    pub name: String,
    pub user: f64,
    pub system: f64,
    pub idle: f64,
}

/// Sizes in bytes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DiskStats {
    pub device: String,
    pub mount_point: String,
    pub size: u64,
    pub used: u64,
    pub available: u64,
    pub used_percent: f64,
    pub inodes_used_percent: f64,
}

/// What cannot be read is zero.
pub(crate) fn read(alloc_dir: &Path, now: Timestamp) -> HostStats {
    let text = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let uptime = text("/proc/uptime");
    let uptime_seconds = uptime.split('.').next().and_then(|seconds| seconds.trim().parse().ok()).unwrap_or(0);
    HostStats {
        at: now,
        uptime_seconds,
        memory: memory(&text("/proc/meminfo")),
        cpus: text("/proc/stat").lines().filter_map(processor).collect(),
        alloc_dir: disk(alloc_dir, mounted_device(alloc_dir), String::new()),
        disks: mounts(&text("/proc/self/mounts"))
            .map(|(device, at)| disk(Path::new(&at), device, at.clone()))
            .collect(),
    }
}

fn memory(text: &str) -> MemoryStats {
    let field = |name| memory_field(text, name);
    let (total, free) = (field("MemTotal"), field("MemFree"));
    let used = total.saturating_sub(free + field("Buffers") + field("Cached") + field("SReclaimable"));
    MemoryStats { total, available: field("MemAvailable"), used, free }
}

/// A line `cpu0 user nice system idle iowait irq softirq …` of `/proc/stat`.
fn processor(line: &str) -> Option<CpuStats> {
    let mut fields = line.split_whitespace();
    let name = fields.next().filter(|name| name.len() > 3 && name.starts_with("cpu"))?;
    let ticks: Vec<f64> = fields.filter_map(|field| field.parse().ok()).collect();
    let total: f64 = ticks.iter().sum();
    let share = |at: &[usize]| {
        let sum: f64 = at.iter().filter_map(|at| ticks.get(*at)).sum();
        if total > 0.0 { sum * 100.0 / total } else { 0.0 }
    };
    Some(CpuStats { name: name.to_owned(), user: share(&[0, 1]), system: share(&[2, 5, 6]), idle: share(&[3, 4]) })
}

/// Device and first mount point of what lies on block devices: a machine with containers has many mounts of a few.
fn mounts(text: &str) -> impl Iterator<Item = (String, String)> {
    let mut seen = BTreeSet::new();
    text.lines().filter_map(move |line| {
        let mut fields = line.split(' ');
        let (device, at) = (fields.next()?, fields.next()?);
        let is_disk = device.starts_with("/dev/") && seen.insert(device.to_owned());
        // Blanks in names are written so.
        is_disk.then(|| (device.to_owned(), at.replace("\\040", " ")))
    })
}

fn disk(folder: &Path, device: String, mount_point: String) -> DiskStats {
    let Ok(found) = statvfs(folder) else {
        return DiskStats { device, mount_point, ..DiskStats::default() };
    };
    let unit = found.fragment_size();
    let size = found.blocks().saturating_mul(unit);
    let available = found.blocks_available().saturating_mul(unit);
    let used = size.saturating_sub(found.blocks_free().saturating_mul(unit));
    let percent = |part: u64, whole: u64| if whole > 0 { part as f64 * 100.0 / whole as f64 } else { 0.0 };
    DiskStats {
        device,
        mount_point,
        size,
        used,
        available,
        used_percent: percent(used, used + available),
        inodes_used_percent: percent(found.files().saturating_sub(found.files_free()), found.files()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_at_this_machine() {
        let stats = read(Path::new("/"), Timestamp::from_seconds(1));
        assert!(stats.uptime_seconds > 0);
        assert!(stats.memory.total >= stats.memory.used);
        assert!(!stats.cpus.is_empty());
        assert!(stats.alloc_dir.size > 0);
    }

    #[test]
    fn each_disk_is_listed_once() {
        let text = "proc /proc proc rw 0 0\n/dev/sda1 / ext4 rw 0 0\n/dev/sdb1 /my\\040disk xfs rw 0 0\n\
                    /dev/sda1 /var/lib/docker ext4 rw 0 0\noverlay /x overlay rw 0 0\n";
        let found: Vec<_> = mounts(text).map(|(device, at)| format!("{device} at {at}")).collect();
        assert_eq!(found, ["/dev/sda1 at /", "/dev/sdb1 at /my disk"]);
    }

    #[test]
    fn lines_of_proc_stat() {
        assert_eq!(processor("cpu 1 2 3 4"), None);
        assert_eq!(processor("intr 1"), None);
        let found = CpuStats { name: "cpu0".to_owned(), user: 30.0, system: 10.0, idle: 60.0 };
        assert_eq!(processor("cpu0 20 10 10 50 10 0 0 0"), Some(found));
    }
}
