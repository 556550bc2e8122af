use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use longshore_values::{Diagnostic, GoDuration, Secret};

use crate::error::Refusal;
use crate::source::Origin;
use crate::spelling::nearest;
use crate::tree::{Node, Object, Tree, Value};

/// A setting as it holds, and where it came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Effective {
    /// Dotted: `plugin.docker.config.gc.image_delay`.
    pub path: String,
    /// As text; secrets read `***`.
    pub value: String,
    pub origin: Origin,
}

/// A value and where it came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given<T> {
    pub value: T,
    pub origin: Origin,
}

/// What decoding found: the value, what is to be told, and each setting that holds.
#[derive(Debug, Clone)]
pub struct Decoded<T> {
    /// Good only when no diagnostic is an error.
    pub value: T,
    pub diagnostics: Vec<Diagnostic>,
    pub effective: Vec<Effective>,
}

impl<T> Decoded<T> {
    /// The value with warnings and settings, or everything that stands against it.
    pub fn into_result(self) -> Result<Self, Refusal> {
        if self.diagnostics.iter().any(Diagnostic::is_error) {
            return Err(Refusal { diagnostics: self.diagnostics });
        }
        Ok(self)
    }
}

impl Tree {
    /// Reads this block into its owner's type. Keys that `read` does not ask for are errors.
    pub fn decode<T>(&self, read: impl FnOnce(&mut Block<'_>) -> T) -> Decoded<T> {
        let mut report = Report::default();
        let mut block = Block::new(self.path.clone(), Origin::Default, self.object.clone(), &mut report);
        let value = read(&mut block);
        block.finish();
        report.name_unknown_keys();
        report.diagnostics.sort_by_key(|told| {
            (told.severity, told.place.as_ref().map(|place| (place.file.clone(), place.line, place.column)))
        });
        Decoded { value, diagnostics: report.diagnostics, effective: report.effective }
    }
}

#[derive(Debug, Default)]
struct Report {
    diagnostics: Vec<Diagnostic>,
    effective: Vec<Effective>,
    /// Where a key belongs, as its owner says.
    places: Vec<(String, String)>,
    /// The keys that each block has, by the block's path.
    known: BTreeMap<String, BTreeSet<String>>,
    unknown: Vec<Unknown>,
}

#[derive(Debug)]
struct Unknown {
    path: String,
    key: String,
    is_block: bool,
    at: Origin,
}

impl Report {
    /// Turns each key that nobody took into an error with the likely right place; done last, when all keys are known.
    fn name_unknown_keys(&mut self) {
        for unknown in std::mem::take(&mut self.unknown) {
            let summary = format!("{} unexpected keys {}", unknown.path, unknown.key).trim_start().to_owned();
            let mut told = Diagnostic::error(summary).hint(self.hint(&unknown));
            if let Some(place) = unknown.at.place() {
                told = told.at(place);
            }
            self.diagnostics.push(told);
        }
    }

    fn hint(&self, unknown: &Unknown) -> String {
        if let Some((_, place)) = self.places.iter().rev().find(|(key, _)| *key == unknown.key) {
            return format!("it belongs in {place}");
        }
        let holders = self.known.iter().filter(|(path, keys)| **path != unknown.path && keys.contains(&unknown.key));
        let places: Vec<String> =
            holders.take(3).map(|(path, _)| written_place(path, &unknown.key, unknown.is_block)).collect();
        if !places.is_empty() {
            return format!("it belongs in {}", places.join(", or in "));
        }
        match self.known.get(&unknown.path).and_then(|keys| nearest(&unknown.key, keys)) {
            Some(near) => format!("did you mean {near:?}?"),
            None => String::new(),
        }
    }
}

/// `plugin "docker" { config { gc { … } } }` for the block `gc` at `plugin.docker.config`.
fn written_place(path: &str, key: &str, is_block: bool) -> String {
    let inner = if is_block { format!("{key} {{ … }}") } else { format!("{key} = …") };
    let mut parts: Vec<String> = path.split('.').filter(|part| !part.is_empty()).map(str::to_owned).collect();
    if let [plugin, name, ..] = parts.as_slice()
        && plugin == "plugin"
    {
        let labelled = format!("plugin {name:?}");
        parts.splice(..2, [labelled]);
    }
    if parts.is_empty() {
        return format!("the top level of the agent file: {inner}");
    }
    parts.iter().rev().fold(inner, |inside, part| format!("{part} {{ {inside} }}"))
}

/// A block while it is read, key by key.
///
/// Each `take_…` method says by being called that the key exists here, and notes the value that holds with its
/// origin, be it given or the default. An absent block reads as an empty one, so a default means the same whether
/// its block is absent, empty or half given. An empty text is "not given"; for a duration this is said.
#[derive(Debug)]
pub struct Block<'a> {
    path: String,
    origin: Origin,
    object: Object,
    known: BTreeSet<String>,
    report: &'a mut Report,
}

