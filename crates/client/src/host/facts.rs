//! Looks at the machine. What cannot be read is left out.

use std::collections::BTreeMap;
use std::fs;
use std::net::IpAddr;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use longshore_model::NodeNetwork;
use nix::ifaddrs::getifaddrs;
use nix::sys::stat::{major, minor};
use nix::sys::statvfs::statvfs;

/// Signals that tasks can be sent, by name.
const SIGNALS: &str = "SIGABRT,SIGALRM,SIGBUS,SIGCHLD,SIGCONT,SIGFPE,SIGHUP,SIGILL,SIGINT,SIGIO,SIGIOT,SIGKILL,SIGPIPE,\
SIGPROF,SIGQUIT,SIGSEGV,SIGSTOP,SIGSYS,SIGTERM,SIGTRAP,SIGTSTP,SIGTTIN,SIGTTOU,SIGURG,SIGUSR1,SIGUSR2,SIGWINCH,SIGXCPU,\
SIGXFSZ";

const NETWORK_SPEED_DEFAULT_MBITS: u32 = 1000;

fn read(path: &str) -> String {
    fs::read_to_string(path).map(|text| text.trim().to_owned()).unwrap_or_default()
}

fn set(attributes: &mut BTreeMap<String, String>, name: &str, value: impl Into<String>) {
    let value = value.into();
    if !value.is_empty() {
        attributes.insert(name.to_owned(), value);
    }
}

pub(crate) fn system(attributes: &mut BTreeMap<String, String>) {
    set(attributes, "kernel.name", "linux");
    set(attributes, "kernel.version", read("/proc/sys/kernel/osrelease"));
    set(attributes, "kernel.arch", std::env::consts::ARCH);
    set(attributes, "unique.hostname", read("/proc/sys/kernel/hostname"));
    set(attributes, "os.signals", SIGNALS);
    let release = read("/etc/os-release");
    let field = |name: &str| {
        let line = release.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
        line.unwrap_or_default().trim_matches('"').to_owned()
    };
    let name = field("ID");
    let debian = if name == "debian" { read("/etc/debian_version") } else { String::new() };
    set(attributes, "os.version", if debian.is_empty() { field("VERSION_ID") } else { debian });
    set(attributes, "os.name", name);
    cgroups(attributes);
}

fn cgroups(attributes: &mut BTreeMap<String, String>) {
    if Path::new("/sys/fs/cgroup/cgroup.controllers").exists() {
        set(attributes, "unique.cgroup.version", "v2");
        set(attributes, "unique.cgroup.mountpoint", "/sys/fs/cgroup");
    } else if Path::new("/sys/fs/cgroup/cpu").exists() {
        set(attributes, "unique.cgroup.version", "v1");
        set(attributes, "unique.cgroup.mountpoint", "/sys/fs/cgroup");
    }
}

/// The processor's attributes; the sum of its cores in MHz.
pub(crate) fn processor(attributes: &mut BTreeMap<String, String>, configured_mhz: i64) -> i64 {
    let info = read("/proc/cpuinfo");
    let field = |name: &str| {
        info.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            (key.trim() == name).then(|| value.trim().to_owned())
        })
    };
    let listed = info.lines().filter(|line| line.starts_with("processor")).count();
    let cores = i64::try_from(listed.max(1)).unwrap_or(1);
    let khz = ["base_frequency", "cpuinfo_max_freq"]
        .iter()
        .find_map(|name| read(&format!("/sys/devices/system/cpu/cpu0/cpufreq/{name}")).parse::<i64>().ok());
    let measured = field("cpu MHz").and_then(|text| text.parse::<f64>().ok()).map(|mhz| mhz as i64);
    let mhz = khz.map(|khz| khz / 1000).or(measured).filter(|mhz| *mhz > 0).unwrap_or(1000);
    let total = if configured_mhz > 0 { configured_mhz } else { cores * mhz };
    let arch = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    set(attributes, "cpu.arch", arch);
    set(attributes, "cpu.modelname", field("model name").unwrap_or_default());
    set(attributes, "cpu.numcores", cores.to_string());
    set(attributes, "cpu.reservablecores", cores.to_string());
    set(attributes, "cpu.frequency", mhz.to_string());
    set(attributes, "cpu.totalcompute", total.to_string());
    total
}

/// Memory in MB.
pub(crate) fn memory(attributes: &mut BTreeMap<String, String>, configured_mb: i64) -> i64 {
    let total = memory_field(&read("/proc/meminfo"), "MemTotal");
    set(attributes, "memory.totalbytes", total.to_string());
    if configured_mb > 0 { configured_mb } else { i64::try_from(total >> 20).unwrap_or(i64::MAX) }
}

