//! Commands that people run beside a task: streams, terminal, exit codes, and what ends them.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::thread;

use longshore_harness::{Agent, eventually};
use nix::pty::{OpenptyResult, Winsize, openpty};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::support::*;

fn command(agent: &Agent, words: &[&str]) -> Command {
    let mut command = agent.cli_command(&["alloc", "exec"]);
    command.args(words).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

#[track_caller]
fn exec(agent: &Agent, words: &[&str]) -> (i32, String, String) {
    let Output { status, stdout, stderr } = command(agent, words).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (status.code().unwrap_or(-1), text(stdout), text(stderr))
}

/// Processes of this machine whose command line holds `mark`.
fn processes(mark: &str) -> Vec<String> {
    let all = longshore_harness::ProcessIdentity::all().into_iter().map(|it| it.command_line());
    all.filter(|line| line.contains(mark) && !line.contains("alloc")).collect()
}

#[track_caller]
fn until_processes(mark: &str, wanted: bool) {
    eventually(SOON, format!("processes with {mark:?}: {wanted}"), || {
        let found = processes(mark);
        if found.is_empty() != wanted { Ok(()) } else { Err(format!("{found:?}")) }
    })
    .unwrap();
}

#[track_caller]
fn ended(mut child: Child) -> ExitStatus {
    eventually(SOON, "the end of the command line", || match child.try_wait() {
        Ok(Some(status)) => Ok(status),
        other => Err(format!("{other:?}")),
    })
    .unwrap()
}

/// A new agent takes commands as soon as it has found its tasks again.
#[track_caller]
fn until_taken(agent: &Agent, alloc: &str) {
    eventually(SOON, "commands to be taken again", || match exec(agent, &[alloc, "/bin/echo", "again"]) {
        (0, out, _) if out == "again\n" => Ok(()),
        other => Err(format!("{other:?}")),
    })
    .unwrap();
}

#[test]
fn commands_run_beside_a_task() {
    let machine = Machine::start();
    let mut agent = machine.agent("");
    let (_, name) = machine.push("shop/exec");
    run_job(&agent, &Job::new("exec", &name));
    let alloc = wait_running(&agent, "exec", 1).remove(0);

    // Streams are kept apart, and the exit code is passed on.
    let (code, out, err) = exec(&agent, &[&alloc, "/bin/sh", "-c", "echo out; echo err >&2; exit 7"]);
    assert_eq!((code, out.as_str(), err.as_str()), (7, "out\n", "err\n"));
    let (code, out, _) = exec(&agent, &["-task", "main", "-job", "exec", "/bin/sh", "-c", "echo $NOMAD_ALLOC_ID"]);
    assert_eq!((code, out.trim()), (0, alloc.as_str()));
    let (code, out, err) = exec(&agent, &[&alloc, "/no/such/program"]);
    assert!(matches!(code, 126 | 127), "{code} {out} {err}");
    assert!(out.contains("no such file or directory"), "{out} {err}");

    // Five megabytes there and back, each byte the same, and an end of input that arrives.
    let sent: Vec<u8> = (0..5 << 20_u32).map(|n: u32| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let mut child = command(&agent, &[&alloc, "/bin/cat"]).stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let to_send = sent.clone();
    let writer = thread::spawn(move || stdin.write_all(&to_send));
    let Output { status, stdout, stderr } = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(status.success(), "{}", String::from_utf8_lossy(&stderr));
    assert!(stdout == sent, "{} bytes of {} came back, or others", stdout.len(), sent.len());

    // A caller that goes takes the command along.
    let mut caller = command(&agent, &[&alloc, "/bin/sh", "-c", "sleep 987001; true"]).spawn().unwrap();
    until_processes("sleep 987001", true);
    caller.kill().unwrap();
    caller.wait().unwrap();
    until_processes("987001", false);

    for (words, expected) in [
        (vec!["-task", "other", &alloc, "ls"], "Could not find task named: other"),
        (vec![alloc.as_str()], "A command is required"),
        (vec!["-e", "ab", &alloc, "ls"], "-e requires 'none' or a single character"),
    ] {
        let (code, _, err) = exec(&agent, &words);
        assert!(code == 1 && err.contains(expected), "{words:?}: {code} {err}");
    }

    // The agent dies under a command: its caller is told, the task goes on, and the next agent takes commands again.
    let caller = command(&agent, &[&alloc, "/bin/sh", "-c", "sleep 987002; true"]).spawn().unwrap();
    until_processes("sleep 987002", true);
    agent.kill9();
    let Output { status, stderr, .. } = caller.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&stderr).into_owned();
    assert!(status.code() == Some(1) && said.contains("failed to exec into task: the connection"), "{said}");
    agent.resume().unwrap();
    until_taken(&agent, &alloc);

    // An agent that ends in good order ends its commands, and not the task.
    let caller = command(&agent, &[&alloc, "/bin/sh", "-c", "sleep 987003; true"]).spawn().unwrap();
    until_processes("sleep 987003", true);
    agent.stop().unwrap();
    assert_eq!(ended(caller).code(), Some(1));
    until_processes("987003", false);
    assert_eq!(machine.containers_of(std::slice::from_ref(&alloc)).len(), 1);
    agent.resume().unwrap();
    until_taken(&agent, &alloc);

    // A task that stops ends its commands; afterwards there is nothing to run them beside.
    let caller = command(&agent, &[&alloc, "/bin/sh", "-c", "sleep 987004"]).spawn().unwrap();
    until_processes("987004", true);
    stop_job(&machine, &agent, "exec");
    assert!(!ended(caller).success());
    let (code, _, err) = exec(&agent, &[&alloc, "/bin/true"]);
    assert!(code == 1 && err.contains("failed to exec into task: task \"main\" is not running."), "{code} {err}");
}

/// What a terminal of a person's would be: written to, read from, resized.
struct Terminal {
    master: File,
    child: Child,
    seen: String,
}

impl Terminal {
    fn open(agent: &Agent, words: &[&str], rows: u16, columns: u16) -> Self {
        let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        let OpenptyResult { master, slave } = openpty(Some(&size), None).unwrap();
        let end = |fd: &OwnedFd| Stdio::from(fd.try_clone().unwrap());
        let child = agent
            .cli_command(&["alloc", "exec"])
            .args(words)
            .stdin(end(&slave))
            .stdout(end(&slave))
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        Self { master: File::from(master), child, seen: String::new() }
    }

    fn type_keys(&mut self, keys: &str) {
        self.master.write_all(keys.as_bytes()).unwrap();
    }

    /// Reads on until `text` has come.
    #[track_caller]
    fn until(&mut self, text: &str) {
        let mut buffer = [0; 4096];
        while !self.seen.contains(text) {
            let count = self.master.read(&mut buffer).unwrap_or(0);
            assert!(count > 0, "no {text:?} in {:?}", self.seen);
            self.seen.push_str(&String::from_utf8_lossy(&buffer[..count]));
        }
        self.seen.clear();
    }
}

#[test]
fn a_terminal_has_the_size_of_its_persons_and_hangs_up() {
    let machine = Machine::start();
    let agent = machine.agent("");
    let (_, name) = machine.push("shop/terminal");
    run_job(&agent, &Job::new("terminal", &name));
    let alloc = wait_running(&agent, "terminal", 1).remove(0);

    let mut terminal = Terminal::open(&agent, &[&alloc, "/bin/sh"], 33, 101);
    terminal.type_keys("echo begun-$((1+1))\r");
    terminal.until("begun-2");
    terminal.type_keys("until stty size | grep '33 101'; do sleep 0.1; done; echo size-$((2+2))\r");
    terminal.until("size-4");
    let size = rustix::termios::Winsize { ws_row: 44, ws_col: 120, ws_xpixel: 0, ws_ypixel: 0 };
    rustix::termios::tcsetwinsize(&terminal.master, size).unwrap();
    kill(Pid::from_raw(terminal.child.id() as i32), Signal::SIGWINCH).unwrap();
    terminal.type_keys("until stty size | grep '44 120'; do sleep 0.1; done; echo size-$((3+3))\r");
    terminal.until("size-6");
    // Ctrl-C is the command's own.
    terminal.type_keys("sleep 987005\r");
    until_processes("sleep 987005", true);
    terminal.type_keys("\u{3}");
    until_processes("987005", false);
    terminal.type_keys("exit 5\r");
    assert_eq!(ended(terminal.child).code(), Some(5));

    let mut terminal = Terminal::open(&agent, &[&alloc, "/bin/sh"], 24, 80);
    terminal.type_keys("echo begun-$((1+1))\r");
    terminal.until("begun-2");
    terminal.type_keys("sleep 987006\r");
    until_processes("sleep 987006", true);
    terminal.type_keys("\r~.");
    assert_eq!(ended(terminal.child).code(), Some(1));
    until_processes("987006", false);
}

/// A WebSocket is no way around what keeps web pages out: it is asked for like anything else, with the page's origin.
#[test]
fn a_node_may_refuse_commands() {
    let machine = Machine::start();
    let agent = machine.agent("client {\n  disable_remote_exec = true\n}\n");
    let (_, name) = machine.push("shop/closed");
    run_job(&agent, &Job::new("closed", &name));
    let alloc = wait_running(&agent, "closed", 1).remove(0);
    let (code, out, err) = exec(&agent, &[&alloc, "/bin/echo", "here"]);
    assert_eq!((code, out.as_str()), (1, ""));
    assert!(err.contains("commands in tasks are disabled on this node"), "{err}");
    let told = agent.get("/v1/agent/self").unwrap();
    assert_eq!(told["config"]["Client"]["DisableRemoteExec"], true);
    stop_job(&machine, &agent, "closed");
}

#[test]
fn web_pages_open_no_socket() {
    let machine = Machine::start();
    let agent = machine.agent("");
    let (_, name) = machine.push("shop/pages");
    run_job(&agent, &Job::new("pages", &name));
    let alloc = wait_running(&agent, "pages", 1).remove(0);
    let host = agent.http_address().to_string();
    let ask = |lines: &str| {
        let text = format!(
            "GET /v1/client/allocation/{alloc}/exec?task=main&command=%5B%22/bin/true%22%5D HTTP/1.1\r\n{lines}\
             Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
             Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        );
        let mut head = vec![0; 12];
        let mut stream = std::net::TcpStream::connect(agent.http_address()).unwrap();
        stream.write_all(text.as_bytes()).unwrap();
        stream.read_exact(&mut head).unwrap();
        String::from_utf8(head).unwrap()
    };
    assert_eq!(ask(&format!("Host: {host}\r\n")), "HTTP/1.1 101");
    assert_eq!(ask(&format!("Host: {host}\r\nOrigin: http://{host}\r\n")), "HTTP/1.1 101");
    assert_eq!(ask(&format!("Host: {host}\r\nOrigin: https://evil.example\r\n")), "HTTP/1.1 403");
    assert_eq!(ask("Host: evil.example:4646\r\n"), "HTTP/1.1 403");
}
