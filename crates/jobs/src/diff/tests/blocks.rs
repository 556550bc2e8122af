use super::super::diff;
use super::{job, shown};

#[track_caller]
fn check(place: fn(&str) -> String, old: &str, new: &str, expected: &str) {
    let (old_job, new_job) = (job(&place(old)), job(&place(new)));
    assert_eq!(shown(&diff(Some(&old_job), &new_job)), expected, "{old}\n→\n{new}");
    assert_eq!(shown(&diff(Some(&old_job), &old_job)), "", "{old}");
}

fn in_job(lines: &str) -> String {
    format!("job \"j\" {{\n{lines}\ngroup \"g\" {{\ntask \"t\" {{\ndriver = \"exec\"\n}}\n}}\n}}\n")
}

fn in_group(lines: &str) -> String {
    format!("job \"j\" {{\ngroup \"g\" {{\n{lines}\ntask \"t\" {{\ndriver = \"exec\"\n}}\n}}\n}}\n")
}

fn in_task(lines: &str) -> String {
    format!("job \"j\" {{\ngroup \"g\" {{\ntask \"t\" {{\ndriver = \"exec\"\n{lines}\n}}\n}}\n}}\n")
}

/// Whatever may stand in a service of a group.
fn in_service(lines: &str) -> String {
    in_group(&format!("service {{\nname = \"s\"\n{lines}\n}}"))
}

fn in_proxy(lines: &str) -> String {
    in_service(&format!("connect {{\nsidecar_service {{\nproxy {{\n{lines}\n}}\n}}\n}}"))
}

fn in_gateway(lines: &str) -> String {
    in_service(&format!("connect {{\ngateway {{\n{lines}\n}}\n}}"))
}

#[test]
fn of_jobs() {
    check(in_job, "priority = 50", "priority = 60", "Priority: 50 → 60");
    check(in_job, "meta { a = \"1\" }", "meta { b = \"1\" }", "Meta[a]: 1 → nothing, Meta[b]: 1");
    check(
        in_job,
        "datacenters = [\"a\", \"b\"]",
        "datacenters = [\"c\", \"b\"]",
        "~Datacenters(Datacenters: a → nothing, Datacenters: c)",
    );
    check(
        in_job,
        "type = \"batch\"\nperiodic { cron = \"@daily\" }",
        "type = \"batch\"\nperiodic {\ncron = \"@hourly\"\ntime_zone = \"Europe/Berlin\"\n}",
        "~Periodic(Spec: @daily → @hourly, TimeZone: UTC → Europe/Berlin)",
    );
    check(
        in_job,
        "type = \"batch\"\nparameterized { meta_required = [\"a\"] }",
        "type = \"batch\"\nparameterized {\npayload = \"required\"\nmeta_optional = [\"a\"]\n}",
        "~ParameterizedJob(Payload: optional → required, -MetaRequired(MetaRequired: a → nothing), \
         +MetaOptional(MetaOptional: a))",
    );
    check(
        in_job,
        "multiregion {\nregion \"north\" { count = 1 }\n}",
        "multiregion {\nstrategy { max_parallel = 1 }\nregion \"north\" { count = 2 }\n}",
        "~Multiregion(~Strategy(MaxParallel: 0 → 1), ~Region(Count: 1 → 2))",
    );
    check(
        in_job,
        "",
        "ui {\ndescription = \"d\"\nlink {\nlabel = \"l\"\nurl = \"u\"\n}\n}",
        "+UI(Description: d, +Link(Label: l, Url: u))",
    );
}

#[test]
fn of_placement() {
    check(
        in_job,
        "constraint {\nattribute = \"${attr.a}\"\nvalue = \"1\"\n}",
        "constraint {\nattribute = \"${attr.a}\"\nvalue = \"2\"\n}",
        "-Constraint(LTarget: ${attr.a} → nothing, Operand: = → nothing, RTarget: 1 → nothing), \
         +Constraint(LTarget: ${attr.a}, Operand: =, RTarget: 2)",
    );
    check(
        in_group,
        "",
        "affinity {\nattribute = \"${attr.a}\"\nvalue = \"1\"\nweight = 10\n}",
        "+Affinity(LTarget: ${attr.a}, Operand: =, RTarget: 1, Weight: 10)",
    );
    check(
        in_group,
        "spread {\nattribute = \"${attr.a}\"\ntarget \"x\" { percent = 60 }\n}",
        "",
        "-Spread(Attribute: ${attr.a} → nothing, Weight: 50 → nothing, \
         -SpreadTarget(Percent: 60 → nothing, Value: x → nothing))",
    );
}

