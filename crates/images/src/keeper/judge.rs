use longshore_model::{ContentId, ImageRef, Timestamp};
use longshore_values::Glob;

use super::{Keeper, Target};
use crate::need::Need;
use crate::policy::matches_name;
use crate::{Binding, ContentState, Fault, ForeignReason, Notice, Row};

impl Keeper {
    /// What needs the name at this content, if anything does (K1).
    pub(super) fn need_of_name(&self, name: &ImageRef, content: ContentId) -> Option<Need> {
        let held = self.books.holders(name);
        if held > 0 {
            return Some(Need::Held(held));
        }
        if self.books.is_lent(name) && self.fault != Fault::CollectsUsedForeign {
            return self.need_of_nameless(content);
        }
        if let Some(need) = self.wish_for(name) {
            return Some(need);
        }
        let made = |from: Option<&ImageRef>| from.is_none_or(|from| from == name || from.id().is_some());
        let mut containers = self.view.containers_of(content).iter();
        if let Some(container) = containers.find(|container| made(container.made_from.as_ref())) {
            return Some(Need::Container(container.id.clone()));
        }
        if self.is_last_tag(content, name)
            && self.fault != Fault::DigestNeedIgnored
            && let Some(digest) =
                self.view.digests_at(content, name).find(|digest| self.is_needed_itself(digest, content))
        {
            return Some(Need::DigestName(digest.clone()));
        }
        if let Some(coming) = self.coming_digest(name) {
            return Some(Need::DigestName(coming.clone()));
        }
        if self.is_last_name(content, name) { self.need_of_content(content) } else { None }
    }

    /// Whether the content has no other tag of the repository of this tag: then digest names fall with it. A tag that a pull
    /// or load of ours may be moving away does not count.
    fn is_last_tag(&self, id: ContentId, name: &ImageRef) -> bool {
        let another = |other: &ImageRef| other != name && other.tag().is_some() && other.same_repository(name);
        name.tag().is_some() && !self.staying_names(id).any(another)
    }

    /// What goes from the content's names with the removal of this one.
    pub(super) fn falls_with(&self, id: ContentId, name: &ImageRef) -> Vec<ImageRef> {
        let mut falling = vec![name.clone()];
        if self.is_last_tag(id, name) {
            falling.extend(self.view.digests_at(id, name).cloned());
        }
        falling
    }

    /// Whether the removal of this name would take the content with it, now or when a pull or load of ours that is under way
    /// has moved other names away.
    pub(super) fn is_last_name(&self, id: ContentId, name: &ImageRef) -> bool {
        let falls = self.is_last_tag(id, name);
        let stays =
            |other: &ImageRef| other != name && !(falls && other.digest().is_some() && other.same_repository(name));
        !self.staying_names(id).any(stays)
    }

    fn staying_names(&self, id: ContentId) -> impl Iterator<Item = &ImageRef> {
        let moving = |name: &ImageRef| self.books.name(name).is_some_and(|record| record.intent.is_some());
        self.view.names_at(id).iter().filter(move |name| !moving(name))
    }

    /// Pins and the `keep` setting.
    fn wish_for(&self, name: &ImageRef) -> Option<Need> {
        let pinned = self.books.pins().find(|pin| matches_name(&Glob::new(pin.pattern.as_str()), name));
        if let Some(pin) = pinned {
            return Some(Need::Pinned(pin.pattern.clone()));
        }
        self.policy.kept_by(name).map(|glob| Need::Kept(glob.as_str().to_owned()))
    }

    /// A digest name of the tag's repository that is being pulled: it may come to stand beside the tag, and would fall with
    /// it before its owner could be granted it.
    fn coming_digest(&self, tag: &ImageRef) -> Option<&ImageRef> {
        let coming = |name: &&ImageRef| name.digest().is_some() && name.same_repository(tag);
        self.fetches.keys().filter(|_| tag.tag().is_some()).find(coming)
    }

    /// Whether a digest name is needed on its own account, so that the last tag beside it has to stay.
    fn is_needed_itself(&self, digest: &ImageRef, content: ContentId) -> bool {
        let foreign = matches!(
            self.books.binding(digest),
            Some(Binding::Foreign { why: ForeignReason::Found | ForeignReason::TakenOver, .. })
        );
        let made_from_it = |from: Option<&ImageRef>| from == Some(digest);
        foreign && !self.policy.collects_foreign()
            || self.books.holders(digest) > 0
            || self.wish_for(digest).is_some()
            || self.view.containers_of(content).iter().any(|container| made_from_it(container.made_from.as_ref()))
    }

