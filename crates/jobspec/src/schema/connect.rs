use super::task::{LOGS, RESOURCES};
use super::{Body, Shape, block, bool, duration, free, int, text, text_map, texts};

pub(super) static CONNECT: Body = Body {
    name: "connect",
    attributes: &[bool("native", "Native")],
    blocks: &[&[
        block("sidecar_service", "SidecarService", Shape::One, &SIDECAR_SERVICE),
        block("sidecar_task", "SidecarTask", Shape::One, &SIDECAR_TASK),
        block("gateway", "Gateway", Shape::One, &GATEWAY),
    ]],
    finish: None,
};

static SIDECAR_SERVICE: Body = Body {
    name: "sidecar_service",
    attributes: &[
        texts("tags", "Tags"),
        text("port", "Port"),
        bool("disable_default_tcp_check", "DisableDefaultTCPCheck"),
    ],
    blocks: &[&[block("proxy", "Proxy", Shape::One, &PROXY), text_map("meta", "Meta")]],
    finish: None,
};

static PROXY: Body = Body {
    name: "proxy",
    attributes: &[text("local_service_address", "LocalServiceAddress"), int("local_service_port", "LocalServicePort")],
    blocks: &[&[
        block("upstreams", "Upstreams", Shape::Many, &UPSTREAMS),
        block("expose", "Expose", Shape::One, &EXPOSE),
        free("config", "Config"),
    ]],
    finish: None,
};

static UPSTREAMS: Body = Body {
    name: "upstreams",
    attributes: &[
        text("destination_name", "DestinationName"),
        text("destination_namespace", "DestinationNamespace"),
        text("destination_peer", "DestinationPeer"),
        text("destination_type", "DestinationType"),
        int("local_bind_port", "LocalBindPort"),
        text("datacenter", "Datacenter"),
        text("local_bind_address", "LocalBindAddress"),
        text("local_bind_socket_path", "LocalBindSocketPath"),
        text("local_bind_socket_mode", "LocalBindSocketMode"),
    ],
    blocks: &[&[block("mesh_gateway", "MeshGateway", Shape::One, &MESH_GATEWAY), free("config", "Config")]],
    finish: None,
};

static MESH_GATEWAY: Body =
    Body { name: "mesh_gateway", attributes: &[text("mode", "Mode")], blocks: &[], finish: None };

static EXPOSE: Body = Body {
    name: "expose",
    attributes: &[],
    blocks: &[&[block("path", "Paths", Shape::Many, &EXPOSE_PATH)]],
    finish: None,
};

static EXPOSE_PATH: Body = Body {
    name: "path",
    attributes: &[
        text("path", "Path"),
        text("protocol", "Protocol"),
        int("local_path_port", "LocalPathPort"),
        text("listener_port", "ListenerPort"),
    ],
    blocks: &[],
    finish: None,
};

static SIDECAR_TASK: Body = Body {
    name: "sidecar_task",
    attributes: &[
        text("name", "Name"),
        text("driver", "Driver"),
        text("user", "User"),
        duration("kill_timeout", "KillTimeout"),
        duration("shutdown_delay", "ShutdownDelay"),
        text("kill_signal", "KillSignal"),
    ],
    blocks: &[&[
        free("config", "Config"),
        text_map("env", "Env"),
        text_map("meta", "Meta"),
        block("resources", "Resources", Shape::One, &RESOURCES),
        block("logs", "LogConfig", Shape::One, &LOGS),
    ]],
    finish: None,
};

static GATEWAY: Body = Body {
    name: "gateway",
    attributes: &[],
    blocks: &[&[
        block("proxy", "Proxy", Shape::One, &GATEWAY_PROXY),
        block("ingress", "Ingress", Shape::One, &INGRESS),
        block("terminating", "Terminating", Shape::One, &TERMINATING),
        block("mesh", "Mesh", Shape::One, &MESH),
    ]],
    finish: None,
};

static GATEWAY_PROXY: Body = Body {
    name: "proxy",
    attributes: &[
        duration("connect_timeout", "ConnectTimeout"),
        bool("envoy_gateway_bind_tagged_addresses", "EnvoyGatewayBindTaggedAddresses"),
        bool("envoy_gateway_no_default_bind", "EnvoyGatewayNoDefaultBind"),
        text("envoy_dns_discovery_type", "EnvoyDNSDiscoveryType"),
    ],
    blocks: &[&[
        block("envoy_gateway_bind_addresses", "EnvoyGatewayBindAddresses", Shape::ByLabel(""), &BIND_ADDRESS),
        free("config", "Config"),
    ]],
    finish: None,
};

static BIND_ADDRESS: Body = Body {
    name: "envoy_gateway_bind_addresses",
    attributes: &[text("address", "Address"), int("port", "Port")],
    blocks: &[],
    finish: None,
};

static INGRESS: Body = Body {
    name: "ingress",
    attributes: &[],
    blocks: &[&[block("tls", "TLS", Shape::One, &TLS), block("listener", "Listeners", Shape::Many, &LISTENER)]],
    finish: None,
};

static TLS: Body = Body {
    name: "tls",
    attributes: &[
        bool("enabled", "Enabled"),
        text("tls_min_version", "TLSMinVersion"),
        text("tls_max_version", "TLSMaxVersion"),
        texts("cipher_suites", "CipherSuites"),
    ],
    blocks: &[],
    finish: None,
};

static LISTENER: Body = Body {
    name: "listener",
    attributes: &[int("port", "Port"), text("protocol", "Protocol")],
    blocks: &[&[block("service", "Services", Shape::Many, &INGRESS_SERVICE)]],
    finish: None,
};

static INGRESS_SERVICE: Body =
    Body { name: "service", attributes: &[text("name", "Name"), texts("hosts", "Hosts")], blocks: &[], finish: None };

static TERMINATING: Body = Body {
    name: "terminating",
    attributes: &[],
    blocks: &[&[block("service", "Services", Shape::Many, &LINKED_SERVICE)]],
    finish: None,
};

static LINKED_SERVICE: Body = Body {
    name: "service",
    attributes: &[
        text("name", "Name"),
        text("ca_file", "CAFile"),
        text("cert_file", "CertFile"),
        text("key_file", "KeyFile"),
        text("sni", "SNI"),
    ],
    blocks: &[],
    finish: None,
};

static MESH: Body = Body { name: "mesh", attributes: &[], blocks: &[], finish: None };
