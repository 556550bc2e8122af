//! Every error of the lists of rules, from the line of a job file that causes it to the message.

use longshore_jobs::{complete, format_warnings};
use longshore_jobspec::{Input, parse};

/// The job file with these lines in its job, its group and its task.
fn file(job: &str, group: &str, task: &str) -> String {
    let driver = if task.contains("driver =") { "" } else { "driver = \"mock_driver\"" };
    format!("job \"j\" {{\n{job}\ngroup \"g\" {{\n{group}\ntask \"t\" {{\n{driver}\n{task}\n}}\n}}\n}}\n")
}

fn told(text: &str) -> String {
    let parsed = parse(&Input::new("job.hcl", text)).unwrap_or_else(|why| panic!("{text}\n{why}"));
    match complete(parsed.job) {
        Ok(completed) => format!("accepted\n{}", format_warnings(&completed.warnings)),
        Err(invalid) => invalid.to_string(),
    }
}

#[track_caller]
fn check_file(text: &str, expected: &str) {
    let told = told(text);
    assert!(told.contains(expected), "expected {expected:?} from\n{text}\ngot\n{told}");
}

#[track_caller]
fn job(lines: &str, expected: &str) {
    check_file(&file(lines, "", ""), expected);
}

#[track_caller]
fn group(lines: &str, expected: &str) {
    check_file(&file("", lines, ""), expected);
}

#[track_caller]
fn task(lines: &str, expected: &str) {
    check_file(&file("", "", lines), expected);
}

#[test]
fn a_plain_job_is_accepted() {
    assert!(told(&file("", "", "")).starts_with("accepted"));
}

#[test]
fn of_jobs() {
    job("region = \"\"", "Missing job region");
    job("id = \"\"", "Missing job ID");
    job("id = \"a b\"", "Job ID contains a space");
    job("id = \"a\\u0000b\"", "Job ID contains a null character");
    job("id = \"a\\u0007b\"", "Job ID contains a control character");
    job("name = \"\"", "Missing job name");
    job("name = \"a\\u0000b\"", "Job Name contains a null character");
    job("namespace = \"\"", "Job must be in a namespace");
    job("type = \"\"", "Missing job type");
    job("type = \"daemon\"", "Invalid job type: \"daemon\"");
    job("type = \"core\"", "job type cannot be core");
    job("priority = 101", "job priority must be between [1, 100]");
    job("priority = -1", "job priority must be between [1, 100]");
    job("datacenters = [\"\"]", "Job datacenter must be non-empty string");
    job("periodic { cron = \"@daily\" }", "Periodic can only be used with \"batch\" or \"sysbatch\" scheduler");
    job("parameterized {}", "Parameterized job can only be used with \"batch\" or \"sysbatch\" scheduler");
    check_file("job \"j\" {}", "Missing job task groups");
    check_file("job \"j\" {\n group \"\" {}\n}", "Job task group 1 missing name");
    check_file("job \"j\" {\n group \"a\" {}\n group \"a\" {}\n}", "Job task group 2 redefines 'a' from group 1");
    for kind in ["system", "sysbatch"] {
        let text = format!("Job task group g has count 2. Count cannot exceed 1 with {kind} scheduler");
        check_file(&file(&format!("type = \"{kind}\""), "count = 2", ""), &text);
    }
    let affinity = "affinity {\n attribute = \"${node.class}\"\n value = \"a\"\n}";
    let spread = "spread {\n attribute = \"${node.class}\"\n}";
    check_file(&file(&format!("type = \"system\"\n{affinity}"), "", ""), "System jobs may not have an affinity block");
    check_file(&file(&format!("type = \"system\"\n{spread}"), "", ""), "System jobs may not have a spread block");
    let with_payload = parse(&Input::new("j", "{\"Job\": {\"ID\": \"a\", \"Payload\": \"eA==\"}}")).unwrap().job;
    let told = complete(with_payload).unwrap_err().to_string();
    assert!(told.contains("job can't be submitted with a payload, only dispatched"), "{told}");
}

