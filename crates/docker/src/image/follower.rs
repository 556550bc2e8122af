//! Follows the engine: whether it answers, and what its event stream shows.

use std::sync::Arc;
use std::time::Duration;

use longshore_engine::{Engine, EngineEvent, Error as EngineError, EventStream};
use longshore_images::{EngineNews, Event};
use longshore_model::Timestamp;
use tokio::sync::watch;
use tokio::time::Instant;

use super::keeping::{Keeping, now};
use super::lock::engine_key;
use super::news::{may_wait, news};

const AGAIN_MIN: Duration = Duration::from_millis(100);
const AGAIN_MAX: Duration = Duration::from_secs(5);
/// How long after the making of a container the engine is looked at, if nothing else gives reason to.
const LOOK_DELAY: Duration = Duration::from_secs(1);

/// Whether the engine answers, as last seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum EngineState {
    /// Not yet reached.
    Unknown,
    Answers,
    /// With the reason.
    Lost(String),
    /// Another engine listens at this address than the one that the books are about.
    Other,
}

/// Tells the keeper what the engine does, until it is dropped.
pub(crate) async fn follow(engine: Engine, key: String, keeping: Keeping, state: Arc<watch::Sender<EngineState>>) {
    let (mut since, mut wait) = (None, AGAIN_MIN);
    loop {
        let error = match follow_once(&engine, &key, &keeping, &state, &mut since).await {
            Ok(()) => {
                wait = AGAIN_MIN;
                "its event stream ended".to_owned()
            }
            Err(error) => longshore_values::with_causes(&error),
        };
        if *state.borrow() == EngineState::Answers {
            tracing::warn!(engine = %engine.endpoint(), error, "the Docker engine is lost");
            keeping.tell(Event::EngineLost);
        }
        let other = *state.borrow() == EngineState::Other;
        if !other {
            state.send_replace(EngineState::Lost(error));
        }
        tokio::time::sleep(wait).await;
        wait = (wait * 2).min(AGAIN_MAX);
    }
}

async fn follow_once(
    engine: &Engine,
    key: &str,
    keeping: &Keeping,
    state: &watch::Sender<EngineState>,
    since: &mut Option<i64>,
) -> Result<(), EngineError> {
    let info = engine.info().await?;
    if engine_key(&info.id, &info.docker_root_dir) != key {
        if *state.borrow() != EngineState::Other {
            tracing::error!(
                engine = %engine.endpoint(),
                id = info.id,
                data_root = info.docker_root_dir,
                "another Docker engine listens here now: its images are left alone until the agent is restarted"
            );
            state.send_replace(EngineState::Other);
        }
        return Ok(());
    }
    // Subscribed before the keeper looks: what happens in between is seen by one of the two.
    let mut events = engine.events(*since).await?;
    let from = now();
    state.send_replace(EngineState::Answers);
    keeping.tell(Event::EngineBack);
    since.get_or_insert(from.as_nanoseconds());
    let mut waiting = None;
    loop {
        let Some(event) = next_before(&mut events, waiting).await? else {
            if waiting.take().is_none() {
                return Ok(());
            }
            keeping.tell(Event::EngineSaw { at: now(), news: EngineNews::ContainersChanged });
            continue;
        };
        let at = if event.time_nano > 0 { Timestamp::from_nanoseconds(event.time_nano) } else { now() };
        // Inclusive at the engine: one more nanosecond is the next event.
        *since = Some(at.as_nanoseconds().saturating_add(1));
        match news(&event) {
            Some(_) if may_wait(&event) => {
                waiting.get_or_insert(Instant::now() + LOOK_DELAY);
            }
            Some(news) => {
                waiting = None;
                keeping.tell(Event::EngineSaw { at, news });
            }
            None => {}
        }
    }
}

/// The next event; none at the stream's end, or when it is time.
async fn next_before(events: &mut EventStream, time: Option<Instant>) -> Result<Option<EngineEvent>, EngineError> {
    match time {
        None => events.next().await,
        Some(time) => tokio::time::timeout_at(time, events.next()).await.unwrap_or(Ok(None)),
    }
}
