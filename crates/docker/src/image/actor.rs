//! The one who acts for the keeper: takes events in, writes each step's records, and only then carries out its actions.
//!
//! - A1: the keeper and its ledger live on one thread; events are taken one after the other.
//! - A2: no action begins before the records of its step are on disk. When they cannot be written, nothing goes on until
//!   they can: an act on the strength of a fact that a crash forgets would be worse than waiting.
//! - A3: every look, pull, load, tag and removal is answered with one event, whatever becomes of the engine.
//! - A4: a look that does not come to an end is given up ([`LOOK_MAX`]): the keeper has one out at a time, so one that
//!   hung would hide the engine from it for ever.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use longshore_crashpoint::crash_point;
use longshore_engine::{Class, DeleteOptions, Engine};
use longshore_images::{
    Action, Entry, Event, FetchFailure, FetchId, Keeper, LookId, Need, Owner, Record, RemovalAnswer, Step, TagAnswer,
    Want,
};
use longshore_model::{ContentId, ImageRef, Timestamp};
use longshore_values::with_causes;
use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;

use super::credentials::Source;
use super::fetch::{Access, Fetch};
use super::gate::Gate;
use super::keeping::{Adopt, Answer, Books, Brought, Grant, Keeping, Message, RemoveDead, Setup, Status, now};
use super::ledger::Ledger;
use super::lock::KeeperLock;
use super::look::Looker;
use super::progress::Progress;
use super::tally::Tally;
use super::tell::tell;
use crate::options::AuthOptions;

pub(super) struct Actor {
    engine: Engine,
    looker: Looker,
    auth: AuthOptions,
    pull_activity_timeout: Duration,
    gate: Arc<Gate>,
    /// How the registry was asked when a name was last pulled.
    asked: BTreeMap<ImageRef, Source>,
    tally: Tally,
    keeper: Keeper,
    ledger: Ledger,
    /// The engine's lock, for as long as this keeps its images.
    lock: Option<KeeperLock>,
    runtime: tokio::runtime::Handle,
    /// For what runs outside and reports back.
    outside: Keeping,
    inbox: mpsc::UnboundedReceiver<Message>,
    wake: watch::Sender<Option<Timestamp>>,
    waiters: BTreeMap<Owner, Waiter>,
    fetches: BTreeMap<FetchId, Running>,
    /// Actions whose answer is still to come.
    unanswered: usize,
    engine_up: bool,
    taking_over: Option<(Books, oneshot::Sender<()>)>,
    remove_dead: RemoveDead,
    /// Who waits for room.
    rooms: Vec<oneshot::Sender<bool>>,
}

struct Waiter {
    name: ImageRef,
    access: Access,
    answers: mpsc::UnboundedSender<Answer>,
    /// The pull or load that began, or was under way, while it waited.
    watched: Option<Watched>,
}

impl Waiter {
    fn watch(&mut self, running: &Running) {
        self.watched =
            Some(Watched { since: Instant::now(), by_load: running.by_load, progress: running.progress.clone() });
        let _ = self.answers.send(Answer::Fetching(running.progress.clone()));
    }
}

struct Watched {
    since: Instant,
    by_load: bool,
    progress: watch::Receiver<Progress>,
}

impl Watched {
    fn brought(&self) -> Brought {
        Brought {
            took: self.since.elapsed(),
            downloaded_bytes: self.progress.borrow().downloaded_bytes(),
            by_load: self.by_load,
        }
    }
}

struct Running {
    name: ImageRef,
    by_load: bool,
    began: Instant,
    cancel: CancellationToken,
    progress: watch::Receiver<Progress>,
}

/// Lists, and what is asked of each image that was not seen before. What was learnt of those stays with the looker.
const LOOK_MAX: Duration = Duration::from_secs(120);
/// The removal of containers that are over, all together.
const DEAD_MAX: Duration = Duration::from_secs(120);
/// So many names are remembered with how they were asked for.
const ASKED_MAX: usize = 1024;
const WRITE_AGAIN_MIN: Duration = Duration::from_millis(200);
const WRITE_AGAIN_MAX: Duration = Duration::from_secs(10);

