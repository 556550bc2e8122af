//! Images that deployments wait for: asked for by plans, answered by nodes, over with the replacement that runs or with the
//! deployment.

use std::collections::BTreeSet;

use longshore_model::{
    Allocation, Deployment, DeploymentId, DeploymentStatus, ImageWish, NodeId, Timestamp, WishReport,
};

use super::Step;
use super::evaluation::drop_from;
use crate::{Effect, State};

const RUNNING: &str = "Deployment is running";

impl State {
    /// In the place of an earlier wish of its allocation.
    pub(super) fn put_wish(&mut self, step: &mut Step, id: DeploymentId, wish: ImageWish) {
        let Some(known) = self.deployments.get(&id).filter(|known| known.status.is_active()) else { return };
        let mut deployment = Deployment::clone(known);
        // Waiting for an image is part of the time that the group has to make progress.
        if let Some(group) = deployment.groups.get_mut(&wish.group)
            && group.require_progress_by == Timestamp::NEVER
            && !group.progress_deadline.is_zero()
        {
            group.require_progress_by = step.now.plus(group.progress_deadline);
        }
        deployment.wishes.retain(|known| known.alloc != wish.alloc);
        deployment.wishes.push(wish);
        self.put_wishes_of(step, deployment);
    }

    /// An answer counts for what was asked of the node up to then, until that is settled.
    pub(super) fn answer_wishes(&mut self, step: &mut Step, node: NodeId, report: WishReport) {
        let Some(known) = self.deployments.get(&report.deployment).filter(|known| known.status.is_active()) else {
            return;
        };
        let mut deployment = Deployment::clone(known);
        let mut changed = false;
        for wish in &mut deployment.wishes {
            if wish.is_answered_by(node, &report) {
                wish.answer = Some(report.answer.clone());
                changed = true;
            }
        }
        if changed {
            self.put_wishes_of(step, deployment);
        }
    }

    /// What replaces the allocation of a wish runs: it holds its image itself.
    pub(super) fn fulfil_wish(&mut self, step: &mut Step, alloc: &Allocation) {
        let Some(known) = alloc.deployment.and_then(|id| self.deployments.get(&id)) else { return };
        let is_its = |wish: &ImageWish| Some(wish.alloc) == alloc.previous_alloc;
        if known.status.is_active() && known.wishes.iter().any(is_its) {
            let mut deployment = Deployment::clone(known);
            deployment.wishes.retain(|wish| !is_its(wish));
            self.put_wishes_of(step, deployment);
        }
    }

    fn put_wishes_of(&mut self, step: &mut Step, mut deployment: Deployment) {
        if deployment.status == DeploymentStatus::Running {
            let waits = deployment.wishes.iter().find(|wish| !wish.is_settled());
            deployment.status_description = match waits {
                Some(wish) => format!("{RUNNING} but waits for {}", wish.waiting_text()),
                None => RUNNING.to_owned(),
            };
        }
        self.put_deployment(step, deployment);
    }

    /// What nodes are wished to have has changed with the deployment: they are told.
    pub(super) fn index_wishes(&mut self, step: &mut Step, before: Option<&Deployment>, after: Option<&Deployment>) {
        let Some(id) = before.or(after).map(|deployment| deployment.id) else { return };
        let nodes = |one: Option<&Deployment>| wished_nodes(one).collect::<BTreeSet<_>>();
        let (old, new) = (nodes(before), nodes(after));
        for node in old.difference(&new) {
            drop_from(&mut self.wishes_by_node, node, &id);
        }
        for node in new.difference(&old) {
            self.wishes_by_node.entry(*node).or_default().insert(id);
        }
        let asked = |one: Option<&Deployment>, node: NodeId| -> Vec<(String, Timestamp, Timestamp)> {
            let wishes = one.filter(|one| one.status.is_active()).into_iter().flat_map(|one| &one.wishes);
            let here = wishes.filter(|wish| wish.node == node);
            here.map(|wish| (wish.group.clone(), wish.since, wish.expires_at)).collect()
        };
        for node in old.union(&new) {
            if asked(before, *node) != asked(after, *node) {
                self.node_allocations_index.insert(*node, step.index);
                step.effects.push(Effect::NodeAllocations(*node));
            }
        }
    }

    /// The deployments that wish the node to have images now.
    pub fn deployments_wishing(&self, node: NodeId) -> impl Iterator<Item = &std::sync::Arc<Deployment>> {
        self.wishes_by_node.get(&node).into_iter().flatten().filter_map(|id| self.deployments.get(id))
    }
}

/// The nodes of an active deployment's wishes.
pub(crate) fn wished_nodes(deployment: Option<&Deployment>) -> impl Iterator<Item = NodeId> {
    let wishes = deployment.filter(|one| one.status.is_active()).into_iter().flat_map(|one| &one.wishes);
    wishes.map(|wish| wish.node)
}
