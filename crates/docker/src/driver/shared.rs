//! What all parts of the driver have in common.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use longshore_driver::{DriverError, TaskId};
use longshore_engine::{Engine, RegistryAuth};
use longshore_images::{Event, Owner};
use longshore_model::{AllocId, ImageRef, NodeId};
use sha2::{Digest as _, Sha256};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::attempts::Attempts;
use super::pumps::Pumps;
use super::turns::Turns;
use crate::image::{EngineState, Keeping};
use crate::options::Options;
use crate::pause;

/// What the driver is made with.
#[derive(Debug, Clone)]
pub struct DriverSetup {
    pub options: Options,
    pub engine: Engine,
    /// The identity that this agent's containers carry. Stable across restarts.
    pub node: NodeId,
    /// Where ledgers and log cursors lie: the same for each run on this machine, also with `-dev`.
    pub state_folder: PathBuf,
    /// Where the lock of each engine's keeper lies: `/run/longshore`, or a folder of the user's own without root.
    pub lock_folder: PathBuf,
}

pub(crate) struct Shared {
    pub(crate) options: Options,
    pub(crate) engine: Engine,
    pub(crate) node: NodeId,
    pub(crate) state_folder: PathBuf,
    pub(crate) lock_folder: PathBuf,
    pub(crate) engine_state: Arc<watch::Sender<EngineState>>,
    pub(crate) books: watch::Sender<Books>,
    /// What the node said it knows; once.
    pub(crate) restored: watch::Sender<Option<Vec<Event>>>,
    /// The owners of each allocation that was accepted and not forgotten, and whether they hold images.
    known: Mutex<Known>,
    /// Those of them that the node did not know at the last comparison.
    strangers: Mutex<BTreeSet<AllocId>>,
    pub(crate) pumps: Pumps,
    pub(crate) attempts: Attempts,
    pub(crate) pulls_by_people: Turns<ImageRef>,
    /// A task has one start attempt at a time.
    pub(crate) starts: Turns<TaskId>,
    /// One makes the network of an allocation at a time.
    pub(super) network_turns: Turns<AllocId>,
    /// Commands that people run in tasks.
    pub(crate) execs: TaskTracker,
    /// What the last fingerprint was made from.
    seen: Mutex<Option<Seen>>,
    /// Of this process only: what pulls are joined by is hashed with it.
    access_key: [u8; 32],
    pub(crate) closing: CancellationToken,
}

/// Engine and books as somebody has seen them: what changes after that is news.
#[derive(Clone)]
pub(crate) struct Seen {
    pub(crate) engine: watch::Receiver<EngineState>,
    pub(crate) books: watch::Receiver<Books>,
}

pub(crate) type Known = BTreeMap<AllocId, BTreeMap<Owner, Holding>>;

/// Whether a task, or the allocation's network, has asked for an image, so that it has one to give back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Holding {
    /// Of this name, unless it is filled in at the start only.
    Yes { name: Option<ImageRef> },
    /// Its config named none that can be read.
    No,
    /// Given back before this start of the agent; its container may be there all the same, of a start that was cut off.
    GivenBack,
}

/// Whether the images of the engine are kept, and by whom.
#[derive(Clone)]
pub(crate) enum Books {
    /// Not yet: the engine was not reached, or the node has not said what it knows.
    Opening {
        why: String,
    },
    Open {
        keeping: Keeping,
        note: Option<String>,
    },
    /// They cannot be opened; that is tried again.
    Broken {
        why: String,
    },
}

/// How long an acceptance or an end waits for the engine to be reached for the first time.
const BOOKS_TIMEOUT: Duration = Duration::from_secs(30);

impl Shared {
    pub(crate) fn new(setup: DriverSetup, access_key: [u8; 32]) -> Self {
        let why = format!("the Docker engine at {} was not reached yet", setup.engine.endpoint());
        Self {
            options: setup.options,
            engine: setup.engine,
            node: setup.node,
            pumps: Pumps::new(setup.state_folder.join("log-cursors")),
            attempts: Attempts::default(),
            pulls_by_people: Turns::default(),
            starts: Turns::default(),
            network_turns: Turns::default(),
            execs: TaskTracker::new(),
            state_folder: setup.state_folder,
            lock_folder: setup.lock_folder,
            engine_state: Arc::new(watch::Sender::new(EngineState::Unknown)),
            books: watch::Sender::new(Books::Opening { why }),
            restored: watch::Sender::new(None),
            known: Mutex::default(),
            strangers: Mutex::default(),
            seen: Mutex::default(),
            access_key,
            closing: CancellationToken::new(),
        }
    }

