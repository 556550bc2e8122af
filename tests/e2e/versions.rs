//! `gc { keep_versions = 1 }`: what a roll-back needs is there.

use std::time::Duration;

use crate::support::*;

const AGENT: &str =
    "plugin \"docker\" {\n  config {\n    gc {\n      image_delay = \"1s\"\n      keep_versions = 1\n    }\n  }\n}\n";
const GONE: Duration = Duration::from_secs(20);

#[test]
fn a_revert_to_the_version_before_asks_no_registry() {
    let machine = Machine::start();
    let (old_image, old) = machine.push("shop/old");
    let (_, new) = machine.push("shop/new");
    let (_, newest) = machine.push("shop/newest");
    let mut agent = machine.agent(AGENT);
    run_job(&agent, &Job::new("web", &old));
    run_job(&agent, &Job::new("web", &new));
    // A restart forgets nothing.
    agent.kill9();
    agent.resume().unwrap();
    // Well past its delay.
    std::thread::sleep(Duration::from_secs(4));
    let row = image_row(&agent, &old).unwrap_or_else(|| panic!("{old} is kept"));
    let holder = row["Holders"][0].clone();
    assert_eq!((text(&holder, "Kind"), text(&holder, "ID")), ("kept version".to_owned(), "web@default v0".to_owned()));

    let asked = machine.requests("shop/old");
    agent.cli(&["job", "revert", "web", "0"]).unwrap().success("revert").unwrap();
    let running = wait_running(&agent, "web", 1);
    let containers = machine.containers_of(&running);
    assert_eq!(containers.iter().map(|it| it.image_id.clone()).collect::<Vec<_>>(), [old_image.id()]);
    assert_eq!(machine.requests("shop/old"), asked, "{:?}", machine.proxy.seen_of("shop/old"));

    // One version back is kept, two are not.
    run_job(&agent, &Job::new("web", &newest));
    machine.wait_image_gone(GONE, &new);
    assert!(machine.has_image(&old));
    // A purge ends all of it.
    agent.cli(&["job", "stop", "-purge", "-detach", "web"]).unwrap().success("purge").unwrap();
    machine.wait_image_gone(GONE, &old);
    machine.wait_image_gone(GONE, &newest);
}
