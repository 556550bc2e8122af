//! The status of an allocation, from the states of its tasks.

use longshore_model::{ClientStatus, TaskPhase, TaskState};

/// The status and its description. An allocation ends only when all its tasks have: while a failed task's siblings are
/// being stopped it still runs, and its node still has less room.
pub(crate) fn client_status<'a>(tasks: impl IntoIterator<Item = &'a TaskState>) -> (ClientStatus, &'static str) {
    let (mut failed, mut running, mut pending) = (false, false, false);
    for task in tasks {
        match task.phase {
            TaskPhase::Running => running = true,
            TaskPhase::Pending => pending = true,
            TaskPhase::Dead => failed |= task.failed,
        }
    }
    match (running, pending, failed) {
        (true, _, _) | (false, true, true) => (ClientStatus::Running, "Tasks are running"),
        (false, true, false) => (ClientStatus::Pending, "No tasks have started"),
        (false, false, true) => (ClientStatus::Failed, "Failed tasks"),
        (false, false, false) => (ClientStatus::Complete, "All tasks have completed"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(tasks: &[&str], expected: &str) {
        let states: Vec<_> = tasks
            .iter()
            .map(|word| TaskState {
                phase: match *word {
                    "pending" => TaskPhase::Pending,
                    "running" => TaskPhase::Running,
                    _ => TaskPhase::Dead,
                },
                failed: *word == "failed",
                ..TaskState::default()
            })
            .collect();
        let (status, description) = client_status(&states);
        assert_eq!(format!("{}: {description}", status.word()), expected);
    }

    #[test]
    fn running_before_pending_before_ends() {
        check(&["pending"], "pending: No tasks have started");
        check(&["pending", "running"], "running: Tasks are running");
        check(&["running", "dead"], "running: Tasks are running");
        check(&["running", "failed"], "running: Tasks are running");
        check(&["pending", "failed"], "running: Tasks are running");
        check(&["dead", "pending"], "pending: No tasks have started");
        check(&["dead", "failed"], "failed: Failed tasks");
        check(&["dead", "dead"], "complete: All tasks have completed");
    }
}
