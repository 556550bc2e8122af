use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// `GET /v1/metrics`: the last full interval of ten seconds.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct MetricsSummary {
    /// `2006-01-02 15:04:05 +0000 UTC`.
    pub timestamp: String,
    pub gauges: Vec<GaugeValue>,
    pub points: Vec<PointValue>,
    pub counters: Vec<SampledValue>,
    pub samples: Vec<SampledValue>,
}

/// A value that goes up and down.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct GaugeValue {
    pub name: String,
    pub value: f64,
    pub labels: BTreeMap<String, String>,
}

/// Values in the order in which they came.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct PointValue {
    pub name: String,
    pub points: Vec<f64>,
}

/// What happened in the interval.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct SampledValue {
    pub name: String,
    pub count: i64,
    /// Sum per second.
    pub rate: f64,
    pub sum: f64,
    pub min: f64,
    pub max: f64,
    pub mean: f64,
    pub stddev: f64,
    pub labels: BTreeMap<String, String>,
}
