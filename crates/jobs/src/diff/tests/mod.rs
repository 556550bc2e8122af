//! A row per block, and what holds for any two jobs.

mod blocks;
mod laws;

use std::path::Path;

use longshore_api::{FieldDiff, Job, JobDiff, ObjectDiff};
use longshore_jobspec::{Input, parse};

use crate::canonicalize;

/// A job with its defaults.
fn job(text: &str) -> Job {
    let mut job = parse(&Input::new("job.hcl", text)).unwrap_or_else(|why| panic!("{text}\n{why}")).job;
    canonicalize(&mut job);
    job
}

/// All jobs of the corpus, with their defaults, and the names of their files.
fn corpus() -> Vec<(String, Job)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus/jobs");
    let entries = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = entries.filter(|name| name.ends_with(".hcl") || name.ends_with(".json")).collect();
    names.sort();
    let read = |name: String| {
        let text = std::fs::read_to_string(folder.join(&name)).unwrap();
        // Files that need more than themselves have their place in the corpus' own tests.
        let mut job = parse(&Input { seed: Some([1; 32]), ..Input::new(&name, &text) }).ok()?.job;
        canonicalize(&mut job);
        Some((name, job))
    };
    let jobs: Vec<_> = names.into_iter().filter_map(read).collect();
    assert!(jobs.len() > 80, "only {} jobs", jobs.len());
    jobs
}

/// What changed, on one line: `~Update(Canary: 0 → 1)`, `+Template(…)`, `Count: 1 → 2`.
fn shown(diff: &JobDiff) -> String {
    let mut out = told(&diff.fields, &diff.objects);
    for group in &diff.task_groups {
        out.extend(told(&group.fields, &group.objects));
        for task in &group.tasks {
            out.extend(told(&task.fields, &task.objects));
        }
    }
    out.join(", ")
}

fn told(fields: &[FieldDiff], objects: &[ObjectDiff]) -> Vec<String> {
    let changed = fields.iter().filter(|field| field.kind != "None");
    let fields = changed.map(|field| match field.kind.as_str() {
        "Added" => format!("{}: {}", field.name, field.new),
        "Deleted" => format!("{}: {} → nothing", field.name, field.old),
        _ => format!("{}: {} → {}", field.name, field.old, field.new),
    });
    let sign = |kind: &str| match kind {
        "Added" => '+',
        "Deleted" => '-',
        _ => '~',
    };
    let object = |object: &ObjectDiff| {
        format!("{}{}({})", sign(&object.kind), object.name, told(&object.fields, &object.objects).join(", "))
    };
    fields.chain(objects.iter().map(object)).collect()
}