#[test]
fn of_launches() {
    let batch = |block: &str| format!("type = \"batch\"\n{block}");
    job(&batch("periodic {\n cron = \"@daily\"\n crons = [\"@daily\"]\n}"), "Only cron or crons may be used");
    job(&batch("periodic {}"), "Must specify a spec");
    job(&batch("periodic {\n crons = [\"@daily\"]\n time_zone = \"mars base\"\n}"), "Invalid time zone \"mars base\"");
    job(
        &batch("periodic {\n crons = [\"@daily\"]\n time_zone = \"Europe/Atlantis\"\n}"),
        "Invalid time zone \"Europe/Atlantis\"",
    );
    task("schedule {\n cron { timezone = \"Mars\" }\n}", "Invalid time zone \"Mars\"");
    job(&batch("periodic { cron = \"61 * * * *\" }"), "Invalid cron spec \"61 * * * *\"");
    job(&batch("parameterized { payload = \"maybe\" }"), "Unknown payload requirement: \"maybe\"");
    job(
        &batch("parameterized {\n meta_required = [\"a\", \"b\"]\n meta_optional = [\"b\"]\n}"),
        "Required and optional meta keys should be disjoint. Following keys exist in both: b",
    );
    task("dispatch_payload { file = \"../../x\" }", "escapes task local directory");
}

#[test]
fn of_groups() {
    check_file("job \"j\" {\n group \"\" {}\n}", "Missing task group name");
    check_file("job \"j\" {\n group \"g\" {}\n}", "Missing tasks for task group");
    group("count = -1", "Task group count can't be negative");
    group(
        "max_client_disconnect = \"1h\"\nstop_after_client_disconnect = \"1h\"",
        "Task group cannot be configured with both max_client_disconnect and stop_after_client_disconnect",
    );
    group("max_client_disconnect = \"-1s\"", "max_client_disconnect cannot be negative");
    group("stop_after_client_disconnect = 0", "stop_after_client_disconnect must be a positive value");
    check_file(
        &file("type = \"system\"", "stop_after_client_disconnect = \"1h\"", ""),
        "stop_after_client_disconnect can only be set in batch and service jobs",
    );
    for kind in ["system", "sysbatch"] {
        check_file(
            &file(&format!("type = {kind:?}"), "count = 2", ""),
            &format!("Job task group g has count 2. Count cannot exceed 1 with {kind} scheduler"),
        );
    }
    check_file(&file("type = \"system\"", "reschedule {}", ""), "System jobs should not have a reschedule policy");
    check_file(&file("type = \"batch\"", "update {}", ""), "Job type \"batch\" does not allow update block");
    check_file(&file("type = \"batch\"", "migrate {}", ""), "Job type \"batch\" does not allow migrate block");
    group("task \"\" {}", "Task 1 missing name");
    group("task \"t\" {}", "Task 2 redefines 't' from task 1");
    check_file(&file("", "task \"a\" { leader = true }", "leader = true"), "Only one task may be marked as leader");
    task("lifecycle { hook = \"prestart\" }", "Task group must have at least one task that is not a lifecycle hook");
    group(
        "service { provider = \"nomad\" }\nservice { name = \"b\" }",
        "Multiple service providers used: task group services must use the same provider",
    );
    group("service { name = \"a\" }\nservice { name = \"a\" }", "Services are not unique: \"a\" is there twice");
    group("service { address_mode = \"driver\" }", "only services defined in a \"task\" block can use this mode");
    group("shutdown_delay = \"-5s\"", "ShutdownDelay must be a positive value");
    group("ephemeral_disk { size = 9 }", "minimum DiskMB value is 10; got 9");
}

#[test]
fn of_networks() {
    let network = |lines: &str| format!("network {{\n{lines}\n}}");
    group(&network("port \"a\" { static = 80 }\nport \"a\" {}"), "Port label a already in use by task group network");
    group(&network("port \"a\" { static = 80 }\nport \"b\" { static = 80 }"), "Static port 80 already reserved by a");
    group(&network("port \"a\" { static = 70000 }"), "Port a (70000) cannot be greater than 65535");
    group(&network("port \"a\" { to = -2 }"), "Port \"a\" cannot be mapped to negative value -2");
    group(&network("hostname = \"not a name\""), "Hostname is not a valid DNS name");
}

