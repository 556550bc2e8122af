//! Whole commands against an agent that answers from a list.

mod jobs;
mod mistakes;
mod run;
mod streams;
mod words;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::*;

/// What is answered at a path, one after the other; the last one again and again.
type Answers = BTreeMap<String, Vec<(u16, u64, String)>>;

/// An agent on a port of its own. It ends with the test's process.
struct Agent {
    address: String,
    answers: Arc<Mutex<Answers>>,
    /// Request lines with their bodies, in order.
    asked: Arc<Mutex<Vec<String>>>,
}

impl Agent {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let (answers, asked) = (Arc::<Mutex<Answers>>::default(), Arc::<Mutex<Vec<String>>>::default());
        let (known, seen) = (Arc::clone(&answers), Arc::clone(&asked));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // Each by itself: whoever waits for two answers at once may leave one half asked.
                let (known, seen) = (Arc::clone(&known), Arc::clone(&seen));
                std::thread::spawn(move || serve(stream, &known, &seen));
            }
        });
        Self { address, answers, asked }
    }

    /// Adds an answer at `GET /v1/…`; queries are not looked at.
    fn at(&self, line: &str, status: u16, index: u64, body: &Value) -> &Self {
        let body = body.as_str().map_or_else(|| body.to_string(), str::to_owned);
        self.answers.lock().unwrap().entry(line.to_owned()).or_default().push((status, index, body));
        self
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

fn serve(stream: TcpStream, answers: &Mutex<Answers>, asked: &Mutex<Vec<String>>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut line = String::new();
    if reader.read_line(&mut line).unwrap_or(0) == 0 {
        return;
    }
    let (mut length, mut header) = (0, String::new());
    while reader.read_line(&mut header).unwrap_or(0) > 2 {
        if let Some(value) = header.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        header.clear();
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let line = line.trim().trim_end_matches(" HTTP/1.1").to_owned();
    asked.lock().unwrap().push(format!("{line} {}", String::from_utf8_lossy(&body)).trim_end().to_owned());
    let key = line.split('?').next().unwrap().to_owned();
    let (status, index, body) = match answers.lock().unwrap().get_mut(&key) {
        Some(list) if list.len() > 1 => list.remove(0),
        Some(list) => list[0].clone(),
        // There is nothing of these, unless the test says so.
        None if key.starts_with("GET /v1/deployment/allocations/") || key == "GET /v1/client/images/pins" => {
            (200, 1, "[]".to_owned())
        }
        None => (404, 0, "Invalid URL".to_owned()),
    };
    let length = body.len();
    let head =
        format!("HTTP/1.1 {status} X\r\nContent-Length: {length}\r\nX-Nomad-Index: {index}\r\nConnection: close");
    let _ = (&stream).write_all(format!("{head}\r\n\r\n{body}").as_bytes());
}

/// What the agent's crates would do in this process.
struct Elsewhere;

impl Local for Elsewhere {
    fn agent(&self, _: &[String]) -> u8 {
        panic!("`agent` is no command of the table")
    }

    /// As many as there are words.
    fn show_config(&self, words: &[String], _: bool) -> u8 {
        u8::try_from(words.len()).unwrap()
    }

    /// As many as there are paths, and 100 for the list or 50 for editors.
    fn validate_config(&self, paths: &[String], form: crate::ConfigVerdict) -> u8 {
        let more = match form {
            crate::ConfigVerdict::Text { effective: true, .. } => 100,
            crate::ConfigVerdict::Text { effective: false, .. } => 0,
            crate::ConfigVerdict::Json => 50,
        };
        u8::try_from(paths.len()).unwrap() + more
    }
}

/// Runs a command and gives back what it wrote, streams and exit code as one text.
fn run_at(address: &str, words: &[&str]) -> String {
    let Found::Command(command, used) = find(words) else { panic!("{words:?} is no command") };
    let (ui, [out, err]) = Ui::captured();
    let mut rest: Vec<String> = words[used..].iter().map(|word| (*word).to_owned()).collect();
    if command.general {
        rest.insert(0, format!("-address={address}"));
    }
    let code = execute(ui, "nomad", command, &rest, Box::new(Elsewhere));
    let part = |name: &str, text: String| if text.is_empty() { String::new() } else { format!("--- {name}\n{text}") };
    format!("{}{}--- exit {code}", part("stdout", out.text()), part("stderr", err.text()))
}

/// Times of this moment as `<t>`.
fn without_times(text: &str) -> String {
    let is_time = |word: &str| {
        let word = word.trim_end_matches(':');
        word.len() == 20 && word.ends_with('Z') && word.as_bytes()[4] == b'-' && word.as_bytes()[10] == b'T'
    };
    let line = |line: &str| {
        let words = line.split(' ').map(|word| match (is_time(word), word.ends_with(':')) {
            (true, true) => "<t>:",
            (true, false) => "<t>",
            (false, _) => word,
        });
        words.collect::<Vec<_>>().join(" ")
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// A file that is gone when the test is.
struct Written(tempfile::TempDir);

impl Written {
    fn path(&self) -> String {
        self.0.path().join("job.hcl").to_str().unwrap().to_owned()
    }
}

fn job_file(text: &str) -> Written {
    let written = Written(tempfile::tempdir().unwrap());
    std::fs::write(written.path(), text).unwrap();
    written
}

const JOB: &str = "job \"web\" {\n  group \"g\" {\n    task \"t\" {\n      driver = \"raw_exec\"\n      config {\n        command = \"/bin/true\"\n      }\n    }\n  }\n}\n";

const EVAL: &str = "95a48e41-dd2c-ae3d-f119-9b7924cd828e";

const DEPLOYMENT: &str = "f0804b9f-47e8-1b0c-d7ca-4b455ef53f61";

const ALLOC: &str = "76876d46-aa12-a655-5557-bf613aa51743";

fn eval(status: &str, deployment: &str) -> Value {
    json!({"ID": EVAL, "JobID": "web", "Status": status, "DeploymentID": deployment, "CreateIndex": 10})
}

fn deployment(status: &str, description: &str, healthy: u64) -> Value {
    json!({
        "ID": DEPLOYMENT, "JobID": "web", "JobVersion": 0, "Status": status, "StatusDescription": description,
        "CreateIndex": 11,
        "TaskGroups": {"g": {"DesiredTotal": 1, "PlacedAllocs": 1, "HealthyAllocs": healthy}},
    })
}

fn alloc(status: &str) -> Value {
    json!({
        "ID": ALLOC, "NodeID": "70536901-7b6d-26e9-2488-3dcc6ae4b468", "JobID": "web", "TaskGroup": "g",
        "DesiredStatus": "run", "ClientStatus": status, "ClientDescription": "Tasks are running", "CreateIndex": 12,
    })
}
