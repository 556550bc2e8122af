use std::collections::{BTreeMap, BTreeSet};

use longshore_api::{Job, JobDiff};
use serde_json::{Map, Value, json};

use super::super::diff;
use super::super::parts;
use super::{corpus, shown};

fn is_none(diff: &JobDiff) -> bool {
    diff.kind == "None" && shown(diff).is_empty()
}

#[test]
fn a_job_is_like_itself() {
    for (name, job) in corpus() {
        assert!(is_none(&diff(Some(&job), &job)), "{name}");
    }
}

/// Values of a job's owner that are told elsewhere or never, by the end of their path.
const UNTOLD: [&str; 18] = [
    // A job's own policies are those of its groups.
    "/Update/*",
    "/Reschedule/*",
    "/Migrate/*",
    "/TaskGroups/Update/Stagger",
    // Servers fill these in.
    "/Networks/Device",
    "/Networks/CIDR",
    "/Networks/IP",
    "/DynamicPorts/Value",
    "/Scaling/ID",
    "/Scaling/Target/*",
    "/ScalingPolicies/ID",
    "/ScalingPolicies/Target/*",
    "/Scaling/CreateIndex",
    "/Scaling/ModifyIndex",
    "/ScalingPolicies/CreateIndex",
    "/ScalingPolicies/ModifyIndex",
    // `disabled` says it.
    "/LogConfig/Enabled",
    // A service's own is that of its checks.
    "/Services/CheckRestart/*",
];

fn is_untold(path: &str) -> bool {
    let top = path.trim_start_matches('/').split('/').next().unwrap_or_default();
    let is_at_top = ["Update", "Reschedule", "Migrate"].contains(&top);
    (parts::JOB.hidden.contains(&top) && top != "TaskGroups")
        || UNTOLD.iter().any(|untold| match untold.strip_suffix("/*") {
            Some(block) if block.matches('/').count() == 1 => is_at_top,
            Some(block) => path.contains(&format!("{block}/")),
            None => path.ends_with(untold),
        })
}

/// Calls back with the path of each value (without positions) and the whole document with that value changed.
fn each_change(value: &Value, path: &str, rebuild: &dyn Fn(Value) -> Value, then: &mut dyn FnMut(&str, Value)) {
    match value {
        Value::Null => {}
        Value::Bool(is) => then(path, rebuild(json!(!is))),
        Value::Number(number) => match number.as_i64() {
            Some(number) => then(path, rebuild(json!(number + 1))),
            None => then(path, rebuild(json!(0.5))),
        },
        Value::String(text) => then(path, rebuild(json!(format!("{text}-other")))),
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                let rebuild = |changed: Value| {
                    let mut items = items.clone();
                    items[at] = changed;
                    rebuild(Value::Array(items))
                };
                each_change(item, path, &rebuild, then);
            }
        }
        Value::Object(members) => {
            for (key, member) in members {
                let rebuild = |changed: Value| {
                    let mut members: Map<String, Value> = members.clone();
                    members.insert(key.clone(), changed);
                    rebuild(Value::Object(members))
                };
                each_change(member, &format!("{path}/{key}"), &rebuild, then);
            }
        }
    }
}

/// No value of any job of the corpus changes in silence.
#[test]
fn every_value_that_differs_is_told() {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut silent = BTreeSet::new();
    for (name, job) in corpus() {
        let document = serde_json::to_value(&job).unwrap();
        each_change(&document, "", &|changed| changed, &mut |path, changed| {
            let count = seen.entry(path.to_owned()).or_default();
            *count += 1;
            if *count > 2 {
                return;
            }
            let other: Job = longshore_api::from_value(changed).unwrap_or_else(|why| panic!("{path}: {why}"));
            let diff = diff(Some(&job), &other);
            if is_none(&diff) != is_untold(path) {
                silent.insert(format!("{path} of {name} is {}told", if is_none(&diff) { "not " } else { "" }));
            }
        });
    }
    assert!(seen.len() > 400, "only {} kinds of values", seen.len());
    assert!(silent.is_empty(), "{silent:#?}");
}

/// The keys of a job that differ; what is hidden, and in which order lists stand that count as sets, does not matter.
fn differing(old: &Job, new: &Job) -> BTreeSet<String> {
    let members = |job: &Job| serde_json::to_value(job).unwrap().as_object().unwrap().clone();
    let (old, new) = (members(old), members(new));
    let plain = |job: &Map<String, Value>, key: &String| {
        let mut value = job.get(key).cloned().unwrap_or_default();
        if key == "TaskGroups" {
            value.as_array_mut().into_iter().flatten().for_each(strip);
        }
        sort_lists(&mut value);
        value
    };
    let is_part = |key: &&String| key.as_str() == "TaskGroups" || !parts::JOB.hidden.contains(&key.as_str());
    let keys: BTreeSet<&String> = old.keys().chain(new.keys()).filter(is_part).collect();
    keys.into_iter().filter(|key| plain(&old, key) != plain(&new, key)).cloned().collect()
}

/// Takes out what is not told of a group.
fn strip(group: &mut Value) {
    if let Some(update) = group["Update"].as_object_mut() {
        update.remove("Stagger");
    }
}

fn sort_lists(value: &mut Value) {
    match value {
        Value::Array(items) => {
            items.iter_mut().for_each(sort_lists);
            items.sort_by_cached_key(Value::to_string);
        }
        Value::Object(members) => members.values_mut().for_each(sort_lists),
        _ => {}
    }
}

fn named(diff: &JobDiff) -> BTreeSet<String> {
    let field = |name: &str| name.split('[').next().unwrap_or_default().to_owned();
    let key = |name: &str| parts::JOB.parts.iter().find(|part| part.name == name).unwrap().key.to_owned();
    let groups = diff.task_groups.iter().any(|group| group.kind != "None").then(|| "TaskGroups".to_owned());
    let fields = diff.fields.iter().map(|one| field(&one.name));
    fields.chain(diff.objects.iter().map(|one| key(&one.name))).chain(groups).collect()
}

#[test]
fn two_jobs_differ_in_what_is_named_and_in_nothing_else() {
    let jobs = corpus();
    for (at, (name, old)) in jobs.iter().enumerate() {
        // Each with some of the others; a stride that shares no factor with the count meets them all over time.
        for step in [1, 7, 31] {
            let (other, new) = &jobs[(at + step) % jobs.len()];
            // A set of one and the same twice is a set of one.
            assert_eq!(named(&diff(Some(old), new)), differing(old, new), "{name} → {other}");
        }
    }
}
