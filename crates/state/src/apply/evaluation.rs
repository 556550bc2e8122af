use std::collections::BTreeSet;
use std::sync::Arc;

use imbl::{OrdMap, OrdSet};
use longshore_model::{AllocId, EvalId, EvalStatus, Evaluation, JobKey};

use super::Step;
use crate::{Effect, EvaluationChange, State, Table};

impl State {
    pub(super) fn apply_evaluation(&mut self, step: &mut Step, change: EvaluationChange) {
        match change {
            EvaluationChange::Upsert(evaluations) => self.put_evaluations(step, evaluations),
            EvaluationChange::Collect { evaluations, allocations } => {
                let of_allocations = allocations.into_iter().filter_map(|id| self.forget_allocation(step, id));
                let mut jobs: BTreeSet<JobKey> = of_allocations.collect();
                jobs.extend(evaluations.into_iter().filter_map(|id| self.forget_evaluation(step, id)));
                for key in jobs {
                    self.refresh_job_status(step, &key);
                }
            }
        }
    }

    pub(super) fn put_evaluations(&mut self, step: &mut Step, evaluations: impl IntoIterator<Item = Evaluation>) {
        let mut jobs = Vec::new();
        for evaluation in evaluations {
            jobs.push(evaluation.job.clone());
            self.put_evaluation(step, evaluation);
        }
        for key in jobs {
            self.refresh_job_status(step, &key);
        }
    }

    fn put_evaluation(&mut self, step: &mut Step, mut evaluation: Evaluation) {
        let known = self.evaluations.get(&evaluation.id);
        evaluation.create_index = known.map_or(step.index, |known| known.create_index);
        evaluation.create_time = known.map_or(evaluation.create_time, |known| known.create_time);
        evaluation.modify_index = step.index;
        evaluation.modify_time = step.now;
        let id = evaluation.id;
        step.effects.push(match evaluation.status {
            EvalStatus::Pending => Effect::EvaluationPending(id),
            EvalStatus::Blocked => Effect::EvaluationBlocked(id),
            EvalStatus::Complete | EvalStatus::Failed | EvalStatus::Canceled => Effect::EvaluationEnded(id),
        });
        self.note_queued(step, &evaluation);
        self.evaluations_by_job.entry(evaluation.job.clone()).or_default().insert(id);
        self.evaluations.insert(id, Arc::new(evaluation));
        self.touch(Table::Evaluations, step.index);
    }

    /// The summary shows as queued what the evaluation could not place.
    fn note_queued(&mut self, step: &Step, evaluation: &Evaluation) {
        if evaluation.queued_allocations.is_empty() {
            return;
        }
        let Some(summary) = self.summaries.get_mut(&evaluation.job) else { return };
        for (group, queued) in &evaluation.queued_allocations {
            if let Some(group) = summary.groups.get_mut(group).filter(|group| group.queued != *queued) {
                group.queued = *queued;
                summary.modify_index = step.index;
            }
        }
    }

    fn forget_evaluation(&mut self, step: &Step, id: EvalId) -> Option<JobKey> {
        let evaluation = self.evaluations.remove(&id)?;
        drop_from(&mut self.evaluations_by_job, &evaluation.job, &id);
        self.touch(Table::Evaluations, step.index);
        Some(evaluation.job.clone())
    }

    fn forget_allocation(&mut self, step: &mut Step, id: AllocId) -> Option<JobKey> {
        let alloc = self.allocations.remove(&id)?;
        if alloc.occupies_node()
            && let Some(used) = self.node_use.get_mut(&alloc.node)
        {
            used.remove(&alloc.resources);
        }
        drop_from(&mut self.allocations_by_job, &alloc.job, &id);
        drop_from(&mut self.allocations_by_node, &alloc.node, &id);
        drop_from(&mut self.allocations_by_evaluation, &alloc.eval, &id);
        self.node_allocations_index.insert(alloc.node, step.index);
        self.touch(Table::Allocations, step.index);
        step.effects.push(Effect::NodeAllocations(alloc.node));
        Some(alloc.job.clone())
    }
}

/// Takes one id out of an index, and the whole entry with its last one.
pub(super) fn drop_from<K: Ord + Clone, I: Ord + Clone>(index: &mut OrdMap<K, OrdSet<I>>, key: &K, id: &I) {
    if let Some(ids) = index.get_mut(key) {
        ids.remove(id);
        if ids.is_empty() {
            index.remove(key);
        }
    }
}
