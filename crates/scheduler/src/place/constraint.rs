//! One constraint against one node (jobspec facts 2.6).

use std::cell::RefCell;
use std::collections::BTreeMap;

use longshore_model::{Constraint, Node, Operator};
use longshore_values::{Version, VersionConstraint, VersionRule, regular_expression};
use regex::Regex;

/// What the right sides of constraints are compiled to, once for all nodes of an evaluation.
#[derive(Debug, Default)]
pub(super) struct Patterns {
    /// By text; `None` for what is no pattern.
    regexes: RefCell<BTreeMap<String, Option<Regex>>>,
    lenient: RefCell<BTreeMap<String, Option<VersionConstraint>>>,
    semver: RefCell<BTreeMap<String, Option<VersionConstraint>>>,
}

impl Patterns {
    /// Whether the node meets the constraint. Constraints about other allocations (`distinct_…`) hold here.
    pub(super) fn hold(&self, constraint: &Constraint, node: &Node) -> bool {
        let left = resolve(&constraint.left, node);
        let right = resolve(&constraint.right, node);
        let both = left.as_deref().zip(right.as_deref());
        match constraint.operator {
            Operator::DistinctHosts | Operator::DistinctProperty => true,
            Operator::IsSet => left.is_some(),
            Operator::IsNotSet => left.is_none(),
            Operator::NotEqual => left != right,
            Operator::Equal => both.is_some_and(|(left, right)| left == right),
            Operator::Less => both.is_some_and(|(left, right)| order(left, right).is_lt()),
            Operator::LessOrEqual => both.is_some_and(|(left, right)| order(left, right).is_le()),
            Operator::Greater => both.is_some_and(|(left, right)| order(left, right).is_gt()),
            Operator::GreaterOrEqual => both.is_some_and(|(left, right)| order(left, right).is_ge()),
            Operator::Regexp => both.is_some_and(|(left, right)| self.regex_matches(left, right)),
            Operator::Version => both.is_some_and(|(left, right)| self.allows(left, right, VersionRule::Lenient)),
            Operator::Semver => both.is_some_and(|(left, right)| self.allows(left, right, VersionRule::Semver)),
            Operator::SetContains => {
                both.is_some_and(|(left, right)| members(right).all(|wanted| members(left).any(|has| has == wanted)))
            }
            Operator::SetContainsAny => {
                both.is_some_and(|(left, right)| members(right).any(|wanted| members(left).any(|has| has == wanted)))
            }
        }
    }

    fn regex_matches(&self, text: &str, pattern: &str) -> bool {
        once(&self.regexes, pattern, |pattern| regular_expression(pattern).ok(), |regex| regex.is_match(text))
    }

    fn allows(&self, version: &str, wanted: &str, rule: VersionRule) -> bool {
        let known = match rule {
            VersionRule::Lenient => &self.lenient,
            VersionRule::Semver => &self.semver,
        };
        let Some(version) = Version::parse(version, rule) else { return false };
        once(known, wanted, |wanted| VersionConstraint::parse(wanted, rule), |wanted| wanted.allows(&version))
    }
}

#[cfg(test)]
thread_local! {
    /// How many patterns this thread has compiled.
    pub(crate) static COMPILED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// What `test` says of the compiled `text`; false for a text that cannot be compiled.
fn once<T>(
    known: &RefCell<BTreeMap<String, Option<T>>>,
    text: &str,
    compile: impl FnOnce(&str) -> Option<T>,
    test: impl FnOnce(&T) -> bool,
) -> bool {
    let mut known = known.borrow_mut();
    if !known.contains_key(text) {
        #[cfg(test)]
        COMPILED.with(|count| count.set(count.get() + 1));
        known.insert(text.to_owned(), compile(text));
    }
    known.get(text).and_then(Option::as_ref).is_some_and(test)
}

fn members(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').map(str::trim)
}

/// By value when both are numbers, else as texts.
fn order(left: &str, right: &str) -> std::cmp::Ordering {
    if let (Ok(left), Ok(right)) = (left.parse::<i64>(), right.parse::<i64>()) {
        return left.cmp(&right);
    }
    if let (Ok(left), Ok(right)) = (left.parse::<f64>(), right.parse::<f64>()) {
        return left.total_cmp(&right);
    }
    left.cmp(right)
}

/// The value that a target names on this node; `None` when the node has none. A text without `${` is itself.
pub(super) fn resolve(target: &str, node: &Node) -> Option<String> {
    let Some(name) = target.strip_prefix("${").and_then(|rest| rest.strip_suffix('}')) else {
        return Some(target.to_owned());
    };
    match name {
        "node.unique.id" => Some(node.id.to_string()),
        "node.unique.name" => Some(node.name.clone()),
        "node.datacenter" => Some(node.datacenter.clone()),
        "node.class" => Some(node.class.clone()),
        "node.pool" => Some(node.node_pool.clone()),
        "node.region" => node.attributes.get("nomad.region").cloned().or_else(|| Some("global".to_owned())),
        _ => {
            if let Some(key) = name.strip_prefix("attr.") {
                node.attributes.get(key).cloned()
            } else {
                name.strip_prefix("meta.").and_then(|key| node.meta.get(key)).cloned()
            }
        }
    }
}

/// Whether what it looks at differs between nodes of one class.
pub(super) fn is_unique(constraint: &Constraint) -> bool {
    [&constraint.left, &constraint.right].into_iter().any(|target| target.contains(".unique."))
}

/// How a constraint that excludes a node is told: `${attr.kernel.name} = windows`.
pub(super) fn text(constraint: &Constraint) -> String {
    format!("{} {} {}", constraint.left, constraint.operator_text, constraint.right).trim().to_owned()
}
