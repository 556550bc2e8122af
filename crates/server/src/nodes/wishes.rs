//! Images that deployments wish nodes to have (K8): what a node is told of them, and what follows from its answers.

use std::collections::BTreeMap;

use longshore_link::WishedImages;
use longshore_model::{DeploymentId, IdSource, NodeId, Timestamp, WishAnswer, WishReport};
use longshore_state::{Change, DeploymentChange, State};

use crate::deployments::look;

/// Everything that the node is wished to have, once a group.
pub(super) fn of_node(state: &State, node: NodeId) -> Vec<WishedImages> {
    let mut wished: BTreeMap<(DeploymentId, &str), WishedImages> = BTreeMap::new();
    for deployment in state.deployments_wishing(node) {
        let job = state.job_version(&deployment.job, deployment.job_version);
        let Some(job) = job.filter(|job| job.create_index == deployment.job_create_index) else { continue };
        for wish in deployment.wishes.iter().filter(|wish| wish.node == node) {
            let (since, expires_at) = (wish.since, wish.expires_at);
            let known = wished.entry((deployment.id, &wish.group)).or_insert_with(|| WishedImages {
                deployment: deployment.id,
                job: job.clone(),
                group: wish.group.clone(),
                since,
                expires_at,
            });
            known.since = known.since.max(since);
            known.expires_at = known.expires_at.max(expires_at);
        }
    }
    wished.into_values().collect()
}

/// The change that the answers make: what is ready lets its deployment go on.
pub(super) fn answered(
    state: &State,
    node: NodeId,
    reports: Vec<WishReport>,
    now: Timestamp,
    ids: &mut dyn IdSource,
) -> Option<Change> {
    let waits = |report: &WishReport| {
        state
            .deployment(report.deployment)
            .filter(|deployment| deployment.status.is_active())
            .filter(|deployment| deployment.wishes.iter().any(|wish| wish.is_answered_by(node, report)))
    };
    let reports: Vec<WishReport> = reports.into_iter().filter(|report| waits(report).is_some()).collect();
    if reports.is_empty() {
        return None;
    }
    let ready = reports.iter().filter(|report| report.answer == WishAnswer::Ready).filter_map(waits);
    let looks: BTreeMap<DeploymentId, _> = ready.map(|deployment| (deployment.id, deployment)).collect();
    let evaluations = looks.into_values().filter_map(|deployment| look(state, deployment, now, ids)).collect();
    Some(Change::Deployment(Box::new(DeploymentChange::WishesAnswered { node, reports, evaluations })))
}

#[cfg(test)]
mod tests {
    use longshore_model::{ClientStatus, DeploymentStatus, Job, SequentialIds};

    use super::*;
    use crate::deployments::{Verdict, judge};
    use crate::testing::{World, changed, image, job, node};

    /// A service that runs, and waits for the image of its next version.
    fn waiting() -> (World, Job) {
        let mut world = World::with_nodes(1);
        let web = job("web", 1);
        world.register(&web);
        world.settle(&web);
        let alloc = world.live(&web)[0].clone();
        world.report(&alloc, ClientStatus::Running, Some(true));
        world.settle(&web);
        let next = changed(&web, |group| image(group, "web:2"));
        world.register(&next);
        world.settle(&next);
        (world, next)
    }

    fn report(world: &World, job: &Job, answer: WishAnswer) -> WishReport {
        let deployment = world.state.latest_deployment(&job.key).unwrap();
        WishReport { deployment: deployment.id, group: job.groups[0].name.clone(), since: world.now, answer }
    }

    #[test]
    fn a_node_is_told_once_and_its_answer_leads_to_a_look() {
        let (mut world, next) = waiting();
        let told = of_node(&world.state, node(1).id);
        assert_eq!(told.len(), 1);
        assert_eq!((told[0].job.version, told[0].since), (1, world.now));
        let ready = report(&world, &next, WishAnswer::Ready);
        let mut ids = SequentialIds::default();
        let change = |world: &World, ids: &mut SequentialIds| {
            answered(&world.state, node(1).id, vec![ready.clone()], world.now, ids)
        };
        let first = change(&world, &mut ids).unwrap();
        let Change::Deployment(answers) = &first else { panic!("{first:?}") };
        let DeploymentChange::WishesAnswered { evaluations, .. } = &**answers else { panic!("{first:?}") };
        assert_eq!(evaluations.len(), 1);
        world.change(first);
        assert_eq!(change(&world, &mut ids), None, "said again");
        world.settle(&next);
        assert_eq!(world.live(&next).iter().map(|alloc| alloc.job_version).collect::<Vec<_>>(), [1]);
    }

    #[test]
    fn what_cannot_be_had_fails_the_deployment_with_the_reason() {
        let (mut world, next) = waiting();
        let why = "no such image".to_owned();
        let failed = report(&world, &next, WishAnswer::Failed { why });
        let change = answered(&world.state, node(1).id, vec![failed], world.now, &mut SequentialIds::default());
        world.change(change.unwrap());
        let deployment = world.state.latest_deployment(&next.key).unwrap();
        let description = "Failed due to image web:2 on node n1: no such image".to_owned();
        let verdict = judge(&world.state, deployment, world.now);
        assert_eq!(verdict, Verdict::Fail { description, auto_revert: false });
        assert_eq!(deployment.status, DeploymentStatus::Running);
    }

    #[test]
    fn what_stands_in_the_way_is_told_while_it_is_tried_and_when_time_is_up() {
        let (mut world, next) = waiting();
        let news = |world: &World, why: &str| {
            let delayed = report(world, &next, WishAnswer::Delayed { why: why.to_owned() });
            answered(&world.state, node(1).id, vec![delayed], world.now, &mut SequentialIds::default())
        };
        for why in ["could not reach registry", "registry is busy"] {
            let change = news(&world, why).unwrap();
            world.change(change);
            assert_eq!(news(&world, why), None, "said again");
            let deployment = world.state.latest_deployment(&next.key).unwrap();
            let told = format!("Deployment is running but waits for image web:2 on node n1: {why}");
            assert_eq!(deployment.status_description, told);
            assert!(matches!(judge(&world.state, deployment, world.now), Verdict::Wait { until: Some(_) }));
        }
        let deployment = world.state.latest_deployment(&next.key).unwrap();
        let due = deployment.groups.values().map(|group| group.require_progress_by).max().unwrap();
        let why = "image web:2 on node n1: registry is busy";
        let description = format!("Failed due to progress deadline while waiting for {why}");
        assert!(due < deployment.wishes[0].expires_at);
        assert_eq!(judge(&world.state, deployment, due), Verdict::Fail { description, auto_revert: false });

        // What comes true in the end is not held against it.
        let ready = report(&world, &next, WishAnswer::Ready);
        let change = answered(&world.state, node(1).id, vec![ready], world.now, &mut SequentialIds::default());
        world.change(change.unwrap());
        let deployment = world.state.latest_deployment(&next.key).unwrap();
        assert_eq!(deployment.status_description, "Deployment is running");
        assert_eq!(news(&world, "late"), None);
    }

    #[test]
    fn a_node_that_never_answers_fails_it_too() {
        let (world, next) = waiting();
        let deployment = world.state.latest_deployment(&next.key).unwrap();
        let Verdict::Wait { until: Some(_) } = judge(&world.state, deployment, world.now) else { panic!("it waits") };
        let late = deployment.wishes[0].expires_at;
        assert!(matches!(judge(&world.state, deployment, late), Verdict::Fail { .. }));
    }
}
