use serde::{Deserialize, Serialize};

/// How two sides of a constraint or affinity are compared (jobspec facts 2.6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Operator {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Regexp,
    Version,
    Semver,
    SetContains,
    SetContainsAny,
    IsSet,
    IsNotSet,
    DistinctHosts,
    DistinctProperty,
}

/// A rule that a node must meet.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Constraint {
    /// The left side, usually `${attr.…}`; empty for `distinct_hosts`.
    pub left: String,
    pub operator: Operator,
    /// The operator as the job has it (`=`, `==`, `is` are one operator): messages show this word.
    pub operator_text: String,
    pub right: String,
}

/// A wish about nodes, with a weight from -100 to 100.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Affinity {
    pub constraint: Constraint,
    pub weight: i8,
}

/// A wish for an even, or given, distribution over the values of an attribute.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Spread {
    pub attribute: String,
    /// 1 to 100.
    pub weight: u8,
    pub targets: Vec<SpreadTarget>,
}

/// The share of one value.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SpreadTarget {
    pub value: String,
    pub percent: u8,
}
