use super::service::SERVICE;
use super::shared::{CONSUL, IDENTITY, NETWORK, PLACEMENT, RESTART, VAULT};
use super::{Attribute, Body, Nested, Shape, block, bool, count, duration, finish, free, int, text, text_map, texts};

pub(super) static TASK: Body = Body {
    name: "task",
    about: "One process or container. Its label is its name. A task that stands in the job itself is a group of its own.",
    attributes: &[
        text("driver", "Driver", "", "What runs it: `docker`, `raw_exec` …; required."),
        text("user", "User", "", "Whom it runs as."),
        duration("kill_timeout", "KillTimeout", "\"5s\"", "Between the signal and the kill."),
        text("kill_signal", "KillSignal", "", "The signal that asks it to stop; the driver's unless given."),
        duration("shutdown_delay", "ShutdownDelay", "0", "Between taking its services out and the signal."),
        bool("leader", "Leader", "false", "When it ends the other tasks are stopped; one a group."),
        text("kind", "Kind", "", "Marks proxies and gateways of a service mesh."),
    ],
    blocks: &[TASK_BLOCKS, PLACEMENT],
    finish: Some(finish::task),
};

const TASK_BLOCKS: &[Nested] = &[
    free("config", "Config", "What the driver alone reads."),
    text_map("env", "Env", "The task's environment."),
    text_map("meta", "Meta", "Over the group's meta."),
    block("resources", "Resources", Shape::One, &RESOURCES),
    block("restart", "RestartPolicy", Shape::One, &RESTART),
    block("logs", "LogConfig", Shape::One, &LOGS),
    block("service", "Services", Shape::Many, &SERVICE),
    block("artifact", "Artifacts", Shape::Many, &ARTIFACT),
    block("template", "Templates", Shape::Many, &TEMPLATE),
    block("volume_mount", "VolumeMounts", Shape::Many, &VOLUME_MOUNT),
    block("scaling", "ScalingPolicies", Shape::Labelled("~dimension"), &TASK_SCALING),
    block("vault", "Vault", Shape::One, &VAULT),
    block("dispatch_payload", "DispatchPayload", Shape::One, &DISPATCH_PAYLOAD),
    block("lifecycle", "Lifecycle", Shape::One, &LIFECYCLE),
    block("csi_plugin", "CSIPluginConfig", Shape::One, &CSI_PLUGIN),
    block("identity", "~identities", Shape::Many, &IDENTITY),
    block("action", "Actions", Shape::Labelled("Name"), &ACTION).since("1.7"),
    block("consul", "Consul", Shape::One, &CONSUL).since("1.7"),
    block("schedule", "Schedule", Shape::One, &SCHEDULE).since("1.8"),
    block("secret", "Secrets", Shape::Labelled("Name"), &SECRET).since("1.11"),
];

pub(super) static RESOURCES: Body = Body {
    name: "resources",
    about: "What the task needs.",
    attributes: &[
        int("cpu", "CPU", "100", "In MHz; at least 1. Excludes `cores`."),
        int("cores", "Cores", "", "Whole cores of its own."),
        int("memory", "MemoryMB", "300", "In MB; at least 10."),
        int("memory_max", "MemoryMaxMB", "", "In MB: what it may use while the node has it to spare."),
        int("disk", "DiskMB", "", "Deprecated: the group's `ephemeral_disk` is meant."),
        int("iops", "IOPS", "", "Deprecated and without effect."),
        int("secrets", "SecretsMB", "", "In MB: the room of the secrets folder.").since("1.9"),
    ],
    blocks: &[&[
        block("network", "Networks", Shape::Many, &NETWORK),
        block("device", "Devices", Shape::Labelled("Name"), &DEVICE),
        block("numa", "NUMA", Shape::One, &NUMA).since("1.7"),
    ]],
    finish: None,
};

static NUMA: Body = Body {
    name: "numa",
    about: "How near the task's cores must lie to its memory.",
    attributes: &[
        text("affinity", "Affinity", "\"none\"", "`none`, `prefer` or `require`."),
        texts("devices", "Devices", "", "Devices that must lie near, too."),
    ],
    blocks: &[],
    finish: None,
};

