use std::sync::Arc;

use longshore_model::{Allocation, DesiredStatus, Job};

use super::Step;
use crate::{AllocStop, PlanChange, State};

impl State {
    pub(super) fn apply_plan(&mut self, step: &mut Step, plan: PlanChange) {
        for update in plan.deployment_updates {
            self.set_deployment_status(step, update);
        }
        if let Some(deployment) = plan.deployment {
            self.put_deployment(step, deployment);
        }
        for (deployment, wish) in plan.wishes {
            self.put_wish(step, deployment, wish);
        }
        for stop in plan.stops {
            self.stop_allocation(step, stop);
        }
        for (id, evaluation) in plan.follow_ups {
            let Some(known) = self.allocations.get(&id) else { continue };
            let mut alloc = Allocation::clone(known);
            alloc.followup_eval = Some(evaluation);
            alloc.modify_index = step.index;
            self.put_allocation(step, alloc);
        }
        for alloc in plan.places {
            let job = self
                .jobs
                .get(&alloc.job)
                .filter(|job| job.create_index == plan.job_create_index)
                .and_then(|_| self.job_version(&alloc.job, alloc.job_version))
                .cloned();
            // A job that was purged meanwhile places nothing more: its own evaluation stops the rest.
            if let Some(job) = job {
                self.place_allocation(step, alloc, job);
            }
        }
        self.put_evaluations(step, plan.evaluations);
    }

    fn stop_allocation(&mut self, step: &mut Step, stop: AllocStop) {
        let Some(known) = self.allocations.get(&stop.alloc) else { return };
        let mut alloc = Allocation::clone(known);
        alloc.desired_status = DesiredStatus::Stop;
        alloc.desired_description = stop.description;
        alloc.followup_eval = stop.follow_up.or(alloc.followup_eval);
        if let Some(status) = stop.client_status.filter(|_| !alloc.client_status.is_terminal()) {
            alloc.client_status = status;
        }
        alloc.modify_index = step.index;
        alloc.alloc_modify_index = step.index;
        alloc.modify_time = step.now;
        self.put_allocation(step, alloc);
    }

    fn place_allocation(&mut self, step: &mut Step, mut alloc: Allocation, job: Arc<Job>) {
        alloc.job_spec = job;
        alloc.modify_index = step.index;
        alloc.alloc_modify_index = step.index;
        alloc.modify_time = step.now;
        let known = self.allocations.get(&alloc.id).cloned();
        let deployment_before = known.as_ref().and_then(|known| known.deployment);
        match &known {
            Some(known) => alloc = updated_in_place(known, alloc),
            None => {
                alloc.create_index = step.index;
                alloc.create_time = step.now;
            }
        }
        if let Some(previous) = alloc.previous_alloc.filter(|_| known.is_none())
            && let Some(before) = self.allocations.get(&previous)
        {
            let mut before = Allocation::clone(before);
            before.next_alloc = Some(alloc.id);
            before.modify_index = step.index;
            self.put_allocation(step, before);
        }
        if alloc.deployment != deployment_before {
            self.count_placement(step, &alloc);
        }
        self.put_allocation(step, alloc);
    }
}

/// The plan was made on an older state: it says what the allocation is now an allocation of, and nothing else. What its
/// node reported and what people asked for meanwhile stands.
fn updated_in_place(known: &Allocation, planned: Allocation) -> Allocation {
    let same_deployment = planned.deployment == known.deployment;
    Allocation {
        eval: planned.eval,
        job_version: planned.job_version,
        job_spec: planned.job_spec,
        resources: planned.resources,
        deployment: planned.deployment,
        deployment_status: if same_deployment { known.deployment_status } else { planned.deployment_status },
        modify_index: planned.modify_index,
        alloc_modify_index: planned.alloc_modify_index,
        modify_time: planned.modify_time,
        ..known.clone()
    }
}