impl Actor {
    pub(super) fn new(
        setup: Setup,
        runtime: tokio::runtime::Handle,
        outside: Keeping,
        inbox: mpsc::UnboundedReceiver<Message>,
        wake: watch::Sender<Option<Timestamp>>,
    ) -> Self {
        let Setup { engine, looker, auth, pull_activity_timeout, pull_parallelism, remove_dead, books } = setup;
        Self {
            engine,
            looker,
            auth,
            pull_activity_timeout,
            gate: Arc::new(Gate::new(pull_parallelism)),
            asked: BTreeMap::new(),
            tally: Tally::default(),
            keeper: Keeper::restore(books.policy, books.entries, now()),
            ledger: books.ledger,
            lock: books.lock,
            runtime,
            outside,
            inbox,
            wake,
            waiters: BTreeMap::new(),
            fetches: BTreeMap::new(),
            unanswered: 0,
            engine_up: false,
            taking_over: None,
            remove_dead,
            rooms: Vec::new(),
        }
    }

    /// Until it is told to stop.
    pub(super) fn run(mut self) {
        let mut ending = None;
        while let Some(message) = self.inbox.blocking_recv() {
            match message {
                Message::Event { event, recorded } => self.take(event, recorded),
                Message::Want { want, access, answers } => self.want(want, access, answers),
                Message::Status(reply) => {
                    let _ = reply.send(self.status());
                }
                Message::Explain { name, reply } => {
                    let _ = reply.send(self.keeper.explain(&name));
                }
                Message::Pins(reply) => {
                    let _ = reply.send(self.keeper.pins());
                }
                Message::Adopt { adoption, reply } => {
                    let Adopt { pattern, who, dry_run } = adoption;
                    let found = self.keeper.adoptable(&pattern);
                    if !dry_run {
                        self.take(Event::Adopted { pattern, who }, None);
                    }
                    let _ = reply.send(found);
                }
                Message::MakeRoom { done } => {
                    self.rooms.push(done);
                    self.take(Event::NoSpace, None);
                }
                Message::TakeOver { books, done } => self.taking_over = Some((books, done)),
                Message::Stop { ended } => {
                    ending = Some(ended);
                    break;
                }
            }
            self.take_over_if_quiet();
        }
        for fetch in self.fetches.values() {
            fetch.cancel.cancel();
        }
        // With the lock.
        drop(self);
        if let Some(ended) = ending {
            let _ = ended.send(());
        }
    }

    fn status(&self) -> Status {
        let progress =
            self.fetches.values().map(|fetch| (fetch.name.clone(), fetch.progress.borrow().to_string())).collect();
        Status {
            images: self.keeper.status(),
            progress,
            asked: self.asked.clone(),
            pause: self.keeper.paused().cloned(),
            counts: self.tally.counts(),
            room: self.keeper.room(),
        }
    }

    fn note_how_it_was_asked(&mut self, ended: &Running) {
        let Some(source) = ended.progress.borrow().source().cloned() else { return };
        if self.asked.len() >= ASKED_MAX && !self.asked.contains_key(&ended.name) {
            self.asked.pop_first();
        }
        self.asked.insert(ended.name.clone(), source);
    }

    fn want(&mut self, want: Want, access: Access, answers: mpsc::UnboundedSender<Answer>) {
        let (owner, name) = (want.owner.clone(), want.name.clone());
        self.waiters.insert(owner.clone(), Waiter { name: name.clone(), access, answers, watched: None });
        self.take(Event::Wanted(want), None);
        // Whoever joins a pull that is under way hears of it too.
        if let Some(waiter) = self.waiters.get_mut(&owner)
            && waiter.watched.is_none()
            && let Some(running) = self.fetches.values().find(|running| running.name == name)
        {
            waiter.watch(running);
        }
    }

