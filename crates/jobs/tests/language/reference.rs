//! `docs/reference/jobspec.md` is made from the tables that job files are read by.

use std::path::Path;

use longshore_jobspec::reference;

/// With this variable set the page is written anew instead of compared.
const WRITE: &str = "LONGSHORE_WRITE_REFERENCE";

#[test]
fn the_reference_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/jobspec.md");
    let made = reference::markdown();
    if std::env::var_os(WRITE).is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &made).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(made == written, "docs/reference/jobspec.md is stale; run this test with {WRITE}=1");
}
