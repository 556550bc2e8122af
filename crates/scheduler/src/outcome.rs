use std::collections::BTreeMap;

use longshore_model::{AllocMetric, Allocation, DeploymentId, Evaluation, Job};
use longshore_state::PlanChange;

use crate::reconcile::{Placement, Reconciled};

/// What a look at a job came to.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// What to change; verified by the plan applier before it counts.
    pub plan: PlanChange,
    /// All or nothing: a plan that fits only in part is dropped whole.
    pub all_at_once: bool,
    /// The evaluation as it ends when the plan is applied whole.
    pub evaluation: Evaluation,
    /// The evaluation that waits for room, when something found none.
    pub blocked: Option<Evaluation>,
    /// Group → what happens to how many, as `job plan` shows it.
    pub annotations: BTreeMap<String, GroupAnnotation>,
    pub class_eligibility: BTreeMap<String, bool>,
    pub escaped: bool,
    pub(crate) failed_groups: BTreeMap<String, AllocMetric>,
    pub(crate) queued: BTreeMap<String, u32>,
}

/// What happens to the allocations of one group.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct GroupAnnotation {
    pub ignore: u32,
    pub place: u32,
    pub migrate: u32,
    pub stop: u32,
    pub in_place_update: u32,
    pub destructive_update: u32,
    pub canary: u32,
}

impl Outcome {
    pub(crate) fn new(evaluation: &Evaluation, job: Option<&Job>) -> Self {
        Self {
            plan: PlanChange {
                evaluation: Some(evaluation.id),
                job_create_index: job.map(|job| job.create_index).unwrap_or_default(),
                ..PlanChange::default()
            },
            all_at_once: job.is_some_and(|job| job.all_at_once),
            evaluation: evaluation.clone(),
            blocked: None,
            annotations: BTreeMap::new(),
            class_eligibility: BTreeMap::new(),
            escaped: false,
            failed_groups: BTreeMap::new(),
            queued: job
                .filter(|job| !job.stop)
                .map(|job| job.groups.iter().map(|group| (group.name.clone(), 0)).collect())
                .unwrap_or_default(),
        }
    }

    pub(crate) fn take_reconciled(&mut self, reconciled: &Reconciled) {
        self.plan.stops.extend(reconciled.stops.iter().cloned());
        self.plan.follow_ups.extend(reconciled.follow_ups.iter().copied());
        self.plan.evaluations.extend(reconciled.evaluations.iter().cloned());
        self.plan.deployment = reconciled.new_deployment.clone();
        self.plan.deployment_updates.extend(reconciled.deployment_updates.iter().cloned());
        self.annotations = reconciled.annotations.clone();
    }

    /// The deployment that the plan makes or goes on with.
    pub fn deployment(&self) -> Option<DeploymentId> {
        let new = self.plan.deployment.as_ref().map(|deployment| deployment.id);
        let waits = || self.plan.wishes.first().map(|(deployment, _)| *deployment);
        new.or_else(|| self.plan.places.iter().find_map(|alloc| alloc.deployment)).or_else(waits)
    }

    pub(crate) fn placed(&mut self, placement: &Placement, alloc: Allocation) {
        self.plan.stops.extend(placement.stop_when_placed.iter().cloned());
        self.plan.places.push(alloc);
    }

    pub(crate) fn unplaced(&mut self, group: &str, placement: &Placement, metric: AllocMetric) {
        *self.queued.entry(group.to_owned()).or_default() += 1;
        // What cannot be replaced goes on running; only what has to go anyway goes.
        self.plan.stops.extend(placement.stop_in_any_case.iter().cloned());
        self.failed_groups.entry(group.to_owned()).and_modify(|known| known.coalesced_failures += 1).or_insert(metric);
    }

    /// Some placement found no room.
    pub fn has_failures(&self) -> bool {
        !self.evaluation.failed_groups.is_empty()
    }
}
