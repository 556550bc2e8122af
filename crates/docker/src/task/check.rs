//! What a task's `config` says that cannot be right on any node. What depends on the node is checked with its options
//! when the container is described.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use longshore_engine::Ulimit;

use super::config::TaskConfig;
use super::fields::{Fields, is_open};

/// Labels that only this driver sets.
const RESERVED_LABELS: [&str; 2] = ["com.hashicorp.nomad.", "longshore."];
const CPU_CFS_PERIOD_MAX: i64 = 1_000_000;
const OOM_SCORE_ADJ_MAX: i64 = 1_000;
/// What an entry of `extra_hosts` may have for an address: the engine's host.
const HOST_GATEWAY: &str = "host-gateway";
const ULIMITS: [&str; 15] = [
    "core",
    "cpu",
    "data",
    "fsize",
    "locks",
    "memlock",
    "msgqueue",
    "nice",
    "nofile",
    "nproc",
    "rss",
    "rtprio",
    "rttime",
    "sigpending",
    "stack",
];

pub(super) fn check(config: &TaskConfig, fields: &mut Fields) {
    of_command(config, fields);
    of_labels(config, fields);
    of_networks(config, fields);
    of_storage(config, fields);
    of_resources(config, fields);
    of_isolation(config, fields);
}

fn of_command(config: &TaskConfig, fields: &mut Fields) {
    if config.image.is_empty() {
        fields.problem("image", "is missing");
    }
    if let Some(command) = &config.command {
        if command.trim().is_empty() {
            fields.problem("command", "is blank");
        } else if command.trim() != command {
            fields.problem("command", format!("{command:?} begins or ends with white space"));
        }
    }
    let work_dir = &config.work_dir;
    if !work_dir.is_empty() && !work_dir.starts_with('/') && !is_open(work_dir) {
        fields.problem("work_dir", format!("{work_dir:?} is not an absolute path"));
    }
}

fn of_labels(config: &TaskConfig, fields: &mut Fields) {
    for key in config.labels.keys() {
        if let Some(prefix) = RESERVED_LABELS.iter().find(|prefix| key.to_lowercase().starts_with(*prefix)) {
            let why = format!(": {key:?} cannot be set, labels of {prefix}* are the driver's own");
            fields.problem_of_member("labels", key, &why);
        }
    }
}

fn of_networks(config: &TaskConfig, fields: &mut Fields) {
    let mut wrong = |key: &str, text: &str, is_right: bool, kind: &str| {
        if !text.is_empty() && !is_open(text) && !is_right {
            fields.problem(key, format!("{text:?} is not {kind}"));
        }
    };
    let (ipv4, ipv6) = (&config.ipv4_address, &config.ipv6_address);
    wrong("ipv4_address", ipv4, ipv4.parse::<Ipv4Addr>().is_ok(), "an IPv4 address");
    wrong("ipv6_address", ipv6, ipv6.parse::<Ipv6Addr>().is_ok(), "an IPv6 address");
    let mac = &config.mac_address;
    wrong("mac_address", mac, is_mac(mac), "a MAC address such as 02:42:ac:11:00:02");
    for (n, server) in config.dns_servers.iter().enumerate() {
        wrong(&format!("dns_servers[{n}]"), server, server.parse::<IpAddr>().is_ok(), "an IP address");
    }
    for (n, host) in config.extra_hosts.iter().enumerate() {
        wrong(&format!("extra_hosts[{n}]"), host, is_extra_host(host), "of the form host:address");
    }
}

fn is_mac(text: &str) -> bool {
    let parts: Vec<&str> = text.split([':', '-']).collect();
    parts.len() == 6 && parts.iter().all(|part| part.len() == 2 && part.chars().all(|digit| digit.is_ascii_hexdigit()))
}

fn is_extra_host(text: &str) -> bool {
    text.split_once(':').is_some_and(|(host, address)| {
        !host.is_empty() && (address == HOST_GATEWAY || address.parse::<IpAddr>().is_ok())
    })
}

fn of_storage(config: &TaskConfig, fields: &mut Fields) {
    for (n, volume) in config.volumes.iter().enumerate() {
        let mut parts = volume.split(':');
        let right = parts.next().is_some_and(|source| !source.is_empty())
            && parts.next().is_some_and(|target| target.starts_with('/') || is_open(target));
        if !right && !is_open(volume) {
            let form = "source:destination[:mode] with an absolute destination";
            fields.problem(&format!("volumes[{n}]"), format!("{volume:?} is not of the form {form}"));
        }
    }
}