    fn take(&mut self, event: Event, recorded: Option<oneshot::Sender<()>>) {
        self.note_before(&event);
        let kind = Kind::of(&event);
        let Step { records, actions } = self.keeper.step(now(), event);
        self.write(&records);
        match kind {
            Kind::Accepted => crash_point("docker.accept_recorded"),
            Kind::Ended => crash_point("docker.release_recorded"),
            Kind::Other => {}
        }
        if let Some(recorded) = recorded {
            let _ = recorded.send(());
        }
        for action in actions {
            self.begin(action);
        }
    }

    fn note_before(&mut self, event: &Event) {
        match event {
            Event::Fetched { fetch, result } => {
                if let Some(ended) = self.fetches.remove(fetch) {
                    let bytes = ended.progress.borrow().downloaded_bytes();
                    self.tally.fetched(ended.by_load, result.as_ref().copied(), bytes, ended.began.elapsed());
                    self.note_how_it_was_asked(&ended);
                }
            }
            Event::GaveUp { owner } | Event::Ended { owner, .. } => {
                self.waiters.remove(owner);
            }
            Event::EngineBack => self.engine_up = true,
            Event::EngineLost => self.engine_up = false,
            _ => {}
        }
        if is_answer(event) {
            self.unanswered = self.unanswered.saturating_sub(1);
        }
    }

    /// Answers of the keeper that looked on would mean something else to the one that keeps: there are none left when
    /// the one takes the other's place.
    fn take_over_if_quiet(&mut self) {
        let quiet = self.unanswered == 0 && self.waiters.is_empty() && self.keeper.is_recovered();
        let Some((books, done)) = self.taking_over.take_if(|_| quiet) else { return };
        let carried: Vec<Entry> = self.keeper.entries().into_iter().filter(is_about_owners).collect();
        let live = carried.iter().filter_map(|entry| match entry {
            Entry::Hold(hold) if hold.ended_at.is_none() => Some(hold.owner.clone()),
            _ => None,
        });
        let of_agent = carried.iter().filter_map(|entry| match entry {
            Entry::Hold(hold) if hold.owner == Owner::Agent => Some(hold.name.clone()),
            _ => None,
        });
        let of_versions = carried.iter().filter_map(|entry| match entry {
            Entry::Hold(hold) if matches!(hold.owner, Owner::KeptVersion { .. }) => {
                Some(Need { owner: hold.owner.clone(), name: hold.name.clone() })
            }
            _ => None,
        });
        let versions_kept = Event::VersionsKept { needs: of_versions.collect() };
        let agent_needs = Event::AgentNeeds { names: of_agent.collect() };
        let restored = Event::Restored { live: live.collect(), ended: Vec::new() };
        let records: Vec<Record> =
            carried.iter().map(|entry| Record { key: entry.key(), entry: Some(entry.clone()) }).collect();
        let mut entries = books.entries;
        entries.retain(|entry| records.iter().all(|record| record.key != entry.key()));
        entries.extend(carried);
        self.ledger = books.ledger;
        self.lock = books.lock;
        self.write(&records);
        self.keeper = Keeper::restore(books.policy, entries, now());
        self.take(restored, None);
        self.take(agent_needs, None);
        self.take(versions_kept, None);
        if self.engine_up {
            self.take(Event::EngineBack, None);
        }
        let _ = done.send(());
    }

    /// Writes a step's records, for as long as it takes (A2).
    fn write(&mut self, records: &[Record]) {
        let mut wait = WRITE_AGAIN_MIN;
        while let Err(error) = self.ledger.commit(records) {
            tracing::error!(error = %with_causes(&error), "image ledger: trying again in {wait:?}; no image is pulled, granted or removed meanwhile");
            std::thread::sleep(wait);
            wait = (wait * 2).min(WRITE_AGAIN_MAX);
        }
    }

