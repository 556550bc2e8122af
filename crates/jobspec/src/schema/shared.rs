use super::{Attribute, Body, Nested, Shape, block, bool, count, duration, finish, int, text, text_map, texts};

/// Blocks that say where something may run: jobs, groups, tasks, devices.
pub(super) const PLACEMENT: &[Nested] = &[
    block("constraint", "Constraints", Shape::Many, &CONSTRAINT),
    block("affinity", "Affinities", Shape::Many, &AFFINITY),
];

pub(super) const SPREADS: &[Nested] = &[block("spread", "Spreads", Shape::Many, &SPREAD)];

static CONSTRAINT: Body = Body {
    name: "constraint",
    about: "What a node must be like.",
    attributes: CONSTRAINT_ATTRIBUTES,
    blocks: &[],
    finish: Some(finish::comparison),
};

const CONSTRAINT_ATTRIBUTES: &[Attribute] = &[
    text("attribute", "LTarget", "", "What is compared, such as `${attr.kernel.name}`."),
    text(
        "operator",
        "Operand",
        "\"=\"",
        "`=`, `!=`, `<`, `<=`, `>`, `>=`, `regexp`, `version`, `semver`, `set_contains`, `set_contains_any`, `is_set`, `is_not_set`, `distinct_hosts` or `distinct_property`.",
    ),
    text("value", "RTarget", "", "What it is compared with."),
    text("version", "~version", "", "Short for `operator = \"version\"` with this value."),
    text("semver", "~semver", "", "Short for `operator = \"semver\"` with this value."),
    text("regexp", "~regexp", "", "Short for `operator = \"regexp\"` with this value."),
    text("set_contains", "~set_contains", "", "Short for `operator = \"set_contains\"` with this value."),
    text("set_contains_all", "~set_contains_all", "", "Short for `operator = \"set_contains_all\"` with this value."),
    text("set_contains_any", "~set_contains_any", "", "Short for `operator = \"set_contains_any\"` with this value."),
    bool("is_set", "~is_set", "", "Short for `operator = \"is_set\"`; only true."),
    bool("is_not_set", "~is_not_set", "", "Short for `operator = \"is_not_set\"`; only true."),
    bool("distinct_hosts", "~distinct_hosts", "", "No two allocations on one node."),
    text(
        "distinct_property",
        "~distinct_property",
        "",
        "At most `value` (1) allocations for each value of this attribute.",
    ),
];

static AFFINITY: Body = Body {
    name: "affinity",
    about: "What a node had better be like.",
    attributes: AFFINITY_ATTRIBUTES,
    blocks: &[],
    finish: Some(finish::comparison),
};

const AFFINITY_ATTRIBUTES: &[Attribute] = &[
    text("attribute", "LTarget", "", "What is compared, such as `${node.datacenter}`."),
    text(
        "operator",
        "Operand",
        "\"=\"",
        "As in `constraint`, without `is_set`, `is_not_set`, `distinct_hosts` and `distinct_property`.",
    ),
    text("value", "RTarget", "", "What it is compared with."),
    int("weight", "Weight", "50", "From -100 (better not) to 100; not 0."),
    text("version", "~version", "", "Short for `operator = \"version\"` with this value."),
    text("semver", "~semver", "", "Short for `operator = \"semver\"` with this value."),
    text("regexp", "~regexp", "", "Short for `operator = \"regexp\"` with this value."),
    text("set_contains", "~set_contains", "", "Short for `operator = \"set_contains\"` with this value."),
    text("set_contains_all", "~set_contains_all", "", "Short for `operator = \"set_contains_all\"` with this value."),
    text("set_contains_any", "~set_contains_any", "", "Short for `operator = \"set_contains_any\"` with this value."),
];

static SPREAD: Body = Body {
    name: "spread",
    about: "How allocations are spread over the values of an attribute.",
    attributes: &[
        text("attribute", "Attribute", "", "The attribute; required."),
        int("weight", "Weight", "50", "From 1 to 100."),
    ],
    blocks: &[&[block("target", "SpreadTarget", Shape::Labelled("Value"), &TARGET)]],
    finish: None,
};

