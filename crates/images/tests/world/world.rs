//! One seeded life of a node: an agent with its keeper, ledger and tasks; an engine that answers late, out of order or not
//! at all; people and tools that do what they like with the same engine; crashes of either at any moment.

mod comparing;
mod engine_side;
mod last_life;
mod others;
mod persons;
mod space;
mod tasks;
mod versions;
mod wishes;

use std::collections::{BTreeMap, BTreeSet};

use longshore_images::{
    Action, Archive, Entry, Event, FailureKind, Fault, FetchFailure, Foreign, Hold, Keeper, LookId, Need, Owner, Pause,
    Pin, Policy, Record, RemovalAnswer, RowCounts, Seen, SpacePolicy, TagAnswer, Want,
};
use longshore_model::{AllocId, ContentId, ImageRef, Timestamp};
use longshore_values::{Glob, GoDuration};

use crate::engine::{self, Engine, Who, digest_name};
use crate::oracle::Oracle;
use crate::random::Random;
use crate::rows::{CrashRow, Side};
pub(crate) use space::Pressure;
pub(crate) use wishes::Wish;

pub(crate) const SECOND: i64 = 1_000_000_000;
/// How long after the loss of its answer a removal may still be carried out by the engine.
const LATE_REMOVAL: i64 = 4 * SECOND;
/// The same for a pull.
const LATE_PULL: i64 = 20 * SECOND;
/// The engine's events come within this time, or never.
const EVENT_LAG: i64 = 20 * SECOND;

/// What the node itself writes down about an allocation, in the same transactions as the keeper's records.
#[derive(Debug, Clone)]
pub(crate) struct AllocRecord {
    pub(crate) tasks: BTreeMap<Owner, TaskRecord>,
    pub(crate) replaces: Option<AllocId>,
}

#[derive(Debug, Clone)]
pub(crate) struct TaskRecord {
    pub(crate) name: ImageRef,
    pub(crate) ended_at: Option<Timestamp>,
}

/// Where a task's attempt stands. Lives no longer than the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Attempt {
    Idle,
    Asked { name: ImageRef, fresh: bool },
    Granted { name: ImageRef, content: ContentId, seq: u64 },
    Created { name: ImageRef, container: String },
    Running { name: ImageRef, container: String },
}

/// Something that was sent to the engine.
#[derive(Debug, Clone)]
pub(crate) enum Request {
    Look {
        look: LookId,
    },
    Pull {
        fetch: u64,
        name: ImageRef,
    },
    Load {
        fetch: u64,
        name: ImageRef,
        content: ContentId,
    },
    /// `seen` is when the look was taken by which it was decided.
    Remove {
        act: longshore_images::ActId,
        name: ImageRef,
        private: bool,
        seen: u64,
    },
    Tag {
        act: longshore_images::ActId,
        name: ImageRef,
        content: ContentId,
    },
    RemoveDead {
        act: longshore_images::ActId,
    },
}

#[derive(Debug)]
pub(crate) struct Sent {
    pub(crate) request: Request,
    pub(crate) sent: u64,
    pub(crate) answer: Option<Event>,
    pub(crate) snapshot: u64,
}

#[derive(Debug)]
struct Late {
    request: Request,
    sent: u64,
    by: i64,
}

