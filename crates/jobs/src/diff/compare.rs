use std::collections::{BTreeMap, BTreeSet};

use longshore_api::{FieldDiff, ObjectDiff};
use serde_json::{Map, Value};

use super::parts::{How, Part};

pub(super) const NONE: &str = "None";
const ADDED: &str = "Added";
const DELETED: &str = "Deleted";
const EDITED: &str = "Edited";

/// A block as the API writes it; `None` where a version does not have it.
pub(super) type Block<'a> = Option<&'a Map<String, Value>>;

/// Names of values within a block, such as `Count`, `Meta[team]`, `args[0]`, with the values as text.
type Flat = BTreeMap<String, String>;

/// Whether fields that did not change are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Context {
    OnlyChanged,
    All,
}

/// Added, deleted, edited or the same, by which sides are there.
pub(super) fn kind_of(old: bool, new: bool, changed: bool) -> &'static str {
    match (old, new, changed) {
        (false, _, _) => ADDED,
        (_, false, _) => DELETED,
        (true, true, true) => EDITED,
        (true, true, false) => NONE,
    }
}

/// The fields of a block: all but its blocks and what is hidden.
pub(super) fn fields(part: &Part, old: Block<'_>, new: Block<'_>, context: Context) -> Vec<FieldDiff> {
    let (old, new) = (flatten(part, old), flatten(part, new));
    let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let diffs = names.into_iter().map(|name| field(name, text_of(&old, name), text_of(&new, name)));
    diffs.filter(|diff| context == Context::All || diff.kind != NONE).collect()
}

fn text_of<'a>(flat: &'a Flat, name: &str) -> &'a str {
    flat.get(name).map(String::as_str).unwrap_or_default()
}

fn field(name: &str, old: &str, new: &str) -> FieldDiff {
    let kind = match (old, new) {
        (old, new) if old == new => NONE,
        ("", _) => ADDED,
        (_, "") => DELETED,
        _ => EDITED,
    };
    FieldDiff {
        kind: kind.to_owned(),
        name: name.to_owned(),
        old: old.to_owned(),
        new: new.to_owned(),
        annotations: Vec::new(),
    }
}

fn flatten(part: &Part, block: Block<'_>) -> Flat {
    let mut flat = Flat::new();
    for (key, value) in block.into_iter().flatten() {
        let is_part = part.parts.iter().any(|inner| inner.key == key);
        if !is_part && !part.hidden.contains(&key.as_str()) {
            put(&mut flat, key, value);
        }
    }
    flat
}

fn put(flat: &mut Flat, name: &str, value: &Value) {
    match value {
        Value::Null => {}
        Value::String(text) => {
            flat.insert(name.to_owned(), text.clone());
        }
        Value::Bool(_) | Value::Number(_) => {
            flat.insert(name.to_owned(), value.to_string());
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(at, item)| put(flat, &format!("{name}[{at}]"), item))
        }
        Value::Object(items) => items.iter().for_each(|(key, item)| put(flat, &format!("{name}[{key}]"), item)),
    }
}

/// The differences of all blocks within a block, in the order of its table.
pub(super) fn objects(part: &Part, old: Block<'_>, new: Block<'_>) -> Vec<ObjectDiff> {
    part.parts.iter().flat_map(|inner| within(inner, old, new)).collect()
}

fn within(part: &Part, old: Block<'_>, new: Block<'_>) -> Vec<ObjectDiff> {
    let (old, new) = (value_of(part, old), value_of(part, new));
    match part.how {
        How::One => object(part, old.as_object(), new.as_object()).into_iter().collect(),
        How::OneWhenEdited => match (old.as_object(), new.as_object()) {
            (Some(old), Some(new)) => object(part, Some(old), Some(new)).into_iter().collect(),
            _ => Vec::new(),
        },
        How::Values => {
            let given = |members: &&Map<String, Value>| !members.is_empty();
            object(part, old.as_object().filter(given), new.as_object().filter(given)).into_iter().collect()
        }
        How::Set => set(part, &blocks(old), &blocks(new)),
        How::Named(key) => {
            let name = |block: &Map<String, Value>| block.get(key).map(Value::to_string).unwrap_or_default();
            let sides = of_each(&blocks(old), &blocks(new), name);
            sides.into_iter().filter_map(|(_, old, new)| object(part, old, new)).collect()
        }
        How::Labelled => {
            let labels: BTreeSet<&String> =
                [old, new].into_iter().filter_map(Value::as_object).flat_map(Map::keys).collect();
            let sides = labels.into_iter().map(|label| (object_in(old, label), object_in(new, label)));
            sides.filter_map(|(old, new)| object(part, old, new)).collect()
        }
        How::Texts => texts(part.name, old, new).into_iter().collect(),
    }
}

fn value_of<'a>(part: &Part, block: Block<'a>) -> &'a Value {
    block.and_then(|members| members.get(part.key)).unwrap_or(&Value::Null)
}

fn object_in<'a>(side: &'a Value, label: &str) -> Block<'a> {
    side.get(label).and_then(Value::as_object)
}

