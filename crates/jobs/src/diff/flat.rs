use std::collections::{BTreeMap, BTreeSet};

use longshore_api::FieldDiff;
use serde::Serialize;
use serde_json::Value;

use super::{ADDED, DELETED, EDITED, NONE};

/// Names of values within a part, such as `Count`, `Meta[team]`, `args[0]`, with the values as text.
pub(super) type Flat = BTreeMap<String, String>;

/// Whether fields that did not change are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Context {
    OnlyChanged,
    All,
}

/// The values of a part; keys of `without` are left out.
pub(super) fn flatten<T: Serialize>(part: &T, without: &[&str]) -> Flat {
    let mut flat = Flat::new();
    if let Ok(Value::Object(members)) = serde_json::to_value(part) {
        for (key, value) in members.iter().filter(|(key, _)| !without.contains(&key.as_str())) {
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

pub(super) fn fields(old: Option<&Flat>, new: Option<&Flat>, context: Context) -> Vec<FieldDiff> {
    let names: BTreeSet<&String> = old.into_iter().chain(new).flat_map(BTreeMap::keys).collect();
    let text = |side: Option<&Flat>, name: &String| side.and_then(|flat| flat.get(name)).cloned().unwrap_or_default();
    let diffs = names.into_iter().map(|name| {
        let (old, new) = (text(old, name), text(new, name));
        let kind = match (old.as_str(), new.as_str()) {
            (old, new) if old == new => NONE,
            ("", _) => ADDED,
            (_, "") => DELETED,
            _ => EDITED,
        };
        FieldDiff { kind: kind.to_owned(), name: name.clone(), old, new, annotations: Vec::new() }
    });
    diffs.filter(|diff| context == Context::All || diff.kind != NONE).collect()
}
