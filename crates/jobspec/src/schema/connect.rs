use super::task::{LOGS, RESOURCES, VOLUME_MOUNT};
use super::{Attribute, Body, Kind, Shape, attribute, block, bool, count, duration, free, int, text, text_map, texts};

pub(super) static CONNECT: Body = Body {
    name: "connect",
    about: "The service's place in Consul's service mesh.",
    attributes: &[bool("native", "Native", "false", "The task speaks to the mesh itself.")],
    blocks: &[&[
        block("sidecar_service", "SidecarService", Shape::One, &SIDECAR_SERVICE),
        block("sidecar_task", "SidecarTask", Shape::One, &SIDECAR_TASK),
        block("gateway", "Gateway", Shape::One, &GATEWAY),
    ]],
    finish: None,
};

static SIDECAR_SERVICE: Body = Body {
    name: "sidecar_service",
    about: "The proxy's own service.",
    attributes: &[
        texts("tags", "Tags", "", "The proxy's tags."),
        text("port", "Port", "", "The proxy's port."),
        bool("disable_default_tcp_check", "DisableDefaultTCPCheck", "false", "Do not check the proxy's port."),
    ],
    blocks: &[&[
        block("proxy", "Proxy", Shape::One, &PROXY),
        text_map("meta", "Meta", "Told to whoever asks for the proxy."),
    ]],
    finish: None,
};

static PROXY: Body = Body {
    name: "proxy",
    about: "What the proxy serves and reaches.",
    attributes: &[
        text("local_service_address", "LocalServiceAddress", "", "Where the service listens."),
        int("local_service_port", "LocalServicePort", "", "The port on which it listens."),
    ],
    blocks: &[&[
        block("upstreams", "Upstreams", Shape::Many, &UPSTREAMS),
        block("expose", "Expose", Shape::One, &EXPOSE),
        block("transparent_proxy", "TransparentProxy", Shape::One, &TRANSPARENT_PROXY).since("1.8"),
        free("config", "Config", "What the proxy alone reads."),
    ]],
    finish: None,
};

static TRANSPARENT_PROXY: Body = Body {
    name: "transparent_proxy",
    about: "Leads traffic through the proxy without the task's knowledge.",
    attributes: &[
        text("uid", "UID", "", "The user that the proxy runs as."),
        count("outbound_port", "OutboundPort", "", "The proxy's port for what goes out."),
        texts("exclude_inbound_ports", "ExcludeInboundPorts", "", "Ports that stay outside."),
        attribute(
            "exclude_outbound_ports",
            "ExcludeOutboundPorts",
            Kind::Counts,
            "",
            "Ports of others that are reached directly.",
        ),
        texts("exclude_outbound_cidrs", "ExcludeOutboundCIDRs", "", "Networks that are reached directly."),
        texts("exclude_uids", "ExcludeUIDs", "", "Users whose traffic is not led."),
        bool("no_dns", "NoDNS", "false", "Leave name resolution alone."),
    ],
    blocks: &[],
    finish: None,
};

const UPSTREAM_ATTRIBUTES: &[Attribute] = &[
    text("destination_name", "DestinationName", "", "The other service."),
    text("destination_namespace", "DestinationNamespace", "", "Its namespace in Consul."),
    text("destination_peer", "DestinationPeer", "", "The peered cluster that it is in."),
    text("destination_partition", "DestinationPartition", "", "Its partition in Consul.").since("1.7"),
    text("destination_type", "DestinationType", "", "`service` or `prepared_query`."),
    int("local_bind_port", "LocalBindPort", "", "Where tasks reach it."),
    text("datacenter", "Datacenter", "", "Its data centre in Consul."),
    text("local_bind_address", "LocalBindAddress", "", "The address for `local_bind_port`."),
    text("local_bind_socket_path", "LocalBindSocketPath", "", "A socket in place of a port."),
    text("local_bind_socket_mode", "LocalBindSocketMode", "", "The socket's permissions, octal."),
];

static UPSTREAMS: Body = Body {
    name: "upstreams",
    about: "Another service that tasks reach through the proxy.",
    attributes: UPSTREAM_ATTRIBUTES,
    blocks: &[&[
        block("mesh_gateway", "MeshGateway", Shape::One, &MESH_GATEWAY),
        free("config", "Config", "What the proxy alone reads."),
    ]],
    finish: None,
};

static MESH_GATEWAY: Body = Body {
    name: "mesh_gateway",
    about: "Which gateways traffic goes through.",
    attributes: &[text("mode", "Mode", "", "`none`, `local` or `remote`.")],
    blocks: &[],
    finish: None,
};

static EXPOSE: Body = Body {
    name: "expose",
    about: "Paths that are reached from outside of the mesh.",
    attributes: &[],
    blocks: &[&[block("path", "Paths", Shape::Many, &EXPOSE_PATH)]],
    finish: None,
};

