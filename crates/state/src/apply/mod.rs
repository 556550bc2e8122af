//! How each change moves the state; one module a noun.

mod allocation;
mod deployment;
mod evaluation;
mod job;
mod node;
mod plan;
mod wish;

pub(crate) use wish::wished_nodes;

use longshore_model::{LogIndex, Timestamp};

use crate::{Change, Effect, State, Table};

/// Where and when a change happens, and what follows from it.
pub(crate) struct Step {
    pub(crate) index: LogIndex,
    pub(crate) now: Timestamp,
    pub(crate) effects: Vec<Effect>,
}

impl State {
    /// Moves the state by one change. `index` must be above every index before; `now` is the proposer's clock.
    pub fn apply(&mut self, index: LogIndex, now: Timestamp, change: Change) -> Vec<Effect> {
        let mut step = Step { index, now, effects: Vec::new() };
        match change {
            Change::Job(change) => self.apply_job(&mut step, *change),
            Change::Evaluation(change) => self.apply_evaluation(&mut step, change),
            Change::Allocation(change) => self.apply_allocation(&mut step, change),
            Change::Node(change) => self.apply_node(&mut step, change),
            Change::Deployment(change) => self.apply_deployment(&mut step, *change),
            Change::Plan(change) => self.apply_plan(&mut step, *change),
        }
        self.index = index;
        step.effects.sort_unstable();
        step.effects.dedup();
        step.effects
    }

    pub(crate) fn touch(&mut self, table: Table, index: LogIndex) {
        self.table_indexes.insert(table, index);
    }
}