pub(crate) struct World {
    pub(crate) seed: u64,
    pub(crate) random: Random,
    pub(crate) now: i64,
    /// The time that has really passed, whatever the clock shows.
    pub(crate) lived: i64,
    pub(crate) engine: Engine,
    pub(crate) engine_up: bool,
    pub(crate) keeper: Option<Keeper>,
    pub(crate) policy: Policy,
    ledger: BTreeMap<String, String>,
    pub(crate) allocs: BTreeMap<AllocId, AllocRecord>,
    /// Allocations that a server has placed here and the node has not accepted yet.
    placed: BTreeMap<AllocId, AllocRecord>,
    /// What servers wish for here, by owner: the name, and when it ends by itself.
    pub(crate) wishes: BTreeMap<Owner, Wish>,
    next_wish: u64,
    /// Versions that can be gone back to, with their image; those of them that were seen to be held; whether the keeper was
    /// told of them in this life.
    pub(crate) versions: BTreeMap<Owner, ImageRef>,
    pub(crate) versions_held: BTreeSet<Owner>,
    pub(crate) versions_known: bool,
    next_version: u64,
    /// The infra image that the agent's settings name, and the one that the keeper was told of and has recorded.
    pub(crate) infra: ImageRef,
    pub(crate) infra_recorded: Option<ImageRef>,
    pub(crate) infra_told: bool,
    /// Wishes of which the keeper was told in this life that they are over.
    pub(crate) wishes_over: BTreeSet<Owner>,
    /// From when until when a person wants nothing removed.
    pub(crate) paused: Option<(i64, i64)>,
    /// Tasks that the node lost while the agent ran, with the number of comparisons since.
    pub(crate) strays: BTreeMap<Owner, u32>,
    /// Tasks whose hold the ledger lost, with the number of comparisons since.
    pub(crate) robbed: BTreeMap<Owner, u32>,
    pub(crate) attempts: BTreeMap<Owner, Attempt>,
    /// Tasks that are to end.
    stopping: BTreeSet<Owner>,
    /// Ended in the node record and not told to the keeper in this life.
    pub(crate) untold: BTreeSet<Owner>,
    pub(crate) sent: Vec<Sent>,
    late: Vec<Late>,
    wake_at: Option<Timestamp>,
    registry: BTreeMap<ImageRef, ContentId>,
    next_alloc: u128,
    restored: bool,
    /// Whether the person of this world asks for collection at all.
    collects: bool,
    /// Whether the clock of this world is stepped.
    steps_clock: bool,
    calm: bool,
    /// The engine refuses to remove this name, whoever asks.
    refuses: Option<ImageRef>,
    fault: Fault,
    pub(crate) oracle: Oracle,
    pub(crate) rows: RowCounts,
    pub(crate) crash_rows: BTreeMap<(CrashRow, Side), u64>,
    pub(crate) trace: Vec<String>,
    tracing: bool,
}

impl World {
    pub(crate) fn new(seed: u64, fault: Fault, tracing: bool) -> Self {
        let mut random = Random::new(seed);
        let delays = [0, 0, 2, 10, 60, 180];
        let policy = Policy {
            image_delay: GoDuration::seconds(delays[random.below(delays.len())]),
            image: !random.one_in(20),
            keep: if random.one_in(8) { vec![Glob::new("r.test/b:*")] } else { Vec::new() },
            foreign: if random.one_in(4) { Foreign::Collect } else { Foreign::Keep },
            kept_by_others: random.one_in(40),
            space: space::draw_policy(&mut random),
        };
        let mut engine = Engine::default();
        engine.disk_bytes = space::draw_disk(&mut random);
        let mut world = Self {
            seed,
            random,
            now: 1_000_000 * SECOND,
            lived: 0,
            engine,
            engine_up: true,
            keeper: None,
            policy,
            ledger: BTreeMap::new(),
            allocs: BTreeMap::new(),
            placed: BTreeMap::new(),
            wishes: BTreeMap::new(),
            next_wish: 1,
            versions: BTreeMap::new(),
            versions_held: BTreeSet::new(),
            versions_known: false,
            next_version: 0,
            infra: "r.test/infra:1".parse().unwrap(),
            infra_recorded: None,
            infra_told: false,
            wishes_over: BTreeSet::new(),
            paused: None,
            strays: BTreeMap::new(),
            robbed: BTreeMap::new(),
            attempts: BTreeMap::new(),
            stopping: BTreeSet::new(),
            untold: BTreeSet::new(),
            sent: Vec::new(),
            late: Vec::new(),
            wake_at: None,
            registry: BTreeMap::new(),
            next_alloc: 1,
            restored: false,
            collects: seed.is_multiple_of(3),
            steps_clock: seed % 4 == 1,
            calm: false,
            refuses: None,
            fault,
            oracle: Oracle::default(),
            rows: RowCounts::new(),
            crash_rows: BTreeMap::new(),
            trace: Vec::new(),
            tracing,
        };
        for (n, name) in ["r.test/a:1", "r.test/a:2", "r.test/b:1", "acme/c:1"].into_iter().enumerate() {
            world.registry.insert(name.parse().unwrap(), engine::content(n as u8 + 1));
        }
        for (n, name) in ["r.test/infra:1", "r.test/infra:2"].into_iter().enumerate() {
            world.registry.insert(name.parse().unwrap(), engine::content(n as u8 + 5));
        }
        if world.random.one_in(2) {
            let name: ImageRef = world.pick_tag();
            let id = engine::content(world.random.below(6) as u8 + 1);
            world.engine.pull(world.now, &name, id, Who::Others);
        }
        world.engine.events.clear();
        world.start_agent();
        world
    }