static EXPOSE_PATH: Body = Body {
    name: "path",
    about: "One such path.",
    attributes: &[
        text("path", "Path", "", "The path."),
        text("protocol", "Protocol", "", "`http` or `http2`."),
        int("local_path_port", "LocalPathPort", "", "Where the service serves it."),
        text("listener_port", "ListenerPort", "", "The label of the port on which the proxy serves it."),
    ],
    blocks: &[],
    finish: None,
};

static SIDECAR_TASK: Body = Body {
    name: "sidecar_task",
    about: "What is different about the proxy's task.",
    attributes: &[
        text("name", "Name", "", "The task's name."),
        text("driver", "Driver", "", "What runs it; `docker` unless given."),
        text("user", "User", "", "Whom it runs as."),
        duration("kill_timeout", "KillTimeout", "", "Between the signal and the kill."),
        duration("shutdown_delay", "ShutdownDelay", "", "Before the signal."),
        text("kill_signal", "KillSignal", "", "The signal that asks it to stop."),
    ],
    blocks: &[&[
        free("config", "Config", "What the driver alone reads."),
        text_map("env", "Env", "The task's environment."),
        text_map("meta", "Meta", "The task's meta."),
        block("resources", "Resources", Shape::One, &RESOURCES),
        block("logs", "LogConfig", Shape::One, &LOGS),
        block("volume_mount", "VolumeMounts", Shape::Many, &VOLUME_MOUNT).since("1.10"),
    ]],
    finish: None,
};

static GATEWAY: Body = Body {
    name: "gateway",
    about: "A way into or out of the mesh.",
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
    about: "The gateway's proxy.",
    attributes: &[
        duration("connect_timeout", "ConnectTimeout", "", "For connections to services; 5s unless given."),
        bool(
            "envoy_gateway_bind_tagged_addresses",
            "EnvoyGatewayBindTaggedAddresses",
            "false",
            "Listen on the service's tagged addresses.",
        ),
        bool(
            "envoy_gateway_no_default_bind",
            "EnvoyGatewayNoDefaultBind",
            "false",
            "Do not listen on the default address.",
        ),
        text("envoy_dns_discovery_type", "EnvoyDNSDiscoveryType", "", "`STRICT_DNS` or `LOGICAL_DNS`."),
    ],
    blocks: &[&[
        block("envoy_gateway_bind_addresses", "EnvoyGatewayBindAddresses", Shape::ByLabel(""), &BIND_ADDRESS),
        free("config", "Config", "What the proxy alone reads."),
    ]],
    finish: None,
};

static BIND_ADDRESS: Body = Body {
    name: "envoy_gateway_bind_addresses",
    about: "An address on which the gateway listens. Its label is its name.",
    attributes: &[text("address", "Address", "", "The address."), int("port", "Port", "", "The port.")],
    blocks: &[],
    finish: None,
};

static INGRESS: Body = Body {
    name: "ingress",
    about: "What comes into the mesh.",
    attributes: &[],
    blocks: &[&[block("tls", "TLS", Shape::One, &TLS), block("listener", "Listeners", Shape::Many, &LISTENER)]],
    finish: None,
};

static TLS: Body = Body {
    name: "tls",
    about: "The gateway's TLS.",
    attributes: &[
        bool("enabled", "Enabled", "false", "Whether it speaks TLS."),
        text("tls_min_version", "TLSMinVersion", "", "The lowest version."),
        text("tls_max_version", "TLSMaxVersion", "", "The highest version."),
        texts("cipher_suites", "CipherSuites", "", "The ciphers that are offered."),
    ],
    blocks: &[],
    finish: None,
};

static LISTENER: Body = Body {
    name: "listener",
    about: "One port of the gateway.",
    attributes: &[
        int("port", "Port", "", "Its number."),
        text("protocol", "Protocol", "", "`tcp`, `http`, `http2` or `grpc`."),
    ],
    blocks: &[&[block("service", "Services", Shape::Many, &INGRESS_SERVICE)]],
    finish: None,
};

static INGRESS_SERVICE: Body = Body {
    name: "service",
    about: "A service behind the port.",
    attributes: &[
        text("name", "Name", "", "The service; `*` for all."),
        texts("hosts", "Hosts", "", "The host names that lead to it."),
    ],
    blocks: &[],
    finish: None,
};

static TERMINATING: Body = Body {
    name: "terminating",
    about: "What goes out of the mesh.",
    attributes: &[],
    blocks: &[&[block("service", "Services", Shape::Many, &LINKED_SERVICE)]],
    finish: None,
};

static LINKED_SERVICE: Body = Body {
    name: "service",
    about: "A service outside of the mesh.",
    attributes: &[
        text("name", "Name", "", "The service."),
        text("ca_file", "CAFile", "", "Who signs its certificate."),
        text("cert_file", "CertFile", "", "The gateway's certificate for it."),
        text("key_file", "KeyFile", "", "That certificate's key."),
        text("sni", "SNI", "", "The name that is asked for."),
    ],
    blocks: &[],
    finish: None,
};

static MESH: Body = Body {
    name: "mesh",
    about: "A gateway between meshes; it has no settings.",
    attributes: &[],
    blocks: &[],
    finish: None,
};
