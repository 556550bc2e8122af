//! A soak: jobs are run, updated and stopped all the time while agent and engine are killed (9) in drawn phases.
//!
//! What is judged, only by the engine, its events and what clients were answered:
//!
//! 1. Never two containers of one task at once.
//! 2. No image is removed between two containers of an allocation that needs it.
//! 3. A service that is updated one at a time never has fewer running than that, and an update to an image that does not exist
//!    stops nothing. (An engine that is killed takes its containers with it; then it counts from when all run again.)
//! 4. What the server has acknowledged is there after each start.
//! 5. After the calm no container, image, network, mount or folder of ours is left, and what a person brought is.
//!
//! All draws come from one seed; the moments of a real machine do not.

mod calm;
mod chance;
mod churn;
mod disk;
mod jobs;
mod kills;
pub mod pair;
mod phase;
mod shared;
mod watch;
pub mod witness;

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

pub use phase::Phase;

use self::shared::Shared;
use crate::{
    Address, Agent, AgentSetup, CountingProxy, Engine, EngineSetup, EventRecorder, Fault, HarnessError, Image,
    Registry, Result, Run,
};

/// Brought by a person, and never touched.
const PERSON: &str = "person/own:1";
const AGENT_FILE: &str = "client {
  disk_total_mb = 8192
  disk_free_mb  = 8192
}
plugin \"docker\" {
  config {
    gc {
      image_delay = \"1s\"
      dangling_containers {
        period         = \"2s\"
        creation_grace = \"1m\"
      }
    }
  }
}
";
/// So that a pull takes about half a second.
const BYTES_A_SECOND: u64 = 4 << 20;

/// How a soak is led.
#[derive(Debug, Clone)]
pub struct SoakSetup {
    /// The binary under test.
    pub binary: PathBuf,
    /// All draws come from it.
    pub seed: u64,
    /// How often the agent is killed.
    pub agent_kills: usize,
    /// How often the engine is killed.
    pub engine_kills: usize,
    /// How many kills must have met each phase.
    pub least_per_phase: usize,
    /// Bytes of a file system for engine and agent that is filled and freed at drawn moments; none: the machine's disk.
    pub disk_bytes: Option<u64>,
}

/// What a soak was like.
#[derive(Debug, Clone, Default)]
pub struct SoakReport {
    /// Kills of the agent and of the engine that met each phase.
    pub met: BTreeMap<Phase, (usize, usize)>,
    /// Kills that met none: what was waited for was over at that moment.
    pub met_none: usize,
    /// Starts of containers that were seen.
    pub starts: usize,
    /// Ends of containers of the steady service that were judged.
    pub judged_ends: usize,
    /// Updates of the steady service to an image that does not exist.
    pub missing_images: usize,
    /// Images that were removed.
    pub removals: usize,
    /// What should not be.
    pub findings: Vec<String>,
}

impl SoakReport {
    fn met_in(&self, phase: Phase) -> usize {
        self.met.get(&phase).map_or(0, |(agent, engine)| agent + engine)
    }
}

impl fmt::Display for SoakReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:<10} {:>6} {:>7}", "phase", "agent", "engine")?;
        for phase in Phase::ALL {
            let (agent, engine) = self.met.get(&phase).copied().unwrap_or_default();
            writeln!(f, "{phase:<10} {agent:>6} {engine:>7}  {}", "#".repeat(agent + engine))?;
        }
        writeln!(f, "{:<10} {:>6}", "none", self.met_none)?;
        writeln!(
            f,
            "{} starts, {} removals of images, {} ends of the steady service judged, {} updates to a missing image",
            self.starts, self.removals, self.judged_ends, self.missing_images,
        )?;
        match self.findings.as_slice() {
            [] => writeln!(f, "nothing found"),
            found => found.iter().try_for_each(|line| writeln!(f, "FOUND {line}")),
        }
    }
}

