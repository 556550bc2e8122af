use std::collections::BTreeMap;
use std::sync::Arc;

use longshore_model::{
    ClientStatus, DesiredTransition, EvalId, Evaluation, Job, JobKey, JobType, LogIndex, Timestamp, Trigger,
};
use longshore_state::{AllocationChange, Change, JobChange, State};

use crate::Server;
use crate::clock::SystemIds;
use crate::error::{Refusal, ServerError};

/// A job to register.
#[derive(Debug, Clone)]
pub struct RegisterJob {
    pub job: Job,
    /// Only if the job's `job_modify_index` is this; 0: only if there is no such job.
    pub enforce_index: Option<LogIndex>,
    /// Instead of the job's own.
    pub eval_priority: Option<u8>,
    /// Only if these are the counts of the job's groups as it stands: those that `job` was made with.
    pub kept_counts: Option<GroupCounts>,
}

/// How a job is stopped.
#[derive(Debug, Clone, Copy, Default)]
pub struct Deregistration {
    /// It is forgotten as well.
    pub purge: bool,
    /// The end of its allocations, also of those that are ending already, waits for no shutdown delay.
    pub no_shutdown_delay: bool,
    /// Instead of the job's own.
    pub eval_priority: Option<u8>,
}

/// How many allocations the groups of a job want, by name; none for a job that is stopped or not there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GroupCounts(BTreeMap<String, u32>);

impl GroupCounts {
    pub fn of(state: &State, key: &JobKey) -> Self {
        let groups = state.job(key).filter(|job| !job.stop).into_iter().flat_map(|job| &job.groups);
        Self(groups.map(|group| (group.name.clone(), group.count)).collect())
    }

    pub fn count(&self, group: &str) -> Option<u32> {
        self.0.get(group).copied()
    }
}

/// The answer to what changes a job.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct JobAnswer {
    /// `None` when nothing is to be looked at (an unknown job was to be stopped).
    pub eval: Option<EvalId>,
    pub eval_create_index: LogIndex,
    pub job_modify_index: LogIndex,
    pub index: LogIndex,
}

impl Server {
    /// Registers a new job or a new version; the same again leads only to another look.
    ///
    /// # Errors
    /// [`Refusal::CountsChanged`] with the counts of now, for a job that was made with those of before.
    pub async fn register_job(&self, request: RegisterJob) -> Result<JobAnswer, ServerError> {
        self.change_job(move |state, now| {
            let RegisterJob { job, enforce_index, eval_priority, kept_counts } = request;
            let known = state.job(&job.key).map(AsRef::as_ref);
            check_enforced(known, enforce_index)?;
            check_type(known, &job)?;
            if let Some(kept) = kept_counts {
                let now = GroupCounts::of(state, &job.key);
                if kept != now {
                    return Err(Refusal::CountsChanged(now).into());
                }
            }
            Ok(Some(registration(state, job, eval_priority, now)))
        })
        .await
    }

    /// Stops a job. An unknown one changes nothing.
    pub async fn deregister_job(&self, key: JobKey, how: Deregistration) -> Result<JobAnswer, ServerError> {
        let Deregistration { purge, no_shutdown_delay, eval_priority } = how;
        self.change_job(move |state, now| {
            let Some(job) = state.job(&key) else { return Ok(None) };
            let changes = purge || !job.stop;
            let job_modify_index = if changes { state.index().next() } else { job.job_modify_index };
            let id = EvalId::fresh(&mut SystemIds);
            let priority = eval_priority.unwrap_or(job.priority);
            // Nomad's evaluations of this trigger have this type for every job.
            let kind = JobType::Service;
            let evaluation = Evaluation::pending(id, key.clone(), kind, priority, Trigger::JobDeregister, now);
            let change = JobChange::Deregister { key, purge, no_shutdown_delay, evaluation: Some(evaluation) };
            Ok(Some(Registration { change: Change::Job(Box::new(change)), eval: id, job_modify_index }))
        })
        .await
    }

    /// Another look at a job as it is; with `force_reschedule` its failed allocations are tried again at once.
    pub async fn evaluate_job(&self, key: JobKey, force_reschedule: bool) -> Result<JobAnswer, ServerError> {
        self.change_job(move |state, now| {
            let job = state.job(&key).ok_or(ServerError::NotFound("job"))?;
            let evaluation = look(job, None, now);
            let eval = evaluation.id;
            let transitions = if force_reschedule { forced(state, &key) } else { BTreeMap::new() };
            let change = AllocationChange::Transition { transitions, evaluations: vec![evaluation] };
            let change = Change::Allocation(change);
            Ok(Some(Registration { change, eval, job_modify_index: job.job_modify_index }))
        })
        .await
    }

