use super::row::Kind::{Any, Block, Bool, Duration, Map, NamedBlocks, Text, Texts, Whole};
use super::row::{COUNT, Row, Table, aside, row};

const PORT: super::row::Kind = Whole(0, 65_535);
const HTTP_ONLY: &str = "only HTTP is listened on";

const RPC_ADDRESS: Row = aside("rpc", Text, "", "Between servers and clients.").because(HTTP_ONLY);
const SERF_ADDRESS: Row = aside("serf", Text, "", "The gossip of servers.").because(HTTP_ONLY);

pub(super) const TABLES: &[Table] = &[
    Table { path: "", meaning: "The agent as a whole.", rows: TOP },
    Table {
        path: "ports",
        meaning: "Ports to listen on.",
        rows: &[
            row("http", PORT, "4646", "The API."),
            aside("rpc", PORT, "4647", "Between servers and clients.").because(HTTP_ONLY),
            aside("serf", PORT, "4648", "The gossip of servers.").because(HTTP_ONLY),
        ],
    },
    Table {
        path: "addresses",
        meaning: "Addresses to listen on, where they differ from `bind_addr`.",
        rows: &[row("http", Text, "", "The API."), RPC_ADDRESS, SERF_ADDRESS],
    },
    Table {
        path: "advertise",
        meaning: "Addresses that others are told; without a port that of `ports` holds. Where nothing is given it is the \
                  address that is listened on, or the first private one of the host.",
        rows: &[row("http", Text, "", "The API."), RPC_ADDRESS, SERF_ADDRESS],
    },
    Table {
        path: "plugin",
        meaning: "A driver's settings. Its label is the driver's name: `docker`, `raw_exec` or `mock_driver`.",
        rows: &[
            aside("args", Texts, "", "Arguments of a plugin's process; there are none."),
            row("config", Any, "", "The driver's own settings: see below, and [docker.md](docker.md) for `docker`."),
        ],
    },
    Table {
        path: "plugin.raw_exec.config",
        meaning: "The driver `raw_exec`, which runs processes of the host as they are.",
        rows: &[
            row("enabled", Bool, "false", "Tasks may use it."),
            row("no_cgroups", Bool, "false", "Its tasks have no control group of their own."),
        ],
    },
    Table {
        path: "plugin.mock_driver.config",
        meaning: "The driver `mock_driver`, which runs nothing.",
        rows: &[row("enabled", Bool, "false", "Tasks may use it.")],
    },
];

const TOP: &[Row] = &[
    row("region", Text, "global", "The agent's region."),
    row("datacenter", Text, "dc1", "The agent's data centre; without `*`."),
    row("name", Text, "", "The agent's name; the host's name if not given."),
    row(
        "data_dir",
        Text,
        "",
        "An absolute path: the folder of all that outlives the process. Must be given without `-dev`.",
    ),
    aside("plugin_dir", Text, "", "An absolute path: the folder of external plugins, of which there are none."),
    row(
        "bind_addr",
        Text,
        "0.0.0.0",
        "The address to listen on: an IP address, or a template with `GetInterfaceIP` or `GetPrivateIP`.",
    ),
    row("log_level", Text, "INFO", "`TRACE`, `DEBUG`, `INFO`, `WARN`, `ERROR` or `OFF`, in any case.").reloads(),
    row("log_json", Bool, "false", "Writes the log as lines of JSON."),
    row("log_include_location", Bool, "false", "Names file and line in the log."),
    aside("log_file", Text, "", "A file for the log; it goes to standard output here."),
    aside("log_rotate_duration", Duration, "24h", "When a new log file is begun."),
    aside("log_rotate_bytes", COUNT, "", "Size at which a new log file is begun."),
    aside("log_rotate_max_files", COUNT, "", "How many old log files stay."),
    aside("enable_debug", Bool, "false", "Serves profiles of the process."),
    aside("enable_syslog", Bool, "false", "Writes the log to syslog."),
    aside("syslog_facility", Text, "LOCAL0", "The facility for syslog."),
    row("leave_on_interrupt", Bool, "false", "SIGINT ends with exit code 0 instead of 1."),
    row("leave_on_terminate", Bool, "false", "SIGTERM ends with exit code 0 instead of 1."),
    row("disable_update_check", Bool, "", "There is no update check: either value holds."),
    row("disable_anonymous_signature", Bool, "", "No signature is sent anywhere: either value holds."),
    row("http_api_response_headers", Map, "", "Headers that each answer of the API carries."),
    row(
        "http_api_allowed_origins",
        Texts,
        "",
        "Origins of web pages that may use the API, as in `https://ui.example`.",
    )
    .ours(),
    row(
        "http_api_allowed_hosts",
        Texts,
        "",
        "Names that a loopback listener answers to, beside `localhost` and loopback addresses.",
    )
    .ours(),
    row("ports", Block, "", "Ports to listen on."),
    row("addresses", Block, "", "Addresses to listen on."),
    row("advertise", Block, "", "Addresses that others are told."),
    row("server", Block, "", "The server role."),
    row("client", Block, "", "The client role."),
    row("acl", Block, "", "Access control."),
    row("tls", Block, "", "TLS."),
    row("audit", Block, "", "The audit log."),
    row("telemetry", Block, "", "Figures about the agent."),
    row("plugin", NamedBlocks, "", "Settings of drivers."),
    aside("limits", Block, "", "Limits for connections."),
    aside("autopilot", Block, "", "Upkeep of a cluster of servers."),
    aside("ui", Block, "", "The web pages, which this build has not."),
    aside("consul", Block, "", "Consul."),
    aside("vault", Block, "", "Vault."),
    aside("sentinel", Any, "", "Policies of the enterprise edition."),
    aside("rpc", Block, "", "Connections between servers and clients.").later(),
    aside("eventlog", Block, "", "The event log of Windows.").later(),
    aside("reporting", Block, "", "Reports about the use of a licence.").later(),
    row("keyring", Any, "", "Providers of the keys that encrypt variables; the block stops the start.")
        .refused()
        .later(),
];
