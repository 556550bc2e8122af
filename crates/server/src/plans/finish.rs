use longshore_model::{EvalStatus, Evaluation};
use longshore_state::State;

use crate::evaluations::cancelled;

/// The evaluations that a worker leaves behind, with those of the job that need not wait for room any more because
/// everything was placed.
pub(crate) fn with_superseded(state: &State, ended: Evaluation, blocked: Option<Evaluation>) -> Vec<Evaluation> {
    let mut changed = Vec::new();
    if ended.status == EvalStatus::Complete && blocked.is_none() {
        let why = format!("evaluation {:?} successful", ended.id.to_string());
        let waiting = state
            .evaluations_of_job(&ended.job)
            .filter(|known| known.status == EvalStatus::Blocked && known.id != ended.id);
        changed.extend(waiting.map(|known| cancelled(known, &why)));
    }
    changed.push(ended);
    changed.extend(blocked);
    changed
}
