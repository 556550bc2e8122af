use std::collections::BTreeSet;
use std::mem;

use longshore_model::{ImageRef, Timestamp};

use super::Keeper;
use crate::{Hold, Need, Notice, Owner, Row};

/// What the last comparison of holds with the node's allocations found to differ.
#[derive(Debug, Default)]
pub(crate) struct Differences {
    /// Holds whose owner the node does not know, with the time at which they were taken.
    strays: BTreeSet<(Owner, ImageRef, Timestamp)>,
    /// Owners that live and hold nothing.
    missing: BTreeSet<Owner>,
}

impl Keeper {
    /// Repairs what differed the last time too. Before the comparison after the start there is nothing to go by.
    pub(super) fn compared(&mut self, live: Vec<Owner>, needs: Vec<Need>) {
        if !self.recovery.is_compared() {
            return;
        }
        let live: BTreeSet<_> = live.into_iter().collect();
        let before = mem::take(&mut self.differences);
        let mut now = Differences::default();
        for hold in self.strays(&live) {
            let stray = (hold.owner.clone(), hold.name.clone(), hold.since);
            if before.strays.contains(&stray) {
                self.row(Row::ComparedDrop);
                self.drop_stray(&hold);
            } else {
                now.strays.insert(stray);
            }
        }
        for Need { owner, name } in needs {
            if self.books.holds_of(&owner).next().is_some() {
                continue;
            }
            if before.missing.contains(&owner) {
                self.row(Row::ComparedTake);
                self.take_hold(&owner, &name);
                self.tell(Notice::HoldMissed { owner, name });
            } else {
                now.missing.insert(owner);
            }
        }
        self.differences = now;
        self.finish_handovers();
    }

    /// Holds of allocations that are not among those that live. What lingers for a successor has an owner that ended.
    pub(super) fn strays(&self, live: &BTreeSet<Owner>) -> Vec<Hold> {
        let is_stray =
            |hold: &&Hold| hold.owner.alloc().is_some() && hold.ended_at.is_none() && !live.contains(&hold.owner);
        self.books.holds().filter(is_stray).cloned().collect()
    }

    /// Nobody knows the hold's owner.
    pub(super) fn drop_stray(&mut self, hold: &Hold) {
        let (owner, name) = (hold.owner.clone(), hold.name.clone());
        self.drop_waiter(&owner);
        let before = self.books.holders(&name);
        self.books.drop_hold(&owner, &name);
        self.date_end(hold, self.now);
        self.tell(Notice::HoldDropped { owner, name, before, after: before.saturating_sub(1) });
    }
}
