//! What a person or a client gets wrong is told with its place, and harms nobody.

use std::io::{Read, Write};
use std::net::TcpStream;

use longshore_harness::{Agent, AgentSetup, Body, Run};
use serde_json::json;

use crate::support::*;

fn agent(run: &Run) -> Agent {
    Agent::start(run, AgentSetup::new(BINARY)).unwrap()
}

#[track_caller]
fn check_unharmed(agent: &mut Agent) {
    assert!(agent.ended().unwrap().is_none(), "{}", agent.log_tail(10));
    assert_eq!(agent.call("GET", "/v1/agent/health", Body::Empty).unwrap().status, 200);
    assert_eq!(agent.get("/v1/jobs").unwrap(), json!([]));
}

#[test]
fn an_error_in_a_job_file_points_at_line_and_column() {
    let run = Run::start().unwrap();
    let mut agent = agent(&run);
    let said = agent.job_run("broken", "job \"broken\" {\n  group \"g\" {\n    count = = 2\n  }\n}\n").unwrap();
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.stderr.contains("broken.nomad.hcl:3"), "{said:?}");
    assert!(said.stderr.contains(":3,13") || said.stderr.contains(":3:13"), "the column: {said:?}");
    let said = agent.job_run("unknown", "job \"unknown\" {\n  group \"g\" {\n    cuont = 2\n  }\n}\n").unwrap();
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.stderr.contains("unknown.nomad.hcl:3") && said.stderr.contains("cuont"), "{said:?}");
    check_unharmed(&mut agent);
}

#[test]
fn bodies_that_are_no_jobs_are_refused_and_the_agent_goes_on() {
    let run = Run::start().unwrap();
    let mut agent = agent(&run);
    let no_job = json!({ "Job": { "ID": "empty", "Name": "empty", "Type": "service", "Datacenters": ["dc1"],
        "TaskGroups": [{ "Name": "g", "Count": 1, "Tasks": [] }] } });
    let without_groups =
        json!({ "Job": { "ID": "empty", "Name": "empty", "Type": "service", "Datacenters": ["dc1"] } });
    for (what, body) in [
        ("no JSON", Body::Bytes("application/json", b"this is no JSON")),
        ("half a JSON", Body::Bytes("application/json", b"{\"Job\": {")),
        ("another type", Body::Bytes("application/json", b"[1, 2]")),
        ("no tasks", Body::Json(&no_job)),
        ("no groups", Body::Json(&without_groups)),
    ] {
        let answer = agent.call("PUT", "/v1/jobs", body).unwrap();
        assert!((400..500).contains(&answer.status), "{what}: {} {}", answer.status, answer.text());
        assert!(answer.text().len() > 10, "{what}: {}", answer.text());
    }
    check_unharmed(&mut agent);
}

/// The size that is announced, the size that comes without being announced: neither is held in memory.
#[test]
fn a_body_of_two_gigabytes_is_refused() {
    let run = Run::start().unwrap();
    let mut agent = agent(&run);
    let before = resident_bytes(&agent);
    for framing in ["Content-Length: 2147483648", "Transfer-Encoding: chunked"] {
        let mut stream = TcpStream::connect(agent.http_address()).unwrap();
        stream.set_read_timeout(Some(SOON)).unwrap();
        stream.set_write_timeout(Some(SOON)).unwrap();
        let host = agent.http_address();
        stream.write_all(format!("PUT /v1/jobs HTTP/1.1\r\nHost: {host}\r\n{framing}\r\n\r\n").as_bytes()).unwrap();
        let mebibyte = vec![b' '; 1 << 20];
        for _ in 0..2048 {
            let piece = match framing.starts_with("Transfer") {
                true => [format!("{:x}\r\n", mebibyte.len()).as_bytes(), &mebibyte, b"\r\n"].concat(),
                false => mebibyte.clone(),
            };
            if stream.write_all(&piece).is_err() {
                break;
            }
        }
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).unwrap();
        assert_eq!(&answer, b"HTTP/1.1 413", "{framing}");
    }
    let grown = resident_bytes(&agent).saturating_sub(before);
    assert!(grown < 256 << 20, "{} MiB more than before", grown >> 20);
    check_unharmed(&mut agent);
}

fn resident_bytes(agent: &Agent) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", agent.pid())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches("kB").trim().parse::<u64>().unwrap() * 1024
}

/// A block that this build does not act on is refused when the job is submitted: nothing starts without what it asked for.
#[test]
fn a_block_that_is_not_acted_on_is_refused_by_name_and_line() {
    let run = Run::start().unwrap();
    let mut agent = agent(&run);
    let text = "job \"vaulted\" {\n  group \"g\" {\n    task \"t\" {\n      driver = \"raw_exec\"\n      config {\n        command = \"/bin/true\"\n      }\n      artifact {\n        source = \"http://127.0.0.1/x\"\n      }\n    }\n  }\n}\n";
    let said = agent.job_run("vaulted", text).unwrap();
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.stderr.contains("artifact"), "{said:?}");
    assert!(said.stderr.contains("vaulted.nomad.hcl:8"), "{said:?}");
    check_unharmed(&mut agent);
}
