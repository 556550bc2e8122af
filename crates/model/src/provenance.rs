use std::fmt;

use serde::{Deserialize, Serialize};

/// Whose doing it is that an image name stands where it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Provenance {
    /// A pull or load of ours made it.
    Obtained,
    /// It was there before us, or somebody else moved it.
    Foreign,
    /// Nobody's: the name is not on the engine.
    Absent,
}

impl Provenance {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Obtained => "obtained",
            Self::Foreign => "foreign",
            Self::Absent => "absent",
        }
    }
}

impl fmt::Display for Provenance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
