//! Jobs as clients send them, completed and compared with what Nomad makes of them.

use longshore_api::{Job, TaskGroup};
use serde_json::{Value, json};

use crate::{UpdateKind, canonicalize, complete, defaults, diff, update_kind};

fn text(name: &str) -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|why| panic!("{}: {why}", path.display()))
}

fn value(name: &str) -> Value {
    serde_json::from_str(&text(name)).unwrap()
}

fn request(name: &str) -> Job {
    longshore_api::from_value(value(&format!("{name}.request.json"))).unwrap()
}

/// Keys whose values only a server can give.
const OF_SERVER: [&str; 10] = [
    "Status",
    "Stable",
    "Version",
    "SubmitTime",
    "CreateIndex",
    "ModifyIndex",
    "JobModifyIndex",
    "Scaling.ID",
    "Scaling.Target",
    "Namespace",
];

/// Where `expected` says something that `got` does not; keys that only `got` has are of newer versions.
fn differences(path: &str, expected: &Value, got: &Value, out: &mut Vec<String>) {
    match (expected, got) {
        (Value::Object(expected), Value::Object(got)) => {
            for (key, value) in expected {
                let path = format!("{path}.{key}");
                if !OF_SERVER.iter().any(|end| path.ends_with(end)) {
                    differences(&path, value, got.get(key).unwrap_or(&json!("missing")), out);
                }
            }
        }
        (Value::Array(expected), Value::Array(got)) if expected.len() == got.len() => {
            for (at, (expected, got)) in expected.iter().zip(got).enumerate() {
                differences(&format!("{path}[{at}]"), expected, got, out);
            }
        }
        (Value::Number(a), Value::Number(b)) if a.as_f64() == b.as_f64() => {}
        _ if expected == got => {}
        _ => out.push(format!("{path}: expected {expected}, got {got}")),
    }
}

#[track_caller]
fn check_stored(name: &str, known: &[&str]) {
    let mut job = request(name);
    canonicalize(&mut job);
    defaults::to_stored(&mut job);
    let mut out = Vec::new();
    differences("", &value(&format!("{name}.stored.json")), &serde_json::to_value(job).unwrap(), &mut out);
    assert_eq!(out, known, "{name}");
}

#[test]
fn stored_jobs_are_as_nomad_stores_them() {
    check_stored("web", &[]);
    check_stored("resize", &[]);
    check_stored("ledger", &[]);
    check_stored("full", &[]);
}

#[test]
fn canonical_requests_are_as_nomad_parses_them() {
    let mut job = request("web");
    canonicalize(&mut job);
    let mut out = Vec::new();
    differences("", &value("web.canonical.json"), &serde_json::to_value(job).unwrap(), &mut out);
    assert!(out.is_empty(), "{}", out.join("\n"));
}

#[test]
fn completing_twice_changes_nothing() {
    let once = complete(request("web")).unwrap();
    let again: Job = longshore_api::decode(once.job.document.as_bytes()).unwrap();
    assert_eq!(complete(again).unwrap(), once);
}

#[test]
fn the_model_has_what_the_job_says() {
    let completed = complete(request("web")).unwrap();
    assert_eq!(completed.warnings, Vec::<String>::new());
    let mut shown = serde_json::to_value(&completed.job).unwrap();
    shown["document"] = json!("");
    shown["document_digest"] = json!("");
    insta::assert_json_snapshot!(shown);
}

/// Takes away what callers add (annotations, updates) and what Nomad 1.1 did not know.
fn bare(diff: &mut Value) {
    match diff {
        Value::Object(members) => {
            for key in ["Annotations", "Updates"] {
                members.remove(key);
            }
            members.values_mut().for_each(bare);
        }
        Value::Array(items) => {
            items.retain(|item| !matches!(item["Name"].as_str(), Some("NodePool" | "RenderTemplates" | "Disabled")));
            items.iter_mut().for_each(bare);
        }
        _ => {}
    }
}

#[track_caller]
fn check_diff(old: Option<&str>, new: &str) {
    let document = |name: &str| -> Job {
        longshore_api::decode(complete(request(name)).unwrap().job.document.as_bytes()).unwrap()
    };
    let mut got = serde_json::to_value(diff(old.map(document).as_ref(), &document(new))).unwrap();
    let mut expected = value(&format!("{new}.diff.json"));
    bare(&mut got);
    bare(&mut expected);
    assert_eq!(got, expected, "{}", serde_json::to_string_pretty(&got).unwrap());
}

#[test]
fn differences_are_as_nomad_plans_them() {
    check_diff(None, "web");
    check_diff(Some("web"), "web-inplace");
    check_diff(Some("web"), "web-resources");
    check_diff(Some("web"), "web-diff");
}

