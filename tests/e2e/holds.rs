//! One content under two names, brought by a pull and by archives: every hold is counted once, through crashes.

use std::time::Duration;

use longshore_harness::{Agent, Image, eventually, random_hex};

use crate::support::*;

const AGENT: &str = "plugin \"docker\" {\n  config {\n    gc {\n      image_delay = \"2s\"\n    }\n  }\n}\n";

/// A job whose image comes from an archive that a task before it puts into place.
pub(crate) fn loading_job(id: &str, name: &str, archive: &str) -> Job {
    let fetch = format!(
        r#"task "fetch" {{
      driver = "raw_exec"
      lifecycle {{
        hook = "prestart"
      }}
      config {{
        command = "/bin/sh"
        args    = ["-c", "cp {archive} ${{NOMAD_ALLOC_DIR}}/../main/local/image.tar"]
      }}
    }}"#
    );
    Job::new(id, name).group(&fetch).config("load = \"image.tar\"")
}

/// Holds over all names of one content.
#[track_caller]
fn holds_of(agent: &Agent, image: &Image) -> u64 {
    image_rows(agent).iter().filter(|row| row["ID"] == image.id()).filter_map(|row| row["Holds"].as_u64()).sum()
}

#[test]
fn four_jobs_on_one_content_hold_it_four_times_and_let_go_four_times() {
    let machine = Machine::start();
    let (image, pulled) = machine.push("shop/shared");
    let loaded = "shop/loaded:1";
    let archive = machine.run.write("image.tar", image.archive(&[loaded]).unwrap()).unwrap();
    let archive = archive.to_str().unwrap();
    let mut agent = machine.agent(AGENT);

    run_job(&agent, &Job::new("pulls", &pulled));
    run_job(&agent, &Job::new("finds", &pulled));
    run_job(&agent, &loading_job("loads", loaded, archive));
    run_job(&agent, &loading_job("loads-again", loaded, archive));
    assert_eq!(holds_of(&agent, &image), 4, "{:?}", image_rows(&agent));
    let manifests =
        machine.proxy.seen_of("shop/shared").iter().filter(|it| it.method == "GET" && it.is_manifest()).count();
    assert_eq!(manifests, 1, "one pull: {:?}", machine.proxy.seen_of("shop/shared"));

    let mut jobs = vec!["pulls", "finds", "loads", "loads-again"];
    let seed = random_hex(4).unwrap();
    println!("order chosen by {seed}");
    let mut chance = u32::from_str_radix(&seed, 16).unwrap() as usize;
    while !jobs.is_empty() {
        let job = jobs.remove(chance % jobs.len());
        chance /= 5;
        stop_job(&machine, &agent, job);
        // The line follows the record: a kill between the two would take the line, and with it what is checked below.
        let returned = 4 - jobs.len();
        eventually(SOON, "the line of the hold that was given back", || {
            let told = agent.log().lines().filter(|it| it.contains("hold given back")).count();
            if told == returned { Ok(()) } else { Err(format!("{told} of {returned} lines")) }
        })
        .unwrap();
        agent.kill9();
        agent.resume().unwrap();
        eventually(SOON, format!("{} holds after the end of {job}", jobs.len()), || {
            let holds = holds_of(&agent, &image);
            if holds == jobs.len() as u64 { Ok(()) } else { Err(format!("{holds} holds: {:?}", image_rows(&agent))) }
        })
        .unwrap();
        if !jobs.is_empty() {
            assert!(machine.engine.images().unwrap().iter().any(|it| it.id == image.id()), "still needed by {jobs:?}");
        }
    }
    eventually(Duration::from_secs(20), "the removal of both names and the content", || {
        let left = machine.engine.images().unwrap();
        if left.is_empty() { Ok(()) } else { Err(format!("{left:?}")) }
    })
    .unwrap();
    check_lines(&agent.log());
}

/// Every hold that was taken or given back is one line with its owner and the counts before and after.
#[track_caller]
fn check_lines(log: &str) {
    let lines = |word: &str| -> Vec<String> { log.lines().filter(|it| it.contains(word)).map(str::to_owned).collect() };
    let (taken, returned) = (lines("hold taken"), lines("hold given back"));
    assert_eq!(taken.len(), 4, "{taken:#?}");
    assert_eq!(returned.len(), 4, "{returned:#?}");
    for line in taken.iter().chain(&returned) {
        assert!(["/main", "before=", "after="].iter().all(|part| line.contains(part)), "owner and counts: {line}");
    }
    let errors = lines("gave back a hold that it never had");
    assert_eq!(errors, Vec::<String>::new());
}
