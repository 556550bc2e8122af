use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use longshore_values::{Diagnostic, GoDuration, Secret, without_login};

use super::report::{Report, Unknown};
use super::scalars::{go_bool, go_integer, is_off, scalar_text};
use super::{Effective, Given, Unused};
use crate::source::{Origin, names_a_secret};
use crate::tree::{Node, Object, Value};

const NOMAD_TAKES_IT: &str = "Nomad takes this without a word";

/// An error about what Nomad takes and acts on and this build does not, which says so.
pub fn nomad_acts_on(told: Diagnostic) -> Diagnostic {
    told.detail(format!("{NOMAD_TAKES_IT}, and acts on it"))
}

/// Whether an error says of itself that Nomad would have started with the line.
pub fn is_taken_by_nomad(told: &Diagnostic) -> bool {
    told.detail.starts_with(NOMAD_TAKES_IT)
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
    pub(super) report: &'a mut Report,
}

impl<'a> Block<'a> {
    pub(super) fn new(path: String, origin: Origin, object: Object, report: &'a mut Report) -> Self {
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

    /// Whether `key` was taken already.
    pub fn has_taken(&self, key: &str) -> bool {
        self.known.contains(key)
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

    /// Adds an error about what Nomad takes without a word and without effect, and says so.
    pub fn refuse_what_nomad_drops(&mut self, origin: &Origin, summary: impl Into<String>, hint: impl Into<String>) {
        let told = Diagnostic::error(summary).hint(hint);
        self.tell(told.detail(format!("{NOMAD_TAKES_IT}, and it has no effect there")), origin);
    }

    /// Adds an error about what Nomad takes and acts on and this build does not, and says so.
    pub fn refuse_what_nomad_does(&mut self, origin: &Origin, summary: impl Into<String>, hint: impl Into<String>) {
        self.tell(nomad_acts_on(Diagnostic::error(summary).hint(hint)), origin);
    }

    /// Adds a warning.
    pub fn warn(&mut self, origin: &Origin, summary: impl Into<String>, hint: impl Into<String>) {
        self.tell(Diagnostic::warning(summary).hint(hint), origin);
    }

    fn tell(&mut self, told: Diagnostic, origin: &Origin) {
        let told = match (origin.place(), origin) {
            (Some(place), _) => told.at(place),
            (None, Origin::Flag(_) | Origin::Environment(_) | Origin::ClientOption { .. }) => {
                let summary = format!("{} (from {origin})", told.summary);
                Diagnostic { summary, ..told }
            }
            (None, Origin::Default | Origin::Dev | Origin::File(_)) => told,
        };
        self.report.diagnostics.push(told);
    }

    pub(super) fn take(&mut self, key: &str) -> Option<Node> {
        self.known.insert(key.to_owned());
        self.object.entries.remove(key).map(|entry| entry.node)
    }

    pub(super) fn note(&mut self, key: &str, value: impl Into<String>, origin: &Origin) {
        let path = self.path_of(key);
        let value = value.into();
        self.report.effective.push(Effective { path, value, origin: origin.clone(), has_effect: true });
    }

    /// Notes a text as a person gave it. Free maps (options, meta, headers) may hold what their names give away as secret.
    pub(super) fn note_given_text(&mut self, key: &str, value: impl Into<String>, origin: &Origin) {
        let value = if names_a_secret(&self.path_of(key)) { "***".to_owned() } else { value.into() };
        self.note(key, value, origin);
    }

    pub(super) fn wrong_kind(&mut self, key: &str, node: &Node, wanted: &str) {
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
        self.note_given_text(key, text.clone(), &node.origin);
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
                self.note_given_text(key, text, &node.origin);
                Some(value)
            }
            Err(why) => {
                let summary = format!("{} = {:?}: {why}", self.path_of(key), without_login(&text));
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

    /// Accepts `key`, whatever it holds, without a word.
    pub fn accept(&mut self, key: &str) {
        let _ = self.take(key);
    }

    /// Accepts `key`, whatever it holds, and names it among what has no effect.
    pub fn accept_unused(&mut self, key: &str) {
        self.note_entry_as_unused(key, false, "");
        self.accept(key);
    }

    /// Names `key`, if it was given and asks for something, among what has no effect in this build. Said before it is
    /// taken, for keys that are read and checked all the same.
    pub fn note_unused(&mut self, key: &str, why: &str) {
        self.report.without_effect.insert(self.path_of(key));
        if !self.object.entries.get(key).is_some_and(|entry| is_off(&entry.node.value)) {
            self.note_entry_as_unused(key, false, why);
        }
    }

    /// The same for blocks with names, `host_volume "data" { … }`: each is named.
    pub fn note_unused_blocks(&mut self, key: &str, why: &str) {
        self.note_entry_as_unused(key, true, why);
    }

    fn note_entry_as_unused(&mut self, key: &str, named: bool, why: &str) {
        self.report.without_effect.insert(self.path_of(key));
        if let Some(entry) = self.object.entries.get(key) {
            let unused = Unused::of_entry(&self.path_of(key), entry, named, why);
            self.report.unused.extend(unused);
        }
    }

    /// Notes the keys that nobody asked for.
    pub(super) fn finish(mut self) {
        for (key, entry) in std::mem::take(&mut self.object.entries) {
            let is_block = matches!(entry.node.value, Value::Object(_));
            self.report.unknown.push(Unknown { path: self.path.clone(), key, is_block, at: entry.key_origin });
        }
        self.report.known.entry(self.path).or_default().extend(self.known);
    }
}
