//! Deployments from their first allocation to their end.

use longshore_model::*;
use longshore_values::GoDuration;

use crate::fixtures::{changed, image, job, node};
use crate::world::*;

#[tokio::test(flavor = "multi_thread")]
async fn a_job_is_placed_runs_and_its_deployment_succeeds() {
    let server = server().await;
    let _node = SimNode::start(&server, node(1)).await;
    let web = job("web", 3);
    let answer = register(&server, &web).await;
    let state = eventually(&server, "a successful deployment", |state| {
        deployment_is(state, &web, 0, DeploymentStatus::Successful)
    })
    .await;
    assert_eq!(state.breaches(), Vec::<String>::new());
    let evaluation = state.evaluation(answer.eval.unwrap()).unwrap();
    assert_eq!(evaluation.status, EvalStatus::Complete);
    assert_eq!(evaluation.job_modify_index, answer.job_modify_index);
    let names: Vec<_> = live(&state, &web).iter().map(|alloc| alloc.name.clone()).collect();
    assert_eq!(names, ["web.web[0]", "web.web[1]", "web.web[2]"]);
    let known = state.job(&web.key).unwrap();
    assert!(known.stable && known.status == JobStatus::Running);
    let summary = &state.summary(&web.key).unwrap().groups["web"];
    assert_eq!((summary.running, summary.queued, summary.starting), (3, 0, 0));
    server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_update_rolls_through_one_at_a_time() {
    let server = server().await;
    let _node = SimNode::start(&server, node(1)).await;
    let first = job("web", 3);
    register(&server, &first).await;
    eventually(&server, "the first deployment", |state| deployment_is(state, &first, 0, DeploymentStatus::Successful))
        .await;
    register(&server, &changed(&first, |group| image(group, "web:2"))).await;
    let state = eventually(&server, "the second deployment", |state| {
        let running = live(state, &first).iter().filter(|it| it.client_status == ClientStatus::Running).count();
        assert!(running >= 2, "max_parallel 1 of 3: {}", told(state));
        deployment_is(state, &first, 1, DeploymentStatus::Successful)
    })
    .await;
    assert!(live(&state, &first).iter().all(|alloc| alloc.job_version == 1 && alloc.is_healthy()));
    assert_eq!(live(&state, &first).len(), 3);
    assert_eq!(state.breaches(), Vec::<String>::new());
    server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_update_that_fails_goes_back_to_what_was_stable() {
    let server = server().await;
    let _node = SimNode::start(&server, node(1)).await;
    let stable = changed(&job("web", 2), |group| {
        group.reschedule = None;
        group.update.as_mut().unwrap().auto_revert = true;
    });
    register(&server, &stable).await;
    eventually(&server, "the first deployment", |state| deployment_is(state, &stable, 0, DeploymentStatus::Successful))
        .await;
    register(&server, &changed(&stable, |group| image(group, "failing:2"))).await;
    let state = eventually(&server, "the deployment of the old version", |state| {
        deployment_is(state, &stable, 2, DeploymentStatus::Successful)
    })
    .await;
    let failed = state.deployments_of_job(&stable.key).find(|deployment| deployment.job_version == 1).unwrap();
    assert_eq!(failed.status, DeploymentStatus::Failed);
    insta::assert_snapshot!(
        failed.status_description,
        @"Failed due to unhealthy allocations - rolling back to job version 0"
    );
    let known = state.job(&stable.key).unwrap();
    assert_eq!(known.document_digest, stable.document_digest);
    assert!(live(&state, &stable).iter().all(|alloc| alloc.is_healthy()));
    assert_eq!(live(&state, &stable).len(), 2);
    server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deployment_without_progress_fails_in_time() {
    let server = server().await;
    let _node = SimNode::start(&server, node(1)).await;
    let web = changed(&job("web", 1), |group| {
        image(group, "starting:1");
        let update = group.update.as_mut().unwrap();
        update.progress_deadline = GoDuration::milliseconds(300);
        update.auto_revert = true;
    });
    register(&server, &web).await;
    let state =
        eventually(&server, "the failed deployment", |state| deployment_is(state, &web, 0, DeploymentStatus::Failed))
            .await;
    insta::assert_snapshot!(
        state.latest_deployment(&web.key).unwrap().status_description,
        @"Failed due to progress deadline - no stable job version to auto revert to"
    );
    assert_eq!(live(&state, &web).len(), 1, "what runs goes on running");
    server.shutdown().await;
}
