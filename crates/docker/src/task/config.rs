use std::collections::BTreeMap;

use longshore_engine::RegistryAuth;
use longshore_values::GoDuration;
use serde_json::Value;

use super::fields::Fields;

/// A task's `config` block, decoded. `Debug` shows no password.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TaskConfig {
    /// As written, without a leading `https://`.
    pub image: String,
    pub image_pull_timeout: Option<GoDuration>,
    pub force_pull: bool,
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
    pub network_mode: String,
    pub hostname: String,
    pub extra_hosts: Vec<String>,
    pub dns_servers: Vec<String>,
    pub dns_search_domains: Vec<String>,
    pub dns_options: Vec<String>,
    /// Labels of ports of the group.
    pub ports: Vec<String>,
    /// `source:destination[:mode]`.
    pub volumes: Vec<String>,
    pub readonly_rootfs: bool,
    /// Bytes; 0 for the engine's own.
    pub shm_size: i64,
    pub cpu_hard_limit: bool,
    /// Microseconds.
    pub cpu_cfs_period: Option<i64>,
    /// MB; 0 for none.
    pub memory_hard_limit: i64,
    /// `None`: the node's.
    pub pids_limit: Option<i64>,
    pub privileged: bool,
    pub cap_add: Vec<String>,
    pub cap_drop: Vec<String>,
    pub group_add: Vec<String>,
    pub sysctl: BTreeMap<String, String>,
    pub logging: Option<TaskLogging>,
}

/// The engine's own log of the container.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskLogging {
    pub kind: String,
    pub config: BTreeMap<String, String>,
}

/// Everything that stands against a task's `config`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the task's config cannot be used: {}", .problems.join("; "))]
pub struct BadTaskConfig {
    pub problems: Vec<String>,
}

/// Known to Nomad, refused by name until this driver acts on them.
const UNSUPPORTED: [&str; 24] = [
    "advertise_ipv6_address",
    "cgroupns",
    "container_exists_attempts",
    "cpuset_cpus",
    "devices",
    "healthchecks",
    "ipc_mode",
    "ipv4_address",
    "ipv6_address",
    "isolation",
    "mac_address",
    "mount",
    "mounts",
    "network_aliases",
    "oom_score_adj",
    "pid_mode",
    "port_map",
    "runtime",
    "security_opt",
    "storage_opt",
    "ulimit",
    "userns_mode",
    "uts_mode",
    "volume_driver",
];

/// Labels that only this driver sets.
const RESERVED_LABELS: [&str; 2] = ["com.hashicorp.nomad.", "longshore."];

const CPU_CFS_PERIOD_MAX: i64 = 1_000_000;

impl TaskConfig {
    /// Decodes strictly: unknown keys, wrong kinds and options that nothing acts on are refused, by name.
    pub fn decode(config: &Value) -> Result<Self, BadTaskConfig> {
        let mut fields = Fields::new(config);
        let decoded = Self::read(&mut fields);
        decoded.check(&mut fields);
        match fields.finish() {
            problems if problems.is_empty() => Ok(decoded),
            problems => Err(BadTaskConfig { problems }),
        }
    }

    fn read(fields: &mut Fields) -> Self {
        let image = fields.string("image").unwrap_or_default();
        let config = Self {
            image: image.strip_prefix("https://").unwrap_or(&image).to_owned(),
            image_pull_timeout: fields.duration("image_pull_timeout"),
            force_pull: fields.bool("force_pull"),
            load: fields.string("load").filter(|path| !path.is_empty()),
            auth: fields.block("auth", read_auth).filter(|auth| !auth.is_empty() || !auth.server_address.is_empty()),
            auth_soft_fail: fields.bool("auth_soft_fail"),
            command: fields.string("command"),
            args: fields.strings("args").unwrap_or_default(),
            entrypoint: fields.strings("entrypoint"),
            work_dir: fields.string("work_dir").unwrap_or_default(),
            init: fields.bool("init"),
            interactive: fields.bool("interactive"),
            tty: fields.bool("tty"),
            labels: fields.map("labels"),
            network_mode: fields.string("network_mode").unwrap_or_default(),
            hostname: fields.string("hostname").unwrap_or_default(),
            extra_hosts: fields.strings("extra_hosts").unwrap_or_default(),
            dns_servers: fields.strings("dns_servers").unwrap_or_default(),
            dns_search_domains: fields.strings("dns_search_domains").unwrap_or_default(),
            dns_options: fields.strings("dns_options").unwrap_or_default(),
            ports: fields.strings("ports").unwrap_or_default(),
            volumes: fields.strings("volumes").unwrap_or_default(),
            readonly_rootfs: fields.bool("readonly_rootfs"),
            shm_size: fields.integer("shm_size").unwrap_or(0),
            cpu_hard_limit: fields.bool("cpu_hard_limit"),
            cpu_cfs_period: fields.integer("cpu_cfs_period"),
            memory_hard_limit: fields.integer("memory_hard_limit").unwrap_or(0),
            pids_limit: fields.integer("pids_limit"),
            privileged: fields.bool("privileged"),
            cap_add: fields.strings("cap_add").unwrap_or_default(),
            cap_drop: fields.strings("cap_drop").unwrap_or_default(),
            group_add: fields.strings("group_add").unwrap_or_default(),
            sysctl: fields.map("sysctl"),
            logging: fields.block("logging", read_logging),
        };
        for key in UNSUPPORTED {
            fields.refuse_unsupported(key);
        }
        config
    }