/// One block's differences; `None` when there is nothing to tell.
fn object(part: &Part, old: Block<'_>, new: Block<'_>) -> Option<ObjectDiff> {
    if old.is_none() && new.is_none() {
        return None;
    }
    let fields = fields(part, old, new, Context::All);
    let objects = objects(part, old, new);
    let changed = !objects.is_empty() || fields.iter().any(|field| field.kind != NONE);
    // A block that came or went is told by what it says, or when it is one that says nothing by its nature.
    let is_told = changed || (old.is_some() != new.is_some() && fields.is_empty());
    let kind = kind_of(old.is_some(), new.is_some(), changed).to_owned();
    is_told.then(|| ObjectDiff { kind, name: part.name.to_owned(), fields, objects })
}

/// The blocks of a list.
fn blocks(list: &Value) -> Vec<&Map<String, Value>> {
    list.as_array().into_iter().flatten().filter_map(Value::as_object).collect()
}

/// What is on one side more often than on the other is gone or new.
fn set(part: &Part, old: &[&Map<String, Value>], new: &[&Map<String, Value>]) -> Vec<ObjectDiff> {
    let gone = surplus(part, old, new);
    let added = surplus(part, new, old);
    let gone = gone.into_iter().filter_map(|block| object(part, Some(block), None));
    gone.chain(added.into_iter().filter_map(|block| object(part, None, Some(block)))).collect()
}

/// The blocks of `side` for which `other` has none of the same content left.
fn surplus<'a>(
    part: &Part,
    side: &[&'a Map<String, Value>],
    other: &[&Map<String, Value>],
) -> Vec<&'a Map<String, Value>> {
    let mut there: BTreeMap<String, usize> = BTreeMap::new();
    for block in other {
        *there.entry(content(part, block)).or_default() += 1;
    }
    let mut out = Vec::new();
    for block in side {
        match there.get_mut(&content(part, block)) {
            Some(count) if *count > 0 => *count -= 1,
            _ => out.push(*block),
        }
    }
    out
}

/// All that is told of a block, as one text.
fn content(part: &Part, block: &Map<String, Value>) -> String {
    Value::Object(told_of(part, block)).to_string()
}

/// A block without what is hidden, in it and in its blocks.
fn told_of(part: &Part, block: &Map<String, Value>) -> Map<String, Value> {
    let members = block.iter().filter(|(key, _)| !part.hidden.contains(&key.as_str()));
    let told = |key: &String, value: &Value| match (part.parts.iter().find(|inner| inner.key == key), value) {
        (Some(inner), Value::Array(items)) => {
            items.iter().map(|item| item.as_object().map_or(item.clone(), |item| told_of(inner, item).into())).collect()
        }
        (Some(inner), Value::Object(members)) if inner.how != How::Labelled => told_of(inner, members).into(),
        _ => value.clone(),
    };
    members.map(|(key, value)| (key.clone(), told(key, value))).collect()
}

type Sides<'a> = (String, Block<'a>, Block<'a>);

/// A block's name, and which one of that name it is, counted from 1.
type Numbered<'a> = ((String, usize), &'a Map<String, Value>);

/// Blocks with names, in the order of the names, each with both of its sides. Of those with one name the first
/// stands beside the first, the second beside the second.
pub(super) fn of_each<'a>(
    old: &[&'a Map<String, Value>],
    new: &[&'a Map<String, Value>],
    name: impl Fn(&Map<String, Value>) -> String,
) -> Vec<Sides<'a>> {
    let numbered = |side: &[&'a Map<String, Value>]| -> Vec<Numbered<'a>> {
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        let number = |block: &&'a Map<String, Value>| {
            let name = name(block);
            let count = seen.entry(name.clone()).or_default();
            *count += 1;
            ((name, *count), *block)
        };
        side.iter().map(number).collect()
    };
    let mut sides: BTreeMap<(String, usize), (Block<'a>, Block<'a>)> = BTreeMap::new();
    for (name, block) in numbered(old) {
        sides.entry(name).or_default().0 = Some(block);
    }
    for (name, block) in numbered(new) {
        sides.entry(name).or_default().1 = Some(block);
    }
    sides.into_iter().map(|((name, _), (old, new))| (name, old, new)).collect()
}

/// A list of texts that counts as a set: each one that came or went.
fn texts(name: &str, old: &Value, new: &Value) -> Option<ObjectDiff> {
    let side = |list: &Value| -> BTreeSet<String> {
        let text = |item: &Value| item.as_str().map_or_else(|| item.to_string(), str::to_owned);
        list.as_array().into_iter().flatten().map(text).collect()
    };
    let (old, new) = (side(old), side(new));
    let gone = old.difference(&new).map(|gone| field(name, gone, ""));
    let added = new.difference(&old).map(|added| field(name, "", added));
    let fields: Vec<_> = gone.chain(added).collect();
    let kind = kind_of(!old.is_empty(), !new.is_empty(), true).to_owned();
    (!fields.is_empty()).then(|| ObjectDiff { kind, name: name.to_owned(), fields, objects: Vec::new() })
}
