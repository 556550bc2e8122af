use longshore_driver::{EventSink, LogFiles, NodeIdentity, TaskDirs};
use longshore_model::{AllocId, AllocatedPort, AllocatedTask, Dns, JobKey, LogConfig, NodeId};
use longshore_values::Glob;
use serde_json::{Value, json};

use super::*;
use crate::task::resources::MB;

fn request() -> StartRequest {
    let root = std::path::PathBuf::from("/data/alloc/1");
    let logs = LogConfig { max_files: 1, max_file_size_mb: 1, disabled: false };
    StartRequest {
        id: TaskId { alloc: AllocId::from_u128(1), task: "web".to_owned() },
        attempt: 1,
        node: NodeIdentity {
            id: NodeId::from_u128(2),
            name: "n1".into(),
            datacenter: "dc1".into(),
            region: "r".into(),
        },
        job: JobKey::new("default", "shop"),
        job_name: "shop".to_owned(),
        group: "front".to_owned(),
        user: String::new(),
        config: Value::Null,
        env: BTreeMap::from([("A".to_owned(), "1".to_owned())]),
        dirs: TaskDirs {
            alloc_root: root.clone(),
            shared_alloc: root.join("alloc"),
            task: root.join("web"),
            local: root.join("web/local"),
            secrets: root.join("web/secrets"),
            logs: root.join("alloc/logs"),
        },
        resources: AllocatedTask { cpu_mhz: 500, memory_mb: 256, memory_max_mb: 0 },
        node_cpu_mhz: 4_000,
        ports: ["http", "admin"]
            .into_iter()
            .zip([(20_001, 80), (20_002, 0)])
            .map(|(label, (value, to))| AllocatedPort {
                label: label.to_owned(),
                value,
                to,
                host_ip: "10.0.0.1".to_owned(),
                is_static: false,
            })
            .collect(),
        network_mode: None,
        network: None,
        dns: Dns::default(),
        logs: LogFiles { folder: root.join("alloc/logs"), task: "web".to_owned(), config: logs },
        events: EventSink::new(|_| {}),
    }
}

fn config(further: Value) -> TaskConfig {
    let mut config = json!({ "image": "redis:7" });
    for (key, value) in further.as_object().unwrap() {
        config[key] = value.clone();
    }
    TaskConfig::decode(&config).unwrap()
}

fn host(request: &StartRequest, further: Value, options: &Options) -> Result<HostConfig, String> {
    container_body(request, &config(further), options, 4)
        .map(|(body, _)| body.host_config)
        .map_err(|error| error.to_string())
}

