use std::collections::{BTreeMap, BTreeSet};

use longshore_api::{AllocMetric, NodeScoreMeta};

use crate::table::table;
use crate::view::{View, three_digits};

/// Why what has no room has none, one reason a line.
pub(crate) fn reasons(metric: &AllocMetric, prefix: &str) -> String {
    let mut lines = Vec::new();
    if metric.nodes_evaluated == 0 {
        lines.push("No nodes were eligible for evaluation".to_owned());
    }
    for (datacenter, _) in metric.nodes_available.iter().filter(|(_, available)| **available == 0) {
        lines.push(format!("No nodes are available in datacenter {datacenter:?}"));
    }
    for (class, nodes) in &metric.class_filtered {
        lines.push(format!("Class {class:?}: {nodes} nodes excluded by filter"));
    }
    for (constraint, nodes) in &metric.constraint_filtered {
        lines.push(format!("Constraint {constraint:?}: {nodes} nodes excluded by filter"));
    }
    if metric.nodes_exhausted > 0 {
        lines.push(format!("Resources exhausted on {} nodes", metric.nodes_exhausted));
    }
    for (class, nodes) in &metric.class_exhausted {
        lines.push(format!("Class {class:?} exhausted on {nodes} nodes"));
    }
    for (dimension, nodes) in &metric.dimension_exhausted {
        lines.push(format!("Dimension {dimension:?} exhausted on {nodes} nodes"));
    }
    for quota in &metric.quota_exhausted {
        lines.push(format!("Quota limit hit {quota:?}"));
    }
    lines.iter().map(|line| format!("{prefix}* {line}")).collect::<Vec<_>>().join("\n")
}

/// `Task Group "web" (failed to place 2 allocations):` and the reasons below it, for each group.
pub(crate) fn failures(failed: &BTreeMap<String, AllocMetric>, prefix: &str) -> Vec<String> {
    failed
        .iter()
        .map(|(group, metric)| {
            let count = metric.coalesced_failures + 1;
            let noun = if count == 1 { "allocation" } else { "allocations" };
            let head = format!("{prefix}Task Group {group:?} (failed to place {count} {noun}):");
            match reasons(metric, &format!("{prefix}  ")) {
                lines if lines.is_empty() => head,
                lines => format!("{head}\n{lines}"),
            }
        })
        .collect()
}

/// How the nodes that were looked at were rated, best first.
pub(crate) fn scores(view: &View, metric: &AllocMetric) -> String {
    let names: BTreeSet<&String> = metric.score_meta_data.iter().flat_map(|node| node.scores.keys()).collect();
    let mut head = vec!["Node".to_owned()];
    head.extend(names.iter().map(|name| (*name).clone()));
    head.push("final score".to_owned());
    let row = |node: &NodeScoreMeta| {
        let mut row = vec![view.id(&node.node_id).to_owned()];
        row.extend(names.iter().map(|name| three_digits(node.scores.get(*name).copied().unwrap_or(0.0))));
        row.push(three_digits(node.norm_score));
        row
    };
    let mut rows = vec![head];
    rows.extend(metric.score_meta_data.iter().map(row));
    table(&rows)
}
