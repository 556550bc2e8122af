//! What a block says nothing about is the same whether the block is absent, empty, half given or fully given.

use longshore_api::Job;
use longshore_jobspec::reference::{Block, Setting, blocks};
use longshore_jobspec::{Input, parse};
use proptest::prelude::*;

/// Labels that mean something.
fn label(path: &[&str]) -> &'static str {
    match path {
        [.., "task", "scaling"] => "cpu",
        _ => "x",
    }
}

/// The names on the way to a block.
fn names(block: &Block) -> Vec<&'static str> {
    block.path.iter().map(|step| step.name).collect()
}

/// A job file with nothing but the way to the block, and the block with `body`; or, without one, the way alone.
fn file(block: &Block, body: Option<&str>) -> String {
    let mut out = String::new();
    let names = names(block);
    let last = block.path.len() - 1;
    for (at, step) in block.path.iter().enumerate() {
        if at == last && body.is_none() && at > 0 {
            break;
        }
        let label = if step.has_label { format!(" \"{}\"", label(&names[..=at])) } else { String::new() };
        out.push_str(&format!("{}{label} {{\n", step.name));
    }
    let depth = if body.is_none() && last > 0 { last } else { last + 1 };
    out.push_str(body.unwrap_or_default());
    out.push_str(&"}\n".repeat(depth - 1));
    out.push_str("group \"beside\" {}\n}\n");
    out
}

fn canonical(text: &str) -> Job {
    let mut job = parse(&Input::new("job.hcl", text)).unwrap_or_else(|why| panic!("{text}\n{why}")).job;
    longshore_jobs::canonicalize(&mut job);
    // What a job says for its groups stays as it is said; what holds are the groups' own.
    Job { reschedule: None, migrate: None, ..job }
}

fn with_defaults(settings: &[&Setting]) -> String {
    let line = |setting: &&Setting| {
        setting.default_of_services().map(|default| format!("{} = {default}\n", setting.name)).unwrap_or_default()
    };
    settings.iter().map(line).collect()
}

/// Blocks that every job has, written or not.
const ALWAYS: [&[&str]; 9] = [
    &["job", "update"],
    &["job", "group", "restart"],
    &["job", "group", "reschedule"],
    &["job", "group", "update"],
    &["job", "group", "migrate"],
    &["job", "group", "ephemeral_disk"],
    &["job", "group", "consul"],
    &["job", "group", "task", "resources"],
    &["job", "group", "task", "logs"],
];

#[test]
fn absent_and_empty_are_one() {
    let all = blocks();
    for wanted in ALWAYS {
        let block = all.iter().find(|block| names(block) == wanted).unwrap();
        assert_eq!(canonical(&file(block, None)), canonical(&file(block, Some(""))), "{wanted:?}");
    }
}

#[test]
fn empty_and_all_defaults_are_one() {
    let mut count = 0;
    for block in blocks().iter().filter(|block| !block.is_open) {
        let all: Vec<&Setting> = block.attributes.iter().collect();
        let body = with_defaults(&all);
        let empty = canonical(&file(block, Some("")));
        assert_eq!(canonical(&file(block, Some(&body))), empty, "{:?}\n{body}", names(block));
        count += usize::from(!body.is_empty());
    }
    assert!(count > 30, "only {count} blocks have defaults");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_subset_keeps_the_others_defaults(at in any::<prop::sample::Index>(), chosen in any::<u32>()) {
        let all = blocks();
        let with: Vec<&Block> =
            all.iter().filter(|block| block.attributes.iter().any(|it| !it.default.is_empty())).collect();
        let block = at.get(&with);
        let given = block.attributes.iter().enumerate().filter(|(at, _)| chosen >> (at % 32) & 1 == 1);
        let body = with_defaults(&given.map(|(_, setting)| setting).collect::<Vec<_>>());
        let empty = canonical(&file(block, Some("")));
        prop_assert_eq!(canonical(&file(block, Some(&body))), empty, "{:?}\n{}", names(block), body);
    }
}