/// A line of `/proc/meminfo`, in bytes.
pub(crate) fn memory_field(text: &str, name: &str) -> u64 {
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    let kib = line.and_then(|rest| rest.trim().strip_suffix("kB")).and_then(|text| text.trim().parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}

/// Disk for tasks in MB: what is free where allocations live.
pub(crate) fn storage(
    attributes: &mut BTreeMap<String, String>,
    folder: &Path,
    configured_total_mb: i64,
    configured_free_mb: i64,
) -> i64 {
    let Ok(found) = statvfs(folder) else { return configured_free_mb };
    let unit = found.fragment_size();
    let bytes = |configured_mb: i64, blocks: u64| match u64::try_from(configured_mb) {
        Ok(megabytes) if megabytes > 0 => megabytes << 20,
        _ => blocks.saturating_mul(unit),
    };
    let total = bytes(configured_total_mb, found.blocks());
    let free = bytes(configured_free_mb, found.blocks_available());
    set(attributes, "unique.storage.volume", mounted_device(folder));
    set(attributes, "unique.storage.bytestotal", total.to_string());
    set(attributes, "unique.storage.bytesfree", free.to_string());
    i64::try_from(free >> 20).unwrap_or(i64::MAX)
}

/// The device of the file system that a folder is on.
pub(crate) fn mounted_device(folder: &Path) -> String {
    // First without the list of mounts, which is long on a machine with many containers, and slow to read then.
    block_device(folder).unwrap_or_else(|| listed_device(folder))
}

/// `None` for what lies on no block device of its own: memory, overlays, file systems over several devices.
fn block_device(folder: &Path) -> Option<String> {
    let device = fs::metadata(folder).ok()?.dev();
    let at = format!("/sys/dev/block/{}:{}", major(device), minor(device));
    let mapped = read(&format!("{at}/dm/name"));
    if !mapped.is_empty() {
        return Some(format!("/dev/mapper/{mapped}"));
    }
    let facts = read(&format!("{at}/uevent"));
    facts.lines().find_map(|line| line.strip_prefix("DEVNAME=")).map(|name| format!("/dev/{name}"))
}

fn listed_device(folder: &Path) -> String {
    let folder = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    let mounts = read("/proc/self/mounts");
    let found = mounts
        .lines()
        .filter_map(|line| {
            let mut fields = line.split(' ');
            Some((fields.next()?, Path::new(fields.next()?)))
        })
        .filter(|(_, at)| folder.starts_with(at))
        .max_by_key(|(_, at)| at.components().count());
    found.map(|(device, _)| device.to_owned()).unwrap_or_default()
}

/// The addresses that tasks can be reached at.
pub(crate) fn network(
    attributes: &mut BTreeMap<String, String>,
    interface: &str,
    configured_mbits: u32,
) -> Vec<NodeNetwork> {
    let device = if interface.is_empty() { default_interface() } else { interface.to_owned() };
    let mut addresses: Vec<IpAddr> = Vec::new();
    for entry in getifaddrs().into_iter().flatten().filter(|entry| entry.interface_name == device) {
        let address = entry.address.as_ref().and_then(|address| {
            let v4 = address.as_sockaddr_in().map(|found| IpAddr::V4(found.ip()));
            v4.or_else(|| address.as_sockaddr_in6().map(|found| IpAddr::V6(found.ip())))
        });
        // An address that means something only together with its interface is of no use to others.
        addresses.extend(address.filter(|ip| !matches!(ip, IpAddr::V6(v6) if v6.is_unicast_link_local())));
    }
    addresses.sort_by_key(IpAddr::is_ipv6);
    if let Some(first) = addresses.first() {
        set(attributes, "unique.network.ip-address", first.to_string());
    }
    let measured = read(&format!("/sys/class/net/{device}/speed")).parse().ok().filter(|mbits| *mbits > 0);
    let speed_mbits =
        if configured_mbits > 0 { configured_mbits } else { measured.unwrap_or(NETWORK_SPEED_DEFAULT_MBITS) };
    addresses
        .into_iter()
        .map(|ip| NodeNetwork {
            mode: "host".to_owned(),
            device: device.clone(),
            ip: ip.to_string(),
            cidr: format!("{ip}/{}", if ip.is_ipv4() { 32 } else { 128 }),
            speed_mbits,
        })
        .collect()
}

/// The interface of the default route; the loopback one on a machine without.
fn default_interface() -> String {
    let routes = read("/proc/net/route");
    let default = routes.lines().skip(1).find_map(|line| {
        let mut fields = line.split_whitespace();
        let device = fields.next()?;
        (fields.next()? == "00000000").then(|| device.to_owned())
    });
    default.unwrap_or_else(|| "lo".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_has_something_of_everything() {
        let mut attributes = BTreeMap::new();
        system(&mut attributes);
        assert!(processor(&mut attributes, 0) > 0);
        assert!(memory(&mut attributes, 0) > 0);
        assert!(storage(&mut attributes, Path::new("/"), 0, 0) >= 0);
        let networks = network(&mut attributes, "lo", 0);
        assert_eq!(networks[0].ip, "127.0.0.1");
        assert_eq!(networks[0].cidr, "127.0.0.1/32");
        for name in ["kernel.name", "kernel.version", "cpu.arch", "memory.totalbytes", "unique.storage.bytesfree"] {
            assert!(attributes.contains_key(name), "{name}: {attributes:?}");
        }
    }

    #[test]
    fn configured_sizes_hold() {
        let mut attributes = BTreeMap::new();
        assert_eq!(processor(&mut attributes, 9000), 9000);
        assert_eq!(memory(&mut attributes, 2048), 2048);
        assert_eq!(storage(&mut attributes, Path::new("/"), 900, 700), 700);
        assert_eq!(attributes["cpu.totalcompute"], "9000");
        assert_eq!(attributes["unique.storage.bytesfree"], (700_u64 << 20).to_string());
    }

    #[test]
    fn devices_of_folders() {
        assert_eq!(mounted_device(Path::new("/proc")), "proc");
        let found = block_device(Path::new("/"));
        assert!(found.as_ref().is_none_or(|device| Path::new(device).exists()), "{found:?}");
        assert_ne!(listed_device(Path::new("/")), "");
    }

    #[test]
    fn lines_of_meminfo() {
        let text = "MemTotal:       24684092 kB\nMemFree:        20038580 kB";
        assert_eq!(memory_field(text, "MemFree"), 20_038_580 * 1024);
        assert_eq!(memory_field(text, "Mem"), 0);
        assert_eq!(memory_field("", "MemTotal"), 0);
    }
}
