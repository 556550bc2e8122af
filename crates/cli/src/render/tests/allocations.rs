use super::{read, verbose, view_at};
use crate::render::{alloc, metric};

#[test]
fn a_healthy_allocation() {
    let alloc: longshore_api::Allocation = read("067-allocation-get-v0.json");
    insta::assert_snapshot!(alloc::status(&view_at(37), &alloc, None, None), @r#"
    ID                  = 76876d46-aa12-a655-5557-bf613aa51743
    Eval ID             = 95a48e41
    Name                = shop-web.web[0]
    Node ID             = 70536901
    Node Name           = host-a
    Job ID              = shop-web
    Job Version         = 0
    Client Status       = running
    Client Description  = Tasks are running
    Desired Status      = run
    Desired Description = <none>
    Created             = 4s ago
    Modified            = 1s ago
    Deployment ID       = f0804b9f
    Deployment Health   = healthy

    Allocation Addresses:
    Label  Dynamic  Address
    *http  yes      127.0.0.1:27422 -> 8080

    Task "httpd" is "running"
    Task Resources:
    CPU     Memory  Disk    Addresses
    50 MHz  32 MiB  50 MiB  

    Task Events:
    Started At     = 2026-11-30T17:38:34Z
    Finished At    = N/A
    Total Restarts = 0
    Last Restart   = N/A

    Recent Events:
    Time                  Type        Description
    2026-11-30T17:38:34Z  Started     Task started by client
    2026-11-30T17:38:32Z  Task Setup  Building Task Directory
    2026-11-30T17:38:32Z  Received    Task received by client
    "#);
    insta::assert_snapshot!(alloc::short(&view_at(37), &alloc), @"
    ID       = 76876d46-aa12-a655-5557-bf613aa51743
    Name     = shop-web.web[0]
    Created  = 4s ago
    Modified = 1s ago

    Tasks
    Name   State    Last Event  Time                  Lifecycle
    httpd  running  Started     2026-11-30T17:38:34Z  main
    ");
}

#[test]
fn an_allocation_whose_image_could_not_be_had() {
    let alloc: longshore_api::Allocation = read("278-allocation-get-pull-failed.json");
    insta::assert_snapshot!(alloc::status(&view_at(285), &alloc, None, None), @r#"
    ID                  = 85de73c6-58dc-0265-41bd-47cba8eb240b
    Eval ID             = e0dce244
    Name                = ghost-image.ghost[0]
    Node ID             = 70536901
    Node Name           = host-a
    Job ID              = ghost-image
    Job Version         = 0
    Client Status       = failed
    Client Description  = Failed tasks
    Desired Status      = run
    Desired Description = <none>
    Created             = 3s ago
    Modified            = 3s from now

    Task "beside" is "dead"
    Task Resources:
    CPU     Memory  Disk     Addresses
    20 MHz  16 MiB  110 MiB  

    Task Events:
    Started At     = 2026-11-30T17:42:41Z
    Finished At    = 2026-11-30T17:42:43Z
    Total Restarts = 0
    Last Restart   = N/A

    Recent Events:
    Time                  Type                 Description
    2026-11-30T17:42:43Z  Killed               Task successfully killed
    2026-11-30T17:42:43Z  Terminated           Exit Code: 0
    2026-11-30T17:42:43Z  Killing              Sent interrupt. Waiting 5s before force killing
    2026-11-30T17:42:43Z  Sibling Task Failed  Task's sibling "ghost" failed
    2026-11-30T17:42:41Z  Started              Task started by client
    2026-11-30T17:42:41Z  Task Setup           Building Task Directory
    2026-11-30T17:42:41Z  Received             Task received by client

    Task "ghost" is "dead"
    Task Resources:
    CPU     Memory  Disk     Addresses
    50 MHz  32 MiB  110 MiB  

    Task Events:
    Started At     = N/A
    Finished At    = 2026-11-30T17:42:43Z
    Total Restarts = 1
    Last Restart   = 2026-11-30T17:42:41Z

    Recent Events:
    Time                  Type            Description
    2026-11-30T17:42:43Z  Killing         Sent interrupt. Waiting 5s before force killing
    2026-11-30T17:42:43Z  Not Restarting  Exceeded allowed attempts 1 in interval 1m0s and mode is "fail"
    2026-11-30T17:42:43Z  Driver Failure  Failed to pull `127.0.0.1:5056/shop/missing:1`: API error (404): manifest for 127.0.0.1:5056/shop/missing:1 not found: manifest unknown: manifest unknown
    2026-11-30T17:42:43Z  Driver          Downloading image
    2026-11-30T17:42:41Z  Restarting      Task restarting in 2.020700353s
    2026-11-30T17:42:41Z  Driver Failure  Failed to pull `127.0.0.1:5056/shop/missing:1`: API error (404): manifest for 127.0.0.1:5056/shop/missing:1 not found: manifest unknown: manifest unknown
    2026-11-30T17:42:41Z  Driver          Downloading image
    2026-11-30T17:42:41Z  Task Setup      Building Task Directory
    2026-11-30T17:42:41Z  Received        Task received by client
    "#);
}

#[test]
fn an_allocation_with_many_tasks() {
    let alloc: longshore_api::Allocation = read("273-allocation-get-multi-task.json");
    insta::assert_snapshot!(alloc::short(&view_at(290), &alloc), @"
    ID       = 4999375d-6116-452f-c5e3-b684c172736c
    Name     = order-pipe.pipe[0]
    Created  = 4s ago
    Modified = 1s ago

    Tasks
    Name      State    Last Event       Time                  Lifecycle
    announce  dead     Terminated       2026-11-30T17:42:48Z  poststart
    prepare   dead     Terminated       2026-11-30T17:42:47Z  prestart
    tidy      pending  Alloc Unhealthy  2026-11-30T17:42:48Z  poststop
    shipper   running  Alloc Unhealthy  2026-11-30T17:42:48Z  prestart sidecar
    mirror    running  Alloc Unhealthy  2026-11-30T17:42:48Z  main
    porter    running  Alloc Unhealthy  2026-11-30T17:42:48Z  main
    ");
    let text = alloc::status(&verbose(view_at(290)), &alloc, None, None);
    let heads: Vec<&str> = text.lines().filter(|line| line.starts_with("Task \"") || line.ends_with(':')).collect();
    insta::assert_snapshot!(heads.join("\n"), @r#"
    Allocation Addresses:
    Task "announce" (poststart) is "dead"
    Task Resources:
    Task Events:
    Recent Events:
    Task "prepare" (prestart) is "dead"
    Task Resources:
    Task Events:
    Recent Events:
    Task "tidy" (poststop) is "pending"
    Task Resources:
    Task Events:
    Recent Events:
    Task "shipper" (prestart sidecar) is "running"
    Task Resources:
    Task Events:
    Recent Events:
    Task "mirror" is "running"
    Task Resources:
    Task Events:
    Recent Events:
    Task "porter" is "running"
    Task Resources:
    Host Volumes:
    Task Events:
    Recent Events:
    "#);
}

#[test]
fn an_allocation_that_was_rescheduled() {
    let alloc: longshore_api::Allocation = read("282-allocation-get-rescheduled.json");
    let text = alloc::status(&view_at(300), &alloc, None, None);
    insta::assert_snapshot!(text.lines().take(14).collect::<Vec<_>>().join("\n"), @"
    ID                  = 2c0f66e3-eb1e-a205-f1bc-e945ff923664
    Eval ID             = b515cac3
    Name                = flaky-worker.worker[0]
    Node ID             = e5f2369a
    Node Name           = host-b
    Job ID              = flaky-worker
    Job Version         = 0
    Client Status       = failed
    Client Description  = Failed tasks
    Desired Status      = run
    Desired Description = <none>
    Created             = 15s ago
    Modified            = 12s ago
    Reschedule Attempts = 1/1
    ");
}

#[test]
fn placement_metrics() {
    let alloc: longshore_api::Allocation = read("067-allocation-get-v0.json");
    insta::assert_snapshot!(metric::scores(&verbose(view_at(0)), &alloc.metrics.unwrap()), @"
    Node                                  binpack  job-anti-affinity  node-affinity  node-reschedule-penalty  final score
    70536901-7b6d-26e9-2488-3dcc6ae4b468  0.0171   0                  0              0                        0.0171
    e5f2369a-1e1d-ab0d-9b0e-840ce0be1b0f  0.0167   0                  0              0                        0.0167
    ");
}
