use std::collections::{BTreeMap, BTreeSet};

use unicode_segmentation::UnicodeSegmentation;

use super::{Arguments, Context, Function, MANY, function};
use crate::number::Number;
use crate::value::Value;

/// The most numbers that `range` gives.
const RANGE_MAX: usize = 1024;

pub(super) const FUNCTIONS: &[Function] = &[
    function("chunklist", 2, 2, |context, a| {
        let (items, size) = (a.list(0)?, a.count(1)?);
        context.budget.charge(items.len())?;
        let size = if size == 0 { items.len().max(1) } else { size };
        Ok(Value::list(items.chunks(size).map(|chunk| Value::list(chunk.to_vec())).collect()))
    }),
    function("coalesce", 1, MANY, |_, a| {
        let found = a.all().iter().find(|value| !value.is_null() && **value != Value::text(""));
        found.cloned().ok_or_else(|| "all values are null or empty".to_owned())
    }),
    function("coalescelist", 1, MANY, |_, a| {
        let found = a.all().iter().find(|value| match value {
            Value::List(items) => !items.is_empty(),
            Value::Object(items) => !items.is_empty(),
            _ => false,
        });
        found.cloned().ok_or_else(|| "all lists are empty".to_owned())
    }),
    function("compact", 1, 1, |context, a| {
        context.budget.charge(a.list(0)?.len())?;
        let kept = a.list(0)?.iter().filter(|value| !value.is_null() && **value != Value::text("")).cloned();
        Ok(Value::list(kept.collect()))
    }),
    function("concat", 1, MANY, concat),
    function("contains", 2, 2, |_, a| Ok(Value::Bool(a.list(0)?.contains(a.any(1))))),
    function("distinct", 1, 1, |context, a| distinct(context, a.list(0)?.iter().cloned())),
    function("element", 2, 2, |_, a| {
        let (items, at) = (a.list(0)?, a.count(1)?);
        let at = at.checked_rem(items.len());
        at.and_then(|at| items.get(at)).cloned().ok_or_else(|| "the list is empty".to_owned())
    }),
    function("flatten", 1, 1, |context, a| {
        let mut out = Vec::new();
        flatten(context, a.list(0)?, &mut out)?;
        Ok(Value::list(out))
    }),
    function("index", 2, 2, |_, a| {
        let found = a.list(0)?.iter().position(|item| item == a.any(1));
        found.map(|at| Number::from(at).into()).ok_or_else(|| "the value is not in the list".to_owned())
    }),
    function("keys", 1, 1, |context, a| {
        let items = a.object(0)?;
        context.budget.charge(items.len())?;
        Ok(Value::list(items.keys().map(|key| Value::text(key.as_str())).collect()))
    }),
    function("values", 1, 1, |context, a| {
        let items = a.object(0)?;
        context.budget.charge(items.len())?;
        Ok(Value::list(items.values().cloned().collect()))
    }),
    function("length", 1, 1, |_, a| {
        let length = match a.any(0) {
            Value::List(items) => items.len(),
            Value::Object(items) => items.len(),
            Value::Text(text) => text.graphemes(true).count(),
            _ => return a.bad(0, "a list, an object or a string"),
        };
        Ok(Number::from(length).into())
    }),
    function("lookup", 2, 3, |_, a| {
        let key = a.text(1)?;
        match (a.object(0)?.get(key.as_ref()), a.has(2)) {
            (Some(value), _) => Ok(value.clone()),
            (None, true) => Ok(a.any(2).clone()),
            (None, false) => Err(format!("the object has no key {key:?}, and no default is given")),
        }
    }),
    function("merge", 0, MANY, |context, a| {
        let mut merged = BTreeMap::new();
        for at in (0..a.all().len()).filter(|at| !a.any(*at).is_null()) {
            let items = a.object(at)?;
            context.budget.charge(items.len())?;
            merged.extend(items.iter().map(|(key, value)| (key.clone(), value.clone())));
        }
        Ok(Value::object(merged))
    }),
    function("range", 1, 3, range),
    function("reverse", 1, 1, |context, a| {
        context.budget.charge(a.list(0)?.len())?;
        Ok(Value::list(a.list(0)?.iter().rev().cloned().collect()))
    }),
    function("setintersection", 1, MANY, |context, a| {
        for at in 0..a.all().len() {
            context.budget.charge(a.list(at)?.len().saturating_mul(a.list(0)?.len()))?;
        }
        let in_all = |item: &&Value| (1..a.all().len()).all(|at| a.list(at).is_ok_and(|items| items.contains(item)));
        set(context, a.list(0)?.iter().filter(in_all).cloned())
    }),
    function("setunion", 1, MANY, |context, a| {
        let mut all = Vec::new();
        for at in 0..a.all().len() {
            all.extend(a.list(at)?.iter().cloned());
        }
        set(context, all.into_iter())
    }),
    function("setproduct", 1, MANY, set_product),
    function("slice", 3, 3, |context, a| {
        let (items, start, end) = (a.list(0)?, a.count(1)?, a.count(2)?);
        let part = items.get(start..end);
        let part = part.ok_or_else(|| format!("there is no part {start} to {end} in a list of {}", items.len()))?;
        context.budget.charge(part.len())?;
        Ok(Value::list(part.to_vec()))
    }),
    function("sort", 1, 1, |context, a| {
        let mut items = a.texts(0)?;
        context.budget.charge(items.len())?;
        items.sort();
        Ok(Value::list(items.into_iter().map(Value::Text).collect()))
    }),
    function("zipmap", 2, 2, |context, a| {
        let (keys, values) = (a.texts(0)?, a.list(1)?);
        if keys.len() != values.len() {
            return Err(format!("{} keys, but {} values", keys.len(), values.len()));
        }
        context.budget.charge(keys.len())?;
        Ok(Value::object(keys.iter().map(ToString::to_string).zip(values.iter().cloned()).collect()))
    }),
];