static DEVICE: Body = Body {
    name: "device",
    about: "A device that the task needs. Its label is `type`, `vendor/type` or `vendor/type/model`.",
    attributes: &[count("count", "Count", "1", "How many.")],
    blocks: &[PLACEMENT],
    finish: None,
};

pub(super) static LOGS: Body = Body {
    name: "logs",
    about: "How much of the task's output is kept.",
    attributes: &[
        int("max_files", "MaxFiles", "10", "How many files a stream; at least 1."),
        int("max_file_size", "MaxFileSizeMB", "10", "In MB a file; at least 1."),
        bool("disabled", "Disabled", "false", "Keep nothing."),
        bool("enabled", "Enabled", "", "The opposite of `disabled`; deprecated."),
    ],
    blocks: &[],
    finish: None,
};

static ARTIFACT: Body = Body {
    name: "artifact",
    about: "Something that is fetched before the task starts.",
    attributes: &[
        text("source", "GetterSource", "", "Where it comes from; required."),
        text(
            "destination",
            "RelativeDest",
            "\"local/\"",
            "Where it goes; with `mode = \"file\"`, `local/` and the source's name.",
        ),
        text("mode", "GetterMode", "\"any\"", "`any`, `file` or `dir`."),
        bool("insecure", "GetterInsecure", "", "Accept any certificate.").since("1.7"),
        bool("chown", "Chown", "", "Give it to the task's user.").since("1.9"),
    ],
    blocks: &[&[
        text_map("options", "GetterOptions", "`checksum`, `archive`, `ref`, `sshkey` and the like."),
        text_map("headers", "GetterHeaders", "Headers of the HTTP request."),
    ]],
    finish: None,
};

const TEMPLATE_ATTRIBUTES: &[Attribute] = &[
    text("source", "SourcePath", "", "The template's file; excludes `data`."),
    text("data", "EmbeddedTmpl", "", "The template itself."),
    text("destination", "DestPath", "", "Where the result is written; required."),
    text("change_mode", "ChangeMode", "\"restart\"", "What a change does: `noop`, `restart`, `signal` or `script`."),
    text("change_signal", "ChangeSignal", "", "The signal for `change_mode = \"signal\"`."),
    duration("splay", "Splay", "\"5s\"", "Up to so long before the change is told, by chance."),
    text("perms", "Perms", "\"0644\"", "The file's permissions, octal."),
    int("uid", "Uid", "", "The file's owner."),
    int("gid", "Gid", "", "The file's group."),
    text("left_delimiter", "LeftDelim", "\"{{\"", "What opens an action."),
    text("right_delimiter", "RightDelim", "\"}}\"", "What closes an action."),
    bool("env", "Envvars", "false", "Read the result as environment, too."),
    duration("vault_grace", "VaultGrace", "0", "Deprecated and without effect."),
    bool("error_on_missing_key", "ErrMissingKey", "false", "Whether a missing key is an error."),
    bool("once", "Once", "", "Render once and leave it alone.").since("1.10"),
];

static TEMPLATE: Body = Body {
    name: "template",
    about: "A file that is written for the task, and again when its data change.",
    attributes: TEMPLATE_ATTRIBUTES,
    blocks: &[&[
        block("change_script", "ChangeScript", Shape::One, &CHANGE_SCRIPT),
        block("wait", "Wait", Shape::One, &WAIT),
    ]],
    finish: None,
};

static CHANGE_SCRIPT: Body = Body {
    name: "change_script",
    about: "What is run in the task when the template has changed.",
    attributes: &[
        text("command", "Command", "", "The command; required."),
        texts("args", "Args", "", "Its arguments."),
        duration("timeout", "Timeout", "\"5s\"", "How long it may take."),
        bool("fail_on_error", "FailOnError", "false", "Whether its failure fails the task."),
        bool("run_on_first_render", "RunOnFirstRender", "", "Run it for the first result, too.").since("2.0"),
    ],
    blocks: &[],
    finish: None,
};

