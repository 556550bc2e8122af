//! M3: what an idle agent costs.

use std::fs;
use std::path::Path;
use std::time::Duration;

use longshore_harness::{Agent, AgentSetup, Run, eventually};

use crate::shell::Outcome;

pub(super) fn measure(run: &Run, binary: &Path) -> Outcome<String> {
    let mut text = "## M3: an idle agent\n\nFrom `/proc/PID/smaps_rollup` and `/proc/PID/status`, once processor time has stood still for a second. \
                    Goal: anonymous ≤ 6 MB, RSS ≤ 20 MB.\n\n| agent | RSS, MB | anonymous, MB | file, MB |\n|---|---|---|---|\n"
        .to_owned();
    for (name, setup) in [
        ("server and client, data folder", AgentSetup::new(binary).named("idle")),
        ("`-dev`", AgentSetup::new(binary).named("idle-dev").dev()),
    ] {
        let mut agent = Agent::start(run, setup)?;
        wait_idle(agent.pid())?;
        let status = fs::read_to_string(format!("/proc/{}/status", agent.pid()))?;
        let value = |key: &str| -> f64 {
            let line = status.lines().find_map(|line| line.strip_prefix(key)).unwrap_or_default();
            line.trim().trim_end_matches(" kB").trim().parse::<f64>().unwrap_or(f64::NAN) * 1024.0 / 1e6
        };
        text.push_str(&format!(
            "| {name} | {:.1} | {:.1} | {:.1} |\n",
            value("VmRSS:"),
            value("RssAnon:"),
            value("RssFile:")
        ));
        agent.stop()?;
    }
    text.push('\n');
    Ok(text)
}

/// Waits until the process has used no more than a hundredth of its time for a second.
fn wait_idle(pid: i32) -> Outcome {
    let ticks = || -> Result<u64, String> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).map_err(|error| error.to_string())?;
        let fields: Vec<&str> = stat.rsplit_once(')').map(|it| it.1.split_whitespace().collect()).unwrap_or_default();
        let number = |at: usize| fields.get(at).and_then(|it| it.parse::<u64>().ok()).unwrap_or_default();
        Ok(number(11) + number(12))
    };
    let mut before = (std::time::Instant::now(), ticks()?);
    eventually(Duration::from_secs(60), "an idle agent", || {
        if before.0.elapsed() < Duration::from_secs(1) {
            return Err("looking".to_owned());
        }
        let now = ticks()?;
        let used = now - before.1;
        before = (std::time::Instant::now(), now);
        if used <= 1 { Ok(()) } else { Err(format!("{used} ticks in the last second")) }
    })?;
    Ok(())
}