#[test]
fn of_tasks() {
    group("task \"\" {}", "Missing task name");
    group("task \"a/b\" {}", "Task name cannot include slashes");
    group("task \"b\" {}", "Missing task driver");
    task("kill_timeout = \"-1s\"", "KillTimeout must be a positive value");
    task("kill_timeout = \"1h\"", "KillTimout (1h0m0s) longer than the group's ProgressDeadline (10m0s)");
    task("shutdown_delay = \"-1s\"", "ShutdownDelay must be a positive value");
    task("constraint { distinct_hosts = true }", "Constraint 1 has disallowed Operand at task level: distinct_hosts");
    task("lifecycle {}", "no lifecycle hook provided");
    task("lifecycle { hook = \"later\" }", "invalid hook: later");
    task("volume_mount { volume = \"v\" }", "Volume Mount (0) references undefined volume v");
    task("volume_mount {}", "Volume Mount (0) references an empty volume");
    task("volume_mount { propagation_mode = \"x\" }", "Volume Mount (0) has an invalid propagation mode: \"x\"");
    task("logs { max_files = 0 }", "minimum number of files is 1; got 0");
    task("logs { max_file_size = 0 }", "minimum file size is 1MB; got 0");
    task(
        "logs {\n max_files = 30\n max_file_size = 10\n}",
        "log storage (300 MB) must be less than requested disk capacity (300 MB)",
    );
}

#[test]
fn of_resources() {
    let resources = |lines: &str| format!("resources {{\n{lines}\n}}");
    task(&resources("cpu = 100\ncores = 1"), "Task can only ask for 'cpu' or 'cores' resource, not both.");
    task(&resources("cpu = 0"), "minimum CPU value is 1; got 0");
    task(&resources("memory = 9"), "minimum MemoryMB value is 10; got 9");
    task(
        &resources("memory = 64\nmemory_max = 32"),
        "MemoryMaxMB value (32) should be larger than MemoryMB value (64)",
    );
    task(&resources("disk = 5"), "Task can't ask for disk resources");
    task(&resources("disk = -5"), "Task can't ask for disk resources");
    task(&resources("device \"gpu\" { count = 0 }"), "a device count must be at least 1; got 0");
    task(
        &resources("device \"a//b\" {}"),
        "device name must be given as one of the following: type, vendor/type, or vendor/type/name",
    );
}

#[test]
fn of_policies() {
    let block = |name: &str, lines: &str| format!("{name} {{\n{lines}\n}}");
    let restart = |lines: &str| block("restart", lines);
    group(&restart("mode = \"often\""), "Unsupported restart mode: \"often\"");
    group(&restart("attempts = 0\nmode = \"delay\""), "Restart policy \"delay\" with 0 attempts is ambiguous");
    group(&restart("interval = \"4s\"\ndelay = \"1s\""), "Interval can not be less than 5s (got 4s)");
    group(
        &restart("attempts = 10\ninterval = \"1m\""),
        "Nomad can't restart the TaskGroup 10 times in an interval of 1m0s with a delay of 15s",
    );
    let reschedule = |lines: &str| block("reschedule", lines);
    group(
        &reschedule("attempts = 1\nunlimited = false\ninterval = 0"),
        "Interval must be a non zero value if Attempts > 0",
    );
    group(
        &reschedule("attempts = 1\nunlimited = true\ninterval = \"1h\""),
        "If Attempts >0, Unlimited cannot also be set to true",
    );
    group(&reschedule("delay = \"1s\""), "Delay cannot be less than 5s");
    group(&reschedule("delay_function = \"random\""), "Invalid delay function");
    group(&reschedule("max_delay = \"1s\""), "Max Delay cannot be less than");
    group(&reschedule("attempts = 1\nunlimited = false\ninterval = \"10s\""), "Interval cannot be less than 15s");
    group(&reschedule("attempts = 9\nunlimited = false\ninterval = \"2m\""), "Nomad can only make 2 attempts in 2m0s");
    group(
        &reschedule("attempts = 3\nunlimited = false\ninterval = \"2m\""),
        "Set the interval to at least 3m30s to accommodate 3 attempts",
    );
    let update = |lines: &str| block("update", lines);
    group(&update("health_check = \"luck\""), "Invalid health check given: \"luck\"");
    group(&update("max_parallel = -1"), "Max parallel can not be less than zero");
    group(&update("canary = -1"), "Canary count can not be less than zero");
    group(&update("auto_promote = true"), "Auto Promote requires a Canary count greater than zero");
    group(&update("min_healthy_time = \"-1s\""), "Minimum healthy time may not be less than zero");
    group(&update("healthy_deadline = 0"), "Healthy deadline must be greater than zero");
    group(&update("progress_deadline = \"-1s\""), "Progress deadline must be zero or greater");
    group(&update("min_healthy_time = \"6m\""), "Minimum healthy time must be less than healthy deadline");
    group(&update("healthy_deadline = \"11m\""), "Healthy deadline must be less than progress deadline");
    group(&update("stagger = 0"), "Stagger must be greater than zero");
    group(&block("migrate", "max_parallel = -1"), "MaxParallel must be >= 0 but found -1");
    group(&block("migrate", "health_check = \"manual\""), "HealthCheck must be \"checks\" or \"task_states\"");
}