impl<'a> Block<'a> {
    fn new(path: String, origin: Origin, object: Object, report: &'a mut Report) -> Self {
        Self { path, origin, object, known: BTreeSet::new(), report }
    }

    /// The dotted path of this block.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The dotted path of a key of this block.
    pub fn path_of(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    /// Says where a key belongs that people are likely to put elsewhere and that no block of this decoding has:
    /// `place` is the text of the hint, such as `plugin "docker" { config { gc { … } } }`.
    pub fn belongs(&mut self, key: &str, place: &str) {
        self.report.places.push((key.to_owned(), place.to_owned()));
    }

    /// Where `key` was given, when it was.
    pub fn origin_of(&self, key: &str) -> Option<Origin> {
        self.object.entries.get(key).map(|entry| entry.node.origin.clone())
    }

    /// Where `key` itself stands, when it was given.
    pub fn key_origin_of(&self, key: &str) -> Option<Origin> {
        self.object.entries.get(key).map(|entry| entry.key_origin.clone())
    }

    /// Where the block was opened.
    pub fn block_origin(&self) -> Origin {
        self.origin.clone()
    }

    /// Whether `key` was given as a block.
    pub fn is_block(&self, key: &str) -> bool {
        self.object.object(key).is_some()
    }

    /// Notes that `key` holds its default, and gives it back.
    pub fn default_text(&mut self, key: &str, default: &str) -> String {
        self.note(key, default, &Origin::Default);
        default.to_owned()
    }

    /// The keys that were given and not taken yet.
    pub fn given_keys(&self) -> Vec<String> {
        self.object.entries.keys().cloned().collect()
    }

    /// Adds an error about `key`, at `origin` where that is in a file.
    pub fn refuse(&mut self, origin: &Origin, summary: impl Into<String>, hint: impl Into<String>) {
        self.tell(Diagnostic::error(summary).hint(hint), origin);
    }

    /// Adds a warning.
    pub fn warn(&mut self, origin: &Origin, summary: impl Into<String>, hint: impl Into<String>) {
        self.tell(Diagnostic::warning(summary).hint(hint), origin);
    }

    fn tell(&mut self, told: Diagnostic, origin: &Origin) {
        let told = match (origin.place(), origin) {
            (Some(place), _) => told.at(place),
            (None, Origin::Flag(_) | Origin::ClientOption { .. }) => {
                let summary = format!("{} (from {origin})", told.summary);
                Diagnostic { summary, ..told }
            }
            (None, Origin::Default | Origin::Dev | Origin::File(_)) => told,
        };
        self.report.diagnostics.push(told);
    }

    fn take(&mut self, key: &str) -> Option<Node> {
        self.known.insert(key.to_owned());
        self.object.entries.remove(key).map(|entry| entry.node)
    }

    fn note(&mut self, key: &str, value: impl Into<String>, origin: &Origin) {
        let path = self.path_of(key);
        self.report.effective.push(Effective { path, value: value.into(), origin: origin.clone() });
    }

    fn wrong_kind(&mut self, key: &str, node: &Node, wanted: &str) {
        let summary = format!("{} takes {wanted}, not {}", self.path_of(key), node.value.kind());
        self.refuse(&node.origin, summary, "");
    }

    /// The text at `key`; an empty one is not given. Numbers and bools are read as the text they were written as.
    pub fn take_given_string(&mut self, key: &str) -> Option<Given<String>> {
        let node = self.take(key)?;
        let Some(text) = scalar_text(&node.value) else {
            self.wrong_kind(key, &node, "a text");
            return None;
        };
        if text.is_empty() {
            return None;
        }
        self.note(key, text.clone(), &node.origin);
        Some(Given { value: text, origin: node.origin })
    }

    pub fn take_string(&mut self, key: &str) -> Option<String> {
        self.take_given_string(key).map(|given| given.value)
    }

    pub fn take_string_or(&mut self, key: &str, default: &str) -> String {
        match self.take_string(key) {
            Some(text) => text,
            None => {
                self.note(key, default, &Origin::Default);
                default.to_owned()
            }
        }
    }

    /// A text that no listing and no message shows.
    pub fn take_secret(&mut self, key: &str) -> Option<Secret> {
        let node = self.take(key)?;
        let Some(text) = scalar_text(&node.value) else {
            self.wrong_kind(key, &node, "a text");
            return None;
        };
        if text.is_empty() {
            return None;
        }
        self.note(key, "***", &node.origin);
        Some(Secret::new(text))
    }

    /// A text that `parse` turns into the owner's type; what `parse` says against it becomes an error at the value.
    pub fn take_parsed<T>(&mut self, key: &str, parse: impl FnOnce(&str) -> Result<T, String>) -> Option<T> {
        let node = self.take(key)?;
        let Some(text) = scalar_text(&node.value) else {
            self.wrong_kind(key, &node, "a text");
            return None;
        };
        if text.is_empty() {
            return None;
        }
        match parse(&text) {
            Ok(value) => {
                self.note(key, text, &node.origin);
                Some(value)
            }
            Err(why) => {
                let summary = format!("{} = {text:?}: {why}", self.path_of(key));
                self.refuse(&node.origin, summary, "");
                None
            }
        }
    }

    /// `true` or `false`, also as the texts and numbers that Go reads as such.
    pub fn take_bool(&mut self, key: &str) -> Option<bool> {
        let node = self.take(key)?;
        let value = match &node.value {
            Value::Bool(value) => Some(*value),
            Value::Text(text) | Value::Number(text) => go_bool(text),
            Value::List(_) | Value::Object(_) => None,
        };
        match value {
            Some(value) => self.note(key, value.to_string(), &node.origin),
            None => {
                let shown = scalar_text(&node.value).map_or_else(|| node.value.kind().to_owned(), |t| format!("{t:?}"));
                let summary = format!("{} takes true or false, not {shown}", self.path_of(key));
                self.refuse(&node.origin, summary, "");
            }
        }
        value
    }

    pub fn take_bool_or(&mut self, key: &str, default: bool) -> bool {
        match self.take_bool(key) {
            Some(value) => value,
            None => {
                self.note(key, default.to_string(), &Origin::Default);
                default
            }
        }
    }

    /// A whole number within `range`.
    pub fn take_integer(&mut self, key: &str, range: RangeInclusive<i64>) -> Option<i64> {
        let node = self.take(key)?;
        let Some(text) = scalar_text(&node.value) else {
            self.wrong_kind(key, &node, "a whole number");
            return None;
        };
        match go_integer(&text) {
            Some(value) if range.contains(&value) => {
                self.note(key, value.to_string(), &node.origin);
                Some(value)
            }
            Some(value) => {
                let (low, high) = (range.start(), range.end());
                let range = match (*low, *high) {
                    (low, i64::MAX) => format!("at least {low}"),
                    (low, high) => format!("between {low} and {high}"),
                };
                let summary = format!("{} must be {range}, not {value}", self.path_of(key));
                self.refuse(&node.origin, summary, "");
                None
            }
            None => {
                let summary = format!("{} takes a whole number, not {text:?}", self.path_of(key));
                self.refuse(&node.origin, summary, "");
                None
            }
        }
    }

    pub fn take_integer_or(&mut self, key: &str, default: i64, range: RangeInclusive<i64>) -> i64 {
        match self.take_integer(key, range) {
            Some(value) => value,
            None => {
                self.note(key, default.to_string(), &Origin::Default);
                default
            }
        }
    }

    pub fn take_float(&mut self, key: &str) -> Option<f64> {
        let node = self.take(key)?;
        let value =
            scalar_text(&node.value).and_then(|text| text.parse::<f64>().ok()).filter(|value| value.is_finite());
        match value {
            Some(value) => self.note(key, value.to_string(), &node.origin),
            None => self.wrong_kind(key, &node, "a number"),
        }
        value
    }

    pub fn take_float_or(&mut self, key: &str, default: f64) -> f64 {
        match self.take_float(key) {
            Some(value) => value,
            None => {
                self.note(key, default.to_string(), &Origin::Default);
                default
            }
        }
    }

    /// A duration such as `"30s"`. An empty text is "not given", with a warning that names file and line.
    pub fn take_duration(&mut self, key: &str) -> Option<GoDuration> {
        self.duration(key, None)
    }

    pub fn take_duration_or(&mut self, key: &str, default: GoDuration) -> GoDuration {
        match self.duration(key, Some(default)) {
            Some(span) => span,
            None => {
                self.note(key, default.to_string(), &Origin::Default);
                default
            }
        }
    }

    fn duration(&mut self, key: &str, default: Option<GoDuration>) -> Option<GoDuration> {
        let node = self.take(key)?;
        let Some(text) = scalar_text(&node.value) else {
            self.wrong_kind(key, &node, "a duration such as \"30s\"");
            return None;
        };
        if text.is_empty() {
            let holds =
                default.map_or_else(|| "it is taken as not given".to_owned(), |d| format!("the default {d} holds"));
            let summary = format!("{} is empty: {holds}", self.path_of(key));
            self.warn(&node.origin, summary, format!("remove the line, or write {key} = \"0s\" for \"at once\""));
            return None;
        }
        match text.parse::<GoDuration>() {
            Ok(span) => {
                self.note(key, span.to_string(), &node.origin);
                Some(span)
            }
            Err(why) => {
                let summary = format!("{} = {text:?} is no duration: {why}", self.path_of(key));
                self.refuse(&node.origin, summary, "units are ns, us, ms, s, m and h, as in \"90s\" or \"1h30m\"");
                None
            }
        }
    }

    /// A list of texts.
    pub fn take_strings(&mut self, key: &str) -> Option<Vec<String>> {
        let node = self.take(key)?;
        let Value::List(items) = &node.value else {
            if let Value::Text(text) = &node.value {
                self.note(key, format!("[{text:?}]"), &node.origin);
                return Some(vec![text.clone()]);
            }
            self.wrong_kind(key, &node, "a list of texts");
            return None;
        };
        let mut texts = Vec::with_capacity(items.len());
        for item in items {
            match scalar_text(&item.value) {
                Some(text) => texts.push(text),
                None => self.wrong_kind(key, item, "texts as its elements"),
            }
        }
        self.note(key, format!("{texts:?}"), &node.origin);
        Some(texts)
    }

    pub fn take_strings_or(&mut self, key: &str, default: &[&str]) -> Vec<String> {
        match self.take_strings(key) {
            Some(texts) => texts,
            None => {
                self.note(key, format!("{default:?}"), &Origin::Default);
                default.iter().map(|text| (*text).to_owned()).collect()
            }
        }
    }

    /// A map of names to texts, as a block or an object.
    pub fn take_given_map(&mut self, key: &str) -> BTreeMap<String, Given<String>> {
        let Some(object) = self.take_object(key) else { return BTreeMap::new() };
        let mut map = BTreeMap::new();
        for (name, entry) in object.entries {
            let dotted = format!("{key}.{name}");
            match scalar_text(&entry.node.value) {
                Some(text) => {
                    self.note(&dotted, text.clone(), &entry.node.origin);
                    map.insert(name, Given { value: text, origin: entry.node.origin });
                }
                None => self.wrong_kind(&dotted, &entry.node, "a text"),
            }
        }
        map
    }

    pub fn take_map(&mut self, key: &str) -> BTreeMap<String, String> {
        self.take_given_map(key).into_iter().map(|(name, given)| (name, given.value)).collect()
    }

    /// Reads the block at `key`; an absent one reads as an empty one.
    pub fn take_block<T>(&mut self, key: &str, read: impl FnOnce(&mut Block<'_>) -> T) -> T {
        let origin = self.origin_of(key).unwrap_or(Origin::Default);
        let object = self.take_object(key).unwrap_or_default();
        self.read_inner(key, origin, object, read)
    }

    /// Reads the block at `key` if it was given.
    pub fn take_block_if_given<T>(&mut self, key: &str, read: impl FnOnce(&mut Block<'_>) -> T) -> Option<T> {
        let origin = self.origin_of(key).unwrap_or(Origin::Default);
        let object = self.take_object(key)?;
        Some(self.read_inner(key, origin, object, read))
    }

    /// Reads each of the blocks that carry a name: `host_volume "data" { … }`.
    pub fn take_named_blocks<T>(
        &mut self,
        key: &str,
        mut read: impl FnMut(&str, &mut Block<'_>) -> T,
    ) -> BTreeMap<String, T> {
        let mut found = BTreeMap::new();
        for (name, entry) in self.take_object(key).unwrap_or_default().entries {
            let dotted = format!("{key}.{name}");
            match entry.node.value {
                Value::Object(object) => {
                    let value = self.read_inner(&dotted, entry.node.origin, object, |block| read(&name, block));
                    found.insert(name, value);
                }
                Value::Text(_) | Value::Number(_) | Value::Bool(_) | Value::List(_) => {
                    let summary = format!("{} takes blocks with a name, not a value", self.path_of(key));
                    self.refuse(&entry.key_origin, summary, format!("write {key} \"NAME\" {{ … }}"));
                }
            }
        }
        found
    }

    /// The block at `key` for somebody else to decode.
    pub fn take_tree(&mut self, key: &str) -> Option<Tree> {
        let object = self.take_object(key)?;
        Some(Tree { path: self.path_of(key), object })
    }

    fn read_inner<T>(
        &mut self,
        key: &str,
        origin: Origin,
        object: Object,
        read: impl FnOnce(&mut Block<'_>) -> T,
    ) -> T {
        let path = self.path_of(key);
        let mut inner = Block::new(path, origin, object, self.report);
        let value = read(&mut inner);
        inner.finish();
        value
    }

    fn take_object(&mut self, key: &str) -> Option<Object> {
        let node = self.take(key)?;
        match node.value {
            Value::Object(object) => Some(object),
            Value::List(items) if items.is_empty() => Some(Object::default()),
            Value::Text(_) | Value::Number(_) | Value::Bool(_) | Value::List(_) => {
                self.wrong_kind(key, &node, "a block");
                None
            }
        }
    }

    /// Accepts `key`, which this build does not act on: silently while all that it holds is `false` or empty, else with
    /// a warning.
    pub fn accept_unused_unless_off(&mut self, key: &str) {
        if self.object.entries.get(key).is_some_and(|entry| is_off(&entry.node.value)) {
            self.accept(key);
        } else {
            self.accept_unused(key);
        }
    }

    /// Accepts `key`, whatever it holds, without a word.
    pub fn accept(&mut self, key: &str) {
        let _ = self.take(key);
    }

    /// Accepts `key`, whatever it holds, and says that this build does not act on it.
    pub fn accept_unused(&mut self, key: &str) {
        self.known.insert(key.to_owned());
        if let Some(entry) = self.object.entries.remove(key) {
            let summary = format!("{} is accepted, but this build does not act on it", self.path_of(key));
            self.warn(&entry.key_origin, summary, "");
        }
    }

    /// Notes the keys that nobody asked for.
    fn finish(mut self) {
        for (key, entry) in std::mem::take(&mut self.object.entries) {
            let is_block = matches!(entry.node.value, Value::Object(_));
            self.report.unknown.push(Unknown { path: self.path.clone(), key, is_block, at: entry.key_origin });
        }
        self.report.known.entry(self.path).or_default().extend(self.known);
    }
}

fn scalar_text(value: &Value) -> Option<String> {
    match value {
        Value::Text(text) | Value::Number(text) => Some(text.clone()),
        Value::Bool(value) => Some(value.to_string()),
        Value::List(_) | Value::Object(_) => None,
    }
}

fn is_off(value: &Value) -> bool {
    match value {
        Value::Bool(value) => !value,
        Value::Text(text) | Value::Number(text) => text.is_empty() || text == "0" || text == "false",
        Value::List(items) => items.is_empty(),
        Value::Object(object) => object.entries.values().all(|entry| is_off(&entry.node.value)),
    }
}

fn go_bool(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}

fn go_integer(text: &str) -> Option<i64> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let value = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hex) => i64::from_str_radix(hex, 16).ok()?,
        None => match digits.parse::<i64>() {
            Ok(value) => value,
            // JSON writers print whole numbers as 3e9 or 3.0 too.
            Err(_) => {
                let value = digits.parse::<f64>().ok()?;
                if value.fract() != 0.0 || value.abs() > 9e15 {
                    return None;
                }
                value as i64
            }
        },
    };
    Some(if negative { -value } else { value })
}