static WAIT: Body = Body {
    name: "wait",
    about: "How long to wait for data to settle.",
    attributes: &[duration("min", "Min", "", "At least so long."), duration("max", "Max", "", "At most so long.")],
    blocks: &[],
    finish: None,
};

pub(super) static VOLUME_MOUNT: Body = Body {
    name: "volume_mount",
    about: "Where the task sees a volume of its group.",
    attributes: &[
        text("volume", "Volume", "", "The label of the group's `volume`; required."),
        text("destination", "Destination", "", "The path in the task; required."),
        bool("read_only", "ReadOnly", "false", "Whether the task may not write."),
        text("propagation_mode", "PropagationMode", "\"private\"", "`private`, `host-to-task` or `bidirectional`."),
        text("selinux_label", "SELinuxLabel", "", "The label of the mount.").since("1.10"),
    ],
    blocks: &[],
    finish: None,
};

static TASK_SCALING: Body = Body {
    name: "scaling",
    about: "The bounds within which a task's resource may be changed from outside. Its label is `cpu` or `mem`.",
    attributes: &[
        int("min", "Min", "", "At least so much."),
        int("max", "Max", "", "At most so much; required."),
        bool("enabled", "Enabled", "true", "Whether scalers may act."),
    ],
    blocks: &[&[free("policy", "Policy", "For the scaler alone.")]],
    finish: Some(finish::task_scaling),
};

static DISPATCH_PAYLOAD: Body = Body {
    name: "dispatch_payload",
    about: "Where a dispatch's payload is written.",
    attributes: &[text("file", "File", "", "The path below the task's `local` folder.")],
    blocks: &[],
    finish: None,
};

static LIFECYCLE: Body = Body {
    name: "lifecycle",
    about: "When the task runs in the life of its allocation.",
    attributes: &[
        text("hook", "Hook", "", "`prestart`, `poststart` or `poststop`; required."),
        bool("sidecar", "Sidecar", "false", "Whether it runs as long as the allocation."),
    ],
    blocks: &[],
    finish: None,
};

static CSI_PLUGIN: Body = Body {
    name: "csi_plugin",
    about: "Marks a task that is itself a storage plugin.",
    attributes: &[
        text("id", "ID", "", "The plugin's name; required."),
        text("type", "Type", "", "`node`, `controller` or `monolith`; required."),
        text("mount_dir", "MountDir", "\"/csi\"", "Where the plugin expects its socket."),
        text("stage_publish_base_dir", "StagePublishBaseDir", "", "Where it stages and publishes volumes."),
        duration("health_timeout", "HealthTimeout", "\"30s\"", "How long it may take to become healthy."),
    ],
    blocks: &[],
    finish: None,
};

static ACTION: Body = Body {
    name: "action",
    about: "A command that people may run in the running task. Its label is its name.",
    attributes: &[
        text("command", "Command", "", "The command; required."),
        texts("args", "Args", "", "Its arguments."),
    ],
    blocks: &[],
    finish: None,
};

static SCHEDULE: Body = Body {
    name: "schedule",
    about: "When the task runs at all.",
    attributes: &[],
    blocks: &[&[block("cron", "Cron", Shape::One, &SCHEDULE_CRON)]],
    finish: None,
};

static SCHEDULE_CRON: Body = Body {
    name: "cron",
    about: "The task's hours.",
    attributes: &[
        text("start", "Start", "", "A cron expression of its starts."),
        text("end", "End", "", "Minute and hour of its ends."),
        text("timezone", "Timezone", "", "The time zone of both."),
    ],
    blocks: &[],
    finish: None,
};

static SECRET: Body = Body {
    name: "secret",
    about: "A value fetched before the task starts, read as `${secret.<label>.<key>}`.",
    attributes: &[
        text("provider", "Provider", "", "Who fetches it; required."),
        text("path", "Path", "", "What is fetched; required."),
    ],
    blocks: &[&[
        free("config", "Config", "What the provider alone reads."),
        text_map("env", "Env", "The provider's environment."),
    ]],
    finish: None,
};
