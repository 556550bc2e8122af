use super::{Body, Nested, Shape, block, bool, count, duration, finish, int, text, texts};

/// Blocks that say where something may run: jobs, groups, tasks, devices.
pub(super) const PLACEMENT: &[Nested] = &[
    block("constraint", "Constraints", Shape::Many, &CONSTRAINT),
    block("affinity", "Affinities", Shape::Many, &AFFINITY),
];

pub(super) const SPREADS: &[Nested] = &[block("spread", "Spreads", Shape::Many, &SPREAD)];

static CONSTRAINT: Body = Body {
    name: "constraint",
    attributes: &[
        text("attribute", "LTarget"),
        text("operator", "Operand"),
        text("value", "RTarget"),
        text("version", "~version"),
        text("semver", "~semver"),
        text("regexp", "~regexp"),
        text("set_contains", "~set_contains"),
        text("set_contains_all", "~set_contains_all"),
        text("set_contains_any", "~set_contains_any"),
        bool("is_set", "~is_set"),
        bool("is_not_set", "~is_not_set"),
        bool("distinct_hosts", "~distinct_hosts"),
        text("distinct_property", "~distinct_property"),
    ],
    blocks: &[],
    finish: Some(finish::comparison),
};

static AFFINITY: Body = Body {
    name: "affinity",
    attributes: &[
        text("attribute", "LTarget"),
        text("operator", "Operand"),
        text("value", "RTarget"),
        int("weight", "Weight"),
        text("version", "~version"),
        text("semver", "~semver"),
        text("regexp", "~regexp"),
        text("set_contains", "~set_contains"),
        text("set_contains_all", "~set_contains_all"),
        text("set_contains_any", "~set_contains_any"),
    ],
    blocks: &[],
    finish: Some(finish::comparison),
};

static SPREAD: Body = Body {
    name: "spread",
    attributes: &[text("attribute", "Attribute"), int("weight", "Weight")],
    blocks: &[&[block("target", "SpreadTarget", Shape::Labelled("Value"), &TARGET)]],
    finish: None,
};

static TARGET: Body = Body { name: "target", attributes: &[count("percent", "Percent")], blocks: &[], finish: None };

pub(super) static UPDATE: Body = Body {
    name: "update",
    attributes: &[
        duration("stagger", "Stagger"),
        int("max_parallel", "MaxParallel"),
        text("health_check", "HealthCheck"),
        duration("min_healthy_time", "MinHealthyTime"),
        duration("healthy_deadline", "HealthyDeadline"),
        duration("progress_deadline", "ProgressDeadline"),
        bool("auto_revert", "AutoRevert"),
        bool("auto_promote", "AutoPromote"),
        int("canary", "Canary"),
    ],
    blocks: &[],
    finish: None,
};

pub(super) static MIGRATE: Body = Body {
    name: "migrate",
    attributes: &[
        int("max_parallel", "MaxParallel"),
        text("health_check", "HealthCheck"),
        duration("min_healthy_time", "MinHealthyTime"),
        duration("healthy_deadline", "HealthyDeadline"),
    ],
    blocks: &[],
    finish: None,
};

pub(super) static RESCHEDULE: Body = Body {
    name: "reschedule",
    attributes: &[
        int("attempts", "Attempts"),
        duration("interval", "Interval"),
        duration("delay", "Delay"),
        text("delay_function", "DelayFunction"),
        duration("max_delay", "MaxDelay"),
        bool("unlimited", "Unlimited"),
    ],
    blocks: &[],
    finish: None,
};

pub(super) static RESTART: Body = Body {
    name: "restart",
    attributes: &[
        int("attempts", "Attempts"),
        duration("interval", "Interval"),
        duration("delay", "Delay"),
        text("mode", "Mode"),
        bool("render_templates", "RenderTemplates"),
    ],
    blocks: &[],
    finish: None,
};

pub(super) static VAULT: Body = Body {
    name: "vault",
    attributes: &[
        texts("policies", "Policies"),
        text("namespace", "Namespace"),
        bool("env", "Env"),
        bool("disable_file", "DisableFile"),
        text("change_mode", "ChangeMode"),
        text("change_signal", "ChangeSignal"),
    ],
    blocks: &[],
    finish: None,
};

pub(super) static NETWORK: Body = Body {
    name: "network",
    attributes: &[
        text("mode", "Mode"),
        text("hostname", "Hostname"),
        int("mbits", "MBits"),
        text("device", "Device"),
        text("cidr", "CIDR"),
        text("ip", "IP"),
    ],
    blocks: &[&[block("port", "~ports", Shape::Labelled("Label"), &PORT), block("dns", "DNS", Shape::One, &DNS)]],
    finish: Some(finish::network),
};

static PORT: Body = Body {
    name: "port",
    attributes: &[int("static", "Value"), int("to", "To"), text("host_network", "HostNetwork")],
    blocks: &[],
    finish: None,
};

static DNS: Body = Body {
    name: "dns",
    attributes: &[texts("servers", "Servers"), texts("searches", "Searches"), texts("options", "Options")],
    blocks: &[],
    finish: None,
};
