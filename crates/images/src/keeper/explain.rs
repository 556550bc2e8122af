use std::collections::BTreeSet;

use longshore_model::{ContentId, ImageRef, Provenance, Timestamp};
use longshore_values::Glob;

use super::{Keeper, Target};
use crate::policy::matches_name;
use crate::{
    Binding, ContentState, Explanation, FetchFailure, ForeignReason, ImageStatus, LastFailure, NameRecord, Pin,
    StateWord,
};

/// So many names' last failures are remembered.
const FAILURES_MAX: usize = 256;

impl Keeper {
    /// Every name that is known, sorted, and after them content without any. Digest names that only stand beside tags of
    /// ours, and go with them, are not told on their own.
    pub fn status(&self) -> Vec<ImageStatus> {
        let mut names = BTreeSet::new();
        let mut nameless = BTreeSet::new();
        for image in self.view.images() {
            if self.is_named(image.id) {
                names.extend(image.names.iter());
            } else {
                nameless.insert(image.id);
            }
        }
        // A pull that failed leaves a record for the case that something still comes of it: nothing to show.
        let shows = |record: &&NameRecord| record.binding.is_some() || self.is_pulling(&record.name);
        names.extend(self.books.names().filter(shows).map(|record| &record.name));
        names.extend(self.books.holds().filter(|hold| hold.owner.asks()).map(|hold| &hold.name));
        names
            .retain(|name| self.view.at(name).is_none_or(|at| !nameless.contains(&at)) || self.books.holders(name) > 0);
        names.retain(|name| self.goes_with(name).is_none());
        names
            .into_iter()
            .map(|name| self.name_status(name))
            .chain(nameless.into_iter().map(|id| self.nameless_status(id)))
            .collect()
    }

    /// Everything that bears on one name: none when it is neither on the engine nor on record, and no story tells of it.
    pub fn explain(&self, name: &ImageRef) -> Option<Explanation> {
        let held = self.books.holders(name) > 0;
        let last_failure = self.failures.get(name).cloned();
        let last_story = self.story(name).cloned();
        let is_known = self.view.at(name).is_some() || self.books.name(name).is_some() || held;
        if !is_known && last_failure.is_none() && last_story.is_none() {
            return None;
        }
        let status = self.name_status(name);
        let names = status.content.map_or(&[][..], |content| self.view.names_at(content));
        let other_names = names.iter().filter(|other| *other != name).cloned().collect();
        let last_refusal = self.backoffs.get(&Target::Name(name.clone())).map(|backoff| backoff.message.clone());
        let waiters = self.waiters.iter().filter(|(_, waiter)| waiter.want.name == *name);
        Some(Explanation {
            status,
            other_names,
            last_refusal,
            last_failure,
            goes_with: self.goes_with(name).cloned(),
            waiters: waiters.map(|(owner, _)| owner.clone()).collect(),
            last_story,
            paused: self.paused().cloned(),
            removals_allowed: self.may_remove(),
            policy: self.policy.clone(),
        })
    }

    /// Every pin, with the names that are known and match it.
    pub fn pins(&self) -> Vec<(Pin, Vec<ImageRef>)> {
        let names: BTreeSet<_> = self.status().into_iter().filter_map(|image| image.name).collect();
        let matching = |pattern: &str| {
            let glob = Glob::new(pattern);
            names.iter().filter(|name| matches_name(&glob, name)).cloned().collect()
        };
        self.books.pins().map(|pin| (pin.clone(), matching(&pin.pattern))).collect()
    }

