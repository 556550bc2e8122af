use longshore_model::{ContentId, ImageRef, Timestamp};

use super::{Keeper, LOOK_AGAIN, LOOK_PERIOD};
use crate::{
    Action, Binding, ContentState, End, Fault, ForeignReason, LookId, Notice, Row, Seen, is_private, private_name,
};

/// Which looks were asked for and are still out. One at a time: of two that overlap, the one that was asked for later may
/// show what was earlier.
#[derive(Debug)]
pub(crate) struct Looks {
    next: LookId,
    /// Asked for, and to be issued when the engine is up and no other is out.
    unissued: Option<LookId>,
    outstanding: Option<LookId>,
    retry_at: Option<Timestamp>,
    periodic_at: Option<Timestamp>,
    /// Whether people have been told that the engine cannot be read in full.
    told_unreadable: bool,
}

impl Default for Looks {
    fn default() -> Self {
        Self {
            next: LookId(1),
            unissued: None,
            outstanding: None,
            retry_at: None,
            periodic_at: None,
            told_unreadable: false,
        }
    }
}

impl Looks {
    pub(crate) fn wake_at(&self) -> Option<Timestamp> {
        self.retry_at.into_iter().chain(self.periodic_at).min()
    }
}

impl Keeper {
    /// A look that begins after this step: all questions of one step share one.
    pub(super) fn ask_look(&mut self) -> LookId {
        match self.looks.unissued {
            Some(look) => look,
            None => {
                let look = self.looks.next;
                self.looks.next = LookId(look.0 + 1);
                self.looks.unissued = Some(look);
                look
            }
        }
    }

    pub(super) fn issue_look(&mut self) {
        if !self.engine_up || self.looks.outstanding.is_some() {
            return;
        }
        if let Some(look) = self.looks.unissued.take() {
            self.looks.outstanding = Some(look);
            self.looks.retry_at = None;
            self.actions.push(Action::Look { look });
        }
    }

    /// Asks again for what failed, and from time to time for what nobody told.
    pub(super) fn pass_looks(&mut self) {
        if !self.engine_up {
            self.looks.retry_at = None;
            self.looks.periodic_at = None;
            return;
        }
        let now = self.now;
        self.looks.retry_at = self.looks.retry_at.map(|at| at.min(now.plus(LOOK_AGAIN)));
        self.looks.periodic_at = self.looks.periodic_at.map(|at| at.min(now.plus(LOOK_PERIOD)));
        if self.looks.retry_at.is_some_and(|at| at <= now) {
            self.looks.retry_at = None;
            self.ask_look();
        }
        let ours = self.books.names().next().is_some() || self.books.contents().next().is_some();
        let ours = ours || self.policy.collects_foreign();
        match self.looks.periodic_at {
            Some(at) if at <= now => {
                self.looks.periodic_at = ours.then(|| now.plus(LOOK_PERIOD));
                self.ask_look();
            }
            None if ours => self.looks.periodic_at = Some(now.plus(LOOK_PERIOD)),
            _ => {}
        }
    }

    pub(super) fn look_failed(&mut self, look: LookId, message: String) {
        self.looks.outstanding.take_if(|out| *out == look);
        self.look_again(message);
    }

    fn look_again(&mut self, what: String) {
        self.looks.retry_at.get_or_insert(self.now.plus(LOOK_AGAIN));
        if !self.looks.told_unreadable {
            self.looks.told_unreadable = true;
            self.tell(Notice::CannotSee { what });
        }
    }

    pub(super) fn looked(&mut self, look: LookId, mut seen: Seen) {
        self.looks.outstanding.take_if(|out| *out == look);
        if look <= self.view.applied {
            return;
        }
        if self.fault == Fault::UnknownIsNo {
            seen.unreadable.clear();
        }
        if seen.is_complete() {
            self.looks.told_unreadable = false;
        } else {
            self.look_again(seen.unreadable.join(", "));
        }
        self.view.take(look, seen);
        self.settle_fetches();
        if self.view.complete {
            self.space.has_looked();
            self.name_barriers.retain(|_, barrier| *barrier > look);
            self.content_barriers.retain(|_, barrier| *barrier > look);
            self.settle_late_intents();
            self.settle_taken();
            self.reconcile_names();
            self.reconcile_contents();
            self.removals_looked(look);
            self.engine_listed(look);
        } else {
            self.count_blind_waiters();
        }
    }

    /// Whether looks so far say nothing about the name yet: an act of ours on it is not finished, or ended since.
    pub(super) fn is_unsettled(&self, name: &ImageRef) -> bool {
        self.fetches.contains_key(name) || self.name_barriers.contains_key(name)
    }

