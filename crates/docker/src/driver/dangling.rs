//! Removes containers that carry this agent's mark and that no allocation of the node knows.
//!
//! Whose mark counts: ours, with this agent's identity. Containers with Nomad's label alone are told about and left: on
//! a host where both run, each would otherwise kill what the other runs. With `gc.container = false` those that have
//! ended stay, however old: that they are kept is what was asked for.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use longshore_engine::{ContainerStatus, ContainerSummary, Error as EngineError, ListContainers};
use longshore_model::{AllocId, NodeId, Timestamp};
use longshore_values::GoDuration;

use super::shared::{Books, Holding, Shared};
use super::start::remove_container;
use crate::image::{now, with_causes};
use crate::options::Options;
use crate::task::{Identity, NOMAD_ALLOCATION, OWN_AGENT, OWN_NETWORK};

/// Sweeps every period, first when the period and the grace have passed since the books were opened.
pub(crate) async fn sweep(shared: Arc<Shared>) {
    let options = shared.options.gc.dangling_containers.clone();
    if !options.enabled {
        tracing::debug!("dangling containers are not removed: gc.dangling_containers.enabled is false");
        return;
    }
    let closing = shared.closing.clone();
    let work = async {
        let mut books = shared.books.subscribe();
        if books.wait_for(|books| matches!(books, Books::Open { .. })).await.is_err() {
            return;
        }
        tokio::time::sleep(options.period.max(options.creation_grace).to_std()).await;
        let mut told = Told::default();
        loop {
            match once(&shared, &mut told).await {
                Ok(()) => told.failed = false,
                Err(error) if !told.failed => {
                    told.failed = true;
                    tracing::warn!(error = %with_causes(&error), "dangling containers could not be looked for");
                }
                Err(_) => {}
            }
            tokio::time::sleep(options.period.to_std().max(Duration::from_secs(1))).await;
        }
    };
    tokio::select! {
        () = closing.cancelled() => {}
        () = work => {}
    }
}

/// What was said already: each container once.
#[derive(Default)]
struct Told {
    failed: bool,
    foreign: BTreeSet<String>,
}

async fn once(shared: &Shared, told: &mut Told) -> Result<(), EngineError> {
    let listed = shared.engine.containers(ListContainers { all: true, labels: &[NOMAD_ALLOCATION] }).await?;
    // Read after the list: what is accepted in between is known, and its container is in no older list.
    let known = living(shared);
    let grace = shared.options.gc.dangling_containers.creation_grace;
    let mut foreign = BTreeSet::new();
    for container in &listed.items {
        match judge(container, shared.node, &known, is_kept(&shared.options, container), grace, now()) {
            Verdict::Keep => {}
            Verdict::Foreign => {
                if !told.foreign.contains(&container.id) {
                    tracing::info!(
                        container_id = container.id,
                        name = container.name(),
                        "left alone: it carries Nomad's mark, but not this agent's"
                    );
                }
                foreign.insert(container.id.clone());
            }
            Verdict::Dangling if shared.options.gc.dangling_containers.dry_run => tracing::info!(
                container_id = container.id,
                name = container.name(),
                "dangling container found, not removed: gc.dangling_containers.dry_run is true"
            ),
            Verdict::Dangling => match remove_container(shared, &container.id).await {
                Ok(()) => {
                    shared.pumps.forget(&container.id, true).await;
                    tracing::info!(container_id = container.id, name = container.name(), "dangling container removed");
                }
                Err(error) => tracing::warn!(
                    container_id = container.id,
                    name = container.name(),
                    error = %with_causes(&error),
                    "dangling container could not be removed"
                ),
            },
        }
    }
    told.foreign = foreign;
    Ok(())
}

