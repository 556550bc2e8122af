use longshore_api as api;
use longshore_model::{Deployment, DeploymentGroup};

use super::time;

/// `eval_priority` is that of the job, which evaluations of the deployment have.
pub(crate) fn deployment(deployment: &Deployment, eval_priority: u8) -> api::Deployment {
    api::Deployment {
        id: deployment.id.to_string(),
        namespace: deployment.job.namespace.clone(),
        job_id: deployment.job.id.clone(),
        job_version: deployment.job_version,
        job_modify_index: deployment.job_modify_index.0,
        job_spec_modify_index: deployment.job_spec_modify_index.0,
        job_create_index: deployment.job_create_index.0,
        is_multiregion: false,
        task_groups: deployment.groups.iter().map(|(name, state)| (name.clone(), group(state))).collect(),
        status: deployment.status.word().to_owned(),
        status_description: deployment.status_description.clone(),
        eval_priority: eval_priority.into(),
        create_index: deployment.create_index.0,
        modify_index: deployment.modify_index.0,
    }
}

fn group(group: &DeploymentGroup) -> api::DeploymentState {
    api::DeploymentState {
        auto_revert: group.auto_revert,
        auto_promote: group.auto_promote,
        progress_deadline: group.progress_deadline,
        require_progress_by: time(group.require_progress_by),
        promoted: group.promoted,
        placed_canaries: group.placed_canaries.iter().map(ToString::to_string).collect(),
        desired_canaries: group.desired_canaries.into(),
        desired_total: group.desired_total.into(),
        placed_allocs: group.placed_allocs.into(),
        healthy_allocs: group.healthy_allocs.into(),
        unhealthy_allocs: group.unhealthy_allocs.into(),
    }
}
