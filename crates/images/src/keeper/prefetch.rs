use std::collections::BTreeSet;

use longshore_model::{ImageRef, Timestamp};

use super::Keeper;
use crate::{Hold, Owner, Row};

impl Keeper {
    /// A server, or a person, wishes for a name here, until then.
    pub(super) fn wished(&mut self, owner: &Owner, name: &ImageRef, expires_at: Timestamp) {
        if let Some(wished) = &mut self.still_wished {
            wished.insert(owner.clone());
        }
        self.take_hold(owner, name);
        if let Some(hold) = self.books.hold(owner, name).filter(|hold| hold.expires_at != Some(expires_at)) {
            let hold = Hold { expires_at: Some(expires_at), ..hold.clone() };
            self.books.put_hold(hold);
        }
    }

    /// All that is wished for still: nobody waits for the rest any more, and what it holds is given back.
    pub(super) fn are_still_wished(&mut self, owners: Vec<Owner>) {
        let wished: BTreeSet<_> = owners.into_iter().collect();
        let waiting = self.waiters.keys().filter(|owner| owner.is_prefetch() && !wished.contains(owner));
        for owner in waiting.cloned().collect::<Vec<_>>() {
            self.drop_waiter(&owner);
        }
        self.still_wished = Some(wished);
    }

    /// Lets go of what nobody wishes for any more, and of what was wished for too long ago. Before the comparison nothing
    /// is given back: what becomes idle by it is dated in the step in which it can be seen.
    pub(super) fn pass_wishes(&mut self) {
        let now = self.now;
        let expired = self.wishes().filter_map(|hold| Some((hold.owner.clone(), hold.expires_at?)));
        let expired: Vec<_> = expired.filter(|(_, expires_at)| *expires_at <= now).collect();
        if !self.recovery.is_compared() {
            expired.iter().for_each(|(owner, _)| self.drop_waiter(owner));
            return;
        }
        for (owner, expires_at) in expired {
            self.row(Row::PrefetchExpired);
            self.end_owner(&owner, expires_at);
        }
        let Some(wished) = self.still_wished.take() else { return };
        let over: BTreeSet<_> = self.prefetching().map(|hold| &hold.owner).filter(|it| !wished.contains(it)).collect();
        for owner in over.into_iter().cloned().collect::<Vec<_>>() {
            self.row(Row::PrefetchOver);
            self.end_owner(&owner, now);
        }
    }

    pub(super) fn next_expiry_at(&self) -> Option<Timestamp> {
        let expiries = self.wishes().filter_map(|hold| hold.expires_at);
        expiries.filter(|_| self.recovery.is_compared()).min()
    }

    fn wishes(&self) -> impl Iterator<Item = &Hold> {
        self.books.holds().filter(|hold| hold.owner.is_wish())
    }

    fn prefetching(&self) -> impl Iterator<Item = &Hold> {
        self.wishes().filter(|hold| hold.owner.is_prefetch())
    }
}
