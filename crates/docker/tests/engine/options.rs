//! Every option of a task, from its config to what the engine says of the container.

use std::collections::BTreeSet;

use longshore_docker::{AllowedModes, Options, TASK_OPTIONS, VolumeOptions};
use longshore_driver::{DelaySink, Driver as _, DriverError, PrefetchId, PrefetchRequest};
use longshore_harness::Body;
use longshore_model::{AllocatedPort, JobKey, Timestamp};
use longshore_values::Glob;
use serde_json::{Value, json};

use crate::world::{World, options};

/// Options that another test of this binary takes to the engine, or that are refused. `privileged`, for which a machine may
/// lack the means, is with the tests of what a container is made from.
const ELSEWHERE: [&str; 15] = [
    "auth",
    "auth.email",
    "auth.password",
    "auth.server_address",
    "auth.username",
    "auth_soft_fail",
    "container_exists_attempts",
    "force_pull",
    "image_pull_timeout",
    "isolation",
    "load",
    "port_map",
    "privileged",
    "pull",
    "storage_opt",
];

/// Options, what a job says of them, and where in the engine's description of the container what of it stands.
type Row = (&'static str, Value, Vec<(&'static str, Value)>);

/// Rows of one inner list are of one container.
fn groups(image: &str) -> Vec<Vec<Row>> {
    let mib = 1 << 20;
    vec![
        vec![
            ("image", json!({"image": image}), vec![("/Config/Image", json!(image))]),
            (
                "command args",
                json!({"command": "/bin/sh", "args": ["-c", "sleep 100"]}),
                vec![("/Config/Cmd", json!(["/bin/sh", "-c", "sleep 100"]))],
            ),
            ("work_dir", json!({"work_dir": "/tmp"}), vec![("/Config/WorkingDir", json!("/tmp"))]),
            ("init", json!({"init": true}), vec![("/HostConfig/Init", json!(true))]),
            ("interactive", json!({"interactive": true}), vec![("/Config/OpenStdin", json!(true))]),
            ("tty", json!({"tty": true}), vec![("/Config/Tty", json!(true))]),
            ("labels", json!({"labels": {"tier": "web"}}), vec![("/Config/Labels/tier", json!("web"))]),
            (
                "healthchecks healthchecks.disable",
                json!({"healthchecks": {"disable": true}}),
                vec![("/Config/Healthcheck/Test", json!(["NONE"]))],
            ),
            ("hostname", json!({"hostname": "shop"}), vec![("/Config/Hostname", json!("shop"))]),
            (
                "extra_hosts",
                json!({"extra_hosts": ["db:10.0.0.9"]}),
                vec![("/HostConfig/ExtraHosts", json!(["db:10.0.0.9"]))],
            ),
            ("dns_servers", json!({"dns_servers": ["10.0.0.53"]}), vec![("/HostConfig/Dns", json!(["10.0.0.53"]))]),
            (
                "dns_search_domains",
                json!({"dns_search_domains": ["shop.example"]}),
                vec![("/HostConfig/DnsSearch", json!(["shop.example"]))],
            ),
            ("dns_options", json!({"dns_options": ["ndots:2"]}), vec![("/HostConfig/DnsOptions", json!(["ndots:2"]))]),
            (
                "ports",
                json!({"ports": ["http"]}),
                vec![("/HostConfig/PortBindings/8080~1tcp", json!([{"HostIp": "127.0.0.1", "HostPort": "24100"}]))],
            ),
            (
                "mac_address",
                json!({"mac_address": "02:42:ac:11:00:77"}),
                vec![("/NetworkSettings/Networks/bridge/MacAddress", json!("02:42:ac:11:00:77"))],
            ),
            (
                "volumes",
                json!({"volumes": ["local/data:/data:ro"]}),
                vec![("/HostConfig/Binds/3", json!("TASK/local/data:/data:ro"))],
            ),
            (
                "mount mount.type mount.source mount.target mount.readonly mount.bind_options mount.bind_options.propagation",
                json!({"mount": [{"type": "bind", "source": "local", "target": "/here", "readonly": true, "bind_options": {"propagation": "private"}}]}),
                vec![(
                    "/HostConfig/Mounts/0",
                    json!({"Type": "bind", "Source": "TASK/local", "Target": "/here", "ReadOnly": true, "BindOptions": {"Propagation": "private"}}),
                )],
            ),
            (
                "mounts mount.tmpfs_options mount.tmpfs_options.size mount.tmpfs_options.mode",
                json!({"mounts": [
                    {"type": "tmpfs", "target": "/scratch", "tmpfs_options": {"size": mib, "mode": 448}},
                    {"target": "/kept", "source": "kept", "volume_options": {"no_copy": true, "labels": {"a": "b"}, "driver_config": {"name": "local", "options": {"type": "tmpfs", "device": "tmpfs"}}}},
                ]}),
                vec![(
                    "/HostConfig/Mounts/1",
                    json!({"Type": "tmpfs", "Target": "/scratch", "TmpfsOptions": {"SizeBytes": mib, "Mode": 448}}),
                )],
            ),
            (
                "mount.volume_options mount.volume_options.no_copy mount.volume_options.labels mount.volume_options.driver_config \
                 mount.volume_options.driver_config.name mount.volume_options.driver_config.options",
                json!({}),
                vec![(
                    "/HostConfig/Mounts/2",
                    json!({"Type": "volume", "Source": "kept", "Target": "/kept", "VolumeOptions": {
                    "NoCopy": true, "Labels": {"a": "b"}, "DriverConfig": {"Name": "local", "Options": {"type": "tmpfs", "device": "tmpfs"}}}}),
                )],
            ),
            (
                "devices devices.host_path devices.container_path devices.cgroup_permissions",
                json!({"devices": [{"host_path": "/dev/null", "container_path": "/dev/nothing", "cgroup_permissions": "r"}, {"host_path": "/dev/zero"}]}),
                vec![(
                    "/HostConfig/Devices",
                    json!([
                        {"PathOnHost": "/dev/null", "PathInContainer": "/dev/nothing", "CgroupPermissions": "r"},
                        {"PathOnHost": "/dev/zero", "PathInContainer": "/dev/zero", "CgroupPermissions": "rwm"},
                    ]),
                )],
            ),
            ("readonly_rootfs", json!({"readonly_rootfs": true}), vec![("/HostConfig/ReadonlyRootfs", json!(true))]),
            ("shm_size", json!({"shm_size": mib}), vec![("/HostConfig/ShmSize", json!(mib))]),
            (
                "cpu_hard_limit cpu_cfs_period",
                json!({"cpu_hard_limit": true, "cpu_cfs_period": 50_000}),
                vec![("/HostConfig/CpuPeriod", json!(50_000))],
            ),
            ("cpuset_cpus", json!({"cpuset_cpus": "0"}), vec![("/HostConfig/CpusetCpus", json!("0"))]),
            (
                "memory_hard_limit",
                json!({"memory_hard_limit": 64}),
                vec![
                    ("/HostConfig/Memory", json!(64 * mib)),
                    ("/HostConfig/MemoryReservation", json!(32 * mib)),
                    ("/HostConfig/MemorySwap", json!(64 * mib)),
                ],
            ),
            ("oom_score_adj", json!({"oom_score_adj": 500}), vec![("/HostConfig/OomScoreAdj", json!(500))]),
            ("pids_limit", json!({"pids_limit": 50}), vec![("/HostConfig/PidsLimit", json!(50))]),
            (
                "ulimit",
                json!({"ulimit": {"nofile": "512:1024"}}),
                vec![("/HostConfig/Ulimits", json!([{"Name": "nofile", "Soft": 512, "Hard": 1024}]))],
            ),
            (
                "sysctl",
                json!({"sysctl": {"net.core.somaxconn": "333"}}),
                vec![("/HostConfig/Sysctls", json!({"net.core.somaxconn": "333"}))],
            ),
            ("cgroupns", json!({"cgroupns": "host"}), vec![("/HostConfig/CgroupnsMode", json!("host"))]),
            ("cap_add", json!({"cap_add": ["CAP_KILL"]}), vec![("/HostConfig/CapAdd", json!(["kill"]))]),
            ("cap_drop", json!({"cap_drop": ["mknod"]}), vec![("/HostConfig/CapDrop", json!(["mknod", "net_raw"]))]),
            ("ipc_mode", json!({"ipc_mode": "private"}), vec![("/HostConfig/IpcMode", json!("private"))]),
            (
                "security_opt",
                json!({"security_opt": ["no-new-privileges", "seccomp=local/profile.json"]}),
                vec![(
                    "/HostConfig/SecurityOpt",
                    json!(["no-new-privileges", "seccomp={\"defaultAction\":\"SCMP_ACT_ALLOW\"}"]),
                )],
            ),
            ("group_add", json!({"group_add": ["20"]}), vec![("/HostConfig/GroupAdd", json!(["20"]))]),
            ("runtime", json!({"runtime": "runc"}), vec![("/HostConfig/Runtime", json!("runc"))]),
            (
                "logging logging.type logging.config",
                json!({"logging": {"type": "local", "config": {"max-file": "3"}}}),
                vec![("/HostConfig/LogConfig", json!({"Type": "local", "Config": {"max-file": "3"}}))],
            ),
        ],
        vec![
            (
                "entrypoint",
                json!({"entrypoint": ["/bin/sh", "-c"], "args": ["sleep 100"]}),
                vec![("/Config/Entrypoint", json!(["/bin/sh", "-c"])), ("/Config/Cmd", json!(["sleep 100"]))],
            ),
            (
                "logging.driver",
                json!({"logging": {"driver": "none"}}),
                vec![("/HostConfig/LogConfig/Type", json!("none"))],
            ),
            ("network_mode", json!({"network_mode": "host"}), vec![("/HostConfig/NetworkMode", json!("host"))]),
            ("pid_mode", json!({"pid_mode": "host"}), vec![("/HostConfig/PidMode", json!("host"))]),
            ("uts_mode", json!({"uts_mode": "host"}), vec![("/HostConfig/UTSMode", json!("host"))]),
            ("userns_mode", json!({"userns_mode": "host"}), vec![("/HostConfig/UsernsMode", json!("host"))]),
            ("ipc_mode", json!({"ipc_mode": "host"}), vec![("/HostConfig/IpcMode", json!("host"))]),
            (
                "volume_driver",
                json!({"volume_driver": "local", "volumes": ["named:/named"]}),
                vec![("/HostConfig/VolumeDriver", json!("local")), ("/HostConfig/Binds/3", json!("named:/named"))],
            ),
        ],
        vec![
            ("network_mode", json!({"network_mode": "own"}), vec![("/HostConfig/NetworkMode", json!("own"))]),
            (
                "network_aliases",
                json!({"network_aliases": ["shop"]}),
                vec![("/NetworkSettings/Networks/own/Aliases/0", json!("shop"))],
            ),
            (
                "ipv4_address",
                json!({"ipv4_address": "10.77.0.9"}),
                vec![("/NetworkSettings/Networks/own/IPAddress", json!("10.77.0.9"))],
            ),
            (
                "ipv6_address advertise_ipv6_address",
                json!({"ipv6_address": "fd77::9", "advertise_ipv6_address": true}),
                vec![("/NetworkSettings/Networks/own/GlobalIPv6Address", json!("fd77::9"))],
            ),
            (
                "mac_address",
                json!({"mac_address": "02:42:ac:11:00:78"}),
                vec![("/NetworkSettings/Networks/own/MacAddress", json!("02:42:ac:11:00:78"))],
            ),
        ],
    ]
}

