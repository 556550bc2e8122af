//! Ends what the engine still has of an allocation that can start nothing more.
//!
//! A start that a crash of agent or engine cut off may leave a container that no handle names. The sweep for dangling
//! ones would find it only after its grace, and its image would stay as long.

use longshore_engine::{Error as EngineError, ListContainers};
use longshore_model::AllocId;

use super::dangling::is_kept;
use super::shared::Shared;
use super::start::remove_container;
use crate::task::{Identity, OWN_ALLOCATION};

/// Removes the containers of this agent that carry the allocation's mark; the first failure is told, so that the caller
/// asks again.
pub(super) async fn end_all_of(shared: &Shared, alloc: AllocId) -> Result<(), EngineError> {
    let label = format!("{OWN_ALLOCATION}={alloc}");
    let listed = shared.engine.containers(ListContainers { all: true, labels: &[&label] }).await?;
    for container in &listed.items {
        let ours = Identity::of_labels(&container.labels)
            .is_some_and(|identity| identity.agent == shared.node && identity.alloc == alloc);
        if !ours || is_kept(&shared.options, container) {
            continue;
        }
        tracing::info!(
            container_id = container.id,
            name = container.name(),
            alloc.id = %alloc,
            "removed with its allocation: a start that was cut off had left it"
        );
        remove_container(shared, &container.id).await?;
        shared.pumps.forget(&container.id, true).await;
    }
    Ok(())
}