#[test]
fn an_unchanged_job_has_no_differences() {
    let job: Job = longshore_api::decode(complete(request("web")).unwrap().job.document.as_bytes()).unwrap();
    let same = diff(Some(&job), &job);
    assert_eq!((same.kind.as_str(), same.fields.len(), same.objects.len()), ("None", 0, 0));
    assert_eq!(same.task_groups[0].kind, "None");
    assert_eq!(same.task_groups[0].tasks[0].kind, "None");
}

#[test]
fn wrong_values_are_told_as_nomad_tells_them() {
    let told = complete(request("bad-values")).unwrap_err().to_string();
    // 1.6 has a default for datacenters and writes "job priority" in lower case.
    let expected = text("bad-values.txt")
        .replace("5 errors", "4 errors")
        .replace("\t* Missing job datacenters\n", "")
        .replace("Job priority", "job priority");
    assert_eq!(told, expected);
}

fn web() -> Job {
    request("web")
}

#[track_caller]
fn check_invalid(change: impl FnOnce(&mut TaskGroup), expected: &str) {
    let mut job = web();
    change(&mut job.task_groups[0]);
    let told = match complete(job) {
        Ok(_) => "accepted".to_owned(),
        Err(invalid) => invalid.to_string(),
    };
    assert!(told.contains(expected), "expected {expected:?} in:\n{told}");
}

fn nested(levels: usize) -> serde_json::Value {
    (0..levels).fold(json!("end"), |inner, _| json!([inner]))
}

/// Or it could be written to the journal and never be read again.
#[test]
fn a_config_has_a_deepest_level() {
    check_invalid(
        |group| drop(group.tasks[0].config.insert("args".into(), nested(65))),
        "config is nested more than 64 levels deep",
    );
    let mut job = web();
    job.task_groups[0].tasks[0].config.insert("args".into(), nested(64));
    let complete = complete(job).unwrap().job;
    let written = serde_json::to_string(&[[[[[[[[complete]]]]]]]]).unwrap();
    serde_json::from_str::<serde_json::Value>(&written).unwrap();
}

#[test]
fn rules() {
    check_invalid(|group| group.count = Some(50_001), "Task group count of 50001 is more than 50000");
    check_invalid(
        |group| group.ephemeral_disk.get_or_insert_default().size_mb = Some(i64::MAX),
        "a DiskMB value of 9223372036854775807 is more than any node has",
    );
    check_invalid(|group| group.tasks.clear(), "Missing tasks for task group");
    check_invalid(|group| group.tasks.push(group.tasks[0].clone()), "Task 2 redefines 'httpd' from task 1");
    check_invalid(|group| group.tasks[0].name = "a/b".into(), "Task name cannot include slashes");
    check_invalid(
        |group| group.networks[0].dynamic_ports[0].to = -2,
        "Port \"http\" cannot be mapped to negative value -2",
    );
    check_invalid(
        |group| {
            let mut port = group.networks[0].dynamic_ports[0].clone();
            port.value = 70_000;
            group.networks[0].reserved_ports.push(port);
        },
        "Port http (70000) cannot be greater than 65535\n\t* Port label http already in use by task group network",
    );
    check_invalid(
        |group| group.restart_policy = serde_json::from_value(json!({"Attempts": 0, "Mode": "delay"})).unwrap(),
        "Restart policy \"delay\" with 0 attempts is ambiguous",
    );
    check_invalid(
        |group| {
            group.reschedule_policy = serde_json::from_value(json!({
                "Attempts": 5, "Interval": 60_000_000_000_i64, "Delay": 30_000_000_000_i64,
                "DelayFunction": "exponential", "MaxDelay": 3_600_000_000_000_i64, "Unlimited": false
            }))
            .unwrap();
        },
        "Nomad can only make 1 attempts in 1m0s with initial delay 30s, delay function \"exponential\" and delay \
         ceiling 1h0m0s\n\t* Set the interval to at least 15m30s to accommodate 5 attempts",
    );
    check_invalid(
        |group| {
            group.constraints = serde_json::from_value(json!([
                {"LTarget": "${attr.x}", "Operand": "regexp", "RTarget": "("},
                {"LTarget": "${attr.x}", "Operand": "near", "RTarget": "y"},
                {"LTarget": "${attr.x}", "Operand": "version", "RTarget": ">= 1.x"},
                {"LTarget": "", "Operand": "=", "RTarget": ""}
            ]))
            .unwrap();
        },
        "Constraint 4 validation failed: 2 errors occurred:\n\t* Operator \"=\" requires an RTarget\n\t* No LTarget \
         provided but is required by constraint",
    );
    check_invalid(
        |group| {
            group.spreads = serde_json::from_value(json!([{"Attribute": "${node.datacenter}", "Weight": 50,
                "SpreadTarget": [{"Value": "a", "Percent": 70}, {"Value": "b", "Percent": 40}]}]))
            .unwrap();
        },
        "Sum of spread target percentages must not be greater than 100%; got 110%",
    );
}

