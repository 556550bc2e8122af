use super::*;

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
    let register: Value = serde_json::from_str(asked[0].strip_prefix("PUT /v1/jobs ").unwrap()).unwrap();
    assert_eq!(
        register["Submission"],
        json!({"Source": JOB, "Format": "hcl2", "VariableFlags": null, "Variables": ""})
    );
    assert_eq!((&register["Job"]["ID"], &register["EnforceIndex"]), (&json!("web"), &json!(false)));
    // Each look waits for what is newer than the one before.
    let waits: Vec<&str> =
        asked.iter().filter(|line| line.contains("index=")).map(|line| line.split(' ').nth(1).unwrap()).collect();
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
