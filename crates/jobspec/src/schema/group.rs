use super::service::SERVICE;
use super::shared::{CONSUL, MIGRATE, NETWORK, PLACEMENT, RESCHEDULE, RESTART, SPREADS, UPDATE, VAULT};
use super::task::TASK;
use super::{Body, Nested, Shape, block, bool, duration, finish, free, int, text, text_map, texts};

pub(super) static GROUP: Body = Body {
    name: "group",
    about: "Tasks that are placed on one node together, `count` times. Its label is its name.",
    attributes: &[
        int("count", "Count", "1", "How many allocations; `scaling.min` where there is a `scaling` block."),
        duration("shutdown_delay", "ShutdownDelay", "", "Between taking services out and stopping tasks."),
        duration(
            "stop_after_client_disconnect",
            "StopAfterClientDisconnect",
            "",
            "When a node that lost its servers stops the group; excludes `max_client_disconnect`.",
        ),
        duration(
            "max_client_disconnect",
            "MaxClientDisconnect",
            "",
            "How long allocations of a silent node may come back.",
        ),
        bool("prevent_reschedule_on_lost", "PreventRescheduleOnLost", "", "Do not replace what is lost with its node.")
            .since("1.7"),
        duration("max_run_duration", "MaxRunDuration", "", "After this time batch work is stopped.").since("2.0"),
    ],
    blocks: &[GROUP_BLOCKS, PLACEMENT, SPREADS],
    finish: Some(finish::group),
};

const GROUP_BLOCKS: &[Nested] = &[
    block("task", "Tasks", Shape::Labelled("Name"), &TASK),
    block("network", "Networks", Shape::Many, &NETWORK),
    block("service", "Services", Shape::Many, &SERVICE),
    block("volume", "Volumes", Shape::ByLabel("Name"), &VOLUME),
    block("restart", "RestartPolicy", Shape::One, &RESTART),
    block("reschedule", "ReschedulePolicy", Shape::One, &RESCHEDULE),
    block("ephemeral_disk", "EphemeralDisk", Shape::One, &EPHEMERAL_DISK),
    block("update", "Update", Shape::One, &UPDATE),
    block("migrate", "Migrate", Shape::One, &MIGRATE),
    block("scaling", "Scaling", Shape::One, &SCALING),
    block("consul", "Consul", Shape::One, &CONSUL),
    block("vault", "~vault", Shape::One, &VAULT),
    block("disconnect", "Disconnect", Shape::One, &DISCONNECT).since("1.8"),
    text_map("meta", "Meta", "Over the job's meta."),
];

static DISCONNECT: Body = Body {
    name: "disconnect",
    about: "What happens to allocations of a node that is not heard of any more.",
    attributes: &[
        duration("lost_after", "LostAfter", "", "How long they count as unknown, not lost."),
        duration(
            "stop_on_client_after",
            "StopOnClientAfter",
            "",
            "When the node itself stops them; excludes `lost_after`.",
        ),
        bool("replace", "Replace", "true", "Whether others take their place meanwhile."),
        text(
            "reconcile",
            "Reconcile",
            "\"best_score\"",
            "Which stays when the node is back: `keep_original`, `keep_replacement`, `best_score` or `longest_running`.",
        ),
    ],
    blocks: &[],
    finish: None,
};

static EPHEMERAL_DISK: Body = Body {
    name: "ephemeral_disk",
    about: "The disk that the tasks of the group share.",
    attributes: &[
        int("size", "SizeMB", "300", "In MB; at least 10."),
        bool("sticky", "Sticky", "false", "Place the replacement on the same node, with the data."),
        bool("migrate", "Migrate", "false", "Copy the data when the node changes."),
    ],
    blocks: &[],
    finish: None,
};

static SCALING: Body = Body {
    name: "scaling",
    about: "The bounds within which `count` may be changed from outside.",
    attributes: &[
        int("min", "Min", "", "At least so many; the group's `count` unless given."),
        int("max", "Max", "", "At most so many; required."),
        bool("enabled", "Enabled", "true", "Whether scalers may act."),
        text("type", "Type", "\"horizontal\"", "Always `horizontal`."),
    ],
    blocks: &[&[free("policy", "Policy", "For the scaler alone.")]],
    finish: Some(finish::group_scaling),
};

static VOLUME: Body = Body {
    name: "volume",
    about: "A volume that the group asks for. Its label is what `volume_mount` names.",
    attributes: &[
        text("type", "Type", "", "`host` or `csi`; required."),
        text("source", "Source", "", "The volume's name on the node or in the cluster; required."),
        bool("read_only", "ReadOnly", "false", "Whether no task may write."),
        text("access_mode", "AccessMode", "", "For CSI volumes: `single-node-writer` and the like."),
        text("attachment_mode", "AttachmentMode", "", "For CSI volumes: `file-system` or `block-device`."),
        bool("per_alloc", "PerAlloc", "false", "Each allocation has its own: `source[0]`, `source[1]` and so on."),
        bool("sticky", "Sticky", "false", "An allocation's replacement gets the very same volume.").since("1.10"),
    ],
    blocks: &[&[block("mount_options", "MountOptions", Shape::One, &MOUNT_OPTIONS)]],
    finish: None,
};

static MOUNT_OPTIONS: Body = Body {
    name: "mount_options",
    about: "How a CSI volume is mounted.",
    attributes: &[
        text("fs_type", "FSType", "", "The file system."),
        texts("mount_flags", "MountFlags", "", "Flags for `mount`."),
    ],
    blocks: &[],
    finish: None,
};
