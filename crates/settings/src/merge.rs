use longshore_values::Diagnostic;

use crate::tree::{Entry, Object, Value};

/// Lists that grow from file to file; any other list is replaced by a later one.
const APPENDED: &[&str] = &[
    "client.servers",
    "client.server_join.retry_join",
    "client.server_join.start_join",
    "consul.tags",
    "server.enabled_schedulers",
    "server.retry_join",
    "server.server_join.retry_join",
    "server.server_join.start_join",
    "server.start_join",
];

/// Named blocks of which a later one replaces an earlier one of the same name as a whole.
const REPLACED: &[&str] = &["client.host_network", "client.host_volume"];

/// Where in the whole a merge is, and what it has to tell.
#[derive(Debug, Default)]
pub(crate) struct Merging {
    pub(crate) path: Vec<String>,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// Lays `over` on `base`, key by key: later wins.
pub(crate) fn overlay(base: &mut Object, over: Object, merging: &mut Merging) {
    for (key, entry) in over.entries {
        merging.path.push(key.clone());
        match base.entries.entry(key) {
            std::collections::btree_map::Entry::Vacant(place) => {
                place.insert(entry);
            }
            std::collections::btree_map::Entry::Occupied(mut place) => merge_entry(place.get_mut(), entry, merging),
        }
        merging.path.pop();
    }
}

fn merge_entry(earlier: &mut Entry, later: Entry, merging: &mut Merging) {
    match (&mut earlier.node.value, later.node.value) {
        (Value::Object(base), Value::Object(over)) if !replaces_whole(&merging.path) => {
            warn_of_what_nomad_drops(base, &over, &later.key_origin, merging);
            overlay(base, over, merging);
            earlier.key_origin = later.key_origin;
            earlier.node.origin = later.node.origin;
        }
        (Value::List(items), Value::List(more)) if APPENDED.contains(&merging.path.join(".").as_str()) => {
            items.extend(more);
            earlier.node.origin = later.node.origin;
        }
        (_, Value::Text(text)) if text.is_empty() => {
            let (path, holds) = (merging.path.join("."), &earlier.node.origin);
            let mut told = Diagnostic::warning(format!("{path} is empty here: the earlier value holds ({holds})"));
            if let Some(place) = later.node.origin.place() {
                told = told.at(place);
            }
            merging.diagnostics.push(told);
        }
        (_, value) => {
            earlier.node.value = value;
            earlier.node.origin = later.node.origin;
            earlier.key_origin = later.key_origin;
        }
    }
}

fn replaces_whole(path: &[String]) -> bool {
    path.split_last().is_some_and(|(_, above)| REPLACED.contains(&above.join(".").as_str()))
}

/// Nomad takes the later `config` of a plugin as a whole; here both hold, and what would have been lost is named.
fn warn_of_what_nomad_drops(base: &Object, over: &Object, at: &crate::source::Origin, merging: &mut Merging) {
    let [plugin, name, config] = merging.path.as_slice() else { return };
    if plugin != "plugin" || config != "config" || over.entries.is_empty() {
        return;
    }
    let kept: Vec<String> = base
        .leaves()
        .into_iter()
        .filter(|(leaf, _)| over.at(leaf).is_none())
        .map(|(leaf, origin)| format!("{} ({origin})", leaf.join(".")))
        .collect();
    if kept.is_empty() {
        return;
    }
    let summary = format!("plugin {name:?} is configured more than once: all are merged key by key");
    let mut told = Diagnostic::warning(summary)
        .detail(format!("Nomad would have used this one alone and dropped {}", kept.join(", ")));
    if let Some(place) = at.place() {
        told = told.at(place);
    }
    merging.diagnostics.push(told);
}
