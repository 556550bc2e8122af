use std::collections::BTreeSet;

use longshore_model::{ContentId, ImageRef, Timestamp};

use super::{BACKOFF_MAX, BACKOFF_MIN, Keeper, SETTLE};
use crate::{
    ActId, Action, Before, Binding, ContentState, Fault, ForeignReason, LookId, Notice, RemovalAnswer, RemovalOutcome,
    RemovalReason, Row, TagAnswer, private_name,
};

/// What can be removed: a name of ours, or nameless content of ours.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Target {
    Name(ImageRef),
    Content(ContentId),
}

/// When a removal that was refused is tried again.
#[derive(Debug)]
pub(crate) struct Backoff {
    failures: u32,
    pub(crate) retry_at: Timestamp,
    pub(crate) message: String,
}

/// A removal under way. One a content: nothing of that content is granted meanwhile.
///
/// ```text
///   Tagging ──▶ Deciding ──▶ Sent ──200──▶ Confirming ──▶ over        (a name)
///                   ▲          ├───200──▶ Deciding                    (content: the next of its names, until none is left)
///                   │          ├───409, 404, refused──▶ over
///                   │          └───no answer──▶ Settling ──▶ Settled ──▶ over, or Deciding (content)
/// ```
#[derive(Debug)]
pub(crate) struct Removal {
    goal: Target,
    why: RemovalReason,
    stage: Stage,
    /// Others pulled or tagged the name meanwhile.
    pub(crate) taken: bool,
    /// It was under way at a crash.
    recovered: bool,
}

#[derive(Debug)]
enum Stage {
    /// The private name is being given.
    Tagging(ActId),
    /// Waits for the look by which it is decided whether to go on (K1).
    Deciding(LookId),
    Sent {
        act: ActId,
        name: ImageRef,
        meant: Vec<ImageRef>,
        takes_content: bool,
    },
    /// Waits for the look that shows what the answer did.
    Confirming {
        look: LookId,
        untagged: bool,
        size_bytes: u64,
    },
    /// The answer was lost: the act may still be at work until then.
    Settling {
        until: Timestamp,
    },
    /// Waits for the look that shows what came of it.
    Settled(LookId),
}

impl Removal {
    pub(crate) fn is_asked(&self) -> bool {
        self.why == RemovalReason::Asked
    }

    pub(crate) fn goal(&self) -> &Target {
        &self.goal
    }

    pub(crate) fn settles_at(&self) -> Option<Timestamp> {
        match self.stage {
            Stage::Settling { until } => Some(until),
            _ => None,
        }
    }

    pub(crate) fn clamp(&mut self, latest: Timestamp) {
        if let Stage::Settling { until } = &mut self.stage {
            *until = latest.min(*until);
        }
    }

    pub(crate) fn removes(&self, name: &ImageRef) -> bool {
        matches!(&self.goal, Target::Name(ours) if ours == name)
    }

    /// Whether a deletion that takes the content along is out.
    pub(crate) fn takes_content(&self) -> bool {
        matches!(self.stage, Stage::Sent { takes_content: true, .. })
    }

    /// Whether something was sent to the engine and not answered.
    pub(crate) fn is_sent(&self) -> bool {
        matches!(self.stage, Stage::Sent { .. } | Stage::Tagging(_))
    }

    /// The name that the engine may be removing now.
    pub(crate) fn at_work_on(&self) -> Option<&ImageRef> {
        match (&self.stage, &self.goal) {
            (Stage::Sent { name, .. }, _) => Some(name),
            (Stage::Settling { .. } | Stage::Settled(_), Target::Name(name)) => Some(name),
            _ => None,
        }
    }

    /// Whether a deletion is out, or may be, that was decided on because other names keep the content.
    pub(crate) fn counts_on_names(&self) -> bool {
        matches!(self.stage, Stage::Sent { .. } | Stage::Settling { .. } | Stage::Settled(_))
    }

    fn waits_for(&self, look: LookId) -> bool {
        match self.stage {
            Stage::Deciding(wanted) | Stage::Confirming { look: wanted, .. } | Stage::Settled(wanted) => wanted <= look,
            Stage::Tagging(_) | Stage::Sent { .. } | Stage::Settling { .. } => false,
        }
    }
}

