use longshore_model::{AllocId, ContentId, ImageRef, Timestamp};

use super::Keeper;
use crate::{Fault, Handover, Hold, Need, Notice, Owner, Row};

impl Keeper {
    pub(super) fn accept(&mut self, alloc: AllocId, needs: Vec<Need>, replaces: Option<AllocId>) {
        for need in needs {
            self.recovery.accepted(&need.owner);
            let looks_first = self.fault == Fault::CheckBeforeHold && self.view.at(&need.name).is_none();
            if self.books.holds_of(&need.owner).next().is_none() && !looks_first {
                self.take_hold(&need.owner, &need.name);
            }
        }
        if let Some(predecessor) = replaces
            && predecessor != alloc
            && self.books.holds_of_alloc(predecessor).next().is_some()
        {
            self.books.put_handover(Handover { predecessor, successor: alloc });
        }
        self.finish_handovers();
    }

    pub(super) fn take_hold(&mut self, owner: &Owner, name: &ImageRef) {
        if self.books.hold(owner, name).is_some() {
            return;
        }
        let before = self.books.holders(name);
        self.books.put_hold(Hold {
            owner: owner.clone(),
            name: name.clone(),
            since: self.now,
            granted: None,
            in_use: None,
            ended_at: None,
            expires_at: None,
        });
        self.tell(Notice::HoldTaken { owner: owner.clone(), name: name.clone(), before, after: before + 1 });
        self.call_off_removals(|removal| removal.removes(name));
    }

    /// The container is there: what the owner held before under other names, or of other content, can go.
    pub(super) fn container_made(&mut self, owner: &Owner, name: &ImageRef, content: ContentId) {
        let Some(hold) = self.books.hold(owner, name) else { return };
        let hold = Hold { granted: Some(content), in_use: Some(content), ..hold.clone() };
        self.books.put_hold(hold);
        let others: Vec<_> = self.books.holds_of(owner).map(|hold| hold.name.clone()).filter(|n| n != name).collect();
        for other in others {
            self.release(owner, &other, self.now);
        }
        self.ask_look();
    }

    pub(super) fn ended(&mut self, owner: Owner, at: Timestamp) {
        if self.recovery.defers() {
            self.drop_waiter(&owner);
            self.recovery.defer(owner, at);
        } else {
            if self.books.holds_of(&owner).next().is_none() {
                self.tell(Notice::ReleaseWithoutHold { owner: owner.clone() });
            }
            self.end_owner(&owner, at);
        }
    }

    /// Gives back what the owner holds, or lets it linger for a successor (K7).
    pub(super) fn end_owner(&mut self, owner: &Owner, at: Timestamp) {
        self.drop_waiter(owner);
        let holds: Vec<_> = self.books.holds_of(owner).filter(|hold| hold.ended_at.is_none()).cloned().collect();
        for hold in holds {
            if self.lingers(&hold) {
                self.row(Row::HandoverLingers);
                self.tell(Notice::HoldLingers { owner: owner.clone(), name: hold.name.clone() });
                self.books.put_hold(Hold { ended_at: Some(at), ..hold });
            } else {
                self.release(owner, &hold.name, at);
            }
        }
        self.finish_handovers();
    }

    pub(super) fn release(&mut self, owner: &Owner, name: &ImageRef, at: Timestamp) {
        let before = self.books.holders(name);
        if self.fault == Fault::UnpairedRelease && before > 1 {
            return;
        }
        let Some(hold) = self.books.drop_hold(owner, name) else { return };
        let after = self.books.holders(name);
        self.date_end(&hold, at);
        self.tell(Notice::HoldReturned { owner: owner.clone(), name: name.clone(), before, after });
    }

    /// What becomes idle by this in the same step is idle since then.
    pub(super) fn date_end(&mut self, hold: &Hold, at: Timestamp) {
        let at = at.min(self.now);
        if self.books.name(&hold.name).is_some() {
            self.books.change_name(&hold.name, |record| {
                record.last_used_at = record.last_used_at.max(Some(at));
                if let Some(binding) = &mut record.binding {
                    binding.not_idle_before(at);
                }
            });
        }
        let ended = self.ended_names.entry(hold.name.clone()).or_insert(at);
        *ended = at.max(*ended);
        let by_name = self.view.at(&hold.name);
        for id in hold.contents().chain(by_name) {
            let ended = self.ended_contents.entry(id).or_insert(at);
            *ended = at.max(*ended);
        }
    }

    /// Whether the hold of an owner that ended has to wait for the allocation that takes over: until that has been
    /// granted the image of the same task, or, when that is another image, any at all; or has ended.
    fn lingers(&self, hold: &Hold) -> bool {
        let Some(successor) = hold.owner.alloc().and_then(|alloc| self.books.successor(alloc)) else { return false };
        if self.fault == Fault::NoHandover {
            return false;
        }
        let live = || self.books.holds_of_alloc(successor).filter(|theirs| theirs.ended_at.is_none());
        let same_task = || live().filter(|theirs| same_role(&theirs.owner, &hold.owner));
        if same_task().any(|theirs| theirs.granted.is_some()) {
            return false;
        }
        if same_task().any(|theirs| theirs.name == hold.name) {
            return true;
        }
        live().next().is_some() && !live().any(|theirs| theirs.granted.is_some())
    }

    /// Lets go of what lingers no longer, and forgets handovers that are over.
    pub(super) fn finish_handovers(&mut self) {
        let handovers: Vec<_> = self.books.handovers().collect();
        for (predecessor, successor) in handovers {
            let waiting: Vec<_> =
                self.books.holds_of_alloc(predecessor).filter(|hold| hold.ended_at.is_some()).cloned().collect();
            for hold in waiting {
                if !self.lingers(&hold) {
                    self.row(Row::HandoverDone);
                    self.release(&hold.owner, &hold.name, self.now);
                }
            }
            let left = self.books.holds_of_alloc(predecessor).next().is_some();
            let taken_over = self.books.holds_of_alloc(successor).any(|hold| hold.ended_at.is_none());
            if !left || !taken_over {
                self.books.drop_handover(predecessor);
            }
        }
    }
}

/// The same task of another allocation, or another allocation's network for a network.
fn same_role(one: &Owner, other: &Owner) -> bool {
    match (one, other) {
        (Owner::Task { task: one, .. }, Owner::Task { task: other, .. }) => one == other,
        (Owner::Network(_), Owner::Network(_)) => true,
        _ => false,
    }
}