#[test]
fn of_placement() {
    let constraint = |lines: &str| format!("constraint {{\n{lines}\n}}");
    let attribute = "attribute = \"${attr.a}\"";
    group(&constraint("operator = \"\"\nvalue = \"a\""), "Missing constraint operand");
    group(&constraint("operator = \"near\"\nvalue = \"a\""), "Unknown constraint type \"near\"");
    group(&constraint("value = \"a\""), "No LTarget provided but is required by constraint");
    group(&constraint(attribute), "Operator \"=\" requires an RTarget");
    group(
        &constraint(&format!("{attribute}\noperator = \"is_set\"\nvalue = \"a\"")),
        "Operator \"is_set\" does not support an RTarget",
    );
    group(&constraint(&format!("{attribute}\nregexp = \"(\"")), "Regular expression failed to compile");
    group(&constraint(&format!("{attribute}\nversion = \"one\"")), "Version constraint is invalid");
    group(&constraint(&format!("{attribute}\nsemver = \"one\"")), "Semver constraint is invalid");
    group(
        &constraint("distinct_property = \"${attr.a}\"\nvalue = \"0\""),
        "Distinct Property must have an allowed count of 1 or greater",
    );
    let affinity = |lines: &str| format!("affinity {{\n{attribute}\nvalue = \"a\"\n{lines}\n}}");
    group(&affinity("weight = 0"), "Affinity weight cannot be zero");
    group(&affinity("weight = 101"), "Affinity weight must be within the range [-100,100]");
    group("spread {}", "Missing spread attribute");
    group("spread {\n attribute = \"a\"\n weight = 0\n}", "Spread block must have a positive weight from 0 to 100");
    group(
        "spread {\n attribute = \"a\"\n target \"x\" { percent = 60 }\n target \"y\" { percent = 50 }\n}",
        "Sum of spread target percentages must not be greater than 100%; got 110%",
    );
}

#[test]
fn of_templates_and_artifacts() {
    let template = |lines: &str| format!("template {{\n{lines}\n}}");
    let whole = "data = \"x\"\ndestination = \"local/x\"\n";
    task(&template(""), "Must specify a source path or have an embedded template");
    task(&template("data = \"x\""), "Must specify a destination for the template");
    task(&template("data = \"x\"\ndestination = \"../../x\""), "destination escapes allocation directory");
    let signal = "change_mode = \"signal\"\nchange_signal = \"\"";
    task(&template(&format!("{whole}{signal}")), "Must specify signal value when change mode is signal");
    task(
        &template(&format!("{whole}change_mode = \"signal\"\nenv = true")),
        "cannot use signals with env var templates",
    );
    task(
        &template(&format!("{whole}change_mode = \"script\"")),
        "must specify change script configuration value when change mode is script",
    );
    task(&template(&format!("{whole}splay = \"-1s\"")), "Must specify positive splay value");
    task(&template(&format!("{whole}perms = \"9\"")), "Failed to parse \"9\" as octal");
    task(&format!("{}\n{}", template(whole), template(whole)), "Template 2 has same destination as 1");
    let artifact = |lines: &str| format!("artifact {{\n{lines}\n}}");
    task(&artifact(""), "source must be specified");
    task(&artifact("source = \"a\"\nmode = \"tree\""), "invalid artifact mode \"tree\"");
    let checksum = |text: &str| artifact(&format!("source = \"a\"\noptions {{\n checksum = \"{text}\"\n}}"));
    task(&checksum("abc"), "checksum must be given as \"type:value\"");
    task(&checksum("crc:abc"), "unsupported checksum type \"crc\"");
    task(&checksum("md5:abc"), "invalid md5 checksum \"abc\": 32 hex digits are needed");
}