    fn look(&self, look: LookId) {
        let (looker, outside) = (self.looker.clone(), self.outside.clone());
        self.runtime.spawn(async move {
            let event = match tokio::time::timeout(LOOK_MAX, looker.look()).await {
                Ok(Ok(seen)) => Event::Looked { look, seen },
                Ok(Err(error)) => Event::LookFailed { look, message: with_causes(&error) },
                Err(_) => Event::LookFailed { look, message: format!("no full answer within {LOOK_MAX:?}") },
            };
            outside.tell(event);
        });
    }

    fn begin(&mut self, action: Action) {
        if wants_answer(&action) {
            self.unanswered += 1;
        }
        match action {
            Action::Look { look } => self.look(look),
            Action::Pull { fetch, name, owner, platform, patient } => {
                crash_point("docker.pull_recorded");
                self.fetch(fetch, name, &owner, How::Pull { platform, patient });
            }
            Action::Load { fetch, name, owner, archive: _ } => {
                crash_point("docker.load_recorded");
                self.fetch(fetch, name, &owner, How::Load);
            }
            Action::CancelFetch { fetch } => {
                if let Some(running) = self.fetches.get(&fetch) {
                    running.cancel.cancel();
                }
            }
            Action::Grant { owner, name: _, content, name_points_at_it, fetched, unasked, size_bytes } => {
                crash_point("docker.grant_recorded");
                let watched = self.waiters.get(&owner).and_then(|waiter| waiter.watched.as_ref());
                let brought = watched.filter(|_| fetched).map(Watched::brought);
                self.tally.granted(match (&brought, &unasked) {
                    (Some(brought), _) if brought.by_load => "loaded",
                    (Some(_), _) => "pulled",
                    (None, Some(_)) => "present_registry_away",
                    (None, None) => "present",
                });
                self.answer(
                    &owner,
                    Answer::Granted(Grant { content, by_name: name_points_at_it, size_bytes, unasked, brought }),
                );
            }
            Action::Refuse { owner, name: _, why } => {
                self.tally.refused(&why);
                self.answer(&owner, Answer::Refused(why));
            }
            Action::RemoveName { act, name, content: _ } => {
                crash_point("docker.removal_recorded");
                let (engine, outside) = (self.engine.clone(), self.outside.clone());
                self.runtime.spawn(async move {
                    let answer = remove(&engine, &name).await;
                    crash_point("docker.removal_done");
                    outside.tell(Event::Removed { act, answer });
                });
            }
            Action::Tag { act, content, name } => {
                crash_point("docker.tag_recorded");
                let (engine, outside) = (self.engine.clone(), self.outside.clone());
                self.runtime.spawn(async move {
                    let answer = tag(&engine, content, &name).await;
                    crash_point("docker.tag_done");
                    outside.tell(Event::Tagged { act, answer });
                });
            }
            Action::RemoveDead { act } => {
                let (remove_dead, outside) = (self.remove_dead.clone(), self.outside.clone());
                self.runtime.spawn(async move {
                    let removed = tokio::time::timeout(DEAD_MAX, remove_dead()).await.unwrap_or(0);
                    outside.tell(Event::DeadRemoved { act, removed });
                });
            }
            Action::RoomMade { any } => {
                for done in self.rooms.drain(..) {
                    let _ = done.send(any);
                }
            }
            Action::WakeAt(at) => {
                self.wake.send_replace(Some(at));
            }
            Action::Tell(notice) => {
                self.tally.told(&notice);
                tell(&notice);
            }
        }
    }

    fn answer(&mut self, owner: &Owner, answer: Answer) {
        if let Some(waiter) = self.waiters.remove(owner) {
            let _ = waiter.answers.send(answer);
        }
    }

