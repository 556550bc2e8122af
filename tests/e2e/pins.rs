//! What a person pins stays, by the command line and the API as they are.

use std::time::Duration;

use longshore_harness::{Body, eventually};

use crate::support::*;

const AGENT: &str = "plugin \"docker\" {\n  config {\n    gc {\n      image_delay = \"1s\"\n    }\n  }\n}\n";

#[test]
fn a_pinned_image_stays_until_it_is_unpinned() {
    let machine = Machine::start();
    let (_, name) = machine.push("shop/pinned");
    let agent = machine.agent(AGENT);
    let said = |words: &[&str]| agent.cli(words).unwrap().success(&words.join(" ")).unwrap().stdout;
    run_job(&agent, &Job::new("pinned", &name));
    assert!(said(&["image", "pin", &name]).starts_with(&format!("Pinned {name}")));
    stop_job(&machine, &agent, "pinned");
    // Who collects takes all that nobody needs, at once.
    said(&["image", "gc"]);
    assert!(machine.has_image(&name));
    assert!(said(&["image", "pin"]).contains(&name));
    assert_eq!(said(&["image", "unpin", &name]), format!("Unpinned {name}\n"));
    assert_eq!(said(&["image", "pin"]), "No pins\n");
    machine.wait_image_gone(Duration::from_secs(20), &name);
    let story = eventually(SOON, "the story of what is gone", || {
        let story = agent.cli(&["image", "explain", &name]).map_err(|error| error.to_string())?.stdout;
        if story.contains("nothing had needed it for 1s") && story.contains("were freed") {
            Ok(story)
        } else {
            Err(story)
        }
    });
    story.unwrap();
}

#[test]
fn an_image_that_is_asked_for_twice_has_one_hold() {
    let machine = Machine::start();
    let (_, name) = machine.push("shop/asked");
    let agent = machine.agent(AGENT);
    let until = || {
        // Also right after a start, before the engine was reached.
        let body = serde_json::json!({"Name": name});
        let facts = agent.call("PUT", "/v1/client/images/pull", Body::Json(&body)).unwrap().json();
        text(&facts.unwrap(), "KeptUntil")
    };
    let first = until();
    assert!(until() > first, "it is kept for longer");
    let row = image_row(&agent, &name).unwrap();
    assert!(row["Holds"] == 1 && row["Holders"][0]["Kind"] == "pull", "{row}");
}
