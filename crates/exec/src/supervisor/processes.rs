//! Finds and kills the processes of a task. Numbers of processes are used again by the kernel: a process is known by its
//! number and its start, a session by its number and that it has not been empty since.

use std::fs;
use std::time::Duration;

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// The parts of `/proc/<pid>/stat` that tell who a process is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ProcessStat {
    pub(crate) state: u8,
    pub(crate) session: i32,
    /// In clock ticks since the machine started.
    pub(crate) start_ticks: u64,
}

/// `None` when there is no such process.
pub(crate) fn stat(pid: i32) -> Option<ProcessStat> {
    parse_stat(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// `pid (name) state ppid pgrp session …`, where the name may hold blanks and brackets.
fn parse_stat(text: &str) -> Option<ProcessStat> {
    let (_, rest) = text.rsplit_once(')')?;
    let fields: Vec<_> = rest.split_whitespace().collect();
    Some(ProcessStat {
        state: *fields.first()?.as_bytes().first()?,
        session: fields.get(3)?.parse().ok()?,
        start_ticks: fields.get(19)?.parse().ok()?,
    })
}

/// The start of the machine's present run, as a name.
pub(crate) fn boot_id() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").map(|text| text.trim().to_owned()).unwrap_or_default()
}

/// The living processes of a session that was begun by process `leader`, which started at `start_ticks`.
fn session_members(leader: i32, start_ticks: u64) -> Vec<i32> {
    // Never the kernel's own, nor the first process's.
    if leader <= 1 {
        return Vec::new();
    }
    if stat(leader).is_some_and(|found| found.start_ticks != start_ticks) {
        // The number was given to another process: then the session had become empty before.
        return Vec::new();
    }
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    pids.filter(|pid| stat(*pid).is_some_and(|found| found.session == leader && found.state != b'Z')).collect()
}

/// Kills all that is left of a session, until nothing is.
pub(crate) async fn kill_session(leader: i32, start_ticks: u64) {
    let mut pause = Duration::from_millis(1);
    loop {
        let members = session_members(leader, start_ticks);
        if members.is_empty() {
            return;
        }
        for pid in members {
            send(pid, Signal::SIGKILL);
        }
        // A killed process needs a moment to be gone; nobody tells when a process that is not a child has gone.
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(Duration::from_millis(100));
    }
}

/// Sends a signal to one process; one that has gone already has what it needs.
pub(crate) fn send(pid: i32, signal: Signal) {
    match kill(Pid::from_raw(pid), signal) {
        Ok(()) | Err(Errno::ESRCH) => {}
        Err(error) => eprintln!("could not send {signal} to process {pid}: {error}"),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn lines_of_stat() {
        let line = "71 (a) b (c) S 1 71 70 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 4242 1000";
        let found = parse_stat(line).unwrap();
        assert_eq!(found, ProcessStat { state: b'S', session: 70, start_ticks: 4242 });
        assert_eq!(parse_stat("71 (a) S 1"), None);
        assert_eq!(parse_stat(""), None);
    }

    #[test]
    fn the_members_of_a_session_are_found_by_number_and_start() {
        // A session of the test's own: that of the test may be the machine's first, which is never looked at.
        let mut leader = std::process::Command::new("setsid").args(["sleep", "1000"]).spawn().unwrap();
        let pid = i32::try_from(leader.id()).unwrap();
        let deadline = std::time::Instant::now() + Duration::from_secs(10);
        while stat(pid).unwrap().session != pid {
            assert!(std::time::Instant::now() < deadline, "`setsid` has made no session");
            std::thread::yield_now();
        }
        let started = stat(pid).unwrap().start_ticks;
        let found = (session_members(pid, started), session_members(pid, started + 1));
        leader.kill().unwrap();
        leader.wait().unwrap();
        assert_eq!(found, (vec![pid], Vec::new()));
        assert_eq!(session_members(1, stat(1).unwrap().start_ticks), Vec::<i32>::new());
    }
}
