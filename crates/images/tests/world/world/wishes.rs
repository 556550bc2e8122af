//! What servers wish for before they place it: asked for, brought, and over in one way or another.

use longshore_model::JobKey;

use super::*;

#[derive(Debug, Clone)]
pub(crate) struct Wish {
    pub(crate) name: ImageRef,
    expires_at: Timestamp,
    /// The keeper's hold was on disk once.
    pub(crate) recorded: bool,
}

impl World {
    /// A server wishes for something, or for one thing less.
    pub(super) fn wish(&mut self) {
        let owners: Vec<_> = self.wishes.keys().cloned().collect();
        if owners.len() > self.random.below(4) {
            if let Some(owner) = self.random.pick(&owners) {
                self.end_wish(&owner);
            }
            return;
        }
        let (job, group, task) = (JobKey::new("default", "web"), "g".to_owned(), "web".to_owned());
        let owner = Owner::Prefetch { job, version: self.next_wish, group, task };
        self.next_wish += 1;
        let spans = [2 * SECOND, 30 * SECOND, 3_600 * SECOND];
        let span = spans[self.random.below(spans.len())];
        let wish = Wish { name: self.pick_name(), expires_at: Timestamp(self.now + span), recorded: false };
        self.attempts.insert(owner.clone(), Attempt::Idle);
        self.wishes.insert(owner, wish);
        self.feed(Event::StillWished { owners: self.wishes.keys().cloned().collect() });
    }

    /// As a start attempt moves, without a container.
    pub(super) fn wish_moves(&mut self, owner: &Owner) {
        match &self.attempts[owner] {
            Attempt::Idle => {
                let Wish { name, expires_at, .. } = self.wishes[owner].clone();
                self.feed(Event::Wished { owner: owner.clone(), name: name.clone(), expires_at });
                if self.keeper.is_none() || !self.wishes.contains_key(owner) {
                    return;
                }
                let access = "some".to_owned();
                self.attempts.insert(owner.clone(), Attempt::Asked { name: name.clone(), fresh: false });
                let (owner, fresh) = (owner.clone(), false);
                self.feed(Event::Wanted(Want {
                    owner,
                    name,
                    fresh,
                    local_copy: false,
                    access,
                    platform: None,
                    archive: None,
                }));
            }
            Attempt::Asked { .. } => {
                if self.random.one_in(12) {
                    self.attempts.insert(owner.clone(), Attempt::Idle);
                    self.feed(Event::GaveUp { owner: owner.clone() });
                }
            }
            Attempt::Granted { .. } | Attempt::Created { .. } | Attempt::Running { .. } => {}
        }
    }

    pub(super) fn end_wish(&mut self, owner: &Owner) {
        self.wishes.remove(owner);
        self.attempts.remove(owner);
        self.stopping.remove(owner);
        self.feed(Event::StillWished { owners: self.wishes.keys().cloned().collect() });
    }

    pub(super) fn wishes_told(&mut self, owners: &[Owner]) {
        let held = self.ledger_entries().into_iter().filter_map(|entry| match entry {
            Entry::Hold(hold) if hold.expires_at.is_some() && !owners.contains(&hold.owner) => Some(hold.owner),
            _ => None,
        });
        self.wishes_over.extend(held);
    }

    /// The end comes by itself, at the first step after its time: a clock that steps back before that puts it off.
    pub(super) fn wishes_expire(&mut self) {
        if self.keeper.is_none() {
            return;
        }
        let now = self.timestamp();
        let over: Vec<_> =
            self.wishes.iter().filter(|(_, wish)| wish.expires_at <= now).map(|(it, _)| it.clone()).collect();
        for owner in over {
            self.wishes.remove(&owner);
            self.attempts.remove(&owner);
            self.stopping.remove(&owner);
        }
    }
}
