use std::collections::BTreeSet;

use longshore_model::ImageRef;

use super::Keeper;
use crate::{Owner, Row};

impl Keeper {
    /// What the agent's settings need now.
    pub(super) fn agent_needs(&mut self, names: Vec<ImageRef>) {
        for name in &names {
            if self.books.hold(&Owner::Agent, name).is_none() {
                self.row(Row::AgentNeeds);
                self.take_hold(&Owner::Agent, name);
            }
        }
        self.agent_needs = Some(names.into_iter().collect());
    }

    /// Lets go of what the settings have no need of any more, as soon as no network stands on it. Before the comparison
    /// nothing is given back: which networks there are is not known.
    pub(super) fn pass_agent(&mut self) {
        let Some(needed) = self.agent_needs.as_ref().filter(|_| self.recovery.is_compared()) else { return };
        let held = self.books.holds_of(&Owner::Agent).map(|hold| &hold.name);
        let over: BTreeSet<_> = held.filter(|name| !needed.contains(*name)).cloned().collect();
        for name in over {
            if self.books.holds_on(&name).any(|hold| matches!(hold.owner, Owner::Network(_))) {
                continue;
            }
            self.row(Row::AgentNeedOver);
            self.release(&Owner::Agent, &name, self.now);
        }
    }
}