    fn name_status(&self, name: &ImageRef) -> ImageStatus {
        if let Some(tag) = self.goes_with(name) {
            let why = format!("it goes with {}", tag.familiar());
            return ImageStatus { name: Some(name.clone()), why, ..self.name_status(tag) };
        }
        let record = self.books.name(name);
        let binding = record.and_then(|record| record.binding);
        let content = binding.map(|binding| binding.content()).or_else(|| self.view.at(name));
        let image = content.and_then(|id| self.view.image(id));
        let target = Target::Name(name.clone());
        let idle_since = binding.and_then(|binding| binding.idle_since());
        let may_go = self.may_ever_go(&target);
        let retry_at = self.backoffs.get(&target).map(|backoff| backoff.retry_at);
        let mut due_at = idle_since.filter(|_| may_go).and_then(|idle_since| self.due_at(idle_since));
        if due_at.is_some() {
            due_at = due_at.max(retry_at).max(self.pause_ends_at());
        }
        let needs = |from: Option<&ImageRef>| from.is_none_or(|from| from == name || from.id().is_some());
        let containers = content.map_or(&[][..], |id| self.view.containers_of(id));
        ImageStatus {
            name: Some(name.clone()),
            content,
            size_bytes: image.map(|image| image.size_bytes),
            provenance: match binding {
                Some(_) if self.books.is_obtained(name) => Provenance::Obtained,
                _ if content.is_some() => Provenance::Foreign,
                _ => Provenance::Absent,
            },
            state: self.state_word(name, binding, content),
            holders: self.books.holds_on(name).cloned().collect(),
            containers: containers.iter().filter(|c| needs(c.made_from.as_ref())).map(|c| c.id.clone()).collect(),
            holds: self.books.holders(name),
            content_holds: content.map_or(self.books.holders(name), |id| self.content_holds(id)),
            why: self.why_it_stays(name, binding, content),
            idle_since,
            due_at,
            retry_at,
            last_used_at: record.and_then(|record| record.last_used_at),
            uses: record.map_or(0, |record| record.uses),
        }
    }

    /// The tag of ours that a digest name goes with: one that nobody needs or brought for itself, beside tags of its
    /// repository that are all ours. The engine drops it with the last of them.
    fn goes_with(&self, name: &ImageRef) -> Option<&ImageRef> {
        let content = self.view.at(name).filter(|_| name.digest().is_some())?;
        if self.books.binding(name).is_some() || self.books.holders(name) > 0 || self.is_pulling(name) {
            return None;
        }
        let is_ours = |tag: &ImageRef| {
            let binding = self.books.binding(tag);
            binding.is_some_and(|binding| binding.is_obtained() && binding.content() == content)
        };
        let beside = |other: &&ImageRef| other.tag().is_some() && other.same_repository(name);
        let mut tags = self.view.names_at(content).iter().filter(beside);
        let first = tags.next()?;
        (is_ours(first) && tags.all(is_ours)).then_some(first)
    }

    /// Whether somebody waits for a pull or load of the name.
    fn is_pulling(&self, name: &ImageRef) -> bool {
        self.fetches.get(name).is_some_and(|fetch| !fetch.cancelled)
    }

    fn state_word(&self, name: &ImageRef, binding: Option<Binding>, content: Option<ContentId>) -> StateWord {
        if self.is_pulling(name) {
            return StateWord::Pulling;
        }
        match binding {
            Some(Binding::Held { .. }) => StateWord::Held,
            Some(Binding::Idle { .. }) => StateWord::Idle,
            Some(Binding::Removing { .. }) => StateWord::Removing,
            Some(Binding::Unsure { .. }) => StateWord::Unsure,
            Some(Binding::Foreign { .. }) => StateWord::Foreign,
            None if content.is_some() => StateWord::Foreign,
            None => StateWord::Absent,
        }
    }

    fn why_it_stays(&self, name: &ImageRef, binding: Option<Binding>, content: Option<ContentId>) -> String {
        if self.is_pulling(name) {
            return "being pulled".to_owned();
        }
        match (binding, content) {
            (None | Some(Binding::Foreign { .. }), Some(content)) if self.policy.collects_foreign() => {
                let need = self.need_of_nameless(content).or_else(|| self.need_of_name(name, content));
                let why = need.map_or_else(|| "not seen to be idle yet".to_owned(), |need| need.to_string());
                format!("others brought it; {why}")
            }
            (Some(Binding::Foreign { why, .. }), _) => match why {
                ForeignReason::Found => "others brought it".to_owned(),
                ForeignReason::TakenOver => "others pulled, loaded or tagged it after us".to_owned(),
                ForeignReason::Moved => "others moved it after us".to_owned(),
                ForeignReason::Unproven => "it cannot be shown that we brought it".to_owned(),
                ForeignReason::KeptByOthers => "another agent keeps this engine's images".to_owned(),
            },
            (Some(Binding::Removing { why, .. }), _) => format!("being removed: {why}"),
            (Some(Binding::Unsure { .. }), _) => "its removal was not answered; being looked at".to_owned(),
            (Some(binding), Some(content)) => match self.need_of_name(name, content) {
                Some(need) => need.to_string(),
                None => {
                    let why = self.why_not_yet(&Target::Name(name.clone()), binding.idle_since());
                    match self.books.is_lent(name) {
                        true => format!("others brought it, and gc.foreign is \"collect\"; {why}"),
                        false => why,
                    }
                }
            },
            (None, Some(_)) => "others brought it".to_owned(),
            _ => {
                let wanted = match self.books.holders(name) {
                    0 => String::new(),
                    held => format!(", wanted by {held}"),
                };
                let failed = self.failures.get(name).map(|last| format!("; {last}")).unwrap_or_default();
                format!("not on the engine{wanted}{failed}")
            }
        }
    }

