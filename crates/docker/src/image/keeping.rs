//! The one who acts for the keeper: takes events in, writes each step's records, and only then carries out its actions.
//!
//! - A1: the keeper and its ledger live on one thread; events are taken one after the other.
//! - A2: no action begins before the records of its step are on disk. When they cannot be written, nothing goes on until
//!   they can: an act on the strength of a fact that a crash forgets would be worse than waiting.
//! - A3: every look, pull, load, tag and removal is answered with one event, whatever becomes of the engine.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use longshore_crashpoint::crash_point;
use longshore_engine::{Class, DeleteOptions, Engine};
use longshore_images::{
    Action, Event, Explanation, FetchFailure, FetchId, ImageStatus, Keeper, Level, Notice, Owner, Refusal,
    RemovalAnswer, Step, TagAnswer, Want,
};
use longshore_model::{ContentId, ImageRef, Timestamp};
use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;

use super::fetch::{Access, Fetch, with_causes};
use super::ledger::Ledger;
use super::look::Looker;
use super::progress::Progress;
use crate::options::AuthOptions;

/// What a start attempt hears while it waits for its image.
pub(crate) enum Answer {
    /// A pull or load that may bring it is under way.
    Fetching(watch::Receiver<Progress>),
    Granted(Grant),
    Refused(Refusal),
}

/// An image that a container may be made from.
#[derive(Debug, Clone)]
pub(crate) struct Grant {
    pub(crate) content: ContentId,
    /// Make it under the name; else by id.
    pub(crate) by_name: bool,
    pub(crate) size_bytes: u64,
    /// How it was brought; `None` when it was there.
    pub(crate) brought: Option<Brought>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Brought {
    pub(crate) took: Duration,
    pub(crate) downloaded_bytes: u64,
    pub(crate) by_load: bool,
}

/// What the keeper says about the engine's images at one moment.
pub(crate) struct Status {
    pub(crate) images: Vec<ImageStatus>,
    /// Progress of pulls under way, by name.
    pub(crate) progress: BTreeMap<ImageRef, String>,
}

enum Message {
    Event { event: Event, recorded: Option<oneshot::Sender<()>> },
    Want { want: Want, access: Access, answers: mpsc::UnboundedSender<Answer> },
    Status(oneshot::Sender<Status>),
    Explain { name: ImageRef, reply: oneshot::Sender<Option<Explanation>> },
    Stop,
}

/// Speaks to the keeper's thread.
#[derive(Clone)]
pub(crate) struct Keeping {
    inbox: mpsc::UnboundedSender<Message>,
}

/// What the keeper's thread works with.
pub(crate) struct Setup {
    pub(crate) engine: Engine,
    pub(crate) looker: Looker,
    pub(crate) auth: AuthOptions,
    pub(crate) pull_activity_timeout: Duration,
    pub(crate) keeper: Keeper,
    pub(crate) ledger: Ledger,
}

/// The keeper's thread has ended: the agent is going down.
#[derive(Debug, thiserror::Error)]
#[error("the image keeper of this node has ended")]
pub(crate) struct KeeperEnded;

impl Keeping {
    /// Starts the thread. It ends after [`Keeping::stop`]; what it was told before that is recorded.
    pub(crate) fn start(setup: Setup) -> std::io::Result<(Self, std::thread::JoinHandle<()>)> {
        // Unbounded, because a cancelled attempt has to be able to say so from a destructor; each sender has at most one
        // message per attempt or engine event in it.
        let (sender, inbox) = mpsc::unbounded_channel();
        let keeping = Self { inbox: sender };
        let (wake, alarm) = watch::channel(None);
        let runtime = tokio::runtime::Handle::current();
        runtime.spawn(ring(alarm, keeping.clone()));
        let actor = Actor {
            setup,
            runtime,
            outside: keeping.clone(),
            inbox,
            wake,
            waiters: BTreeMap::new(),
            fetches: BTreeMap::new(),
        };
        let thread = std::thread::Builder::new().name("images".to_owned()).spawn(move || actor.run())?;
        Ok((keeping, thread))
    }

    /// Tells an event, without waiting.
    pub(crate) fn tell(&self, event: Event) {
        let _ = self.inbox.send(Message::Event { event, recorded: None });
    }

    /// Tells an event; returns when what follows from it is on disk.
    pub(crate) async fn record(&self, event: Event) -> Result<(), KeeperEnded> {
        let (recorded, done) = oneshot::channel();
        self.inbox.send(Message::Event { event, recorded: Some(recorded) }).map_err(|_| KeeperEnded)?;
        done.await.map_err(|_| KeeperEnded)
    }

