mod block;
mod inner;
mod report;
mod scalars;
mod unused;

use std::collections::{BTreeMap, BTreeSet};

use longshore_values::Diagnostic;

use crate::error::Refusal;
use crate::source::Origin;
use crate::tree::Tree;

pub use block::{Block, is_taken_by_nomad, nomad_acts_on};
use report::Report;
pub(crate) use scalars::size_bytes;
pub use unused::Unused;

/// A setting as it holds, and where it came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Effective {
    /// Dotted: `plugin.docker.config.gc.image_delay`.
    pub path: String,
    /// As text; secrets read `***`.
    pub value: String,
    pub origin: Origin,
    /// Whether anything in this build acts on it.
    pub has_effect: bool,
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
    /// What was given and has no effect, in the order of reading.
    pub unused: Vec<Unused>,
    /// The keys that each block has, by the block's path.
    pub known: BTreeMap<String, BTreeSet<String>>,
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
        report.mark_without_effect();
        report.diagnostics.sort_by_key(|told| {
            (told.severity, told.place.as_ref().map(|place| (place.file.clone(), place.line, place.column)))
        });
        Decoded {
            value,
            diagnostics: report.diagnostics,
            effective: report.effective,
            unused: report.unused,
            known: report.known,
        }
    }
}