    /// What needs the content, under whatever name.
    fn need_of_content(&self, content: ContentId) -> Option<Need> {
        let held = self.books.content_holders(content).count() + self.books.holders(&ImageRef::from_id(content));
        if held > 0 {
            return Some(Need::ContentHeld(held));
        }
        if let Some(container) = self.view.containers_of(content).first() {
            return Some(Need::ContentContainer(container.id.clone()));
        }
        self.view.has_child(content).then_some(Need::Child)
    }

    /// What needs the content under any of its names, or under none.
    pub(super) fn need_of_nameless(&self, content: ContentId) -> Option<Need> {
        let names = self.view.names_at(content);
        let of_names = names.iter().find_map(|name| match self.books.holders(name) {
            0 => self.wish_for(name),
            held => Some(Need::Held(held)),
        });
        of_names.or_else(|| self.need_of_content(content))
    }

    /// Brings every binding and every nameless content of ours in line with what needs it.
    pub(super) fn judge(&mut self) {
        self.lend_foreign();
        let names: Vec<_> = self.books.names().filter_map(|r| Some((r.name.clone(), r.binding?))).collect();
        for (name, binding) in names {
            match binding {
                Binding::Held { content } if self.view.known => self.judge_held(&name, content),
                Binding::Idle { content, idle_since } => self.judge_idle(&name, content, idle_since),
                _ => {}
            }
        }
        let contents: Vec<_> = self.books.contents().map(|record| (record.id, record.idle_since)).collect();
        for (id, idle_since) in contents {
            self.judge_content(id, idle_since);
        }
    }

    fn judge_held(&mut self, name: &ImageRef, content: ContentId) {
        if self.need_of_name(name, content).is_some() {
            return;
        }
        let idle_since = self.ended_names.get(name).copied().unwrap_or(self.now);
        self.row(Row::NeedEnded);
        self.books.bind(name, Some(Binding::Idle { content, idle_since }));
        let due_at = self.due_at(idle_since);
        self.tell(Notice::Idle { name: name.clone(), content, due_at });
    }

    fn judge_idle(&mut self, name: &ImageRef, content: ContentId, idle_since: Timestamp) {
        let need = self.need_of_name(name, content);
        if self.books.is_lent(name) && (need.is_some() || !self.policy.collects_foreign()) {
            self.give_back(name, content);
        } else if let Some(need) = need {
            self.row(match need {
                Need::Held(_) => Row::IdleWanted,
                Need::Pinned(_) => Row::IdlePinned,
                Need::Kept(_) => Row::IdleKept,
                _ => Row::IdleInUse,
            });
            let target = Target::Name(name.clone());
            self.backoffs.remove(&target);
            self.asked.remove(&target);
            self.books.bind(name, Some(Binding::Held { content }));
        } else if idle_since > self.now {
            self.books.bind(name, Some(Binding::Idle { content, idle_since: self.now }));
        }
    }

    fn judge_content(&mut self, id: ContentId, idle_since: Option<Timestamp>) {
        if self.need_of_nameless(id).is_some() {
            if idle_since.is_some() {
                self.backoffs.remove(&Target::Content(id));
                self.asked.remove(&Target::Content(id));
                self.books.date_content(id, None);
            }
        } else if let Some(idle_since) = idle_since {
            self.books.date_content(id, Some(idle_since.min(self.now)));
        } else if self.view.known {
            let ended = self.ended_contents.get(&id).copied().unwrap_or(self.now);
            self.books.date_content(id, Some(ended));
        }
    }

    /// The next time at which something becomes due.
    pub(super) fn next_due_at(&self) -> Option<Timestamp> {
        if !self.policy.image || !self.may_remove() {
            return None;
        }
        let names = self.books.names().filter_map(|record| match record.binding? {
            Binding::Idle { idle_since, .. } => Some(idle_since),
            _ => None,
        });
        let nameless = |state| matches!(state, ContentState::Nameless | ContentState::Marked { .. });
        let contents = self.books.contents().filter(|record| nameless(record.state)).filter_map(|r| r.idle_since);
        names.chain(contents).filter_map(|idle_since| self.due_at(idle_since)).filter(|due_at| *due_at > self.now).min()
    }
}
