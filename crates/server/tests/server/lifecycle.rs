//! What becomes of jobs when nodes, room and allocations come and go.

use std::sync::Arc;
use std::time::Duration;

use longshore_journal::MemoryJournal;
use longshore_link::{LinkError, ServerLink};
use longshore_model::*;
use longshore_server::{Deregistration, HeartbeatConfig, RegisterJob, Server, ServerConfig, ServerError};
use longshore_values::GoDuration;

use crate::fixtures::{changed, image, job, node};
use crate::world::*;

#[tokio::test(flavor = "multi_thread")]
async fn what_finds_no_room_waits_and_goes_on_when_there_is_some() {
    let server = server().await;
    let first_node = SimNode::start(&server, node(1)).await;
    // Without health there is one evaluation only.
    let web = changed(&job("web", 10), |group| image(group, "starting:1"));
    let answer = register(&server, &web).await;
    let state = eventually(&server, "a blocked evaluation", |state| {
        state.evaluations_of_job(&web.key).any(|evaluation| evaluation.status == EvalStatus::Blocked)
    })
    .await;
    let first = state.evaluation(answer.eval.unwrap()).unwrap();
    assert_eq!(first.status, EvalStatus::Complete);
    let metric = &first.failed_groups["web"];
    assert_eq!((metric.nodes_exhausted, metric.dimension_exhausted["cpu"]), (1, 1));
    assert_eq!(first.queued_allocations["web"], 2);
    let blocked = state.evaluation(first.blocked_eval.unwrap()).unwrap();
    assert_eq!(blocked.status_description, "created to place remaining allocations");
    assert_eq!(live(&state, &web).len(), 8);
    // An answer comes after everything before it was followed up.
    server.set_node_eligibility(first_node.id, Eligibility::Eligible).await.unwrap();
    assert_eq!(server.evaluation_counts().blocked, 1);

    let _second = SimNode::start(&server, node(2)).await;
    eventually(&server, "all placed", |state| live(state, &web).len() == 10).await;
    let ended = |evaluation: &Arc<Evaluation>| evaluation.status.is_terminal();
    eventually(&server, "no evaluation that waits", |state| state.evaluations_of_job(&web.key).all(ended)).await;
    server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn room_that_a_stopped_job_leaves_is_taken() {
    let server = server().await;
    let _node = SimNode::start(&server, node(1)).await;
    let (first, second) = (job("first", 8), job("second", 2));
    register(&server, &first).await;
    eventually(&server, "the first job", |state| deployment_is(state, &first, 0, DeploymentStatus::Successful)).await;
    register(&server, &second).await;
    eventually(&server, "a blocked evaluation", |state| {
        state.evaluations_of_job(&second.key).any(|evaluation| evaluation.status == EvalStatus::Blocked)
    })
    .await;
    let answer = server.deregister_job(first.key.clone(), Deregistration::default()).await.unwrap();
    let state =
        eventually(&server, "the second job", |state| deployment_is(state, &second, 0, DeploymentStatus::Successful))
            .await;
    let evaluation = state.evaluation(answer.eval.unwrap()).unwrap();
    assert_eq!((evaluation.triggered_by, evaluation.kind), (Trigger::JobDeregister, JobType::Service));
    let stopped = state.job(&first.key).unwrap();
    assert_eq!((stopped.stop, stopped.status, stopped.version), (true, JobStatus::Dead, 1));
    assert!(live(&state, &first).is_empty());
    assert_eq!(state.breaches(), Vec::<String>::new());
    server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_purged_node_learns_it_at_once() {
    let server = server().await;
    let id = node(1).id;
    ServerLink::register(&server, node(1)).await.unwrap();
    let seen = server.watch_allocations(id, LogIndex::default());
    // Nothing was ever placed there: the watch waits for the first.
    tokio::pin!(seen);
    assert!(tokio::time::timeout(Duration::from_millis(50), &mut seen).await.is_err());
    server.purge_node(id).await.unwrap();
    let told = tokio::time::timeout(Duration::from_secs(20), seen).await.expect("woken by the purge");
    assert!(matches!(told, Err(LinkError::UnknownNode(unknown)) if unknown == id), "{told:?}");
    server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_silent_node_is_down_and_its_allocations_are_placed_elsewhere() {
    let heartbeat = HeartbeatConfig {
        ttl_min: GoDuration::milliseconds(50),
        grace: GoDuration::milliseconds(100),
        ..HeartbeatConfig::default()
    };
    let config = ServerConfig { workers: 1, heartbeat, ..ServerConfig::default() };
    let server = Server::start(config, MemoryJournal::default().open()).await.unwrap();
    let first = SimNode::start(&server, node(1)).await;
    let web = job("web", 2);
    register(&server, &web).await;
    eventually(&server, "the deployment", |state| deployment_is(state, &web, 0, DeploymentStatus::Successful)).await;
    let gone = first.id;
    drop(first);
    let state =
        eventually(&server, "a node that is down", |state| state.node(gone).unwrap().status == NodeStatus::Down).await;
    assert_eq!(state.node(gone).unwrap().events.last().unwrap().message, "Node heartbeat missed");
    let state = eventually(&server, "lost allocations", |state| {
        let lost = |alloc: &&Arc<Allocation>| alloc.client_status == ClientStatus::Lost;
        state.allocations_of_job(&web.key).filter(lost).count() == 2
    })
    .await;
    let any = state.allocations_of_job(&web.key).next().unwrap();
    assert_eq!(any.desired_description, "alloc is lost since its node is down");

    let second = SimNode::start(&server, node(2)).await;
    let running = |alloc: &Arc<Allocation>| alloc.node == second.id && alloc.client_status == ClientStatus::Running;
    eventually(&server, "both on the other node", |state| {
        let live = live(state, &web);
        live.len() == 2 && live.iter().all(running)
    })
    .await;

    // The first one comes back: it is heard again, and what ran there is told to stop.
    let back = SimNode::start(&server, node(1)).await;
    let state =
        eventually(&server, "the node ready again", |state| state.node(back.id).unwrap().status == NodeStatus::Ready)
            .await;
    assert!(state.allocations_of_node(back.id).all(|alloc| alloc.server_terminal()));
    server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_batch_allocation_is_tried_again_as_often_as_its_policy_says() {
    let server = server().await;
    let _node = SimNode::start(&server, node(1)).await;
    let mut batch = changed(&job("once", 1), |group| {
        image(group, "failing:1");
        group.update = None;
        let policy = group.reschedule.as_mut().unwrap();
        policy.unlimited = false;
        policy.attempts = 1;
        policy.interval = GoDuration::hours(24);
        policy.delay = GoDuration::milliseconds(1_500);
        policy.delay_function = DelayFunction::Constant;
    });
    batch.kind = JobType::Batch;
    register(&server, &batch).await;
    let state = eventually(&server, "a look that waits", |state| {
        state.evaluations_of_job(&batch.key).any(|evaluation| !evaluation.wait_until.is_never())
    })
    .await;
    let waiting = state.evaluations_of_job(&batch.key).find(|it| !it.wait_until.is_never()).unwrap();
    assert_eq!(waiting.status_description, "created for delayed rescheduling");
    let state = eventually(&server, "the job dead after its second failure", |state| {
        state.allocations_of_job(&batch.key).count() == 2
            && state.allocations_of_job(&batch.key).all(|alloc| alloc.client_status == ClientStatus::Failed)
            && state.job(&batch.key).unwrap().status == JobStatus::Dead
    })
    .await;
    let second = state.allocations_of_job(&batch.key).find(|alloc| alloc.previous_alloc.is_some()).unwrap();
    assert_eq!(second.reschedule_tracker.events.len(), 1);
    assert_eq!(state.breaches(), Vec::<String>::new());
    server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_allocation_gets_a_successor() {
    let server = server().await;
    let _node = SimNode::start(&server, node(1)).await;
    let web = job("web", 2);
    register(&server, &web).await;
    let state =
        eventually(&server, "the deployment", |state| deployment_is(state, &web, 0, DeploymentStatus::Successful))
            .await;
    let stopped = live(&state, &web)[0].clone();
    let answer = server.stop_allocation(stopped.id, true).await.unwrap();
    let state = eventually(&server, "the successor", |state| {
        state.allocation(stopped.id).unwrap().next_alloc.is_some()
            && live(state, &web).iter().filter(|alloc| alloc.client_status == ClientStatus::Running).count() == 2
    })
    .await;
    let old = state.allocation(stopped.id).unwrap();
    assert_eq!(old.desired_description, "alloc is being migrated");
    assert!(old.desired_transition.no_shutdown_delay, "the node is told so with the stop");
    let successor = state.allocation(old.next_alloc.unwrap()).unwrap();
    assert_eq!(successor.name, old.name);
    assert_eq!(state.evaluation(answer.eval).unwrap().triggered_by, Trigger::AllocStop);
    server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_has_ended_is_forgotten_on_demand_and_nothing_else() {
    let server = server().await;
    let _node = SimNode::start(&server, node(1)).await;
    let (stays, goes) = (job("stays", 1), job("goes", 1));
    for job in [&stays, &goes] {
        register(&server, job).await;
        eventually(&server, "the deployment", |state| deployment_is(state, job, 0, DeploymentStatus::Successful)).await;
    }
    server.deregister_job(goes.key.clone(), Deregistration::default()).await.unwrap();
    eventually(&server, "the stopped job's end", |state| {
        state.allocations_of_job(&goes.key).all(|alloc| alloc.client_status == ClientStatus::Complete)
            && state.evaluations_of_job(&goes.key).all(|evaluation| evaluation.status.is_terminal())
    })
    .await;
    assert!(server.system_gc().await.unwrap() > 0);
    let state = server.snapshot();
    assert_eq!(state.jobs().map(|job| job.key.id.as_str()).collect::<Vec<_>>(), ["stays"]);
    assert_eq!(state.allocations_of_job(&goes.key).count(), 0);
    assert_eq!(state.evaluations_of_job(&goes.key).count(), 0);
    assert_eq!(state.deployments_of_job(&goes.key).count(), 0);
    assert_eq!(live(&state, &stays).len(), 1);
    assert_eq!(state.breaches(), Vec::<String>::new());
    server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_waits_for_news_and_is_not_told_the_same_twice() {
    let server = server().await;
    let unknown = NodeId::from_u128(7);
    assert!(matches!(server.heartbeat(unknown).await, Err(LinkError::UnknownNode(id)) if id == unknown));
    let node = node(1);
    let id = node.id;
    server.register(node.clone()).await.unwrap();
    let registered = server.snapshot().index();
    server.register(node).await.unwrap();
    assert_eq!(server.snapshot().index(), registered, "the same registration writes nothing");

    let waiting = tokio::spawn({
        let server = server.clone();
        async move { server.watch_allocations(id, LogIndex::default()).await }
    });
    register(&server, &job("web", 1)).await;
    let news = tokio::time::timeout(Duration::from_secs(10), waiting).await.unwrap().unwrap().unwrap();
    assert_eq!(news.allocations.len(), 1);
    let told = vec![report(&news.allocations[0], ClientStatus::Running, None)];
    server.report(id, told.clone()).await.unwrap();
    let reported = server.snapshot().index();
    server.report(id, told).await.unwrap();
    assert_eq!(server.snapshot().index(), reported, "L1: a repetition writes nothing");
    let again = server.watch_allocations(id, news.index);
    assert!(tokio::time::timeout(Duration::from_millis(50), again).await.is_err(), "its own report is no news to it");

    let last = tokio::spawn({
        let server = server.clone();
        async move { server.watch_allocations(id, news.index).await }
    });
    server.shutdown().await;
    assert!(matches!(last.await.unwrap(), Err(LinkError::ShuttingDown)));
    let late = RegisterJob { job: job("late", 1), enforce_index: None, eval_priority: None, kept_counts: None };
    assert!(matches!(server.register_job(late).await, Err(ServerError::ShuttingDown)));
}
