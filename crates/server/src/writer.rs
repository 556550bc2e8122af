//! The one loop that writes (R1, R2): it decides each proposal against the newest state, makes the batch durable,
//! then shows it.
//!
//! Changes are applied to a private copy of the state first, so that a later proposal of a batch is decided with the
//! earlier ones in sight; when the journal refuses the batch the copy is thrown away and nobody has seen it. So is the
//! copy of a batch in which something panicked: what breaks an invariant is never written.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use longshore_journal::{Entry as JournalEntry, Journal};
use longshore_model::{LogIndex, Timestamp};
use longshore_state::{Change, Effect, Entry, State};
use tokio::sync::{mpsc, oneshot};

use crate::clock;
use crate::error::ServerError;
use crate::snapshots::SnapshotKeeper;

/// Decided together and made durable with one wait for the disk.
const BATCH_MAX: usize = 1_024;
/// Proposals that may wait; who comes after that waits to get in.
const QUEUE_MAX: usize = 4_096;

type Decide = Box<dyn FnOnce(&State, Timestamp) -> Result<Option<Change>, ServerError> + Send>;

pub(crate) enum Message {
    Propose { decide: Decide, reply: Reply },
    Stop { reply: oneshot::Sender<()> },
}

/// What a proposal came to.
#[derive(Debug)]
pub(crate) struct Written<T> {
    /// Of the change; of the newest one before it when nothing had to change.
    pub(crate) index: LogIndex,
    pub(crate) value: T,
}

/// The way to the loop.
#[derive(Clone)]
pub(crate) struct Proposer {
    messages: mpsc::Sender<Message>,
}

impl Proposer {
    pub(crate) fn channel() -> (Self, mpsc::Receiver<Message>) {
        let (messages, inbox) = mpsc::channel(QUEUE_MAX);
        (Self { messages }, inbox)
    }

    /// Runs `decide` against the newest state and returns once what it changes is durable and visible.
    ///
    /// `decide` also gives what the caller wants to know; it must be quick, for everybody waits for it.
    pub(crate) async fn propose<T, F>(&self, decide: F) -> Result<Written<T>, ServerError>
    where
        T: Send + 'static,
        F: FnOnce(&State, Timestamp) -> Result<(Option<Change>, T), ServerError> + Send + 'static,
    {
        let (value_sender, mut value) = oneshot::channel();
        let (reply, answer) = oneshot::channel();
        let decide = Box::new(move |state: &State, now| {
            let (change, value) = decide(state, now)?;
            let _ = value_sender.send(value);
            Ok(change)
        });
        self.messages.send(Message::Propose { decide, reply }).await.map_err(|_| ServerError::ShuttingDown)?;
        let index = answer.await.map_err(|_| ServerError::ShuttingDown)??;
        let value = value.try_recv().map_err(|_| ServerError::ShuttingDown)?;
        Ok(Written { index, value })
    }

    /// The loop ends after what was proposed before.
    pub(crate) async fn stop(&self) {
        let (reply, answer) = oneshot::channel();
        if self.messages.send(Message::Stop { reply }).await.is_ok() {
            let _ = answer.await;
        }
    }
}

/// Told of every durable batch, in order.
pub(crate) trait Follower: Send + Sync {
    fn follow(&self, state: &Arc<State>, effects: &[Effect], now: Timestamp);
}

pub(crate) struct Writer {
    pub(crate) state: Arc<State>,
    pub(crate) journal: Arc<dyn Journal>,
    pub(crate) inbox: mpsc::Receiver<Message>,
    pub(crate) follower: Arc<dyn Follower>,
    pub(crate) snapshots: SnapshotKeeper,
    /// The time of the newest entry: the next is not before it, whatever the clock does.
    pub(crate) last_at: Timestamp,
}

type Reply = oneshot::Sender<Result<LogIndex, ServerError>>;

struct Batch {
    next: State,
    entries: Vec<JournalEntry>,
    effects: Vec<Effect>,
    replies: Vec<(Reply, LogIndex)>,
    bytes: usize,
    /// The copy cannot be trusted any more.
    broken: bool,
}

