use longshore_api as api;
use longshore_model::Job;
use longshore_state::{GroupSummary, JobSummary};

use super::ShowError;

/// The whole job: its document, with what the server sets laid over it.
pub(crate) fn job(job: &Job) -> Result<api::Job, ShowError> {
    let mut shown: api::Job = api::decode(job.document.as_bytes()).map_err(|source| ShowError::Document {
        job: job.key.clone(),
        version: job.version,
        source,
    })?;
    shown.stop = Some(job.stop);
    shown.status = Some(job.status.word().to_owned());
    shown.status_description = Some(String::new());
    shown.stable = Some(job.stable);
    shown.version = Some(job.version);
    shown.submit_time = Some(job.submit_time.as_nanoseconds());
    shown.create_index = Some(job.create_index.0);
    shown.modify_index = Some(job.modify_index.0);
    shown.job_modify_index = Some(job.job_modify_index.0);
    Ok(shown)
}

/// A job in a list; `with_meta` as the client asked.
pub(crate) fn stub(job: &Job, summary_of_job: Option<&JobSummary>, with_meta: bool) -> api::JobListStub {
    api::JobListStub {
        id: job.key.id.clone(),
        parent_id: String::new(),
        name: job.name.clone(),
        namespace: job.key.namespace.clone(),
        datacenters: job.datacenters.clone(),
        node_pool: job.node_pool.clone(),
        multiregion: None,
        kind: job.kind.word().to_owned(),
        priority: job.priority.into(),
        periodic: false,
        parameterized_job: false,
        stop: job.stop,
        status: job.status.word().to_owned(),
        status_description: String::new(),
        job_summary: summary_of_job.map(summary),
        create_index: job.create_index.0,
        modify_index: job.modify_index.0,
        job_modify_index: job.job_modify_index.0,
        submit_time: job.submit_time.as_nanoseconds(),
        meta: if with_meta { job.meta.clone() } else { Default::default() },
    }
}

pub(crate) fn summary(summary: &JobSummary) -> api::JobSummary {
    api::JobSummary {
        job_id: summary.job.id.clone(),
        namespace: summary.job.namespace.clone(),
        summary: summary.groups.iter().map(|(name, group)| (name.clone(), group_summary(group))).collect(),
        children: Some(api::JobChildrenSummary::default()),
        create_index: summary.create_index.0,
        modify_index: summary.modify_index.0,
    }
}

fn group_summary(group: &GroupSummary) -> api::TaskGroupSummary {
    api::TaskGroupSummary {
        queued: group.queued.into(),
        complete: group.complete.into(),
        failed: group.failed.into(),
        running: group.running.into(),
        starting: group.starting.into(),
        lost: group.lost.into(),
        unknown: group.unknown.into(),
    }
}