    pub(crate) fn note(&mut self, line: impl FnOnce() -> String) {
        if self.tracing {
            let line = line();
            self.trace.push(format!(
                "{:>9.3} #{} {line}",
                (self.now - 1_000_000 * SECOND) as f64 / 1e9,
                self.engine.seq
            ));
        }
    }

    pub(crate) fn timestamp(&self) -> Timestamp {
        Timestamp(self.now)
    }

    fn pick_tag(&mut self) -> ImageRef {
        let tags = ["r.test/a:1", "r.test/a:1", "r.test/a:2", "r.test/b:1", "acme/c:1"];
        tags[self.random.below(tags.len())].parse().unwrap()
    }

    /// A name as a job might write it: mostly a tag, sometimes a digest, seldom what cannot be had.
    fn pick_name(&mut self) -> ImageRef {
        let tag = self.pick_tag();
        match self.random.below(40) {
            0..5 => {
                let id = self.registry[&tag];
                digest_name(&tag, id)
            }
            5 => ImageRef::from_id(engine::content(self.random.below(8) as u8 + 1)),
            6 => "r.test/a:none".parse().unwrap(),
            _ => tag,
        }
    }

    // The agent.

    fn start_agent(&mut self) {
        self.note(|| "agent starts".to_owned());
        let entries: Vec<_> = self.ledger.values().map(|text| Entry::from_text(text).unwrap()).collect();
        self.oracle.agent_started(&entries);
        self.keeper = Some(Keeper::restore_with_fault(self.policy.clone(), entries, self.timestamp(), self.fault));
        self.restored = false;
        self.infra_told = false;
        self.versions_known = false;
        self.strays.clear();
        self.robbed.values_mut().for_each(|compared| *compared = 0);
        if self.random.one_in(6) {
            self.change_infra();
        }
        self.engine.events.clear();
        self.attempts.clear();
        self.untold.clear();
        let owners: Vec<_> = self.allocs.values().flat_map(|alloc| alloc.tasks.clone()).collect();
        for (owner, task) in owners {
            if task.ended_at.is_some() {
                continue;
            }
            let found = self.engine.container_of(&owner).map(|(name, container)| (name.clone(), container.clone()));
            let attempt = match found {
                Some((container, state)) if state.started => {
                    Attempt::Running { name: state.made_from.unwrap_or(task.name), container }
                }
                Some((container, _)) => {
                    self.engine.remove_container(self.now, &container);
                    Attempt::Idle
                }
                None => Attempt::Idle,
            };
            self.attempts.insert(owner, attempt);
        }
        self.wishes_over.clear();
        self.attempts.extend(self.wishes.keys().map(|owner| (owner.clone(), Attempt::Idle)));
        if self.engine_up {
            self.feed(Event::EngineBack);
        }
    }