impl Writer {
    pub(crate) async fn run(mut self) {
        let mut messages = Vec::new();
        loop {
            if self.inbox.recv_many(&mut messages, BATCH_MAX).await == 0 {
                break;
            }
            let mut batch = self.new_batch();
            let mut stop = None;
            for message in messages.drain(..) {
                match message {
                    Message::Propose { decide, reply } if stop.is_none() => self.decide(&mut batch, decide, reply),
                    Message::Propose { reply, .. } => {
                        let _ = reply.send(Err(ServerError::ShuttingDown));
                    }
                    Message::Stop { reply } => stop = Some(reply),
                }
            }
            self.commit(batch).await;
            if let Some(reply) = stop {
                self.inbox.close();
                self.snapshots.last(&self.state).await;
                if let Err(why) = self.journal.close().await {
                    tracing::error!(%why, "could not close the journal in order");
                }
                let _ = reply.send(());
                break;
            }
        }
    }

    fn new_batch(&self) -> Batch {
        Batch {
            next: State::clone(&self.state),
            entries: Vec::new(),
            effects: Vec::new(),
            replies: Vec::new(),
            bytes: 0,
            broken: false,
        }
    }

    fn decide(&mut self, batch: &mut Batch, decide: Decide, reply: Reply) {
        let now = clock::now().max(self.last_at);
        let decided = catch_unwind(AssertUnwindSafe(|| decide(&batch.next, now)));
        let change = match decided.unwrap_or(Err(ServerError::Panicked)) {
            Ok(Some(change)) => change,
            // What it rests on may be in this very batch: it is answered with it.
            Ok(None) => {
                batch.replies.push((reply, batch.next.index()));
                return;
            }
            Err(why) => {
                let _ = reply.send(Err(why));
                return;
            }
        };
        let entry = Entry { at: now, change };
        let bytes = match entry.encode() {
            Ok(bytes) => bytes,
            Err(why) => {
                let _ = reply.send(Err(ServerError::Encode(Arc::new(why))));
                return;
            }
        };
        let index = batch.next.index().next();
        batch.replies.push((reply, index));
        match catch_unwind(AssertUnwindSafe(|| batch.next.apply(index, now, entry.change))) {
            Ok(effects) => batch.effects.extend(effects),
            Err(_) => batch.broken = true,
        }
        self.last_at = now;
        batch.bytes += bytes.len();
        batch.entries.push(JournalEntry { index, bytes });
    }

    async fn commit(&mut self, batch: Batch) {
        let Batch { next, entries, effects, replies, bytes, broken } = batch;
        if broken {
            tracing::error!(proposals = replies.len(), "changes were refused: one of them broke the state");
            for (reply, _) in replies {
                let _ = reply.send(Err(ServerError::Panicked));
            }
            return;
        }
        let changes = !entries.is_empty();
        if changes && let Err(why) = self.journal.append(entries).await {
            tracing::error!(%why, proposals = replies.len(), "changes were refused: the journal did not take them");
            for (reply, _) in replies {
                let _ = reply.send(Err(ServerError::NotDurable(why.clone())));
            }
            return;
        }
        if changes {
            self.state = Arc::new(next);
            self.follower.follow(&self.state, &effects, self.last_at);
            self.snapshots.note(&self.state, bytes);
        }
        for (reply, index) in replies {
            let _ = reply.send(Ok(index));
        }
    }
}

#[cfg(test)]
mod tests {
    use longshore_journal::MemoryJournal;
    use longshore_state::EvaluationChange;

    use super::*;
    use crate::{Server, ServerConfig};

    #[tokio::test]
    async fn a_decision_that_panics_harms_nobody_else() {
        let server = Server::start(ServerConfig::default(), MemoryJournal::default().open()).await.unwrap();
        let before = server.snapshot().index();
        let nothing = || Change::Evaluation(EvaluationChange::Upsert(Vec::new()));
        let bad = server.proposer().propose(|_, _| -> Result<(Option<Change>, ()), ServerError> { panic!("a test") });
        let good = server.proposer().propose(move |_, _| Ok((Some(nothing()), 7)));
        let (bad, good) = tokio::join!(bad, good);
        assert!(matches!(bad, Err(ServerError::Panicked)));
        let good = good.unwrap();
        assert_eq!((good.index, good.value), (before.next(), 7));
        assert_eq!(server.snapshot().index(), before.next());
        server.shutdown().await;
    }
}