static TARGET: Body = Body {
    name: "target",
    about: "The share of one value, its label.",
    attributes: &[count("percent", "Percent", "", "Of all allocations; together at most 100.")],
    blocks: &[],
    finish: None,
};

pub(super) static UPDATE: Body = Body {
    name: "update",
    about: "How updates of service jobs roll out.",
    attributes: &[
        duration("stagger", "Stagger", "\"30s\"", "Between two steps of a system job."),
        int("max_parallel", "MaxParallel", "1", "How many allocations at once; 0 for all at once."),
        text(
            "health_check",
            "HealthCheck",
            "\"checks\"",
            "What makes an allocation healthy: `checks`, `task_states` or `manual`.",
        ),
        duration("min_healthy_time", "MinHealthyTime", "\"10s\"", "For how long it must be healthy."),
        duration("healthy_deadline", "HealthyDeadline", "\"5m\"", "Within which it must be."),
        duration(
            "progress_deadline",
            "ProgressDeadline",
            "\"10m\"",
            "Within which another one must be; 0 for no such limit.",
        ),
        bool("auto_revert", "AutoRevert", "false", "Go back to the last stable version when it fails."),
        bool("auto_promote", "AutoPromote", "false", "Go on by itself when all canaries are healthy."),
        int("canary", "Canary", "0", "How many of the new version first stand beside the old."),
    ],
    blocks: &[],
    finish: None,
};

pub(super) static MIGRATE: Body = Body {
    name: "migrate",
    about: "How allocations of service jobs leave a node that is drained.",
    attributes: &[
        int("max_parallel", "MaxParallel", "1", "How many at once."),
        text("health_check", "HealthCheck", "\"checks\"", "`checks` or `task_states`."),
        duration("min_healthy_time", "MinHealthyTime", "\"10s\"", "For how long the replacement must be healthy."),
        duration("healthy_deadline", "HealthyDeadline", "\"5m\"", "Within which it must be."),
    ],
    blocks: &[],
    finish: None,
};

pub(super) static RESCHEDULE: Body = Body {
    name: "reschedule",
    about: "Where a failed allocation goes on another node; for service and batch jobs.",
    attributes: &[
        int("attempts", "Attempts", "0 (batch: 1)", "How often within `interval`, unless `unlimited`."),
        duration("interval", "Interval", "0 (batch: \"24h\")", "The span in which attempts are counted."),
        duration("delay", "Delay", "\"30s\" (batch: \"5s\")", "Before the first attempt."),
        text(
            "delay_function",
            "DelayFunction",
            "\"exponential\" (batch: \"constant\")",
            "How the delay grows: `constant`, `exponential` or `fibonacci`.",
        ),
        duration("max_delay", "MaxDelay", "\"1h\" (batch: 0)", "The longest delay."),
        bool("unlimited", "Unlimited", "true (batch: false)", "Try for as long as it takes."),
    ],
    blocks: &[],
    finish: None,
};

pub(super) static RESTART: Body = Body {
    name: "restart",
    about: "What the node does when a task ends that should not. A task takes over from its group what it does not say.",
    attributes: &[
        int("attempts", "Attempts", "2 (batch and sysbatch: 3)", "How often within `interval`."),
        duration(
            "interval",
            "Interval",
            "\"30m\" (batch and sysbatch: \"24h\")",
            "The span in which attempts are counted.",
        ),
        duration("delay", "Delay", "\"15s\"", "Before each restart, and up to a quarter more by chance."),
        text("mode", "Mode", "\"fail\"", "After the last attempt: `fail`, or `delay` until the interval ends."),
        bool("render_templates", "RenderTemplates", "false", "Render templates anew before a restart."),
    ],
    blocks: &[],
    finish: None,
};

