//! Job files as people write them, read and compared with what Nomad's own parser makes of them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::{Path, PathBuf};

use longshore_jobspec::{Input, parse};
use serde_json::Value;

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name)
}

fn read(name: &str) -> String {
    std::fs::read_to_string(folder("jobs").join(name)).unwrap()
}

/// Job files that must not be read; what is told about them stands in `told_errors`.
const BROKEN: [&str; 2] = ["bad-key.nomad", "bad-syntax.nomad"];

#[test]
fn every_file_is_read() {
    let mut count = 0;
    for entry in std::fs::read_dir(folder("jobs")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let text = read(&name);
        match parse(&Input::new(&name, &text)) {
            Ok(parsed) => {
                assert!(!BROKEN.contains(&name.as_str()), "{name} was read");
                assert!(parsed.warnings.is_empty(), "{name}: {:?}", parsed.warnings);
            }
            Err(why) => assert!(BROKEN.contains(&name.as_str()), "{name}:\n{why}"),
        }
        count += 1;
    }
    assert!(count >= 30, "only {count} files");
}

/// Keys that Nomad 1.1 wrote for the request form and 1.6 does not.
const GONE: [&str; 1] = ["Id"];

/// Where `expected` says something that `got` does not; keys that only `got` has are of newer versions.
fn differences(path: &str, expected: &Value, got: &Value, out: &mut Vec<String>) {
    match (expected, got) {
        (Value::Object(expected), Value::Object(got)) => {
            for (key, value) in expected {
                if GONE.contains(&key.as_str()) || path.ends_with("Scaling") && key == "Namespace" {
                    continue;
                }
                match got.get(key) {
                    Some(found) => differences(&format!("{path}.{key}"), value, found, out),
                    None => out.push(format!("{path}.{key}: missing, expected {value}")),
                }
            }
        }
        (Value::Array(expected), Value::Array(got)) if expected.len() == got.len() => {
            for (at, (expected, got)) in expected.iter().zip(got).enumerate() {
                differences(&format!("{path}[{at}]"), expected, got, out);
            }
        }
        _ if expected == got => {}
        _ => out.push(format!("{path}: expected {expected}, got {got}")),
    }
}

#[test]
fn what_is_read_is_what_nomad_reads() {
    let mut count = 0;
    for entry in std::fs::read_dir(folder("recorded")).unwrap() {
        let path = entry.unwrap().path();
        let name = format!("{}.nomad", path.file_stem().unwrap().to_str().unwrap());
        let expected: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        let got = serde_json::to_value(parse(&Input::new(&name, &read(&name))).unwrap().job).unwrap();
        let mut out = Vec::new();
        differences("", &expected, &got, &mut out);
        assert!(out.is_empty(), "{name}:\n{}", out.join("\n"));
        count += 1;
    }
    assert_eq!(count, 5);
}