    /// Everything that lives in the agent is gone; what it had sent may still be carried out.
    fn crash_agent(&mut self) {
        self.note(|| "agent crashes".to_owned());
        if let Some(keeper) = self.keeper.take() {
            self.count_rows(&keeper);
        }
        for (owner, attempt) in std::mem::take(&mut self.attempts) {
            if owner.alloc().is_none() {
                continue;
            }
            match attempt {
                Attempt::Granted { .. } => {
                    self.count_crash(CrashRow::Grant, Side::After);
                    self.count_crash(CrashRow::Create, Side::Before);
                }
                Attempt::Created { .. } => self.count_crash(CrashRow::Start, Side::Before),
                Attempt::Running { .. } => self.count_crash(CrashRow::Start, Side::After),
                Attempt::Idle | Attempt::Asked { .. } => {}
            }
        }
        self.wake_at = None;
        self.stopping.clear();
        for sent in std::mem::take(&mut self.sent) {
            self.abandon(sent, true);
        }
    }

    pub(crate) fn count_rows(&mut self, keeper: &Keeper) {
        for (row, count) in keeper.rows() {
            *self.rows.entry(*row).or_default() += count;
        }
    }

    fn count_crash(&mut self, row: CrashRow, side: Side) {
        *self.crash_rows.entry((row, side)).or_default() += 1;
    }

    /// Nobody hears the answer. What was not carried out is dropped, or carried out later all the same.
    fn abandon(&mut self, sent: Sent, may_be_late: bool) {
        let done = sent.answer.is_some();
        if self.keeper.is_none() {
            let row = match &sent.request {
                Request::Pull { .. } => Some(CrashRow::Pull),
                Request::Load { .. } => Some(CrashRow::Load),
                Request::Remove { private: false, .. } => Some(CrashRow::RemoveName),
                Request::Remove { .. } | Request::Tag { .. } => Some(CrashRow::RemoveNameless),
                Request::Look { .. } | Request::RemoveDead { .. } => None,
            };
            if let Some(row) = row.filter(|_| done) {
                self.count_crash(row, Side::After);
            }
        }
        if done || !self.random.one_in(2) {
            return;
        }
        let span = match &sent.request {
            Request::Look { .. } | Request::RemoveDead { .. } => return,
            Request::Pull { .. } | Request::Load { .. } => LATE_PULL,
            Request::Remove { .. } | Request::Tag { .. } => LATE_REMOVAL,
        };
        if may_be_late {
            let by = self.now + (self.random.next() % span as u64) as i64;
            self.late.push(Late { request: sent.request, sent: sent.sent, by });
        } else {
            self.carry_out(&sent.request, sent.sent);
        }
    }

    /// Gives the keeper an event, writes its records and carries out its actions; or dies in between.
    pub(crate) fn feed(&mut self, event: Event) {
        let now = self.timestamp();
        let event = if self.random.one_in(64) {
            serde_json::from_str(&serde_json::to_string(&event).unwrap()).unwrap()
        } else {
            event
        };
        self.wishes_expire();
        self.note(|| format!("event {event:?}"));
        self.oracle.before(&event);
        let Some(keeper) = &mut self.keeper else { return };
        let step = keeper.step(now, event.clone());
        let acts = step
            .actions
            .iter()
            .any(|action| !matches!(action, Action::Look { .. } | Action::Tell(_) | Action::WakeAt(_)));
        let dies = !self.calm && self.random.one_in(if acts { 60 } else { 800 });
        if dies && self.random.one_in(3) {
            self.count_crashed_event(&event, Side::Before);
            return self.crash_agent();
        }
        self.write(&step.records);
        self.check_choice(&step.records);
        self.after_commit(&event);
        let mut survives = if dies { self.random.below(step.actions.len() + 1) } else { usize::MAX };
        let mut actions = step.actions.into_iter();
        while survives > 0 {
            let Some(action) = actions.next() else { break };
            survives -= 1;
            self.act(action);
        }
        if dies {
            self.count_crashed_event(&event, Side::After);
            for action in actions {
                self.count_crashed_action(&action);
            }
            return self.crash_agent();
        }
        self.check();
    }