#[track_caller]
fn check_refused(change: impl FnOnce(&mut Job), path: &str) {
    let mut job = web();
    change(&mut job);
    let messages = match complete(job) {
        Ok(_) => Vec::new(),
        Err(invalid) => invalid.messages(),
    };
    assert!(messages.iter().any(|message| message.starts_with(&format!("{path}: "))), "{path}: {messages:?}");
}

#[test]
fn what_is_not_acted_on_is_refused_by_name() {
    let in_group = |set: fn(&mut TaskGroup)| move |job: &mut Job| set(&mut job.task_groups[0]);
    check_refused(|job| job.kind = Some("system".into()), "type");
    check_refused(|job| job.periodic = Some(Default::default()), "periodic");
    check_refused(in_group(|g| g.networks[0].mode = "cni/calico".into()), "group \"web\" → network → mode");
    check_refused(in_group(|g| g.networks[0].hostname = "shop".into()), "group \"web\" → network → hostname");
    check_refused(in_group(|g| g.scaling = Some(Default::default())), "group \"web\" → scaling");
    check_refused(
        in_group(|g| {
            g.volumes.insert("data".into(), Default::default());
        }),
        "group \"web\" → volume \"data\"",
    );
    check_refused(
        in_group(|g| g.tasks[0].artifacts.push(Default::default())),
        "group \"web\" → task \"httpd\" → artifact",
    );
    check_refused(
        in_group(|g| g.tasks[0].templates.push(Default::default())),
        "group \"web\" → task \"httpd\" → template",
    );
    check_refused(
        in_group(|g| g.tasks[0].resources.get_or_insert_default().cores = Some(2)),
        "group \"web\" → task \"httpd\" → resources → cores",
    );
    check_refused(
        in_group(|g| g.update = serde_json::from_value(json!({"Canary": 1})).unwrap()),
        "group \"web\" → update → canary",
    );
}

#[test]
fn a_service_is_accepted_with_a_warning() {
    let mut job = web();
    job.task_groups[0].services = serde_json::from_value(json!([{"Name": "${BASE}-x", "PortLabel": "http"}])).unwrap();
    let completed = complete(job).unwrap();
    assert_eq!(completed.warnings.len(), 1);
    assert!(completed.warnings[0].contains("\"shop-web-web-x\" is not registered"), "{}", completed.warnings[0]);
}

