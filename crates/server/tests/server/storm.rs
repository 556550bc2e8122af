//! Many at once: plans of several workers meet on few nodes.

use std::collections::BTreeMap;

use longshore_journal::MemoryJournal;
use longshore_model::*;
use longshore_server::{Deregistration, Server, ServerConfig};
use longshore_state::State;

use crate::fixtures::{job, node};
use crate::world::*;

const NODES: u32 = 5;
/// Of 500 MHz each on a node of 4,000.
const PLACES: usize = 8 * NODES as usize;
const JOBS: usize = PLACES + 20;

/// R5, by an account of its own.
fn overfilled(state: &State) -> Vec<String> {
    let mut used: BTreeMap<NodeId, i64> = BTreeMap::new();
    for alloc in state.allocations().filter(|alloc| alloc.occupies_node()) {
        *used.entry(alloc.node).or_default() += alloc.resources.total().cpu_mhz;
    }
    let over = used.iter().filter(|(_, mhz)| **mhz > 4_000);
    over.map(|(node, mhz)| format!("{node}: {mhz} MHz")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn many_jobs_on_few_nodes_never_overfill_one() {
    let config = ServerConfig { workers: 6, ..ServerConfig::default() };
    let server = Server::start(config, MemoryJournal::default().open()).await.unwrap();
    let mut nodes = Vec::new();
    for number in 1..=NODES {
        nodes.push(SimNode::start(&server, node(number)).await);
    }
    let jobs: Vec<Job> = (0..JOBS).map(|number| job(&format!("job-{number}"), 1)).collect();
    let registering: Vec<_> = jobs
        .iter()
        .map(|job| {
            let (server, job) = (server.clone(), job.clone());
            tokio::spawn(async move { register(&server, &job).await })
        })
        .collect();
    for registered in registering {
        registered.await.unwrap();
    }
    let running = |state: &State| jobs.iter().filter(|job| live(state, job).len() == 1).count();
    let state = eventually(&server, "every place taken", |state| {
        assert_eq!(overfilled(state), Vec::<String>::new());
        running(state) == PLACES
    })
    .await;
    let (have, wait): (Vec<&Job>, Vec<&Job>) = jobs.iter().partition(|job| live(&state, job).len() == 1);
    for job in have.iter().take(wait.len()) {
        server.deregister_job(job.key.clone(), Deregistration::default()).await.unwrap();
    }
    let state = eventually(&server, "those that waited", |state| {
        assert_eq!(overfilled(state), Vec::<String>::new());
        wait.iter().all(|job| deployment_is(state, job, 0, DeploymentStatus::Successful))
    })
    .await;
    assert_eq!(state.breaches(), Vec::<String>::new());
    assert_eq!(server.evaluation_counts().blocked, 0);
    server.shutdown().await;
}