    fn write(&mut self, records: &[Record]) {
        for record in records {
            self.oracle.recorded(record, self.now, self.lived, &self.policy);
            match &record.entry {
                Some(entry) => {
                    assert_eq!(record.key, entry.key());
                    self.ledger.insert(record.key.clone(), entry.to_text().unwrap());
                }
                None => {
                    self.ledger.remove(&record.key);
                }
            }
        }
    }

    /// What the node writes in the same transaction as the keeper's records.
    fn after_commit(&mut self, event: &Event) {
        match event {
            Event::Accepted { alloc, .. } => {
                if let Some(record) = self.placed.remove(alloc) {
                    for owner in record.tasks.keys() {
                        self.attempts.insert(owner.clone(), Attempt::Idle);
                        self.oracle.accepted(owner, self.engine.seq);
                    }
                    let replaced = record.replaces.and_then(|replaced| self.allocs.get(&replaced));
                    for owner in replaced.into_iter().flat_map(|replaced| replaced.tasks.keys()) {
                        self.oracle.handed_over(owner, *alloc);
                    }
                    self.allocs.insert(*alloc, record);
                }
            }
            Event::Ended { owner, at } => {
                self.untold.remove(owner);
                self.oracle.ended(owner, at.0, self.now, self.lived);
            }
            Event::Restored { ended, .. } => {
                self.restored = true;
                ended.iter().for_each(|(owner, at)| self.oracle.ended(owner, at.0, self.now, self.lived));
            }
            Event::Wanted(want) => self.oracle.wanted(want),
            Event::Wished { owner, .. } => {
                if let Some(wish) = self.wishes.get_mut(owner) {
                    wish.recorded = true;
                }
            }
            Event::StillWished { owners } => self.wishes_told(owners),
            Event::AgentNeeds { names } => {
                self.infra_told = true;
                self.infra_recorded = names.first().cloned();
            }
            Event::Compared { .. } => self.has_compared(),
            Event::VersionsKept { needs } => self.versions_told(needs),
            Event::Paused(pause) => self.paused = Some((pause.at.0, pause.until.0)),
            Event::Resumed { .. } => self.paused = None,
            Event::Adopted { pattern, .. } => self.has_adopted(&Glob::new(pattern.as_str())),
            _ => {}
        }
        self.see_what_is_held_again();
    }

    fn count_crashed_event(&mut self, event: &Event, side: Side) {
        match event {
            Event::Accepted { replaces, .. } => {
                self.count_crash(CrashRow::Accept, side);
                if replaces.is_some() {
                    self.count_crash(CrashRow::Handover, Side::Before);
                }
            }
            Event::Ended { .. } => self.count_crash(CrashRow::Release, side),
            Event::Wished { .. } => self.count_crash(CrashRow::Prefetch, side),
            Event::AgentNeeds { .. } => self.count_crash(CrashRow::AgentNeeds, side),
            _ => {}
        }
    }

    fn count_crashed_action(&mut self, action: &Action) {
        let row = match action {
            Action::Pull { .. } => CrashRow::Pull,
            Action::Load { .. } => CrashRow::Load,
            Action::Grant { .. } => CrashRow::Grant,
            Action::RemoveName { name, .. } if longshore_images::is_private(name) => CrashRow::RemoveNameless,
            Action::RemoveName { .. } => CrashRow::RemoveName,
            Action::Tag { .. } => CrashRow::RemoveNameless,
            _ => return,
        };
        self.count_crash(row, Side::Before);
    }

