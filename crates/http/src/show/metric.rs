use std::collections::BTreeMap;

use longshore_api as api;
use longshore_model::AllocMetric;

pub(crate) fn metric(metric: &AllocMetric) -> api::AllocMetric {
    api::AllocMetric {
        nodes_evaluated: metric.nodes_evaluated.into(),
        nodes_filtered: metric.nodes_filtered.into(),
        nodes_in_pool: metric.nodes_in_pool.into(),
        nodes_available: counts(&metric.nodes_available),
        class_filtered: counts(&metric.class_filtered),
        constraint_filtered: counts(&metric.constraint_filtered),
        nodes_exhausted: metric.nodes_exhausted.into(),
        class_exhausted: counts(&metric.class_exhausted),
        dimension_exhausted: counts(&metric.dimension_exhausted),
        score_meta_data: metric
            .scores
            .iter()
            .map(|score| api::NodeScoreMeta {
                node_id: score.node.to_string(),
                scores: score.scores.clone(),
                norm_score: score.normalized,
            })
            .collect(),
        allocation_time: metric.allocation_time,
        coalesced_failures: metric.coalesced_failures.into(),
        ..api::AllocMetric::default()
    }
}

pub(crate) fn by_group(metrics: &BTreeMap<String, AllocMetric>) -> BTreeMap<String, api::AllocMetric> {
    metrics.iter().map(|(group, of_group)| (group.clone(), metric(of_group))).collect()
}

pub(crate) fn counts(counts: &BTreeMap<String, u32>) -> BTreeMap<String, i64> {
    counts.iter().map(|(key, count)| (key.clone(), i64::from(*count))).collect()
}