    /// Whether the settings, or a person, let it go at all.
    fn may_ever_go(&self, target: &Target) -> bool {
        !self.policy.kept_by_others && (self.policy.image || self.asked.contains(target))
    }

    /// Why something that nothing needs is still there.
    fn why_not_yet(&self, target: &Target, idle_since: Option<Timestamp>) -> String {
        if self.policy.kept_by_others {
            return "another agent keeps this engine's images".to_owned();
        }
        if !self.policy.image && !self.asked.contains(target) {
            return "gc.image is false".to_owned();
        }
        if let Some(backoff) = self.backoffs.get(target) {
            return format!("could not be removed, tried again later: {}", backoff.message);
        }
        if let Some(pause) = self.paused() {
            return format!("idle, and {} has paused removals", pause.who);
        }
        if !self.engine_up {
            return "the engine does not answer".to_owned();
        }
        if !self.may_remove() {
            return "the engine and the allocations have not been compared yet".to_owned();
        }
        self.said_of_room(idle_since).unwrap_or_else(|| match self.policy.idle_span() {
            Some(span) => format!("idle, goes after {span}"),
            None => "idle, and stays until its room is needed".to_owned(),
        })
    }

    fn nameless_status(&self, id: ContentId) -> ImageStatus {
        let theirs = |state| matches!(state, ContentState::Left | ContentState::Theirs);
        let record = self.books.content(id).filter(|record| !theirs(record.state));
        let idle_since = record.and_then(|record| record.idle_since);
        let target = Target::Content(id);
        let may_go = self.may_ever_go(&target);
        let why = match (record, self.need_of_nameless(id)) {
            (None, _) if self.policy.collects_foreign() => {
                "nameless, and not ours: gc.foreign is about names".to_owned()
            }
            (None, _) => "nameless, and not ours to remove".to_owned(),
            (Some(_), Some(need)) => need.to_string(),
            (Some(_), None) => self.why_not_yet(&target, idle_since),
        };
        ImageStatus {
            name: None,
            content: Some(id),
            size_bytes: self.view.image(id).map(|image| image.size_bytes),
            provenance: if record.is_some() { Provenance::Obtained } else { Provenance::Foreign },
            state: if self.removals.contains_key(&id) { StateWord::Removing } else { StateWord::Nameless },
            holders: Vec::new(),
            containers: self.view.containers_of(id).iter().map(|container| container.id.clone()).collect(),
            holds: 0,
            content_holds: self.content_holds(id),
            why,
            idle_since,
            due_at: idle_since
                .filter(|_| may_go)
                .and_then(|idle_since| self.due_at(idle_since))
                .map(|due_at| self.pause_ends_at().map_or(due_at, |end| end.max(due_at))),
            retry_at: self.backoffs.get(&target).map(|backoff| backoff.retry_at),
            last_used_at: None,
            uses: 0,
        }
    }

    /// How many owners hold the content: those it was granted to, and those that hold a name which points at it.
    fn content_holds(&self, id: ContentId) -> usize {
        let granted = self.books.content_holders(id).map(|(owner, _)| owner.clone());
        let names = self.view.names_at(id).iter();
        let by_name = names.flat_map(|name| self.books.holds_on(name)).map(|hold| hold.owner.clone());
        granted.chain(by_name).collect::<BTreeSet<_>>().len()
    }

    /// Remembers how the last pull or load of a name ended: for people, and only as long as this keeper runs.
    pub(super) fn remember_outcome(&mut self, name: &ImageRef, failure: Option<&FetchFailure>) {
        let Some(failure) = failure else {
            self.failures.remove(name);
            return;
        };
        if self.failures.len() >= FAILURES_MAX
            && !self.failures.contains_key(name)
            && let Some(oldest) = self.failures.iter().min_by_key(|(_, last)| last.at).map(|(name, _)| name.clone())
        {
            self.failures.remove(&oldest);
        }
        let times = self.failures.get(name).map_or(0, |last| last.times) + 1;
        self.failures.insert(name.clone(), LastFailure { failure: failure.clone(), at: self.now, times });
    }
}