    /// Asks for an image. Dropping the receiver does not end the question: tell `Event::GaveUp`.
    pub(crate) fn want(&self, want: Want, access: Access) -> mpsc::UnboundedReceiver<Answer> {
        let (answers, receiver) = mpsc::unbounded_channel();
        let _ = self.inbox.send(Message::Want { want, access, answers });
        receiver
    }

    pub(crate) async fn status(&self) -> Result<Status, KeeperEnded> {
        let (reply, status) = oneshot::channel();
        self.inbox.send(Message::Status(reply)).map_err(|_| KeeperEnded)?;
        status.await.map_err(|_| KeeperEnded)
    }

    pub(crate) async fn explain(&self, name: ImageRef) -> Result<Option<Explanation>, KeeperEnded> {
        let (reply, explanation) = oneshot::channel();
        self.inbox.send(Message::Explain { name, reply }).map_err(|_| KeeperEnded)?;
        explanation.await.map_err(|_| KeeperEnded)
    }

    pub(crate) fn stop(&self) {
        let _ = self.inbox.send(Message::Stop);
    }
}

const RING_AGAIN: Duration = Duration::from_secs(5);

/// Rings at the time of the last wish.
async fn ring(mut alarm: watch::Receiver<Option<Timestamp>>, keeping: Keeping) {
    loop {
        let at = *alarm.borrow_and_update();
        let changed = match at {
            None => alarm.changed().await,
            Some(at) => {
                // Wall-clock time may jump: no single sleep is longer than this.
                let wait = at.since(now()).to_std().min(Duration::from_secs(30));
                match tokio::time::timeout(wait, alarm.changed()).await {
                    Ok(changed) => changed,
                    Err(_) => {
                        if now() >= at {
                            keeping.tell(Event::Tick);
                            // Without another wish there may still be something to do later.
                            tokio::time::timeout(RING_AGAIN, alarm.changed()).await.unwrap_or(Ok(()))
                        } else {
                            Ok(())
                        }
                    }
                }
            }
        };
        if changed.is_err() {
            return;
        }
    }
}

pub(crate) fn now() -> Timestamp {
    Timestamp::from_nanoseconds(chrono::Utc::now().timestamp_nanos_opt().unwrap_or(i64::MAX))
}

struct Actor {
    setup: Setup,
    runtime: tokio::runtime::Handle,
    /// For what runs outside and reports back.
    outside: Keeping,
    inbox: mpsc::UnboundedReceiver<Message>,
    wake: watch::Sender<Option<Timestamp>>,
    waiters: BTreeMap<Owner, Waiter>,
    fetches: BTreeMap<FetchId, Running>,
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
    cancel: CancellationToken,
    progress: watch::Receiver<Progress>,
}

const WRITE_AGAIN_MIN: Duration = Duration::from_millis(200);
const WRITE_AGAIN_MAX: Duration = Duration::from_secs(10);

impl Actor {
    fn run(mut self) {
        while let Some(message) = self.inbox.blocking_recv() {
            match message {
                Message::Event { event, recorded } => self.take(event, recorded),
                Message::Want { want, access, answers } => self.want(want, access, answers),
                Message::Status(reply) => {
                    let _ = reply.send(self.status());
                }
                Message::Explain { name, reply } => {
                    let _ = reply.send(self.setup.keeper.explain(&name));
                }
                Message::Stop => break,
            }
        }
        for fetch in self.fetches.values() {
            fetch.cancel.cancel();
        }
    }

    fn status(&self) -> Status {
        let progress =
            self.fetches.values().map(|fetch| (fetch.name.clone(), fetch.progress.borrow().to_string())).collect();
        Status { images: self.setup.keeper.status(), progress }
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
        let step = self.setup.keeper.step(now(), event);
        self.write(&step);
        match kind {
            Kind::Accepted => crash_point("docker.accept_recorded"),
            Kind::Ended => crash_point("docker.release_recorded"),
            Kind::Other => {}
        }
        if let Some(recorded) = recorded {
            let _ = recorded.send(());
        }
        for action in step.actions {
            self.begin(action);
        }
    }

    fn note_before(&mut self, event: &Event) {
        match event {
            Event::Fetched { fetch, .. } => {
                self.fetches.remove(fetch);
            }
            Event::GaveUp { owner } | Event::Ended { owner, .. } => {
                self.waiters.remove(owner);
            }
            _ => {}
        }
    }