    fn act(&mut self, action: Action) {
        self.note(|| format!("  act {action:?}"));
        self.oracle_acts(&action);
        let sent = self.engine.seq;
        let request = match action {
            Action::Look { look } => Request::Look { look },
            Action::Pull { fetch, name, .. } => Request::Pull { fetch: fetch.0, name },
            Action::Load { fetch, name, archive, .. } => {
                let content = engine::content(archive.digest.parse().unwrap());
                Request::Load { fetch: fetch.0, name, content }
            }
            Action::RemoveName { act, name, content } => {
                let marked = longshore_images::private_name(content);
                let private = self.engine.at(&marked) == Some(content);
                Request::Remove { act, name, private, seen: self.oracle.seen }
            }
            Action::Tag { act, content, name } => Request::Tag { act, name, content },
            Action::RemoveDead { act } => Request::RemoveDead { act },
            Action::CancelFetch { fetch } => return self.cancel(fetch.0),
            Action::Grant { owner, name, content, .. } => {
                let attempt = Attempt::Granted { name, content, seq: self.engine.seq };
                self.attempts.insert(owner, attempt);
                return;
            }
            Action::Refuse { owner, .. } => {
                self.attempts.insert(owner, Attempt::Idle);
                return;
            }
            Action::WakeAt(at) => {
                self.wake_at = Some(at);
                return;
            }
            Action::RoomMade { .. } => {
                self.oracle.pressure.waits_for_room = false;
                return;
            }
            Action::Tell(_) => return,
        };
        self.sent.push(Sent { request, sent, answer: None, snapshot: 0 });
    }

    /// Mostly nothing comes of a cancelled pull; sometimes it was done already, or is done a little later.
    fn cancel(&mut self, fetch: u64) {
        let is_it = |sent: &Sent| matches!(&sent.request, Request::Pull { fetch: f, .. } | Request::Load { fetch: f, .. } if *f == fetch);
        let Some(at) = self.sent.iter().position(is_it) else { return };
        if self.sent[at].answer.is_some() {
            return;
        }
        let (request, since) = (self.sent[at].request.clone(), self.sent[at].sent);
        match self.random.below(6) {
            0 => drop(self.carry_out(&request, since)),
            1 => {
                let by = self.now + (self.random.next() % LATE_PULL as u64) as i64;
                self.late.push(Late { request, sent: since, by });
            }
            _ => {}
        }
        let failure = failed(FailureKind::Cancelled, "cancelled");
        self.sent[at].answer = Some(fetched(fetch, Err(failure)));
    }

    // Time.

    pub(crate) fn advance(&mut self, span: i64) {
        let end = self.now + span;
        while self.now < end {
            let piece = (end - self.now).min(EVENT_LAG / 2);
            self.now += piece;
            self.lived += piece;
            self.time_passed();
        }
        let due = self.wake_at.is_some_and(|at| at.0 <= self.now);
        if due && (self.calm || !self.random.one_in(4)) {
            self.wake_at = None;
            self.feed(Event::Tick);
        }
    }

    fn time_passed(&mut self) {
        let now = self.now;
        let (due, rest): (Vec<_>, Vec<_>) = std::mem::take(&mut self.late).into_iter().partition(|late| late.by <= now);
        self.late = rest;
        for late in due {
            self.carry_out(&late.request, late.sent);
        }
        while self.engine.events.front().is_some_and(|told| told.at + EVENT_LAG <= now) && self.keeper.is_some() {
            self.event_arrives();
        }
    }

    /// A step of the clock: what the engine still has to do happens at the same distance from now, or at once.
    fn clock_steps(&mut self) {
        let span = (self.random.next() % (600 * SECOND as u64)) as i64;
        self.paused = self.paused.filter(|(_, until)| *until > self.now);
        if self.random.one_in(2) {
            self.note(|| "clock steps back".to_owned());
            self.now -= span;
            self.late.iter_mut().for_each(|late| late.by -= span);
            self.engine.events.iter_mut().for_each(|told| told.at -= span);
            self.oracle.clock_stepped_back(self.now);
            if let Some((at, until)) = &mut self.paused
                && *at > self.now
            {
                (*at, *until) = (self.now, self.now + (*until - *at));
            }
        } else {
            self.note(|| "clock steps forward".to_owned());
            self.now += span;
            self.oracle.clock_stepped_forward();
            self.time_passed();
        }
        self.feed(Event::Tick);
    }