/// Leads a soak to its end.
///
/// # Errors
/// When the surroundings fail. What the product does wrong stands in the report.
pub fn soak(run: &Run, setup: &SoakSetup) -> Result<SoakReport> {
    let engine_setup = EngineSetup { disk_bytes: setup.disk_bytes, ..EngineSetup::default() };
    let mut engine = Engine::start_with(run, engine_setup)?;
    let registry = Registry::start(&engine)?;
    let proxy = CountingProxy::start(&engine, &registry)?;
    engine.load(&Image::sleeper()?, &[PERSON])?;
    // Small ones, so that a small disk holds some.
    let padding_bytes = 64;
    for number in 0..churn::REPOSITORIES {
        churn::push(&registry, number, padding_bytes)?;
    }
    proxy.always("/blobs/", Fault::Throttle { bytes_a_second: BYTES_A_SECOND });
    let events = engine.record_events();
    events.wait_connected(1)?;
    let data_dir = setup.disk_bytes.map(|_| engine.data_root().join("longshore"));
    let mut agent_setup = AgentSetup::new(&setup.binary).on(&engine).file("agent.hcl", AGENT_FILE);
    if let Some(data_dir) = &data_dir {
        agent_setup = agent_setup.argument("-data-dir").argument(&data_dir.display().to_string());
    }
    let mut agent = Agent::start(run, agent_setup)?;
    let shared = Shared::new(Address::Tcp(agent.http_address()), engine.address());
    let host = proxy.host();

    let mut report = thread::scope(|scope| {
        let (shared, registry, events, host) = (&shared, &registry, &events, &host);
        let small = setup.disk_bytes.is_some();
        let disk = engine.data_root();
        scope.spawn(move || churn::churn(shared, registry, host, setup.seed, padding_bytes));
        scope.spawn(move || churn::steady(shared, host, setup.seed, !small));
        scope.spawn(move || watch::watch(shared, events));
        if small {
            scope.spawn(move || disk::fill_and_free(shared, &disk, setup.seed));
        }
        let report = kills::kill_in_phases(setup, shared, events, &mut agent, &mut engine);
        shared.end();
        report
    })?;
    proxy.clear();
    let data_dir = data_dir.unwrap_or_else(|| agent.data_dir());
    let calm_from_nanos = shared::now_nanos();
    calm::calm(&shared, &data_dir);
    judge(&shared, &events, &mut report, setup, calm_from_nanos);
    Ok(report)
}

/// Reads the whole story once more.
fn judge(shared: &Shared, events: &EventRecorder, report: &mut SoakReport, setup: &SoakSetup, calm_from_nanos: i64) {
    let events = events.since(0);
    let (two, starts) = witness::two_at_once(&events);
    report.starts = starts;
    report.removals = events.iter().filter(|event| event.kind == "image" && event.action == "delete").count();
    report.findings.extend(shared.findings());
    report.findings.extend(two);
    report.findings.extend(witness::removed_while_needed(&events, &shared.contents()));
    let full = usize::try_from(churn::STEADY_COUNT).unwrap_or_default();
    let before_the_calm: Vec<_> = events.iter().filter(|event| event.at_nanos < calm_from_nanos).cloned().collect();
    let service = witness::service(&before_the_calm, churn::STEADY, full - 1, full);
    report.judged_ends = service.judged;
    report.findings.extend(service.dips);
    let quiet = shared.quiet();
    report.missing_images = quiet.len();
    let starts_of_engine = kills::gaps(&events);
    for span in quiet.into_iter().filter(|span| !starts_of_engine.iter().any(|at| span.0 <= *at && *at <= span.1)) {
        report.findings.extend(witness::ends_between(&events, churn::STEADY, span));
    }
    for phase in Phase::ALL {
        let met = report.met_in(phase);
        if met < setup.least_per_phase {
            report.findings.push(format!("only {met} kills while {phase}, not {}", setup.least_per_phase));
        }
    }
}

/// How long a phase is waited for before another is drawn.
const SIGN_WITHIN: Duration = Duration::from_secs(10);

fn refused(what: &str, why: impl fmt::Display) -> HarnessError {
    HarnessError::refused(what, why)
}
