//! What the API answered once, rendered, against what the command line printed for it at that time.
//!
//! The answers are of Nomad 1.1; where 1.6 prints more (the node pool, unknown allocations, the namespace of an
//! evaluation) the expectation is the newer form.

mod allocations;
mod images;
mod jobs;
mod nodes;
mod others;
mod plans;

use std::path::PathBuf;

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::view::{View, Zone};

fn answer(name: &str) -> Value {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../api/tests/recorded").join(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
    let exchange: Value = serde_json::from_str(&text).unwrap();
    exchange["body"].clone()
}

fn read<T: DeserializeOwned>(name: &str) -> T {
    longshore_api::from_value(answer(name)).unwrap()
}

/// `seconds` after 2026-11-30 17:38:00 UTC.
fn view_at(seconds: i64) -> View {
    View { now: (1_796_060_280 + seconds) * 1_000_000_000, zone: Zone::Utc, verbose: false, colour: false }
}

fn verbose(view: View) -> View {
    View { verbose: true, ..view }
}
