use std::collections::BTreeSet;

use longshore_model::{ImageRef, Timestamp};

use super::{Keeper, Target};
use crate::{Binding, ContentState, Fault, LookId, Notice, Owner, Row};

/// How far the comparison after a start has come (K10). The allocations are compared once in the agent's life, the engine
/// is listed anew after each time that it was lost.
#[derive(Debug, Default)]
pub(crate) struct Recovery {
    allocations: Option<Allocations>,
    compared: bool,
    /// The first look that shows the engine as it is since it came back.
    engine_look: Option<LookId>,
    listed: bool,
    /// Owners that have been heard of since the start, so that they are known whatever the node's record says.
    accepted: BTreeSet<Owner>,
    /// Ends that came before the comparison: dealt with in it.
    deferred: Vec<(Owner, Timestamp)>,
    /// Names with a pull or load that was under way at the crash.
    under_way: BTreeSet<ImageRef>,
}

#[derive(Debug)]
struct Allocations {
    live: Vec<Owner>,
    ended: Vec<(Owner, Timestamp)>,
}

impl Recovery {
    pub(crate) fn is_done(&self) -> bool {
        self.compared && self.listed
    }

    pub(crate) fn is_compared(&self) -> bool {
        self.compared
    }

    /// Whether ends are only noted, so that they are dated and dropped in one step with the comparison.
    pub(crate) fn defers(&self) -> bool {
        !self.compared
    }

    pub(crate) fn defer(&mut self, owner: Owner, at: Timestamp) {
        self.accepted.remove(&owner);
        self.deferred.push((owner, at));
    }

    pub(crate) fn accepted(&mut self, owner: &Owner) {
        if !self.compared {
            self.accepted.insert(owner.clone());
        }
    }

    pub(crate) fn was_under_way(&self, name: &ImageRef) -> bool {
        self.under_way.contains(name)
    }
}

impl Keeper {
    /// What the ledger says was under way when the agent ended may have happened, or may still happen.
    pub(super) fn pick_up(&mut self) {
        let names: Vec<_> = self.books.names().cloned().collect();
        for record in names {
            let name = record.name;
            if self.fault == Fault::DueTimeLost && matches!(record.binding, Some(Binding::Idle { .. })) {
                self.books.bind(&name, None);
            }
            if record.intent.is_some() {
                self.recovery.under_way.insert(name.clone());
                self.expect_late(&name);
            }
            if let Some(Binding::Removing { content, idle_since, why } | Binding::Unsure { content, idle_since, why }) =
                record.binding
            {
                if self.removals.contains_key(&content) {
                    self.books.bind(&name, Some(Binding::Idle { content, idle_since }));
                } else {
                    self.books.bind(&name, Some(Binding::Unsure { content, idle_since, why }));
                    self.resume_unsure(Target::Name(name), content, why);
                }
            }
        }
        let contents: Vec<_> = self.books.contents().map(|record| (record.id, record.state)).collect();
        for (id, state) in contents {
            if let ContentState::Marked { why } = state
                && !self.removals.contains_key(&id)
            {
                self.resume_unsure(Target::Content(id), id, why);
            }
        }
    }

    pub(super) fn engine_back(&mut self) {
        self.engine_up = true;
        self.recovery.listed = false;
        let look = self.ask_look();
        self.recovery.engine_look = Some(look);
        if self.fault == Fault::BlindRepeat {
            self.repeat_blindly();
        }
    }

    pub(super) fn engine_lost(&mut self) {
        self.engine_up = false;
        self.recovery.listed = false;
        self.recovery.engine_look = None;
        self.call_off_removals(|_| true);
    }

    pub(super) fn restored(&mut self, live: Vec<Owner>, ended: Vec<(Owner, Timestamp)>) {
        self.recovery.allocations = Some(Allocations { live, ended });
        if self.recovery.listed {
            self.compare_allocations();
        }
    }

    /// A complete look has been taken in.
    pub(super) fn engine_listed(&mut self, look: LookId) {
        if self.recovery.engine_look.is_some_and(|wanted| wanted <= look) {
            self.recovery.engine_look = None;
            self.recovery.listed = true;
            self.compare_allocations();
        }
    }

    fn compare_allocations(&mut self) {
        let Some(Allocations { live, ended }) = self.recovery.allocations.take() else { return };
        let first = !self.recovery.compared;
        self.recovery.compared = true;
        let accepted = std::mem::take(&mut self.recovery.accepted);
        for (owner, at) in std::mem::take(&mut self.recovery.deferred) {
            self.ended(owner, at);
        }
        for (owner, at) in ended {
            if self.books.holds_of(&owner).any(|hold| hold.ended_at.is_none()) && !accepted.contains(&owner) {
                self.row(Row::RecoveredRelease);
                self.end_owner(&owner, at);
            }
        }
        let known: BTreeSet<_> = live.into_iter().chain(accepted).collect();
        for hold in self.strays(&known) {
            self.row(Row::RecoveredDrop);
            self.drop_stray(&hold);
        }
        self.finish_handovers();
        let orphans: Vec<_> = self
            .books
            .holds()
            .filter(|hold| hold.ended_at.is_some())
            .filter(|hold| hold.owner.alloc().and_then(|alloc| self.books.successor(alloc)).is_none())
            .cloned()
            .collect();
        for hold in orphans {
            self.release(&hold.owner, &hold.name, self.now);
        }
        if first {
            self.tell(Notice::Recovered);
        }
    }
}
