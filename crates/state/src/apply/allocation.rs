use std::sync::Arc;

use longshore_model::{AllocDeploymentStatus, Allocation, AllocationReport, ClientStatus, DesiredTransition, JobKey};

use super::Step;
use super::evaluation::drop_from;
use crate::{AllocationChange, Effect, State, Table};

impl State {
    pub(super) fn apply_allocation(&mut self, step: &mut Step, change: AllocationChange) {
        match change {
            AllocationChange::Report { reports, evaluations } => {
                for report in reports {
                    self.take_report(step, report);
                }
                self.put_evaluations(step, evaluations);
            }
            AllocationChange::Transition { transitions, evaluations } => {
                for (id, transition) in transitions {
                    let Some(known) = self.allocations.get(&id) else { continue };
                    let alloc = Allocation::clone(known);
                    self.put_transition(step, alloc, transition);
                }
                self.put_evaluations(step, evaluations);
            }
        }
    }

    fn put_transition(&mut self, step: &mut Step, mut alloc: Allocation, transition: DesiredTransition) {
        // The one part of it that is the node's to heed, also when it has been told to stop before.
        if alloc.desired_transition.no_shutdown_delay != transition.no_shutdown_delay {
            alloc.alloc_modify_index = step.index;
        }
        alloc.desired_transition = transition;
        alloc.modify_index = step.index;
        alloc.modify_time = step.now;
        self.put_allocation(step, alloc);
    }

    /// The end of a job's allocations waits for no shutdown delay, whenever it comes.
    pub(super) fn skip_shutdown_delays(&mut self, step: &mut Step, job: &JobKey) {
        let of_job = self.allocations_of_job(job).filter(|alloc| !alloc.client_status.is_terminal());
        let waiting: Vec<_> = of_job.filter(|alloc| !alloc.desired_transition.no_shutdown_delay).cloned().collect();
        for alloc in waiting {
            let transition = DesiredTransition { no_shutdown_delay: true, ..alloc.desired_transition };
            self.put_transition(step, Allocation::clone(&alloc), transition);
        }
    }

    fn take_report(&mut self, step: &mut Step, report: AllocationReport) {
        let Some(known) = self.allocations.get(&report.alloc) else { return };
        // What is lost or ended for the server stays so, whatever a node says late.
        if known.client_status == ClientStatus::Lost {
            return;
        }
        let mut alloc = Allocation::clone(known);
        let health = report.health_in(alloc.deployment);
        alloc.client_status = report.client_status;
        alloc.client_description = report.client_description;
        alloc.task_states = report.task_states;
        alloc.network_status = report.network_status.or(alloc.network_status);
        alloc.modify_index = step.index;
        alloc.modify_time = step.now;
        if let Some((healthy, timestamp)) = health {
            self.note_health(step, &mut alloc, healthy, timestamp);
        }
        if alloc.client_status == ClientStatus::Running {
            self.fulfil_wish(step, &alloc);
        }
        self.put_allocation(step, alloc);
    }

    /// Health for the deployment, once: what was decided does not change by itself, except from healthy to unhealthy.
    pub(super) fn note_health(
        &mut self,
        step: &mut Step,
        alloc: &mut Allocation,
        healthy: bool,
        timestamp: longshore_model::Timestamp,
    ) {
        let before = alloc.deployment_status.and_then(|status| status.healthy);
        if before == Some(healthy) || before == Some(false) || alloc.deployment.is_none() {
            return;
        }
        let canary = alloc.deployment_status.is_some_and(|status| status.canary);
        alloc.deployment_status =
            Some(AllocDeploymentStatus { healthy: Some(healthy), timestamp, canary, modify_index: step.index });
        self.count_health(step, alloc, before, healthy);
    }

    /// Puts a new or changed allocation, and keeps indexes, use and summary current.
    pub(super) fn put_allocation(&mut self, step: &mut Step, alloc: Allocation) {
        let known = self.allocations.get(&alloc.id).cloned();
        let used = self.node_use.entry(alloc.node).or_default();
        if let Some(known) = known.as_ref().filter(|known| known.occupies_node()) {
            used.remove(&known.resources);
        }
        if alloc.occupies_node() {
            used.add(&alloc.resources);
        } else if known.as_ref().is_none_or(|known| known.occupies_node()) {
            step.effects.push(Effect::NodeCapacity(alloc.node));
        }
        if let Some(summary) = self.summaries.get_mut(&alloc.job) {
            let before = known.as_ref().map(|known| known.client_status);
            if before != Some(alloc.client_status) {
                summary.groups.entry(alloc.group.clone()).or_default().moved(before, alloc.client_status);
                summary.modify_index = step.index;
            }
        }
        if let Some(deployment) = alloc.deployment {
            step.effects.push(Effect::Deployment(deployment));
        }
        if known.as_ref().is_none_or(|known| known.alloc_modify_index != alloc.alloc_modify_index) {
            self.node_allocations_index.insert(alloc.node, step.index);
            step.effects.push(Effect::NodeAllocations(alloc.node));
        }
        let (id, job) = (alloc.id, alloc.job.clone());
        if known.is_none() {
            self.allocations_by_job.entry(job.clone()).or_default().insert(id);
            self.allocations_by_node.entry(alloc.node).or_default().insert(id);
        }
        if known.as_ref().is_none_or(|known| known.eval != alloc.eval) {
            if let Some(known) = &known {
                drop_from(&mut self.allocations_by_evaluation, &known.eval, &id);
            }
            self.allocations_by_evaluation.entry(alloc.eval).or_default().insert(id);
        }
        let status_may_change = known.as_ref().is_none_or(|known| known.is_terminal() != alloc.is_terminal());
        self.allocations.insert(id, Arc::new(alloc));
        self.touch(Table::Allocations, step.index);
        if status_may_change {
            self.refresh_job_status(step, &job);
        }
    }
}