    fn fetch(&mut self, fetch: FetchId, name: ImageRef, owner: &Owner, how: How) {
        let (platform, patient, by_load) = match how {
            How::Pull { platform, patient } => (platform, patient, false),
            How::Load => (None, true, true),
        };
        let access = self.waiters.get(owner).map(|waiter| waiter.access.clone()).unwrap_or_default();
        let (progress, watched) = watch::channel(Progress::default());
        let cancel = CancellationToken::new();
        let running =
            Running { name: name.clone(), by_load, began: Instant::now(), cancel: cancel.clone(), progress: watched };
        for waiter in self.waiters.values_mut().filter(|waiter| waiter.name == name) {
            waiter.watch(&running);
        }
        self.fetches.insert(fetch, running);
        let job = Fetch {
            engine: self.engine.clone(),
            name,
            access,
            auth: self.auth.clone(),
            platform,
            patient,
            activity_timeout: self.pull_activity_timeout,
            meter: self.looker.meter(),
            gate: self.gate.clone(),
            cancel,
            progress,
        };
        let outside = self.outside.clone();
        self.runtime.spawn(async move {
            let result: Result<(), FetchFailure> = if by_load {
                let result = job.load().await;
                crash_point("docker.load_done");
                result
            } else {
                let result = job.pull().await;
                crash_point("docker.pull_done");
                result
            };
            outside.tell(Event::Fetched { fetch, result });
        });
    }
}

/// How an image is brought.
enum How {
    Pull { platform: Option<String>, patient: bool },
    Load,
}

enum Kind {
    Accepted,
    Ended,
    Other,
}

impl Kind {
    fn of(event: &Event) -> Self {
        match event {
            Event::Accepted { .. } => Self::Accepted,
            Event::Ended { .. } => Self::Ended,
            _ => Self::Other,
        }
    }
}

fn wants_answer(action: &Action) -> bool {
    matches!(
        action,
        Action::Look { .. }
            | Action::Pull { .. }
            | Action::Load { .. }
            | Action::RemoveName { .. }
            | Action::Tag { .. }
            | Action::RemoveDead { .. }
    )
}

fn is_answer(event: &Event) -> bool {
    matches!(
        event,
        Event::Looked { .. }
            | Event::LookFailed { .. }
            | Event::Fetched { .. }
            | Event::Removed { .. }
            | Event::Tagged { .. }
            | Event::DeadRemoved { .. }
    )
}

/// What says who needs what: true whoever keeps the images.
fn is_about_owners(entry: &Entry) -> bool {
    matches!(entry, Entry::Hold(_) | Entry::Handover(_))
}

async fn remove(engine: &Engine, name: &ImageRef) -> RemovalAnswer {
    match engine.delete_image(name.full(), DeleteOptions::default()).await {
        Ok(list) => RemovalAnswer::Done {
            untagged: list.iter().filter_map(|line| line.untagged.as_deref()?.parse().ok()).collect(),
            deleted: list.iter().filter_map(|line| line.deleted.as_deref()?.parse().ok()).collect(),
        },
        Err(error) => {
            let message = error.engine_message().map_or_else(|| with_causes(&error), str::to_owned);
            match error.class() {
                Class::NotFound => RemovalAnswer::NotFound,
                Class::InUse | Class::Conflict | Class::WrongState => RemovalAnswer::InUse { message },
                class if class.is_unknown_outcome() => RemovalAnswer::Lost { message },
                Class::EngineUnreachable => RemovalAnswer::Lost { message },
                _ => RemovalAnswer::Refused { message },
            }
        }
    }
}

async fn tag(engine: &Engine, content: ContentId, name: &ImageRef) -> TagAnswer {
    let (Some(repository), Some(tag)) = (name.repository(), name.tag()) else {
        return TagAnswer::Failed { message: format!("{name} is no tag") };
    };
    match engine.tag_image(&content.to_string(), repository, tag).await {
        Ok(()) => TagAnswer::Done,
        Err(error) if error.is_not_found() => TagAnswer::NotFound,
        Err(error) => TagAnswer::Failed { message: with_causes(&error) },
    }
}
