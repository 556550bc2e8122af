use std::collections::BTreeMap;

use longshore_driver::{ConfigFault, DriverError};
use longshore_engine::RegistryAuth;
use longshore_values::GoDuration;
use serde_json::Value;

use super::check::check;
use super::fields::Fields;
use super::mounts::{TaskDevice, TaskMount};
use crate::options::PullChoice;

/// A task's `config` block, decoded. `Debug` shows no password.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TaskConfig {
    /// As written, without a leading `https://`.
    pub image: String,
    pub image_pull_timeout: Option<GoDuration>,
    pub force_pull: bool,
    /// As the agent's setting, when it is not given.
    pub pull: Option<PullChoice>,
    /// An archive in the task's local folder to take the image from.
    pub load: Option<String>,
    pub auth: Option<RegistryAuth>,
    pub auth_soft_fail: bool,
    pub command: Option<String>,
    pub args: Vec<String>,
    pub entrypoint: Option<Vec<String>>,
    pub work_dir: String,
    pub init: bool,
    pub interactive: bool,
    pub tty: bool,
    pub labels: BTreeMap<String, String>,
    /// Whether the image's own health check is switched off.
    pub healthcheck_disabled: bool,
    pub network_mode: String,
    /// Further names in the network of `network_mode`.
    pub network_aliases: Vec<String>,
    pub ipv4_address: String,
    pub ipv6_address: String,
    pub mac_address: String,
    /// Whether the task's address, as others are told it, is its global IPv6 one.
    pub advertise_ipv6_address: bool,
    pub hostname: String,
    pub extra_hosts: Vec<String>,
    pub dns_servers: Vec<String>,
    pub dns_search_domains: Vec<String>,
    pub dns_options: Vec<String>,
    /// Labels of ports of the group.
    pub ports: Vec<String>,
    /// `source:destination[:mode]`.
    pub volumes: Vec<String>,
    pub volume_driver: String,
    /// Those of `mount`, then those of `mounts`.
    pub mounts: Vec<TaskMount>,
    pub devices: Vec<TaskDevice>,
    pub storage_opt: BTreeMap<String, String>,
    pub readonly_rootfs: bool,
    /// Bytes; 0 for the engine's own.
    pub shm_size: i64,
    pub cpu_hard_limit: bool,
    /// Microseconds.
    pub cpu_cfs_period: Option<i64>,
    /// Processors that the task may use: `0-3`, `0,2`.
    pub cpuset_cpus: String,
    /// MB; 0 for none.
    pub memory_hard_limit: i64,
    /// `None`: the node's.
    pub pids_limit: Option<i64>,
    /// `None`: the node's.
    pub oom_score_adj: Option<i64>,
    /// `soft[:hard]` by name.
    pub ulimit: BTreeMap<String, String>,
    pub cgroupns: String,
    pub privileged: bool,
    pub ipc_mode: String,
    pub pid_mode: String,
    pub uts_mode: String,
    pub userns_mode: String,
    pub security_opt: Vec<String>,
    pub runtime: String,
    pub cap_add: Vec<String>,
    pub cap_drop: Vec<String>,
    pub group_add: Vec<String>,
    pub sysctl: BTreeMap<String, String>,
    pub logging: Option<TaskLogging>,
    /// How often a taken container name is tried again; `None`: the node's.
    pub container_exists_attempts: Option<u32>,
}

/// The engine's own log of the container.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskLogging {
    pub kind: String,
    pub config: BTreeMap<String, String>,
}

/// Everything that stands against a task's `config`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the task's config cannot be used: {}", joined(.problems))]
pub struct BadTaskConfig {
    pub problems: Vec<ConfigFault>,
}

fn joined(problems: &[ConfigFault]) -> String {
    problems.iter().map(|problem| problem.message.as_str()).collect::<Vec<_>>().join("; ")
}

