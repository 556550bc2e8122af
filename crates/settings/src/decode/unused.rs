use longshore_values::Diagnostic;

use crate::source::Origin;
use crate::tree::{Entry, Value};

/// A setting that somebody gave, that is accepted, and that nothing in this build acts on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unused {
    /// Dotted: `client.host_volume.data`.
    pub path: String,
    pub origin: Origin,
    /// Why, where there is more to say than that it is not in this build; may be empty.
    pub why: String,
}

impl Unused {
    /// What a person has given of `entry` at `path`: a block of a file as a whole, each flag and each variable by itself, and of blocks with
    /// names (`named`) each block.
    pub(super) fn of_entry(path: &str, entry: &Entry, named: bool, why: &str) -> Vec<Self> {
        let at = |path: String, origin: &Origin| Self { path, origin: origin.clone(), why: why.to_owned() };
        let Value::Object(object) = &entry.node.value else {
            return if is_given(&entry.node.origin) {
                vec![at(path.to_owned(), &entry.node.origin)]
            } else {
                Vec::new()
            };
        };
        if named {
            let blocks = object.entries.iter();
            return blocks
                .flat_map(|(name, block)| Self::of_entry(&format!("{path}.{name}"), block, false, why))
                .collect();
        }
        let leaves = object.leaves();
        let is_alone = |origin: &Origin| matches!(origin, Origin::Flag(_) | Origin::Environment(_));
        let in_files = leaves.iter().find(|(_, origin)| !is_alone(origin) && is_given(origin));
        let mut unused = Vec::new();
        if let Some((_, first)) = in_files {
            // The line that opens the block, unless a flag was laid on it.
            let opened = if matches!(entry.key_origin, Origin::File(_)) { &entry.key_origin } else { first };
            unused.push(at(path.to_owned(), opened));
        }
        for (leaf, origin) in leaves.iter().filter(|(_, origin)| is_alone(origin)) {
            unused.push(at(format!("{path}.{}", leaf.join(".")), origin));
        }
        unused
    }

    /// The one warning that names them all, each with where it was given; `None` when there are none.
    pub fn warning(all: &[Self]) -> Option<Diagnostic> {
        let mut lines: Vec<String> = all
            .iter()
            .map(|Self { path, origin, why }| {
                let why = if why.is_empty() { String::new() } else { format!(": {why}") };
                format!("  {path} ({origin}){why}")
            })
            .collect();
        lines.dedup();
        let summary = match lines.len() {
            0 => return None,
            1 => "accepted, without effect in this build:".to_owned(),
            number => format!("accepted, without effect in this build ({number} settings):"),
        };
        Some(Diagnostic::warning(summary).detail(lines.join("\n")))
    }
}

/// Whether a person gave it.
fn is_given(origin: &Origin) -> bool {
    match origin {
        Origin::Flag(_) | Origin::Environment(_) | Origin::File(_) | Origin::ClientOption { .. } => true,
        Origin::Default | Origin::Dev => false,
    }
}
