//! What a task writes is read whole and once, whatever becomes of the agent meanwhile.

use longshore_harness::eventually;
use nix::sys::signal::Signal;

use crate::support::*;

#[test]
fn a_log_goes_on_over_the_ends_of_the_agent() {
    let machine = Machine::start();
    let mut agent = machine.agent("");
    let (_, name) = machine.push("shop/chatty");
    // About a thousand lines a second, each on both outputs.
    let count = "i=0; while :; do echo line $i; echo line $i >&2; i=$((i+1)); usleep 500; done";
    let job =
        Job::new("chatty", &name).config("command = \"/bin/sh\"").config(&format!("args = [\"-c\", \"{count}\"]"));
    run_job(&agent, &job);
    let allocation = wait_running(&agent, "chatty", 1).remove(0);
    let read = |agent: &longshore_harness::Agent, output: &[&str]| -> Vec<String> {
        let said = agent.cli(&[&["alloc", "logs"], output, &[&allocation]].concat()).unwrap();
        let said = said.success("read the log").unwrap();
        said.stdout.lines().map(str::to_owned).collect()
    };
    for ending in [None, Some(Signal::SIGTERM), None, Some(Signal::SIGINT), None] {
        let before = read(&agent, &[]).len();
        eventually(SOON, "more lines", || match read(&agent, &[]).len() {
            now if now > before + 500 => Ok(()),
            now => Err(format!("{now}, {before} before")),
        })
        .unwrap();
        match ending {
            None => agent.kill9(),
            Some(signal) => drop(agent.end(signal).unwrap()),
        }
        agent.resume().unwrap();
        assert_eq!(wait_running(&agent, "chatty", 1), std::slice::from_ref(&allocation));
    }
    stop_job(&machine, &agent, "chatty");
    for output in [&[][..], &["-stderr"]] {
        let lines = read(&agent, output);
        assert!(lines.len() > 2_500, "{} lines {output:?}; the agent: {}", lines.len(), agent.log_tail(20));
        let first_wrong = lines.iter().enumerate().find(|(i, line)| **line != format!("line {i}"));
        assert_eq!(first_wrong, None, "of {} lines {output:?}", lines.len());
    }
}
