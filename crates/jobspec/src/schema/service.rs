use super::connect::CONNECT;
use super::{Body, Shape, block, bool, duration, int, text, text_map, texts};

pub(super) static SERVICE: Body = Body {
    name: "service",
    attributes: &[
        text("name", "Name"),
        text("provider", "Provider"),
        text("port", "PortLabel"),
        text("address_mode", "AddressMode"),
        text("address", "Address"),
        texts("tags", "Tags"),
        texts("canary_tags", "CanaryTags"),
        bool("enable_tag_override", "EnableTagOverride"),
        text("task", "TaskName"),
        text("on_update", "OnUpdate"),
    ],
    blocks: &[&[
        block("check", "Checks", Shape::Many, &CHECK),
        block("check_restart", "CheckRestart", Shape::One, &CHECK_RESTART),
        block("connect", "Connect", Shape::One, &CONNECT),
        text_map("meta", "Meta"),
        text_map("canary_meta", "CanaryMeta"),
        text_map("tagged_addresses", "TaggedAddresses"),
    ]],
    finish: None,
};

static CHECK: Body = Body {
    name: "check",
    attributes: &[
        text("name", "Name"),
        text("type", "Type"),
        text("path", "Path"),
        text("method", "Method"),
        text("body", "Body"),
        text("protocol", "Protocol"),
        text("port", "PortLabel"),
        text("address_mode", "AddressMode"),
        duration("interval", "Interval"),
        duration("timeout", "Timeout"),
        text("command", "Command"),
        texts("args", "Args"),
        text("task", "TaskName"),
        text("initial_status", "InitialStatus"),
        int("success_before_passing", "SuccessBeforePassing"),
        int("failures_before_critical", "FailuresBeforeCritical"),
        text("on_update", "OnUpdate"),
        text("grpc_service", "GRPCService"),
        bool("grpc_use_tls", "GRPCUseTLS"),
        bool("tls_skip_verify", "TLSSkipVerify"),
        text("tls_server_name", "TLSServerName"),
        bool("expose", "Expose"),
    ],
    blocks: &[&[
        block("header", "Header", Shape::TextsMap, &super::OPEN),
        block("check_restart", "CheckRestart", Shape::One, &CHECK_RESTART),
    ]],
    finish: None,
};

static CHECK_RESTART: Body = Body {
    name: "check_restart",
    attributes: &[int("limit", "Limit"), duration("grace", "Grace"), bool("ignore_warnings", "IgnoreWarnings")],
    blocks: &[],
    finish: None,
};