#[test]
fn of_vault_volumes_and_scaling() {
    task("vault {}", "Policy list cannot be empty");
    task("vault { policies = [\"root\"] }", "Can not specify \"root\" policy");
    let volume = |lines: &str| format!("volume \"v\" {{\n{lines}\n}}");
    group(&volume("type = \"tape\""), "volume has unrecognized type tape");
    group(&volume("type = \"host\""), "volume has an empty source");
    group(&volume("type = \"host\"\nattachment_mode = \"file-system\""), "host volumes cannot have an attachment mode");
    group(&volume("type = \"host\"\naccess_mode = \"x\""), "host volumes cannot have an access mode");
    group(&volume("type = \"host\"\nmount_options {}"), "host volumes cannot have mount options");
    group(&volume("type = \"csi\""), "CSI volumes must have an attachment mode");
    group(&volume("type = \"csi\""), "CSI volumes must have an access mode");
    let per_alloc = volume("type = \"csi\"\nper_alloc = true");
    check_file(&file("type = \"system\"", &per_alloc, ""), "volume cannot be per_alloc for system or sysbatch jobs");
    group(&format!("update {{ canary = 1 }}\n{per_alloc}"), "volume cannot be per_alloc when canaries are in use");
    group(
        &format!("count = 2\n{}", volume("type = \"csi\"\naccess_mode = \"single-node-writer\"")),
        "volume with single-node-writer access allows only one writer",
    );
    group("scaling { max = -1 }", "maximum count must be specified and non-negative");
    group("scaling {\n min = 5\n max = 2\n}", "maximum count must not be less than minimum count");
    group("scaling {\n type = \"\"\n max = 2\n}", "missing scaling policy type");
    group(
        "count = 5\nscaling { max = 2 }",
        "Scaling policy invalid: task group count must not be greater than maximum count in scaling policy",
    );
}

#[test]
fn of_services() {
    let service = |lines: &str| format!("service {{\n{lines}\n}}");
    group(
        &service("name = \"a_b\""),
        "Service name must be valid per RFC 1123 and can contain only alphanumeric characters or dashes and must be no longer than 63 characters",
    );
    let check = |lines: &str| service(&format!("name = \"y\"\nport = \"http\"\ncheck {{\n{lines}\n}}"));
    let spans = "interval = \"10s\"\ntimeout = \"2s\"";
    group(&check(&format!("type = \"ping\"\n{spans}")), "invalid check type (\"ping\"), must be one of");
    group(&check(&format!("type = \"http\"\n{spans}")), "http type must have http path");
    group(
        &check(&format!("type = \"http\"\npath = \"http://a/b\"\n{spans}")),
        "http type must have relative http path",
    );
    group(&check(&format!("type = \"script\"\n{spans}")), "script type must have a valid script path");
    group(
        &check("type = \"tcp\"\ntimeout = \"2s\""),
        "missing required value interval. Interval cannot be less than 1s",
    );
    group(
        &check("type = \"tcp\"\ninterval = \"10s\"\ntimeout = \"100ms\""),
        "timeout (100ms) is lower than required minimum timeout 1s",
    );
    group(
        &service(&format!("name = \"y\"\ncheck {{\n name = \"x\"\n type = \"tcp\"\n {spans}\n}}")),
        "Check x invalid: 1 error occurred:\n\t* check requires a port but neither check nor service \"y\" have a port",
    );
    group(&service("provider = \"nomad\"\nconnect {}"), "Service with provider nomad cannot include Connect blocks");
    let nomad = |lines: &str| {
        service(&format!("provider = \"nomad\"\nport = \"http\"\ncheck {{\n type = \"tcp\"\n{spans}\n{lines}\n}}"))
    };
    for line in
        ["expose = true", "success_before_passing = 1", "failures_before_critical = 1", "tls_skip_verify = true"]
    {
        let name = line.split(' ').next().unwrap();
        group(&nomad(line), &format!("{name} may only be set for services with provider consul"));
    }
    group(&nomad("method = \"FETCH\""), "method \"FETCH\" is not one of HTTP's");
}

#[track_caller]
fn warns(text: &str, expected: &str) {
    let told = told(text);
    assert!(told.starts_with("accepted") && told.contains(expected), "expected {expected:?} from\n{text}\ngot\n{told}");
}

#[test]
fn warnings() {
    warns(
        &file("", "update { max_parallel = 2 }", ""),
        "Update max parallel count is greater than task group count (2 > 1). A destructive change would result in the \
         simultaneous replacement of all allocations.",
    );
    warns(&file("", "network { mbits = 5 }", ""), "mbits has been deprecated as of Nomad 0.12.0");
    warns(&file("", "", "resources { iops = 5 }"), "IOPS has been deprecated");
    warns(
        &file("", "", "resources { memory_max = 500 }"),
        "Memory oversubscription is not enabled; Task \"g.t\" memory_max value will be ignored.",
    );
}

