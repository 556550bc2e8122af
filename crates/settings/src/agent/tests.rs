use longshore_values::GoDuration;
use proptest::prelude::*;

use super::*;
use crate::decode::Unused;

fn inputs(files: &[(&str, &str)]) -> Inputs {
    Inputs {
        dev: true,
        files: files.iter().map(|(n, t)| ((*n).to_owned(), (*t).to_owned())).collect(),
        ..Inputs::default()
    }
}

fn read(text: &str) -> AgentConfig {
    AgentConfig::read(&inputs(&[("a.hcl", text)])).unwrap()
}

fn refusal(text: &str) -> String {
    AgentConfig::read(&inputs(&[("a.hcl", text)])).unwrap_err().to_string()
}

fn listed(told: &[Diagnostic]) -> String {
    told.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n\n")
}

/// `image delay container` of the Docker driver, as its owner would read them.
fn gc(files: &[(&str, &str)]) -> Result<(String, Vec<Diagnostic>), Refusal> {
    let config = AgentConfig::read(&inputs(files))?;
    let driver = legacy_docker_options(&config);
    let decoded = driver.tree.decode(|block| {
        for key in ["endpoint", "allow_privileged"] {
            block.take_string(key);
        }
        block.take_block("auth", |auth| auth.take_string("config"));
        block.take_block("gc", |gc| {
            let image = gc.take_bool_or("image", true);
            let delay = gc.take_duration_or("image_delay", GoDuration::minutes(3));
            let container = gc.take_bool_or("container", true);
            gc.take_block("dangling_containers", |dangling| dangling.take_bool_or("enabled", true));
            format!("{image} {delay} {container}")
        })
    });
    let mut told = config.warnings;
    told.extend(driver.warnings);
    let decoded = decoded.into_result()?;
    told.extend(decoded.diagnostics);
    Ok((decoded.value, told))
}

#[track_caller]
fn check(text: &str, expected: &str, warnings: &str) {
    let (got, told) = gc(&[("a.hcl", text)]).unwrap();
    assert_eq!(got, expected, "{text}");
    let told: Vec<String> = told
        .iter()
        .map(|it| format!("{}{}", it.place.as_ref().map_or(String::new(), |p| format!("{p}: ")), it.summary))
        .collect();
    assert_eq!(told.join("\n"), warnings, "{text}");
}

