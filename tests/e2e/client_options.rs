//! The old keys under `client.options` hold wherever the plugin's config does not say the same thing.

use std::time::Duration;

use crate::support::*;

const DELAY_96H: &str = "client {\n  options = {\n    \"docker.cleanup.image.delay\" = \"96h\"\n  }\n}\n";
const FOUR_DAYS: f64 = 96.0 * 3600.0;

#[track_caller]
fn check_96h(plugin: impl FnOnce(&Machine) -> String) {
    let machine = Machine::start();
    let plugin = plugin(&machine);
    let (_, name) = machine.push("shop/slow");
    let agent = machine.agent(&format!("{DELAY_96H}{plugin}"));
    run_job(&agent, &Job::new("slow", &name));
    stop_job(&machine, &agent, "slow");
    check_delay(&wait_idle(&agent, &name), FOUR_DAYS);
    let log = agent.log();
    let (_, warning) = log
        .split_once("client option \"docker.cleanup.image.delay\"")
        .unwrap_or_else(|| panic!("no warning in\n{log}"));
    let warning: String = warning.lines().take(5).collect();
    assert!(
        warning.contains("plugin \"docker\" { config { gc { image_delay"),
        "the warning names the new place: {warning}"
    );
}

#[test]
fn the_old_delay_holds_alone() {
    check_96h(|_| String::new());
}

#[test]
fn the_old_delay_holds_beside_a_plugin_block_that_says_something_else() {
    check_96h(|machine| {
        let login = machine.run.write("docker-login.json", "{}").unwrap();
        format!("plugin \"docker\" {{\n  config {{\n    auth {{ config = \"{}\" }}\n  }}\n}}\n", login.display())
    });
}

#[test]
fn the_new_delay_wins_over_the_old_one() {
    let machine = Machine::start();
    let (_, name) = machine.push("shop/quick");
    let agent = machine
        .agent(&format!("{DELAY_96H}plugin \"docker\" {{\n  config {{\n    gc {{ image_delay = \"2s\" }}\n  }}\n}}\n"));
    run_job(&agent, &Job::new("quick", &name));
    stop_job(&machine, &agent, "quick");
    machine.wait_image_gone(Duration::from_secs(10), &name);
}

#[test]
fn image_false_means_never() {
    let machine = Machine::start();
    let (_, name) = machine.push("shop/kept");
    let agent = machine.agent(
        "plugin \"docker\" {\n  config {\n    gc {\n      image = false\n      image_delay = \"1s\"\n    }\n  }\n}\n",
    );
    run_job(&agent, &Job::new("kept", &name));
    stop_job(&machine, &agent, "kept");
    let row = wait_idle(&agent, &name);
    assert!(row["DueAt"].is_null(), "{row}");
    // Another image comes and goes with its task meanwhile; this one stays.
    let (_, other) = machine.push("shop/other");
    run_job(&agent, &Job::new("other", &other));
    stop_job(&machine, &agent, "other");
    wait_idle(&agent, &other);
    assert!(machine.has_image(&name) && machine.has_image(&other));
}
