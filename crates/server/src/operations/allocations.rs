use std::collections::BTreeMap;

use longshore_model::{AllocId, DesiredTransition, EvalId, Evaluation, Trigger};
use longshore_state::{AllocationChange, Change};

use super::EvalAnswer;
use crate::Server;
use crate::clock::SystemIds;
use crate::error::ServerError;

impl Server {
    /// Stops an allocation; its job gets another one in its place. With `no_shutdown_delay` its end waits for none of its
    /// group's and tasks'.
    pub async fn stop_allocation(&self, id: AllocId, no_shutdown_delay: bool) -> Result<EvalAnswer, ServerError> {
        let written = self
            .proposer()
            .propose(move |state, now| {
                let alloc = state.allocation(id).ok_or(ServerError::NotFound("alloc"))?;
                let job = state.job(&alloc.job).unwrap_or(&alloc.job_spec);
                let eval = EvalId::fresh(&mut SystemIds);
                let mut evaluation =
                    Evaluation::pending(eval, alloc.job.clone(), job.kind, job.priority, Trigger::AllocStop, now);
                evaluation.job_modify_index = job.job_modify_index;
                let before = alloc.desired_transition;
                let no_shutdown_delay = no_shutdown_delay || before.no_shutdown_delay;
                let transition = DesiredTransition { migrate: true, no_shutdown_delay, ..before };
                let change = AllocationChange::Transition {
                    transitions: BTreeMap::from([(id, transition)]),
                    evaluations: vec![evaluation],
                };
                Ok((Some(Change::Allocation(change)), eval))
            })
            .await?;
        Ok(EvalAnswer { eval: written.value, index: written.index })
    }
}