impl Keeper {
    pub(super) fn may_remove(&self) -> bool {
        if self.fault == Fault::RemovalBeforeRecovery {
            return self.engine_up;
        }
        let can = self.recovery.is_done() && self.engine_up && self.view.complete;
        let paused = self.paused().is_some() && self.fault != Fault::PauseIgnored;
        can && !self.policy.kept_by_others && !paused
    }

    /// Why a target goes now, if it does.
    fn reason_now(&self, target: &Target, idle_since: Timestamp) -> Option<RemovalReason> {
        if self.backoffs.get(target).is_some_and(|backoff| backoff.retry_at > self.now) {
            return None;
        }
        if self.asked.contains(target) {
            return Some(RemovalReason::Asked);
        }
        if !self.policy.image {
            return None;
        }
        if self.due_at(idle_since).is_some_and(|due_at| due_at <= self.now) {
            return Some(self.reason_of_age(idle_since));
        }
        self.space.chose(target)
    }

    fn reason_of_age(&self, idle_since: Timestamp) -> RemovalReason {
        let aged = self.policy.space.max_age().is_some_and(|age| idle_since.plus(age) <= self.now);
        if aged && self.policy.idle_span() == self.policy.space.max_age() {
            RemovalReason::Aged
        } else {
            RemovalReason::Due
        }
    }

    pub(super) fn start_removals(&mut self) {
        if self.may_remove() {
            self.start_name_removals();
            self.start_content_removals();
        }
    }

    fn start_name_removals(&mut self) {
        if self.fault == Fault::OneBadImageStopsTheSweep && !self.backoffs.is_empty() {
            return;
        }
        let idle: Vec<_> = self
            .books
            .names()
            .filter_map(|record| match record.binding? {
                Binding::Idle { content, idle_since } => Some((record.name.clone(), content, idle_since)),
                _ => None,
            })
            .collect();
        for (name, content, idle_since) in idle {
            if self.is_unsettled(&name) || !self.is_free(content) {
                continue;
            }
            let Some(why) = self.reason_now(&Target::Name(name.clone()), idle_since) else { continue };
            self.row(match why {
                RemovalReason::Due => Row::IdleDue,
                RemovalReason::Asked => Row::IdleAsked,
                RemovalReason::Aged => Row::IdleAged,
                RemovalReason::Room(_) => Row::IdlePressed,
            });
            self.books.bind(&name, Some(Binding::Removing { content, idle_since, why }));
            self.decide_at_next_look(Target::Name(name), content, why);
        }
    }

    fn start_content_removals(&mut self) {
        let contents = self.books.contents().map(|record| (record.id, record.state, record.idle_since));
        let contents: Vec<_> = contents.collect();
        for (id, state, idle_since) in contents {
            if !self.is_free(id) {
                continue;
            }
            let target = Target::Content(id);
            let private = private_name(id);
            let is_marked = self.view.at(&private) == Some(id);
            if !matches!(state, ContentState::Nameless | ContentState::Marked { .. }) {
                let waits = self.backoffs.get(&target).is_some_and(|backoff| backoff.retry_at > self.now);
                if is_marked && self.is_named(id) && self.policy.image && !waits {
                    self.decide_at_next_look(target, id, RemovalReason::Due);
                }
                continue;
            }
            let Some(why) = idle_since.and_then(|idle_since| self.reason_now(&target, idle_since)) else { continue };
            if state == ContentState::Nameless {
                self.row(Row::ContentMarked);
            }
            self.books.change_content(id, ContentState::Marked { why });
            if is_marked {
                self.decide_at_next_look(target, id, why);
            } else {
                let act = self.next_act();
                self.actions.push(Action::Tag { act, content: id, name: private });
                self.begin(target, id, why, Stage::Tagging(act));
            }
        }
    }

    /// Whether no removal of the content is under way or has just ended.
    fn is_free(&self, id: ContentId) -> bool {
        !self.removals.contains_key(&id) && !self.content_barriers.contains_key(&id)
    }

    /// Whether a removal stands in the way of handing the content out: one of the content, or one of a name that others
    /// have moved to it since.
    pub(super) fn is_being_removed(&self, id: ContentId) -> bool {
        self.removals.contains_key(&id)
            || self.removals.values().filter_map(Removal::at_work_on).any(|name| self.view.at(name) == Some(id))
    }

