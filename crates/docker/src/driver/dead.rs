//! Removes containers of this agent that do not run and that nothing will start again: they go first when room is short,
//! without the grace that the sweep for dangling ones gives.

use std::collections::BTreeSet;

use longshore_engine::{ContainerStatus, ContainerSummary, ListContainers};
use longshore_model::{AllocId, NodeId};

use super::dangling::{is_kept, living};
use super::shared::Shared;
use super::start::remove_container;
use crate::image::with_causes;
use crate::task::{Identity, OWN_ALLOCATION};

/// How many were removed. What cannot be is told, and left to the sweep.
pub(super) async fn remove_dead(shared: &Shared) -> u32 {
    let sweep = &shared.options.gc.dangling_containers;
    if !sweep.enabled || sweep.dry_run {
        return 0;
    }
    let listed = match shared.engine.containers(ListContainers { all: true, labels: &[OWN_ALLOCATION] }).await {
        Ok(listed) => listed,
        Err(error) => {
            tracing::warn!(error = %with_causes(&error), "containers that are over could not be looked for");
            return 0;
        }
    };
    // Read after the list: what is accepted in between is known, and its container is in no older list.
    let living = living(shared);
    let mut removed = 0;
    for container in &listed.items {
        if !is_dead(container, shared.node, &living) || is_kept(&shared.options, container) {
            continue;
        }
        match remove_container(shared, &container.id).await {
            Ok(()) => {
                shared.pumps.forget(&container.id, true).await;
                tracing::info!(
                    container_id = container.id,
                    name = container.name(),
                    "removed to make room: it is over"
                );
                removed += 1;
            }
            Err(error) => tracing::warn!(
                container_id = container.id,
                name = container.name(),
                error = %with_causes(&error),
                "a container that is over could not be removed to make room"
            ),
        }
    }
    removed
}

fn is_dead(container: &ContainerSummary, node: NodeId, living: &BTreeSet<AllocId>) -> bool {
    let over = matches!(container.state, ContainerStatus::Exited | ContainerStatus::Dead | ContainerStatus::Created);
    let identity = Identity::of_labels(&container.labels).filter(|identity| identity.agent == node);
    over && identity.is_some_and(|identity| !living.contains(&identity.alloc))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::{OWN_AGENT, OWN_CONFIG_HASH, OWN_TASK};

    #[test]
    fn only_ours_only_what_is_over() {
        let (node, living) = (NodeId::from_u128(1), BTreeSet::from([AllocId::from_u128(7)]));
        for (agent, alloc, state, expected) in [
            (1, 8, ContainerStatus::Exited, true),
            (1, 8, ContainerStatus::Dead, true),
            (1, 8, ContainerStatus::Created, true),
            (1, 8, ContainerStatus::Running, false),
            (1, 8, ContainerStatus::Paused, false),
            (1, 7, ContainerStatus::Exited, false),
            (2, 8, ContainerStatus::Exited, false),
        ] {
            let mut container = ContainerSummary { state: state.clone(), ..ContainerSummary::default() };
            for (key, value) in [
                (OWN_AGENT, NodeId::from_u128(agent).to_string()),
                (OWN_ALLOCATION, AllocId::from_u128(alloc).to_string()),
                (OWN_TASK, "web".to_owned()),
                (OWN_CONFIG_HASH, "ab".to_owned()),
            ] {
                container.labels.insert(key.to_owned(), value);
            }
            assert_eq!(is_dead(&container, node, &living), expected, "{state} of {alloc} by {agent}");
            container.labels.remove(OWN_TASK);
            assert!(!is_dead(&container, node, &living), "a mark that is not whole");
        }
    }
}
