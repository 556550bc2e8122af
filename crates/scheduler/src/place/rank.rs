//! How good a node is for a group (scheduling facts 4.2).

use std::collections::BTreeMap;

use longshore_model::{Job, NodeScore, Resources, TaskGroup};

use super::Candidate;
use super::constraint::Patterns;
use super::spread::Spreads;

pub(super) fn score(
    job: &Job,
    group: &TaskGroup,
    candidate: &Candidate,
    ask: Resources,
    spreads: &Spreads,
    patterns: &Patterns,
    penalised: bool,
) -> NodeScore {
    let mut scores = BTreeMap::new();
    let (mut sum, mut counted) = (0.0, 0.0);
    let mut count = |scores: &mut BTreeMap<String, f64>, name: &str, score: f64| {
        scores.insert(name.to_owned(), score);
        sum += score;
        counted += 1.0;
    };
    count(&mut scores, "binpack", binpack(candidate, ask));
    let mates = candidate.job_groups.iter().filter(|(_, other)| *other == group.name).count();
    if mates > 0 {
        count(&mut scores, "job-anti-affinity", -((mates as f64 + 1.0) / f64::from(group.count.max(1))));
    } else {
        scores.insert("job-anti-affinity".to_owned(), 0.0);
    }
    if penalised {
        count(&mut scores, "node-reschedule-penalty", -1.0);
    } else {
        scores.insert("node-reschedule-penalty".to_owned(), 0.0);
    }
    let affinity = node_affinity(job, group, candidate, patterns);
    if affinity != 0.0 {
        count(&mut scores, "node-affinity", affinity);
    } else {
        scores.insert("node-affinity".to_owned(), 0.0);
    }
    let spread = spreads.boost(&candidate.node);
    if spread != 0.0 {
        count(&mut scores, "allocation-spread", spread);
    }
    NodeScore { node: candidate.node.id, scores, normalized: sum / counted }
}

/// Full nodes score high: 0 for an empty one, 1 for one that is exactly full.
fn binpack(candidate: &Candidate, ask: Resources) -> f64 {
    let available = candidate.node.available();
    let free = |used: i64, all: i64| if all > 0 { 1.0 - used as f64 / all as f64 } else { 0.0 };
    let cpu = free(candidate.used.cpu_mhz + ask.cpu_mhz, available.cpu_mhz);
    let memory = free(candidate.used.memory_mb + ask.memory_mb, available.memory_mb);
    let score = 20.0 - (10f64.powf(cpu) + 10f64.powf(memory));
    score.clamp(0.0, 18.0) / 18.0
}

fn node_affinity(job: &Job, group: &TaskGroup, candidate: &Candidate, patterns: &Patterns) -> f64 {
    let of_tasks = group.tasks.iter().flat_map(|task| &task.affinities);
    let (mut met, mut all) = (0.0, 0.0);
    for affinity in job.affinities.iter().chain(&group.affinities).chain(of_tasks) {
        let weight = f64::from(affinity.weight);
        all += weight.abs();
        if patterns.hold(&affinity.constraint, &candidate.node) {
            met += weight;
        }
    }
    if all > 0.0 { met / all } else { 0.0 }
}
