//! Which crate may use which.

use std::path::PathBuf;

use serde_json::Value;

use super::Breach;
use crate::shell::{self, Outcome, cargo, workspace};

/// Lowest first; a crate may use the layers before its own, and its tests also those beside it.
const LAYERS: &[&[&str]] = &[
    &["values", "crashpoint", "fuzz", "reserve"],
    &["model", "api"],
    &["samples"],
    &["jobspec", "jobs", "settings", "state", "images", "driver"],
    &["scheduler", "link", "journal", "engine", "logs"],
    &["docker", "exec", "server", "client"],
    &["http", "cli"],
    &["agent"],
];

/// Crates that decide: everything they know comes in as an argument.
pub(super) const DECIDING: &[&str] =
    &["values", "model", "api", "jobspec", "jobs", "settings", "state", "images", "driver", "scheduler"];

/// The command line knows what clients are promised, and nothing of what is computed with.
const CLI_MAY_USE: &[&str] = &["api", "jobspec", "values", "settings"];

/// Not for crates that decide: it brings clocks, sockets and chance.
const BANNED_IN_DECIDING: &[&str] = &["tokio", "hyper", "axum", "rusqlite", "nix", "getrandom"];

const PREFIX: &str = "longshore-";
const HARNESS: &str = "harness";
/// What tests begin with, and what changes their texts by chance.
const ONLY_FOR_TESTS: &[&str] = &["fuzz", "samples"];

#[derive(Debug)]
struct Package {
    /// Without prefix; `main` for the root package.
    name: String,
    manifest: PathBuf,
    dependencies: Vec<Dependency>,
}

#[derive(Debug)]
struct Dependency {
    name: String,
    only_for_tests: bool,
}

pub(super) fn breaches() -> Outcome<Vec<Breach>> {
    let mut command = cargo();
    command.args(["metadata", "--no-deps", "--format-version", "1", "--offline"]);
    let shown = shell::show(&command);
    let output = command.output().map_err(|error| format!("could not run `{shown}`: {error}"))?;
    if !output.status.success() {
        return Err(format!("`{shown}` failed: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    let metadata: Value = serde_json::from_slice(&output.stdout)?;
    let packages = metadata.get("packages").and_then(Value::as_array).cloned().unwrap_or_default();
    Ok(packages.iter().map(read_package).flat_map(|package| check(&package)).collect())
}

fn read_package(value: &Value) -> Package {
    let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let name = text(value, "name");
    let manifest = PathBuf::from(text(value, "manifest_path"));
    let dependencies = value.get("dependencies").and_then(Value::as_array).into_iter().flatten();
    Package {
        name: match name.as_str() {
            "longshore" => "main".to_owned(),
            other => other.strip_prefix(PREFIX).unwrap_or(other).to_owned(),
        },
        manifest: manifest.strip_prefix(workspace()).map(PathBuf::from).unwrap_or(manifest),
        dependencies: dependencies
            .map(|it| Dependency { name: text(it, "name"), only_for_tests: text(it, "kind") == "dev" })
            .collect(),
    }
}

fn layer_of(name: &str) -> Option<usize> {
    match name {
        "main" => Some(LAYERS.len()),
        _ => LAYERS.iter().position(|layer| layer.contains(&name)),
    }
}

fn check(package: &Package) -> Vec<Breach> {
    let mut breaches = Vec::new();
    let mut breach = |what: String| breaches.push(Breach { file: package.manifest.clone(), line: None, what });
    if matches!(package.name.as_str(), HARNESS | "xtask") {
        for used in package.dependencies.iter().filter_map(|it| it.name.strip_prefix(PREFIX)) {
            if used != HARNESS {
                breach(format!("`{}` is an independent witness and may not use `{PREFIX}{used}`", package.name));
            }
        }
        return breaches;
    }
    let Some(layer) = layer_of(&package.name) else {
        breach(format!("`{}` stands in no layer; give it a place in xtask/src/tidy/layers.rs", package.name));
        return breaches;
    };
    for dependency in &package.dependencies {
        let name = dependency.name.as_str();
        if let Some(used) = name.strip_prefix(PREFIX) {
            if used == HARNESS {
                if !dependency.only_for_tests || DECIDING.contains(&package.name.as_str()) {
                    breach(format!("`{name}` is only for xtask and for tests that need a real engine"));
                }
                continue;
            }
            if ONLY_FOR_TESTS.contains(&used) && !dependency.only_for_tests {
                breach(format!("`{name}` is only for tests"));
            }
            let is_beside = |of_used| of_used == layer && dependency.only_for_tests;
            if layer_of(used).is_none_or(|of_used| of_used >= layer && !is_beside(of_used)) {
                breach(format!(
                    "`{}` may only use the layers before its own, and `{used}` is in none of them",
                    package.name
                ));
            }
            if package.name == "cli" && !CLI_MAY_USE.contains(&used) {
                breach(format!("`cli` speaks only the HTTP API; it may use {CLI_MAY_USE:?}, not `{used}`"));
            }
        } else if DECIDING.contains(&package.name.as_str())
            && !dependency.only_for_tests
            && BANNED_IN_DECIDING.contains(&name)
        {
            breach(format!(
                "`{}` decides, so it may not use `{name}`: no I/O, no clock, no chance of its own",
                package.name
            ));
        }
    }
    breaches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_one(package: &str, uses: &str, only_for_tests: bool, expected: usize) {
        let dependencies = vec![Dependency { name: uses.to_owned(), only_for_tests }];
        let package = Package { name: package.to_owned(), manifest: PathBuf::new(), dependencies };
        assert_eq!(check(&package).len(), expected, "{package:?}");
    }

    #[test]
    fn arrows_point_down() {
        check_one("docker", "longshore-images", false, 0);
        check_one("client", "longshore-docker", false, 1);
        check_one("jobs", "longshore-jobspec", true, 0);
        check_one("jobs", "longshore-jobspec", false, 1);
        check_one("model", "longshore-api", false, 1);
        check_one("values", "longshore-model", false, 1);
        check_one("cli", "longshore-api", false, 0);
        check_one("cli", "longshore-model", false, 1);
        check_one("main", "longshore-agent", false, 0);
        check_one("state", "longshore-samples", true, 0);
        check_one("state", "longshore-samples", false, 1);
        check_one("brand-new", "serde", false, 1);
    }

    #[test]
    fn crates_that_decide_stay_pure() {
        check_one("images", "tokio", false, 1);
        check_one("images", "tokio", true, 0);
        check_one("docker", "tokio", false, 0);
    }

    #[test]
    fn the_harness_is_for_tests_with_an_engine() {
        check_one("main", "longshore-harness", true, 0);
        check_one("main", "longshore-harness", false, 1);
        check_one("docker", "longshore-harness", true, 0);
        check_one("docker", "longshore-harness", false, 1);
        check_one("images", "longshore-harness", true, 1);
        check_one("harness", "longshore-engine", false, 1);
    }
}