/// Allocations of which something may still start or run.
pub(super) fn living(shared: &Shared) -> BTreeSet<AllocId> {
    let known = shared.known();
    // Of those that were over before the agent started, some are forgotten already: nothing of theirs is to stay.
    let lives = known.iter().filter(|(_, tasks)| tasks.values().any(|holding| *holding != Holding::GivenBack));
    lives.map(|(alloc, _)| *alloc).collect()
}

/// Whether the operator wants it to stay although its allocation is over.
pub(super) fn is_kept(options: &Options, container: &ContainerSummary) -> bool {
    let of_task = !container.labels.contains_key(OWN_NETWORK);
    of_task && !options.gc.container && container.state == ContainerStatus::Exited
}

#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    Keep,
    Foreign,
    Dangling,
}

fn judge(
    container: &ContainerSummary,
    node: NodeId,
    known: &BTreeSet<AllocId>,
    kept: bool,
    grace: GoDuration,
    now: Timestamp,
) -> Verdict {
    let Some(identity) = Identity::of_labels(&container.labels) else {
        // A mark that is not whole is nobody's that we know; another agent's whole one is that agent's.
        return if container.labels.contains_key(OWN_AGENT) { Verdict::Keep } else { Verdict::Foreign };
    };
    // The engine tells whole seconds: it may have been made at the end of that one.
    let old = Timestamp::from_seconds(container.created.saturating_add(1)) <= now.minus(grace);
    if identity.agent == node && old && !kept && !known.contains(&identity.alloc) {
        Verdict::Dangling
    } else {
        Verdict::Keep
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::{OWN_ALLOCATION, OWN_CONFIG_HASH, OWN_TASK};

    #[test]
    fn only_ours_only_old_only_unknown() {
        let (node, grace, now) = (NodeId::from_u128(1), GoDuration::minutes(5), Timestamp::from_seconds(10_000));
        let known = BTreeSet::from([AllocId::from_u128(7)]);
        let container = |agent: u128, alloc: u128, age: i64| {
            let mut container = ContainerSummary { created: 10_000 - age, ..ContainerSummary::default() };
            for (key, value) in [
                (NOMAD_ALLOCATION, AllocId::from_u128(alloc).to_string()),
                (OWN_AGENT, NodeId::from_u128(agent).to_string()),
                (OWN_ALLOCATION, AllocId::from_u128(alloc).to_string()),
                (OWN_TASK, "web".to_owned()),
                (OWN_CONFIG_HASH, "ab".to_owned()),
            ] {
                container.labels.insert(key.to_owned(), value);
            }
            container
        };
        let verdict = |container: &ContainerSummary| judge(container, node, &known, false, grace, now);
        assert_eq!(verdict(&container(1, 8, 301)), Verdict::Dangling);
        assert_eq!(verdict(&container(1, 8, 300)), Verdict::Keep);
        assert_eq!(verdict(&container(1, 7, 9_000)), Verdict::Keep);
        assert_eq!(verdict(&container(2, 8, 9_000)), Verdict::Keep);
        let mut nomads = container(1, 8, 9_000);
        nomads.labels.retain(|key, _| key == NOMAD_ALLOCATION);
        assert_eq!(verdict(&nomads), Verdict::Foreign);
        let mut torn = container(1, 8, 9_000);
        torn.labels.remove(OWN_TASK);
        assert_eq!(verdict(&torn), Verdict::Keep);
        let mut options = Options::default();
        for (state, ended_ones_stay, expected) in [
            (ContainerStatus::Exited, false, Verdict::Dangling),
            (ContainerStatus::Exited, true, Verdict::Keep),
            (ContainerStatus::Created, true, Verdict::Dangling),
            (ContainerStatus::Running, true, Verdict::Dangling),
        ] {
            let container = ContainerSummary { state: state.clone(), ..container(1, 8, 9_000) };
            options.gc.container = !ended_ones_stay;
            let verdict = judge(&container, node, &known, is_kept(&options, &container), grace, now);
            assert_eq!(verdict, expected, "{state}, ended ones stay: {ended_ones_stay}");
        }
    }
}