#[test]
fn of_groups() {
    check(in_group, "count = 1", "count = 3", "Count: 1 → 3");
    check(in_group, "", "restart { render_templates = true }", "~RestartPolicy(RenderTemplates: false → true)");
    check(in_group, "", "reschedule { delay = \"31s\" }", "~ReschedulePolicy(Delay: 30000000000 → 31000000000)");
    check(in_group, "", "update { canary = 1 }", "~Update(Canary: 0 → 1)");
    check(in_group, "", "migrate { max_parallel = 2 }", "~Migrate(MaxParallel: 1 → 2)");
    check(in_group, "", "ephemeral_disk { sticky = true }", "~EphemeralDisk(Sticky: false → true)");
    check(in_group, "", "consul { namespace = \"n\" }", "~Consul(Namespace: n)");
    check(
        in_group,
        "disconnect { lost_after = \"1s\" }",
        "disconnect { lost_after = \"2s\" }",
        "~Disconnect(LostAfter: 1000000000 → 2000000000)",
    );
    check(
        in_group,
        "scaling {\nmax = 2\npolicy { a = 1 }\n}",
        "scaling {\nmax = 3\npolicy { a = 2 }\n}",
        "~Scaling(Max: 2 → 3, ~Policy(a: 1 → 2))",
    );
    check(
        in_group,
        "volume \"v\" {\ntype = \"host\"\nsource = \"a\"\n}",
        "volume \"v\" {\ntype = \"host\"\nsource = \"b\"\nmount_options { mount_flags = [\"ro\"] }\n}",
        "~Volume(Source: a → b, ~MountOptions(+MountFlags(MountFlags: ro)))".replace("~Mount", "+Mount").as_str(),
    );
}

#[test]
fn of_networks() {
    let network = |lines: &str| format!("network {{\n{lines}\n}}");
    check(
        in_group,
        "",
        &network(
            "hostname = \"h\"\ndns { servers = [\"1.1.1.1\"] }\nport \"a\" { static = 80 }\nport \"b\" { to = 81 }",
        ),
        "+Network(Hostname: h, +Static Port(Label: a, To: 0, Value: 80), +Dynamic Port(Label: b, To: 81), \
         +DNS(Servers[0]: 1.1.1.1))",
    );
    check(
        in_task,
        "resources {\nnetwork { mbits = 1 }\n}",
        "resources {\nnetwork { mbits = 2 }\n}",
        "~Resources(-Network(MBits: 1 → nothing), +Network(MBits: 2))",
    );
}

#[test]
fn of_tasks() {
    check(in_task, "", "kill_timeout = \"6s\"", "KillTimeout: 5000000000 → 6000000000");
    check(in_task, "env { A = \"1\" }", "env { A = \"2\" }", "Env[A]: 1 → 2");
    check(in_task, "config { args = [\"a\"] }", "config { args = [\"b\"] }", "~Config(args[0]: a → b)");
    check(in_task, "", "config { command = \"c\" }", "+Config(command: c)");
    check(in_task, "", "logs { max_files = 3 }", "~LogConfig(MaxFiles: 10 → 3)");
    check(in_task, "", "restart { attempts = 9 }", "~RestartPolicy(Attempts: 2 → 9)");
    check(
        in_task,
        "lifecycle { hook = \"prestart\" }",
        "lifecycle {\nhook = \"prestart\"\nsidecar = true\n}",
        "~Lifecycle(Sidecar: false → true)",
    );
    check(in_task, "", "dispatch_payload { file = \"f\" }", "+DispatchPayload(File: f)");
    check(
        in_task,
        "artifact { source = \"s\" }",
        "artifact {\nsource = \"s\"\noptions { checksum = \"c\" }\nheaders { H = \"v\" }\n}",
        "~Artifact(GetterHeaders[H]: v, GetterOptions[checksum]: c)",
    );
    check(
        in_task,
        "template {\ndata = \"a\"\ndestination = \"d\"\n}",
        "template {\ndata = \"b\"\ndestination = \"d\"\nwait { min = \"1s\" }\nchange_script { command = \"c\" }\n}",
        "~Template(EmbeddedTmpl: a → b, +ChangeScript(Command: c, FailOnError: false, Timeout: 5000000000), \
         +Wait(Min: 1000000000))",
    );
    check(
        in_task,
        "volume_mount {\nvolume = \"v\"\ndestination = \"d\"\n}",
        "volume_mount {\nvolume = \"v\"\ndestination = \"d\"\nread_only = true\n}",
        "~VolumeMount(ReadOnly: false → true)",
    );
    check(
        in_task,
        "vault { policies = [\"a\"] }",
        "vault {\npolicies = [\"b\"]\nenv = false\n}",
        "~Vault(Env: true → false, ~Policies(Policies: a → nothing, Policies: b))",
    );
    check(
        in_task,
        "csi_plugin {\nid = \"a\"\ntype = \"node\"\n}",
        "csi_plugin {\nid = \"a\"\ntype = \"controller\"\n}",
        "~CSIPlugin(Type: node → controller)",
    );
    check(
        in_task,
        "identity { env = true }",
        "identity { file = true }",
        "~Identity(Env: true → false, File: false → true)",
    );
    check(in_task, "scaling \"cpu\" { max = 1 }", "scaling \"cpu\" { max = 2 }", "~Scaling(Max: 1 → 2)");
    check(in_task, "action \"a\" { command = \"c\" }", "action \"a\" { command = \"d\" }", "~Action(Command: c → d)");
    check(
        in_task,
        "schedule {\ncron { start = \"a\" }\n}",
        "schedule {\ncron { start = \"b\" }\n}",
        "~Schedule(~Cron(Start: a → b))",
    );
    check(in_task, "secret \"s\" { path = \"a\" }", "secret \"s\" { path = \"b\" }", "~Secret(Path: a → b)");
}

