//! Every recorded answer of Nomad that these types are for is read, written again and compared: each recorded key is
//! there with its very value, and a key that was not recorded is zero. So names, types, `null` against `[]` and what is
//! left out are those of Nomad.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeSet;
use std::path::Path;

use longshore_api as api;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Keys that only versions before 1.6 wrote.
const GONE_SINCE: &[&str] =
    &[".Checks[].Id", ".Services[].Id", ".Scaling.Namespace", ".ScalingPolicies[].Namespace", ".DeviceStats"];

#[test]
fn recorded_answers_are_read_and_written_unchanged() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded");
    let mut faults = Vec::new();
    let mut kinds = BTreeSet::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let file: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        let kind = file["type"].as_str().unwrap().to_owned();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        match again(&kind, file["body"].clone()) {
            Ok(written) => compare(&file["body"], &written, &name, &mut faults),
            Err(why) => faults.push(format!("{name}: {why}")),
        }
        kinds.insert(kind);
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert_eq!(kinds.len(), 27, "each kind of answer is recorded at least once: {kinds:?}");
}

fn again(kind: &str, body: Value) -> Result<Value, api::DecodeError> {
    fn of<T: DeserializeOwned + Serialize>(body: Value) -> Result<Value, api::DecodeError> {
        Ok(serde_json::to_value(api::from_value::<T>(body)?).unwrap())
    }
    match kind {
        "AgentHealthResponse" => of::<api::AgentHealthResponse>(body),
        "AgentSelf" => of::<api::AgentSelf>(body),
        "AllocListStub[]" => of::<Vec<api::AllocListStub>>(body),
        "AllocStopResponse" => of::<api::AllocStopResponse>(body),
        "Allocation" => of::<api::Allocation>(body),
        "Deployment" => of::<api::Deployment>(body),
        "Deployment[]" => of::<Vec<api::Deployment>>(body),
        "DeploymentUpdateResponse" => of::<api::DeploymentUpdateResponse>(body),
        "Evaluation" => of::<api::Evaluation>(body),
        "Evaluation[]" => of::<Vec<api::Evaluation>>(body),
        "HostStats" => of::<api::HostStats>(body),
        "IndexResponse" => of::<api::IndexResponse>(body),
        "Job" => of::<api::Job>(body),
        "JobDeregisterResponse" => of::<api::JobDeregisterResponse>(body),
        "JobListStub[]" => of::<Vec<api::JobListStub>>(body),
        "JobPlanResponse" => of::<api::JobPlanResponse>(body),
        "JobRegisterResponse" => of::<api::JobRegisterResponse>(body),
        "JobSummary" => of::<api::JobSummary>(body),
        "JobValidateResponse" => of::<api::JobValidateResponse>(body),
        "JobVersionsResponse" => of::<api::JobVersionsResponse>(body),
        "MetricsSummary" => of::<api::MetricsSummary>(body),
        "Namespace[]" => of::<Vec<api::Namespace>>(body),
        "Node" => of::<api::Node>(body),
        "NodeListStub[]" => of::<Vec<api::NodeListStub>>(body),
        "SearchResponse" => of::<api::SearchResponse>(body),
        "ServerMembers" => of::<api::ServerMembers>(body),
        "StreamFrame*" => of::<Vec<api::StreamFrame>>(body),
        other => panic!("no type for {other}"),
    }
}

fn compare(recorded: &Value, written: &Value, at: &str, faults: &mut Vec<String>) {
    match (recorded, written) {
        (Value::Object(recorded), Value::Object(written)) => {
            for (key, value) in recorded {
                let at = format!("{at}.{key}");
                match written.get(key) {
                    Some(other) => compare(value, other, &at, faults),
                    None if GONE_SINCE.iter().any(|gone| at.ends_with(gone)) => {}
                    None => faults.push(format!("{at}: lost")),
                }
            }
            for (key, value) in written.iter().filter(|(key, _)| !recorded.contains_key(*key)) {
                if !is_zero(value) {
                    faults.push(format!("{at}.{key}: {value} from nowhere"));
                }
            }
        }
        (Value::Array(recorded), Value::Array(written)) if recorded.len() == written.len() => {
            for (one, other) in recorded.iter().zip(written) {
                compare(one, other, &format!("{at}[]"), faults);
            }
        }
        (one, other) if one == other => {}
        (one, other) => faults.push(format!("{at}: recorded {one}, written {other}")),
    }
}

fn is_zero(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(it) => !it,
        Value::Number(it) => it.as_f64() == Some(0.0),
        Value::String(it) => it.is_empty(),
        Value::Array(it) => it.is_empty(),
        Value::Object(it) => it.values().all(is_zero),
    }
}
