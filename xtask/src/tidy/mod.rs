//! `cargo xtask tidy`: what no compiler holds. Each rule carries its reason, so that an exception can be argued.

mod layers;
mod lock_file;
mod sources;

use std::fmt;
use std::path::PathBuf;

use crate::shell::{Outcome, workspace};

/// Something that breaks a rule.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Breach {
    file: PathBuf,
    line: Option<usize>,
    what: String,
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.file.display(), self.what),
            None => write!(f, "{}: {}", self.file.display(), self.what),
        }
    }
}

pub(crate) fn run() -> Outcome {
    let top = workspace();
    let mut breaches = layers::breaches()?;
    breaches.extend(sources::breaches(&top)?);
    breaches.sort();
    for breach in &breaches {
        println!("{breach}");
    }
    for line in lock_file::doubles(&top)? {
        println!("note: {line}");
    }
    match breaches.len() {
        0 => {
            println!("tidy: layers, bans and sizes are as they should be");
            Ok(())
        }
        count => Err(format!("{count} breaches of the rules of this workspace").into()),
    }
}