/// Each rule names the very attribute that breaks it.
#[test]
fn faults_stand_at_their_attributes() {
    let text = r#"job "j" {
  priority = 500
  group "g" {
    count = -1
    restart {
      interval = "1s"
      mode     = "sometimes"
    }
    network {
      port "http" { static = 70000 }
    }
    service {
      name     = "a"
      provider = "nomad"
    }
    service {
      name     = "a_b"
      provider = "nomad"
      port     = "http"
      check {
        type     = "tcp"
        interval = "10s"
        timeout  = "1s"
      }
      check {
        type     = "ping"
        interval = "10s"
        timeout  = "1ms"
      }
    }
    task "t" {
      driver = "docker"
      constraint {
        attribute = "${attr.kernel.name}"
        value     = "linux"
      }
      constraint {
        attribute = "${attr.cpu.arch}"
        operator  = "regexp"
        value     = "("
      }
      resources {
        cpu    = 0
        memory = 5
      }
      template {
        data        = "x"
        destination = "../../../x"
        perms       = "rwx"
      }
    }
  }
}
"#;
    let parsed = parse(&Input::new("job.hcl", text)).unwrap();
    let invalid = complete(parsed.job).unwrap_err();
    let told: Vec<String> = invalid
        .placed()
        .iter()
        .map(|fault| {
            let place = parsed.places.nearest(&fault.path);
            let place = place.map_or_else(String::new, |place| format!("{}:{}", place.line, place.column));
            format!("{place:6} {} | {}", fault.path, fault.message.lines().next().unwrap_or_default())
        })
        .collect();
    insta::assert_snapshot!(told.join("\n"), @r#"
    2:3    priority | job priority must be between [1, 100]
    4:5    group "g" → count | Task group count can't be negative
    7:7    group "g" → restart → mode | Unsupported restart mode: "sometimes"
    6:7    group "g" → restart → interval | Interval can not be less than 5s (got 1s)
    5:5    group "g" → restart → attempts | Nomad can't restart the TaskGroup 2 times in an interval of 1s with a delay of 15s
    10:21  group "g" → network[0] → port "http" → static | Port http (70000) cannot be greater than 65535
    17:7   group "g" → service[1] → name | Service name must be valid per RFC 1123 and can contain only alphanumeric characters or dashes and must be no longer than 63 characters: "a_b"
    26:9   group "g" → service[1] → check[1] → type | invalid check type ("ping"), must be one of http, tcp
    28:9   group "g" → service[1] → check[1] → timeout | timeout (1ms) is lower than required minimum timeout 1s
    43:9   group "g" → task "t" → resources → cpu | minimum CPU value is 1; got 0
    44:9   group "g" → task "t" → resources → memory | minimum MemoryMB value is 10; got 5
    40:9   group "g" → task "t" → constraint[1] → value | Regular expression failed to compile: regex parse error:
    48:9   group "g" → task "t" → template[0] → destination | destination escapes allocation directory
    49:9   group "g" → task "t" → template[0] → perms | Failed to parse "rwx" as octal
    46:7   group "g" → task "t" → template | group "g" → task "t" → template: this version of Longshore does not act on it, so the job is not accepted; remove it from the job
    "#);
}

/// Whoever has the file sees the line of what is refused.
#[test]
fn refusals_show_their_line() {
    let text = file("ui {}", "disconnect {}", "action \"a\" {}\nschedule {}");
    let parsed = parse(&Input::new("job.hcl", &text)).unwrap();
    let told = complete(parsed.job).unwrap_err().messages().join("\n");
    insta::assert_snapshot!(longshore_jobspec::locate(&parsed.places, &told, &[]), @r#"
    ui: this version of Longshore does not act on it, so the job is not accepted; remove it from the job
        job.hcl:2:1
        2 | ui {}
          | ^^
    group "g" → disconnect: this version of Longshore does not act on it, so the job is not accepted; remove it from the job
        job.hcl:4:1
        4 | disconnect {}
          | ^^^^^^^^^^
    group "g" → task "t" → schedule: this version of Longshore does not act on it, so the job is not accepted; remove it from the job
        job.hcl:8:1
        8 | schedule {}
          | ^^^^^^^^
    group "g" → task "t" → action "a": this version of Longshore does not act on it, so the job is not accepted; remove it from the job
        job.hcl:7:1
        7 | action "a" {}
          | ^^^^^^
    "#);
}
