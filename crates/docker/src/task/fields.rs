//! Reads a task's `config`, a JSON object, key by key: what nobody asks for is an error, and so is a value of the wrong
//! kind. Before a task starts, texts may still hold `${…}`, whose value nobody knows yet.

use std::collections::{BTreeMap, BTreeSet};

use longshore_settings::nearest;
use longshore_values::{GoDuration, Secret};
use serde_json::{Map, Value};

/// The keys of one block that were not taken yet.
pub(crate) struct Fields {
    path: String,
    map: Map<String, Value>,
    problems: Vec<String>,
    /// The paths that were asked for, without numbers of list elements: what the reference must tell of.
    asked: BTreeSet<String>,
}

impl Fields {
    pub(crate) fn new(config: &Value) -> Self {
        let mut fields = Self::of("config".to_owned(), Map::new());
        match config {
            Value::Null => {}
            Value::Object(map) => fields.map = map.clone(),
            other => fields.problems.push(format!("config takes a block, not {}", kind(other))),
        }
        fields
    }

    fn of(path: String, map: Map<String, Value>) -> Self {
        Self { path, map, problems: Vec::new(), asked: BTreeSet::new() }
    }

    /// Every path that was asked for up to now: `auth.username`, `mount.target`.
    #[cfg(test)]
    pub(crate) fn asked(&self) -> &BTreeSet<String> {
        &self.asked
    }

    /// The path of a key, as problems name it.
    pub(crate) fn path_of(&self, key: &str) -> String {
        format!("{}.{key}", self.path)
    }

    /// The path of this block without `config.`.
    pub(crate) fn key(&self) -> String {
        self.path.strip_prefix("config.").unwrap_or_default().to_owned()
    }

    /// A word that is none of those that `key` takes.
    pub(crate) fn wrong_word(&mut self, key: &str, given: &str, words: &[&str]) {
        let path = self.path_of(key);
        self.problem(format!("{path} takes one of {}, not {given:?}", words.join(", ")));
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
            let hint = match nearest(key, &self.asked) {
                Some(near) => format!("; did you mean {near:?}?"),
                None => String::new(),
            };
            self.problems.push(format!("{} has no key {key:?}{hint}", self.path));
        }
    }

    /// No path, argument, variable or label can hold a NUL byte: whoever gets one cuts there, or refuses it for ever.
    fn take(&mut self, key: &str) -> Option<Value> {
        self.asked.insert(key.to_owned());
        let value = self.map.remove(key).filter(|value| !value.is_null())?;
        if has_nul(&value) {
            self.problems.push(format!("{}.{key} holds a NUL byte", self.path));
            return None;
        }
        Some(value)
    }

    fn wrong(&mut self, key: &str, wanted: &str, value: &Value) {
        self.problems.push(format!("{}.{key} takes {wanted}, not {}", self.path, kind(value)));
    }

    /// Refuses `key` when it is given, for the reason that is told.
    pub(crate) fn refuse(&mut self, key: &str, why: &str) {
        match self.take(key) {
            None => {}
            Some(Value::Array(items)) if items.is_empty() => {}
            Some(Value::Object(map)) if map.is_empty() => {}
            Some(Value::String(text)) if text.is_empty() => {}
            Some(_) => self.problems.push(format!("{}.{key}: {why}", self.path)),
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

    /// A whole number that is not below `least`.
    pub(crate) fn integer_from(&mut self, key: &str, least: i64) -> Option<i64> {
        let number = self.integer(key)?;
        if number < least {
            let path = self.path_of(key);
            self.problem(format!("{path} must not be below {least}, which {number} is"));
        }
        Some(number.max(least))
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
                let path = self.path_of(key);
                Some(self.inner(key, path, map, read))
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

    /// A block that may be given several times, or a list of such blocks.
    pub(crate) fn blocks<T>(&mut self, key: &str, read: impl Fn(&mut Fields) -> T) -> Vec<T> {
        let Some(value) = self.take(key) else { return Vec::new() };
        let Some(found) = objects(&value) else {
            self.wrong(key, "a block", &value);
            return Vec::new();
        };
        let paths = (0..).map(|n: usize| format!("{}.{key}[{n}]", self.path)).take(found.len()).collect::<Vec<_>>();
        paths.into_iter().zip(found).map(|(path, map)| self.inner(key, path, map, &read)).collect()
    }

    fn inner<T>(&mut self, key: &str, path: String, map: Map<String, Value>, read: impl FnOnce(&mut Fields) -> T) -> T {
        let mut inner = Fields::of(path, map);
        let read = read(&mut inner);
        self.asked.extend(inner.asked.iter().map(|asked| format!("{key}.{asked}")));
        self.problems.extend(inner.finish());
        read
    }
}

/// Whether a text waits for values that are known at the start only.
pub(crate) fn is_open(text: &str) -> bool {
    text.contains("${")
}

fn has_nul(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\0'),
        Value::Array(items) => items.iter().any(has_nul),
        Value::Object(map) => map.iter().any(|(key, value)| key.contains('\0') || has_nul(value)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
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