    fn check(&self, fields: &mut Fields) {
        if self.image.is_empty() {
            fields.problem("config.image is missing");
        }
        if let Some(command) = &self.command {
            if command.trim().is_empty() {
                fields.problem("config.command is blank");
            } else if command.trim() != command {
                fields.problem(format!("config.command {command:?} begins or ends with white space"));
            }
        }
        for key in self.labels.keys() {
            if let Some(prefix) = RESERVED_LABELS.iter().find(|prefix| key.starts_with(*prefix)) {
                fields
                    .problem(format!("config.labels: {key:?} cannot be set, labels of {prefix}* are the driver's own"));
            }
        }
        for volume in &self.volumes {
            if volume.split(':').count() < 2 {
                fields.problem(format!("config.volumes: {volume:?} is not of the form source:destination[:mode]"));
            }
        }
        if self.cpu_cfs_period.is_some_and(|period| !(0..=CPU_CFS_PERIOD_MAX).contains(&period)) {
            fields.problem(format!("config.cpu_cfs_period must be between 0 and {CPU_CFS_PERIOD_MAX} microseconds"));
        }
        if self.shm_size < 0 {
            fields.problem("config.shm_size must not be negative");
        }
        if self.memory_hard_limit < 0 {
            fields.problem("config.memory_hard_limit must not be negative");
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
    fn check(config: Value, expected: &str) {
        let got = match TaskConfig::decode(&config) {
            Ok(_) => "good".to_owned(),
            Err(why) => why.problems.join("; "),
        };
        assert_eq!(got, expected, "{config}");
    }

    #[test]
    fn strict_but_not_narrow() {
        check(json!({"image": "redis:7"}), "good");
        check(json!({"image": "redis:7", "ports": [], "mount": []}), "good");
        check(json!({"image": "redis:7", "force_pull": "true", "shm_size": "64"}), "good");
        check(json!({"image": "${meta.image}", "force_pull": "${meta.force}", "shm_size": "${meta.size}"}), "good");
        check(json!(null), "config.image is missing");
        check(json!([]), "config takes a block, not a list; config.image is missing");
        check(json!({"image": "a", "comand": "x"}), "config has no key \"comand\"");
        check(json!({"image": "a", "command": " x"}), "config.command \" x\" begins or ends with white space");
        check(json!({"image": "a", "args": "x"}), "config.args takes a list of texts, not a text");
        check(json!({"image": "a", "args": [["x"]]}), "config.args takes texts as its elements");
        check(json!({"image": "a", "tty": "yes"}), "config.tty takes true or false, not a text");
        check(
            json!({"image": "a", "volumes": ["/data"]}),
            "config.volumes: \"/data\" is not of the form source:destination[:mode]",
        );
        check(
            json!({"image": "a", "runtime": "nvidia"}),
            "config.runtime is an option that this build does not act on",
        );
        check(
            json!({"image": "a", "cpu_cfs_period": 2_000_000}),
            "config.cpu_cfs_period must be between 0 and 1000000 microseconds",
        );
        check(
            json!({"image": "a", "image_pull_timeout": "0s"}),
            "config.image_pull_timeout must be longer than 0, not 0s",
        );
        check(
            json!({"image": "a", "labels": {"longshore.task": "x"}}),
            "config.labels: \"longshore.task\" cannot be set, labels of longshore.* are the driver's own",
        );
        check(
            json!({"image": "a", "auth": [{"username": "u"}, {"username": "v"}]}),
            "config.auth may be given once, not 2 times",
        );
        check(json!({"image": "a", "auth": {"user": "u"}}), "config.auth has no key \"user\"");
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
}
