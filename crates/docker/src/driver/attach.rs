//! From "there may be an engine" to open books: reached once, locked, read, compared.

use std::sync::Arc;
use std::time::Duration;

use longshore_images::{Keeper, Policy};

use super::shared::{Books, Shared};
use crate::error::{LedgerError, LockError};
use crate::image::{
    EngineState, KeeperLock, Keeping, KeepingSetup, Ledger, Looker, engine_key, follow, now, with_causes,
};

const AGAIN_MIN: Duration = Duration::from_millis(100);
const AGAIN_MAX: Duration = Duration::from_secs(5);

/// Opens the books as soon as the engine can be reached, then follows the engine. Ends with the driver.
pub(crate) async fn attach(shared: Arc<Shared>) {
    let closing = shared.closing.clone();
    tokio::select! {
        () = closing.cancelled() => {}
        () = open_and_follow(shared) => {}
    }
}

async fn open_and_follow(shared: Arc<Shared>) {
    let key = reach(&shared).await;
    let (ledger, lock, note) = match open_books(&shared, &key).await {
        Ok(opened) => opened,
        Err(error) => {
            let why = with_causes(&error);
            tracing::error!(error = why, "the images of this Docker engine cannot be kept");
            shared.books.send_replace(Books::Broken { why });
            return;
        }
    };
    if let Some(note) = &note {
        tracing::warn!("{note}");
    }
    let keeping = match start_keeping(&shared, ledger, note.is_some()) {
        Ok(keeping) => keeping,
        Err(why) => {
            tracing::error!(error = why, "the images of this Docker engine cannot be kept");
            shared.books.send_replace(Books::Broken { why });
            return;
        }
    };
    let mut restored = shared.restored.subscribe();
    let known = match restored.wait_for(Option::is_some).await {
        Ok(known) => known.clone(),
        Err(_) => return,
    };
    if let Some(known) = known {
        keeping.tell(known);
    }
    shared.books.send_replace(Books::Open { keeping: keeping.clone(), note });
    follow(shared.engine.clone(), key, keeping, shared.engine_state.clone()).await;
    drop(lock);
}

/// The name of the engine, once it answers.
async fn reach(shared: &Shared) -> String {
    let mut wait = AGAIN_MIN;
    loop {
        match shared.engine.info().await {
            Ok(info) => return engine_key(&info.id, &info.docker_root_dir),
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

type Opened = (Ledger, Option<KeeperLock>, Option<String>);

async fn open_books(shared: &Shared, key: &str) -> Result<Opened, LedgerError> {
    let lock = KeeperLock::take(&shared.lock_folder, key);
    let note = match &lock {
        Ok(_) => None,
        Err(error @ LockError::Taken { .. }) => {
            Some(format!("{error}: this agent runs tasks, but pulls and removes no image of its own accord"))
        }
        Err(error) => Some(format!("{}: this agent removes no image", with_causes(error))),
    };
    let path = shared.state_folder.join(format!("images-{key}.db"));
    let ledger = if lock.is_ok() { Ledger::open(&path)? } else { Ledger::in_memory()? };
    Ok((ledger, lock.ok(), note))
}

fn start_keeping(shared: &Shared, ledger: Ledger, only_look_on: bool) -> Result<Keeping, String> {
    let gc = &shared.options.gc;
    let policy = Policy {
        // Without the lock nothing is removed: another agent's books are about these images.
        image: gc.image && !only_look_on,
        image_delay: gc.image_delay,
        keep: gc.keep.clone(),
    };
    let entries = ledger.entries().map_err(|error| with_causes(&error))?;
    let keeper = Keeper::restore(policy, entries, now());
    let setup = KeepingSetup {
        engine: shared.engine.clone(),
        looker: Looker::new(shared.engine.clone(), shared.node),
        auth: shared.options.auth.clone(),
        pull_activity_timeout: shared.options.pull_activity_timeout.to_std(),
        keeper,
        ledger,
    };
    let (keeping, thread) = Keeping::start(setup).map_err(|error| with_causes(&error))?;
    // It ends by itself after `stop`.
    drop(thread);
    Ok(keeping)
}
