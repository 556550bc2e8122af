use super::group::GROUP;
use super::shared::{MIGRATE, PLACEMENT, RESCHEDULE, SPREADS, UPDATE, VAULT};
use super::task::TASK;
use super::{Attribute, Body, Nested, Shape, block, bool, finish, int, text, text_map, texts};

pub(crate) static JOB: Body = Body {
    name: "job",
    attributes: JOB_ATTRIBUTES,
    blocks: &[JOB_BLOCKS, PLACEMENT, SPREADS],
    finish: Some(finish::job),
};

const JOB_ATTRIBUTES: &[Attribute] = &[
    text("id", "ID"),
    text("name", "Name"),
    text("type", "Type"),
    text("region", "Region"),
    text("namespace", "Namespace"),
    texts("datacenters", "Datacenters"),
    text("node_pool", "NodePool"),
    int("priority", "Priority"),
    bool("all_at_once", "AllAtOnce"),
    text("consul_token", "ConsulToken"),
    text("vault_token", "VaultToken"),
];

const JOB_BLOCKS: &[Nested] = &[
    block("group", "TaskGroups", Shape::Labelled("Name"), &GROUP),
    block("task", "~tasks", Shape::Labelled("Name"), &TASK),
    text_map("meta", "Meta"),
    block("update", "Update", Shape::One, &UPDATE),
    block("reschedule", "Reschedule", Shape::One, &RESCHEDULE),
    block("migrate", "Migrate", Shape::One, &MIGRATE),
    block("periodic", "Periodic", Shape::One, &PERIODIC),
    block("parameterized", "ParameterizedJob", Shape::One, &PARAMETERIZED),
    block("multiregion", "Multiregion", Shape::One, &MULTIREGION),
    block("vault", "~vault", Shape::One, &VAULT),
];

static PERIODIC: Body = Body {
    name: "periodic",
    attributes: &[
        bool("enabled", "Enabled"),
        text("cron", "Spec"),
        texts("crons", "Specs"),
        bool("prohibit_overlap", "ProhibitOverlap"),
        text("time_zone", "TimeZone"),
    ],
    blocks: &[],
    finish: Some(finish::periodic),
};

static PARAMETERIZED: Body = Body {
    name: "parameterized",
    attributes: &[
        text("payload", "Payload"),
        texts("meta_required", "MetaRequired"),
        texts("meta_optional", "MetaOptional"),
    ],
    blocks: &[],
    finish: None,
};

static MULTIREGION: Body = Body {
    name: "multiregion",
    attributes: &[],
    blocks: &[&[
        block("strategy", "Strategy", Shape::One, &STRATEGY),
        block("region", "Regions", Shape::Labelled("Name"), &REGION),
    ]],
    finish: None,
};

static STRATEGY: Body = Body {
    name: "strategy",
    attributes: &[int("max_parallel", "MaxParallel"), text("on_failure", "OnFailure")],
    blocks: &[],
    finish: None,
};

static REGION: Body = Body {
    name: "region",
    attributes: &[int("count", "Count"), texts("datacenters", "Datacenters"), text("node_pool", "NodePool")],
    blocks: &[&[text_map("meta", "Meta")]],
    finish: None,
};
