//! What reconciling means for the job's deployment (scheduling facts, 3.1 and 7).

use std::collections::BTreeMap;

use longshore_model::{
    Deployment, DeploymentGroup, DeploymentId, DeploymentStatus, IdSource, Job, LogIndex, TaskGroup, Timestamp,
};
use longshore_state::DeploymentStatusChange;

use super::{Picture, Reconciled};

/// A deployment of another version, or of a stopped job, has nothing left to roll out.
pub(super) fn cancel_outdated(latest: Option<&Deployment>, job: Option<&Job>, result: &mut Reconciled) {
    let Some(latest) = latest.filter(|deployment| deployment.status.is_active()) else { return };
    let why = match job {
        None => "Cancelled because job is stopped",
        Some(job) if job.stop => "Cancelled because job is stopped",
        Some(job) if !is_of(latest, job) => "Cancelled due to newer version of job",
        Some(_) => return,
    };
    result.deployment_updates.push(DeploymentStatusChange {
        deployment: latest.id,
        status: DeploymentStatus::Cancelled,
        description: why.to_owned(),
        revert: None,
        evaluation: None,
    });
}

fn is_of(deployment: &Deployment, job: &Job) -> bool {
    deployment.job_version == job.version && deployment.job_create_index == job.create_index
}

/// The deployment of this version, unless it has succeeded: then there is none to go on with.
pub(super) fn of_this_version<'a>(latest: Option<&'a Deployment>, job: &Job) -> Option<&'a Deployment> {
    latest.filter(|deployment| is_of(deployment, job) && deployment.status != DeploymentStatus::Successful)
}

/// The new deployment's part for one group.
pub(super) fn add_group(picture: &Picture<'_>, group: &TaskGroup, result: &mut Reconciled, ids: &mut dyn IdSource) {
    let Some(update) = group.roll_out() else { return };
    let job = picture.job;
    let deployment = result.new_deployment.get_or_insert_with(|| Deployment {
        id: DeploymentId::fresh(ids),
        job: job.key.clone(),
        job_version: job.version,
        job_modify_index: job.modify_index,
        job_spec_modify_index: job.job_modify_index,
        job_create_index: job.create_index,
        groups: BTreeMap::new(),
        wishes: Vec::new(),
        status: DeploymentStatus::Running,
        status_description: "Deployment is running".to_owned(),
        create_index: LogIndex::default(),
        modify_index: LogIndex::default(),
    });
    deployment.groups.insert(
        group.name.clone(),
        DeploymentGroup {
            auto_revert: update.auto_revert,
            auto_promote: update.auto_promote,
            desired_total: group.count,
            progress_deadline: update.progress_deadline,
            require_progress_by: Timestamp::NEVER,
            ..DeploymentGroup::default()
        },
    );
}

/// With nothing left to do and all healthy, the deployment has succeeded.
pub(super) fn finish(picture: &Picture<'_>, complete: bool, result: &mut Reconciled) {
    let Some(deployment) = picture.deployment.filter(|deployment| deployment.status.is_active()) else { return };
    let healthy = deployment.groups.values().all(|group| group.healthy_allocs >= group.desired_total);
    if complete && healthy && result.new_deployment.is_none() {
        result.deployment_updates.push(DeploymentStatusChange {
            deployment: deployment.id,
            status: DeploymentStatus::Successful,
            description: "Deployment completed successfully".to_owned(),
            revert: None,
            evaluation: None,
        });
    }
}
