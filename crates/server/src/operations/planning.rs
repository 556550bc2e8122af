use std::collections::BTreeMap;
use std::sync::Arc;

use longshore_model::{AllocMetric, Evaluation, Job, LogIndex};
use longshore_scheduler::GroupAnnotation;
use longshore_state::{Change, JobChange};

use super::jobs::look;
use crate::Server;
use crate::clock;
use crate::worker::plan;

/// What registering a job would do.
#[derive(Debug, Clone)]
pub struct PlannedJob {
    /// Group → what would happen to how many.
    pub annotations: BTreeMap<String, GroupAnnotation>,
    /// Groups that would not all find a place, and why.
    pub failed_groups: BTreeMap<String, AllocMetric>,
    /// What would be looked at later (delayed reschedules).
    pub created_evaluations: Vec<Evaluation>,
    /// The job as it is now.
    pub current: Option<Arc<Job>>,
    /// Of the job as it is now; 0 when there is none.
    pub job_modify_index: LogIndex,
    /// The state that was looked at.
    pub index: LogIndex,
}

impl Server {
    /// Plans on a copy of the newest state in which the job is registered. Changes nothing.
    pub fn plan_job(&self, job: Job) -> PlannedJob {
        let snapshot = self.snapshot();
        let current = snapshot.job(&job.key).cloned();
        let now = clock::now();
        let evaluation = look(&job, None, now);
        let mut laid_in = longshore_state::State::clone(&snapshot);
        let change = JobChange::Register { job: Arc::new(job), evaluation: Some(evaluation.clone()) };
        laid_in.apply(snapshot.index().next(), now, Change::Job(Box::new(change)));
        let outcome = plan(&laid_in, &evaluation);
        PlannedJob {
            annotations: outcome.annotations,
            failed_groups: outcome.evaluation.failed_groups,
            created_evaluations: outcome.plan.evaluations,
            job_modify_index: current.as_ref().map(|job| job.job_modify_index).unwrap_or_default(),
            current,
            index: snapshot.index(),
        }
    }
}
