use super::{read, verbose, view_at};
use crate::render::node;

#[test]
fn nodes() {
    let list: Vec<longshore_api::NodeListStub> = read("030-nodes-list-resources.json");
    let plain = node::ListOptions::default();
    insta::assert_snapshot!(node::list(&view_at(0), &list, plain, None), @"
    ID        Node Pool  DC   Name    Class   Drain  Eligibility  Status
    70536901  <none>     dc1  host-a  small   false  eligible     ready
    e5f2369a  <none>     dc1  host-b  <none>  false  eligible     ready
    ");
    insta::assert_snapshot!(node::list(&verbose(view_at(0)), &list, node::ListOptions { os: true }, Some(&[0, 3])), @"
    ID                                    Node Pool  DC   Name    Class   OS      Address    Version  Drain  Eligibility  Status  Running Allocs
    70536901-7b6d-26e9-2488-3dcc6ae4b468  <none>     dc1  host-a  small   <none>  127.0.0.1  1.1.0    false  eligible     ready   0
    e5f2369a-1e1d-ab0d-9b0e-840ce0be1b0f  <none>     dc1  host-b  <none>  <none>  127.0.0.1  1.1.0    false  eligible     ready   3
    ");
    insta::assert_snapshot!(node::matches(&view_at(0), &list), @"
    ID        DC   Name    Class   Drain  Eligibility  Status
    70536901  dc1  host-a  small   false  eligible     ready
    e5f2369a  dc1  host-b  <none>  false  eligible     ready
    ");
}

#[test]
fn one_node() {
    let detail = node::Detail {
        node: read("031-node-get.json"),
        stats: Some(read("036-client-stats-local.json")),
        allocs: vec![read("067-allocation-get-v0.json")],
        stubs: read("068-allocations-list-v0.json"),
        ..node::Detail::default()
    };
    insta::assert_snapshot!(node::status(&view_at(37), &detail), @"
    ID              = 70536901-7b6d-26e9-2488-3dcc6ae4b468
    Name            = host-a
    Node Pool       = <none>
    Class           = small
    DC              = dc1
    Drain           = false
    Eligibility     = eligible
    Status          = ready
    CSI Controllers = <none>
    CSI Drivers     = <none>
    Uptime          = 2h11m15s
    Host Volumes    = shared
    Host Networks   = <none>
    CSI Volumes     = <none>
    Driver Status   = docker,exec,mock_driver,raw_exec

    Node Events
    Time                  Subsystem  Message
    2026-11-30T17:37:37Z  Cluster    Node registered

    Allocated Resources
    CPU          Memory         Disk
    50/4100 MHz  32 MiB/23 GiB  50 MiB/72 GiB

    Host Resource Utilization
    CPU            Memory          Disk
    4158/4200 MHz  833 MiB/24 GiB  18 GiB/252 GiB

    Allocations
    ID        Node ID   Task Group  Version  Desired  Status   Created  Modified
    39b1b9eb  e5f2369a  web         0        run      running  4s ago   0s ago
    76876d46  70536901  web         0        run      running  4s ago   1s ago
    ");
    insta::assert_snapshot!(node::status(&view_at(37), &node::Detail { short: true, ..detail.clone() }), @"
    ID              = 70536901-7b6d-26e9-2488-3dcc6ae4b468
    Name            = host-a
    Node Pool       = <none>
    Class           = small
    DC              = dc1
    Drain           = false
    Eligibility     = eligible
    Status          = ready
    CSI Controllers = <none>
    CSI Drivers     = <none>
    Host Volumes    = shared
    Host Networks   = <none>
    CSI Volumes     = <none>
    Drivers         = docker,exec,mock_driver,raw_exec

    Allocations
    ID        Node ID   Task Group  Version  Desired  Status   Created  Modified
    39b1b9eb  e5f2369a  web         0        run      running  4s ago   0s ago
    76876d46  70536901  web         0        run      running  4s ago   1s ago
    ");
    insta::assert_snapshot!(node::status(&verbose(view_at(37)), &node::Detail { show_stats: true, ..detail }), @"
    ID              = 70536901-7b6d-26e9-2488-3dcc6ae4b468
    Name            = host-a
    Node Pool       = <none>
    Class           = small
    DC              = dc1
    Drain           = false
    Eligibility     = eligible
    Status          = ready
    CSI Controllers = <none>
    CSI Drivers     = <none>
    Uptime          = 2h11m15s

    Host Volumes
    Name    ReadOnly  Source
    shared  true      /data/img

    Drivers
    Driver       Detected  Healthy  Message  Time
    docker       true      true     Healthy  2026-11-30T17:37:35Z
    exec         true      true     Healthy  2026-11-30T17:37:35Z
    mock_driver  true      true     Healthy  2026-11-30T17:37:35Z
    raw_exec     true      true     Healthy  2026-11-30T17:37:35Z

    Node Events
    Time                  Subsystem  Message          Details
    2026-11-30T17:37:37Z  Cluster    Node registered  <none>

    Allocated Resources
    CPU          Memory         Disk
    50/4100 MHz  32 MiB/23 GiB  50 MiB/72 GiB

    Host Resource Utilization
    CPU            Memory          Disk
    4158/4200 MHz  833 MiB/24 GiB  18 GiB/252 GiB

    CPU Stats
    CPU    = cpu0
    User   = 61.39%
    System = 36.63%
    Idle   = 0.99%

    CPU    = cpu1
    User   = 61.00%
    System = 37.00%
    Idle   = 1.00%

    Memory Stats
    Total     = 24 GiB
    Available = 22 GiB
    Used      = 833 MiB
    Free      = 19 GiB

    Disk Stats
    Device         = /dev/sda1
    MountPoint     = /
    Size           = 252 GiB
    Used           = 18 GiB
    Available      = 73 GiB
    Used Percent   = 19.87%
    Inodes Percent = 3.50%

    Device         = /dev/sda1
    MountPoint     = /var/lib/docker
    Size           = 252 GiB
    Used           = 18 GiB
    Available      = 73 GiB
    Used Percent   = 19.87%
    Inodes Percent = 3.50%

    Device         = /dev/sda1
    MountPoint     = /data/d/data
    Size           = 252 GiB
    Used           = 18 GiB
    Available      = 73 GiB
    Used Percent   = 19.87%
    Inodes Percent = 3.50%

    Device         = /dev/sda1
    MountPoint     = /data/other
    Size           = 252 GiB
    Used           = 18 GiB
    Available      = 73 GiB
    Used Percent   = 19.87%
    Inodes Percent = 3.50%

    Device         = /dev/sda1
    MountPoint     = /data/other
    Size           = 252 GiB
    Used           = 18 GiB
    Available      = 73 GiB
    Used Percent   = 19.87%
    Inodes Percent = 3.50%

    Allocations
    ID                                    Eval ID                               Node ID                               Node Name  Task Group  Version  Desired  Status   Created               Modified
    39b1b9eb-a349-32fb-90c2-027d972c6b99  95a48e41-dd2c-ae3d-f119-9b7924cd828e  e5f2369a-1e1d-ab0d-9b0e-840ce0be1b0f  host-b     web         0        run      running  2026-11-30T17:38:32Z  2026-11-30T17:38:36Z
    76876d46-aa12-a655-5557-bf613aa51743  95a48e41-dd2c-ae3d-f119-9b7924cd828e  70536901-7b6d-26e9-2488-3dcc6ae4b468  host-a     web         0        run      running  2026-11-30T17:38:32Z  2026-11-30T17:38:36Z

    Attributes
    cpu.arch                  = amd64
    cpu.frequency             = 2100
    cpu.modelname             = Example Processor
    cpu.numcores              = 2
    cpu.totalcompute          = 4200
    driver.docker             = 1
    driver.docker.bridge_ip   = 198.51.100.1
    driver.docker.os_type     = linux
    driver.docker.runtimes    = io.containerd.runc.v2,io.containerd.runtime.v1.linux,runc
    driver.docker.version     = 20.10.24+dfsg1
    driver.exec               = 1
    driver.mock               = true
    driver.mock_driver        = 1
    driver.raw_exec           = 1
    kernel.name               = linux
    kernel.version            = 5.10.0-28-amd64
    memory.totalbytes         = 25276510208
    nomad.advertise.address   = 127.0.0.1:24700
    nomad.version             = 1.1.0
    os.name                   = debian
    os.signals                = SIGQUIT,SIGWINCH,SIGXFSZ,SIGALRM,SIGILL,SIGTTOU,SIGUSR2,SIGXCPU,SIGABRT,SIGHUP,SIGIO,SIGKILL,SIGTSTP,SIGSEGV,SIGSTOP,SIGSYS,SIGTRAP,SIGBUS,SIGFPE,SIGINT,SIGUSR1,SIGCONT,SIGCHLD,SIGIOT,SIGPIPE,SIGPROF,SIGTERM,SIGTTIN,SIGURG
    os.version                = 12.11
    unique.cgroup.mountpoint  = /sys/fs/cgroup/cpu
    unique.hostname           = host-a
    unique.network.ip-address = 127.0.0.1
    unique.storage.bytesfree  = 78213001216
    unique.storage.bytestotal = 270553174016
    unique.storage.volume     = /dev/sda1

    Meta
    connect.gateway_image     = envoyproxy/envoy:v${NOMAD_envoy_version}
    connect.log_level         = info
    connect.proxy_concurrency = 1
    connect.sidecar_image     = envoyproxy/envoy:v${NOMAD_envoy_version}
    owner                     = ops
    rack                      = r1
    ");
}

#[test]
fn a_node_that_is_being_emptied() {
    let detail = node::Detail { node: read("467-node-get-draining.json"), short: true, ..node::Detail::default() };
    let text = node::status(&view_at(0), &detail);
    insta::assert_snapshot!(text.lines().skip(5).take(3).collect::<Vec<_>>().join("\n"), @"
    Drain           = true; no deadline; ignoring system jobs
    Eligibility     = ineligible
    Status          = ready
    ");
}
