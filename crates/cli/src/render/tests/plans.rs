use super::{read, verbose, view_at};
use crate::render::{diff, job, plan};
use crate::view::View;

#[test]
fn plan_of_a_new_job() {
    let plan: longshore_api::JobPlanResponse = read("058-job-plan-new.json");
    let difference = plan.diff.clone().unwrap();
    insta::assert_snapshot!(diff::job(&view_at(0), &difference), @r#"
    + Job: "shop-web"
    + Task Group: "web" (2 create)
      + Task: "httpd" (forces create)
    "#);
    insta::assert_snapshot!(diff::job(&verbose(view_at(0)), &difference), @r#"
    + Job: "shop-web"
    + AllAtOnce:  "false"
    + Dispatched: "false"
    + Meta[team]: "storefront"
    + Name:       "shop-web"
    + Namespace:  "default"
    + Priority:   "50"
    + Region:     "global"
    + Stop:       "false"
    + Type:       "service"
    + Datacenters {
      + Datacenters: "dc1"
      }
    + Task Group: "web" (2 create)
      + Count: "2" (forces create)
      + RestartPolicy {
        + Attempts: "0"
        + Delay:    "15000000000"
        + Interval: "1800000000000"
        + Mode:     "fail"
        }
      + ReschedulePolicy {
        + Attempts:      "0"
        + Delay:         "30000000000"
        + DelayFunction: "exponential"
        + Interval:      "0"
        + MaxDelay:      "3600000000000"
        + Unlimited:     "false"
        }
      + EphemeralDisk {
        + Migrate: "false"
        + SizeMB:  "50"
        + Sticky:  "false"
        }
      + Update {
        + AutoPromote:      "false"
        + AutoRevert:       "true"
        + Canary:           "0"
        + HealthCheck:      "task_states"
        + HealthyDeadline:  "20000000000"
        + MaxParallel:      "1"
        + MinHealthyTime:   "2000000000"
        + ProgressDeadline: "40000000000"
        }
      + Network {
        + MBits: "0"
          Mode:  ""
        + Dynamic Port {
          + HostNetwork: "default"
          + Label:       "http"
          + To:          "8080"
          }
        }
      + Task: "httpd" (forces create)
        + Driver:        "docker"
        + Env[GREETING]: "hello"
        + KillTimeout:   "5000000000"
        + Leader:        "false"
        + ShutdownDelay: "0"
        + Config {
          + args[0]:  "httpd"
          + args[1]:  "-f"
          + args[2]:  "-v"
          + args[3]:  "-p"
          + args[4]:  "8080"
          + args[5]:  "-h"
          + args[6]:  "/www"
          + command:  "/bin/busybox"
          + image:    "127.0.0.1:5056/shop/web:1"
          + ports[0]: "http"
          }
        + Resources {
          + CPU:         "50"
          + Cores:       "0"
          + DiskMB:      "0"
          + IOPS:        "0"
          + MemoryMB:    "32"
          + MemoryMaxMB: "0"
          }
        + LogConfig {
          + MaxFileSizeMB: "5"
          + MaxFiles:      "2"
          }
    "#);
    assert_eq!(plan::dry_run(&view_at(0), &plan, "service"), "- All tasks successfully allocated.");
    assert!(plan::changes_allocations(&plan));
}

#[test]
fn plan_of_an_update_in_place() {
    let plan: longshore_api::JobPlanResponse = read("077-job-plan-web-inplace.json");
    insta::assert_snapshot!(diff::job(&view_at(0), &plan.diff.clone().unwrap()), @r#"
    +/- Job: "shop-web"
    +/- Task Group: "web" (2 in-place update)
      +/- Task: "httpd" (forces in-place update)
        +/- KillTimeout: "5000000000" => "8000000000"
    "#);
    assert!(!plan::changes_allocations(&plan));
}

#[test]
fn plan_of_a_destructive_update() {
    let plan: longshore_api::JobPlanResponse = read("078-job-plan-web-resources.json");
    insta::assert_snapshot!(diff::job(&view_at(0), &plan.diff.clone().unwrap()), @r#"
    +/- Job: "shop-web"
    +/- Task Group: "web" (1 create/destroy update, 1 ignore)
      +/- Task: "httpd" (forces create/destroy update)
        +/- Resources {
              CPU:         "50"
              Cores:       "0"
              DiskMB:      "0"
              IOPS:        "0"
          +/- MemoryMB:    "32" => "48"
              MemoryMaxMB: "0"
            }
    "#);
    assert!(plan::changes_allocations(&plan));
}

#[test]
fn plan_in_colours() {
    let plan: longshore_api::JobPlanResponse = read("078-job-plan-web-resources.json");
    let view = View { colour: true, ..view_at(0) };
    let text = diff::job(&view, &plan.diff.unwrap()).replace('\x1b', "\\e");
    insta::assert_snapshot!(text.lines().take(3).collect::<Vec<_>>().join("\n"), @r#"
    \e[33m+/-\e[0m \e[1mJob: "shop-web"\e[0m
    \e[33m+/-\e[0m \e[1mTask Group: "web"\e[0m (\e[33m1 create/destroy update\e[0m, 1 ignore)
      \e[33m+/-\e[0m \e[1mTask: "httpd"\e[0m (\e[33mforces create/destroy update\e[0m)
    "#);
}

#[test]
fn plan_without_room() {
    let plan: longshore_api::JobPlanResponse = read("080-job-plan-web-toobig.json");
    insta::assert_snapshot!(plan::dry_run(&view_at(0), &plan, "service"), @r#"
    - WARNING: Failed to place all allocations.
      Task Group "web" (failed to place 1 allocation):
        * Resources exhausted on 2 nodes
        * Class "small" exhausted on 1 nodes
        * Dimension "memory" exhausted on 2 nodes
    "#);
    insta::assert_snapshot!(plan::how_to_run(&view_at(0), "nomad", 14, "-var=\"a=b\" ", "web.nomad"), @r#"
    Job Modify Index: 14
    To submit the job with version verification run:

    nomad job run -check-index 14 -var="a=b" web.nomad

    With -check-index the job is only run while the server still has it at this index.
    If somebody has changed it since, what was planned here may not hold any more, and
    the run is refused.
    "#);
}

#[test]
fn plan_that_preempts() {
    let plan: longshore_api::JobPlanResponse = read("284-job-plan-preemption.json");
    let preempted = plan.annotations.unwrap().preempted_allocs;
    insta::assert_snapshot!(plan::preemptions(&view_at(0), &preempted), @"
    Preemptions:

    Alloc ID                              Job ID      Task Group
    c1501d3a-ec96-fb1d-45a1-573b8e4317fc  low-filler  fill
    8b9ddc1c-7613-6c36-a17b-a2d845505673  low-filler  fill
    ");
    let many: Vec<_> = preempted.iter().cycle().take(12).cloned().collect();
    insta::assert_snapshot!(plan::preemptions(&view_at(0), &many), @"
    Preemptions:

    Job ID      Namespace  Job Type  Preemptions
    low-filler  default    service   12
    ");
}

#[test]
fn history_with_differences() {
    let versions: longshore_api::JobVersionsResponse = read("086-job-versions-diffs.json");
    let texts: Vec<String> = versions
        .versions
        .iter()
        .enumerate()
        .map(|(at, version)| job::version(&view_at(0), version, versions.diffs.get(at), None))
        .collect();
    insta::assert_snapshot!(texts.join("\n\n"), @r#"
    Version     = 4
    Stable      = true
    Submit Date = <none>
    Diff        = 
    +/- Job: "shop-web"
    +/- Task Group: "web"
      +/- Task: "httpd"
        +/- Config {
          +/- args[0]:  "sh" => "httpd"
          +/- args[1]:  "-c" => "-f"
          +/- args[2]:  "echo cannot start; sleep 1; exit 3" => "-v"
          +   args[3]:  "-p"
          +   args[4]:  "8080"
          +   args[5]:  "-h"
          +   args[6]:  "/www"
              command:  "/bin/busybox"
              image:    "127.0.0.1:5056/shop/web:1"
              ports[0]: "http"
            }

    Version     = 3
    Stable      = false
    Submit Date = <none>
    Diff        = 
    +/- Job: "shop-web"
    +/- Task Group: "web"
      +/- Task: "httpd"
        +/- Config {
          +/- args[0]:  "httpd" => "sh"
          +/- args[1]:  "-f" => "-c"
          +/- args[2]:  "-v" => "echo cannot start; sleep 1; exit 3"
          -   args[3]:  "-p"
          -   args[4]:  "8080"
          -   args[5]:  "-h"
          -   args[6]:  "/www"
              command:  "/bin/busybox"
              image:    "127.0.0.1:5056/shop/web:1"
              ports[0]: "http"
            }

    Version     = 2
    Stable      = true
    Submit Date = <none>
    Diff        = 
    +/- Job: "shop-web"
    +/- Task Group: "web"
      +/- Task: "httpd"
        +/- KillTimeout: "8000000000" => "5000000000"
        +/- Resources {
              CPU:         "50"
              Cores:       "0"
              DiskMB:      "0"
              IOPS:        "0"
          +/- MemoryMB:    "32" => "48"
              MemoryMaxMB: "0"
            }

    Version     = 1
    Stable      = true
    Submit Date = <none>
    Diff        = 
    +/- Job: "shop-web"
    +/- Task Group: "web"
      +/- Task: "httpd"
        +/- KillTimeout: "5000000000" => "8000000000"

    Version     = 0
    Stable      = true
    Submit Date = <none>
    "#);
}
