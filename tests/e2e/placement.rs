//! Where there is no room, and when there is again; what becomes of an update that does not work.

use longshore_harness::{Agent, AgentSetup, Run};

use crate::support::*;

fn agent(run: &Run) -> Agent {
    Agent::start(run, AgentSetup::new(BINARY)).unwrap()
}

/// A job of one plain process.
fn job(id: &str, memory: u64, command: &str) -> String {
    format!(
        r#"job "{id}" {{
  update {{
    min_healthy_time  = "100ms"
    healthy_deadline  = "20s"
    progress_deadline = "40s"
    auto_revert       = true
  }}
  group "g" {{
    restart {{
      attempts = 0
      mode     = "fail"
    }}
    reschedule {{
      attempts  = 0
      unlimited = false
    }}
    task "t" {{
      driver = "raw_exec"
      config {{
        command = "/bin/sh"
        args    = ["-c", "{command}"]
      }}
      resources {{
        cpu    = 20
        memory = {memory}
      }}
    }}
  }}
}}
"#
    )
}

fn memory_of_node(agent: &Agent) -> u64 {
    let id = text(&agent.get("/v1/nodes").unwrap()[0], "ID");
    agent.get(&format!("/v1/node/{id}")).unwrap()["NodeResources"]["Memory"]["MemoryMB"].as_u64().unwrap()
}

fn submit_text(agent: &Agent, id: &str, text: &str) -> longshore_harness::CliOutput {
    let path = agent.file_path(&format!("{id}.nomad.hcl"));
    std::fs::write(&path, text).unwrap();
    agent.cli(&["job", "run", "-detach", path.to_str().unwrap()]).unwrap().success(&format!("submit {id}")).unwrap()
}

#[test]
fn what_finds_no_room_says_why_and_goes_on_when_there_is_some() {
    let run = Run::start().unwrap();
    let agent = agent(&run);
    let most = memory_of_node(&agent) * 3 / 4;
    submit_text(&agent, "first", &job("first", most, "sleep 600"));
    wait_running(&agent, "first", 1);
    submit_text(&agent, "second", &job("second", most, "sleep 600"));

    let said = longshore_harness::eventually(SOON, "a blocked evaluation", || {
        let said = agent.cli(&["job", "status", "second"]).map_err(|error| error.to_string())?.stdout;
        if said.contains("Placement Failure") { Ok(said) } else { Err(said) }
    })
    .unwrap();
    assert!(said.contains("Dimension \"memory\" exhausted on 1 nodes"), "{said}");
    let evaluations = agent.get("/v1/job/second/evaluations").unwrap();
    assert!(evaluations.as_array().unwrap().iter().any(|it| it["Status"] == "blocked"), "{evaluations}");

    agent.cli(&["job", "stop", "-detach", "first"]).unwrap().success("stop first").unwrap();
    wait_running(&agent, "second", 1);
}

#[test]
fn an_update_that_does_not_work_is_taken_back() {
    let run = Run::start().unwrap();
    let agent = agent(&run);
    agent.job_run("shop", &job("shop", 16, "sleep 600")).unwrap().success("run the first version").unwrap();
    let before = wait_running(&agent, "shop", 1);
    let said = agent.job_run("shop", &job("shop", 16, "exit 3")).unwrap();
    assert_eq!(said.code, 1, "the deployment failed, and the command says so: {said:?}");

    let after = wait_running(&agent, "shop", 1);
    assert_ne!(before, after);
    let now = agent.get("/v1/job/shop").unwrap();
    assert_eq!(now["Version"], 2, "the first version again, as a new one");
    assert!(now["TaskGroups"][0]["Tasks"][0]["Config"]["args"][1] == "sleep 600", "{now}");
    let deployments = agent.get("/v1/job/shop/deployments").unwrap();
    let failed =
        deployments.as_array().unwrap().iter().find(|it| it["Status"] == "failed").cloned().unwrap_or_default();
    assert!(text(&failed, "StatusDescription").contains("rolling back to job version 0"), "{deployments}");
}
