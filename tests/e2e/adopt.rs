//! What a person says of images: that they are ours, after the books about them were lost; that none is to go for a while.

use std::path::{Path, PathBuf};
use std::time::Duration;

use longshore_harness::{Agent, eventually};

use crate::support::*;

const AGENT: &str = "plugin \"docker\" {\n  config {\n    gc {\n      image_delay = \"2s\"\n    }\n  }\n}\n";
const GONE: Duration = Duration::from_secs(20);

/// The files of the image ledger, whatever else lies beside them.
fn ledgers(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            found.extend(ledgers(&entry));
        } else {
            found.push(entry);
        }
    }
    found
}

fn lose_the_ledger(agent: &mut Agent) {
    agent.stop().unwrap();
    let files = ledgers(&agent.data_dir().join("client/engines"));
    assert!(!files.is_empty(), "there is a ledger");
    files.iter().for_each(|file| std::fs::remove_file(file).unwrap());
    agent.resume().unwrap();
}

#[track_caller]
fn said(agent: &Agent, words: &[&str]) -> String {
    agent.cli(words).unwrap().success(&words.join(" ")).unwrap().stdout
}

#[track_caller]
fn provenance(agent: &Agent, name: &str) -> String {
    // Right after a start the engine was not looked at yet.
    let row = eventually(SOON, format!("{name} to be listed"), || {
        image_row(agent, name).ok_or_else(|| "it is not".to_owned())
    });
    text(&row.unwrap(), "Provenance")
}

#[test]
fn what_a_lost_ledger_made_foreign_is_taken_back_and_goes_at_its_time() {
    let machine = Machine::start();
    let (_, idle) = machine.push("shop/idle");
    let (_, used) = machine.push("shop/used");
    let (_, other) = machine.push("other/kept");
    let mut agent = machine.agent(&AGENT.replace("2s", "1h"));
    run_job(&agent, &Job::new("idle", &idle));
    run_job(&agent, &Job::new("used", &used));
    run_job(&agent, &Job::new("other", &other));
    stop_job(&machine, &agent, "idle");
    stop_job(&machine, &agent, "other");
    std::fs::write(agent.file_path("agent.hcl"), AGENT).unwrap();
    // A second name, as a person may give one.
    machine.engine.tag(&idle, "mine/second", "1").unwrap();
    let losses = |agent: &Agent| agent.log().matches("the image ledger of this engine is empty, though").count();
    assert_eq!(losses(&agent), 0);
    lose_the_ledger(&mut agent);
    for name in [&idle, &used, &other] {
        assert_eq!(provenance(&agent, name), "foreign", "{name}");
    }

    let pattern = format!("{}/shop/*", machine.proxy.host());
    let told = said(&agent, &["image", "adopt", "-dry-run", &pattern]);
    assert!(told.contains("would be adopted") && told.contains("Nothing was adopted"), "{told}");
    assert_eq!(provenance(&agent, &idle), "foreign");
    let refused = agent.cli(&["image", "adopt", "none/of-these:*"]).unwrap();
    assert!(refused.code == 1 && refused.stderr.contains("no image here matches none/of-these:*"), "{refused:?}");

    let told = said(&agent, &["image", "adopt", &pattern]);
    assert_eq!(told.matches("  adopted").count(), 2, "{told}");
    assert!(agent.log().contains("was adopted by "), "the audit line");
    assert_eq!(provenance(&agent, &used), "obtained");
    let again = said(&agent, &["image", "adopt", &used]);
    assert!(again.contains("already obtained"), "{again}");

    machine.wait_image_gone(GONE, &idle);
    assert!(machine.has_image("mine/second:1") && machine.has_image(&used) && machine.has_image(&other));
    // It is on record: another start changes nothing, and the used one goes after its task.
    agent.stop().unwrap();
    agent.resume().unwrap();
    assert_eq!(provenance(&agent, &used), "obtained");
    assert_eq!(losses(&agent), 1, "told when it was lost, and not again: {}", agent.log());
    stop_job(&machine, &agent, "used");
    machine.wait_image_gone(GONE, &used);
    assert!(machine.has_image(&other), "nobody adopted it");
}

#[test]
fn nothing_goes_during_a_pause_and_over_a_restart() {
    let machine = Machine::start();
    let (_, name) = machine.push("shop/paused");
    let mut agent = machine.agent(AGENT);
    run_job(&agent, &Job::new("paused", &name));
    assert!(said(&agent, &["image", "pause", "1h"]).starts_with("No image is removed for "));
    stop_job(&machine, &agent, "paused");
    agent.kill9();
    agent.resume().unwrap();
    let row = wait_idle(&agent, &name);
    assert!(delay_seconds(&row) > 3000.0 && text(&row, "Why").contains("paused removals"), "{row}");
    assert!(said(&agent, &["image", "status"]).contains("No image is removed for "));
    let refused = agent.cli(&["image", "gc"]).unwrap();
    assert!(refused.code == 1 && refused.stderr.contains("image pause 0s"), "{refused:?}");
    // Well past its time.
    std::thread::sleep(Duration::from_secs(4));
    assert!(machine.has_image(&name));
    assert_eq!(said(&agent, &["image", "pause", "0s"]), "Images are removed again when nothing needs them\n");
    machine.wait_image_gone(GONE, &name);
    assert!(!said(&agent, &["image", "status"]).contains("No image is removed"));
}
