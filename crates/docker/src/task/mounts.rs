//! Mounts and devices as a task's `config` has them.

use std::collections::BTreeMap;

use longshore_engine::{BindOptions, Mount, TmpfsOptions, VolumeDriver, VolumeOptions};

use super::fields::{Fields, is_open};

/// One `mount`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskMount {
    /// Its path in the config, without `config.`: `mount[0]`.
    pub key: String,
    /// `volume`, `bind` or `tmpfs`.
    pub kind: String,
    pub target: String,
    pub source: String,
    pub readonly: bool,
    pub propagation: String,
    /// Bytes; 0 for the engine's own.
    pub tmpfs_size: i64,
    /// Permission bits; 0 for the engine's own.
    pub tmpfs_mode: i64,
    pub no_copy: bool,
    pub labels: BTreeMap<String, String>,
    pub driver_name: String,
    pub driver_options: BTreeMap<String, String>,
}

/// One of the host's devices, in the container.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskDevice {
    /// Its path in the config, without `config.`: `devices[0]`.
    pub key: String,
    pub host_path: String,
    pub container_path: String,
    /// Letters of `rwm`.
    pub cgroup_permissions: String,
}

const VOLUME: &str = "volume";
const BIND: &str = "bind";
const TMPFS: &str = "tmpfs";
const PROPAGATIONS: [&str; 6] = ["private", "rprivate", "shared", "rshared", "slave", "rslave"];

impl TaskMount {
    pub(crate) fn read(fields: &mut Fields) -> Self {
        let given = |fields: &mut Fields, key: &str| fields.string(key).unwrap_or_default();
        let kind = fields.string("type").filter(|kind| !kind.is_empty()).unwrap_or_else(|| VOLUME.to_owned());
        let mut mount = Self {
            key: fields.key(),
            target: given(fields, "target"),
            source: given(fields, "source"),
            readonly: fields.bool("readonly"),
            kind,
            ..Self::default()
        };
        fields.block("bind_options", |bind| {
            mount.propagation = given(bind, "propagation");
            if !mount.propagation.is_empty()
                && !is_open(&mount.propagation)
                && !PROPAGATIONS.contains(&mount.propagation.as_str())
            {
                bind.wrong_word("propagation", &mount.propagation, &PROPAGATIONS);
            }
        });
        fields.block("tmpfs_options", |tmpfs| {
            mount.tmpfs_size = tmpfs.integer_from("size", 0).unwrap_or(0);
            mount.tmpfs_mode = tmpfs.integer_from("mode", 0).unwrap_or(0);
        });
        fields.block("volume_options", |volume| {
            mount.no_copy = volume.bool("no_copy");
            mount.labels = volume.map("labels");
            volume.block("driver_config", |driver| {
                mount.driver_name = given(driver, "name");
                mount.driver_options = driver.map("options");
            });
        });
        mount.check(fields);
        mount
    }

    fn check(&self, fields: &mut Fields) {
        if self.target.is_empty() {
            fields.problem("target", "is missing");
        } else if !self.target.starts_with('/') && !is_open(&self.target) {
            fields.problem("target", format!("{:?} is not an absolute path", self.target));
        }
        if is_open(&self.kind) {
            return;
        }
        if ![VOLUME, BIND, TMPFS].contains(&self.kind.as_str()) {
            fields.wrong_word("type", &self.kind, &[VOLUME, BIND, TMPFS]);
            return;
        }
        if self.is_tmpfs() && !self.source.is_empty() {
            fields.problem("source", "is not for mounts of type \"tmpfs\"");
        }
        if self.is_bind() && self.source.is_empty() {
            fields.problem("source", "is missing, which mounts of type \"bind\" need");
        }
        for (block, of_kind, given) in [
            ("bind_options", BIND, !self.propagation.is_empty()),
            ("tmpfs_options", TMPFS, self.tmpfs_size != 0 || self.tmpfs_mode != 0),
            ("volume_options", VOLUME, self.has_volume_options()),
        ] {
            if given && self.kind != of_kind {
                fields.problem(block, format!("is for mounts of type {of_kind:?}, not {:?}", self.kind));
            }
        }
    }

    fn has_volume_options(&self) -> bool {
        self.no_copy || !self.labels.is_empty() || !self.driver_name.is_empty() || !self.driver_options.is_empty()
    }

    pub(crate) fn is_bind(&self) -> bool {
        self.kind == BIND
    }

    pub(crate) fn is_tmpfs(&self) -> bool {
        self.kind == TMPFS
    }

    /// As the engine takes it, with `source` where the task's own is.
    pub(crate) fn for_engine(&self, source: String) -> Mount {
        let driver = VolumeDriver { name: self.driver_name.clone(), options: self.driver_options.clone() };
        Mount {
            kind: self.kind.clone(),
            target: self.target.clone(),
            source,
            read_only: self.readonly,
            bind_options: (!self.propagation.is_empty()).then(|| BindOptions { propagation: self.propagation.clone() }),
            volume_options: self.has_volume_options().then(|| VolumeOptions {
                no_copy: self.no_copy,
                labels: self.labels.clone(),
                driver_config: (driver != VolumeDriver::default()).then_some(driver),
            }),
            tmpfs_options: (self.tmpfs_size != 0 || self.tmpfs_mode != 0)
                .then_some(TmpfsOptions { size_bytes: self.tmpfs_size, mode: self.tmpfs_mode }),
        }
    }
}

impl TaskDevice {
    pub(crate) fn read(fields: &mut Fields) -> Self {
        let host_path = fields.string("host_path").unwrap_or_default();
        if host_path.is_empty() {
            fields.problem("host_path", "is missing");
        } else if !host_path.starts_with('/') && !is_open(&host_path) {
            fields.problem("host_path", format!("{host_path:?} is not an absolute path"));
        }
        let given = |text: Option<String>, default: &str| match text {
            Some(text) if !text.is_empty() => text,
            _ => default.to_owned(),
        };
        let device = Self {
            key: fields.key(),
            container_path: given(fields.string("container_path"), &host_path),
            cgroup_permissions: given(fields.string("cgroup_permissions"), "rwm"),
            host_path,
        };
        let permissions = &device.cgroup_permissions;
        if !is_open(permissions) && !permissions.chars().all(|letter| "rwm".contains(letter)) {
            fields.problem("cgroup_permissions", format!("{permissions:?} may hold the letters r, w and m only"));
        }
        device
    }
}