pub(super) static VAULT: Body = Body {
    name: "vault",
    about: "Access to Vault. That of the job or the group holds for tasks without one.",
    attributes: &[
        texts("policies", "Policies", "", "The token's policies; required in 1.6."),
        text("namespace", "Namespace", "\"\"", "Vault's namespace."),
        bool("env", "Env", "true", "Put the token into the environment."),
        bool("disable_file", "DisableFile", "false", "Do not write the token into the secrets folder."),
        text("change_mode", "ChangeMode", "\"restart\"", "What a new token does: `noop`, `restart` or `signal`."),
        text("change_signal", "ChangeSignal", "\"SIGHUP\"", "The signal for `change_mode = \"signal\"`."),
        text("role", "Role", "", "The role that the identity logs in with.").since("1.7"),
        text("cluster", "Cluster", "", "Which Vault.").since("1.7"),
        bool("allow_token_expiration", "AllowTokenExpiration", "", "Do not renew the token.").since("1.7"),
    ],
    blocks: &[],
    finish: None,
};

pub(super) static CONSUL: Body = Body {
    name: "consul",
    about: "Where services register.",
    attributes: &[
        text("namespace", "Namespace", "\"\"", "Consul's namespace."),
        text("cluster", "Cluster", "", "Which Consul.").since("1.7"),
        text("partition", "Partition", "", "Consul's partition.").since("1.7"),
    ],
    blocks: &[],
    finish: None,
};

pub(super) static IDENTITY: Body = Body {
    name: "identity",
    about: "A signed token that says who the task is. One without a name is the default one; others since 1.7.",
    attributes: &[
        bool("env", "Env", "false", "Put it into the environment."),
        bool("file", "File", "false", "Write it into the secrets folder."),
        text("name", "Name", "", "`default` unless given.").since("1.7"),
        texts("aud", "Audience", "", "Whom it is for.").since("1.7"),
        text("change_mode", "ChangeMode", "", "What a new one does: `noop`, `restart` or `signal`.").since("1.7"),
        text("change_signal", "ChangeSignal", "", "The signal for `change_mode = \"signal\"`.").since("1.7"),
        text("filepath", "Filepath", "", "Where it is written.").since("1.7"),
        text("service_name", "ServiceName", "", "The service that it stands for.").since("1.7"),
        duration("ttl", "TTL", "", "How long it is valid.").since("1.7"),
    ],
    blocks: &[&[text_map("extra_claims", "ExtraClaims", "Further claims.").since("1.10")]],
    finish: None,
};

pub(super) static NETWORK: Body = Body {
    name: "network",
    about: "The network of the group's tasks, and its ports.",
    attributes: &[
        text("mode", "Mode", "", "`host` unless given; `bridge`, `none` or `cni/<name>`."),
        text("hostname", "Hostname", "", "The host name that tasks see in `bridge` mode."),
        int("mbits", "MBits", "", "Deprecated and without effect."),
        text("device", "Device", "", "For the API's own use."),
        text("cidr", "CIDR", "", "For the API's own use."),
        text("ip", "IP", "", "For the API's own use."),
    ],
    blocks: &[&[
        block("port", "~ports", Shape::Labelled("Label"), &PORT),
        block("dns", "DNS", Shape::One, &DNS),
        block("cni", "CNI", Shape::One, &CNI).since("1.8"),
    ]],
    finish: Some(finish::network),
};

static CNI: Body = Body {
    name: "cni",
    about: "What is handed to the network's plugin.",
    attributes: &[],
    blocks: &[&[text_map("args", "Args", "Names and values.")]],
    finish: None,
};

static PORT: Body = Body {
    name: "port",
    about: "A port of the network. Its label is its name.",
    attributes: &[
        int("static", "Value", "", "The number on the host; chosen by the scheduler unless given."),
        int("to", "To", "", "The number in the tasks' network; -1 for the same as on the host."),
        text("host_network", "HostNetwork", "", "Which of the node's networks."),
        bool("ignore_collision", "IgnoreCollision", "", "Let several allocations have it at once.").since("1.10"),
    ],
    blocks: &[],
    finish: None,
};

static DNS: Body = Body {
    name: "dns",
    about: "Name resolution in the tasks.",
    attributes: &[
        texts("servers", "Servers", "", "Addresses of name servers."),
        texts("searches", "Searches", "", "Domains that are tried for short names."),
        texts("options", "Options", "", "Options of the resolver."),
    ],
    blocks: &[],
    finish: None,
};
