use super::{read, view_at};
use crate::render::{alloc, job};
use crate::view::View;

#[test]
fn lists_of_jobs() {
    assert_eq!(job::list(&view_at(0), &[], false), "No running jobs");
    insta::assert_snapshot!(job::list(&view_at(0), &read::<Vec<_>>("059-jobs-list-v0.json"), false), @"
    ID        Type     Priority  Status   Submit Date
    shop-web  service  50        running  2026-11-30T17:38:32Z
    ");
    let all: Vec<longshore_api::JobListStub> = read("359-jobs-list-all-namespaces.json");
    insta::assert_snapshot!(job::list(&view_at(0), &all, true), @"
    ID         Namespace  Type   Priority  Status   Submit Date
    side-task  staging    batch  50        running  2026-11-30T17:43:35Z
    ");
}

#[test]
fn a_job_with_its_deployment_and_allocations() {
    let versions: longshore_api::JobVersionsResponse = read("085-job-versions.json");
    let detail = job::Detail {
        job: versions.versions.last().unwrap().clone(),
        summary: read("065-job-summary-v0.json"),
        evals: read("062-job-evaluations-v0.json"),
        deployment: Some(read("073-deployment-get-v0.json")),
        allocs: read("068-allocations-list-v0.json"),
        show_evals: true,
        ..job::Detail::default()
    };
    insta::assert_snapshot!(job::status(&view_at(37), &detail), @"
    ID            = shop-web
    Name          = shop-web
    Submit Date   = 2026-11-30T17:38:32Z
    Type          = service
    Priority      = 50
    Datacenters   = dc1
    Namespace     = default
    Node Pool     = <none>
    Status        = running
    Periodic      = false
    Parameterized = false

    Summary
    Task Group  Queued  Starting  Running  Failed  Complete  Lost  Unknown
    web         0       0         2        0       0         0     0

    Evaluations
    ID        Priority  Triggered By        Status    Placement Failures
    95a48e41  50        job-register        complete  false
    c302e401  50        deployment-watcher  complete  false

    Latest Deployment
    ID          = f0804b9f
    Status      = successful
    Description = Deployment completed successfully

    Deployed
    Task Group  Auto Revert  Desired  Placed  Healthy  Unhealthy  Progress Deadline
    web         true         2        2       2        0          2026-11-30T17:39:16Z

    Allocations
    ID        Node ID   Task Group  Version  Desired  Status   Created  Modified
    39b1b9eb  e5f2369a  web         0        run      running  4s ago   0s ago
    76876d46  70536901  web         0        run      running  4s ago   1s ago
    ");
}

#[test]
fn a_job_whose_allocation_waits_to_be_rescheduled() {
    let alloc: longshore_api::Allocation = read("250-allocation-get-awaiting-reschedule.json");
    let stub = longshore_api::AllocListStub {
        id: alloc.id.clone(),
        node_id: alloc.node_id.clone(),
        task_group: alloc.task_group.clone(),
        desired_status: alloc.desired_status.clone(),
        client_status: alloc.client_status.clone(),
        followup_eval_id: alloc.followup_eval_id.clone(),
        create_time: alloc.create_time,
        modify_time: alloc.modify_time,
        ..longshore_api::AllocListStub::default()
    };
    let detail = job::Detail {
        job: alloc.job.clone().unwrap(),
        evals: read("281-job-evaluations-delayed-reschedule.json"),
        allocs: vec![stub],
        ..job::Detail::default()
    };
    let view = View { now: alloc.modify_time, ..view_at(0) };
    insta::assert_snapshot!(job::status(&view, &detail), @"
    ID            = flaky-worker
    Name          = flaky-worker
    Submit Date   = 2026-11-30T17:42:31Z
    Type          = batch
    Priority      = 50
    Datacenters   = dc1
    Namespace     = default
    Node Pool     = <none>
    Status        = pending
    Periodic      = false
    Parameterized = false

    Summary
    Task Group  Queued  Starting  Running  Failed  Complete  Lost  Unknown

    Future Rescheduling Attempts
    Task Group  Eval ID   Eval Time
    worker      b515cac3  10s from now

    Allocations
    ID        Node ID   Task Group  Version  Desired  Status  Created  Modified
    ff1204c3  70536901  worker      0        run      failed  3s ago   0s ago
    ");
    insta::assert_snapshot!(alloc::status(&view, &alloc, None, Some(view.now + 10_000_000_000)), @r#"
    ID                     = ff1204c3-a3ca-3140-7939-084bc9f90b63
    Eval ID                = 0c6e6168
    Name                   = flaky-worker.worker[0]
    Node ID                = 70536901
    Node Name              = host-a
    Job ID                 = flaky-worker
    Job Version            = 0
    Client Status          = failed
    Client Description     = Failed tasks
    Desired Status         = run
    Desired Description    = <none>
    Created                = 3s ago
    Modified               = 0s ago
    Reschedule Eligibility = 10s from now

    Task "work" is "dead"
    Task Resources:
    CPU     Memory  Disk     Addresses
    30 MHz  24 MiB  110 MiB  

    Task Events:
    Started At     = 2026-11-30T17:42:33Z
    Finished At    = 2026-11-30T17:42:34Z
    Total Restarts = 1
    Last Restart   = 2026-11-30T17:42:32Z

    Recent Events:
    Time                  Type            Description
    2026-11-30T17:42:34Z  Not Restarting  Exceeded allowed attempts 1 in interval 1m0s and mode is "fail"
    2026-11-30T17:42:34Z  Terminated      Exit Code: 7, Exit Message: "disk on fire"
    2026-11-30T17:42:33Z  Started         Task started by client
    2026-11-30T17:42:32Z  Restarting      Task restarting in 1.242162015s
    2026-11-30T17:42:32Z  Terminated      Exit Code: 7, Exit Message: "disk on fire"
    2026-11-30T17:42:31Z  Started         Task started by client
    2026-11-30T17:42:31Z  Task Setup      Building Task Directory
    2026-11-30T17:42:31Z  Received        Task received by client
    "#);
}

#[test]
fn jobs_that_make_jobs() {
    let detail = job::Detail {
        job: read("225-job-get-parameterized.json"),
        summary: read("228-job-summary-parameterized.json"),
        children: vec![],
        ..job::Detail::default()
    };
    insta::assert_snapshot!(job::status(&view_at(0), &detail), @"
    ID            = photo-resize
    Name          = photo-resize
    Submit Date   = 2026-11-30T17:42:26Z
    Type          = batch
    Priority      = 50
    Datacenters   = dc1
    Namespace     = default
    Node Pool     = <none>
    Status        = running
    Periodic      = false
    Parameterized = true

    Parameterized Job
    Payload           = required
    Required Metadata = width
    Optional Metadata = quality

    Parameterized Job Summary
    Pending  Running  Dead
    0        3        0

    No dispatched instances of parameterized job found
    ");
    let detail = job::Detail {
        job: read("239-job-get-periodic.json"),
        children: read("241-jobs-list-children.json"),
        ..job::Detail::default()
    };
    insta::assert_snapshot!(job::status(&view_at(0), &detail), @"
    ID            = ledger-close
    Name          = ledger-close
    Submit Date   = 2026-11-30T17:42:30Z
    Type          = batch
    Priority      = 50
    Datacenters   = dc1
    Namespace     = default
    Node Pool     = <none>
    Status        = running
    Periodic      = true
    Parameterized = false

    Children Job Summary
    Pending  Running  Dead
    0        0        0

    Previously Launched Jobs
    ID                                Status
    ledger-close                      running
    ledger-close/periodic-1796060550  running
    ledger-close/periodic-1796060551  running
    ");
}