    fn reconcile_names(&mut self) {
        let names: Vec<_> = self.books.names().filter_map(|r| Some((r.name.clone(), r.binding?))).collect();
        for (name, binding) in names {
            let at = self.view.at(&name);
            if at == Some(binding.content()) || self.is_unsettled(&name) {
                continue;
            }
            match binding {
                Binding::Foreign { since, why, .. } => {
                    self.books.bind(&name, at.map(|content| Binding::Foreign { content, since, why }));
                }
                Binding::Held { content } | Binding::Idle { content, .. } => self.others_changed(&name, content, at),
                Binding::Removing { .. } | Binding::Unsure { .. } => {}
            }
        }
    }

    /// A name of ours is not where we left it, and we did not move it.
    pub(super) fn others_changed(&mut self, name: &ImageRef, content: ContentId, now_at: Option<ContentId>) {
        match now_at {
            // It was theirs all the time.
            Some(now_at) if self.books.is_lent(name) => self.make_foreign(name, now_at, ForeignReason::Found),
            None if self.books.is_lent(name) => self.forget_name(name),
            Some(now_at) if self.fault == Fault::KeepsMoved => {
                self.books.bind(name, Some(Binding::Held { content: now_at }));
            }
            Some(now_at) => {
                self.row(Row::MovedByOthers);
                self.tell(Notice::MovedByOthers { name: name.clone(), content, now_at });
                self.make_foreign(name, now_at, ForeignReason::Moved);
            }
            None => {
                self.row(Row::RemovedByOthers);
                self.remember(name, content, End::ByOthers);
                self.tell(Notice::RemovedByOthers { name: name.clone(), content });
                self.forget_name(name);
            }
        }
    }

    pub(super) fn make_foreign(&mut self, name: &ImageRef, content: ContentId, why: ForeignReason) {
        let since = self.now;
        self.forget_name(name);
        self.books.bind(name, Some(Binding::Foreign { content, since, why }));
    }

    /// The name is not ours any more. A pull that may still be late starts from what is there now.
    pub(super) fn forget_name(&mut self, name: &ImageRef) {
        let target = super::Target::Name(name.clone());
        self.backoffs.remove(&target);
        self.asked.remove(&target);
        let before = self.view.at(name).map_or(crate::Before::Absent, crate::Before::At);
        self.books.change_name(name, |record| {
            record.binding = None;
            if let Some(intent) = &mut record.intent {
                intent.before = before;
            }
        });
    }

    fn reconcile_contents(&mut self) {
        let contents: Vec<_> = self.books.contents().map(|record| (record.id, record.state)).collect();
        for (id, state) in contents {
            if self.removals.contains_key(&id) || self.content_barriers.contains_key(&id) {
                continue;
            }
            if self.view.image(id).is_none() {
                self.books.drop_content(id);
                continue;
            }
            let is_marked = self.view.at(&private_name(id)) == Some(id);
            match (state, self.is_named(id)) {
                (ContentState::Named | ContentState::Left, false) if is_marked => {
                    self.books.change_content(id, ContentState::Nameless);
                }
                (ContentState::Named, false) if !self.may_be_moving(id) => self.leave_nameless(id),
                (ContentState::Nameless | ContentState::Marked { .. }, true) => {
                    self.row(Row::ContentNamedAgain);
                    self.books.change_content(id, ContentState::Named);
                }
                (ContentState::Theirs, _) if !is_marked => self.books.drop_content(id),
                (ContentState::Left, true) => self.books.change_content(id, ContentState::Named),
                _ => {}
            }
        }
    }

    /// Whether a name stands on the content that is neither private nor a digest name which only our pulls left.
    pub(super) fn is_named(&self, id: ContentId) -> bool {
        let left = |name: &ImageRef| {
            self.books.content(id).is_some_and(|record| record.digest_names.contains(name))
                && self.books.binding(name).is_none()
        };
        self.view.names_at(id).iter().any(|name| !is_private(name) && !left(name))
    }

    /// Whether a pull or load of ours that is not settled may be what moved a name away from the content.
    fn may_be_moving(&self, id: ContentId) -> bool {
        self.books.names().any(|record| {
            record.intent.as_ref().is_some_and(|intent| intent.before == crate::Before::At(id))
                || record.binding.is_some_and(|b| b.content() == id) && self.is_unsettled(&record.name)
        })
    }

    /// Others took the last name of the content: it is not ours to remove.
    pub(super) fn leave_nameless(&mut self, id: ContentId) {
        let size_bytes = self.view.size_bytes(id);
        self.books.change_content(id, ContentState::Left);
        self.tell(Notice::LeftNameless { content: id, size_bytes });
    }
}
