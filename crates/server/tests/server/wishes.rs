//! Updates to another image: nothing is stopped before a node has it.

use longshore_model::*;
use longshore_server::Deregistration;
use longshore_values::GoDuration;

use crate::fixtures::{changed, image, job, node};
use crate::world::*;

async fn run_first(server: &longshore_server::Server, job: &Job) -> Vec<AllocId> {
    register(server, job).await;
    let state =
        eventually(server, "the first deployment", |state| deployment_is(state, job, 0, DeploymentStatus::Successful))
            .await;
    live(&state, job).iter().map(|alloc| alloc.id).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_image_that_cannot_be_had_fails_the_deployment_and_stops_nothing() {
    let server = server().await;
    let _node = SimNode::start(&server, node(1)).await;
    let web = changed(&job("web", 2), |group| group.update.as_mut().unwrap().auto_revert = true);
    let before = run_first(&server, &web).await;
    register(&server, &changed(&web, |group| image(group, "missing:2"))).await;
    let state = eventually(&server, "the deployment of the old version", |state| {
        deployment_is(state, &web, 2, DeploymentStatus::Successful)
    })
    .await;
    let failed = state.deployments_of_job(&web.key).find(|deployment| deployment.job_version == 1).unwrap();
    insta::assert_snapshot!(
        failed.status_description,
        @"Failed due to image missing:2 on node n1: no such image - rolling back to job version 0"
    );
    let after: Vec<_> = live(&state, &web).iter().map(|alloc| alloc.id).collect();
    assert_eq!(after, before, "the very same go on");
    assert_eq!(state.allocations_of_job(&web.key).count(), 2);
    assert_eq!(state.deployments_wishing(node(1).id).count(), 0);
    server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_waits_for_no_image() {
    let server = server().await;
    let _node = SimNode::start(&server, node(1)).await;
    let web = job("web", 1);
    let before = run_first(&server, &web).await;
    register(&server, &changed(&web, |group| image(group, "slow:2"))).await;
    let waits = |state: &longshore_state::State| {
        let description = state.latest_deployment(&web.key).map(|it| it.status_description.clone());
        description.is_some_and(|text| text == "Deployment is running but waits for image slow:2 on node n1")
    };
    let state = eventually(&server, "the wish", waits).await;
    assert_eq!(live(&state, &web).iter().map(|alloc| alloc.id).collect::<Vec<_>>(), before);
    server.deregister_job(web.key.clone(), Deregistration::default()).await.unwrap();
    let state = eventually(&server, "the end", |state| live(state, &web).is_empty()).await;
    assert_eq!(state.latest_deployment(&web.key).unwrap().status, DeploymentStatus::Cancelled);
    assert_eq!(state.deployments_wishing(node(1).id).count(), 0);
    server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn waiting_for_an_image_takes_no_longer_than_progress_may() {
    let server = server().await;
    let _node = SimNode::start(&server, node(1)).await;
    let web = job("web", 1);
    let before = run_first(&server, &web).await;
    let next = changed(&web, |group| {
        image(group, "slow:2");
        group.update.as_mut().unwrap().progress_deadline = GoDuration::milliseconds(300);
    });
    register(&server, &next).await;
    let state =
        eventually(&server, "the failed deployment", |state| deployment_is(state, &web, 1, DeploymentStatus::Failed))
            .await;
    assert_eq!(
        state.latest_deployment(&web.key).unwrap().status_description,
        "Failed due to progress deadline while waiting for image slow:2 on node n1"
    );
    assert_eq!(live(&state, &web).iter().map(|alloc| alloc.id).collect::<Vec<_>>(), before);
    server.shutdown().await;
}