impl From<BadTaskConfig> for DriverError {
    fn from(bad: BadTaskConfig) -> Self {
        Self::fatal(bad.to_string()).with_config_faults(bad.problems)
    }
}

/// A text that is filled in at the start only may come to be one of the words.
fn read_pull(fields: &mut Fields) -> Option<PullChoice> {
    let word = fields.string("pull").filter(|word| !word.is_empty())?;
    let choice = word.parse().ok();
    if choice.is_none() && !word.contains("${") {
        fields.wrong_word("pull", &word, &PullChoice::WORDS);
    }
    choice
}

impl TaskConfig {
    /// Decodes strictly: unknown keys, wrong kinds and options that nothing acts on are refused, by name.
    pub fn decode(config: &Value) -> Result<Self, BadTaskConfig> {
        let mut fields = Fields::new(config);
        let decoded = Self::read(&mut fields);
        check(&decoded, &mut fields);
        match fields.finish() {
            problems if problems.is_empty() => Ok(decoded),
            problems => Err(BadTaskConfig { problems }),
        }
    }

    pub(super) fn read(fields: &mut Fields) -> Self {
        let image = fields.string("image").unwrap_or_default();
        let text = |fields: &mut Fields, key: &str| fields.string(key).unwrap_or_default();
        let texts = |fields: &mut Fields, key: &str| fields.strings(key).unwrap_or_default();
        let mut mounts = fields.blocks("mount", TaskMount::read);
        mounts.extend(fields.blocks("mounts", TaskMount::read));
        let attempts = fields.integer_from("container_exists_attempts", 0);
        fields.refuse("port_map", "is for ports of the task's resources, which are no more: name the group's ports in config.ports, each with its own `to`");
        fields.refuse("isolation", "is for containers of Windows only");
        Self {
            image: image.strip_prefix("https://").unwrap_or(&image).to_owned(),
            image_pull_timeout: fields.duration("image_pull_timeout"),
            force_pull: fields.bool("force_pull"),
            pull: read_pull(fields),
            load: fields.string("load").filter(|path| !path.is_empty()),
            auth: fields.block("auth", read_auth).filter(|auth| !auth.is_empty() || !auth.server_address.is_empty()),
            auth_soft_fail: fields.bool("auth_soft_fail"),
            command: fields.string("command"),
            args: texts(fields, "args"),
            entrypoint: fields.strings("entrypoint"),
            work_dir: text(fields, "work_dir"),
            init: fields.bool("init"),
            interactive: fields.bool("interactive"),
            tty: fields.bool("tty"),
            labels: fields.map("labels"),
            healthcheck_disabled: fields.block("healthchecks", |block| block.bool("disable")).unwrap_or(false),
            network_mode: text(fields, "network_mode"),
            network_aliases: texts(fields, "network_aliases"),
            ipv4_address: text(fields, "ipv4_address"),
            ipv6_address: text(fields, "ipv6_address"),
            mac_address: text(fields, "mac_address"),
            advertise_ipv6_address: fields.bool("advertise_ipv6_address"),
            hostname: text(fields, "hostname"),
            extra_hosts: texts(fields, "extra_hosts"),
            dns_servers: texts(fields, "dns_servers"),
            dns_search_domains: texts(fields, "dns_search_domains"),
            dns_options: texts(fields, "dns_options"),
            ports: texts(fields, "ports"),
            volumes: texts(fields, "volumes"),
            volume_driver: text(fields, "volume_driver"),
            mounts,
            devices: fields.blocks("devices", TaskDevice::read),
            storage_opt: fields.map("storage_opt"),
            readonly_rootfs: fields.bool("readonly_rootfs"),
            shm_size: fields.integer_from("shm_size", 0).unwrap_or(0),
            cpu_hard_limit: fields.bool("cpu_hard_limit"),
            cpu_cfs_period: fields.integer("cpu_cfs_period"),
            cpuset_cpus: text(fields, "cpuset_cpus"),
            memory_hard_limit: fields.integer_from("memory_hard_limit", 0).unwrap_or(0),
            pids_limit: fields.integer("pids_limit"),
            oom_score_adj: fields.integer("oom_score_adj"),
            ulimit: fields.map("ulimit"),
            cgroupns: text(fields, "cgroupns"),
            privileged: fields.bool("privileged"),
            ipc_mode: text(fields, "ipc_mode"),
            pid_mode: text(fields, "pid_mode"),
            uts_mode: text(fields, "uts_mode"),
            userns_mode: text(fields, "userns_mode"),
            security_opt: texts(fields, "security_opt"),
            runtime: text(fields, "runtime"),
            cap_add: texts(fields, "cap_add"),
            cap_drop: texts(fields, "cap_drop"),
            group_add: texts(fields, "group_add"),
            sysctl: fields.map("sysctl"),
            logging: fields.block("logging", read_logging),
            container_exists_attempts: attempts.map(|attempts| u32::try_from(attempts).unwrap_or(u32::MAX)),
        }
    }
}

