//! From "there may be an engine" to open books: reached once, locked, read, compared.

use std::sync::Arc;
use std::time::Duration;

use longshore_images::{Event, Policy};

use super::dead::remove_dead;
use super::shared::{Books, Shared};
use crate::error::{LedgerError, LockError};
use crate::image::{
    EngineState, KeeperLock, Keeping, KeepingBooks, KeepingSetup, Ledger, Looker, RemoveDead, engine_key, follow,
    with_causes,
};

const AGAIN_MIN: Duration = Duration::from_millis(100);
const AGAIN_MAX: Duration = Duration::from_secs(5);
/// How often a lock that another agent holds is tried: the kernel wakes nobody.
const LOCK_AGAIN: Duration = Duration::from_secs(1);

/// Opens the books as soon as the engine can be reached, then follows the engine. Ends with the driver.
pub(crate) async fn attach(shared: Arc<Shared>) {
    let closing = shared.closing.clone();
    tokio::select! {
        () = closing.cancelled() => {}
        () = open_and_follow(shared) => {}
    }
}

async fn open_and_follow(shared: Arc<Shared>) {
    let reached = reach(&shared).await;
    let Begun { keeping, note, is_ledger_empty } = begin_to_keep(&shared, &reached).await;
    if let Some(note) = &note {
        tracing::warn!("{note}");
    }
    let mut restored = shared.restored.subscribe();
    let known = match restored.wait_for(Option::is_some).await {
        Ok(known) => known.clone(),
        Err(_) => return,
    };
    let known: Vec<Event> = known.into_iter().flatten().collect();
    if is_ledger_empty && known.iter().any(has_needs) {
        tracing::warn!(
            "the image ledger of this engine is empty, though the node's record knows tasks that had their images by it: it \
             was lost. Images that it knew to be ours and that no task uses count as foreign now and stay; `longshore \
             image adopt` takes them back"
        );
    }
    for event in known {
        keeping.tell(event);
    }
    keeping.tell(Event::AgentNeeds { names: shared.options.infra_image.iter().cloned().collect() });
    let looks_on = note.is_some();
    shared.books.send_replace(Books::Open { keeping: keeping.clone(), note });
    let follow = follow(shared.engine.clone(), reached.key.clone(), keeping.clone(), shared.engine_state.clone());
    let take_over = async {
        if looks_on {
            take_over(&shared, &reached, &keeping).await;
        }
    };
    tokio::join!(follow, take_over);
}

/// A task is never accepted before the ledger has what it needs.
fn has_needs(event: &Event) -> bool {
    matches!(event, Event::Accepted { needs, .. } if !needs.is_empty())
}

/// A keeper that has begun.
struct Begun {
    keeping: Keeping,
    /// Why it only looks on, if so.
    note: Option<String>,
    is_ledger_empty: bool,
}

/// The keeper, as soon as its books can be opened: what is in their way (a full disk, a file system that was mounted
/// read-only) may pass, and is told until then.
async fn begin_to_keep(shared: &Arc<Shared>, reached: &Reached) -> Begun {
    let mut wait = AGAIN_MIN;
    loop {
        let (at, of) = (shared.clone(), reached.clone());
        let why = match blocking(move || take_books(&at, &of)).await {
            Ok((books, note)) => {
                let is_ledger_empty = note.is_none() && books.entries.is_empty();
                match start_keeping(shared, books) {
                    Ok(keeping) => return Begun { keeping, note, is_ledger_empty },
                    Err(error) => with_causes(&error),
                }
            }
            Err(why) => why,
        };
        let is_news = shared.books.send_if_modified(|books| match books {
            Books::Broken { why: told } if *told == why => false,
            _ => {
                *books = Books::Broken { why: why.clone() };
                true
            }
        });
        if is_news {
            tracing::error!(error = why, "the images of this Docker engine cannot be kept; trying again");
        }
        tokio::time::sleep(wait).await;
        wait = (wait * 2).min(AGAIN_MAX);
    }
}

/// The lock and the books, or those of one who looks on, with what is to be said about that. Waits for the disk.
fn take_books(shared: &Shared, reached: &Reached) -> Result<(KeepingBooks, Option<String>), String> {
    let (opened, note) = match take_lock(shared, reached) {
        Ok(lock) => (open_books(shared, &reached.key, lock), None),
        Err(error) => (books_of_one_who_looks_on(shared), Some(looking_on(&error))),
    };
    opened.map(|books| (books, note)).map_err(|error| with_causes(&error))
}

/// Work that waits for the disk, apart from what must not wait.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T, String> + Send + 'static) -> Result<T, String> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| Err(with_causes(&error)))
}