fn all_allowed() -> Options {
    let host = || vec![Glob::new("host")];
    Options {
        allow_privileged: true,
        allowed_modes: AllowedModes { pid: host(), ipc: host(), userns: host(), uts: host() },
        volumes: VolumeOptions { enabled: true, selinuxlabel: None },
        ..options()
    }
}

fn merged(rows: &[Row], image: &str) -> Value {
    let mut config = json!({ "image": image });
    for (_, of_row, _) in rows {
        for (key, value) in of_row.as_object().unwrap() {
            config[key] = value.clone();
        }
    }
    config
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_option_of_a_task_is_what_the_engine_says_of_its_container() {
    let mut world = World::with(all_allowed()).await;
    let (_, name) = world.push("acme/web", "1");
    let network = json!({ "Name": "own", "EnableIPv6": true, "IPAM": { "Config": [
        { "Subnet": "10.77.0.0/24" }, { "Subnet": "fd77::/64" } ] } });
    let made = world.engine.call("POST", "/networks/create", Body::Json(&network)).unwrap();
    made.success("make a network").unwrap();
    let http = AllocatedPort {
        label: "http".to_owned(),
        value: 24_100,
        to: 8_080,
        host_ip: "127.0.0.1".to_owned(),
        is_static: false,
    };
    world.ports = vec![http];

    let mut seen: BTreeSet<&str> = ELSEWHERE.into();
    for rows in groups(&name) {
        let config = merged(&rows, &name);
        let id = world.accept(config.clone()).await;
        let task = world.request(&id, config.clone()).dirs.task;
        std::fs::create_dir_all(task.join("local/data")).unwrap();
        std::fs::write(task.join("local/profile.json"), "{ \"defaultAction\": \"SCMP_ACT_ALLOW\" }").unwrap();
        let started = world.start(&id, config).await.unwrap_or_else(|error| panic!("{}", error.full_text()));
        let container = world.engine.inspect_container(&format!("web-{}", id.alloc)).unwrap();
        assert_eq!(container["State"]["Running"], true);
        for (keys, _, shown) in &rows {
            seen.extend(keys.split(' '));
            for (pointer, expected) in shown {
                let expected = expected.to_string().replace("TASK", &task.display().to_string());
                let found = container.pointer(pointer).unwrap_or(&Value::Null).to_string();
                assert_eq!(found, expected, "{keys} at {pointer}");
            }
        }
        if let Some(own) = container.pointer("/NetworkSettings/Networks/own/GlobalIPv6Address") {
            assert_eq!(own.as_str(), started.address.map(|address| address.ip).as_deref());
        }
        world.end_task(&id, &started.handle).await;
    }
    let all: BTreeSet<&str> = TASK_OPTIONS.iter().map(|row| row.key).collect();
    assert_eq!(seen, all, "options of the reference, and those of this table");
    assert!(world.engine.containers().unwrap().is_empty());

    // What this engine's storage cannot do is its own to say, and leaves nothing.
    let text = refusal(&mut world, json!({"image": name, "storage_opt": {"size": "1G"}})).await.full_text();
    assert!(text.contains("--storage-opt is supported only for"), "{text}");
    assert!(world.engine.containers().unwrap().is_empty());
}

/// Why a task with this config does not start.
async fn refusal(world: &mut World, config: Value) -> DriverError {
    let id = world.accept(config.clone()).await;
    let error = world.start(&id, config.clone()).await.map(|_| config).unwrap_err();
    world.forget(&id).await;
    error
}

/// A job, and what stands in the reason for its refusal.
fn refused(image: &str) -> Vec<(Value, &'static str)> {
    let rows = [
        (json!({"image": ""}), "config.image is missing"),
        (json!({"image": "reg.example/Upper:1"}), "reg.example/Upper:1"),
        (json!({"command": " x"}), "config.command \" x\" begins or ends with white space"),
        (json!({"args": "x"}), "config.args takes a list of texts"),
        (json!({"entrypoint": "x"}), "config.entrypoint takes a list of texts"),
        (json!({"work_dir": "tmp"}), "config.work_dir \"tmp\" is not an absolute path"),
        (json!({"tty": "yes"}), "config.tty takes true or false"),
        (
            json!({"labels": {"com.hashicorp.nomad.alloc_id": "x"}}),
            "config.labels: \"com.hashicorp.nomad.alloc_id\" cannot be set",
        ),
        (json!({"labels": {"Longshore.task": "x"}}), "config.labels: \"Longshore.task\" cannot be set"),
        (json!({"healthchecks": {"off": true}}), "config.healthchecks has no key \"off\""),
        (json!({"network_aliases": ["a"]}), "config.network_aliases: needs a config.network_mode that names a network"),
        (json!({"ipv4_address": "10.0.0.300"}), "config.ipv4_address \"10.0.0.300\" is not an IPv4 address"),
        (
            json!({"ipv4_address": "10.0.0.3", "network_mode": "host"}),
            "config.ipv4_address: needs a config.network_mode",
        ),
        (json!({"ipv6_address": "x"}), "config.ipv6_address \"x\" is not an IPv6 address"),
        (json!({"mac_address": "02:42"}), "config.mac_address \"02:42\" is not a MAC address"),
        (
            json!({"hostname": "x", "network_mode": "container:x"}),
            "config.hostname: belongs to the container whose network is shared",
        ),
        (json!({"extra_hosts": ["db"]}), "config.extra_hosts[0] \"db\" is not of the form host:address"),
        (json!({"dns_servers": ["10.0.0.1", "dns"]}), "config.dns_servers[1] \"dns\" is not an IP address"),
        (json!({"ports": ["nope"]}), "config.ports names \"nope\""),
        (json!({"port_map": {"http": 80}}), "config.port_map: is for ports of the task's resources"),
        (json!({"volumes": ["/data"]}), "config.volumes[0] \"/data\" is not of the form"),
        (json!({"volume_driver": "local"}), "config.volume_driver: driver \"local\" is not allowed on this node"),
        (
            json!({"mount": {"target": "/x"}}),
            "config.mount[0].type: a mount of type \"volume\" is not allowed on this node",
        ),
        (json!({"mount": {"type": "nfs", "target": "/x"}}), "config.mount[0].type takes one of volume, bind, tmpfs"),
        (json!({"mount": {"type": "tmpfs"}}), "config.mount[0].target is missing"),
        (
            json!({"mount": {"type": "tmpfs", "target": "/x", "source": "y"}}),
            "config.mount[0].source is not for mounts of type",
        ),
        (
            json!({"mounts": [{"type": "tmpfs", "target": "/x", "bind_options": {"propagation": "shared"}}]}),
            "config.mounts[0].bind_options is for mounts of type \"bind\"",
        ),
        (
            json!({"mounts": [{"type": "bind", "target": "/x", "source": "local", "bind_options": {"propagation": "x"}}]}),
            "config.mounts[0].bind_options.propagation takes one of",
        ),
        (json!({"devices": [{}]}), "config.devices[0].host_path is missing"),
        (
            json!({"devices": [{"host_path": "/dev/null", "cgroup_permissions": "x"}]}),
            "config.devices[0].cgroup_permissions \"x\" may hold the letters",
        ),
        (json!({"shm_size": -1}), "config.shm_size must not be below 0"),
        (json!({"cpu_cfs_period": 1_000_001}), "config.cpu_cfs_period must be between 0 and 1000000"),
        (json!({"cpuset_cpus": "a"}), "config.cpuset_cpus \"a\" is not a list of processors"),
        (json!({"memory_hard_limit": 16}), "memory of 32 MB is above its limit of 16 MB"),
        (json!({"oom_score_adj": 2_000}), "config.oom_score_adj must be between -1000 and 1000"),
        (json!({"pids_limit": "many"}), "config.pids_limit takes a whole number"),
        (json!({"pids_limit": 101}), "config.pids_limit 101 is above this node's limit of 100"),
        (json!({"ulimit": {"nofile": "2:1"}}), "config.ulimit.nofile: the soft limit 2 is above the hard limit 1"),
        (json!({"ulimit": {"files": "1"}}), "config.ulimit.files: there is no such limit"),
        (json!({"cgroupns": "own"}), "config.cgroupns takes one of host, private"),
        (json!({"privileged": true}), "config.privileged is not allowed on this node"),
        (json!({"cap_add": ["SYS_ADMIN"]}), "config.cap_add: sys_admin not allowed on this node"),
        (json!({"cap_add": ["all"]}), "config.cap_add: all not allowed on this node"),
        (json!({"ipc_mode": "host"}), "config.ipc_mode: host is not allowed on this node"),
        (json!({"pid_mode": "container:x"}), "config.pid_mode: container:x is not allowed on this node"),
        (json!({"uts_mode": "host"}), "config.uts_mode: host is not allowed on this node"),
        (json!({"userns_mode": "host"}), "config.userns_mode: host is not allowed on this node"),
        (json!({"security_opt": ["x"]}), "config.security_opt[0] \"x\" is neither"),
        (json!({"security_opt": ["seccomp=local/none.json"]}), "config.security_opt[0]: the profile"),
        (json!({"runtime": "kata"}), "config.runtime: kata is not allowed on this node"),
        (json!({"isolation": "process"}), "config.isolation: is for containers of Windows"),
        (json!({"logging": {"type": "json-file", "config": {"bogus": "1"}}}), "unknown log opt 'bogus'"),
        (json!({"container_exists_attempts": -1}), "config.container_exists_attempts must not be below 0"),
        (json!({"network_mode": "none", "Privileged": true}), "config has no key \"Privileged\""),
    ];
    let with_image = |(mut config, text): (Value, &'static str)| {
        if config.get("image").is_none() {
            config["image"] = json!(image);
        }
        (config, text)
    };
    rows.into_iter().map(with_image).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn wrong_values_and_what_the_node_forbids_are_refused_by_name() {
    let mut world = World::with(Options { pids_limit: 100, ..options() }).await;
    let (_, name) = world.push("acme/web", "1");
    for (config, expected) in refused(&name) {
        let error = refusal(&mut world, config.clone()).await;
        let text = error.full_text();
        assert!(text.contains(expected), "{config}: {text}");
        assert_eq!(world.engine.containers().unwrap().len(), 0, "{config}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_operators_lists_hold() {
    let lists = Options {
        allow_devices: vec![Glob::new("/dev/null")],
        allow_network_modes: vec![Glob::new("none")],
        allow_registries: vec![Glob::new("127.0.0.1:*/acme/*")],
        ..options()
    };
    let mut world = World::with(lists).await;
    let (_, name) = world.push("acme/web", "1");
    let (_, other) = world.push("other/web", "1");
    let link = world.run.dir().join("null");
    std::os::unix::fs::symlink("/dev/zero", &link).unwrap();
    for (further, expected) in [
        (json!({"devices": [{"host_path": "/dev/zero"}]}), "config.devices[0].host_path: /dev/zero is not allowed"),
        (
            json!({"devices": [{"host_path": "/dev/null/../zero"}]}),
            "config.devices[0].host_path: /dev/null/../zero is not",
        ),
        (json!({"devices": [{"host_path": link}]}), "config.devices[0].host_path"),
        (json!({"network_mode": "host"}), "config.network_mode: host is not allowed"),
        (json!({"network_mode": "container:x"}), "config.network_mode: container:x is not allowed"),
        (json!({"image": other}), "other/web:1 is not allowed on this node"),
        (json!({"image": "busybox:1"}), "config.image: docker.io/library/busybox:1 is not allowed"),
    ] {
        let mut config = json!({"image": name, "network_mode": "none"});
        for (key, value) in further.as_object().unwrap() {
            config[key] = value.clone();
        }
        let text = refusal(&mut world, config).await.full_text();
        assert!(text.contains(expected), "{text}");
    }
    // Nor does it come for a person who asks, or for an update that is to wait for it.
    let text = world.driver.images().unwrap().pull(&other, false).await.unwrap_err().full_text();
    assert!(text.contains("other/web:1 is not allowed on this node"), "{text}");
    let wish = PrefetchRequest {
        id: PrefetchId { job: JobKey::new("default", "web"), version: 1, group: "g".to_owned(), task: "t".to_owned() },
        config: json!({"image": other}),
        expires_at: Timestamp::from_nanoseconds(i64::MAX),
        delays: DelaySink::new(|_| {}),
    };
    let text = world.driver.prefetch(wish).await.unwrap_err().full_text();
    assert!(text.contains("other/web:1 is not allowed on this node"), "{text}");
    let asked = world.registry.access_log();
    assert!(!asked.iter().any(|line| line.to_string().contains("GET /v2/other/")), "{asked:?}");
    let config = json!({"image": name, "network_mode": "none", "devices": [{"host_path": "/dev/null"}]});
    let (id, handle) = world.run_task(config).await;
    world.end_task(&id, &handle).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_task_gets_no_path_of_the_host_whichever_way_it_asks() {
    let mut world = World::new().await;
    let (_, name) = world.push("acme/web", "1");
    let secret = world.run.dir().join("secret");
    std::fs::write(&secret, "{ \"defaultAction\": \"of the host\" }").unwrap();
    let id = world.accept(json!({"image": name})).await;
    let dirs = world.request(&id, Value::Null).dirs;
    let folder = world.run.dir().display().to_string();
    std::os::unix::fs::symlink(world.run.dir(), dirs.local.join("link")).unwrap();
    std::os::unix::fs::symlink(&secret, dirs.local.join("file")).unwrap();
    let sources = [
        folder.clone(),
        "/".to_owned(),
        format!("/{folder}"),
        "../../..".to_owned(),
        "local/../../../../".to_owned(),
        format!("{}/../../..", dirs.local.display()),
        "local/link".to_owned(),
        "local/link/secret".to_owned(),
        "local/file".to_owned(),
        "../alloc/../../..".to_owned(),
        "/var/run/docker.sock".to_owned(),
    ];
    for source in &sources {
        for (key, value) in [
            ("volumes", json!([format!("{source}:/host")])),
            ("volumes", json!([format!("{source}:/host:ro")])),
            ("mount", json!({"type": "bind", "source": source, "target": "/host"})),
            ("mount", json!([{"type": "bind", "source": source, "target": "/host", "readonly": true}])),
            ("mounts", json!([{"type": "bind", "source": source, "target": "/host"}])),
            ("security_opt", json!([format!("seccomp={source}")])),
        ] {
            let mut config = json!({"image": name, "network_mode": "none"});
            config[key] = value;
            // As it comes once `${meta.path}` is filled in: before, nothing can be said about it.
            let open = config.to_string().replace(source.as_str(), "${meta.path}");
            world.driver.check_config(&serde_json::from_str(&open).unwrap()).unwrap();
            let text = match world.start(&id, config.clone()).await {
                Ok(_) => panic!("{config} started"),
                Err(error) => error.full_text(),
            };
            assert!(text.contains("outside of the allocation's folder"), "{config}: {text}");
            assert!(!text.contains("of the host\""), "{text}");
        }
    }
    // Volumes with a driver or a name are the engine's, and its local driver mounts what it is told to.
    let device = json!({"type": "volume", "source": "v", "target": "/host", "volume_options": {"driver_config":
        {"name": "local", "options": {"type": "none", "o": "bind", "device": folder}}}});
    for (key, value) in [("mount", device.clone()), ("mounts", json!([device]))] {
        let mut config = json!({"image": name, "network_mode": "none"});
        config[key] = value;
        let text = world.start(&id, config).await.unwrap_err().full_text();
        assert!(text.contains("is not allowed on this node"), "{text}");
    }
    for key in ["Volumes", "VOLUMES", "Mount", "Mounts", "Binds", "HostConfig"] {
        let mut config = json!({"image": name, "network_mode": "none"});
        config[key] = json!(["/:/host"]);
        let text = world.start(&id, config).await.unwrap_err().full_text();
        assert!(text.contains(&format!("config has no key {key:?}")), "{text}");
    }
    assert!(world.engine.containers().unwrap().is_empty());
    // Its own folders it may have, by whatever way.
    let own = json!({"image": name, "network_mode": "none", "volumes": ["local:/a", "../alloc:/b"],
        "mount": {"type": "bind", "source": dirs.local, "target": "/c"}});
    let started = world.start(&id, own).await.unwrap_or_else(|error| panic!("{}", error.full_text()));
    world.end_task(&id, &started.handle).await;
}