fn of_resources(config: &TaskConfig, fields: &mut Fields) {
    if config.cpu_cfs_period.is_some_and(|period| !(0..=CPU_CFS_PERIOD_MAX).contains(&period)) {
        fields.problem("cpu_cfs_period", format!("must be between 0 and {CPU_CFS_PERIOD_MAX} microseconds"));
    }
    if config.oom_score_adj.is_some_and(|score| !(-OOM_SCORE_ADJ_MAX..=OOM_SCORE_ADJ_MAX).contains(&score)) {
        fields.problem("oom_score_adj", format!("must be between -{OOM_SCORE_ADJ_MAX} and {OOM_SCORE_ADJ_MAX}"));
    }
    let cpus = &config.cpuset_cpus;
    if !is_open(cpus) && !is_cpu_list(cpus) {
        fields.problem("cpuset_cpus", format!("{cpus:?} is not a list of processors such as 0-3 or 0,2"));
    }
    for (name, text) in &config.ulimit {
        if !is_open(text)
            && let Err(why) = ulimit(name, text)
        {
            fields.problem_of_member("ulimit", name, &format!(".{name}: {why}"));
        }
    }
}

fn is_cpu_list(text: &str) -> bool {
    let is_cpu = |text: &str| text.parse::<u16>().is_ok();
    text.is_empty()
        || text.split(',').all(|range| match range.split_once('-') {
            Some((first, last)) => is_cpu(first) && is_cpu(last),
            None => is_cpu(range),
        })
}

/// A limit of `config.ulimit`: `soft[:hard]`, −1 for none.
pub(super) fn ulimit(name: &str, text: &str) -> Result<Ulimit, String> {
    if !ULIMITS.contains(&name) {
        return Err(format!("there is no such limit; there are {}", ULIMITS.join(", ")));
    }
    let number = |text: &str| {
        text.parse::<i64>()
            .map_err(|_| format!("{text:?} is not a whole number (of the form soft[:hard], -1 for none)"))
    };
    let (soft, hard) = match text.split_once(':') {
        Some((soft, hard)) => (number(soft)?, number(hard)?),
        None => (number(text)?, number(text)?),
    };
    if hard != -1 && (soft == -1 || soft > hard) {
        return Err(format!("the soft limit {soft} is above the hard limit {hard}"));
    }
    Ok(Ulimit { name: name.to_owned(), soft, hard })
}

fn of_isolation(config: &TaskConfig, fields: &mut Fields) {
    let mut word = |key: &str, text: &str, words: &[&str]| {
        let is_container = |text: &str| text.strip_prefix("container:").is_some_and(|name| !name.is_empty());
        let right = words.iter().any(|word| *word == text || (*word == "container:<name>" && is_container(text)));
        if !text.is_empty() && !is_open(text) && !right {
            fields.wrong_word(key, text, words);
        }
    };
    word("cgroupns", &config.cgroupns, &["host", "private"]);
    word("ipc_mode", &config.ipc_mode, &["none", "private", "shareable", "host", "container:<name>"]);
    word("pid_mode", &config.pid_mode, &["host", "container:<name>"]);
    word("uts_mode", &config.uts_mode, &["host"]);
    word("userns_mode", &config.userns_mode, &["host"]);
    for (n, option) in config.security_opt.iter().enumerate() {
        let right = option == "no-new-privileges" || option.contains(['=', ':']);
        if !right && !is_open(option) {
            let what = format!("{option:?} is neither no-new-privileges nor of the form key=value");
            fields.problem(&format!("security_opt[{n}]"), what);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_ulimit(text: &str, expected: Result<(i64, i64), &str>) {
        let got = ulimit("nofile", text).map(|limit| (limit.soft, limit.hard));
        assert_eq!(got, expected.map_err(str::to_owned), "{text}");
    }

    #[test]
    fn limits_are_soft_and_hard() {
        check_ulimit("1024", Ok((1024, 1024)));
        check_ulimit("1024:2048", Ok((1024, 2048)));
        check_ulimit("1024:-1", Ok((1024, -1)));
        check_ulimit("-1", Ok((-1, -1)));
        check_ulimit("2048:1024", Err("the soft limit 2048 is above the hard limit 1024"));
        check_ulimit("-1:1024", Err("the soft limit -1 is above the hard limit 1024"));
        check_ulimit("", Err("\"\" is not a whole number (of the form soft[:hard], -1 for none)"));
        check_ulimit("1:2:3", Err("\"2:3\" is not a whole number (of the form soft[:hard], -1 for none)"));
        assert!(ulimit("files", "1").is_err());
    }

    #[test]
    fn forms_of_texts() {
        for (text, right) in [("0", true), ("0-3", true), ("0,2-3", true), ("x", false), ("0-", false), ("0,,1", false)]
        {
            assert_eq!(is_cpu_list(text), right, "{text}");
        }
        for (text, right) in
            [("02:42:ac:11:00:02", true), ("02-42-ac-11-00-02", true), ("02:42", false), ("+2:42:ac:11:00:02", false)]
        {
            assert_eq!(is_mac(text), right, "{text}");
        }
        for (text, right) in
            [("db:10.0.0.1", true), ("db:::1", true), ("db:host-gateway", true), ("db", false), (":10.0.0.1", false)]
        {
            assert_eq!(is_extra_host(text), right, "{text}");
        }
    }
}