    // One life.

    pub(crate) fn step(&mut self) {
        if self.keeper.is_none() {
            match self.random.below(12) {
                0..4 => self.start_agent(),
                4 if self.random.one_in(6) => self.forget_allocation(),
                4 if self.random.one_in(6) => self.ledger_loses_a_hold(),
                5 => self.others_act(),
                6 if !self.engine_up => self.engine_starts(),
                _ => {
                    let span = (self.random.next() % (3 * SECOND as u64)) as i64;
                    self.advance(span);
                }
            }
            return;
        }
        if !self.engine_up && self.random.one_in(12) {
            return self.engine_starts();
        }
        if !self.restored && self.random.one_in(6) {
            return self.restore_allocations();
        }
        if !self.infra_told && self.random.one_in(4) {
            return self.tell_infra();
        }
        if !self.versions_known && self.random.one_in(6) {
            return self.tell_versions();
        }
        match self.random.below(100) {
            0..20 => self.engine_works(),
            20..40 => self.answer_arrives(),
            40..48 => self.event_arrives(),
            48..58 => {
                let spans = [SECOND / 1000, SECOND / 50, SECOND / 2, 3 * SECOND, 20 * SECOND];
                let span = spans[self.random.below(spans.len())];
                let span = (self.random.next() % span as u64) as i64 + 1;
                self.advance(span);
            }
            58 => self.advance(60 * SECOND),
            59..62 => self.place(),
            62..65 => self.update(),
            65..70 => self.accept(),
            70..85 => self.task_moves(),
            85..88 => self.stop(),
            88..91 => self.others_act(),
            91 if self.random.one_in(6) => self.versions_change(),
            91 => self.wish(),
            92 => self.push(),
            93 if self.random.one_in(8) => {
                self.change_infra();
                self.tell_infra();
            }
            93 => self.person_asks(),
            94 if self.random.one_in(3) => self.node_loses_an_allocation(),
            94 if self.random.one_in(2) => self.compare(),
            94 => self.sweep(),
            95 if self.random.one_in(4) => self.crash_agent(),
            95 => self.others_fill_the_disk(),
            96 if self.random.one_in(4) && self.engine_up => self.engine_dies(),
            97 if self.steps_clock && self.random.one_in(2) => self.clock_steps(),
            _ => self.task_moves(),
        }
    }

    /// No more faults and nobody else about: everything is answered, tasks go on, then all of them end; and after the
    /// delay what was brought is gone.
    pub(crate) fn calm_down(&mut self) {
        self.note(|| "calm".to_owned());
        self.calm = true;
        if !self.engine_up {
            self.engine_starts();
        }
        if self.keeper.is_none() {
            self.start_agent();
        }
        if !self.restored {
            self.restore_allocations();
        }
        self.tell_infra();
        self.tell_versions();
        self.settle(40 * SECOND);
        self.compare();
        self.compare();
        while !self.placed.is_empty() {
            self.accept();
        }
        for _ in 0..60 {
            self.task_moves();
            self.settle(SECOND / 2);
        }
        self.check_quiet();
        let owners: Vec<_> = self.attempts.keys().cloned().collect();
        for owner in owners {
            self.end_task(&owner);
        }
        self.versions.clear();
        self.tell_versions();
        self.feed(Event::StillWished { owners: Vec::new() });
        self.feed(Event::AgentNeeds { names: Vec::new() });
        self.feed(Event::Resumed { who: "root".to_owned() });
        self.sweep();
        let theirs: Vec<_> = self.engine.containers.keys().cloned().collect();
        for container in theirs {
            self.engine.remove_container(self.now, &container);
        }
        self.press_to_the_end();
        let space = SpacePolicy { reclaim: true, ..SpacePolicy::default() };
        self.policy = Policy { image: true, keep: Vec::new(), kept_by_others: false, space, ..self.policy.clone() };
        (self.engine.other_bytes, self.engine.disk_bytes) = (0, None);
        self.feed(Event::PolicyChanged(self.policy.clone()));
        for tag in self.registry.keys().cloned().collect::<Vec<_>>() {
            self.feed(Event::Unpinned { pattern: tag.familiar().to_owned() });
        }
        let delay = self.policy.image_delay.as_nanoseconds();
        self.settle(delay + 330 * SECOND);
        self.check_gone();
        self.one_more_life(delay);
        if self.seed % 3 == 1 {
            self.lose_the_ledger(delay);
        }
    }