    fn decide_at_next_look(&mut self, goal: Target, content: ContentId, why: RemovalReason) {
        let look = self.ask_look();
        self.begin(goal, content, why, Stage::Deciding(look));
        if self.fault == Fault::NoFreshLook {
            self.decide(content);
        }
    }

    fn begin(&mut self, goal: Target, content: ContentId, why: RemovalReason, stage: Stage) {
        self.removals.insert(content, Removal { goal, why, stage, taken: false, recovered: false });
    }

    /// Takes up a removal whose act may have been sent before a crash: looked at, never repeated blindly.
    pub(super) fn resume_unsure(&mut self, goal: Target, content: ContentId, why: RemovalReason) {
        let stage = Stage::Settling { until: self.now.plus(SETTLE) };
        self.removals.insert(content, Removal { goal, why, stage, taken: false, recovered: true });
    }

    #[doc(hidden)]
    pub(super) fn repeat_blindly(&mut self) {
        let recovered = self.removals.iter().filter(|(_, removal)| removal.recovered);
        let recovered: Vec<_> = recovered.map(|(id, removal)| (*id, removal.goal.clone())).collect();
        for (content, goal) in recovered {
            if let Target::Name(name) = goal {
                self.send(content, name);
            }
        }
    }

    pub(super) fn next_act(&mut self) -> ActId {
        let act = ActId(self.next_act);
        self.next_act += 1;
        act
    }

    pub(super) fn settle_removals(&mut self) {
        let now = self.now;
        let settled = self.removals.values().any(|removal| removal.settles_at().is_some_and(|until| until <= now));
        if settled {
            let look = self.ask_look();
            for removal in self.removals.values_mut() {
                if removal.settles_at().is_some_and(|until| until <= now) {
                    removal.stage = Stage::Settled(look);
                }
            }
        }
    }

    /// Goes on with every removal that waited for this complete look.
    pub(super) fn removals_looked(&mut self, look: LookId) {
        let waiting: Vec<_> = self.removals.iter().filter(|(_, r)| r.waits_for(look)).map(|(id, _)| *id).collect();
        for content in waiting {
            match self.removals.get(&content).map(|removal| &removal.stage) {
                Some(Stage::Deciding(_)) => self.decide(content),
                Some(Stage::Confirming { .. }) => self.confirm(content),
                Some(Stage::Settled(_)) => self.settle(content),
                _ => {}
            }
        }
    }

    fn decide(&mut self, content: ContentId) {
        if self.view.names_at(content).iter().any(|name| self.taken.contains_key(name)) {
            return self.decide_later(content);
        }
        let Some(removal) = self.removals.get(&content) else { return };
        let allowed = self.may_remove() && (self.policy.image || removal.why == RemovalReason::Asked);
        let allowed = allowed && !self.is_lent_in_vain(&removal.goal);
        let (why, goal) = (removal.why, removal.goal.clone());
        match goal {
            _ if !allowed => self.call_off(content),
            goal if !self.still_presses(why, &goal) => {
                self.row(Row::PressureOver);
                self.call_off(content);
            }
            Target::Name(name) => self.decide_name(content, &name),
            Target::Content(_) => self.decide_content(content),
        }
    }

    /// Others have brought one of its names since this look began.
    fn decide_later(&mut self, content: ContentId) {
        let look = self.ask_look();
        if let Some(removal) = self.removals.get_mut(&content) {
            removal.stage = Stage::Deciding(look);
        }
    }

    fn decide_name(&mut self, content: ContentId, name: &ImageRef) {
        if self.leave_to_others(content, name) {
            return;
        }
        match self.need_of_name(name, content) {
            Some(need) => {
                self.row(Row::RemovalNeedFound);
                self.tell_removal(content, name, RemovalOutcome::InUse { by: need.to_string(), retry_at: None });
                self.call_off(content);
            }
            None => self.send(content, name.clone()),
        }
    }

    /// Whether the name is not where we left it any more, or others took it over; then the removal is over.
    fn leave_to_others(&mut self, content: ContentId, name: &ImageRef) -> bool {
        let at = self.view.at(name);
        let taken = self.removals.get(&content).is_some_and(|removal| removal.taken);
        if at == Some(content) && !taken {
            return false;
        }
        self.removals.remove(&content);
        match at {
            Some(now_at) if now_at == content => self.taken_over(name, content),
            _ => self.others_changed(name, content, at),
        }
        true
    }