#[test]
fn warnings_are_worded_as_nomad_words_them() {
    let mut job = web();
    job.update.get_or_insert_default().max_parallel = Some(5);
    job.task_groups[0].tasks[0].resources.get_or_insert_default().memory_max_mb = Some(64);
    insta::assert_snapshot!(crate::format_warnings(&complete(job).unwrap().warnings), @r#"
    2 warning(s):

    * Group "web" has warnings: 1 error occurred:
    	* Update max parallel count is greater than task group count (5 > 2). A destructive change would result in the simultaneous replacement of all allocations.


    * Memory oversubscription is not enabled; Task "web.httpd" memory_max value will be ignored. Update the Scheduler Configuration to allow oversubscription.
    "#);
}

#[track_caller]
fn check_update(change: impl FnOnce(&mut Job), expected: &str) {
    let old = complete(web()).unwrap().job;
    let mut changed = web();
    change(&mut changed);
    let mut new = complete(changed).unwrap().job;
    new.version = 1;
    let got = match update_kind(&old, &new, "web") {
        UpdateKind::Ignore => "ignore".to_owned(),
        UpdateKind::InPlace => "in place".to_owned(),
        UpdateKind::Destructive { reason } => reason,
    };
    assert_eq!(got, expected);
}

#[test]
fn kinds_of_update() {
    check_update(|_| {}, "in place");
    check_update(|job| job.submit_time = Some(7), "in place");
    check_update(|job| job.task_groups[0].count = Some(5), "in place");
    check_update(|job| job.priority = Some(60), "in place");
    check_update(|job| job.task_groups[0].tasks[0].kill_timeout = "8s".parse().ok(), "in place");
    check_update(|job| job.task_groups[0].tasks[0].env.clear(), "task \"httpd\": env");
    check_update(
        |job| job.task_groups[0].tasks[0].resources.get_or_insert_default().memory_mb = Some(48),
        "task \"httpd\": resources",
    );
    check_update(
        |job| {
            job.task_groups[0].tasks[0].config.insert("image".into(), json!("other:2"));
        },
        "task \"httpd\": config",
    );
    check_update(
        |job| {
            job.meta.insert("a".into(), "b".into());
        },
        "task \"httpd\": meta",
    );
    check_update(|job| job.task_groups[0].networks[0].dynamic_ports[0].to = 81, "network");
    check_update(|job| job.task_groups[0].ephemeral_disk.get_or_insert_default().size_mb = Some(60), "ephemeral_disk");
    check_update(
        |job| {
            job.affinities = serde_json::from_value(
                json!([{"LTarget": "${node.class}", "RTarget": "x", "Operand": "=", "Weight": 5}]),
            )
            .unwrap()
        },
        "affinity",
    );
}

#[test]
fn numbers_and_tokens_make_no_new_version() {
    let digest = |change: fn(&mut Job)| {
        let mut job = web();
        change(&mut job);
        complete(job).unwrap().job.document_digest
    };
    let mut with_token = web();
    with_token.vault_token = Some("hunter2".into());
    assert!(!complete(with_token).unwrap().job.document.contains("hunter2"));
    let plain = digest(|_| {});
    assert_eq!(digest(|job| job.consul_token = Some("secret".into())), plain);
    assert_eq!(digest(|job| job.modify_index = Some(9)), plain);
    let whole = digest(|job| {
        job.task_groups[0].tasks[0].config.insert("n".into(), json!(3));
    });
    let float = digest(|job| {
        job.task_groups[0].tasks[0].config.insert("n".into(), json!(3.0));
    });
    assert_eq!(whole, float);
    assert_ne!(whole, plain);
}

proptest::proptest! {
    /// Whatever numbers a client sends, the answer is a job or an error.
    #[test]
    fn no_numbers_panic(
        count in proptest::num::i64::ANY,
        span in proptest::num::i64::ANY,
        attempts in proptest::num::i64::ANY,
        weight in proptest::num::i64::ANY,
        percent in proptest::num::u64::ANY,
    ) {
        let mut job = web();
        let group = &mut job.task_groups[0];
        group.count = Some(count);
        group.restart_policy = serde_json::from_value(json!({"Attempts": attempts, "Interval": span, "Delay": span})).unwrap();
        group.reschedule_policy = serde_json::from_value(
            json!({"Attempts": attempts, "Interval": span, "Delay": 6_000_000_000_i64, "DelayFunction": "fibonacci"})).unwrap();
        group.tasks[0].resources = serde_json::from_value(json!({"CPU": count, "MemoryMB": span, "MemoryMaxMB": weight})).unwrap();
        group.tasks[0].log_config = serde_json::from_value(json!({"MaxFiles": count, "MaxFileSizeMB": span})).unwrap();
        group.networks[0].dynamic_ports[0].to = span;
        job.priority = Some(weight);
        job.affinities = serde_json::from_value(json!([{"LTarget": "a", "Operand": "=", "RTarget": "b", "Weight": weight}])).unwrap();
        job.spreads = serde_json::from_value(json!([{"Attribute": "a", "Weight": weight,
            "SpreadTarget": [{"Value": "a", "Percent": percent}, {"Value": "b", "Percent": percent}]}])).unwrap();
        let _ = complete(job);
    }
}

#[test]
fn names_and_variables_that_would_do_harm_later_are_refused() {
    let env = |key: &str, value: &str| {
        let (key, value) = (key.to_owned(), value.to_owned());
        move |group: &mut TaskGroup| drop(group.tasks[0].env.insert(key, value))
    };
    check_invalid(|group| "alloc".clone_into(&mut group.tasks[0].name), "Task name cannot be \"alloc\"");
    check_invalid(|group| group.tasks[0].name = "x".repeat(201), "Task name is longer than 200 bytes");
    check_invalid(env("", "1"), "env: \"\" cannot name a variable of the environment");
    check_invalid(env("A=B", "1"), "env: \"A=B\" cannot name a variable of the environment");
    check_invalid(env("A", "1\0"), "env: the value of \"A\" contains a null character");
    for (id, expected) in [
        ("a\u{1b}[31m".to_owned(), "Job ID contains a control character"),
        ("a\nb".to_owned(), "Job ID contains a control character"),
        ("x".repeat(1_025), "Job ID is longer than 1024 bytes"),
    ] {
        let mut job = web();
        job.id = Some(id);
        let told = complete(job).err().map(|invalid| invalid.to_string()).unwrap_or_default();
        assert!(told.contains(expected), "expected {expected:?} in:\n{told}");
    }
}