/// Each way of writing the images' delay that has cost somebody their images elsewhere.
#[test]
fn the_image_delay_means_the_same_however_its_block_is_given() {
    let plugin = |inner: &str| format!("plugin \"docker\" {{ config {{ {inner} }} }}");
    check("", "true 3m0s true", "");
    check("client { options { \"x\" = \"y\" } }", "true 3m0s true", "");
    check(&plugin(""), "true 3m0s true", "");
    check(&plugin("auth { config = \"/x\" }"), "true 3m0s true", "");
    check(&plugin("gc { }"), "true 3m0s true", "");
    check(&plugin("gc { container = true }"), "true 3m0s true", "");
    check(&plugin("gc { image = true }"), "true 3m0s true", "");
    check(&plugin("gc { dangling_containers { enabled = false } }"), "true 3m0s true", "");
    check(&plugin("gc { image_delay = \"2s\" }"), "true 2s true", "");
    check(
        "client { options { docker.cleanup.image.delay = \"2s\" } }",
        "true 2s true",
        "a.hcl:1:49: client option \"docker.cleanup.image.delay\" holds, but it has a new place",
    );
    check(
        &plugin("gc { image_delay = \"\" }"),
        "true 3m0s true",
        "a.hcl:1:47: plugin.docker.config.gc.image_delay is empty: the default 3m0s holds",
    );
    check(&plugin("gc { image = false }"), "false 3m0s true", "");
    insta::assert_snapshot!(gc(&[("a.hcl", "plugin \"docker\" {\n  gc {\n    image = false\n  }\n}")]).unwrap_err(), @r#"
    a.hcl:2:3: plugin "docker" unexpected keys gc
      |
    2 |   gc {
      |   ^^
    Nomad takes this without a word, and it has no effect there
    hint: a plugin's own settings belong in its config block: plugin "docker" { config { gc { … } } }
    "#);
}

#[test]
fn cleanup_options_hold_beside_a_plugin_block_and_others_do_not() {
    let option = "client { options { \"docker.cleanup.image.delay\" = \"96h\" } }\n";
    let with = |rest: &str| format!("{option}{rest}");
    let holds = "a.hcl:1:51: client option \"docker.cleanup.image.delay\" holds, but it has a new place";
    check(option, "true 96h0m0s true", holds);
    check(&with("plugin \"docker\" { config { auth { config = \"/x\" } } }"), "true 96h0m0s true", holds);
    check(&with("plugin \"docker\" { }"), "true 96h0m0s true", holds);
    check(
        &with("plugin \"docker\" { config { gc { image_delay = \"2s\" } } }"),
        "true 2s true",
        "a.hcl:1:51: client option \"docker.cleanup.image.delay\" has no effect: gc.image_delay of plugin \"docker\" is set (a.hcl:2)",
    );
    check(&with("plugin \"docker\" { config { gc { image = false } } }"), "false 96h0m0s true", holds);
    let (got, told) = gc(&[(
        "a.hcl",
        "client {\n  options {\n    \"docker.privileged.enabled\" = \"true\"\n    \"docker.cleanup.image\" = \"false\"\n    \"docker.clean\" = \"1\"\n  }\n}\nplugin \"docker\" { config { } }",
    )])
    .unwrap();
    assert_eq!(got, "false 3m0s true");
    insta::assert_snapshot!(listed(&told), @r#"
    a.hcl:4:30: client option "docker.cleanup.image" holds, but it has a new place
      |
    4 |     "docker.cleanup.image" = "false"
      |                              ^^^^^^^
    hint: write plugin "docker" { config { gc { image = false } } }

    a.hcl:3:35: client option "docker.privileged.enabled" has no effect: plugin "docker" has a config block, which replaces it
      |
    3 |     "docker.privileged.enabled" = "true"
      |                                   ^^^^^^
    hint: remove the option, or write plugin "docker" { config { allow_privileged = true } }

    a.hcl:5:22: client option "docker.clean" is unknown and has no effect
      |
    5 |     "docker.clean" = "1"
      |                      ^^^
    "#);
}

#[test]
fn options_alone_are_the_drivers_settings() {
    let config = read(
        "client { options { docker.privileged.enabled = true, docker.caps.allowlist = \"chown, kill\", docker.tls.ca = \"/ca\", docker.volumes.enabled = \"1\" } }",
    );
    let driver = legacy_docker_options(&config);
    let leaves: Vec<String> =
        driver.tree.object.leaves().into_iter().map(|(path, from)| format!("{} ({from})", path.join("."))).collect();
    insta::assert_snapshot!(leaves.join("\n"), @r#"
    allow_caps (client option "docker.caps.allowlist" at a.hcl:1)
    allow_privileged (client option "docker.privileged.enabled" at a.hcl:1)
    volumes.enabled (client option "docker.volumes.enabled" at a.hcl:1)
    "#);
    insta::assert_snapshot!(listed(&driver.warnings), @r#"
    a.hcl:1:48: client option "docker.privileged.enabled" holds, but it has a new place
      |
    1 | client { options { docker.privileged.enabled = true, docker.caps.allowlist = "chown, kill", docker.tls.ca = "/ca", docker.volumes.enabled = "1" } }
      |                                                ^^^^
    hint: write plugin "docker" { config { allow_privileged = true } }

    a.hcl:1:109: client option "docker.tls.ca" has no effect without "docker.tls.cert"
      |
    1 | client { options { docker.privileged.enabled = true, docker.caps.allowlist = "chown, kill", docker.tls.ca = "/ca", docker.volumes.enabled = "1" } }
      |                                                                                                             ^^^^^

    a.hcl:1:141: client option "docker.volumes.enabled" holds, but it has a new place
      |
    1 | client { options { docker.privileged.enabled = true, docker.caps.allowlist = "chown, kill", docker.tls.ca = "/ca", docker.volumes.enabled = "1" } }
      |                                                                                                                                             ^^^
    hint: write plugin "docker" { config { volumes { enabled = "1" } } }

    a.hcl:1:78: client option "docker.caps.allowlist" holds, but it has a new place
      |
    1 | client { options { docker.privileged.enabled = true, docker.caps.allowlist = "chown, kill", docker.tls.ca = "/ca", docker.volumes.enabled = "1" } }
      |                                                                              ^^^^^^^^^^^^^
    hint: write plugin "docker" { config { allow_caps = ["chown", "kill"] } }
    "#);
    let raw_exec = legacy_raw_exec_options(&config);
    assert_eq!((raw_exec.tree.object.leaves().len(), raw_exec.warnings), (1, vec![]));
}

#[test]
fn an_option_that_is_no_bool_is_refused_at_its_line() {
    let why = gc(&[("a.hcl", "client { options { \"docker.cleanup.image\" = \"flase\" } }")]).unwrap_err();
    insta::assert_snapshot!(why, @r#"
    a.hcl:1:45: plugin.docker.config.gc.image takes true or false, not "flase"
      |
    1 | client { options { "docker.cleanup.image" = "flase" } }
      |                                             ^^^^^^^
    "#);
}

#[test]
fn plugin_blocks_of_several_files_are_merged_key_by_key() {
    let files = [
        (
            "a.hcl",
            "plugin \"docker\" {\n  config {\n    auth { config = \"/x\" }\n    gc { image_delay = \"2s\" }\n  }\n}",
        ),
        ("b.json", r#"{"plugin": {"docker": {"config": {"gc": {"image": true, "image_delay": ""}}}}}"#),
    ];
    let (got, told) = gc(&files).unwrap();
    assert_eq!(got, "true 2s true");
    insta::assert_snapshot!(listed(&told), @r#"
    b.json:1:24: plugin "docker" is configured more than once: all are merged key by key
      |
    1 | {"plugin": {"docker": {"config": {"gc": {"image": true, "image_delay": ""}}}}}
      |                        ^^^^^^^^
    Nomad would have used this one alone and dropped auth.config (a.hcl:3)

    b.json:1:72: plugin.docker.config.gc.image_delay is empty here: the earlier value holds (a.hcl:4)
      |
    1 | {"plugin": {"docker": {"config": {"gc": {"image": true, "image_delay": ""}}}}}
      |                                                                        ^^
    "#);
}

#[test]
fn later_wins_and_the_lists_that_grow_do() {
    let mut inputs = inputs(&[
        (
            "a.hcl",
            "region = \"r1\"\nlog_level = \"info\"\nclient {\n servers = [\"a\"]\n meta { x = \"1\" y = \"1\" }\n host_volume \"v\" { path = \"/a\" read_only = true }\n}",
        ),
        (
            "b.json",
            r#"{"region": "", "datacenter": "dc2", "client": {"servers": ["b"], "meta": {"y": "2"}, "host_volume": [{"v": {"path": "/b"}}, {"w": {"path": "/w"}}]}, "ports": {"http": "4700"}}"#,
        ),
    ]);
    inputs.flags = [("dc", "dc3"), ("meta", "z=3"), ("meta", "w=4"), ("servers", "c, d"), ("bind", "0.0.0.0")]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .to_vec();
    let config = AgentConfig::read(&inputs).unwrap();
    assert_eq!((config.region.as_str(), config.datacenter.as_str()), ("r1", "dc3"));
    assert_eq!((config.bind_addr.as_str(), config.log.level.as_str(), config.ports.http), ("0.0.0.0", "INFO", 4700));
    assert_eq!(config.client.servers, ["a", "b", "c", "d"]);
    let meta: Vec<String> = config.client.meta.iter().map(|(key, value)| format!("{key}={value}")).collect();
    assert_eq!(meta, ["w=4", "x=1", "y=2", "z=3"]);
    let volumes: Vec<String> = config
        .client
        .host_volumes
        .iter()
        .map(|(name, it)| format!("{name} {} {}", it.path.display(), it.read_only))
        .collect();
    assert_eq!(volumes, ["v /b false", "w /w false"]);
    insta::assert_snapshot!(listed(&config.warnings), @"b.json:1:12: region is empty here: the earlier value holds (a.hcl:1)");
    let from = |path: &str| {
        let found = config.effective.iter().find(|it| it.path == path).unwrap();
        format!("{} ({})", found.value, found.origin)
    };
    assert_eq!(from("region"), "r1 (a.hcl:1)");
    assert_eq!(from("datacenter"), "dc3 (flag -dc)");
    assert_eq!(from("server.enabled"), "true (default of -dev)");
    assert_eq!(from("ports.rpc"), "4647 (default)");
    assert_eq!(from("client.meta.y"), "2 (b.json:1)");
}

#[test]
fn the_environment_goes_over_files_and_flags_over_both() {
    let mut given = inputs(&[("a.hcl", "vault {\n  token = \"file\"\n  namespace = \"file\"\n}")]);
    let pairs = |pairs: &[(&str, &str)]| pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    given.environment = pairs(&[("VAULT_TOKEN", "s3cret"), ("VAULT_NAMESPACE", "env"), ("CONSUL_HTTP_ADDR", "c:1")]);
    given.flags = pairs(&[("vault-namespace", "flag")]);
    let decoded = AgentConfig::examine(&given);
    let from = |path: &str| {
        let found = decoded.effective.iter().find(|it| it.path == path).unwrap();
        format!("{} ({})", found.value, found.origin)
    };
    assert_eq!(from("vault.token"), "*** (environment variable VAULT_TOKEN)");
    assert_eq!(from("vault.namespace"), "flag (flag -vault-namespace)");
    assert_eq!(from("consul.address"), "c:1 (environment variable CONSUL_HTTP_ADDR)");
    let unused: Vec<String> = decoded.unused.iter().map(|it| format!("{} ({})", it.path, it.origin)).collect();
    assert_eq!(
        unused,
        [
            "consul.address (environment variable CONSUL_HTTP_ADDR)",
            "vault.namespace (flag -vault-namespace)",
            "vault.token (environment variable VAULT_TOKEN)",
        ]
    );
}

#[test]
fn secrets_are_not_listed() {
    let config = read("client { meta { api_token = \"s.123\" owner = \"ops\" } }");
    let listed: Vec<&str> =
        config.effective.iter().filter(|it| it.path.starts_with("client.meta")).map(|it| it.value.as_str()).collect();
    assert_eq!(listed, ["***", "ops"]);
}

#[test]
fn dev_defaults() {
    let config = AgentConfig::read(&inputs(&[])).unwrap();
    assert!(config.server.enabled && config.client.enabled && config.enable_debug);
    assert_eq!((config.bind_addr.as_str(), config.log.level.as_str()), ("127.0.0.1", "DEBUG"));
    assert_eq!(config.client.gc_interval, GoDuration::minutes(10));
    assert_eq!((config.client.gc_disk_usage_threshold, config.client.gc_max_allocs), (99.0, 50));
    assert!(config.telemetry.prometheus_metrics && config.telemetry.publish_node_metrics);
    assert_eq!((config.warnings.as_slice(), config.start_notices()), (&[][..], vec![]));
}

#[test]
fn defaults_without_dev() {
    let config = AgentConfig::read(&Inputs {
        dev: false,
        files: vec![(
            "a.hcl".to_owned(),
            "data_dir = \"/d\" server { enabled = true bootstrap_expect = 1 }".to_owned(),
        )],
        ..Inputs::default()
    })
    .unwrap();
    assert_eq!((config.ports.http, config.ports.rpc, config.ports.serf), (4646, 4647, 4648));
    assert_eq!((config.region.as_str(), config.datacenter.as_str(), config.name), ("global", "dc1", None));
    assert_eq!((config.bind_addr.as_str(), config.log.level.as_str()), ("0.0.0.0", "INFO"));
    assert_eq!((config.client.min_dynamic_port, config.client.max_dynamic_port), (20_000, 32_000));
    assert_eq!(config.client.max_kill_timeout, GoDuration::seconds(30));
    assert_eq!((config.server.job_tracked_versions, config.server.job_max_source_size), (6, 1 << 20));
}

#[track_caller]
fn check_refused(dev: bool, text: &str, expected: &str) {
    let inputs = Inputs { dev, files: vec![("a.hcl".to_owned(), text.to_owned())], ..Inputs::default() };
    let refusal = AgentConfig::read(&inputs).unwrap_err();
    let summaries: Vec<&str> = refusal.errors().map(|told| told.summary.as_str()).collect();
    assert_eq!(summaries.join("; "), expected, "{text}");
}

#[test]
fn what_spans_settings_is_checked_in_nomads_words() {
    check_refused(false, "data_dir = \"/d\"", "Must specify either server, client or dev mode for the agent.");
    check_refused(
        false,
        "server { enabled = true }",
        "Must specify \"data_dir\" config option or \"data-dir\" CLI flag",
    );
    check_refused(
        false,
        "data_dir = \"x\" server { enabled = true }",
        "data-dir must be given as an absolute path: got x",
    );
    check_refused(true, "datacenter = \"dc*\"", "Datacenter contains invalid characters (null or '*')");
    check_refused(true, "client { meta { \"a b\" = \"1\" } }", "Invalid Client.Meta key: a b");
    check_refused(
        true,
        "client { node_pool = \"all\" }",
        "Invalid node pool: node is not allowed to register in node pool \"all\"",
    );
    check_refused(
        true,
        "client { min_dynamic_port = 9 max_dynamic_port = 8 }",
        "Invalid dynamic port range: min_dynamic_port=9 and max_dynamic_port=8",
    );
    check_refused(
        true,
        "client { reserved { reserved_ports = \"22,x\" } }",
        "reserved.reserved_ports \"22,x\" invalid: \"x\" is no port",
    );
    check_refused(
        true,
        "client { host_network \"n\" { reserved_ports = \"9-8\" } }",
        "host_network[\"n\"].reserved_ports \"9-8\" invalid: \"9-8\" ends before it begins",
    );
    check_refused(true, "client { host_volume \"v\" { } }", "Missing path in host_volume config");
    check_refused(
        false,
        "data_dir = \"/d\" client { enabled = true } server { bootstrap_expect = 1 }",
        "Bootstrap requires server mode to be enabled",
    );
    check_refused(
        false,
        "data_dir = \"/d\" client { enabled = true } server { bootstrap_expect = 3 }",
        "server.bootstrap_expect = 3: this build runs one server",
    );
    check_refused(true, "server { raft_protocol = 2 }", "raft_protocol must be 3 in Nomad v1.4 and later, got 2");
    check_refused(
        true,
        "log_level = \"loud\"",
        "log_level = \"loud\": a log level is one of TRACE, DEBUG, INFO, WARN, ERROR, OFF",
    );
    check_refused(true, "ports { http = 70000 }", "ports.http must be between 0 and 65535, not 70000");
    check_refused(
        true,
        "client { gc_interval = 30 }",
        "client.gc_interval = \"30\" is no duration: time: missing unit in duration \"30\"",
    );
    check_refused(true, "client = 3", "client takes a block, not a number");
}

#[test]
fn nothing_runs_less_safe_than_asked() {
    check_refused(
        true,
        "acl { enabled = true }",
        "acl.enabled = true: access control lists are not in this build, and the agent must not answer everybody when they are asked for",
    );
    check_refused(
        true,
        "tls { http = true cert_file = \"/c\" }",
        "tls.http = true: TLS is not in this build, and the agent must not speak in the clear when TLS is asked for",
    );
    check_refused(true, "server { bootstrap_expect = 3 }", "server.bootstrap_expect = 3: this build runs one server");
    check_refused(
        true,
        "server { server_join { retry_join = [\"a\"] } }",
        "server.server_join.retry_join names other servers: this build runs one server",
    );
    check_refused(true, "audit { enabled = true }", "audit.enabled = true: the audit log is not in this build");
    assert_eq!(
        listed(&read("acl { enabled = false }\ntls { http = false rpc = false }\nvault { enabled = false }").warnings),
        ""
    );
}

/// The paths that are named as without effect, each with where it was given.
fn unused(inputs: &Inputs) -> Vec<String> {
    let decoded = AgentConfig::examine(inputs);
    let errors: Vec<String> =
        decoded.diagnostics.iter().filter(|told| told.is_error()).map(ToString::to_string).collect();
    assert_eq!(errors, Vec::<String>::new());
    decoded.unused.iter().map(|it| format!("{} ({})", it.path, it.origin)).collect()
}

/// Whether each setting, by itself in `block`, is named as without effect.
#[track_caller]
fn check_effects(block: &str, rows: &[(&str, bool)]) {
    for (row, without_effect) in rows {
        let text = match block {
            "" => (*row).to_owned(),
            block => {
                let parts: Vec<&str> = block.split_whitespace().collect();
                parts.iter().rev().fold((*row).to_owned(), |inner, part| format!("{part} {{\n{inner}\n}}"))
            }
        };
        let named = unused(&inputs(&[("a.hcl", &text)]));
        assert_eq!(!named.is_empty(), *without_effect, "{text}\n{named:?}");
    }
}

/// A row for every setting that is taken: whether it is named as without effect.
#[test]
fn what_this_build_does_not_act_on_is_named() {
    const HOLDS: bool = false;
    const NAMED: bool = true;
    check_effects(
        "",
        &[
            ("region = \"a\"", HOLDS),
            ("datacenter = \"a\"", HOLDS),
            ("name = \"a\"", HOLDS),
            ("data_dir = \"/a\"", HOLDS),
            ("plugin_dir = \"/a\"", NAMED),
            ("bind_addr = \"0.0.0.0\"", HOLDS),
            ("log_level = \"info\"", HOLDS),
            ("log_json = true", HOLDS),
            ("log_include_location = true", HOLDS),
            ("log_file = \"/a\"", NAMED),
            ("log_rotate_duration = \"1h\"", NAMED),
            ("log_rotate_bytes = 10", NAMED),
            ("log_rotate_max_files = 2", NAMED),
            ("enable_debug = true", NAMED),
            ("enable_syslog = true", NAMED),
            ("enable_syslog = false", HOLDS),
            ("syslog_facility = \"LOCAL1\"", NAMED),
            ("leave_on_interrupt = true", HOLDS),
            ("leave_on_terminate = true", HOLDS),
            ("disable_update_check = true", HOLDS),
            ("disable_anonymous_signature = true", HOLDS),
            ("http_api_response_headers { a = \"b\" }", HOLDS),
            ("http_api_allowed_origins = [\"http://a\"]", HOLDS),
            ("http_api_allowed_hosts = [\"a\"]", HOLDS),
            ("autopilot { cleanup_dead_servers = true }", NAMED),
            ("consul { address = \"a:1\" }", NAMED),
            ("consul { auto_advertise = false }", HOLDS),
            ("vault { enabled = true }", NAMED),
            ("ui { enabled = true }", NAMED),
            ("ui { enabled = false }", HOLDS),
            ("limits { http_max_conns_per_client = 5 }", NAMED),
            ("sentinel { import \"a\" { path = \"b\" } }", NAMED),
            ("rpc { accept_backlog = 5 }", NAMED),
            ("eventlog { enabled = true }", NAMED),
            ("reporting { address = \"a\" }", NAMED),
            ("plugin \"docker\" { args = [\"-x\"] }", NAMED),
        ],
    );
    for block in ["ports", "addresses", "advertise"] {
        let value = if block == "ports" { "4700" } else { "\"127.0.0.1\"" };
        check_effects(
            block,
            &[
                (&format!("http = {value}"), HOLDS),
                (&format!("rpc = {value}"), NAMED),
                (&format!("serf = {value}"), NAMED),
            ],
        );
    }
    check_effects(
        "tls",
        &[("http = false", HOLDS), ("ca_file = \"/a\"", NAMED), ("tls_min_version = \"tls13\"", NAMED)],
    );
    check_effects(
        "acl",
        &[("enabled = false", HOLDS), ("token_ttl = \"1m\"", NAMED), ("replication_token = \"a\"", NAMED)],
    );
    check_effects("audit", &[("enabled = false", HOLDS), ("sink \"a\" { type = \"file\" }", NAMED)]);
    check_effects(
        "telemetry",
        &[
            ("prometheus_metrics = true", HOLDS),
            ("publish_allocation_metrics = true", NAMED),
            ("publish_node_metrics = true", NAMED),
            ("publish_node_metrics = false", HOLDS),
            ("collection_interval = \"1s\"", NAMED),
            ("disable_hostname = true", NAMED),
            ("use_node_name = true", NAMED),
            ("filter_default = true", NAMED),
            ("prefix_filter = [\"+a\"]", NAMED),
            ("statsd_address = \"a:1\"", NAMED),
            ("datadog_tags = [\"a\"]", NAMED),
            ("circonus_api_token = \"a\"", NAMED),
            ("disable_dispatched_job_summary_metrics = true", NAMED),
            ("in_memory_collection_interval = \"10s\"", NAMED),
        ],
    );
    check_effects(
        "server",
        &[
            ("enabled = true", HOLDS),
            ("bootstrap_expect = 1", HOLDS),
            ("data_dir = \"/a\"", HOLDS),
            ("authoritative_region = \"a\"", NAMED),
            ("encrypt = \"MDEyMzQ1Njc4OWFiY2RlZg==\"", NAMED),
            ("raft_protocol = 3", NAMED),
            ("raft_multiplier = 1", NAMED),
            ("num_schedulers = 2", HOLDS),
            ("enabled_schedulers = [\"service\"]", NAMED),
            ("node_gc_threshold = \"1h\"", HOLDS),
            ("job_gc_interval = \"1h\"", HOLDS),
            ("job_gc_threshold = \"1h\"", HOLDS),
            ("eval_gc_threshold = \"1h\"", HOLDS),
            ("batch_eval_gc_threshold = \"1h\"", HOLDS),
            ("deployment_gc_threshold = \"1h\"", HOLDS),
            ("csi_plugin_gc_threshold = \"1h\"", NAMED),
            ("heartbeat_grace = \"1h\"", HOLDS),
            ("min_heartbeat_ttl = \"1h\"", HOLDS),
            ("failover_heartbeat_ttl = \"1h\"", HOLDS),
            ("max_heartbeats_per_second = 10", HOLDS),
            ("job_default_priority = 40", NAMED),
            ("job_max_priority = 200", NAMED),
            ("job_max_source_size = \"2M\"", NAMED),
            ("job_tracked_versions = 3", NAMED),
            ("server_join { retry_max = 3 }", NAMED),
            ("retry_interval = \"1s\"", NAMED),
            ("rejoin_after_leave = true", NAMED),
            ("event_buffer_size = 10", NAMED),
            ("search { fuzzy_enabled = true }", NAMED),
            ("plan_rejection_tracker { enabled = true }", NAMED),
            ("deploy_query_rate_limit = 10", NAMED),
        ],
    );
    check_effects(
        "server default_scheduler_config",
        &[
            ("scheduler_algorithm = \"spread\"", NAMED),
            ("memory_oversubscription_enabled = true", NAMED),
            ("memory_oversubscription_enabled = false", HOLDS),
            ("reject_job_registration = true", NAMED),
            ("pause_eval_broker = true", NAMED),
            ("preemption_config { batch_scheduler_enabled = true }", NAMED),
        ],
    );
    check_effects(
        "client",
        &[
            ("enabled = true", HOLDS),
            ("state_dir = \"/a\"", HOLDS),
            ("alloc_dir = \"/a\"", HOLDS),
            ("servers = [\"a\"]", NAMED),
            ("server_join { retry_join = [\"a\"] }", NAMED),
            ("node_class = \"a\"", HOLDS),
            ("node_pool = \"a\"", HOLDS),
            ("options { a = \"b\" }", HOLDS),
            ("meta { a = \"b\" }", HOLDS),
            ("chroot_env { \"/a\" = \"/b\" }", NAMED),
            ("network_interface = \"lo\"", HOLDS),
            ("network_speed = 10", HOLDS),
            ("cpu_total_compute = 10", HOLDS),
            ("memory_total_mb = 10", HOLDS),
            ("disk_total_mb = 10", HOLDS),
            ("disk_free_mb = 10", HOLDS),
            ("reservable_cores = \"0\"", NAMED),
            ("max_kill_timeout = \"1s\"", HOLDS),
            ("min_dynamic_port = 21000", HOLDS),
            ("max_dynamic_port = 31000", HOLDS),
            ("reserved { cpu = 1 memory = 1 disk = 1 reserved_ports = \"22\" }", HOLDS),
            ("reserved { cores = \"0\" }", NAMED),
            ("gc_interval = \"1s\"", NAMED),
            ("gc_parallel_destroys = 1", NAMED),
            ("gc_disk_usage_threshold = 90", NAMED),
            ("gc_inode_usage_threshold = 90", NAMED),
            ("gc_max_allocs = 5", HOLDS),
            ("no_host_uuid = true", NAMED),
            ("disable_remote_exec = true", HOLDS),
            ("template { disable_file_sandbox = true }", NAMED),
            ("artifact { git_timeout = \"1m\" }", NAMED),
            ("host_volume \"a\" { path = \"/a\" }", NAMED),
            ("host_network \"a\" { interface = \"lo\" }", NAMED),
            ("bridge_network_name = \"a\"", NAMED),
            ("cgroup_parent = \"a\"", HOLDS),
            ("drain_on_shutdown { deadline = \"1m\" }", NAMED),
            ("default_ineligible = false", HOLDS),
        ],
    );
}

#[test]
fn one_warning_names_all_that_has_no_effect() {
    let mut given = inputs(&[
        (
            "a.hcl",
            "vault {\n  enabled = true\n}\nclient {\n  cni_path = \"/opt\"\n  host_volume \"data\" {\n    path = \"/d\"\n  }\n}\n",
        ),
        ("b.json", "{\"server\": {\"encrypt\": \"MDEyMzQ1Njc4OWFiY2RlZg==\"}}"),
    ]);
    given.flags =
        [("vault-address", "http://a"), ("consul-token", "s3cret")].map(|(k, v)| (k.to_owned(), v.to_owned())).to_vec();
    let told = Unused::warning(&AgentConfig::examine(&given).unused);
    insta::assert_snapshot!(told.unwrap(), @"
    accepted, without effect in this build (6 settings):
      server.encrypt (b.json:1): this build runs one server, so there is no gossip to encrypt
      client.host_volume.data (a.hcl:6)
      client.cni_path (a.hcl:5)
      consul.token (flag -consul-token)
      vault (a.hcl:2)
      vault.address (flag -vault-address)
    ");
    assert_eq!(Unused::warning(&AgentConfig::examine(&inputs(&[])).unused), None);
}

/// With as many settings as a file can hold the time grows with their number, not with its square.
#[test]
fn a_hundred_thousand_options_are_read_soon() {
    let options: String = (0..100_000).map(|number| format!("  \"option.{number}\" = \"{number}\"\n")).collect();
    let text = format!("client {{ options {{\n{options}}} }}");
    let start = std::time::Instant::now();
    let decoded = AgentConfig::examine(&inputs(&[("a.hcl", &text)]));
    let told: usize = decoded.effective.iter().map(|it| it.origin.to_string().len()).sum();
    assert!(told > 100_000 && decoded.value.client.options.len() == 100_003);
    // Each place on its own took minutes; this takes a second without optimisation.
    assert!(start.elapsed() < std::time::Duration::from_secs(30), "{:?}", start.elapsed());
}

#[test]
fn unknown_and_misplaced_keys_name_the_right_place() {
    insta::assert_snapshot!(refusal("server {\n  colour = \"red\"\n}"), @r#"
    a.hcl:2:3: server unexpected keys colour
      |
    2 |   colour = "red"
      |   ^^^^^^
    "#);
    insta::assert_snapshot!(refusal("node_class = \"big\""), @r#"
    a.hcl:1:1: unexpected keys node_class
      |
    1 | node_class = "big"
      | ^^^^^^^^^^
    hint: it belongs in client { node_class = … }
    "#);
    insta::assert_snapshot!(refusal("client {\n  gc {\n    image = false\n  }\n}"), @r#"
    a.hcl:2:3: client unexpected keys gc
      |
    2 |   gc {
      |   ^^
    hint: it belongs in plugin "docker" { config { gc { … } } }
    "#);
    insta::assert_snapshot!(refusal("client {\n  image_delay = \"3s\"\n}"), @r#"
    a.hcl:2:3: client unexpected keys image_delay
      |
    2 |   image_delay = "3s"
      |   ^^^^^^^^^^^
    hint: it belongs in plugin "docker" { config { gc { image_delay … } } }
    "#);
    insta::assert_snapshot!(refusal("allow_privileged = true"), @r#"
    a.hcl:1:1: unexpected keys allow_privileged
      |
    1 | allow_privileged = true
      | ^^^^^^^^^^^^^^^^
    hint: it belongs in plugin "docker" { config { allow_privileged = … } }
    "#);
    insta::assert_snapshot!(refusal("client {\n  datacentre = \"x\"\n  datacenter = \"y\"\n enabledd = true }"), @r#"
    a.hcl:2:3: client unexpected keys datacentre
      |
    2 |   datacentre = "x"
      |   ^^^^^^^^^^

    a.hcl:3:3: client unexpected keys datacenter
      |
    3 |   datacenter = "y"
      |   ^^^^^^^^^^
    hint: it belongs in the top level of the agent file: datacenter = …

    a.hcl:4:2: client unexpected keys enabledd
      |
    4 |  enabledd = true }
      |  ^^^^^^^^
    hint: did you mean "enabled"?
    "#);
}

#[test]
fn agent_files_of_real_clusters_are_taken() {
    let text = r#"
        name       = "host-a"
        data_dir   = "/data/a"
        disable_update_check = true
        ports { http = 24700 rpc = 24701 serf = 24702 }
        advertise { http = "127.0.0.1" rpc = "127.0.0.1" serf = "127.0.0.1" }
        server {
          enabled          = true
          bootstrap_expect = 1
        }
        client {
          enabled           = true
          network_interface = "lo"
          node_class        = "small"
          servers           = ["127.0.0.1:24701"]
          meta { rack = "r1" owner = "ops" }
          options { "fingerprint.denylist" = "env_aws,env_gce,env_azure" "driver.allowlist" = "docker,raw_exec,mock_driver,exec" }
          reserved { cpu = 100 memory = 256 disk = 512 reserved_ports = "22,8500-8600" }
          host_volume "shared" { path = "/data/img" read_only = true }
          host_network "inside" { cidr = "192.0.2.0/24" reserved_ports = "9000" }
        }
        plugin "raw_exec" { config { enabled = true } }
        plugin "docker" {
          config {
            endpoint = "unix:///var/run/docker.sock"
            gc { image = true image_delay = "3m" dangling_containers { enabled = false } }
          }
        }
        telemetry {
          prometheus_metrics         = true
          publish_allocation_metrics = true
          publish_node_metrics       = true
          disable_hostname           = true
        }
        consul { auto_advertise = false server_auto_join = false client_auto_join = false }
    "#;
    let inputs = Inputs { dev: false, files: vec![("a.hcl".to_owned(), text.to_owned())], ..Inputs::default() };
    let config = AgentConfig::read(&inputs).unwrap();
    assert_eq!(listed(&config.warnings), "");
    insta::assert_snapshot!(unused(&inputs).join("\n"), @"
    ports.rpc (a.hcl:5)
    ports.serf (a.hcl:5)
    advertise.rpc (a.hcl:6)
    advertise.serf (a.hcl:6)
    telemetry.publish_allocation_metrics (a.hcl:31)
    telemetry.publish_node_metrics (a.hcl:32)
    telemetry.disable_hostname (a.hcl:33)
    client.servers (a.hcl:15)
    client.host_volume.shared (a.hcl:19)
    client.host_network.inside (a.hcl:20)
    ");
    assert_eq!(config.client.reserved.memory, 256);
    assert_eq!(config.plugins.keys().collect::<Vec<_>>(), ["docker", "raw_exec"]);
    assert_eq!(config.start_notices(), ["WARNING: Bootstrap mode enabled! Potentially unsafe operation."]);
}

#[test]
fn folders_count_agent_files_only() {
    let counted: Vec<&str> = ["a.hcl", "b.json", "c.txt", "a.hcl~", ".#a.hcl", "#a.hcl#", "hcl"]
        .into_iter()
        .filter(|name| counts_in_folder(name))
        .collect();
    assert_eq!(counted, ["a.hcl", "b.json"]);
}

proptest! {
    #[test]
    fn no_agent_file_panics(text in "(client|server|plugin|\"docker\"|config|gc|image_delay|options|ports|meta|enabled|[{}=,\\[\\]\n ]|\"\"|\"1\"|3|true){0,40}") {
        let _ = AgentConfig::read(&inputs(&[("a.hcl", &text)]));
    }

    /// The same settings in HCL and in JSON, in one file or spread over two, read the same.
    #[test]
    fn form_and_split_make_no_difference(
        delay in prop::option::of(0_u32..9), image in prop::option::of(any::<bool>()), auth in any::<bool>(), split in any::<bool>(),
    ) {
        let delay = delay.map(|delay| format!("{delay}s"));
        let mut hcl = String::new();
        let mut json = Vec::new();
        if let Some(delay) = &delay {
            hcl += &format!("image_delay = \"{delay}\"\n");
            json.push(format!("\"image_delay\": \"{delay}\""));
        }
        if let Some(image) = image {
            hcl += &format!("image = {image}\n");
            json.push(format!("\"image\": {image}"));
        }
        let auth_hcl = if auth { "auth { config = \"/x\" }" } else { "" };
        let auth_json = if auth { ", \"auth\": [{\"config\": \"/x\"}]" } else { "" };
        let one = format!("plugin \"docker\" {{ config {{ {auth_hcl}\ngc {{ {hcl} }} }} }}");
        let as_json = format!("{{\"plugin\": [{{\"docker\": {{\"config\": {{\"gc\": {{{}}}{auth_json}}}}}}}]}}", json.join(","));
        let expected = format!("{} {} true", image.unwrap_or(true), delay.unwrap_or_else(|| "3m0s".to_owned()));
        prop_assert_eq!(gc(&[("a", &one)]).unwrap().0, expected.clone());
        prop_assert_eq!(gc(&[("a", &as_json)]).unwrap().0, expected.clone());
        if split {
            let first = format!("plugin \"docker\" {{ config {{ {auth_hcl} }} }}");
            let second = format!("plugin \"docker\" {{ config {{ gc {{ {hcl} }} }} }}");
            prop_assert_eq!(gc(&[("a", &first), ("b", &second)]).unwrap().0, expected);
        }
    }
}
