use super::*;

#[test]
fn what_is_not_there_is_told() {
    let agent = Agent::start();
    for list in ["jobs", "allocations", "evaluations", "nodes", "deployments"] {
        agent.at(&format!("GET /v1/{list}"), 200, 5, &json!([]));
    }
    agent.at("PUT /v1/search", 200, 5, &json!({"Matches": {"jobs": null, "allocs": []}}));
    agent.at(&format!("GET /v1/deployment/{DEPLOYMENT}"), 404, 5, &json!("deployment not found"));
    let lines = [
        &["job", "status", "nothing-here"][..],
        &["job", "status"],
        &["alloc", "status", "ffffffff"],
        &["alloc", "status", "f"],
        &["alloc", "logs", "f"],
        &["alloc", "status", "-json", "-t", "x", "ffff"],
        &["eval", "status", "f"],
        &["eval", "status", "ffff"],
        &["node", "status", "ffff0000"],
        &["node", "status"],
        &["deployment", "status", "f"],
        &["deployment", "status", "ffffffff"],
        &["deployment", "status", DEPLOYMENT],
        &["deployment", "list"],
        &["status", "zzzz-none"],
    ];
    let told: Vec<String> =
        lines.iter().map(|words| format!("$ nomad {}\n{}", words.join(" "), run_at(&agent.address, words))).collect();
    insta::assert_snapshot!(told.join("\n\n"), @r#"
    $ nomad job status nothing-here
    --- stderr
    No job(s) with prefix or ID "nothing-here" found
    --- exit 1

    $ nomad job status
    --- stdout
    No running jobs
    --- exit 0

    $ nomad alloc status ffffffff
    --- stderr
    No allocation(s) with prefix or id "ffffffff" found
    --- exit 1

    $ nomad alloc status f
    --- stderr
    Identifier must contain at least two characters.
    --- exit 1

    $ nomad alloc logs f
    --- stderr
    Alloc ID must contain at least two characters.
    --- exit 1

    $ nomad alloc status -json -t x ffff
    --- stderr
    Both json and template formatting are not allowed
    --- exit 1

    $ nomad eval status f
    --- stderr
    Identifier must contain at least two characters.
    --- exit 1

    $ nomad eval status ffff
    --- stderr
    No evaluation(s) with prefix or id "ffff" found
    --- exit 1

    $ nomad node status ffff0000
    --- stderr
    No node(s) with prefix "ffff0000" found
    --- exit 1

    $ nomad node status
    --- exit 0

    $ nomad deployment status f
    --- stderr
    Error retrieving deployment: Identifier must contain at least two characters.
    --- exit 1

    $ nomad deployment status ffffffff
    --- stderr
    Error retrieving deployment: Deployment ID "ffffffff" matched no deployments
    --- exit 1

    $ nomad deployment status f0804b9f-47e8-1b0c-d7ca-4b455ef53f61
    --- stderr
    Error retrieving deployment: Unexpected response code: 404 (deployment not found)
    --- exit 1

    $ nomad deployment list
    --- stdout
    No deployments found
    --- exit 0

    $ nomad status zzzz-none
    --- stderr
    Unable to resolve ID: "zzzz-none"
    --- exit 1
    "#);
}

#[test]
fn mistakes_in_the_command_line_are_told() {
    let address = "http://127.0.0.1:1";
    let lines = [
        &["job", "run"][..],
        &["job", "init", "a", "b"],
        &["job", "validate"],
        &["job", "stop"],
        &["alloc", "logs"],
        &["alloc", "status"],
        &["eval", "status"],
        &["system", "gc", "now"],
        &["image", "explain"],
    ];
    let told: Vec<String> =
        lines.iter().map(|words| format!("$ nomad {}\n{}", words.join(" "), run_at(address, words))).collect();
    insta::assert_snapshot!(told.join("\n\n"), @"
    $ nomad job run
    --- stderr
    This command takes one argument: <path>
    For additional help try 'nomad job run -help'
    --- exit 1

    $ nomad job init a b
    --- stderr
    This command takes either no arguments or one: <filename>
    For additional help try 'nomad job init -help'
    --- exit 1

    $ nomad job validate
    --- stderr
    This command takes one argument: <path>
    For additional help try 'nomad job validate -help'
    --- exit 1

    $ nomad job stop
    --- stderr
    This command takes at least one argument: <job>
    For additional help try 'nomad job stop -help'
    --- exit 1

    $ nomad alloc logs
    --- stderr
    An allocation ID is required
    For additional help try 'nomad alloc logs -help'
    --- exit 1

    $ nomad alloc status
    --- stderr
    This command takes one of the following argument conditions:
     * A single <allocation>
     * No arguments, with output format specified
    For additional help try 'nomad alloc status -help'
    --- exit 1

    $ nomad eval status
    --- stderr
    This command takes one argument
    For additional help try 'nomad eval status -help'
    --- exit 1

    $ nomad system gc now
    --- stderr
    This command takes no arguments
    For additional help try 'nomad system gc -help'
    --- exit 1

    $ nomad image explain
    --- stderr
    This command takes one argument: <image>
    For additional help try 'nomad image explain -help'
    --- exit 1
    ");
    let text = run_at(address, &["job", "status", "-bogus"]);
    assert!(text.starts_with("--- stdout\nUsage: nomad job status [options] <job>\n"), "{text}");
    assert!(text.ends_with("--- stderr\nflag provided but not defined: -bogus\n--- exit 1"), "{text}");
}

#[test]
fn an_agent_that_is_not_there_is_told() {
    insta::assert_snapshot!(run_at("http://127.0.0.1:1", &["job", "status"]), @r#"
    --- stderr
    Error querying jobs: Get "http://127.0.0.1:1/v1/jobs": dial tcp 127.0.0.1:1: connect: connection refused
    No agent answers there. Start one ("agent -dev" for a first try), or name another with -address or NOMAD_ADDR.
    --- exit 1
    "#);
    insta::assert_snapshot!(run_at("unix:///no/such.sock", &["node", "status"]), @r#"
    --- stderr
    Error querying node status: Get "unix:///no/such.sock/v1/nodes?os=false": dial unix /no/such.sock: connect: no such file or directory
    No agent answers there. Start one ("agent -dev" for a first try), or name another with -address or NOMAD_ADDR.
    --- exit 1
    "#);
    insta::assert_snapshot!(run_at("https://127.0.0.1:1", &["job", "status"]), @"
    --- stderr
    Error initializing client: https is not in this build: https://127.0.0.1:1 cannot be spoken to; use an http:// or unix:// address
    --- exit 1
    ");
    let agent = Agent::start();
    agent.at("GET /v1/jobs", 500, 0, &json!("No cluster leader"));
    insta::assert_snapshot!(run_at(&agent.address, &["job", "status"]), @"
    --- stderr
    Error querying jobs: Unexpected response code: 500 (No cluster leader)
    --- exit 1
    ");
    agent.at("GET /v1/nodes", 200, 0, &json!("not json"));
    assert!(run_at(&agent.address, &["node", "status"]).contains("answered what is not understood here"));
}

#[test]
fn a_command_that_is_not_there_is_named() {
    let check = |words: &[&str], help: &str, error: &str, code: u8| {
        let (mut ui, [out, err]) = Ui::captured();
        assert_eq!(guide(&mut ui, "nomad", words, &find(words)), code, "{words:?}");
        assert!(out.text().starts_with(help), "{words:?}: {}", out.text());
        assert_eq!(err.text(), error, "{words:?}");
    };
    let root = "Usage: nomad [-version] [-help] <command>";
    let group = "Usage: nomad alloc <subcommand>";
    check(&[], root, "", 127);
    check(&["-bogus"], root, "", 127);
    check(&["frobnicate"], root, "There is no command \"frobnicate\" in this build.\n", 127);
    check(&["volume", "status"], root, "There is no command \"volume\" in this build.\n", 127);
    check(&["stauts"], root, "There is no command \"stauts\" in this build. Did you mean \"status\"?\n", 127);
    check(&["alloc"], group, "", 1);
    check(&["alloc", "-help"], group, "", 0);
    check(&["alloc", "-bogus"], group, "", 1);
    let meant = "There is no command \"alloc lgos\" in this build. Did you mean \"alloc logs\"?\n";
    check(&["alloc", "lgos", "-f", "abc"], group, meant, 1);
    check(&["alloc", "checks", "abc"], group, "There is no command \"alloc checks\" in this build.\n", 1);
}
