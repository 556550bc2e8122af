use std::collections::BTreeSet;
use std::sync::Arc;

use imbl::Vector;
use longshore_model::{Evaluation, Job, JobKey, JobStatus};

use super::Step;
use crate::summary::{GroupSummary, JobSummary};
use crate::{Effect, JobChange, State, Table};

/// How many versions of a job are kept, as in Nomad.
const TRACKED_VERSIONS: usize = 6;

impl State {
    pub(super) fn apply_job(&mut self, step: &mut Step, change: JobChange) {
        match change {
            JobChange::Register { job, evaluation } => self.register(step, &job, evaluation),
            JobChange::Deregister { key, purge, no_shutdown_delay, evaluation } => {
                if no_shutdown_delay {
                    self.skip_shutdown_delays(step, &key);
                }
                self.deregister(step, &key, purge, evaluation);
            }
            JobChange::Stability { key, version, stable } => self.set_stable(step, &key, version, stable),
        }
    }

    pub(super) fn register(&mut self, step: &mut Step, job: &Job, evaluation: Option<Evaluation>) {
        let known = self.jobs.get(&job.key);
        let unchanged =
            known.is_some_and(|known| known.document_digest == job.document_digest && known.stop == job.stop);
        if !unchanged {
            let mut job = job.clone();
            job.create_index = known.map_or(step.index, |known| known.create_index);
            job.version = known.map_or(0, |known| known.version + 1);
            job.modify_index = step.index;
            job.job_modify_index = step.index;
            job.stable = false;
            job.submit_time = step.now;
            job.status = known.map_or(JobStatus::Pending, |known| known.status);
            self.put_version(step, job);
        }
        self.follow_with(step, &job.key, evaluation);
    }

    fn deregister(&mut self, step: &mut Step, key: &JobKey, purge: bool, evaluation: Option<Evaluation>) {
        if purge {
            self.jobs.remove(key);
            self.versions.remove(key);
            self.summaries.remove(key);
            self.touch(Table::Jobs, step.index);
            self.tell_nodes_of_versions(step, key);
        } else if let Some(known) = self.jobs.get(key).filter(|known| !known.stop) {
            let mut job = Job::clone(known);
            job.stop = true;
            job.version += 1;
            job.stable = false;
            job.modify_index = step.index;
            job.job_modify_index = step.index;
            self.put_version(step, job);
        }
        self.follow_with(step, key, evaluation);
    }

    fn follow_with(&mut self, step: &mut Step, key: &JobKey, evaluation: Option<Evaluation>) {
        let job_modify_index = self.jobs.get(key).map(|job| job.job_modify_index);
        self.put_evaluations(
            step,
            evaluation.map(|mut evaluation| {
                evaluation.job_modify_index = job_modify_index.unwrap_or(step.index);
                evaluation
            }),
        );
        self.refresh_job_status(step, key);
    }

    pub(super) fn set_stable(&mut self, step: &mut Step, key: &JobKey, version: u64, stable: bool) {
        let Some(versions) = self.versions.get(key) else { return };
        let Some(known) = versions.iter().find(|job| job.version == version && job.stable != stable) else { return };
        let mut job = Job::clone(known);
        job.stable = stable;
        job.modify_index = step.index;
        self.replace_version(step, Arc::new(job));
        self.tell_nodes_of_versions(step, key);
    }

    /// Which versions of the job can be gone back to has changed: nodes that have an allocation of it keep their images.
    fn tell_nodes_of_versions(&mut self, step: &mut Step, key: &JobKey) {
        let nodes: BTreeSet<_> = self.allocations_of_job(key).map(|alloc| alloc.node).collect();
        for node in nodes {
            self.node_allocations_index.insert(node, step.index);
            step.effects.push(Effect::NodeAllocations(node));
        }
    }

    /// A new current version; the oldest one that is tracked no more goes, a lone stable one excepted.
    fn put_version(&mut self, step: &Step, job: Job) {
        let job = Arc::new(job);
        let versions = self.versions.entry(job.key.clone()).or_default();
        versions.push_front(Arc::clone(&job));
        if versions.len() > TRACKED_VERSIONS {
            let last = versions.len() - 1;
            let lone_stable = versions.last().is_some_and(|oldest| oldest.stable)
                && versions.iter().filter(|version| version.stable).count() == 1;
            versions.remove(if lone_stable { last - 1 } else { last });
        }
        let summary = self.summaries.entry(job.key.clone()).or_insert_with(|| JobSummary {
            job: job.key.clone(),
            groups: std::collections::BTreeMap::new(),
            create_index: step.index,
            modify_index: step.index,
        });
        for group in &job.groups {
            if !summary.groups.contains_key(&group.name) {
                summary.groups.insert(group.name.clone(), GroupSummary::default());
                summary.modify_index = step.index;
            }
        }
        self.jobs.insert(job.key.clone(), job);
        self.touch(Table::Jobs, step.index);
    }

    /// The same version with another status or stability.
    fn replace_version(&mut self, step: &Step, job: Arc<Job>) {
        if let Some(versions) = self.versions.get(&job.key) {
            let replaced: Vector<Arc<Job>> = versions
                .iter()
                .map(|version| if version.version == job.version { Arc::clone(&job) } else { Arc::clone(version) })
                .collect();
            self.versions.insert(job.key.clone(), replaced);
        }
        if self.jobs.get(&job.key).is_some_and(|current| current.version == job.version) {
            self.jobs.insert(job.key.clone(), job);
        }
        self.touch(Table::Jobs, step.index);
    }

    /// The job's status follows from its allocations and evaluations (scheduling facts, section 9).
    pub(super) fn refresh_job_status(&mut self, step: &mut Step, key: &JobKey) {
        let Some(known) = self.jobs.get(key) else { return };
        let status = self.job_status(known);
        if known.status != status {
            let mut job = Job::clone(known);
            job.status = status;
            job.modify_index = step.index;
            self.replace_version(step, Arc::new(job));
        }
    }

    pub(crate) fn job_status(&self, job: &Job) -> JobStatus {
        let mut any = false;
        for alloc in self.allocations_of_job(&job.key) {
            any = true;
            if !alloc.is_terminal() {
                return JobStatus::Running;
            }
        }
        for evaluation in self.evaluations_of_job(&job.key) {
            any = true;
            if !evaluation.status.is_terminal() {
                return JobStatus::Pending;
            }
        }
        // With everything collected it stays dead; only what was never looked at is pending.
        if any || job.stop || job.status != JobStatus::Pending { JobStatus::Dead } else { JobStatus::Pending }
    }
}
