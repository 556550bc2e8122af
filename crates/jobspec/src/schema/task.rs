use super::service::SERVICE;
use super::shared::{NETWORK, PLACEMENT, RESTART, VAULT};
use super::{Body, Nested, Shape, block, bool, count, duration, finish, free, int, text, text_map, texts};

pub(super) static TASK: Body = Body {
    name: "task",
    attributes: &[
        text("driver", "Driver"),
        text("user", "User"),
        duration("kill_timeout", "KillTimeout"),
        text("kill_signal", "KillSignal"),
        duration("shutdown_delay", "ShutdownDelay"),
        bool("leader", "Leader"),
        text("kind", "Kind"),
    ],
    blocks: &[TASK_BLOCKS, PLACEMENT],
    finish: None,
};

const TASK_BLOCKS: &[Nested] = &[
    free("config", "Config"),
    text_map("env", "Env"),
    text_map("meta", "Meta"),
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
    block("identity", "Identity", Shape::One, &IDENTITY),
];

pub(super) static RESOURCES: Body = Body {
    name: "resources",
    attributes: &[
        int("cpu", "CPU"),
        int("cores", "Cores"),
        int("memory", "MemoryMB"),
        int("memory_max", "MemoryMaxMB"),
        int("disk", "DiskMB"),
        int("iops", "IOPS"),
    ],
    blocks: &[&[
        block("network", "Networks", Shape::Many, &NETWORK),
        block("device", "Devices", Shape::Labelled("Name"), &DEVICE),
    ]],
    finish: None,
};

static DEVICE: Body =
    Body { name: "device", attributes: &[count("count", "Count")], blocks: &[PLACEMENT], finish: None };

pub(super) static LOGS: Body = Body {
    name: "logs",
    attributes: &[
        int("max_files", "MaxFiles"),
        int("max_file_size", "MaxFileSizeMB"),
        bool("disabled", "Disabled"),
        bool("enabled", "Enabled"),
    ],
    blocks: &[],
    finish: None,
};

static ARTIFACT: Body = Body {
    name: "artifact",
    attributes: &[text("source", "GetterSource"), text("destination", "RelativeDest"), text("mode", "GetterMode")],
    blocks: &[&[text_map("options", "GetterOptions"), text_map("headers", "GetterHeaders")]],
    finish: None,
};

static TEMPLATE: Body = Body {
    name: "template",
    attributes: &[
        text("source", "SourcePath"),
        text("data", "EmbeddedTmpl"),
        text("destination", "DestPath"),
        text("change_mode", "ChangeMode"),
        text("change_signal", "ChangeSignal"),
        duration("splay", "Splay"),
        text("perms", "Perms"),
        int("uid", "Uid"),
        int("gid", "Gid"),
        text("left_delimiter", "LeftDelim"),
        text("right_delimiter", "RightDelim"),
        bool("env", "Envvars"),
        duration("vault_grace", "VaultGrace"),
        bool("error_on_missing_key", "ErrMissingKey"),
    ],
    blocks: &[&[
        block("change_script", "ChangeScript", Shape::One, &CHANGE_SCRIPT),
        block("wait", "Wait", Shape::One, &WAIT),
    ]],
    finish: None,
};

static CHANGE_SCRIPT: Body = Body {
    name: "change_script",
    attributes: &[
        text("command", "Command"),
        texts("args", "Args"),
        duration("timeout", "Timeout"),
        bool("fail_on_error", "FailOnError"),
    ],
    blocks: &[],
    finish: None,
};

static WAIT: Body =
    Body { name: "wait", attributes: &[duration("min", "Min"), duration("max", "Max")], blocks: &[], finish: None };

static VOLUME_MOUNT: Body = Body {
    name: "volume_mount",
    attributes: &[
        text("volume", "Volume"),
        text("destination", "Destination"),
        bool("read_only", "ReadOnly"),
        text("propagation_mode", "PropagationMode"),
    ],
    blocks: &[],
    finish: None,
};

static TASK_SCALING: Body = Body {
    name: "scaling",
    attributes: &[int("min", "Min"), int("max", "Max"), bool("enabled", "Enabled")],
    blocks: &[&[free("policy", "Policy")]],
    finish: Some(finish::task_scaling),
};

static DISPATCH_PAYLOAD: Body =
    Body { name: "dispatch_payload", attributes: &[text("file", "File")], blocks: &[], finish: None };

static LIFECYCLE: Body = Body {
    name: "lifecycle",
    attributes: &[text("hook", "Hook"), bool("sidecar", "Sidecar")],
    blocks: &[],
    finish: None,
};

static CSI_PLUGIN: Body = Body {
    name: "csi_plugin",
    attributes: &[
        text("id", "ID"),
        text("type", "Type"),
        text("mount_dir", "MountDir"),
        text("stage_publish_base_dir", "StagePublishBaseDir"),
        duration("health_timeout", "HealthTimeout"),
    ],
    blocks: &[],
    finish: None,
};

static IDENTITY: Body =
    Body { name: "identity", attributes: &[bool("env", "Env"), bool("file", "File")], blocks: &[], finish: None };
