//! Writes down what the queue decided: cancelled and given-up evaluations. The queue itself must not wait for the disk.

use std::sync::Arc;
use std::time::Duration;

use longshore_model::{EvalId, EvalStatus, Evaluation, IdSource, Timestamp, Trigger};
use longshore_state::{Change, EvaluationChange, State};
use longshore_values::GoDuration;
use tokio::sync::mpsc;

use super::queue::DELIVERIES_MAX;
use crate::clock::SystemIds;
use crate::error::ServerError;
use crate::writer::Proposer;

/// The least that a given-up evaluation's successor waits, and how much chance adds, so that they do not come in herds.
const FOLLOW_UP_DELAY: GoDuration = GoDuration::minutes(1);
const FOLLOW_UP_SPREAD: GoDuration = GoDuration::minutes(5);

/// After a change that could not be made durable.
const RETRY_DELAY: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub(crate) enum Note {
    Cancel {
        evaluations: Vec<EvalId>,
        why: String,
    },
    /// Its workers failed too often.
    GiveUp {
        evaluation: EvalId,
    },
}

pub(crate) async fn run(mut notes: mpsc::UnboundedReceiver<Note>, proposer: Proposer) {
    while let Some(note) = notes.recv().await {
        let note = Arc::new(note);
        loop {
            let written = Arc::clone(&note);
            let written =
                proposer.propose(move |state, now| Ok((write(state, &written, now, &mut SystemIds), ()))).await;
            match written {
                Ok(_) => break,
                Err(ServerError::ShuttingDown) => return,
                Err(why) => tracing::error!(%why, "superfluous evaluations stay open; it is tried again"),
            }
            tokio::time::sleep(RETRY_DELAY).await;
        }
    }
}

fn write(state: &State, note: &Note, now: Timestamp, ids: &mut dyn IdSource) -> Option<Change> {
    let changed = match note {
        Note::Cancel { evaluations, why } => {
            let open = evaluations.iter().filter_map(|id| open(state, *id));
            open.map(|evaluation| cancelled(&evaluation, why)).collect()
        }
        Note::GiveUp { evaluation } => {
            open(state, *evaluation).map(|failed| given_up(failed, now, ids)).unwrap_or_default()
        }
    };
    (!changed.is_empty()).then_some(Change::Evaluation(EvaluationChange::Upsert(changed)))
}

fn open(state: &State, id: EvalId) -> Option<Evaluation> {
    state.evaluation(id).filter(|evaluation| !evaluation.status.is_terminal()).map(|it| Evaluation::clone(it))
}

pub(crate) fn cancelled(evaluation: &Evaluation, why: &str) -> Evaluation {
    let mut evaluation = evaluation.clone();
    evaluation.status = EvalStatus::Canceled;
    evaluation.status_description = why.to_owned();
    evaluation
}

/// The failed evaluation and the one that takes another look later.
fn given_up(mut failed: Evaluation, now: Timestamp, ids: &mut dyn IdSource) -> Vec<Evaluation> {
    let id = EvalId::fresh(ids);
    let chance = i64::try_from(ids.next_id() % FOLLOW_UP_SPREAD.as_nanoseconds().unsigned_abs() as u128);
    let wait = FOLLOW_UP_DELAY.saturating_add(GoDuration::nanoseconds(chance.unwrap_or_default()));
    let mut next =
        Evaluation::pending(id, failed.job.clone(), failed.kind, failed.priority, Trigger::FailedFollowUp, now);
    next.wait_until = now.plus(wait);
    next.previous_eval = Some(failed.id);
    next.job_modify_index = failed.job_modify_index;
    failed.status = EvalStatus::Failed;
    failed.status_description = format!("evaluation reached delivery limit ({DELIVERIES_MAX})");
    failed.next_eval = Some(id);
    tracing::warn!(eval.id = %failed.id, job.id = %failed.job, "evaluation failed; another look follows");
    vec![failed, next]
}

#[cfg(test)]
mod tests {
    use longshore_model::SequentialIds;

    use super::*;
    use crate::testing::{World, job};

    #[test]
    fn what_is_given_up_is_looked_at_again_later() {
        let mut world = World::with_nodes(1);
        let web = job("web", 1);
        world.register(&web);
        let evaluation = world.evaluation(&web);
        let id = evaluation.id;
        world.upsert(vec![evaluation]);
        let mut ids = SequentialIds::default();
        // Ids that tests do not use otherwise.
        for _ in 0..100 {
            ids.next_id();
        }
        let change = write(&world.state, &Note::GiveUp { evaluation: id }, world.now, &mut ids).unwrap();
        world.change(change);
        let failed = world.state.evaluation(id).unwrap();
        assert_eq!(failed.status, EvalStatus::Failed);
        insta::assert_snapshot!(failed.status_description, @"evaluation reached delivery limit (3)");
        let next = world.state.evaluation(failed.next_eval.unwrap()).unwrap();
        assert_eq!((next.triggered_by, next.status), (Trigger::FailedFollowUp, EvalStatus::Pending));
        let wait = next.wait_until.since(world.now);
        assert!(wait >= FOLLOW_UP_DELAY && wait <= FOLLOW_UP_DELAY.saturating_add(FOLLOW_UP_SPREAD), "{wait}");

        let why = "canceled after more recent eval was processed".to_owned();
        let cancel = Note::Cancel { evaluations: vec![id, next.id], why };
        let Some(Change::Evaluation(EvaluationChange::Upsert(changed))) =
            write(&world.state, &cancel, world.now, &mut ids)
        else {
            panic!("nothing is written")
        };
        assert_eq!(changed.len(), 1, "what has ended stays as it is");
        assert_eq!(changed[0].status, EvalStatus::Canceled);
    }
}