fn read_auth(fields: &mut Fields) -> RegistryAuth {
    // The engine has had no use for an address of mail for years; job files still carry it.
    let _ = fields.string("email");
    RegistryAuth {
        username: fields.string("username").unwrap_or_default(),
        password: fields.secret("password"),
        server_address: fields.string("server_address").unwrap_or_default(),
        ..RegistryAuth::default()
    }
}

fn read_logging(fields: &mut Fields) -> TaskLogging {
    let driver = fields.string("driver");
    TaskLogging {
        kind: fields.string("type").filter(|kind| !kind.is_empty()).or(driver).unwrap_or_default(),
        config: fields.map("config"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn refused(config: Value, expected: &str) {
        let got = match TaskConfig::decode(&config) {
            Ok(_) => "good".to_owned(),
            Err(why) => joined(&why.problems),
        };
        assert_eq!(got, expected, "{config}");
    }

    #[test]
    fn strict_but_not_narrow() {
        refused(json!({"image": "redis:7"}), "good");
        refused(json!({"image": "redis:7", "ports": [], "mount": []}), "good");
        refused(json!({"image": "redis:7", "force_pull": "true", "shm_size": "64"}), "good");
        refused(json!({"image": "${meta.image}", "force_pull": "${meta.force}", "shm_size": "${meta.size}"}), "good");
        refused(json!({"image": "redis:7", "pull": "changed"}), "good");
        refused(json!({"image": "redis:7", "pull": "${meta.pull}"}), "good");
        refused(
            json!({"image": "a", "pull": "never"}),
            "config.pull takes one of missing, changed, always, not \"never\"",
        );
        refused(json!(null), "config.image is missing");
        refused(json!([]), "config takes a block, not a list; config.image is missing");
        refused(json!({"image": "a", "comand": "x"}), "config has no key \"comand\"; did you mean \"command\"?");
        refused(json!({"image": "a", "command": " x"}), "config.command \" x\" begins or ends with white space");
        refused(json!({"image": "a", "args": "x"}), "config.args takes a list of texts, not a text");
        refused(json!({"image": "a", "args": [["x"]]}), "config.args takes texts as its elements");
        refused(json!({"image": "a", "tty": "yes"}), "config.tty takes true or false, not a text");
        refused(
            json!({"image": "a", "volumes": ["/data"]}),
            "config.volumes[0] \"/data\" is not of the form source:destination[:mode] with an absolute destination",
        );
        refused(
            json!({"image": "a", "cpu_cfs_period": 2_000_000}),
            "config.cpu_cfs_period must be between 0 and 1000000 microseconds",
        );
        refused(
            json!({"image": "a", "image_pull_timeout": "0s"}),
            "config.image_pull_timeout must be longer than 0, not 0s",
        );
        refused(
            json!({"image": "a", "labels": {"longshore.task": "x"}}),
            "config.labels: \"longshore.task\" cannot be set, labels of longshore.* are the driver's own",
        );
        refused(
            json!({"image": "a", "auth": [{"username": "u"}, {"username": "v"}]}),
            "config.auth may be given once, not 2 times",
        );
        refused(json!({"image": "a", "auth": {"user": "u"}}), "config.auth has no key \"user\"");
        refused(json!({"image": "a", "load": "web\0.tar"}), "config.load holds a NUL byte");
        refused(
            json!({"image": "a", "args": ["-c", "x\0"], "labels": [{"a\0": 1}], "volumes": ["/a\0:/b"]}),
            "config.args holds a NUL byte; config.labels holds a NUL byte; config.volumes holds a NUL byte",
        );
        refused(
            json!({"image": "a\0", "auth": {"password": "x\0"}}),
            "config.image holds a NUL byte; config.auth holds a NUL byte; config.image is missing",
        );
    }

    #[test]
    fn problems_have_their_path() {
        #[track_caller]
        fn check(config: Value, expected: &[&[&str]]) {
            let problems = TaskConfig::decode(&config).unwrap_err().problems;
            let paths: Vec<&[String]> = problems.iter().map(|problem| problem.path.as_slice()).collect();
            assert_eq!(paths, expected, "{config}");
        }
        check(json!({}), &[&["image"]]);
        check(json!({"image": "a", "comand": "x"}), &[&["comand"]]);
        check(json!({"image": "a", "volumes": ["/a:/b", "/data"]}), &[&["volumes[1]"]]);
        check(json!({"image": "a", "labels": [{"longshore.task": "x"}]}), &[&["labels", "longshore.task"]]);
        check(json!({"image": "a", "labels": {"x.y": ["z"]}}), &[&["labels", "x.y"]]);
        check(json!({"image": "a", "ulimit": {"x.y": "1"}}), &[&["ulimit", "x.y"]]);
        check(json!({"image": "a", "auth": [{"username": "u"}, {"username": "v"}]}), &[&["auth[1]"]]);
        check(json!({"image": "a", "auth": {"user": "u"}}), &[&["auth", "user"]]);
        check(
            json!({"image": "a", "mount": [{"target": "/a"}, {"target": "b", "bind_options": {"propagation": "x"}}]}),
            &[&["mount[1]", "bind_options", "propagation"], &["mount[1]", "target"], &["mount[1]", "bind_options"]],
        );
    }

    #[test]
    fn blocks_come_as_objects_or_as_lists_of_them() {
        let as_list = json!({
            "image": "https://reg.example/a:1",
            "auth": [{"username": "ann", "password": "pw", "email": "a@b"}],
            "labels": [{"a": "1"}, {"b": 2}],
            "logging": [{"driver": "local", "config": [{"max-size": "1m"}]}],
        });
        let as_object = json!({
            "image": "reg.example/a:1",
            "auth": {"username": "ann", "password": "pw"},
            "labels": {"a": "1", "b": "2"},
            "logging": {"type": "local", "driver": "x", "config": {"max-size": "1m"}},
        });
        let config = TaskConfig::decode(&as_list).unwrap();
        assert_eq!(config, TaskConfig::decode(&as_object).unwrap());
        assert!(!format!("{config:?}").contains("pw"));
        assert_eq!(TaskConfig::decode(&json!({"image": "a", "auth": {}})).unwrap().auth, None);
    }

    #[test]
    fn the_reference_has_every_key_and_no_other() {
        let everything = json!({
            "auth": {}, "healthchecks": {}, "logging": {}, "devices": [{}],
            "mount": [{"bind_options": {}, "tmpfs_options": {}, "volume_options": {"driver_config": {}}}],
        });
        let mut fields = Fields::new(&everything);
        TaskConfig::read(&mut fields);
        let told: std::collections::BTreeSet<String> =
            crate::TASK_OPTIONS.iter().map(|row| row.key.to_owned()).collect();
        assert_eq!(*fields.asked(), told);
    }
}
