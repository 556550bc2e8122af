use longshore_model::{AllocId, Deployment, DeploymentId, DeploymentStatus, EvalId, LogIndex, Timestamp};
use longshore_state::{Change, DeploymentChange, DeploymentStatusChange, EvaluationChange, State};

use crate::Server;
use crate::clock::SystemIds;
use crate::deployments::{failure, look};
use crate::error::{Refusal, ServerError};

/// The answer to what changes a deployment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeploymentAnswer {
    pub eval: Option<EvalId>,
    pub reverted_job_version: Option<u64>,
    pub index: LogIndex,
}

impl Server {
    /// Fails a deployment by hand, and goes back to the last stable version if one of its groups wants that.
    pub async fn fail_deployment(&self, id: DeploymentId) -> Result<DeploymentAnswer, ServerError> {
        self.change_deployment(id, Refusal::DeploymentEnded("fail"), |state, deployment, now| {
            let auto_revert = deployment.groups.values().any(|group| group.auto_revert);
            Ok(failure(state, deployment, "Deployment marked as failed", auto_revert, now, &mut SystemIds))
        })
        .await
    }

    /// Holds a deployment, or lets it go on.
    pub async fn pause_deployment(&self, id: DeploymentId, pause: bool) -> Result<DeploymentAnswer, ServerError> {
        let doing = if pause { "pause" } else { "resume" };
        self.change_deployment(id, Refusal::DeploymentEnded(doing), move |state, deployment, now| {
            let (status, description, evaluation) = if pause {
                (DeploymentStatus::Paused, "Deployment is paused", None)
            } else {
                let evaluation = look(state, deployment, now, &mut SystemIds);
                (DeploymentStatus::Running, "Deployment is running", evaluation)
            };
            let description = description.to_owned();
            Ok(DeploymentStatusChange { deployment: id, status, description, revert: None, evaluation })
        })
        .await
    }

    /// Promotes canaries. This build places none, so a promotion leads only to another look, as in Nomad where no group
    /// has any.
    pub async fn promote_deployment(&self, id: DeploymentId) -> Result<DeploymentAnswer, ServerError> {
        let written = self
            .proposer()
            .propose(move |state, now| {
                let deployment = state.deployment(id).ok_or(ServerError::NotFound("deployment"))?;
                if !deployment.status.is_active() {
                    return Err(Refusal::DeploymentEnded("promote").into());
                }
                let evaluation = look(state, deployment, now, &mut SystemIds);
                let eval = evaluation.as_ref().map(|evaluation| evaluation.id);
                let change = evaluation.map(|it| Change::Evaluation(EvaluationChange::Upsert(vec![it])));
                Ok((change, eval))
            })
            .await?;
        Ok(DeploymentAnswer { eval: written.value, reverted_job_version: None, index: written.index })
    }

    /// Health of a deployment's allocations, as a person judges it.
    pub async fn set_allocation_health(
        &self,
        id: DeploymentId,
        healthy: Vec<AllocId>,
        unhealthy: Vec<AllocId>,
    ) -> Result<DeploymentAnswer, ServerError> {
        let written = self
            .proposer()
            .propose(move |state, now| {
                let deployment = state.deployment(id).ok_or(ServerError::NotFound("deployment"))?;
                if healthy.is_empty() && unhealthy.is_empty() {
                    return Err(Refusal::NoAllocations.into());
                }
                if !deployment.status.is_active() {
                    return Err(Refusal::HealthOfEndedDeployment.into());
                }
                let foreign =
                    |alloc: &&AllocId| state.allocation(**alloc).is_none_or(|known| known.deployment != Some(id));
                if let Some(unknown) = healthy.iter().chain(&unhealthy).find(foreign) {
                    return Err(Refusal::UnknownAlloc(*unknown).into());
                }
                let evaluation = look(state, deployment, now, &mut SystemIds);
                let eval = evaluation.as_ref().map(|evaluation| evaluation.id);
                let change = DeploymentChange::Health { deployment: id, healthy, unhealthy, evaluation };
                Ok((Some(Change::Deployment(Box::new(change))), eval))
            })
            .await?;
        Ok(DeploymentAnswer { eval: written.value, reverted_job_version: None, index: written.index })
    }

    async fn change_deployment<F>(
        &self,
        id: DeploymentId,
        ended: Refusal,
        decide: F,
    ) -> Result<DeploymentAnswer, ServerError>
    where
        F: FnOnce(&State, &Deployment, Timestamp) -> Result<DeploymentStatusChange, ServerError> + Send + 'static,
    {
        let written = self
            .proposer()
            .propose(move |state, now| {
                let deployment = state.deployment(id).ok_or(ServerError::NotFound("deployment"))?;
                if !deployment.status.is_active() {
                    return Err(ended.into());
                }
                let change = decide(state, deployment, now)?;
                let eval = change.evaluation.as_ref().map(|evaluation| evaluation.id);
                let reverted = change.revert.as_ref().map(|job| job.version);
                let change = DeploymentChange::Status(Box::new(change));
                Ok((Some(Change::Deployment(Box::new(change))), (eval, reverted)))
            })
            .await?;
        let (eval, reverted_job_version) = written.value;
        Ok(DeploymentAnswer { eval, reverted_job_version, index: written.index })
    }
}