#[test]
fn of_resources() {
    let resources = |lines: &str| format!("resources {{\n{lines}\n}}");
    check(in_task, "", &resources("memory_max = 400"), "~Resources(MemoryMaxMB: 400)");
    check(
        in_task,
        &resources("device \"gpu\" { count = 1 }"),
        &resources("device \"gpu\" {\ncount = 2\nconstraint {\nattribute = \"a\"\nvalue = \"b\"\n}\n}"),
        "~Resources(~Device(Count: 1 → 2, +Constraint(LTarget: a, Operand: =, RTarget: b)))",
    );
    check(
        in_task,
        &resources("numa { affinity = \"prefer\" }"),
        &resources("numa {\naffinity = \"require\"\ndevices = [\"gpu\"]\n}"),
        "~Resources(~NUMA(Affinity: prefer → require, +Devices(Devices: gpu)))",
    );
}

#[test]
fn of_services() {
    check(in_service, "port = \"a\"", "port = \"b\"", "~Service(PortLabel: a → b)");
    check(
        in_service,
        "tags = [\"a\"]",
        "canary_tags = [\"a\"]",
        "~Service(+CanaryTags(CanaryTags: a), -Tags(Tags: a → nothing))",
    );
    check(in_service, "meta { a = \"1\" }", "meta { a = \"2\" }", "~Service(Meta[a]: 1 → 2)");
    check(in_service, "", "weights { passing = 2 }", "~Service(+Weights(Passing: 2, Warning: 1))");
    let check_of = |lines: &str| format!("check {{\nname = \"c\"\ntype = \"http\"\n{lines}\n}}");
    check(
        in_service,
        &check_of("path = \"/a\""),
        &check_of("path = \"/b\"\nheader { Accept = [\"x\"] }"),
        "~Service(~Check(Path: /a → /b, +Header(Accept[0]: x)))",
    );
    check(
        in_service,
        &check_of("check_restart { limit = 1 }"),
        &check_of("check_restart { limit = 2 }"),
        "~Service(~Check(~CheckRestart(Limit: 1 → 2)))",
    );
}

#[test]
fn of_connect() {
    check(in_service, "", "connect { native = true }", "~Service(+ConsulConnect(Native: true))");
    check(
        in_service,
        "connect {\nsidecar_service {}\nsidecar_task { user = \"a\" }\n}",
        "connect {\nsidecar_service { port = \"p\" }\nsidecar_task {\nuser = \"b\"\nresources { cpu = 1 }\n}\n}",
        "~Service(~ConsulConnect(~SidecarService(Port: p), ~SidecarTask(User: a → b, +Resources(CPU: 1, Cores: 0, MemoryMB: 300))))",
    );
    let upstream = |port: u16| format!("upstreams {{\ndestination_name = \"d\"\nlocal_bind_port = {port}\n}}");
    check(
        in_proxy,
        &upstream(1),
        &upstream(2),
        "~Service(~ConsulConnect(~SidecarService(~ConsulProxy(~ConsulUpstreams(LocalBindPort: 1 → 2)))))",
    );
    check(
        in_proxy,
        "expose {\npath {\npath = \"/\"\nlocal_path_port = 1\n}\n}",
        "expose {\npath {\npath = \"/\"\nlocal_path_port = 2\n}\n}",
        "~Service(~ConsulConnect(~SidecarService(~ConsulProxy(~Expose(~Path(LocalPathPort: 1 → 2))))))",
    );
    check(
        in_proxy,
        "config { a = 1 }",
        "config { a = 2 }",
        "~Service(~ConsulConnect(~SidecarService(~ConsulProxy(~Config(a: 1 → 2)))))",
    );
    check(
        in_gateway,
        "ingress {\nlistener {\nport = 1\nservice { name = \"a\" }\n}\n}",
        "ingress {\ntls { enabled = true }\nlistener {\nport = 1\nservice {\nname = \"a\"\nhosts = [\"h\"]\n}\n}\n}",
        "~Service(~ConsulConnect(~Gateway(~Ingress(+TLS(Enabled: true), \
         ~Listener(~ConsulIngressService(+Hosts(Hosts: h)))))))",
    );
    check(
        in_gateway,
        "terminating {\nservice { name = \"a\" }\n}",
        "terminating {\nservice {\nname = \"a\"\nsni = \"s\"\n}\n}",
        "~Service(~ConsulConnect(~Gateway(~Terminating(~ConsulLinkedService(SNI: s)))))",
    );
    check(in_gateway, "", "mesh {}", "~Service(~ConsulConnect(~Gateway(+Mesh())))");
    check(
        in_gateway,
        "proxy {\nenvoy_gateway_bind_addresses \"a\" { port = 1 }\n}",
        "proxy {\nenvoy_gateway_bind_addresses \"a\" { port = 2 }\n}",
        "~Service(~ConsulConnect(~Gateway(~Proxy(~EnvoyGatewayBindAddresses(Port: 1 → 2)))))",
    );
}
