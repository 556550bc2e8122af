//! Reads a task's `config`, a JSON object, key by key: what nobody asks for is an error, and so is a value of the wrong
//! kind. Before a task starts, texts may still hold `${…}`, whose value nobody knows yet.

use std::collections::{BTreeMap, BTreeSet};

use longshore_driver::ConfigFault;
use longshore_values::{GoDuration, Secret, nearest};
use serde_json::{Map, Value};

/// The keys of one block that were not taken yet.
pub(crate) struct Fields {
    /// The keys that lead here from `config` on.
    path: Vec<String>,
    map: Map<String, Value>,
    problems: Vec<ConfigFault>,
    /// The paths that were asked for, without numbers of list elements: what the reference must tell of.
    asked: BTreeSet<String>,
}

impl Fields {
    pub(crate) fn new(config: &Value) -> Self {
        let mut fields = Self::of(Vec::new(), Map::new());
        match config {
            Value::Null => {}
            Value::Object(map) => fields.map = map.clone(),
            other => fields.problem("", format!("takes a block, not {}", kind(other))),
        }
        fields
    }

    fn of(path: Vec<String>, map: Map<String, Value>) -> Self {
        Self { path, map, problems: Vec::new(), asked: BTreeSet::new() }
    }

    /// Every path that was asked for up to now: `auth.username`, `mount.target`.
    #[cfg(test)]
    pub(crate) fn asked(&self) -> &BTreeSet<String> {
        &self.asked
    }

    /// The path of this block without `config.`.
    pub(crate) fn key(&self) -> String {
        self.path.join(".")
    }

    /// A word that is none of those that `key` takes.
    pub(crate) fn wrong_word(&mut self, key: &str, given: &str, words: &[&str]) {
        self.problem(key, format!("takes one of {}, not {given:?}", words.join(", ")));
    }

    /// Something is wrong with `key` of this block, or with the block when it is empty. A `.` in it leads further in.
    /// `what` stands behind the path, and begins with a colon where no sentence comes of it.
    pub(crate) fn problem(&mut self, key: &str, what: impl AsRef<str>) {
        let what = what.as_ref();
        let mut path = self.path.clone();
        path.extend(key.split('.').filter(|step| !step.is_empty()).map(str::to_owned));
        let shown: String = path.iter().map(|step| format!(".{step}")).collect();
        let blank = if what.starts_with([':', '.']) { "" } else { " " };
        self.problems.push(ConfigFault { message: format!("config{shown}{blank}{what}"), path });
    }

    /// The same for one member of a map, whose name may hold anything.
    pub(crate) fn problem_of_member(&mut self, key: &str, name: &str, what: &str) {
        self.problem(key, what);
        if let Some(problem) = self.problems.last_mut() {
            problem.path.push(name.to_owned());
        }
    }

    /// Every problem that was found, those of keys that nobody took included.
    pub(crate) fn finish(mut self) -> Vec<ConfigFault> {
        self.refuse_rest();
        self.problems
    }

    fn refuse_rest(&mut self) {
        for key in std::mem::take(&mut self.map).keys() {
            let hint = match nearest(key, self.asked.iter().map(String::as_str)) {
                Some(near) => format!("; did you mean {near:?}?"),
                None => String::new(),
            };
            self.problem_of_member("", key, &format!("has no key {key:?}{hint}"));
        }
    }

    /// No path, argument, variable or label can hold a NUL byte: whoever gets one cuts there, or refuses it for ever.
    fn take(&mut self, key: &str) -> Option<Value> {
        self.asked.insert(key.to_owned());
        let value = self.map.remove(key).filter(|value| !value.is_null())?;
        if has_nul(&value) {
            self.problem(key, "holds a NUL byte");
            return None;
        }
        Some(value)
    }

    fn wrong(&mut self, key: &str, wanted: &str, value: &Value) {
        self.problem(key, format!("takes {wanted}, not {}", kind(value)));
    }

    /// Refuses `key` when it is given, for the reason that is told.
    pub(crate) fn refuse(&mut self, key: &str, why: &str) {
        match self.take(key) {
            None => {}
            Some(Value::Array(items)) if items.is_empty() => {}
            Some(Value::Object(map)) if map.is_empty() => {}
            Some(Value::String(text)) if text.is_empty() => {}
            Some(_) => self.problem(key, format!(": {why}")),
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
            self.problem(key, format!("must not be below {least}, which {number} is"));
        }
        Some(number.max(least))
    }

    pub(crate) fn duration(&mut self, key: &str) -> Option<GoDuration> {
        let text = self.string(key).filter(|text| !text.is_empty() && !is_open(text))?;
        match text.parse::<GoDuration>() {
            Ok(span) if span > GoDuration::ZERO => Some(span),
            Ok(span) => {
                self.problem(key, format!("must be longer than 0, not {span}"));
                None
            }
            Err(why) => {
                self.problem(key, format!(": {why}"));
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
            self.problem(key, "takes texts as its elements");
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
                None => {
                    let what = format!(".{name} takes a text, not {}", kind(&value));
                    self.problem_of_member(key, &name, &what);
                }
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
                Some(self.inner(key, key.to_owned(), map, read))
            }
            Some(found) => {
                self.problem(key, format!("may be given once, not {} times", found.len()));
                // The second one is what is too many.
                if let Some(step) = self.problems.last_mut().and_then(|problem| problem.path.last_mut()) {
                    step.push_str("[1]");
                }
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
        found.into_iter().enumerate().map(|(n, map)| self.inner(key, format!("{key}[{n}]"), map, &read)).collect()
    }

    fn inner<T>(&mut self, key: &str, step: String, map: Map<String, Value>, read: impl FnOnce(&mut Fields) -> T) -> T {
        let path = self.path.iter().cloned().chain([step]).collect();
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
