use super::*;
use crate::monitor::{Cancelled, Followed, Monitor};

#[test]
fn running_a_job_follows_evaluation_and_deployment() {
    let agent = Agent::start();
    let (eval_path, deployment_path) =
        (format!("GET /v1/evaluation/{EVAL}"), format!("GET /v1/deployment/{DEPLOYMENT}"));
    let allocs_path = format!("GET /v1/evaluation/{EVAL}/allocations");
    agent.at("PUT /v1/jobs", 200, 10, &json!({"EvalID": EVAL, "JobModifyIndex": 10, "Warnings": ""}));
    agent.at(&eval_path, 200, 10, &eval("pending", "")).at(&eval_path, 200, 14, &eval("complete", DEPLOYMENT));
    agent.at(&allocs_path, 200, 10, &json!([])).at(&allocs_path, 200, 14, &json!([alloc("pending")]));
    agent.at(&deployment_path, 200, 14, &deployment("running", "Deployment is running", 0));
    agent.at(&deployment_path, 200, 15, &deployment("running", "Deployment is running", 0));
    agent.at(&deployment_path, 200, 20, &deployment("successful", "Deployment completed successfully", 1));
    let file = job_file(JOB);
    let path = file.path();
    insta::assert_snapshot!(without_times(&run_at(&agent.address, &["job", "run", &path])), @r#"
    --- stdout
    ==> <t>: Monitoring evaluation "95a48e41"
        <t>: Evaluation triggered by job "web"
        <t>: Evaluation within deployment: "f0804b9f"
        <t>: Allocation "76876d46" created: node "70536901", group "g"
        <t>: Evaluation status changed: "pending" -> "complete"
    ==> <t>: Evaluation "95a48e41" finished with status "complete"
    ==> <t>: Monitoring deployment "f0804b9f"
        <t>
        ID          = f0804b9f
        Job ID      = web
        Job Version = 0
        Status      = running
        Description = Deployment is running

        Deployed
        Task Group  Desired  Placed  Healthy  Unhealthy
        g           1        1       0        0

        <t>
        ID          = f0804b9f
        Job ID      = web
        Job Version = 0
        Status      = successful
        Description = Deployment completed successfully

        Deployed
        Task Group  Desired  Placed  Healthy  Unhealthy
        g           1        1       1        0

    --- exit 0
    "#);
    let asked = agent.asked();
    let register: Value = serde_json::from_str(asked[0].strip_prefix("PUT /v1/jobs?faults=json ").unwrap()).unwrap();
    assert_eq!(
        register["Submission"],
        json!({"Source": JOB, "Format": "hcl2", "VariableFlags": null, "Variables": ""})
    );
    assert_eq!((&register["Job"]["ID"], &register["EnforceIndex"]), (&json!("web"), &json!(false)));
    // Each look waits for what is newer than the one before.
    let waits: Vec<&str> = asked
        .iter()
        .filter(|line| line.contains("index=") && !line.contains("deployment/allocations"))
        .map(|line| line.split(' ').nth(1).unwrap())
        .collect();
    let expected = [
        format!("/v1/evaluation/{EVAL}?index=0&wait=60s"),
        format!("/v1/evaluation/{EVAL}?index=10&wait=60s"),
        format!("/v1/deployment/{DEPLOYMENT}?index=0&wait=60s"),
        format!("/v1/deployment/{DEPLOYMENT}?index=14&wait=60s"),
        format!("/v1/deployment/{DEPLOYMENT}?index=15&wait=60s"),
    ];
    assert_eq!(waits, expected);
}

#[test]
fn a_failed_deployment_is_followed_through_its_rollback() {
    let agent = Agent::start();
    let rollback = "bda0f22d-9b3d-c701-07b8-b7b8dfb0b41d";

    agent.at(
        &format!("GET /v1/deployment/{DEPLOYMENT}"),
        200,
        14,
        &deployment("failed", "Failed due to progress deadline - rolling back to job version 2", 0),
    );
    let mut next = deployment("successful", "Deployment completed successfully", 1);
    next["ID"] = json!(rollback);
    next["CreateIndex"] = json!(20);
    agent.at("GET /v1/job/web/deployments", 200, 14, &json!([deployment("failed", "", 0)]));
    agent.at("GET /v1/job/web/deployments", 200, 20, &json!([next.clone(), deployment("failed", "", 0)]));
    agent.at(&format!("GET /v1/deployment/{rollback}"), 200, 21, &next);
    insta::assert_snapshot!(without_times(&run_at(&agent.address, &["deployment", "status", "-monitor", DEPLOYMENT])), @r#"
    --- stdout
    ==> <t>: Monitoring deployment "f0804b9f"
        <t>
        ID          = f0804b9f
        Job ID      = web
        Job Version = 0
        Status      = failed
        Description = Failed due to progress deadline - rolling back to job version 2

        Deployed
        Task Group  Desired  Placed  Healthy  Unhealthy
        g           1        1       0        0

    ==> <t>: Monitoring deployment "bda0f22d"
        <t>
        ID          = bda0f22d
        Job ID      = web
        Job Version = 0
        Status      = successful
        Description = Deployment completed successfully

        Deployed
        Task Group  Desired  Placed  Healthy  Unhealthy
        g           1        1       1        0

    --- exit 1
    "#);
}

#[test]
fn what_goes_wrong_is_told_while_it_is_waited_for() {
    let agent = Agent::start();
    let mut failing = alloc("pending");
    failing["TaskStates"] = json!({"t": {"State": "pending", "Events": [
        {"Type": "Driver", "DisplayMessage": "Downloading image"},
        {"Type": "Driver Failure", "DisplayMessage": "could not pull image web:2: not found"},
        {"Type": "Restarting", "DisplayMessage": "Task restarting in 15s", "StartDelay": 15_000_000_000_i64},
    ]}});
    let deployment_path = format!("GET /v1/deployment/{DEPLOYMENT}");
    agent.at(&format!("GET /v1/deployment/allocations/{DEPLOYMENT}"), 200, 12, &json!([failing]));
    // The first one is asked for to know which deployment is meant.
    agent.at(&deployment_path, 200, 14, &deployment("running", "Deployment is running", 0));
    agent.at(&deployment_path, 200, 14, &deployment("running", "Deployment is running", 0));
    agent.at(&deployment_path, 200, 15, &deployment("failed", "Failed due to progress deadline", 0));
    insta::assert_snapshot!(without_times(&run_at(&agent.address, &["deployment", "status", "-monitor", DEPLOYMENT])), @r#"
    --- stdout
    ==> <t>: Monitoring deployment "f0804b9f"
        <t>
        ID          = f0804b9f
        Job ID      = web
        Job Version = 0
        Status      = running
        Description = Deployment is running

        Deployed
        Task Group  Desired  Placed  Healthy  Unhealthy
        g           1        1       0        0

        <t>: Allocation "76876d46" task "t": could not pull image web:2: not found, restarting in 15s

        <t>
        ID          = f0804b9f
        Job ID      = web
        Job Version = 0
        Status      = failed
        Description = Failed due to progress deadline

        Deployed
        Task Group  Desired  Placed  Healthy  Unhealthy
        g           1        1       0        0

    --- exit 1
    "#);
}

#[test]
fn what_found_no_room_exits_with_two() {
    let agent = Agent::start();
    let mut eval = eval("complete", "");
    eval["FailedTGAllocs"] = json!({"g": {"NodesEvaluated": 0, "NodesAvailable": {"dc9": 0}}});
    eval["BlockedEval"] = json!("8c086379-0000-0000-0000-000000000000");
    agent.at(&format!("GET /v1/evaluation/{EVAL}"), 200, 14, &eval);
    agent.at(&format!("GET /v1/evaluation/{EVAL}/allocations"), 200, 14, &json!([]));
    agent.at("PUT /v1/jobs", 200, 10, &json!({"EvalID": EVAL, "Warnings": "1 warning(s):\n\n* this is odd"}));
    let file = job_file(JOB);
    let path = file.path();
    insta::assert_snapshot!(without_times(&run_at(&agent.address, &["run", &path])), @r#"
    --- stdout
    Job Warnings:
    1 warning(s):

    * this is odd

    ==> <t>: Monitoring evaluation "95a48e41"
        <t>: Evaluation triggered by job "web"
        <t>: Evaluation status changed: "pending" -> "complete"
    ==> <t>: Evaluation "95a48e41" finished with status "complete" but failed to place all allocations:
        <t>: Task Group "g" (failed to place 1 allocation):
          * No nodes were eligible for evaluation
          * No nodes are available in datacenter "dc9"
        <t>: Evaluation "8c086379" waiting for additional capacity to place remainder
    --- exit 2
    "#);
    insta::assert_snapshot!(run_at(&agent.address, &["run", "-detach", &path]), @"
    --- stdout
    Job Warnings:
    1 warning(s):

    * this is odd

    Job registration successful
    Evaluation ID: 95a48e41-dd2c-ae3d-f119-9b7924cd828e
    --- exit 0
    ");
}

#[test]
fn what_waits_for_room_is_followed_with_a_word_on_how_to_leave() {
    let agent = Agent::start();
    let mut waiting = eval("complete", DEPLOYMENT);
    waiting["FailedTGAllocs"] =
        json!({"g": {"NodesEvaluated": 1, "NodesExhausted": 1, "DimensionExhausted": {"memory": 1}}});
    waiting["BlockedEval"] = json!("8c086379-0000-0000-0000-000000000000");
    let deployment_path = format!("GET /v1/deployment/{DEPLOYMENT}");
    agent.at(&format!("GET /v1/evaluation/{EVAL}"), 200, 14, &waiting);
    agent.at(&format!("GET /v1/evaluation/{EVAL}/allocations"), 200, 14, &json!([]));
    agent.at("PUT /v1/jobs", 200, 10, &json!({"EvalID": EVAL}));
    agent.at(&deployment_path, 200, 20, &deployment("successful", "Deployment completed successfully", 1));
    let file = job_file(JOB);
    insta::assert_snapshot!(without_times(&run_at(&agent.address, &["run", &file.path()])), @r#"
    --- stdout
    ==> <t>: Monitoring evaluation "95a48e41"
        <t>: Evaluation triggered by job "web"
        <t>: Evaluation within deployment: "f0804b9f"
        <t>: Evaluation status changed: "pending" -> "complete"
    ==> <t>: Evaluation "95a48e41" finished with status "complete" but failed to place all allocations:
        <t>: Task Group "g" (failed to place 1 allocation):
          * Resources exhausted on 1 nodes
          * Dimension "memory" exhausted on 1 nodes
        <t>: Evaluation "8c086379" waiting for additional capacity to place remainder
        <t>: It goes on when there is room: when other jobs end or shrink, a node joins, or this job is run again asking for less
        <t>: Until then this waits. Ctrl-C leaves the job as it is; run with -detach nothing is waited for
    ==> <t>: Monitoring deployment "f0804b9f"
        <t>
        ID          = f0804b9f
        Job ID      = web
        Job Version = 0
        Status      = successful
        Description = Deployment completed successfully

        Deployed
        Task Group  Desired  Placed  Healthy  Unhealthy
        g           1        1       1        0

    --- exit 2
    "#);
    waiting["FailedTGAllocs"] =
        json!({"g": {"NodesEvaluated": 1, "ConstraintFiltered": {"${attr.kernel.name} = windows": 1}}});
    let other = Agent::start();
    other.at(&format!("GET /v1/evaluation/{EVAL}"), 200, 14, &waiting);
    other.at(&format!("GET /v1/evaluation/{EVAL}/allocations"), 200, 14, &json!([]));
    other.at("PUT /v1/jobs", 200, 10, &json!({"EvalID": EVAL}));
    other.at(&deployment_path, 200, 20, &deployment("successful", "Deployment completed successfully", 1));
    let told = run_at(&other.address, &["run", &file.path()]);
    assert!(told.contains(": It goes on when a node that fits joins or becomes eligible, or when"), "{told}");
}

#[test]
fn who_leaves_is_told_how_to_look_again() {
    let agent = Agent::start();
    let (eval_path, deployment_path) =
        (format!("GET /v1/evaluation/{EVAL}"), format!("GET /v1/deployment/{DEPLOYMENT}"));
    agent.at(&eval_path, 200, 14, &eval("complete", DEPLOYMENT));
    agent.at(&format!("GET /v1/evaluation/{EVAL}/allocations"), 200, 14, &json!([]));
    agent.at(&deployment_path, 200, 20, &deployment("running", "Deployment is running", 0));
    let rows = [
        // Until something is asked for the second time, which an answer that says nothing new leads to.
        (Followed::Evaluation(EVAL.to_owned()), format!("{deployment_path}?index=20&wait=60s")),
        (Followed::Deployment(DEPLOYMENT.to_owned()), format!("{deployment_path}?index=20&wait=60s")),
        (Followed::Evaluation(EVAL.to_owned()), String::new()),
    ];
    let mut told = Vec::new();
    for (first, until) in rows {
        let (mut ui, [_, err]) = Ui::captured();
        let client = Client::new(&agent.address, Secret::default(), Secret::default(), "", "").unwrap();
        let interrupted = async {
            while !until.is_empty() && !agent.asked().contains(&until) {
                tokio::task::yield_now().await;
            }
        };
        let monitor =
            Monitor { ui: &mut ui, client: &client, program: "nomad", verbose: false, cancelled: Cancelled::IsFailure };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let ended = runtime.block_on(monitor.follow(first, interrupted));
        told.push(format!("{}\n--- exit {}", without_times(&err.text()), ended.code()));
        agent.asked.lock().unwrap().clear();
    }
    insta::assert_snapshot!(told.join("\n"), @r#"
    ==> <t>: No longer monitored: deployment "f0804b9f" goes on.
        <t>: To look again: nomad deployment status -monitor f0804b9f
    --- exit 130
    ==> <t>: No longer monitored: deployment "f0804b9f" goes on.
        <t>: To look again: nomad deployment status -monitor f0804b9f
    --- exit 130
    ==> <t>: No longer monitored: evaluation "95a48e41" goes on.
        <t>: To look again: nomad eval status -monitor 95a48e41
    --- exit 130
    "#);
}

#[test]
fn a_job_that_is_not_at_the_asked_index_is_not_run() {
    let agent = Agent::start();
    agent.at("PUT /v1/jobs", 500, 0, &json!("Enforcing job modify index 99: job does not exist"));
    let file = job_file(JOB);
    let path = file.path();
    insta::assert_snapshot!(run_at(&agent.address, &["job", "run", "-check-index", "99", &path]), @"
    --- stderr
    Enforcing job modify index 99: job does not exist
    Job not updated
    --- exit 1
    ");
    assert!(agent.asked()[0].contains("\"EnforceIndex\":true,\"JobModifyIndex\":99"));
    insta::assert_snapshot!(run_at(&agent.address, &["job", "run", "-check-index", "abc", &path]), @r#"
    --- stderr
    Error parsing check-index value "abc": strconv.ParseUint: parsing "abc": invalid syntax
    --- exit 1
    "#);
}
