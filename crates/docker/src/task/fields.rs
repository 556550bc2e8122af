//! Reads a task's `config`, a JSON object, key by key: what nobody asks for is an error, and so is a value of the wrong
//! kind. Before a task starts, texts may still hold `${…}`, whose value nobody knows yet.

use std::collections::BTreeMap;

use longshore_values::{GoDuration, Secret};
use serde_json::{Map, Value};

/// The keys of one block that were not taken yet.
pub(crate) struct Fields {
    path: String,
    map: Map<String, Value>,
    problems: Vec<String>,
}

impl Fields {
    pub(crate) fn new(config: &Value) -> Self {
        let mut fields = Self { path: "config".to_owned(), map: Map::new(), problems: Vec::new() };
        match config {
            Value::Null => {}
            Value::Object(map) => fields.map = map.clone(),
            other => fields.problems.push(format!("config takes a block, not {}", kind(other))),
        }
        fields
    }

    pub(crate) fn problem(&mut self, problem: impl Into<String>) {
        self.problems.push(problem.into());
    }

    /// Every problem that was found, those of keys that nobody took included.
    pub(crate) fn finish(mut self) -> Vec<String> {
        self.refuse_rest();
        self.problems
    }

    fn refuse_rest(&mut self) {
        for key in std::mem::take(&mut self.map).keys() {
            self.problems.push(format!("{} has no key {key:?}", self.path));
        }
    }

    fn take(&mut self, key: &str) -> Option<Value> {
        self.map.remove(key).filter(|value| !value.is_null())
    }

    fn wrong(&mut self, key: &str, wanted: &str, value: &Value) {
        self.problems.push(format!("{}.{key} takes {wanted}, not {}", self.path, kind(value)));
    }

    /// Refuses `key` by name when it is given: accepting it without acting on it would start something else than asked.
    pub(crate) fn refuse_unsupported(&mut self, key: &str) {
        match self.take(key) {
            None => {}
            Some(Value::Array(items)) if items.is_empty() => {}
            Some(_) => self.problems.push(format!("{}.{key} is an option that this build does not act on", self.path)),
        }
    }

    pub(crate) fn string(&mut self, key: &str) -> Option<String> {
        let value = self.take(key)?;
        match scalar(&value) {
            Some(text) => Some(text),
            None => {
                self.wrong(key, "a text", &value);
                None
            }
        }
    }

    pub(crate) fn secret(&mut self, key: &str) -> Secret {
        self.string(key).map(Secret::new).unwrap_or_default()
    }

    pub(crate) fn bool(&mut self, key: &str) -> bool {
        let Some(value) = self.take(key) else { return false };
        match (&value, scalar(&value).as_deref()) {
            (Value::Bool(on), _) => *on,
            (_, Some("true" | "1")) => true,
            (_, Some("false" | "0")) => false,
            (_, Some(text)) if is_open(text) => false,
            _ => {
                self.wrong(key, "true or false", &value);
                false
            }
        }
    }

    pub(crate) fn integer(&mut self, key: &str) -> Option<i64> {
        let value = self.take(key)?;
        let whole = |float: f64| (float.fract() == 0.0 && float.abs() < 9e15).then_some(float as i64);
        let integer = match &value {
            Value::Number(number) => number.as_i64().or_else(|| number.as_f64().and_then(whole)),
            Value::String(text) if is_open(text) => return None,
            Value::String(text) => text.parse().ok(),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        };
        if integer.is_none() {
            self.wrong(key, "a whole number", &value);
        }
        integer
    }

    pub(crate) fn duration(&mut self, key: &str) -> Option<GoDuration> {
        let text = self.string(key).filter(|text| !text.is_empty() && !is_open(text))?;
        match text.parse::<GoDuration>() {
            Ok(span) if span > GoDuration::ZERO => Some(span),
            Ok(span) => {
                self.problem(format!("{}.{key} must be longer than 0, not {span}", self.path));
                None
            }
            Err(why) => {
                self.problem(format!("{}.{key}: {why}", self.path));
                None
            }
        }
    }

    pub(crate) fn strings(&mut self, key: &str) -> Option<Vec<String>> {
        let value = self.take(key)?;
        let Value::Array(items) = &value else {
            self.wrong(key, "a list of texts", &value);
            return None;
        };
        let texts: Option<Vec<String>> = items.iter().map(scalar).collect();
        if texts.is_none() {
            self.problem(format!("{}.{key} takes texts as its elements", self.path));
        }
        texts
    }

    /// A map of texts, as an object or as a list of objects (blocks that were given several times).
    pub(crate) fn map(&mut self, key: &str) -> BTreeMap<String, String> {
        let Some(value) = self.take(key) else { return BTreeMap::new() };
        let Some(objects) = objects(&value) else {
            self.wrong(key, "a block", &value);
            return BTreeMap::new();
        };
        let mut map = BTreeMap::new();
        for (name, value) in objects.into_iter().flatten() {
            match scalar(&value) {
                Some(text) => {
                    map.insert(name, text);
                }
                None => self.wrong(&format!("{key}.{name}"), "a text", &value),
            }
        }
        map
    }

    /// A block, at most once.
    pub(crate) fn block<T>(&mut self, key: &str, read: impl FnOnce(&mut Fields) -> T) -> Option<T> {
        let value = self.take(key)?;
        match objects(&value) {
            Some(mut found) if found.len() <= 1 => {
                let map = found.pop()?;
                let mut inner = Fields { path: format!("{}.{key}", self.path), map, problems: Vec::new() };
                let read = read(&mut inner);
                self.problems.extend(inner.finish());
                Some(read)
            }
            Some(found) => {
                self.problem(format!("{}.{key} may be given once, not {} times", self.path, found.len()));
                None
            }
            None => {
                self.wrong(key, "a block", &value);
                None
            }
        }
    }
}

/// Whether a text waits for values that are known at the start only.
pub(crate) fn is_open(text: &str) -> bool {
    text.contains("${")
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(on) => Some(on.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

fn objects(value: &Value) -> Option<Vec<Map<String, Value>>> {
    match value {
        Value::Object(map) => Some(vec![map.clone()]),
        Value::Array(items) => items.iter().map(|item| item.as_object().cloned()).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "a block",
    }
}