#[test]
fn the_whole_of_a_plain_task() {
    let options = Options { extra_labels: vec![Glob::new("job_*"), Glob::new("node_name")], ..Options::default() };
    let further = json!({"command": "server", "args": ["-v"], "ports": ["http", "admin"], "labels": {"a": "b"}});
    let (mut body, hash) = container_body(&request(), &config(further), &options, 4).unwrap();
    assert_eq!(body.labels.insert(OWN_CONFIG_HASH.to_owned(), "HASH".to_owned()), Some(hash));
    insta::assert_snapshot!(serde_json::to_string_pretty(&body).unwrap(), @r#"
    {
      "Image": "",
      "Cmd": [
        "server",
        "-v"
      ],
      "Env": [
        "A=1"
      ],
      "Labels": {
        "a": "b",
        "com.hashicorp.nomad.alloc_id": "00000000-0000-0000-0000-000000000001",
        "com.hashicorp.nomad.job_id": "shop",
        "com.hashicorp.nomad.job_name": "shop",
        "com.hashicorp.nomad.node_name": "n1",
        "longshore.agent": "00000000-0000-0000-0000-000000000002",
        "longshore.allocation": "00000000-0000-0000-0000-000000000001",
        "longshore.config_hash": "HASH",
        "longshore.image": "redis:7",
        "longshore.task": "web"
      },
      "ExposedPorts": {
        "20002/tcp": {},
        "20002/udp": {},
        "80/tcp": {},
        "80/udp": {}
      },
      "HostConfig": {
        "Binds": [
          "/data/alloc/1/alloc:/alloc",
          "/data/alloc/1/web/local:/local",
          "/data/alloc/1/web/secrets:/secrets"
        ],
        "NetworkMode": "default",
        "PortBindings": {
          "20002/tcp": [
            {
              "HostIp": "10.0.0.1",
              "HostPort": "20002"
            }
          ],
          "20002/udp": [
            {
              "HostIp": "10.0.0.1",
              "HostPort": "20002"
            }
          ],
          "80/tcp": [
            {
              "HostIp": "10.0.0.1",
              "HostPort": "20001"
            }
          ],
          "80/udp": [
            {
              "HostIp": "10.0.0.1",
              "HostPort": "20001"
            }
          ]
        },
        "CpuShares": 500,
        "Memory": 268435456,
        "MemorySwap": 268435456,
        "PidsLimit": -1,
        "CapDrop": [
          "net_raw"
        ],
        "LogConfig": {
          "Type": "json-file",
          "Config": {
            "max-file": "2",
            "max-size": "2m"
          }
        }
      }
    }
    "#);
}

#[test]
fn the_hash_follows_what_the_container_is_made_from_and_no_credentials() {
    let hash = |further| container_body(&request(), &config(further), &Options::default(), 4).unwrap().1;
    let plain = hash(json!({}));
    assert_eq!(plain, hash(json!({"auth": {"username": "ann", "password": "pw"}, "force_pull": true})));
    assert_ne!(plain, hash(json!({"args": ["x"]})));
    assert_ne!(plain, hash(json!({"image": "redis:8"})));
}

#[test]
fn shares_and_limits_of_the_processor() {
    let check = |cpu_mhz, node_cpu_mhz, further, expected: (i64, i64, i64)| {
        let resources = AllocatedTask { cpu_mhz, memory_mb: 256, memory_max_mb: 0 };
        let request = StartRequest { resources, node_cpu_mhz, ..request() };
        let host = host(&request, further, &Options::default()).unwrap();
        assert_eq!((host.cpu_shares, host.cpu_period, host.cpu_quota), expected, "{cpu_mhz} of {node_cpu_mhz}");
    };
    check(500, 4_000, json!({}), (500, 0, 0));
    check(1, 4_000, json!({}), (2, 0, 0));
    check(262_144, 524_288, json!({}), (131_072, 0, 0));
    check(1, 524_288, json!({}), (2, 0, 0));
    // An eighth of four processors is half of one.
    check(500, 4_000, json!({"cpu_hard_limit": true}), (500, 100_000, 50_000));
    check(500, 4_000, json!({"cpu_hard_limit": true, "cpu_cfs_period": 50_000}), (500, 50_000, 25_000));
    check(500, 4_000, json!({"cpu_hard_limit": true, "cpu_cfs_period": 0}), (500, 100_000, 50_000));
    check(500, 4_000, json!({"cpu_cfs_period": 50_000}), (500, 0, 0));
    check(5, 4_000, json!({"cpu_hard_limit": true}), (5, 100_000, 1_000));
}

#[test]
fn memory_and_its_ceiling() {
    let check = |memory_max_mb, further, expected: Result<(i64, i64), &str>| {
        let resources = AllocatedTask { cpu_mhz: 100, memory_mb: 256, memory_max_mb };
        let got = host(&StartRequest { resources, ..request() }, further, &Options::default()).map(|host| {
            assert_eq!(host.memory_swap, host.memory);
            (host.memory / MB, host.memory_reservation / MB)
        });
        assert_eq!(got, expected.map_err(str::to_owned), "{memory_max_mb}");
    };
    check(0, json!({}), Ok((256, 0)));
    check(512, json!({}), Ok((512, 256)));
    check(-1, json!({}), Ok((0, 256)));
    check(0, json!({"memory_hard_limit": 1024}), Ok((1024, 256)));
    check(512, json!({"memory_hard_limit": 300}), Ok((512, 256)));
    check(0, json!({"memory_hard_limit": 128}), Err("memory of 256 MB is above its limit of 128 MB"));
}

#[test]
fn what_the_node_allows() {
    let check = |options: Options, further: Value, expected: &str| {
        let got = match host(&request(), further.clone(), &options) {
            Ok(host) => format!("+{:?} -{:?} pids {:?}", host.cap_add, host.cap_drop, host.pids_limit.unwrap()),
            Err(why) => why,
        };
        assert!(got.starts_with(expected), "{further}: {got}");
    };
    let node = Options::default;
    check(node(), json!({}), r#"+[] -["net_raw"] pids -1"#);
    check(node(), json!({"cap_add": ["CAP_CHOWN"], "cap_drop": ["MKNOD"]}), r#"+["chown"] -["mknod", "net_raw"]"#);
    check(node(), json!({"cap_add": ["sys_admin", "kill"]}), "config.cap_add: sys_admin not allowed");
    check(node(), json!({"cap_drop": ["all"]}), r#"+[] -["all"]"#);
    check(node(), json!({"cap_add": ["all"]}), "config.cap_add: all not allowed");
    let all = Options { allow_caps: vec!["all".to_owned()], ..node() };
    check(all, json!({"cap_add": ["all"]}), r#"+["all"] -[]"#);
    check(node(), json!({"privileged": true}), "config.privileged is not allowed on this node");
    let privileged = Options { allow_privileged: true, ..node() };
    assert!(host(&request(), json!({"privileged": true, "pid_mode": "host"}), &privileged).unwrap().privileged);
    let limited = Options { pids_limit: 100, ..node() };
    check(limited.clone(), json!({}), r#"+[] -["net_raw"] pids 100"#);
    check(limited.clone(), json!({"pids_limit": 50}), r#"+[] -["net_raw"] pids 50"#);
    check(limited, json!({"pids_limit": 101}), "config.pids_limit 101 is above this node's limit of 100");
    check(node(), json!({"ports": ["nope"]}), "config.ports names \"nope\"");
    check(node(), json!({"ports": ["nope"], "network_mode": "container:x"}), "config.ports names \"nope\"");
}

#[test]
fn ports_are_published_once_and_with_the_network_that_they_belong_to() {
    let published = |request: &StartRequest, further: Value| {
        let host = host(request, further, &Options::default()).unwrap();
        let mut lines = Vec::new();
        for (inside, bindings) in host.port_bindings {
            lines.extend(bindings.iter().map(|it| format!("{}:{}->{inside}", it.host_ip, it.host_port)));
        }
        lines.join(" ")
    };
    let http = "10.0.0.1:20001->80/tcp 10.0.0.1:20001->80/udp";
    assert_eq!(published(&request(), json!({"ports": ["http", "http"]})), http);
    assert_eq!(published(&request(), json!({"ports": ["http"], "network_mode": "host"})), http);
    assert_eq!(published(&request(), json!({"ports": ["http"], "network_mode": "container:x"})), "");
    assert_eq!(published(&request(), json!({})), "");
    // Two host ports may lead to one inside.
    let mut request = request();
    request.ports[1].to = 80;
    assert_eq!(
        published(&request, json!({"ports": ["http", "admin"]})),
        "10.0.0.1:20001->80/tcp 10.0.0.1:20002->80/tcp 10.0.0.1:20001->80/udp 10.0.0.1:20002->80/udp"
    );
}

#[test]
fn a_task_is_in_the_network_of_its_group_unless_it_says_otherwise() {
    let network = longshore_driver::GroupNetwork { id: "c0ffee".to_owned(), address: None };
    let dns = Dns { servers: vec!["10.0.0.53".to_owned()], ..Dns::default() };
    for mode in ["bridge", "none"] {
        let without = StartRequest { network_mode: Some(mode.to_owned()), dns: dns.clone(), ..request() };
        let why = host(&without, json!({}), &Options::default()).unwrap_err();
        assert_eq!(why, format!("the network of the group (mode {mode:?}) was not made before its task"));
        let within = StartRequest { network: Some(network.clone()), ..without };
        let asks = json!({"ports": ["http"], "extra_hosts": ["db:10.0.0.2"]});
        let body = host(&within, asks, &Options::default()).unwrap();
        assert_eq!(body.network_mode, "container:c0ffee");
        assert!(body.port_bindings.is_empty() && body.extra_hosts.is_empty() && body.dns.is_empty(), "the network's");
        for key in ["hostname", "mac_address"] {
            let why = host(&within, json!({ key: "02:42:ac:11:00:02" }), &Options::default()).unwrap_err();
            assert_eq!(why, format!("config.{key}: belongs to the network of the group: see its network block"));
        }
        let why = host(&within, json!({"dns_servers": ["10.0.0.1"]}), &Options::default()).unwrap_err();
        assert!(why.starts_with("config.dns_servers: belongs to the network of the group"), "{why}");
        let own = host(&within, json!({"network_mode": "host", "ports": ["http"]}), &Options::default()).unwrap();
        assert_eq!((own.network_mode.as_str(), own.port_bindings.len()), ("host", 2));
        assert_eq!(own.dns, ["10.0.0.53"]);
        let own = host(&within, json!({"network_mode": "host", "dns_servers": ["10.0.0.1"]}), &Options::default());
        assert_eq!(own.unwrap().dns, ["10.0.0.1"], "a task's own word comes first");
    }
    let request = StartRequest { network_mode: Some("host".to_owned()), ..request() };
    assert_eq!(host(&request, json!({}), &Options::default()).unwrap().network_mode, "default");
    assert_eq!(host(&request, json!({"network_mode": "host"}), &Options::default()).unwrap().network_mode, "host");
}
