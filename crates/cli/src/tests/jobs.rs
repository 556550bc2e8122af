use super::*;

#[test]
fn planning_tells_by_its_exit_code() {
    let agent = Agent::start();
    let file = job_file(JOB);
    let path = file.path();
    let plan = |place: u64, kind: &str| {
        json!({
            "JobModifyIndex": 7, "Diff": {"Type": kind, "ID": "web", "TaskGroups": []},
            "Annotations": {"DesiredTGUpdates": {"g": {"Place": place, "Ignore": 1}}},
        })
    };
    agent.at("PUT /v1/job/web/plan", 200, 7, &plan(1, "Added")).at("PUT /v1/job/web/plan", 200, 7, &plan(0, "None"));
    agent.at("PUT /v1/job/web/plan", 500, 7, &json!("1 error occurred:\n\t* Missing job datacenters\n\n"));
    let text = run_at(&agent.address, &["plan", "-namespace", "default", &path]).replace(&path, "plan.hcl");
    insta::assert_snapshot!(text, @r#"
    --- stdout
    + Job: "web"

    Scheduler dry-run:
    - All tasks successfully allocated.

    Job Modify Index: 7
    To submit the job with version verification run:

    nomad job run -check-index 7 -namespace="default" plan.hcl

    With -check-index the job is only run while the server still has it at this index.
    If somebody has changed it since, what was planned here may not hold any more, and
    the run is refused.
    --- exit 1
    "#);
    assert!(run_at(&agent.address, &["plan", &path]).ends_with("--- exit 0"));
    insta::assert_snapshot!(run_at(&agent.address, &["plan", &path]), @"
    --- stderr
    Error during plan: Unexpected response code: 500 (1 error occurred:
    	* Missing job datacenters

    )
    --- exit 255
    ");
    insta::assert_snapshot!(run_at(&agent.address, &["plan", "no-such.hcl"]), @r#"
    --- stderr
    Error getting job struct: Error getting jobfile from "no-such.hcl": source path error: No such file or directory (os error 2)
    --- exit 255
    "#);
}

#[test]
fn errors_of_job_files_point_at_the_line() {
    let file = job_file("job \"web\" {\n  typ = \"service\"\n}\n");
    let path = file.path();
    let text = run_at("http://127.0.0.1:1", &["job", "run", &path]).replace(&path, "bad.hcl");
    assert!(
        text.starts_with("--- stderr\nError getting job struct: Error parsing job file from bad.hcl:\nbad.hcl:2:3: "),
        "{text}"
    );
    assert!(text.ends_with("--- exit 1"), "{text}");
}

/// Whatever command sends the job, what the server finds wrong with it is shown where it stands.
#[test]
fn what_the_server_finds_is_shown_in_the_file() {
    let text = r#"job "web" {
  priority = 500
  group "g" {
    task "t" {
      driver = "docker"
      config {
        image = "a"
        mount {
          target = "/a"
        }
        mount {
          target = "b"
        }
        labels = { "longshore.x" = "y", z = "1" }
      }
      resources { cpu = 0 }
    }
  }
}
"#;
    let task = "group \"g\" → task \"t\"";
    let of_config = |rest: &str| format!("{task} → config: config.{rest}");
    let (mount, labels) = (of_config("mount[1].target \"b\" is not an absolute path"), of_config("labels: no"));
    let error = format!(
        "4 errors occurred:\n\t* job priority must be between [1, 100]\n\t* Task group g validation failed: 1 error \
         occurred:\n\t* Task t validation failed: 1 error occurred:\n\t* minimum CPU value is 1; got \
         0\n\n\n\n\t* {mount}\n\t* {labels}\n\n"
    );
    let fault = |path: String, message: &str| json!({"Path": path, "Message": message});
    let faults = json!([
        fault("priority".to_owned(), "job priority must be between [1, 100]"),
        fault(format!("{task} → resources → cpu"), "minimum CPU value is 1; got 0"),
        fault(format!("{task} → config → mount[1] → target"), &mount),
        fault(format!("{task} → config → labels → longshore.x"), &labels),
    ]);
    let agent = Agent::start();
    let refusal = json!({"Error": error, "Faults": faults});
    agent.at("PUT /v1/jobs", 400, 7, &refusal).at("PUT /v1/job/web/plan", 400, 7, &refusal);
    agent.at("PUT /v1/validate/job", 200, 7, &refusal);
    let file = job_file(text);
    let path = file.path();
    let told = |words: &[&str]| run_at(&agent.address, &[words, &[path.as_str()]].concat()).replace(&path, "web.hcl");
    let run = told(&["job", "run"]);
    insta::assert_snapshot!(run, @r#"
    --- stderr
    Error submitting job: Unexpected response code: 400 (4 errors occurred:
    	* job priority must be between [1, 100]
        web.hcl:2:3
        2 |   priority = 500
          |   ^^^^^^^^
    	* Task group g validation failed: 1 error occurred:
    	* Task t validation failed: 1 error occurred:
    	* minimum CPU value is 1; got 0
        web.hcl:16:19
        16 |       resources { cpu = 0 }
           |                   ^^^



    	* group "g" → task "t" → config: config.mount[1].target "b" is not an absolute path
        web.hcl:12:11
        12 |           target = "b"
           |           ^^^^^^
    	* group "g" → task "t" → config: config.labels: no
        web.hcl:14:20
        14 |         labels = { "longshore.x" = "y", z = "1" }
           |                    ^^^^^^^^^^^^^

    )
    --- exit 1
    "#);
    let body = |text: &str| text.lines().filter(|line| line.starts_with("    ")).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(body(&told(&["job", "plan"])), body(&run));
    assert_eq!(body(&told(&["job", "validate"])), body(&run));
    assert!(agent.asked().iter().all(|line| line.contains("?faults=json ")), "{:?}", agent.asked());
    let told: Value = serde_json::from_str(
        told(&["job", "validate", "-diagnostics", "json"])
            .lines()
            .skip(1)
            .filter(|line| !line.starts_with("---"))
            .collect::<String>()
            .as_str(),
    )
    .unwrap();
    let places: Vec<_> =
        told["diagnostics"].as_array().unwrap().iter().map(|one| one["place"]["line"].as_u64()).collect();
    assert_eq!(places, [Some(2), Some(16), Some(12), Some(14)]);
}

#[test]
fn stopping_asks_only_when_a_prefix_was_given() {
    let agent = Agent::start();
    agent.at(
        "GET /v1/jobs",
        200,
        5,
        &json!([{"ID": "web", "Namespace": "default", "Type": "service", "Status": "running"}]),
    );
    agent.at("DELETE /v1/job/web", 200, 10, &json!({"EvalID": EVAL}));
    insta::assert_snapshot!(run_at(&agent.address, &["job", "stop", "-detach", "-purge", "web"]), @"
    --- stdout
    95a48e41-dd2c-ae3d-f119-9b7924cd828e
    --- exit 0
    ");
    assert_eq!(
        agent.asked().last().unwrap(),
        "DELETE /v1/job/web?namespace=default&purge=true&global=false&no_shutdown_delay=false&eval_priority=0"
    );
    // A job that a stop cancels the deployment of has been stopped as asked.
    agent.at(&format!("GET /v1/evaluation/{EVAL}"), 200, 14, &eval("complete", DEPLOYMENT));
    agent.at(&format!("GET /v1/evaluation/{EVAL}/allocations"), 200, 14, &json!([]));
    agent.at(
        &format!("GET /v1/deployment/{DEPLOYMENT}"),
        200,
        14,
        &deployment("cancelled", "Cancelled because job is stopped", 0),
    );
    assert!(run_at(&agent.address, &["stop", "-yes", "we"]).ends_with("--- exit 0"));
}

#[test]
fn what_belongs_to_a_job_is_listed() {
    let agent = Agent::start();
    agent.at("GET /v1/jobs", 200, 14, &json!([{"ID": "web", "Namespace": "default"}]));
    agent.at("GET /v1/job/web/allocations", 200, 14, &json!([alloc("running")]));
    let older = json!({"ID": "bda0f22d-0000", "JobID": "web", "JobVersion": 3, "Status": "failed", "CreateIndex": 2});
    agent.at(
        "GET /v1/job/web/deployments",
        200,
        14,
        &json!([older, deployment("running", "Deployment is running", 0)]),
    );
    agent.at("GET /v1/job/web/deployment", 200, 14, &Value::Null);
    let allocs = run_at(&agent.address, &["job", "allocs", "we"]);
    assert!(allocs.contains("76876d46  70536901  g           0        run      running"), "{allocs}");
    insta::assert_snapshot!(run_at(&agent.address, &["job", "deployments", "web"]), @"
    --- stdout
    ID        Job ID  Job Version  Status   Description
    f0804b9f  web     0            running  Deployment is running
    bda0f22d  web     3            failed   <none>
    --- exit 0
    ");
    let latest = run_at(&agent.address, &["job", "deployments", "-latest", "web"]);
    assert_eq!(latest, "--- stdout\nNo deployment found\n--- exit 0");
    assert!(agent.asked().contains(&"GET /v1/job/web/deployments?namespace=default&all=false".to_owned()));
}

#[test]
fn an_earlier_version_comes_back_and_a_job_is_looked_at_anew() {
    let agent = Agent::start();
    agent.at("GET /v1/jobs", 200, 14, &json!([{"ID": "web", "Namespace": "default"}]));
    agent.at("PUT /v1/job/web/revert", 200, 14, &json!({"EvalID": EVAL}));
    agent.at("PUT /v1/job/web/evaluate", 200, 14, &json!({"EvalID": EVAL}));
    let bad = run_at(&agent.address, &["job", "revert", "web", "x"]);
    insta::assert_snapshot!(bad, @r#"
    --- stderr
    Failed to parse job-version flag: strconv.ParseUint: parsing "x": invalid syntax
    --- exit 1
    "#);
    insta::assert_snapshot!(run_at(&agent.address, &["job", "revert", "-detach", "web", "0"]), @"
    --- stdout
    Evaluation ID: 95a48e41-dd2c-ae3d-f119-9b7924cd828e
    --- exit 0
    ");
    let told = run_at(&agent.address, &["job", "eval", "-detach", "-force-reschedule", "web"]);
    assert_eq!(told, "--- stdout\nCreated eval ID: \"95a48e41\" \n--- exit 0");
    let asked = agent.asked().join("\n");
    assert!(asked.contains("\"JobVersion\":0") && asked.contains("\"ForceReschedule\":true"), "{asked}");
}

#[test]
fn evaluations_servers_and_the_agent_itself() {
    let agent = Agent::start();
    agent.at("GET /v1/evaluations", 200, 14, &json!([eval("complete", "")]));
    let member = json!({"Name": "a.global", "Addr": "127.0.0.1", "Port": 4648, "Status": "alive", "ProtocolCur": 2, "Tags":
        {"rpc_addr": "127.0.0.1", "port": "4647", "raft_vsn": "3", "build": "1.6.3", "dc": "dc1", "region": "global"}});
    agent.at("GET /v1/agent/members", 200, 14, &json!({"ServerName": "a", "Members": [member]}));
    agent.at("GET /v1/status/leader", 200, 14, &json!("\"127.0.0.1:4647\""));
    let stats = json!({"nomad": {"server": "true", "leader": "true"}, "client": {"num_allocations": "0"}});
    agent.at("GET /v1/agent/self", 200, 14, &json!({ "stats": stats }));
    let commands =
        [&["eval", "list"][..], &["server", "members"], &["server", "members", "-detailed"], &["agent-info"]];
    let told: Vec<String> = commands.iter().map(|words| run_at(&agent.address, words)).collect();
    insta::assert_snapshot!(told.join("\n"), @"
    --- stdout
    ID        Priority  Triggered By  Job ID  Namespace  Node ID  Status    Placement Failures
    95a48e41  0         <none>        web     <none>     <none>   complete  false
    --- exit 0
    --- stdout
    Name      Address    Port  Status  Leader  Raft Version  Build  Datacenter  Region
    a.global  127.0.0.1  4648  alive   true    3             1.6.3  dc1         global
    --- exit 0
    --- stdout
    Name      Address    Port  Tags
    a.global  127.0.0.1  4648  build=1.6.3,dc=dc1,port=4647,raft_vsn=3,region=global,rpc_addr=127.0.0.1
    --- exit 0
    --- stdout
    client
      num_allocations = 0
    nomad
      leader = true
      server = true
    --- exit 0
    ");
}

#[test]
fn an_example_job_is_written_once_and_can_be_read() {
    let file = job_file("");
    let path = file.path();
    std::fs::remove_file(&path).unwrap();
    assert_eq!(
        run_at("http://127.0.0.1:1", &["job", "init", &path]),
        format!("--- stdout\nExample job file written to {path}\n--- exit 0")
    );
    assert_eq!(
        run_at("http://127.0.0.1:1", &["init", &path]),
        format!("--- stderr\nJob '{path}' already exists\n--- exit 1")
    );
    let text = run_at("http://127.0.0.1:1", &["run", "-output", &path]);
    assert!(text.contains("\"Name\": \"redis\"") && text.ends_with("--- exit 0"), "{text}");
    std::fs::remove_file(&path).unwrap();
    run_at("http://127.0.0.1:1", &["init", "-short", &path]);
    assert!(run_at("http://127.0.0.1:1", &["run", "-output", &path]).ends_with("--- exit 0"));
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn ids_reach_the_agent_as_they_are_written() {
    for (id, path) in [
        ("..", ".."),
        ("a/../b", "a%2F..%2Fb"),
        ("a/plan", "a%2Fplan"),
        ("%2F", "%252F"),
        ("a?b#c&d=e", "a%3Fb%23c%26d%3De"),
        ("a+b", "a%2Bb"),
        ("-detach", "-detach"),
        ("日本", "%E6%97%A5%E6%9C%AC"),
    ] {
        let agent = Agent::start();
        agent.at("GET /v1/jobs", 200, 5, &json!([{"ID": id, "Name": id}]));
        let lines = [("stop", "DELETE"), ("history", "GET"), ("inspect", "GET"), ("status", "GET")];
        for (command, method) in lines {
            let told = run_at(&agent.address, &["job", command, "--", id]);
            let asked = agent.asked();
            assert!(asked[0].starts_with(&format!("GET /v1/jobs?prefix={path}")), "{command} {id}: {asked:?} {told}");
            let of_job = format!("{method} /v1/job/{path}");
            let reached = |line: &&String| {
                line.strip_prefix(&of_job).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
            };
            assert!(asked.iter().any(|line| reached(&line)), "{command} {id}: {asked:?} {told}");
            agent.asked.lock().unwrap().clear();
        }
    }
}

#[test]
fn editors_get_mistakes_as_json() {
    let file = job_file("job \"web\" {\n  typ = \"service\"\n}\n");
    let path = file.path();
    let text =
        run_at("http://127.0.0.1:1", &["job", "validate", "-diagnostics", "json", &path]).replace(&path, "bad.hcl");
    insta::assert_snapshot!(text, @r#"
    --- stdout
    {
        "diagnostics": [
            {
                "hint": "did you mean \"type\"?",
                "place": {
                    "column": 3,
                    "file": "bad.hcl",
                    "line": 2,
                    "line_text": "  typ = \"service\"",
                    "width": 3
                },
                "severity": "error",
                "summary": "there is no attribute \"typ\" in job"
            }
        ],
        "valid": false
    }
    --- exit 1
    "#);
    let agent = Agent::start();
    agent.at("PUT /v1/validate/job", 200, 7, &json!({"Error": "1 error occurred:\n\t* group \"g\" → ui: no\n\n"}));
    let file = job_file(JOB);
    let text = run_at(&agent.address, &["job", "validate", "-diagnostics", "json", &file.path()]);
    assert!(text.contains("\"line\":") && text.contains("\"summary\": \"group \\\"g\\\" → ui: no\""), "{text}");
    let text = run_at(&agent.address, &["job", "validate", "-diagnostics", "xml", &file.path()]);
    assert!(text.contains("-diagnostics takes \"text\" or \"json\", not \"xml\""), "{text}");
}

#[test]
fn files_are_put_into_their_form() {
    let file = job_file("job \"web\"   {\n typ=1\n}\n");
    let path = file.path();
    assert!(run_at("", &["fmt", "-check", &path]).ends_with("--- exit 1"));
    assert_eq!(run_at("", &["fmt", &path]), format!("--- stdout\n{path}\n--- exit 0"));
    assert_eq!(run_at("", &["fmt", &path]), "--- exit 0");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "job \"web\" {\n  typ = 1\n}\n");
}
