//! From time to time: what is held, against the allocations that the node knows.

use std::collections::BTreeSet;

use longshore_driver::{Driver as _, DriverError};
use longshore_images::{Event, Need};
use longshore_model::AllocId;

use super::shared::Holding;
use super::{DockerDriver, ended};
use crate::image::now;

/// An allocation that the driver knows and the node does not, twice in a row, ends as one that the node forgets. Then the
/// keeper compares its holds with what is left.
pub(super) async fn compare(driver: &DockerDriver, node_knows: &BTreeSet<AllocId>) -> Result<(), DriverError> {
    let shared = &driver.shared;
    let strangers: BTreeSet<_> = shared.known().keys().filter(|alloc| !node_knows.contains(alloc)).copied().collect();
    let before = std::mem::replace(&mut *shared.strangers(), strangers.clone());
    for alloc in strangers.intersection(&before) {
        tracing::warn!(%alloc, "the node knows nothing of this allocation any more: what is left of it is removed");
        driver.forget(*alloc, now()).await?;
    }
    let (mut live, mut needs) = (Vec::new(), Vec::new());
    for (owner, holding) in shared.known().values().flatten() {
        live.push(owner.clone());
        if let Holding::Yes { name: Some(name) } = holding {
            needs.push(Need { owner: owner.clone(), name: name.clone() });
        }
    }
    shared.keeping_now()?.record(Event::Compared { live, needs }).await.map_err(ended)
}
