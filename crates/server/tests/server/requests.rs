//! What clients ask, and how they are refused.

use longshore_model::*;
use longshore_server::{Deregistration, GroupCounts, Refusal, RegisterJob, Server, ServerError};

use crate::fixtures::{changed, image, job, node};
use crate::world::*;

#[track_caller]
fn text<T: std::fmt::Debug>(outcome: Result<T, ServerError>) -> String {
    outcome.unwrap_err().to_string()
}

async fn enforced(server: &Server, job: &Job, index: u64) -> Result<LogIndex, ServerError> {
    let enforce_index = Some(LogIndex(index));
    let request = RegisterJob { job: job.clone(), enforce_index, eval_priority: None, kept_counts: None };
    Ok(server.register_job(request).await?.job_modify_index)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_registration_holds_the_index_that_it_enforces() {
    let server = server().await;
    let web = job("web", 1);
    insta::assert_snapshot!(text(enforced(&server, &web, 7).await), @"Enforcing job modify index 7: job does not exist");
    let first = enforced(&server, &web, 0).await.unwrap();
    insta::assert_snapshot!(text(enforced(&server, &web, 0).await), @"Enforcing job modify index 0: job already exists");
    let why = text(enforced(&server, &web, 999).await);
    assert_eq!(why, format!("Enforcing job modify index 999: job exists with conflicting job modify index: {first}"));
    let same = enforced(&server, &web, first.0).await.unwrap();
    assert_eq!(same, first, "the same job again is no new version");
    let newer = enforced(&server, &changed(&web, |group| image(group, "web:2")), first.0).await.unwrap();
    assert!(newer > first);
    assert_eq!(server.snapshot().job(&web.key).unwrap().version, 1);

    let mut batch = web.clone();
    batch.kind = JobType::Batch;
    let request = RegisterJob { job: batch, enforce_index: None, eval_priority: None, kept_counts: None };
    insta::assert_snapshot!(
        text(server.register_job(request).await),
        @r#"cannot update job from type "service" to "batch""#
    );
    server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn counts_are_kept_as_they_are_when_it_is_decided() {
    let server = server().await;
    register(&server, &job("web", 2)).await;
    let seen = GroupCounts::of(&server.snapshot(), &job("web", 2).key);
    assert_eq!((seen.count("web"), seen.count("other")), (Some(2), None));
    // Somebody scales the job between the look and the registration.
    register(&server, &job("web", 5)).await;
    let wish = |kept| RegisterJob {
        job: changed(&job("web", 2), |group| image(group, "web:2")),
        enforce_index: None,
        eval_priority: None,
        kept_counts: Some(kept),
    };
    let Err(ServerError::Refused(Refusal::CountsChanged(now))) = server.register_job(wish(seen)).await else {
        panic!("a job with a count that holds no more is not registered");
    };
    assert_eq!(now.count("web"), Some(5));
    assert_eq!(server.snapshot().job(&job("web", 2).key).unwrap().version, 1);
    server.register_job(wish(now)).await.unwrap();
    server.deregister_job(job("web", 2).key, Deregistration::default()).await.unwrap();
    assert_eq!(GroupCounts::of(&server.snapshot(), &job("web", 2).key), GroupCounts::default(), "stopped: none");
    server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_goes_back_to_an_earlier_version() {
    let server = server().await;
    let web = job("web", 1);
    let key = || web.key.clone();
    insta::assert_snapshot!(text(server.revert_job(key(), 0, None).await), @r#"job "web" not found"#);
    insta::assert_snapshot!(text(server.evaluate_job(key(), false).await), @"job not found");
    register(&server, &web).await;
    register(&server, &changed(&web, |group| image(group, "web:2"))).await;
    insta::assert_snapshot!(text(server.revert_job(key(), 1, None).await), @"can't revert to current version");
    insta::assert_snapshot!(
        text(server.revert_job(key(), 0, Some(5)).await),
        @"Current job has version 1; enforcing version 5"
    );
    insta::assert_snapshot!(
        text(server.revert_job(key(), 9, None).await),
        @r#"job "web" in namespace "default" at version 9 not found"#
    );
    server.revert_job(key(), 0, Some(1)).await.unwrap();
    let state = server.snapshot();
    let current = state.job(&web.key).unwrap();
    assert_eq!((current.version, &current.document_digest), (2, &web.document_digest));
    server.set_job_stability(key(), 1, true).await.unwrap();
    assert!(server.snapshot().job_version(&web.key, 1).unwrap().stable);
    assert!(text(server.set_job_stability(key(), 9, true).await).contains("at version 9 not found"));
    server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn stopping_what_is_not_there_changes_nothing() {
    let server = server().await;
    let answer = server
        .deregister_job(JobKey::new("default", "none"), Deregistration { purge: true, ..Deregistration::default() })
        .await
        .unwrap();
    assert_eq!((answer.eval, answer.job_modify_index), (None, LogIndex(0)));
    assert_eq!(server.snapshot().index(), LogIndex(1), "nothing beyond the entry that founds the journal");

    let web = job("web", 1);
    register(&server, &web).await;
    let answer = server
        .deregister_job(
            web.key.clone(),
            Deregistration { purge: true, eval_priority: Some(70), ..Deregistration::default() },
        )
        .await
        .unwrap();
    let state = eventually(&server, "the last look at the job", |state| {
        state.evaluation(answer.eval.unwrap()).is_some_and(|evaluation| evaluation.status.is_terminal())
    })
    .await;
    assert!(state.job(&web.key).is_none() && state.job_versions(&web.key).next().is_none());
    assert_eq!(state.evaluation(answer.eval.unwrap()).unwrap().priority, 70);
    server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_tells_and_changes_nothing() {
    let server = server().await;
    let web = job("web", 2);
    let planned = server.plan_job(web.clone());
    assert_eq!((planned.job_modify_index, planned.current.is_none()), (LogIndex(0), true));
    assert_eq!(planned.failed_groups["web"].nodes_evaluated, 0, "there is no node yet");

    let _node = SimNode::start(&server, node(1)).await;
    assert_eq!(server.plan_job(web.clone()).annotations["web"].place, 2);
    let answer = register(&server, &web).await;
    eventually(&server, "the deployment", |state| deployment_is(state, &web, 0, DeploymentStatus::Successful)).await;
    let before = server.snapshot().index();
    let planned = server.plan_job(changed(&web, |group| image(group, "web:2")));
    let update = planned.annotations["web"];
    assert_eq!((update.destructive_update, update.ignore), (1, 1));
    assert_eq!(planned.job_modify_index, answer.job_modify_index);
    let same = server.plan_job(web.clone());
    assert_eq!(same.annotations["web"].ignore, 2);
    let large = server.plan_job(changed(&web, |group| group.count = 20));
    assert_eq!(large.failed_groups["web"].dimension_exhausted["cpu"], 1);
    assert_eq!(server.snapshot().index(), before);
    server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deployment_is_held_and_failed_by_hand() {
    let server = server().await;
    let _node = SimNode::start(&server, node(1)).await;
    let web = changed(&job("web", 2), |group| image(group, "starting:1"));
    register(&server, &web).await;
    let state = eventually(&server, "two allocations", |state| live(state, &web).len() == 2).await;
    let id = state.latest_deployment(&web.key).unwrap().id;
    server.pause_deployment(id, true).await.unwrap();
    let paused = |state: &longshore_state::State| state.deployment(id).unwrap().status;
    assert_eq!(paused(&server.snapshot()), DeploymentStatus::Paused);
    let resumed = server.pause_deployment(id, false).await.unwrap();
    assert!(resumed.eval.is_some() && paused(&server.snapshot()) == DeploymentStatus::Running);

    assert!(server.promote_deployment(id).await.unwrap().eval.is_some());

    let healthy: Vec<AllocId> = live(&state, &web).iter().map(|alloc| alloc.id).collect();
    insta::assert_snapshot!(
        text(server.set_allocation_health(id, Vec::new(), Vec::new()).await),
        @"must specify at least one healthy/unhealthy allocation ID"
    );
    let unknown = server.set_allocation_health(id, vec![AllocId::from_u128(5)], Vec::new()).await;
    insta::assert_snapshot!(text(unknown), @r#"unknown alloc "00000000-0000-0000-0000-000000000005""#);
    server.set_allocation_health(id, healthy, Vec::new()).await.unwrap();
    eventually(&server, "success", |state| deployment_is(state, &web, 0, DeploymentStatus::Successful)).await;
    insta::assert_snapshot!(text(server.fail_deployment(id).await), @"can't fail terminal deployment");
    insta::assert_snapshot!(text(server.pause_deployment(id, false).await), @"can't resume terminal deployment");
    insta::assert_snapshot!(text(server.promote_deployment(id).await), @"can't promote terminal deployment");
    let missing = DeploymentId::from_u128(9);
    insta::assert_snapshot!(text(server.fail_deployment(missing).await), @"deployment not found");

    let next = changed(&web, |group| {
        image(group, "starting:2");
        group.update.as_mut().unwrap().auto_revert = true;
    });
    register(&server, &next).await;
    let state =
        eventually(&server, "the next deployment", |state| deployment_is(state, &web, 1, DeploymentStatus::Running))
            .await;
    let id = state.latest_deployment(&web.key).unwrap().id;
    let answer = server.fail_deployment(id).await.unwrap();
    assert_eq!(answer.reverted_job_version, Some(0));
    insta::assert_snapshot!(
        server.snapshot().deployment(id).unwrap().status_description,
        @"Deployment marked as failed - rolling back to job version 0"
    );
    server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ineligible_node_takes_nothing_until_it_is_eligible_again() {
    let server = server().await;
    let first = SimNode::start(&server, node(1)).await;
    server.set_node_eligibility(first.id, Eligibility::Ineligible).await.unwrap();
    let web = job("web", 1);
    register(&server, &web).await;
    eventually(&server, "a blocked evaluation", |state| {
        state.evaluations_of_job(&web.key).any(|evaluation| evaluation.status == EvalStatus::Blocked)
    })
    .await;
    server.set_node_eligibility(first.id, Eligibility::Eligible).await.unwrap();
    eventually(&server, "the deployment", |state| deployment_is(state, &web, 0, DeploymentStatus::Successful)).await;
    let answer = server.evaluate_node(first.id).await.unwrap();
    assert_eq!(answer.evals.len(), 1);

    // A node that is forgotten takes its allocations with it; they wait for another one.
    let answer = server.purge_node(first.id).await.unwrap();
    assert_eq!(answer.evals.len(), 1);
    let state = eventually(&server, "a lost allocation", |state| {
        state.allocations_of_job(&web.key).any(|alloc| alloc.client_status == ClientStatus::Lost)
    })
    .await;
    assert!(state.node(first.id).is_none());
    server.shutdown().await;
}
