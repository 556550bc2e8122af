//! The handle on the keeper's thread, and what is said to it.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use longshore_driver::ImageCount;
use longshore_engine::Engine;
use longshore_images::{
    Adoption, Entry, Event, Explanation, FetchFailure, ImageStatus, Pause, Pin as KeptPin, Policy, Refusal, RoomReport,
    Want,
};
use longshore_model::{ContentId, ImageRef, Timestamp};
use tokio::sync::{mpsc, oneshot, watch};

use super::actor::Actor;
use super::credentials::Source;
use super::fetch::Access;
use super::ledger::Ledger;
use super::lock::KeeperLock;
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
    /// Why what was there had to do, when the registry was to be asked.
    pub(crate) unasked: Option<FetchFailure>,
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
    /// How the registry was asked when a name was last pulled, since this agent's start.
    pub(crate) asked: BTreeMap<ImageRef, Source>,
    /// The pause that holds.
    pub(crate) pause: Option<Pause>,
    /// What was done since this agent's start.
    pub(crate) counts: Vec<ImageCount>,
    pub(crate) room: RoomReport,
}

pub(super) enum Message {
    Event { event: Event, recorded: Option<oneshot::Sender<()>> },
    Want { want: Want, access: Access, answers: mpsc::UnboundedSender<Answer> },
    Status(oneshot::Sender<Status>),
    Explain { name: ImageRef, reply: oneshot::Sender<Option<Explanation>> },
    Pins(oneshot::Sender<Vec<(KeptPin, Vec<ImageRef>)>>),
    Adopt { adoption: Adopt, reply: oneshot::Sender<Option<Vec<Adoption>>> },
    MakeRoom { done: oneshot::Sender<bool> },
    TakeOver { books: Books, done: oneshot::Sender<()> },
    Stop { ended: oneshot::Sender<()> },
}

/// What a person takes back, or asks about.
pub(crate) struct Adopt {
    pub(crate) pattern: String,
    pub(crate) who: String,
    pub(crate) dry_run: bool,
}

/// What the images of an engine are kept with.
pub(crate) struct Books {
    pub(crate) policy: Policy,
    pub(crate) ledger: Ledger,
    /// What stands in the ledger.
    pub(crate) entries: Vec<Entry>,
    /// `None` for one who only looks on.
    pub(crate) lock: Option<KeeperLock>,
}

/// Speaks to the keeper's thread.
#[derive(Clone)]
pub(crate) struct Keeping {
    pub(super) inbox: mpsc::UnboundedSender<Message>,
}

/// Removes containers of this agent that are over, and tells how many.
pub(crate) type RemoveDead = Arc<dyn Fn() -> Pin<Box<dyn Future<Output = u32> + Send>> + Send + Sync>;

/// What the keeper's thread works with.
pub(crate) struct Setup {
    pub(crate) engine: Engine,
    pub(crate) looker: Looker,
    pub(crate) auth: AuthOptions,
    pub(crate) pull_activity_timeout: Duration,
    pub(crate) pull_parallelism: usize,
    pub(crate) remove_dead: RemoveDead,
    pub(crate) books: Books,
}

/// The keeper's thread has ended: the agent is going down.
#[derive(Debug, thiserror::Error)]
#[error("the image keeper of this node has ended")]
pub(crate) struct KeeperEnded;

impl Keeping {
    /// Starts the thread. It ends after [`Keeping::stop`]; what it was told before that is recorded.
    pub(crate) fn start(setup: Setup) -> std::io::Result<Self> {
        // Unbounded, because a cancelled attempt has to be able to say so from a destructor; each sender has at most one
        // message per attempt or engine event in it.
        let (sender, inbox) = mpsc::unbounded_channel();
        let keeping = Self { inbox: sender };
        let (wake, alarm) = watch::channel(None);
        let runtime = tokio::runtime::Handle::current();
        runtime.spawn(ring(alarm, keeping.clone()));
        let actor = Actor::new(setup, runtime, keeping.clone(), inbox, wake);
        std::thread::Builder::new().name("images".to_owned()).spawn(move || actor.run())?;
        Ok(keeping)
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

    /// All pins, with the names that match them.
    pub(crate) async fn pins(&self) -> Result<Vec<(KeptPin, Vec<ImageRef>)>, KeeperEnded> {
        let (reply, pins) = oneshot::channel();
        self.inbox.send(Message::Pins(reply)).map_err(|_| KeeperEnded)?;
        pins.await.map_err(|_| KeeperEnded)
    }

    /// What matched before it was adopted, when that is on disk; none before the engine was looked at.
    pub(crate) async fn adopt(&self, adoption: Adopt) -> Result<Option<Vec<Adoption>>, KeeperEnded> {
        let (reply, adopted) = oneshot::channel();
        self.inbox.send(Message::Adopt { adoption, reply }).map_err(|_| KeeperEnded)?;
        adopted.await.map_err(|_| KeeperEnded)
    }

    /// A write to the engine's disk met "no space left". Returns when room was made, as well as can be: whether anything
    /// was removed.
    pub(crate) async fn make_room(&self) -> Result<bool, KeeperEnded> {
        let (done, made) = oneshot::channel();
        self.inbox.send(Message::MakeRoom { done }).map_err(|_| KeeperEnded)?;
        made.await.map_err(|_| KeeperEnded)
    }

    /// From a keeper that looked on while another agent kept the engine's images to one that keeps them. Returns when
    /// that is done: at a moment when nothing is asked of the engine and nobody waits for an image.
    pub(crate) async fn take_over(&self, books: Books) -> Result<(), KeeperEnded> {
        let (done, taken_over) = oneshot::channel();
        self.inbox.send(Message::TakeOver { books, done }).map_err(|_| KeeperEnded)?;
        taken_over.await.map_err(|_| KeeperEnded)
    }

    /// Ends the thread and gives the engine's lock back; what it was told before is recorded.
    pub(crate) async fn stop(&self) {
        let (ended, when) = oneshot::channel();
        if self.inbox.send(Message::Stop { ended }).is_ok() && tokio::time::timeout(STOP_MAX, when).await.is_err() {
            tracing::warn!("the image keeper has not ended within {STOP_MAX:?}; the end of the process ends it");
        }
    }
}

/// A ledger that cannot be written may keep the thread for ever.
const STOP_MAX: Duration = Duration::from_secs(3);
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
