use super::service::SERVICE;
use super::shared::{MIGRATE, NETWORK, PLACEMENT, RESCHEDULE, RESTART, SPREADS, UPDATE, VAULT};
use super::task::TASK;
use super::{Body, Nested, Shape, block, bool, duration, finish, free, int, text, text_map, texts};

pub(super) static GROUP: Body = Body {
    name: "group",
    attributes: &[
        int("count", "Count"),
        duration("shutdown_delay", "ShutdownDelay"),
        duration("stop_after_client_disconnect", "StopAfterClientDisconnect"),
        duration("max_client_disconnect", "MaxClientDisconnect"),
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
    text_map("meta", "Meta"),
];

static EPHEMERAL_DISK: Body = Body {
    name: "ephemeral_disk",
    attributes: &[int("size", "SizeMB"), bool("sticky", "Sticky"), bool("migrate", "Migrate")],
    blocks: &[],
    finish: None,
};

static SCALING: Body = Body {
    name: "scaling",
    attributes: &[int("min", "Min"), int("max", "Max"), bool("enabled", "Enabled"), text("type", "Type")],
    blocks: &[&[free("policy", "Policy")]],
    finish: Some(finish::group_scaling),
};

static CONSUL: Body = Body { name: "consul", attributes: &[text("namespace", "Namespace")], blocks: &[], finish: None };

static VOLUME: Body = Body {
    name: "volume",
    attributes: &[
        text("type", "Type"),
        text("source", "Source"),
        bool("read_only", "ReadOnly"),
        text("access_mode", "AccessMode"),
        text("attachment_mode", "AttachmentMode"),
        bool("per_alloc", "PerAlloc"),
    ],
    blocks: &[&[block("mount_options", "MountOptions", Shape::One, &MOUNT_OPTIONS)]],
    finish: None,
};

static MOUNT_OPTIONS: Body = Body {
    name: "mount_options",
    attributes: &[text("fs_type", "FSType"), texts("mount_flags", "MountFlags")],
    blocks: &[],
    finish: None,
};
