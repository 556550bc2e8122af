use super::connect::CONNECT;
use super::shared::IDENTITY;
use super::{Attribute, Body, Shape, block, bool, duration, int, text, text_map, texts};

pub(super) static SERVICE: Body = Body {
    name: "service",
    about: "Something that others find by name.",
    attributes: SERVICE_ATTRIBUTES,
    blocks: &[&[
        block("check", "Checks", Shape::Many, &CHECK),
        block("check_restart", "CheckRestart", Shape::One, &CHECK_RESTART),
        block("connect", "Connect", Shape::One, &CONNECT),
        text_map("meta", "Meta", "Told to whoever asks for the service."),
        text_map("canary_meta", "CanaryMeta", "In place of `meta` while it is a canary."),
        text_map("tagged_addresses", "TaggedAddresses", "Further addresses by name."),
        block("weights", "Weights", Shape::One, &WEIGHTS).since("1.7"),
        block("identity", "Identity", Shape::One, &IDENTITY).since("1.7"),
    ]],
    finish: None,
};

const SERVICE_ATTRIBUTES: &[Attribute] = &[
    text("name", "Name", "", "`${JOB}-${TASKGROUP}`, and `-${TASK}` in a task, unless given."),
    text("provider", "Provider", "\"consul\"", "`consul` or `nomad`."),
    text("port", "PortLabel", "", "The label of a port, or a number with `address_mode = \"driver\"`."),
    text("address_mode", "AddressMode", "\"auto\"", "`auto`, `host`, `driver` or `alloc`."),
    text("address", "Address", "", "A fixed address, with `address_mode = \"auto\"`."),
    texts("tags", "Tags", "", "Words that others choose it by."),
    texts("canary_tags", "CanaryTags", "", "In place of `tags` while it is a canary."),
    bool("enable_tag_override", "EnableTagOverride", "false", "Whether Consul's tags win."),
    text("task", "TaskName", "", "The task of the group that it belongs to."),
    text(
        "on_update",
        "OnUpdate",
        "\"require_healthy\"",
        "Which checks an update waits for: `require_healthy`, `ignore_warnings` or `ignore`.",
    ),
    text("kind", "Kind", "", "What it is in Consul's catalogue.").since("1.7"),
    text("cluster", "Cluster", "", "Which Consul.").since("1.7"),
];

static WEIGHTS: Body = Body {
    name: "weights",
    about: "How much traffic it gets, by its health.",
    attributes: &[int("passing", "Passing", "1", "While passing."), int("warning", "Warning", "1", "While warning.")],
    blocks: &[],
    finish: None,
};

const CHECK_ATTRIBUTES: &[Attribute] = &[
    text("name", "Name", "", "`service: \"<name>\" check` unless given."),
    text("type", "Type", "", "`http`, `tcp`, `script` or `grpc`; required. With provider nomad `http` or `tcp`."),
    text("path", "Path", "", "The path for `http`; required there."),
    text("method", "Method", "", "The method for `http`; GET unless given."),
    text("body", "Body", "", "The body for `http`."),
    text("protocol", "Protocol", "", "`http` or `https`."),
    text("port", "PortLabel", "", "The service's unless given."),
    text("address_mode", "AddressMode", "", "The service's unless given."),
    duration("interval", "Interval", "", "Between two checks; at least 1s, required."),
    duration("timeout", "Timeout", "", "For one check; at least 1s, required."),
    text("command", "Command", "", "The command for `script`."),
    texts("args", "Args", "", "Its arguments."),
    text("task", "TaskName", "", "The task in which a `script` runs."),
    text("initial_status", "InitialStatus", "", "`passing`, `warning` or `critical`, which holds unless given."),
    int("success_before_passing", "SuccessBeforePassing", "0", "How many successes make it passing."),
    int("failures_before_critical", "FailuresBeforeCritical", "0", "How many failures make it critical."),
    text("on_update", "OnUpdate", "", "The service's unless given."),
    text("grpc_service", "GRPCService", "", "The service that `grpc` asks for."),
    bool("grpc_use_tls", "GRPCUseTLS", "false", "Whether `grpc` speaks TLS."),
    bool("tls_skip_verify", "TLSSkipVerify", "false", "Accept any certificate."),
    text("tls_server_name", "TLSServerName", "", "The name that the certificate must have."),
    bool("expose", "Expose", "false", "Make the path reachable from outside of the mesh."),
    text("notes", "Notes", "", "For people.").since("1.7"),
    int("failures_before_warning", "FailuresBeforeWarning", "", "How many failures make it warning.").since("1.7"),
];

static CHECK: Body = Body {
    name: "check",
    about: "How a service's health is found out.",
    attributes: CHECK_ATTRIBUTES,
    blocks: &[&[
        super::Nested {
            about: "Headers of the request, each with a list of values.",
            ..block("header", "Header", Shape::TextsMap, &super::OPEN)
        },
        block("check_restart", "CheckRestart", Shape::One, &CHECK_RESTART),
    ]],
    finish: None,
};

static CHECK_RESTART: Body = Body {
    name: "check_restart",
    about: "When an unhealthy check restarts its task. That of the service holds for checks without one.",
    attributes: &[
        int("limit", "Limit", "0", "After so many failures; 0 for never."),
        duration("grace", "Grace", "\"1s\"", "For so long after a start nothing counts."),
        bool("ignore_warnings", "IgnoreWarnings", "false", "Whether a warning is no failure."),
    ],
    blocks: &[],
    finish: None,
};
