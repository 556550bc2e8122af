use std::sync::Arc;

use longshore_model::{Allocation, Deployment, DeploymentId, DeploymentStatus, Evaluation, Timestamp};

use super::Step;
use super::evaluation::drop_from;
use crate::{DeploymentChange, DeploymentStatusChange, Effect, State, Table};

impl State {
    pub(super) fn apply_deployment(&mut self, step: &mut Step, change: DeploymentChange) {
        match change {
            DeploymentChange::Status(change) => self.set_deployment_status(step, *change),
            DeploymentChange::Health { healthy, unhealthy, evaluation, .. } => {
                for (ids, verdict) in [(healthy, true), (unhealthy, false)] {
                    for id in ids {
                        let Some(known) = self.allocations.get(&id) else { continue };
                        let mut alloc = Allocation::clone(known);
                        let now = step.now;
                        self.note_health(step, &mut alloc, verdict, now);
                        alloc.modify_index = step.index;
                        alloc.modify_time = step.now;
                        self.put_allocation(step, alloc);
                    }
                }
                self.put_evaluations(step, evaluation);
            }
            DeploymentChange::AllowReschedule { allocations, evaluation, .. } => {
                for id in allocations {
                    let Some(known) = self.allocations.get(&id) else { continue };
                    let mut alloc = Allocation::clone(known);
                    alloc.desired_transition.reschedule = true;
                    alloc.modify_index = step.index;
                    alloc.modify_time = step.now;
                    self.put_allocation(step, alloc);
                }
                self.put_evaluations(step, evaluation);
            }
            DeploymentChange::WishesAnswered { node, reports, evaluations } => {
                for report in reports {
                    self.answer_wishes(step, node, report);
                }
                self.put_evaluations(step, evaluations);
            }
            DeploymentChange::Collect(ids) => {
                for id in ids {
                    self.forget_deployment(step, id);
                }
            }
        }
    }

    pub(super) fn set_deployment_status(&mut self, step: &mut Step, change: DeploymentStatusChange) {
        if let Some(known) = self.deployments.get(&change.deployment).filter(|known| known.status.is_active()) {
            let mut deployment = Deployment::clone(known);
            if deployment.status == DeploymentStatus::Paused && change.status == DeploymentStatus::Running {
                restart_clocks(&mut deployment, step.now);
            }
            deployment.status = change.status;
            deployment.status_description = change.description;
            let (key, version) = (deployment.job.clone(), deployment.job_version);
            self.put_deployment(step, deployment);
            if change.status == DeploymentStatus::Successful {
                self.set_stable(step, &key, version, true);
            }
        }
        if let Some(job) = change.revert {
            self.register(step, &job, None);
        }
        self.put_evaluations(step, change.evaluation.map(|evaluation| self.with_job_index(evaluation)));
    }

    fn with_job_index(&self, mut evaluation: Evaluation) -> Evaluation {
        if let Some(job) = self.jobs.get(&evaluation.job) {
            evaluation.job_modify_index = job.job_modify_index;
        }
        evaluation
    }

    /// A new deployment, or a known one that changed.
    pub(super) fn put_deployment(&mut self, step: &mut Step, mut deployment: Deployment) {
        let id = deployment.id;
        let known = self.deployments.get(&id).cloned();
        deployment.create_index = known.as_ref().map_or(step.index, |known| known.create_index);
        deployment.modify_index = step.index;
        self.index_wishes(step, known.as_deref(), Some(&deployment));
        self.deployments_by_job.entry(deployment.job.clone()).or_default().insert(id);
        self.deployments.insert(id, Arc::new(deployment));
        self.touch(Table::Deployments, step.index);
        step.effects.push(Effect::Deployment(id));
    }

    /// A placement for a deployment: its group's count, its canaries, and the first deadline.
    pub(super) fn count_placement(&mut self, step: &mut Step, alloc: &Allocation) {
        let Some(known) = alloc.deployment.and_then(|id| self.deployments.get(&id)) else { return };
        let mut deployment = Deployment::clone(known);
        let Some(group) = deployment.groups.get_mut(&alloc.group) else { return };
        group.placed_allocs += 1;
        if alloc.deployment_status.is_some_and(|status| status.canary) && !group.placed_canaries.contains(&alloc.id) {
            group.placed_canaries.push(alloc.id);
        }
        if group.require_progress_by == Timestamp::NEVER && !group.progress_deadline.is_zero() {
            group.require_progress_by = step.now.plus(group.progress_deadline);
        }
        self.put_deployment(step, deployment);
    }

    /// A newly decided health: counts move, and something newly healthy moves the deadline.
    pub(super) fn count_health(&mut self, step: &mut Step, alloc: &Allocation, before: Option<bool>, healthy: bool) {
        let Some(known) = alloc.deployment.and_then(|id| self.deployments.get(&id)) else { return };
        let mut deployment = Deployment::clone(known);
        let Some(group) = deployment.groups.get_mut(&alloc.group) else { return };
        if before == Some(true) {
            group.healthy_allocs = group.healthy_allocs.saturating_sub(1);
        }
        if healthy {
            group.healthy_allocs += 1;
            if !group.progress_deadline.is_zero() {
                group.require_progress_by = step.now.plus(group.progress_deadline);
            }
        } else {
            group.unhealthy_allocs += 1;
        }
        self.put_deployment(step, deployment);
    }

    fn forget_deployment(&mut self, step: &mut Step, id: DeploymentId) {
        let Some(deployment) = self.deployments.remove(&id) else { return };
        self.index_wishes(step, Some(&deployment), None);
        drop_from(&mut self.deployments_by_job, &deployment.job, &id);
        self.touch(Table::Deployments, step.index);
    }
}

/// While it was paused it could not get on: every group has its whole time again, and what no node has answered is asked
/// anew where it is still needed.
fn restart_clocks(deployment: &mut Deployment, now: Timestamp) {
    for group in deployment.groups.values_mut().filter(|group| group.require_progress_by != Timestamp::NEVER) {
        group.require_progress_by = now.plus(group.progress_deadline);
    }
    deployment.wishes.retain(|wish| wish.answer.is_some());
}