    /// Answers everything at once and lets this much time pass.
    fn settle(&mut self, span: i64) {
        let end = self.now + span;
        let mut rounds = 0;
        loop {
            while !self.sent.is_empty() || !self.engine.events.is_empty() {
                self.engine_works();
                self.answer_arrives();
                self.event_arrives();
                rounds += 1;
                self.require(rounds < 20_000, || "the keeper and the engine do not come to rest".to_owned());
            }
            let next = self.wake_at.map_or(end, |at| at.0.clamp(self.now, end));
            let next = self.late.iter().map(|late| late.by).fold(next, i64::min).max(self.now);
            if next >= end {
                self.advance(end - self.now);
                if self.sent.is_empty() && self.engine.events.is_empty() {
                    return;
                }
            } else {
                self.advance(next - self.now);
            }
        }
    }

    #[track_caller]
    pub(crate) fn require(&self, holds: bool, what: impl FnOnce() -> String) {
        if !holds {
            self.fail(&what());
        }
    }

    pub(crate) fn fail(&self, what: &str) -> ! {
        self.trace.iter().for_each(|line| println!("{line}"));
        panic!("{what}\nseed {}", self.seed);
    }

    /// Ends the world and hands over what was counted.
    pub(crate) fn finish(mut self) -> (RowCounts, BTreeMap<(CrashRow, Side), u64>) {
        if let Some(keeper) = self.keeper.take() {
            self.count_rows(&keeper);
        }
        (self.rows, self.crash_rows)
    }

    pub(crate) fn ledger_entries(&self) -> Vec<Entry> {
        self.ledger.values().map(|text| Entry::from_text(text).unwrap()).collect()
    }
}

fn fetched(fetch: u64, result: Result<(), FetchFailure>) -> Event {
    Event::Fetched { fetch: longshore_images::FetchId(fetch), result }
}

fn failed(kind: FailureKind, message: &str) -> FetchFailure {
    FetchFailure { kind, message: message.to_owned(), needed_bytes: None }
}

fn lost_answer(request: &Request) -> Event {
    let message = "connection lost".to_owned();
    match request {
        Request::Look { look } => Event::LookFailed { look: *look, message },
        Request::Pull { fetch, .. } | Request::Load { fetch, .. } => {
            fetched(*fetch, Err(failed(FailureKind::EngineLost, &message)))
        }
        Request::Remove { act, .. } => Event::Removed { act: *act, answer: RemovalAnswer::Lost { message } },
        Request::Tag { act, .. } => Event::Tagged { act: *act, answer: TagAnswer::Failed { message } },
        Request::RemoveDead { act } => Event::DeadRemoved { act: *act, removed: 0 },
    }
}

fn make_unreadable(seen: &mut Seen, random: &mut Random) {
    seen.unreadable.push("one entry".to_owned());
    if random.one_in(2) && !seen.images.is_empty() {
        seen.images.remove(random.below(seen.images.len()));
    } else if !seen.containers.is_empty() {
        seen.containers.remove(random.below(seen.containers.len()));
    }
}