    /// Writes a step's records, for as long as it takes (A2).
    fn write(&mut self, step: &Step) {
        let mut wait = WRITE_AGAIN_MIN;
        while let Err(error) = self.setup.ledger.commit(&step.records) {
            tracing::error!(error = %with_causes(&error), "image ledger: trying again in {wait:?}; no image is pulled, granted or removed meanwhile");
            std::thread::sleep(wait);
            wait = (wait * 2).min(WRITE_AGAIN_MAX);
        }
    }

    fn begin(&mut self, action: Action) {
        match action {
            Action::Look { look } => {
                let (looker, outside) = (self.setup.looker.clone(), self.outside.clone());
                self.runtime.spawn(async move {
                    outside.tell(match looker.look().await {
                        Ok(seen) => Event::Looked { look, seen },
                        Err(error) => Event::LookFailed { look, message: with_causes(&error) },
                    });
                });
            }
            Action::Pull { fetch, name, owner, platform } => {
                crash_point("docker.pull_recorded");
                self.fetch(fetch, name, &owner, platform, false);
            }
            Action::Load { fetch, name, owner, archive: _ } => {
                crash_point("docker.load_recorded");
                self.fetch(fetch, name, &owner, None, true);
            }
            Action::CancelFetch { fetch } => {
                if let Some(running) = self.fetches.get(&fetch) {
                    running.cancel.cancel();
                }
            }
            Action::Grant { owner, name: _, content, name_points_at_it, fetched: _, size_bytes } => {
                crash_point("docker.grant_recorded");
                // A look may have seen the image before its pull was told to have ended: it was brought all the same.
                let watched = self.waiters.get(&owner).and_then(|waiter| waiter.watched.as_ref());
                let brought = watched.map(Watched::brought);
                self.answer(
                    &owner,
                    Answer::Granted(Grant { content, by_name: name_points_at_it, size_bytes, brought }),
                );
            }
            Action::Refuse { owner, name: _, why } => self.answer(&owner, Answer::Refused(why)),
            Action::RemoveName { act, name, content: _ } => {
                crash_point("docker.removal_recorded");
                let (engine, outside) = (self.setup.engine.clone(), self.outside.clone());
                self.runtime.spawn(async move {
                    let answer = remove(&engine, &name).await;
                    crash_point("docker.removal_done");
                    outside.tell(Event::Removed { act, answer });
                });
            }
            Action::Tag { act, content, name } => {
                crash_point("docker.tag_recorded");
                let (engine, outside) = (self.setup.engine.clone(), self.outside.clone());
                self.runtime.spawn(async move {
                    let answer = tag(&engine, content, &name).await;
                    crash_point("docker.tag_done");
                    outside.tell(Event::Tagged { act, answer });
                });
            }
            Action::WakeAt(at) => {
                self.wake.send_replace(Some(at));
            }
            Action::Tell(notice) => tell(&notice),
        }
    }

    fn answer(&mut self, owner: &Owner, answer: Answer) {
        if let Some(waiter) = self.waiters.remove(owner) {
            let _ = waiter.answers.send(answer);
        }
    }

    fn fetch(&mut self, fetch: FetchId, name: ImageRef, owner: &Owner, platform: Option<String>, by_load: bool) {
        let access = self.waiters.get(owner).map(|waiter| waiter.access.clone()).unwrap_or_default();
        let (progress, watched) = watch::channel(Progress::default());
        let cancel = CancellationToken::new();
        let running = Running { name: name.clone(), by_load, cancel: cancel.clone(), progress: watched };
        for waiter in self.waiters.values_mut().filter(|waiter| waiter.name == name) {
            waiter.watch(&running);
        }
        self.fetches.insert(fetch, running);
        let job = Fetch {
            engine: self.setup.engine.clone(),
            name,
            access,
            auth: self.setup.auth.clone(),
            platform,
            activity_timeout: self.setup.pull_activity_timeout,
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

/// One line of the audit log.
fn tell(notice: &Notice) {
    let image = notice.name().map(|name| name.familiar()).unwrap_or_default();
    match notice.level() {
        Level::Debug => tracing::debug!(target: "longshore::images", image, "{notice}"),
        Level::Info => tracing::info!(target: "longshore::images", image, "{notice}"),
        Level::Warn => tracing::warn!(target: "longshore::images", image, "{notice}"),
        Level::Error => tracing::error!(target: "longshore::images", image, "{notice}"),
    }
}
