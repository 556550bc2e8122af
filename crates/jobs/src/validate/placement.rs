use std::collections::BTreeSet;

use longshore_api::{Affinity, Constraint, Spread};
use longshore_model::Operator;
use longshore_values::regular_expression;

use super::Faults;
use crate::fault::Fault;

/// The operator that a job's word means; `None` when there is no such operator.
pub(crate) fn operator(word: &str) -> Option<Operator> {
    Some(match word {
        "=" | "==" | "is" => Operator::Equal,
        "!=" | "not" => Operator::NotEqual,
        "<" => Operator::Less,
        "<=" => Operator::LessOrEqual,
        ">" => Operator::Greater,
        ">=" => Operator::GreaterOrEqual,
        "regexp" => Operator::Regexp,
        "version" => Operator::Version,
        "semver" => Operator::Semver,
        "set_contains" | "set_contains_all" => Operator::SetContains,
        "set_contains_any" => Operator::SetContainsAny,
        "is_set" => Operator::IsSet,
        "is_not_set" => Operator::IsNotSet,
        "distinct_hosts" => Operator::DistinctHosts,
        "distinct_property" => Operator::DistinctProperty,
        _ => return None,
    })
}

pub(super) fn constraints(constraints: &[Constraint]) -> Vec<Fault> {
    let check = |(at, constraint): (usize, &Constraint)| {
        let faults = comparison(&constraint.ltarget, &constraint.operand, &constraint.rtarget, "constraint");
        let fault = Fault::nested(format!("Constraint {} validation failed: ", at + 1), faults);
        fault.map(|fault| fault.within(&format!("constraint[{at}]")))
    };
    constraints.iter().enumerate().filter_map(check).collect()
}

pub(super) fn affinities(affinities: &[Affinity]) -> Vec<Fault> {
    let check = |(at, affinity): (usize, &Affinity)| {
        let mut faults = comparison(&affinity.ltarget, &affinity.operand, &affinity.rtarget, "affinity");
        let only_constraints = ["distinct_hosts", "distinct_property", "is_set", "is_not_set"];
        if only_constraints.contains(&affinity.operand.as_str()) {
            faults.push(Fault::plain(format!("Unknown affinity operator {:?}", affinity.operand)).within("operator"));
        }
        match affinity.weight.unwrap_or(0) {
            0 => faults.push(Fault::plain("Affinity weight cannot be zero").within("weight")),
            -100..=100 => {}
            _ => {
                let told = Fault::plain("Affinity weight must be within the range [-100,100]");
                faults.push(told.within("weight"));
            }
        }
        let fault = Fault::nested(format!("Affinity {} validation failed: ", at + 1), faults);
        fault.map(|fault| fault.within(&format!("affinity[{at}]")))
    };
    affinities.iter().enumerate().filter_map(check).collect()
}

fn comparison(left: &str, word: &str, right: &str, what: &str) -> Vec<Fault> {
    let mut faults = Faults::default();
    if word.is_empty() {
        return vec![Fault::plain(format!("Missing {what} operand")).within("operator")];
    }
    let Some(operator) = operator(word) else {
        return vec![Fault::plain(format!("Unknown {what} type {word:?}")).within("operator")];
    };
    match operator {
        Operator::Regexp => {
            if let Err(why) = regular_expression(right) {
                faults.at("value", true, || format!("Regular expression failed to compile: {why}"));
            }
        }
        Operator::Version | Operator::Semver => {
            let name = if operator == Operator::Version { "Version" } else { "Semver" };
            if let Err(why) = version_rule(right) {
                faults.at("value", true, || format!("{name} constraint is invalid: {why}"));
            }
        }
        Operator::DistinctProperty if !right.is_empty() => {
            let allowed = right.parse::<u64>();
            faults.at("value", allowed.is_err(), || {
                format!("Failed to convert RTarget {right:?} to uint64: it is no whole number")
            });
            faults.at("value", allowed == Ok(0), || {
                format!("Distinct Property must have an allowed count of 1 or greater; got {right}")
            });
        }
        _ => {}
    }
    let needs_right = !matches!(
        operator,
        Operator::IsSet | Operator::IsNotSet | Operator::DistinctHosts | Operator::DistinctProperty
    );
    faults.at("value", needs_right && right.is_empty(), || format!("Operator {word:?} requires an RTarget"));
    faults.at("value", matches!(operator, Operator::IsSet | Operator::IsNotSet) && !right.is_empty(), || {
        format!("Operator {word:?} does not support an RTarget")
    });
    faults.at("attribute", operator != Operator::DistinctHosts && left.is_empty(), || {
        format!("No LTarget provided but is required by {what}")
    });
    faults.0
}

/// Whether a text is a list of version rules: `>= 1.2, < 2.0-beta`.
fn version_rule(text: &str) -> Result<(), String> {
    for part in text.split(',') {
        let part = part.trim();
        let version = part.trim_start_matches(['=', '!', '<', '>', '~']).trim();
        let operator = part.get(..part.len() - part.trim_start_matches(['=', '!', '<', '>', '~']).len());
        let known = ["", "=", "!=", ">", "<", ">=", "<=", "~>"];
        let numbers = version.strip_prefix('v').unwrap_or(version);
        let core = numbers.split(['-', '+']).next().unwrap_or_default();
        let sound = !core.is_empty() && core.split('.').all(|number| number.parse::<u64>().is_ok());
        if !sound || !operator.is_some_and(|operator| known.contains(&operator)) {
            return Err(format!("malformed constraint: {part}"));
        }
    }
    Ok(())
}

pub(super) fn spreads(spreads: &[Spread]) -> Vec<Fault> {
    let check = |(at, spread): (usize, &Spread)| {
        let mut faults = Faults::default();
        faults.at("attribute", spread.attribute.is_empty(), || "Missing spread attribute".to_owned());
        let weight = spread.weight.unwrap_or(0);
        faults.at("weight", !(1..=100).contains(&weight), || {
            "Spread block must have a positive weight from 0 to 100".to_owned()
        });
        let mut sum = 0_u64;
        let mut values = BTreeSet::new();
        for target in &spread.spread_target {
            faults.at(&format!("target {:?}", target.value), !values.insert(target.value.as_str()), || {
                format!("Spread target value {:?} already defined", target.value)
            });
            faults.at(&format!("target {:?} → percent", target.value), target.percent > 100, || {
                format!("Spread target percentage for value {:?} must be between 0 and 100", target.value)
            });
            sum = sum.saturating_add(target.percent);
        }
        faults
            .when(sum > 100, || format!("Sum of spread target percentages must not be greater than 100%; got {sum}%"));
        let fault = Fault::nested(format!("Spread {} validation failed: ", at + 1), faults.0);
        fault.map(|fault| fault.within(&format!("spread[{at}]")))
    };
    spreads.iter().enumerate().filter_map(check).collect()
}