    fn decide_content(&mut self, content: ContentId) {
        let private = private_name(content);
        let is_marked = self.view.at(&private) == Some(content);
        let Some(record) = self.books.content(content) else {
            self.removals.remove(&content);
            return;
        };
        let (state, freed_bytes, digest_names) = (record.state, record.size_bytes, record.digest_names.clone());
        let was_nameless = matches!(state, ContentState::Marked { .. } | ContentState::Nameless);
        if self.view.image(content).is_none() {
            self.row(Row::ContentGone);
            self.tell_removal(content, &private, RemovalOutcome::Removed { freed_bytes });
            self.removals.remove(&content);
            self.forget_content(content);
        } else if self.is_named(content) {
            if is_marked && !self.is_last_name(content, &private) {
                self.send(content, private);
            } else {
                if is_marked {
                    self.put_off(Target::Content(content), "a pull may be moving its other names away".to_owned());
                }
                self.removals.remove(&content);
                if was_nameless {
                    self.row(Row::ContentNamedAgain);
                    self.books.change_content(content, ContentState::Named);
                }
            }
        } else if !was_nameless {
            self.removals.remove(&content);
        } else if let Some(need) = self.need_of_nameless(content) {
            self.row(Row::ContentNeedFound);
            self.tell_removal(content, &private, RemovalOutcome::InUse { by: need.to_string(), retry_at: None });
            self.removals.remove(&content);
            self.books.change_content(content, ContentState::Nameless);
        } else if !is_marked {
            self.removals.remove(&content);
            self.books.change_content(content, ContentState::Nameless);
        } else {
            let names = self.view.names_at(content);
            let left = names.iter().find(|name| digest_names.contains(*name)).cloned();
            let left = left.filter(|_| self.fault != Fault::PrivateNameFirst);
            self.send(content, left.unwrap_or(private));
        }
    }

    fn send(&mut self, content: ContentId, name: ImageRef) {
        let act = self.next_act();
        let meant = self.falls_with(content, &name);
        let takes_content = self.is_last_name(content, &name);
        if let Some(removal) = self.removals.get_mut(&content) {
            removal.stage = Stage::Sent { act, name: name.clone(), meant, takes_content };
            let name = if self.fault == Fault::RemovalById { ImageRef::from_id(content) } else { name };
            self.actions.push(Action::RemoveName { act, name, content });
        }
    }

    pub(super) fn tagged(&mut self, act: ActId, answer: TagAnswer) {
        let is_it = |removal: &Removal| matches!(removal.stage, Stage::Tagging(ours) if ours == act);
        let Some(content) = self.removals.iter().find(|(_, removal)| is_it(removal)).map(|(id, _)| *id) else { return };
        match answer {
            TagAnswer::Done | TagAnswer::NotFound => {
                let look = self.ask_look();
                if let Some(removal) = self.removals.get_mut(&content) {
                    removal.stage = Stage::Deciding(look);
                }
            }
            TagAnswer::Failed { message } => {
                self.put_off(Target::Content(content), message);
                self.finish_acted(content);
            }
        }
    }

    pub(super) fn removed(&mut self, act: ActId, answer: RemovalAnswer) {
        let is_it = |removal: &Removal| matches!(removal.stage, Stage::Sent { act: ours, .. } if ours == act);
        let Some(content) = self.removals.iter().find(|(_, removal)| is_it(removal)).map(|(id, _)| *id) else { return };
        let Some(removal) = self.removals.get(&content) else { return };
        let Stage::Sent { name, meant, takes_content, .. } = &removal.stage else { return };
        let (name, meant, takes_content, goal) = (name.clone(), meant.clone(), *takes_content, removal.goal.clone());
        match answer {
            RemovalAnswer::Done { untagged, deleted } => {
                self.compare(&name, &meant, takes_content, &untagged, &deleted);
                let untagged = untagged.contains(&name);
                self.look_at_outcome(content, &goal, untagged);
            }
            RemovalAnswer::NotFound if matches!(goal, Target::Content(_)) => {
                self.row(Row::RemovalNotFound);
                self.look_at_outcome(content, &goal, true);
            }
            RemovalAnswer::NotFound => {
                self.row(Row::RemovalNotFound);
                self.tell_removal(content, &name, RemovalOutcome::GoneAlready);
                self.gone(&name);
                self.finish_acted(content);
            }
            RemovalAnswer::InUse { message } => {
                self.row(Row::RemovalInUse);
                let retry_at = Some(self.put_off(goal, message.clone()));
                self.tell_removal(content, &name, RemovalOutcome::InUse { by: message, retry_at });
                self.call_off_acted(content);
            }
            RemovalAnswer::Refused { message } => {
                let retry_at = self.put_off(goal, message.clone());
                self.tell_removal(content, &name, RemovalOutcome::Refused { message, retry_at });
                self.call_off_acted(content);
            }
            RemovalAnswer::Lost { message } => {
                self.row(Row::RemovalLost);
                self.tell_removal(content, &name, RemovalOutcome::Unanswered { message });
                self.lost(content, &goal);
            }
        }
    }

