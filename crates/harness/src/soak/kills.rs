//! The one who kills: draws a phase, waits for its sign, kills, looks where it really fell, and starts anew.

use std::collections::BTreeMap;
use std::thread;
use std::time::{Duration, Instant};

use super::chance::Chance;
use super::phase::{self, Phase, Sign};
use super::shared::{Shared, now_nanos};
use super::{PERSON, SIGN_WITHIN, SoakReport, SoakSetup, refused};
use crate::{Agent, Body, Engine, EngineEvent, EventRecorder, Result, eventually};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Victim {
    Agent,
    Engine,
}

/// Times at which a new stream of events began: the engine had been killed.
pub(super) fn gaps(events: &[EngineEvent]) -> Vec<i64> {
    events
        .windows(2)
        .filter_map(|pair| match pair {
            [before, after] if before.connection != after.connection => Some(after.at_nanos),
            _ => None,
        })
        .collect()
}

/// Kills as often as the setup says, and until each phase was met often enough, as far as twice as many do it.
pub(super) fn kill_in_phases(
    setup: &SoakSetup,
    shared: &Shared,
    events: &EventRecorder,
    agent: &mut Agent,
    engine: &mut Engine,
) -> Result<SoakReport> {
    let mut chance = Chance::new(setup.seed, 4);
    let mut report = SoakReport::default();
    let (mut agent_kills, mut engine_kills) = (0, 0);
    let most = 2 * (setup.agent_kills + setup.engine_kills) + 8;
    let mut draws = 0;
    loop {
        let short: Vec<Phase> =
            Phase::ALL.into_iter().filter(|phase| report.met_in(*phase) < setup.least_per_phase).collect();
        let left = (setup.agent_kills + setup.engine_kills).saturating_sub(agent_kills + engine_kills);
        draws += 1;
        if (left == 0 && short.is_empty()) || agent_kills + engine_kills >= most || draws > 2 * most {
            return Ok(report);
        }
        let missing: usize = short.iter().map(|phase| setup.least_per_phase - report.met_in(*phase)).sum();
        let from = if missing >= left { &short[..] } else { &Phase::ALL[..] };
        let Some(wanted) = chance.pick(from) else { return Ok(report) };
        let engine_left = setup.engine_kills.saturating_sub(engine_kills);
        let victim = if chance.below(left.max(1) as u64) < engine_left as u64 { Victim::Engine } else { Victim::Agent };
        shared.pass(Duration::from_millis(chance.below(700)));
        let Some(sign) = wait_for(wanted, shared, events) else {
            println!("no sign of {wanted} in {SIGN_WITHIN:?}");
            continue;
        };
        if matches!(wanted, Phase::Pulling | Phase::Running | Phase::Stopping) {
            thread::sleep(Duration::from_millis(chance.below(150)));
        }
        let before = shared.acknowledged();
        let killed_at = now_nanos();
        match victim {
            Victim::Agent => {
                agent_kills += 1;
                agent.kill9();
                hear_all_until_now(shared, events)?;
            }
            Victim::Engine => {
                engine_kills += 1;
                engine.kill9();
            }
        }
        let met = phase::at_the_kill(&sign, &events.since(0), killed_at);
        match met {
            Some(met) => {
                let of_phase = report.met.entry(met).or_default();
                match victim {
                    Victim::Agent => of_phase.0 += 1,
                    Victim::Engine => of_phase.1 += 1,
                }
            }
            None => report.met_none += 1,
        }
        let met = met.map_or_else(|| "none".to_owned(), |met| met.to_string());
        println!("kill {:>3} of the {victim:?}: {met} (drawn: {wanted})", agent_kills + engine_kills);
        // Half of the time it is down for a while.
        if chance.percent(50) {
            shared.pass(Duration::from_millis(chance.below(1500)));
        }
        match victim {
            Victim::Agent => agent.resume()?,
            Victim::Engine => {
                engine.resume()?;
                events.wait_connected(engine.starts())?;
                if let Some(status) = agent.ended()? {
                    let log = agent.log_tail(25);
                    return Err(refused("go on", format!("the agent ended with its engine ({status}):\n{log}")));
                }
            }
        }
        check_acknowledged(shared, &before);
    }
}

/// Waits for a sign that begins from now on.
fn wait_for(wanted: Phase, shared: &Shared, events: &EventRecorder) -> Option<Sign> {
    let mut tasks = BTreeMap::new();
    let all = events.since(0);
    let mut heard = all.len();
    for event in &all {
        phase::begun_by(event, &mut tasks);
    }
    let began = Instant::now();
    while began.elapsed() < SIGN_WITHIN {
        let new = events.since(heard);
        heard += new.len();
        let found = new.iter().filter_map(|event| phase::begun_by(event, &mut tasks)).find(|sign| sign.phase == wanted);
        if found.is_some() {
            return found;
        }
        let state = match wanted {
            Phase::Pulling => "pulling",
            Phase::Removing => "removing",
            _ => {
                thread::sleep(Duration::from_micros(500));
                continue;
            }
        };
        let at_nanos = now_nanos();
        let said = shared.agent_says("/v1/client/images").unwrap_or_default();
        if let Some(sign) = phase::told_by_agent(&said, state, at_nanos).pop() {
            return Some(sign);
        }
    }
    None
}

/// Makes an event of our own and waits until it has come: then all earlier ones have.
fn hear_all_until_now(shared: &Shared, events: &EventRecorder) -> Result<()> {
    let heard = events.since(0).len();
    let (repository, tag) = PERSON.split_once(':').unwrap_or((PERSON, "1"));
    let path = format!("/images/{PERSON}/tag?repo={repository}&tag={tag}");
    let answer = crate::http::request(&shared.engine, "POST", &path, &[], Body::Empty, Duration::from_secs(60))?;
    if answer.status == 500 && answer.text().contains("no space left") {
        // Then the phase is told by what has come so far.
        return Ok(());
    }
    answer.success("make an event of our own")?;
    eventually(Duration::from_secs(30), "an event of our own", || {
        let ours = events.since(heard).iter().any(|event| event.kind == "image" && event.action == "tag");
        if ours { Ok(()) } else { Err("not yet".to_owned()) }
    })
}

/// What was acknowledged before the kill is there after it.
fn check_acknowledged(shared: &Shared, before: &BTreeMap<String, super::shared::Acknowledged>) {
    for (id, was) in before {
        let Ok(answer) = shared.ask_agent("GET", &format!("/v1/job/{id}"), Body::Empty) else { continue };
        let now = shared.acknowledged().get(id).copied().unwrap_or_default();
        let index = answer.json().ok().and_then(|job| job["JobModifyIndex"].as_u64());
        match (answer.status, index) {
            (404, _) if was.may_be_gone || now.may_be_gone => {}
            (200, Some(index)) if index >= was.index || was.may_be_gone => {}
            (status, index) => shared
                .found(format!("job {id} was acknowledged at {} and is {status} at {index:?} after a kill", was.index)),
        }
    }
}
