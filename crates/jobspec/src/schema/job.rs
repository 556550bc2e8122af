use super::group::GROUP;
use super::shared::{MIGRATE, PLACEMENT, RESCHEDULE, SPREADS, UPDATE, VAULT};
use super::task::TASK;
use super::{Attribute, Body, Nested, Shape, block, bool, finish, int, text, text_map, texts};

pub(crate) static JOB: Body = Body {
    name: "job",
    about: "What is to run. Its label is its ID.",
    attributes: JOB_ATTRIBUTES,
    blocks: &[JOB_BLOCKS, PLACEMENT, SPREADS],
    finish: Some(finish::job),
};

const JOB_ATTRIBUTES: &[Attribute] = &[
    text("id", "ID", "", "What the job is known by, if not its label."),
    text("name", "Name", "", "What people call the job, if not its label."),
    text("type", "Type", "\"service\"", "`service`, `batch`, `system` or `sysbatch`."),
    text("region", "Region", "\"global\"", "The region that runs it."),
    text("namespace", "Namespace", "\"default\"", "The namespace that it belongs to; it must exist."),
    texts("datacenters", "Datacenters", "[\"*\"]", "Globs for the data centres whose nodes may run it."),
    text("node_pool", "NodePool", "", "The pool whose nodes may run it: the namespace's, or `default`."),
    int("priority", "Priority", "50", "From 1 to 100; more urgent jobs are placed first."),
    bool("all_at_once", "AllAtOnce", "false", "Place all groups or none."),
    text("consul_token", "ConsulToken", "", "A token for Consul; gone in 2.0."),
    text("vault_token", "VaultToken", "", "A token for Vault; gone in 2.0."),
];

const JOB_BLOCKS: &[Nested] = &[
    block("group", "TaskGroups", Shape::Labelled("Name"), &GROUP),
    block("task", "~tasks", Shape::Labelled("Name"), &TASK),
    text_map("meta", "Meta", "Names and values that tasks see as `NOMAD_META_…`."),
    block("update", "Update", Shape::One, &UPDATE),
    block("reschedule", "Reschedule", Shape::One, &RESCHEDULE),
    block("migrate", "Migrate", Shape::One, &MIGRATE),
    block("periodic", "Periodic", Shape::One, &PERIODIC),
    block("parameterized", "ParameterizedJob", Shape::One, &PARAMETERIZED),
    block("multiregion", "Multiregion", Shape::One, &MULTIREGION),
    block("vault", "~vault", Shape::One, &VAULT),
    block("ui", "UI", Shape::One, &UI).since("1.8"),
];

static UI: Body = Body {
    name: "ui",
    about: "What web pages show about the job.",
    attributes: &[text("description", "Description", "", "Markdown of at most 1000 characters.")],
    blocks: &[&[block("link", "Links", Shape::Many, &UI_LINK)]],
    finish: None,
};

static UI_LINK: Body = Body {
    name: "link",
    about: "A link on the job's web page.",
    attributes: &[text("label", "Label", "", "What the link says."), text("url", "Url", "", "Where it leads.")],
    blocks: &[],
    finish: None,
};

static PERIODIC: Body = Body {
    name: "periodic",
    about: "When the job launches by itself; for batch and sysbatch jobs.",
    attributes: &[
        bool("enabled", "Enabled", "true", "Whether it launches at all."),
        text("cron", "Spec", "", "One cron expression; excludes `crons`. Deprecated."),
        texts(
            "crons",
            "Specs",
            "",
            "Cron expressions of 5, 6 (with year) or 7 (with seconds) fields, or `@hourly` and the like.",
        ),
        bool("prohibit_overlap", "ProhibitOverlap", "false", "Wait for the run before to end."),
        text("time_zone", "TimeZone", "\"UTC\"", "The time zone of the expressions."),
    ],
    blocks: &[],
    finish: Some(finish::periodic),
};

static PARAMETERIZED: Body = Body {
    name: "parameterized",
    about: "Makes the job a template that is dispatched with a payload and meta; for batch and sysbatch jobs.",
    attributes: &[
        text("payload", "Payload", "\"optional\"", "`optional`, `required` or `forbidden`."),
        texts("meta_required", "MetaRequired", "", "Meta keys that a dispatch must give."),
        texts("meta_optional", "MetaOptional", "", "Meta keys that a dispatch may give."),
    ],
    blocks: &[],
    finish: None,
};

static MULTIREGION: Body = Body {
    name: "multiregion",
    about: "Runs the job in several regions.",
    attributes: &[],
    blocks: &[&[
        block("strategy", "Strategy", Shape::One, &STRATEGY),
        block("region", "Regions", Shape::Labelled("Name"), &REGION),
    ]],
    finish: None,
};

static STRATEGY: Body = Body {
    name: "strategy",
    about: "How a roll-out goes from region to region.",
    attributes: &[
        int("max_parallel", "MaxParallel", "0", "How many regions at once; 0 for all."),
        text("on_failure", "OnFailure", "\"\"", "`fail_all`, `fail_local`, or empty: later regions stop."),
    ],
    blocks: &[],
    finish: None,
};

static REGION: Body = Body {
    name: "region",
    about: "What is different in one region. Its label is the region's name.",
    attributes: &[
        int("count", "Count", "", "For groups whose `count` is 0."),
        texts("datacenters", "Datacenters", "", "The job's `datacenters` there."),
        text("node_pool", "NodePool", "", "The job's `node_pool` there."),
    ],
    blocks: &[&[text_map("meta", "Meta", "Beside the job's meta.")]],
    finish: None,
};