    /// Registers an earlier version again, as a new one.
    pub async fn revert_job(
        &self,
        key: JobKey,
        version: u64,
        enforce_version: Option<u64>,
    ) -> Result<JobAnswer, ServerError> {
        self.change_job(move |state, now| {
            let current = state.job(&key).ok_or_else(|| Refusal::RevertUnknown(key.clone()))?;
            if current.version == version {
                return Err(Refusal::RevertToCurrent.into());
            }
            if let Some(enforced) = enforce_version.filter(|enforced| *enforced != current.version) {
                return Err(Refusal::RevertFromOther { found: current.version, enforced }.into());
            }
            let earlier =
                state.job_version(&key, version).ok_or_else(|| Refusal::NoVersion { key: key.clone(), version })?;
            let mut job = Job::clone(earlier);
            job.stop = false;
            Ok(Some(registration(state, job, None, now)))
        })
        .await
    }

    /// Says of a version that it works, or that it does not. Returns the index of the change.
    pub async fn set_job_stability(&self, key: JobKey, version: u64, stable: bool) -> Result<LogIndex, ServerError> {
        let written = self
            .proposer()
            .propose(move |state, _| {
                if state.job_version(&key, version).is_none() {
                    return Err(Refusal::NoVersion { key, version }.into());
                }
                Ok((Some(Change::Job(Box::new(JobChange::Stability { key, version, stable }))), ()))
            })
            .await?;
        Ok(written.index)
    }

    async fn change_job<F>(&self, decide: F) -> Result<JobAnswer, ServerError>
    where
        F: FnOnce(&State, Timestamp) -> Result<Option<Registration>, ServerError> + Send + 'static,
    {
        let written = self
            .proposer()
            .propose(move |state, now| {
                Ok(match decide(state, now)? {
                    Some(Registration { change, eval, job_modify_index }) => {
                        (Some(change), Some((eval, job_modify_index)))
                    }
                    None => (None, None),
                })
            })
            .await?;
        let index = written.index;
        Ok(match written.value {
            Some((eval, job_modify_index)) => {
                JobAnswer { eval: Some(eval), eval_create_index: index, job_modify_index, index }
            }
            None => JobAnswer { index, ..JobAnswer::default() },
        })
    }
}

struct Registration {
    change: Change,
    eval: EvalId,
    /// As it will be after the change.
    job_modify_index: LogIndex,
}

fn registration(state: &State, job: Job, eval_priority: Option<u8>, now: Timestamp) -> Registration {
    let evaluation = look(&job, eval_priority, now);
    let unchanged =
        state.job(&job.key).filter(|known| known.document_digest == job.document_digest && known.stop == job.stop);
    let job_modify_index = unchanged.map_or(state.index().next(), |known| known.job_modify_index);
    let eval = evaluation.id;
    let change = JobChange::Register { job: Arc::new(job), evaluation: Some(evaluation) };
    Registration { change: Change::Job(Box::new(change)), eval, job_modify_index }
}

pub(super) fn look(job: &Job, eval_priority: Option<u8>, now: Timestamp) -> Evaluation {
    let id = EvalId::fresh(&mut SystemIds);
    let priority = eval_priority.unwrap_or(job.priority);
    let mut evaluation = Evaluation::pending(id, job.key.clone(), job.kind, priority, Trigger::JobRegister, now);
    evaluation.job_modify_index = job.job_modify_index;
    evaluation
}

fn forced(state: &State, key: &JobKey) -> BTreeMap<longshore_model::AllocId, DesiredTransition> {
    state
        .allocations_of_job(key)
        .filter(|alloc| alloc.client_status == ClientStatus::Failed && !alloc.server_terminal())
        .map(|alloc| (alloc.id, DesiredTransition { force_reschedule: true, ..alloc.desired_transition }))
        .collect()
}

fn check_enforced(known: Option<&Job>, enforced: Option<LogIndex>) -> Result<(), Refusal> {
    match (enforced, known) {
        (None, _) | (Some(LogIndex(0)), None) => Ok(()),
        (Some(LogIndex(0)), Some(_)) => Err(Refusal::JobExists),
        (Some(enforced), None) => Err(Refusal::JobMissing(enforced)),
        (Some(enforced), Some(job)) if job.job_modify_index == enforced => Ok(()),
        (Some(enforced), Some(job)) => Err(Refusal::JobChanged { enforced, found: job.job_modify_index }),
    }
}

fn check_type(known: Option<&Job>, job: &Job) -> Result<(), Refusal> {
    match known {
        Some(known) if known.kind != job.kind => Err(Refusal::JobType { from: known.kind.word(), to: job.kind.word() }),
        _ => Ok(()),
    }
}
