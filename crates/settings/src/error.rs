use std::fmt;

use longshore_values::Diagnostic;

/// The agent files cannot be used as they are: everything that stands against them, and the warnings found on the way.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Refusal {
    pub diagnostics: Vec<Diagnostic>,
}

impl Refusal {
    pub(crate) fn one(told: Diagnostic) -> Self {
        Self { diagnostics: vec![told] }
    }

    /// What must be mended.
    pub fn errors(&self) -> impl Iterator<Item = &Diagnostic> {
        self.diagnostics.iter().filter(|told| told.is_error())
    }
}

/// The errors, one after the other.
impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, told) in self.errors().enumerate() {
            if at > 0 {
                f.write_str("\n\n")?;
            }
            write!(f, "{told}")?;
        }
        Ok(())
    }
}
