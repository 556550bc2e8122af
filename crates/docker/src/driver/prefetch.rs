//! Images that a server wishes to have here before a task that needs them is placed (K8).

use longshore_driver::{DriverError, EventSink, PrefetchId, PrefetchRequest};
use longshore_images::{Event, Owner};
use longshore_model::is_image_known_before_start;

use super::ask::{Asker, allowed_image};
use super::ended;
use super::shared::Shared;
use crate::task::TaskConfig;

/// Brings the image, within the task's `image_pull_timeout`: that long, too, may the books take to be opened.
pub(crate) async fn prefetch(shared: &Shared, request: PrefetchRequest) -> Result<(), DriverError> {
    if !is_image_known_before_start(&request.config) {
        return Ok(());
    }
    let config = TaskConfig::decode(&request.config).map_err(DriverError::from)?;
    let (owner, name) = (owner(request.id), allowed_image(&config, &shared.options)?);
    let patience = config.image_pull_timeout.unwrap_or(shared.options.image_pull_timeout);
    let keeping = shared.keeping_within(patience.to_std()).await?;
    let event = Event::Wished { owner: owner.clone(), name, expires_at: request.expires_at };
    keeping.record(event).await.map_err(ended)?;
    // There is no task yet that could have events.
    let events = EventSink::new(|_| {});
    Asker::of_wish(shared, owner, &config, &events).await?.grant_with_patience(&request.delays).await.map(|_| ())
}

/// Lets go of all others.
pub(crate) async fn keep(shared: &Shared, wished: Vec<PrefetchId>) -> Result<(), DriverError> {
    let keeping = shared.keeping().await?;
    let owners = wished.into_iter().map(owner).collect();
    keeping.record(Event::StillWished { owners }).await.map_err(ended)
}

fn owner(id: PrefetchId) -> Owner {
    let PrefetchId { job, version, group, task } = id;
    Owner::Prefetch { job, version, group, task }
}
