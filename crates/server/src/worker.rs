//! A worker: takes an evaluation, lets the scheduler plan on the newest snapshot, hands the plan in, and looks again
//! when only a part of it still fitted.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use longshore_model::{EvalId, EvalStatus, Evaluation, JobType, Trigger};
use longshore_scheduler::Outcome;
use longshore_state::{Change, EvaluationChange, State};
use tokio_util::sync::CancellationToken;

use crate::clock::{self, SystemIds};
use crate::error::ServerError;
use crate::evaluations::Broker;
use crate::plans::{self, Rejection, verify};
use crate::published::Published;
use crate::writer::Proposer;

#[derive(Clone)]
pub(crate) struct Worker {
    pub(crate) broker: Arc<Broker>,
    pub(crate) published: Arc<Published>,
    pub(crate) proposer: Proposer,
    pub(crate) end: CancellationToken,
}

/// What handing in a plan came to.
struct Submitted {
    rejections: Vec<Rejection>,
    progress: bool,
    /// What the scheduler said, without the plan itself.
    outcome: Outcome,
}

impl Worker {
    pub(crate) async fn run(self) {
        while let Some(delivery) = self.broker.next(&self.end).await {
            let evaluation = Arc::clone(&delivery.evaluation);
            match self.evaluate(&evaluation).await {
                Ok(()) => delivery.done(),
                Err(ServerError::ShuttingDown) => return,
                // Dropping the delivery gives the evaluation back.
                Err(why) => tracing::error!(eval.id = %evaluation.id, job.id = %evaluation.job, %why, "not evaluated"),
            }
        }
    }

    #[tracing::instrument(name = "evaluate", skip_all, fields(
        eval.id = %evaluation.id, job.id = %evaluation.job, trigger = evaluation.triggered_by.word()))]
    async fn evaluate(&self, evaluation: &Evaluation) -> Result<(), ServerError> {
        let attempts_max = attempts_max(evaluation.kind);
        let mut failures = 0;
        loop {
            let state = self.published.snapshot();
            if state.evaluation(evaluation.id).is_none_or(|known| known.status.is_terminal()) {
                tracing::debug!("ended meanwhile");
                return Ok(());
            }
            // A fault of the scheduler costs this evaluation its turn, not the worker its life.
            let planned = catch_unwind(AssertUnwindSafe(|| plan(&state, evaluation)));
            let outcome = planned.map_err(|_| ServerError::Panicked)?;
            let (placed, stopped) = (outcome.plan.places.len(), outcome.plan.stops.len());
            if outcome.plan.is_empty() {
                self.end_with(outcome.evaluation, outcome.blocked).await?;
                tracing::debug!("nothing to change");
                return Ok(());
            }
            let submitted = self.submit(outcome).await?;
            if submitted.rejections.is_empty() {
                tracing::info!(placed, stopped, "planned");
                return Ok(());
            }
            for Rejection { node, reason } in &submitted.rejections {
                tracing::info!(node.id = %node, reason, "the plan did not fit the node any more");
            }
            failures = if submitted.progress { 0 } else { failures + 1 };
            if failures >= attempts_max {
                return self.give_up(evaluation, &submitted.outcome, attempts_max).await;
            }
        }
    }

    /// The evaluation ends with the plan, in one change, if all of it fits.
    async fn submit(&self, mut outcome: Outcome) -> Result<Submitted, ServerError> {
        let written = self
            .proposer
            .propose(move |state, _| {
                let plan = std::mem::take(&mut outcome.plan);
                let mut verified = verify(state, plan, outcome.all_at_once);
                if verified.rejections.is_empty() {
                    let (ended, blocked) = (outcome.evaluation.clone(), outcome.blocked.clone());
                    verified.plan.evaluations.extend(plans::with_superseded(state, ended, blocked));
                }
                let submitted = Submitted { rejections: verified.rejections, progress: verified.progress, outcome };
                let change = (!verified.plan.is_empty()).then(|| Change::Plan(Box::new(verified.plan)));
                Ok((change, submitted))
            })
            .await?;
        Ok(written.value)
    }

    async fn end_with(&self, ended: Evaluation, blocked: Option<Evaluation>) -> Result<(), ServerError> {
        self.proposer
            .propose(move |state, _| {
                let changed = plans::with_superseded(state, ended, blocked);
                Ok((Some(Change::Evaluation(EvaluationChange::Upsert(changed))), ()))
            })
            .await?;
        Ok(())
    }

    /// Other plans were always faster: the evaluation fails, and another one looks again when they have settled.
    async fn give_up(&self, evaluation: &Evaluation, outcome: &Outcome, attempts: u32) -> Result<(), ServerError> {
        let id = EvalId::fresh(&mut SystemIds);
        let trigger = Trigger::MaxPlanAttempts;
        let mut blocked = longshore_scheduler::blocked_evaluation(evaluation, id, trigger, clock::now(), outcome);
        blocked.snapshot_index = outcome.evaluation.snapshot_index;
        let mut failed = evaluation.clone();
        failed.status = EvalStatus::Failed;
        failed.status_description = format!("maximum attempts reached ({attempts})");
        failed.snapshot_index = blocked.snapshot_index;
        failed.blocked_eval = Some(id);
        tracing::warn!(attempts, "the plans of this evaluation never fitted");
        self.end_with(failed, Some(blocked)).await
    }
}

/// Plans, and notes the state that was looked at.
pub(crate) fn plan(state: &State, evaluation: &Evaluation) -> Outcome {
    let mut outcome = longshore_scheduler::plan(state, evaluation, clock::now(), &mut SystemIds);
    outcome.evaluation.snapshot_index = state.index();
    if let Some(blocked) = &mut outcome.blocked {
        blocked.snapshot_index = state.index();
    }
    outcome
}

fn attempts_max(kind: JobType) -> u32 {
    match kind {
        JobType::Service | JobType::System => 5,
        JobType::Batch | JobType::Sysbatch => 2,
    }
}
