//! Crates that are built in two versions. Told, not refused: which one can be avoided is a matter of judgement.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::shell::Outcome;

pub(super) fn doubles(top: &Path) -> Outcome<Vec<String>> {
    let text = fs::read_to_string(top.join("Cargo.lock"))?;
    Ok(versions(&text)
        .into_iter()
        .filter(|(_, versions)| versions.len() > 1)
        .map(|(name, versions)| {
            format!("`{name}` is in the lock file {} times: {}", versions.len(), versions.join(", "))
        })
        .collect())
}

fn versions(lock: &str) -> BTreeMap<&str, Vec<&str>> {
    let mut found: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut name = "";
    for line in lock.lines() {
        let value = |key: &str| line.strip_prefix(key)?.strip_prefix(" = \"")?.strip_suffix('"');
        if let Some(value) = value("name") {
            name = value;
        }
        if let Some(value) = value("version").filter(|_| !name.is_empty()) {
            found.entry(name).or_default().push(value);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read() {
        let lock = "version = 4\n[[package]]\nname = \"a\"\nversion = \"1.0.0\"\n\n[[package]]\nname = \"a\"\nversion = \"2.0.0\"\n";
        assert_eq!(versions(lock), BTreeMap::from([("a", vec!["1.0.0", "2.0.0"])]));
    }
}