    fn lost(&mut self, content: ContentId, goal: &Target) {
        if let Target::Name(name) = goal
            && let Some(Binding::Removing { content, idle_since, why }) = self.books.binding(name)
        {
            self.books.bind(name, Some(Binding::Unsure { content, idle_since, why }));
        }
        let until = self.now.plus(SETTLE);
        if let Some(removal) = self.removals.get_mut(&content) {
            removal.stage = Stage::Settling { until };
        }
    }

    fn look_at_outcome(&mut self, content: ContentId, goal: &Target, untagged: bool) {
        let look = self.ask_look();
        let size_bytes = self.view.size_bytes(content);
        if let Target::Name(name) = goal {
            self.name_barriers.insert(name.clone(), look);
        }
        if let Some(removal) = self.removals.get_mut(&content) {
            removal.stage = match goal {
                Target::Name(_) => Stage::Confirming { look, untagged, size_bytes },
                Target::Content(_) => Stage::Deciding(look),
            };
        }
    }

    /// An answer that lists what was not meant is told: by then it has happened.
    fn compare(
        &mut self,
        name: &ImageRef,
        meant: &[ImageRef],
        takes_content: bool,
        untagged: &[ImageRef],
        deleted: &[ContentId],
    ) {
        let untagged: Vec<_> = untagged.iter().filter(|name| !meant.contains(name)).cloned().collect();
        let deleted = if takes_content { Vec::new() } else { deleted.to_vec() };
        if !untagged.is_empty() || !deleted.is_empty() {
            self.tell(Notice::UnexpectedRemoval { name: name.clone(), untagged, deleted });
        }
    }

    fn confirm(&mut self, content: ContentId) {
        let Some(removal) = self.removals.get(&content) else { return };
        let Stage::Confirming { untagged, size_bytes, .. } = removal.stage else { return };
        let Target::Name(name) = removal.goal.clone() else { return };
        let at = self.view.at(&name);
        if at == Some(content) && !untagged {
            let retry_at = self.put_off(Target::Name(name.clone()), "the engine did not remove it".to_owned());
            let message = "it answered that it did, and the name still stands".to_owned();
            self.tell_removal(content, &name, RemovalOutcome::Refused { message, retry_at });
            self.call_off(content);
        } else if let Some(now_at) = at {
            self.tell_removal(content, &name, RemovalOutcome::Moved);
            self.removals.remove(&content);
            self.make_foreign(&name, now_at, ForeignReason::Moved);
        } else {
            self.row(Row::RemovedGone);
            self.gone_by_look(content, &name, size_bytes);
        }
    }

    fn settle(&mut self, content: ContentId) {
        let Some(removal) = self.removals.get(&content) else { return };
        let recovered = removal.recovered;
        if recovered {
            self.row(Row::RecoveredRemoval);
        }
        let Some(removal) = self.removals.get_mut(&content) else { return };
        removal.recovered = false;
        match removal.goal.clone() {
            Target::Content(_) => self.decide(content),
            Target::Name(name) if self.view.at(&name).is_none() => {
                self.row(Row::UnsureGone);
                let size_bytes = self.books.content(content).map_or(0, |record| record.size_bytes);
                self.gone_by_look(content, &name, size_bytes);
            }
            Target::Name(name) => {
                if !self.leave_to_others(content, &name) {
                    self.row(Row::UnsureStill);
                    self.call_off(content);
                }
            }
        }
    }

