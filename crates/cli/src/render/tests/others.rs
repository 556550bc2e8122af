use super::{read, verbose, view_at};
use crate::render::{deployment, eval};

#[test]
fn deployments() {
    let mut all: Vec<longshore_api::Deployment> = read("072-deployments-list-v0.json");
    all.push(read("140-deployment-get-canary.json"));
    insta::assert_snapshot!(deployment::list(&view_at(0), &all), @"
    ID        Job ID    Job Version  Status      Description
    f0804b9f  shop-web  0            successful  Deployment completed successfully
    be9f90e6  shop-api  1            running     Deployment is running but requires manual promotion
    ");
    assert_eq!(deployment::list(&view_at(0), &[]), "No deployments found");
    insta::assert_snapshot!(deployment::status(&view_at(0), &read("140-deployment-get-canary.json")), @"
    ID          = be9f90e6
    Job ID      = shop-api
    Job Version = 1
    Status      = running
    Description = Deployment is running but requires manual promotion

    Deployed
    Task Group  Promoted  Desired  Canaries  Placed  Healthy  Unhealthy  Progress Deadline
    api         false     2        1         1       1        0          2026-11-30T17:43:36Z
    ");
    insta::assert_snapshot!(deployment::status(&view_at(0), &read("448-deployment-cancelled.json")), @"
    ID          = 388c26f2
    Job ID      = api-web
    Job Version = 1
    Status      = cancelled
    Description = Cancelled because job is stopped

    Deployed
    Task Group  Auto Revert  Desired  Placed  Healthy  Unhealthy  Progress Deadline
    web         true         2        1       0        0          2026-11-30T17:44:29Z
    ");
}

#[test]
fn evaluations() {
    insta::assert_snapshot!(eval::status(&view_at(290), &read("253-evaluation-get-failed-placement.json")), @r#"
    ID                 = 15a943ea
    Create Time        = 9s ago
    Modify Time        = 9s ago
    Status             = complete
    Status Description = complete
    Type               = service
    TriggeredBy        = job-register
    Job ID             = big-cache
    Namespace          = default
    Priority           = 50
    Placement Failures = true

    Failed Placements
    Task Group "cache" (failed to place 2 allocations):
      * Resources exhausted on 2 nodes
      * Class "small" exhausted on 1 nodes
      * Dimension "memory" exhausted on 2 nodes

    Evaluation "a58fa6fd" waiting for additional capacity to place remainder
    "#);
    insta::assert_snapshot!(eval::status(&view_at(290), &read("254-evaluation-get-constraint.json")), @r#"
    ID                 = 7e578f06
    Create Time        = 12s ago
    Modify Time        = 12s ago
    Status             = complete
    Status Description = complete
    Type               = batch
    TriggeredBy        = job-register
    Job ID             = model-train
    Namespace          = default
    Priority           = 50
    Placement Failures = true

    Failed Placements
    Task Group "train" (failed to place 1 allocation):
      * Class "small": 1 nodes excluded by filter
      * Constraint "${attr.kernel.name} = windows": 2 nodes excluded by filter

    Evaluation "8c6c2fe6" waiting for additional capacity to place remainder
    "#);
    insta::assert_snapshot!(eval::status(&verbose(view_at(290)), &read("251-evaluation-get-waiting.json")), @"
    ID                 = b515cac3-fa9f-95a5-ac07-94a0cc1467cf
    Create Time        = 2026-11-30T17:42:34Z
    Modify Time        = 2026-11-30T17:42:34Z
    Status             = pending
    Status Description = created for delayed rescheduling
    Type               = batch
    TriggeredBy        = alloc-failure
    Job ID             = flaky-worker
    Namespace          = default
    Priority           = 50
    Placement Failures = false
    Wait Until         = 2026-11-30T17:42:44Z
    Previous Eval      = aff7e7db-ef9f-ff64-0b18-0c4ddedeb207
    Next Eval          = <none>
    Blocked Eval       = <none>
    ");
    insta::assert_snapshot!(eval::status(&view_at(290), &read("252-evaluation-get-blocked.json")), @r#"
    ID                 = a58fa6fd
    Create Time        = 9s ago
    Modify Time        = 9s ago
    Status             = blocked
    Status Description = created to place remaining allocations
    Type               = service
    TriggeredBy        = queued-allocs
    Job ID             = big-cache
    Namespace          = default
    Priority           = 50
    Placement Failures = N/A - In Progress

    Failed Placements
    Task Group "cache" (failed to place 2 allocations):
      * Resources exhausted on 2 nodes
      * Class "small" exhausted on 1 nodes
      * Dimension "memory" exhausted on 2 nodes
    "#);
}