    fn now_seen(&self) -> Seen {
        Seen { engine: self.engine_state.subscribe(), books: self.books.subscribe() }
    }

    /// From now on what changes is news.
    pub(crate) fn see(&self) {
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = Some(self.now_seen());
    }

    /// As of the last [`Shared::see`].
    pub(crate) fn seen_last(&self) -> Seen {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone();
        seen.unwrap_or_else(|| self.now_seen())
    }

    pub(crate) fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn strangers(&self) -> MutexGuard<'_, BTreeSet<AllocId>> {
        self.strangers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes an owner of an allocation that lives here.
    pub(crate) fn know(&self, alloc: AllocId, owner: Owner, holding: Holding) {
        self.known().entry(alloc).or_default().insert(owner, holding);
    }

    /// The image that networks of allocations are made from: what the settings name, or else the built-in one.
    pub(crate) fn network_image(&self) -> Result<ImageRef, DriverError> {
        match &self.options.infra_image {
            Some(name) => Ok(name.clone()),
            None => pause::name().parse().map_err(|error| {
                DriverError::fatal("the built-in image has no name that can be read").caused_by(error)
            }),
        }
    }

    /// The keeper, as soon as the books are open.
    pub(crate) async fn keeping(&self) -> Result<Keeping, DriverError> {
        let mut books = self.books.subscribe();
        let opened =
            tokio::time::timeout(BOOKS_TIMEOUT, books.wait_for(|books| !matches!(books, Books::Opening { .. })));
        match opened.await {
            Ok(Ok(books)) => match &*books {
                Books::Open { keeping, .. } => Ok(keeping.clone()),
                Books::Broken { why } | Books::Opening { why } => Err(DriverError::retry(why.clone())),
            },
            Ok(Err(_)) => Err(closing()),
            Err(_) => Err(self.not_open()),
        }
    }

    /// The keeper, for one who can wait that long, whatever is in the way of the books meanwhile.
    pub(crate) async fn keeping_within(&self, patience: Duration) -> Result<Keeping, DriverError> {
        let mut books = self.books.subscribe();
        let is_open = books.wait_for(|books| matches!(books, Books::Open { .. }));
        match tokio::time::timeout(patience, is_open).await.map(|opened| opened.is_ok()) {
            Ok(true) => self.keeping_now(),
            Ok(false) => Err(closing()),
            Err(_) => Err(self.not_open()),
        }
    }

    /// The keeper, if the books are open now.
    pub(crate) fn keeping_now(&self) -> Result<Keeping, DriverError> {
        match &*self.books.borrow() {
            Books::Open { keeping, .. } => Ok(keeping.clone()),
            Books::Broken { why } | Books::Opening { why } => Err(DriverError::retry(why.clone())),
        }
    }

    fn not_open(&self) -> DriverError {
        let why = match &*self.books.borrow() {
            Books::Opening { why } | Books::Broken { why } => why.clone(),
            Books::Open { .. } => String::new(),
        };
        DriverError::retry(why).hint("check that the Docker daemon runs and that the agent may use its socket")
    }

    /// By what pulls are joined: equal for equal access. Tells nothing outside of this process.
    pub(crate) fn access_word(&self, of_task: Option<&RegistryAuth>, soft_fail: bool) -> String {
        let Some(auth) = of_task else {
            return if soft_fail { "node, or none".to_owned() } else { "node".to_owned() };
        };
        let mut hasher = Sha256::new().chain_update(self.access_key);
        for part in [auth.username.as_str(), auth.password.reveal(), auth.identity_token.reveal()] {
            hasher.update((part.len() as u64).to_be_bytes());
            hasher.update(part);
        }
        hasher.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
    }
}

pub(crate) fn closing() -> DriverError {
    DriverError::cancelled("the agent is going down")
}
