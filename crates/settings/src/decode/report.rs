use std::collections::{BTreeMap, BTreeSet};

use longshore_values::{Diagnostic, nearest};

use super::{Effective, Unused};
use crate::source::Origin;

#[derive(Debug, Default)]
pub(super) struct Report {
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) effective: Vec<Effective>,
    /// Where a key belongs, as its owner says.
    pub(super) places: Vec<(String, String)>,
    /// The keys that each block has, by the block's path.
    pub(super) known: BTreeMap<String, BTreeSet<String>>,
    pub(super) unknown: Vec<Unknown>,
    pub(super) unused: Vec<Unused>,
    /// Paths of settings and blocks without effect in this build, whether given or not.
    pub(super) without_effect: BTreeSet<String>,
}

#[derive(Debug)]
pub(super) struct Unknown {
    pub(super) path: String,
    pub(super) key: String,
    pub(super) is_block: bool,
    pub(super) at: Origin,
}

impl Report {
    /// Turns each key that nobody took into an error with the likely right place; done last, when all keys are known.
    pub(super) fn name_unknown_keys(&mut self) {
        for unknown in std::mem::take(&mut self.unknown) {
            let summary = format!("{} unexpected keys {}", unknown.path, unknown.key).trim_start().to_owned();
            let mut told = Diagnostic::error(summary).hint(self.hint(&unknown));
            if let Some(place) = unknown.at.place() {
                told = told.at(place);
            }
            self.diagnostics.push(told);
        }
    }

    pub(super) fn mark_without_effect(&mut self) {
        for it in &mut self.effective {
            let above = it.path.match_indices('.').filter_map(|(at, _)| it.path.get(..at));
            it.has_effect = !above.chain([it.path.as_str()]).any(|path| self.without_effect.contains(path));
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
        match self.known.get(&unknown.path).and_then(|keys| nearest(&unknown.key, keys.iter().map(String::as_str))) {
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
