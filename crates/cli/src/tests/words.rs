use super::*;

#[track_caller]
fn check(line: &str, expected: &str) {
    let words: Vec<&str> = line.split(' ').filter(|word| !word.is_empty()).collect();
    let got = match find(&words) {
        Found::Command(command, used) => format!("{} after {used}", command.name),
        Found::Group(name) => format!("group {name}"),
        Found::Nothing => "nothing".to_owned(),
    };
    assert_eq!(got, expected, "{line}");
}

#[test]
fn words_name_commands() {
    check("job run a.hcl", "job run after 2");
    check("run a.hcl", "job run after 1");
    check("status", "status after 1");
    check("status job", "status after 1");
    check("job status", "job status after 2");
    check("job", "group job");
    check("job frobnicate", "group job");
    check("alloc-status x", "alloc status after 1");
    check("frobnicate", "nothing");
    check("server members", "server members after 2");
    check("", "nothing");
}

#[test]
fn commands_are_sorted_and_their_flags_are_distinct() {
    assert!(COMMANDS.is_sorted_by_key(|command| command.name));
    for command in COMMANDS {
        let mut names: Vec<&str> = command.all_flags().iter().map(|flag| flag.name).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count, "{}", command.name);
    }
}

#[test]
fn help_texts() {
    insta::assert_snapshot!(help::root("longshore"), @"
    Usage: longshore [-version] [-help] <command> [args]

    Common commands:
        run       Run a job, or update one that runs
        stop      Stop jobs
        status    List jobs, or show whatever an id belongs to
        alloc     Interact with allocations
        job       Interact with jobs
        node      Interact with nodes
        agent     Run an agent

    Other commands:
        agent-info    Show what an agent tells of itself
        config        Interact with agent files
        deployment    Interact with deployments
        eval          Interact with evaluations
        fmt           Put job, variable and agent files into their usual form
        image         See the images that tasks need, and why they stay or go
        server        Interact with servers
        system        Interact with the whole cluster
        version       Print the version
    ");
    insta::assert_snapshot!(help::group("longshore", "deployment"), @"
    Usage: longshore deployment <subcommand> [options] [args]

      Interact with deployments.

    Subcommands:
        fail      Fail a deployment by hand
        list      List all deployments
        status    Show a deployment
    ");
    let command = COMMANDS.iter().find(|command| command.name == "system gc").unwrap();
    insta::assert_snapshot!(help::command("nomad", command).lines().take(8).collect::<Vec<_>>().join("\n"), @"
    Usage: nomad system gc [options]

      Forget what has ended, now.

    General Options:

      -address=<value>
        The agent's address; also NOMAD_ADDR (default http://127.0.0.1:4646).
    ");
}

#[test]
fn agent_files_are_checked_in_this_process() {
    assert_eq!(run_at("", &["config", "show", "-origin", "-dev", "-node=a", "b.hcl"]), "--- exit 4");
    assert_eq!(run_at("", &["config", "validate", "a.hcl", "b"]), "--- exit 2");
    assert_eq!(run_at("", &["config", "validate", "-effective", "a.hcl"]), "--- exit 101");
    assert_eq!(run_at("", &["config", "validate", "-diagnostics=json", "a.hcl"]), "--- exit 51");
    for wrong in [&["-diagnostics=xml"][..], &["-diagnostics=json", "-effective"]] {
        let told = run_at("", &[&["config", "validate"], wrong, &["a.hcl"]].concat());
        assert!(told.ends_with("--- exit 1"), "{told}");
    }
    insta::assert_snapshot!(run_at("", &["config", "validate"]), @"
    --- stderr
    This command takes at least one argument: <path>
    For additional help try 'nomad config validate -help'
    --- exit 1
    ");
}
