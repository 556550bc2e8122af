use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::empty::null_if_empty;

/// What is different between two versions of a job. `Type` is `None`, `Added`, `Deleted` or `Edited` everywhere.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct JobDiff {
    #[serde(rename = "Type")]
    pub kind: String,
    #[serde(rename = "ID")]
    pub id: String,
    #[serde(with = "null_if_empty")]
    pub fields: Vec<FieldDiff>,
    #[serde(with = "null_if_empty")]
    pub objects: Vec<ObjectDiff>,
    #[serde(with = "null_if_empty")]
    pub task_groups: Vec<TaskGroupDiff>,
}

/// One group's differences.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct TaskGroupDiff {
    #[serde(rename = "Type")]
    pub kind: String,
    pub name: String,
    #[serde(with = "null_if_empty")]
    pub fields: Vec<FieldDiff>,
    #[serde(with = "null_if_empty")]
    pub objects: Vec<ObjectDiff>,
    #[serde(with = "null_if_empty")]
    pub tasks: Vec<TaskDiff>,
    /// `create`, `destroy`, `in-place update` … → how many allocations.
    #[serde(with = "null_if_empty")]
    pub updates: BTreeMap<String, u64>,
}

/// One task's differences.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct TaskDiff {
    #[serde(rename = "Type")]
    pub kind: String,
    pub name: String,
    #[serde(with = "null_if_empty")]
    pub fields: Vec<FieldDiff>,
    #[serde(with = "null_if_empty")]
    pub objects: Vec<ObjectDiff>,
    /// `forces create`, `forces in-place update` …
    #[serde(with = "null_if_empty")]
    pub annotations: Vec<String>,
}

/// One block's differences.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct ObjectDiff {
    #[serde(rename = "Type")]
    pub kind: String,
    pub name: String,
    #[serde(with = "null_if_empty")]
    pub fields: Vec<FieldDiff>,
    #[serde(with = "null_if_empty")]
    pub objects: Vec<ObjectDiff>,
}

/// One value's difference.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct FieldDiff {
    #[serde(rename = "Type")]
    pub kind: String,
    pub name: String,
    pub old: String,
    pub new: String,
    #[serde(with = "null_if_empty")]
    pub annotations: Vec<String>,
}