/// Says in it who holds it, and on which engine, for others.
fn take_lock(shared: &Shared, Reached { key, data_root }: &Reached) -> Result<KeeperLock, LockError> {
    let holder = format!("process {} of node {}, engine in {data_root}", std::process::id(), shared.node);
    KeeperLock::take(&shared.lock_folder, key, &holder)
}

fn looking_on(error: &LockError) -> String {
    format!(
        "{}: this agent runs tasks and pulls their images, but removes none, until it can take that over",
        with_causes(error)
    )
}

/// Waits until nobody keeps the engine's images, and has this agent do it from then on.
async fn take_over(shared: &Arc<Shared>, reached: &Reached, keeping: &Keeping) {
    let mut told = String::new();
    loop {
        tokio::time::sleep(LOCK_AGAIN).await;
        let (at, of) = (shared.clone(), reached.clone());
        let problem = match blocking(move || books_if_free(&at, &of)).await {
            Ok(books) => {
                if keeping.take_over(books).await.is_ok() {
                    tracing::info!("this agent keeps the images of the Docker engine from now on");
                    shared.books.send_replace(Books::Open { keeping: keeping.clone(), note: None });
                }
                return;
            }
            Err(problem) => problem,
        };
        if problem != told {
            shared.books.send_if_modified(|books| match books {
                Books::Open { note, .. } if note.as_ref() != Some(&problem) => {
                    *note = Some(problem.clone());
                    true
                }
                _ => false,
            });
            told = problem;
        }
    }
}

fn books_if_free(shared: &Shared, reached: &Reached) -> Result<KeepingBooks, String> {
    let lock = take_lock(shared, reached).map_err(|error| looking_on(&error))?;
    open_books(shared, &reached.key, lock)
        .map_err(|error| format!("{}: this agent runs tasks, but removes no image", with_causes(&error)))
}

/// An engine that has answered.
#[derive(Clone)]
struct Reached {
    /// What the files about it are named after.
    key: String,
    data_root: String,
}

/// Once the engine answers.
async fn reach(shared: &Shared) -> Reached {
    let mut wait = AGAIN_MIN;
    loop {
        match shared.engine.info().await {
            Ok(info) => {
                return Reached { key: engine_key(&info.id, &info.docker_root_dir), data_root: info.docker_root_dir };
            }
            Err(error) => {
                let why = with_causes(&error);
                if *shared.engine_state.borrow() == EngineState::Unknown {
                    tracing::warn!(error = why, "the Docker engine cannot be reached; trying again");
                }
                shared.engine_state.send_replace(EngineState::Lost(why.clone()));
                shared.books.send_replace(Books::Opening { why });
            }
        }
        tokio::time::sleep(wait).await;
        wait = (wait * 2).min(AGAIN_MAX);
    }
}

fn open_books(shared: &Shared, key: &str, lock: KeeperLock) -> Result<KeepingBooks, LedgerError> {
    let ledger = Ledger::open(&shared.state_folder.join(format!("images-{key}.db")))?;
    let entries = ledger.entries()?;
    Ok(KeepingBooks { policy: policy(shared, false), ledger, entries, lock: Some(lock) })
}

fn books_of_one_who_looks_on(shared: &Shared) -> Result<KeepingBooks, LedgerError> {
    Ok(KeepingBooks { policy: policy(shared, true), ledger: Ledger::in_memory()?, entries: Vec::new(), lock: None })
}

fn policy(shared: &Shared, kept_by_others: bool) -> Policy {
    let gc = &shared.options.gc;
    Policy {
        image: gc.image && !kept_by_others,
        image_delay: gc.image_delay,
        keep: gc.keep.clone(),
        foreign: gc.foreign,
        kept_by_others,
        space: gc.space.clone(),
    }
}

fn start_keeping(shared: &Arc<Shared>, books: KeepingBooks) -> std::io::Result<Keeping> {
    let driver = Arc::downgrade(shared);
    let remove_dead: RemoveDead = Arc::new(move || {
        let driver = driver.clone();
        Box::pin(async move {
            match driver.upgrade() {
                Some(shared) => remove_dead(&shared).await,
                None => 0,
            }
        })
    });
    Keeping::start(KeepingSetup {
        engine: shared.engine.clone(),
        looker: Looker::new(shared.engine.clone(), shared.node),
        auth: shared.options.auth.clone(),
        pull_activity_timeout: shared.options.pull_activity_timeout.to_std(),
        pull_parallelism: shared.options.pull_parallelism,
        remove_dead,
        books,
    })
}