    /// A look shows that the name is gone by our removal; its content may have gone with it, or be left with digest names.
    fn gone_by_look(&mut self, content: ContentId, name: &ImageRef, size_bytes: u64) {
        let outcome = match self.view.image(content) {
            None => RemovalOutcome::Removed { freed_bytes: size_bytes },
            Some(_) => RemovalOutcome::Untagged,
        };
        self.tell_removal(content, name, outcome);
        self.removals.remove(&content);
        self.gone(name);
        if self.view.image(content).is_none() {
            self.forget_content(content);
        } else if self.books.content(content).is_some() && !self.is_named(content) {
            self.row(Row::ContentNameless);
            self.books.change_content(content, ContentState::Nameless);
        }
    }

    /// The content is gone, and with it every name of ours that only stood on it.
    fn forget_content(&mut self, content: ContentId) {
        self.books.drop_content(content);
        let target = Target::Content(content);
        self.backoffs.remove(&target);
        self.asked.remove(&target);
        let fallen: Vec<_> = self
            .books
            .names()
            .filter(|r| r.name.digest().is_some() && r.binding.is_some_and(|b| b.content() == content))
            .map(|record| record.name.clone())
            .filter(|name| self.view.at(name).is_none() && !self.is_unsettled(name))
            .collect();
        fallen.iter().for_each(|name| self.gone(name));
    }

    fn gone(&mut self, name: &ImageRef) {
        self.forget_name(name);
        if self.books.name(name).is_some() {
            self.books.change_name(name, |record| {
                if let Some(intent) = &mut record.intent {
                    intent.before = Before::Absent;
                }
            });
        }
    }

    /// The removal is over and nothing was removed: a name is idle as before, content stays marked.
    fn call_off(&mut self, content: ContentId) {
        let Some(removal) = self.removals.remove(&content) else { return };
        if let Target::Name(name) = removal.goal
            && let Some(Binding::Removing { content, idle_since, .. } | Binding::Unsure { content, idle_since, .. }) =
                self.books.binding(&name)
        {
            if removal.taken {
                self.taken_over(&name, content);
            } else {
                self.books.bind(&name, Some(Binding::Idle { content, idle_since }));
            }
        }
    }

    fn call_off_acted(&mut self, content: ContentId) {
        self.call_off(content);
        self.finish_acted(content);
    }

    /// Something was sent, and only a look that begins now tells how things are.
    fn finish_acted(&mut self, content: ContentId) {
        let look = self.ask_look();
        self.content_barriers.insert(content, look);
        if let Some(Removal { goal: Target::Name(name), .. }) = self.removals.remove(&content) {
            self.name_barriers.insert(name, look);
        }
    }

    /// Ends those removals that have not sent anything yet.
    pub(super) fn call_off_removals(&mut self, which: impl Fn(&Removal) -> bool) {
        let undecided: Vec<_> = self
            .removals
            .iter()
            .filter(|(_, removal)| matches!(removal.stage, Stage::Deciding(_)) && which(removal))
            .map(|(id, _)| *id)
            .collect();
        undecided.into_iter().for_each(|content| self.call_off(content));
    }

    /// Tried again after five seconds, then after twice as long each time, up to five minutes.
    fn put_off(&mut self, target: Target, message: String) -> Timestamp {
        let failures = self.backoffs.get(&target).map_or(0, |backoff| backoff.failures);
        let span = BACKOFF_MIN.saturating_mul(1 << failures.min(6)).min(BACKOFF_MAX);
        let retry_at = self.now.plus(span);
        self.backoffs.insert(target, Backoff { failures: failures + 1, retry_at, message });
        retry_at
    }

    fn tell_removal(&mut self, content: ContentId, name: &ImageRef, outcome: RemovalOutcome) {
        let why = self.removals.get(&content).map_or(RemovalReason::Due, |removal| removal.why);
        self.remember_removal(name, content, why, &outcome);
        self.tell(Notice::Removal { name: name.clone(), content, why, outcome });
    }

    /// A person asks: what is idle now goes now.
    pub(super) fn collect_now(&mut self) {
        let names = self.books.names().filter(|r| matches!(r.binding, Some(Binding::Idle { .. })));
        let names = names.map(|record| Target::Name(record.name.clone()));
        let contents =
            self.books.contents().filter(|r| matches!(r.state, ContentState::Nameless | ContentState::Marked { .. }));
        let contents = contents.map(|record| Target::Content(record.id));
        let asked: BTreeSet<_> = names.chain(contents).collect();
        self.asked.extend(asked);
    }
}
