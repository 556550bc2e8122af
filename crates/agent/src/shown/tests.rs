use std::path::Path;

use longshore_exec::{MockOptions, RawExecOptions};
use longshore_settings::Inputs;

use super::*;

/// What the recorded answer has and ours has otherwise, with the reason.
const DIFFERENCES: &[(&str, &str)] = &[
    ("Client.Meta.connect.", "settings of Connect that Nomad adds by itself: there is no Connect here"),
    ("Plugins[].Config", "each driver's own options, by the names of its documentation"),
];

const FILE: &str = r#"
data_dir = "/d"
server { enabled = true }
client {
  enabled = true
  servers = ["127.0.0.1:4647"]
  meta {
    rack      = "r1"
    owner     = "ops"
    api_token = "s3cret"
  }
  options {
    "driver.allowlist"     = "docker"
    "fingerprint.denylist" = "env_aws"
  }
  host_network "inside" {
    cidr           = "192.0.2.0/24"
    reserved_ports = "9000"
  }
  host_volume "shared" {
    path      = "/img"
    read_only = true
  }
}
http_api_response_headers {
  "X-Secret-Word" = "s3cret"
}
plugin "raw_exec" {
  config {
    enabled = true
  }
}
"#;

fn shown() -> Value {
    let inputs = Inputs { dev: true, files: vec![("a.hcl".to_owned(), FILE.to_owned())], ..Inputs::default() };
    let config = AgentConfig::read(&inputs).unwrap();
    let listeners = crate::addresses::listeners(&config, &[]).unwrap();
    let files = ["a.hcl".to_owned()];
    let raw_exec = RawExecOptions { enabled: true, ..RawExecOptions::default() };
    let drivers = crate::drivers::shown(&longshore_docker::Options::default(), raw_exec, MockOptions::default());
    let shown = Shown { config: &config, listeners: &listeners, name: "host-a", files: &files, drivers };
    Value::Object(shown.rows().into_iter().collect())
}

fn missing(recorded: &Value, shown: &Value, at: &str, faults: &mut Vec<String>) {
    let fault = match (recorded, shown) {
        _ if DIFFERENCES.iter().any(|(path, _)| at.starts_with(path)) => None,
        (Value::Object(recorded), Value::Object(shown)) => {
            for (key, value) in recorded {
                let at = if at.is_empty() { key.clone() } else { format!("{at}.{key}") };
                match shown.get(key) {
                    Some(shown) => missing(value, shown, &at, faults),
                    None if DIFFERENCES.iter().any(|(path, _)| at.starts_with(path)) => {}
                    None => faults.push(format!("{at} is missing")),
                }
            }
            None
        }
        (Value::Array(recorded), Value::Array(shown)) => match (recorded.first(), shown.first()) {
            (Some(recorded), Some(shown)) => return missing(recorded, shown, &format!("{at}[]"), faults),
            (Some(_), None) => Some("has no element to compare".to_owned()),
            (None, _) => None,
        },
        // What was not set then may be here.
        (Value::Null, _) => None,
        (one, other) if std::mem::discriminant(one) == std::mem::discriminant(other) => None,
        (one, other) => Some(format!("is {other}, recorded {one}")),
    };
    faults.extend(fault.map(|why| format!("{at} {why}")));
}

/// Every key of Nomad's recorded answer is there, with a value of the same kind.
#[test]
fn all_recorded_settings_are_shown() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../api/tests/recorded/011-agent-self.json");
    let file: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let (recorded, mut shown, mut faults) = (file["body"]["config"].clone(), shown(), Vec::new());
    missing(&recorded, &shown, "", &mut faults);
    assert_eq!(faults, Vec::<String>::new());
    assert!(recorded.as_object().unwrap().len() > 30, "the recording is whole");
    shown.as_object_mut().unwrap().remove("Vault");
    missing(&recorded, &shown, "", &mut faults);
    assert_eq!(faults, ["Vault is missing"], "the comparison finds what is not there");
}

#[test]
fn what_holds_is_shown_and_secrets_are_not() {
    let shown = shown();
    assert!(!shown.to_string().contains("s3cret"), "{shown:#}");
    assert_eq!(shown["Client"]["Meta"], json!({ "api_token": "***", "owner": "ops", "rack": "r1" }));
    assert_eq!(shown["HTTPAPIResponseHeaders"], json!({ "X-Secret-Word": "***" }));
    assert_eq!((&shown["NodeName"], &shown["Files"]), (&json!("host-a"), &json!(["a.hcl"])));
    assert_eq!(shown["Server"]["JobGCThreshold"], "4h0m0s");
    assert_eq!(shown["Server"]["MinHeartbeatTTL"], 10_000_000_000_i64);
    assert_eq!(shown["Client"]["GCInterval"], 600_000_000_000_i64, "as -dev sets it");
    assert_eq!(shown["Version"]["Version"], API_LEVEL);
}

#[test]
fn plugins_are_shown_with_their_options_and_those_that_are_off_where_a_file_names_them() {
    let plugins = &shown()["Plugins"];
    let rows: Vec<_> = plugins.as_array().unwrap().iter().map(|row| row["Name"].as_str().unwrap()).collect();
    assert_eq!(rows, ["docker", "raw_exec"], "mock_driver is off and not spoken of");
    let raw_exec =
        serde_json::json!({ "Args": null, "Name": "raw_exec", "Config": { "enabled": true, "no_cgroups": false } });
    assert_eq!(plugins[1], raw_exec);
    assert_eq!(plugins[0]["Config"]["gc"]["image_delay"], "3m0s");
}