fn concat(context: &Context<'_>, arguments: &Arguments<'_>) -> Result<Value, String> {
    let mut out = Vec::new();
    for at in 0..arguments.all().len() {
        context.budget.charge(arguments.list(at)?.len())?;
        out.extend(arguments.list(at)?.iter().cloned());
    }
    Ok(Value::list(out))
}

fn distinct(context: &Context<'_>, items: impl Iterator<Item = Value>) -> Result<Value, String> {
    let mut seen = BTreeSet::new();
    let mut out = Vec::new();
    for item in items {
        let key = super::encoding::json_text(&item)?;
        context.budget.charge(key.len() + 1)?;
        if seen.insert((item.kind(), key)) {
            out.push(item);
        }
    }
    Ok(Value::list(out))
}

/// A set stands in the order of its elements, where they have one.
fn set(context: &Context<'_>, items: impl Iterator<Item = Value>) -> Result<Value, String> {
    distinct(context, items).map(crate::types::in_order)
}

fn flatten(context: &Context<'_>, items: &[Value], out: &mut Vec<Value>) -> Result<(), String> {
    for item in items {
        context.budget.charge(1)?;
        match item {
            Value::List(inner) => flatten(context, inner, out)?,
            other => out.push(other.clone()),
        }
    }
    Ok(())
}

fn range(context: &Context<'_>, arguments: &Arguments<'_>) -> Result<Value, String> {
    let (start, end) = match arguments.has(1) {
        true => (arguments.number(0)?, arguments.number(1)?),
        false => (Number::ZERO, arguments.number(0)?),
    };
    let falling = end.compare(start).is_lt();
    let step = match arguments.has(2) {
        true => arguments.number(2)?,
        false => Number::from(if falling { -1_i64 } else { 1 }),
    };
    if step.is_zero() || step.is_negative() != falling && end != start {
        return Err("the step leads away from the end".to_owned());
    }
    let mut out = Vec::new();
    let mut next = start;
    while if falling { next.compare(end).is_gt() } else { next.compare(end).is_lt() } {
        if out.len() >= RANGE_MAX {
            return Err(format!("more than {RANGE_MAX} numbers"));
        }
        out.push(next.into());
        next = next.add(step).ok_or("the numbers have too many digits")?;
    }
    context.budget.charge(out.len())?;
    Ok(Value::list(out))
}

fn set_product(context: &Context<'_>, arguments: &Arguments<'_>) -> Result<Value, String> {
    let mut rows: Vec<Vec<Value>> = vec![Vec::new()];
    for at in 0..arguments.all().len() {
        let items = arguments.list(at)?;
        context.budget.charge(rows.len().saturating_mul(items.len()).saturating_mul(at + 1))?;
        rows = rows
            .iter()
            .flat_map(|row| items.iter().map(|item| row.iter().cloned().chain([item.clone()]).collect()))
            .collect();
    }
    Ok(Value::list(rows.into_iter().map(Value::list).collect()))
}
