use std::io;
use std::path::PathBuf;

use longshore_driver::DriverError;
use longshore_engine::{Class, Error as EngineError};

/// Why the driver's own books could not be kept.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    #[error("the image ledger {path} could not be opened")]
    Open {
        path: PathBuf,
        #[source]
        source: rusqlite::Error,
    },
    #[error("the image ledger {path} could not be {doing}")]
    File {
        path: PathBuf,
        doing: &'static str,
        #[source]
        source: io::Error,
    },
    #[error(
        "the image ledger {path} has format {found}; this version reads up to {known}: start the version that wrote it"
    )]
    Newer { path: PathBuf, found: i64, known: i64 },
    #[error("the image ledger {path} could not be read")]
    Read {
        path: PathBuf,
        #[source]
        source: rusqlite::Error,
    },
    #[error("the image ledger {path} could not be written")]
    Write {
        path: PathBuf,
        #[source]
        source: rusqlite::Error,
    },
    #[error(
        "the image ledger {path} is damaged: entry {key:?} does not match its checksum; restore the file, or move it away (all images then count as brought by others)"
    )]
    Damaged { path: PathBuf, key: String },
    #[error("the image ledger {path}: entry {key:?} cannot be used")]
    Entry {
        path: PathBuf,
        key: String,
        #[source]
        source: longshore_images::BadEntry,
    },
}

/// Why the engine's keeper lock is not ours.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    #[error("another agent ({holder}) keeps the images of this Docker engine, by the lock {path}")]
    Taken { holder: String, path: PathBuf },
    #[error("the lock file {path} could not be opened")]
    Open {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

/// A call of the engine that failed, as the node is told about it.
pub(crate) fn of_engine(error: EngineError) -> DriverError {
    let class = error.class();
    let message = match &error {
        EngineError::Answered { .. } => error.to_string(),
        other => format!("{other}"),
    };
    let told = if class.may_pass() { DriverError::retry(message) } else { DriverError::fatal(message) };
    let told = told.hint(class.hint());
    match std::error::Error::source(&error) {
        // The text says it already; the cause below it is what is worth keeping.
        Some(source) => told.caused_by(Cause(source.to_string())),
        None => told,
    }
}

/// A cause of which only the text is left.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Cause(pub(crate) String);

/// An engine that cannot be reached at all, in words.
pub(crate) fn is_unreachable(error: &EngineError) -> bool {
    matches!(error.class(), Class::EngineUnreachable | Class::Cut | Class::Timeout)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use longshore_driver::ErrorClass;

    use super::*;

    /// What changes neither with time nor with another look at the registry.
    const FATAL: [Class; 4] = [Class::BadRequest, Class::BadCommand, Class::PlatformMissing, Class::Version];
    const MAY_PASS: [Class; 21] = [
        Class::NotFound,
        Class::NameTaken,
        Class::InUse,
        Class::WrongState,
        Class::BeingRemoved,
        Class::Conflict,
        Class::StuckStart,
        Class::NoSpace,
        Class::PortTaken,
        Class::RegistryUnreachable,
        Class::RegistryUntrusted,
        Class::RegistryDenied,
        Class::RegistryLimited,
        Class::RegistryFailed,
        Class::ManifestMissing,
        Class::ImageBroken,
        Class::EngineUnreachable,
        Class::Cut,
        Class::Timeout,
        Class::Malformed,
        Class::Server,
    ];

    /// The answers that `longshore-engine` keeps, each with the class that it is shown to read from it.
    #[test]
    fn recorded_refusals_are_tried_again_or_are_final() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../engine/tests/recorded");
        let mut seen = BTreeSet::new();
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|it| it != "json") {
                continue;
            }
            let recorded: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
            let Some(word) = recorded["class"].as_str() else { continue };
            let class = FATAL.into_iter().chain(MAY_PASS).find(|class| format!("{class:?}") == word);
            let class = class.unwrap_or_else(|| panic!("{}: no class {word}", path.display()));
            let status = recorded["status"].as_u64().and_then(|status| u16::try_from(status).ok());
            let message = recorded["body"].as_str().unwrap().trim().to_owned();
            let told = of_engine(EngineError::Answered { doing: "asking".to_owned(), status, class, message });
            let expected = if FATAL.contains(&class) { ErrorClass::Fatal } else { ErrorClass::Retry };
            assert_eq!(told.class, expected, "{}", path.display());
            assert!(told.message.starts_with("asking: "), "{}", told.message);
            assert_eq!(told.hint, class.hint());
            seen.insert((told.class == ErrorClass::Fatal, word.to_owned()));
        }
        assert!(seen.iter().filter(|(fatal, _)| *fatal).count() >= 3, "{seen:?}");
        assert!(seen.iter().filter(|(fatal, _)| !*fatal).count() >= 12, "{seen:?}");
    }
}
