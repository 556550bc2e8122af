use std::collections::BTreeSet;

use longshore_model::{ContentId, ImageRef, Timestamp};

use super::credits::CREDIT_SPAN;
use super::space::WaitForRoom;
use super::{Keeper, LATE, Removal};
use crate::{
    Action, Archive, Before, Binding, ContentRecord, ContentState, FailureKind, Fault, FetchFailure, FetchId,
    ForeignReason, Hold, Intent, LookId, Notice, Owner, Refusal, Row, Want,
};

/// So many looks that could not read everything are waited for before a pull goes on without knowing what was there.
const BLIND_LOOKS_MAX: u32 = 3;
/// So many times an image may be brought and be gone again before its owner is told.
const TRIES_MAX: u32 = 3;

/// A start attempt that waits for its image.
#[derive(Debug)]
pub(crate) struct Waiter {
    pub(crate) want: Want,
    /// The first look that can answer it.
    need_look: LookId,
    /// Fetches from this one on began after it asked.
    since_fetch: FetchId,
    pub(crate) joined: Option<FetchId>,
    /// Whether a fetch that began after it asked has ended well.
    satisfied: bool,
    /// Why a fetch for it did not, and what is present has to do.
    unasked: Option<FetchFailure>,
    tries: u32,
    blind_looks: u32,
    pub(crate) room: WaitForRoom,
}

/// A pull or load that is out, or has ended and waits for the look that shows what it did. One a name (K4).
#[derive(Debug)]
pub(crate) struct Fetch {
    pub(crate) id: FetchId,
    access: String,
    platform: Option<String>,
    archive: Option<Archive>,
    patient: bool,
    pub(crate) cancelled: bool,
    /// Others pulled or tagged the name meanwhile.
    pub(crate) taken: bool,
    /// A look showed what it brought before its end was told: it is let end by itself.
    pub(crate) arrived: bool,
    blind_looks: u32,
    done: Option<Done>,
}

#[derive(Debug)]
struct Done {
    look: LookId,
    result: Result<(), FetchFailure>,
}

impl Fetch {
    pub(crate) fn is_running(&self) -> bool {
        self.done.is_none()
    }

    fn can_be_joined_by(&self, waiter: &Waiter, present: bool, fault: Fault) -> bool {
        self.is_running()
            && self.patient == is_patient(&waiter.want, present)
            && !self.cancelled
            && self.access == waiter.want.access
            && self.platform == waiter.want.platform
            && self.archive == waiter.want.archive
            && (!waiter.want.fresh || self.id >= waiter.since_fetch || fault == Fault::FreshJoinsOld)
    }
}

impl Keeper {
    pub(super) fn want(&mut self, want: Want) {
        let owner = want.owner.clone();
        // Its wish has ended meanwhile: a hold of it would have no end.
        if owner.is_wish() && self.books.hold(&owner, &want.name).is_none() {
            let name = want.name;
            self.actions.push(Action::Refuse { owner, name: name.clone(), why: Refusal::NotWished { name } });
            return;
        }
        self.recovery.accepted(&owner);
        self.take_hold(&owner, &want.name);
        if matches!(self.books.binding(&want.name), Some(Binding::Removing { .. } | Binding::Unsure { .. })) {
            self.row(Row::RemovalWanted);
        }
        let waiter = Waiter {
            need_look: self.ask_look(),
            since_fetch: FetchId(self.next_fetch),
            joined: None,
            satisfied: false,
            unasked: None,
            tries: 0,
            blind_looks: 0,
            room: WaitForRoom::No,
            want,
        };
        if let Some(replaced) = self.waiters.insert(owner, waiter) {
            self.leave(&replaced);
        }
    }

    pub(super) fn give_up(&mut self, owner: &Owner) {
        self.drop_waiter(owner);
        if self.fault == Fault::ReleasePerAttempt {
            self.end_owner(owner, self.now);
        }
    }

    pub(super) fn drop_waiter(&mut self, owner: &Owner) {
        if let Some(waiter) = self.waiters.remove(owner) {
            self.leave(&waiter);
        }
    }

    /// The last one to leave cancels.
    fn leave(&mut self, waiter: &Waiter) {
        let Some(joined) = waiter.joined else { return };
        if self.waiters.values().any(|other| other.joined == Some(joined)) {
            return;
        }
        let name = &waiter.want.name;
        let Some(fetch) = self.fetches.get_mut(name) else { return };
        if fetch.id != joined || !fetch.is_running() || fetch.cancelled {
            return;
        }
        fetch.cancelled = true;
        self.actions.push(Action::CancelFetch { fetch: joined });
        let late_until = Some(self.now.plus(LATE));
        self.books.change_name(name, |record| {
            if let Some(intent) = &mut record.intent {
                intent.late_until = late_until;
            }
        });
        self.row(Row::PullLeft);
    }

    pub(super) fn count_blind_waiters(&mut self) {
        let applied = self.view.applied;
        for waiter in self.waiters.values_mut().filter(|waiter| waiter.need_look <= applied) {
            waiter.blind_looks += 1;
        }
    }

    pub(super) fn answer_waiters(&mut self) {
        if !self.engine_up {
            return;
        }
        let owners: Vec<_> = self.waiters.keys().cloned().collect();
        for owner in owners {
            self.answer(&owner);
        }
    }

    fn answer(&mut self, owner: &Owner) {
        let Some(waiter) = self.waiters.get(owner) else { return };
        let name = waiter.want.name.clone();
        let removing = matches!(self.books.binding(&name), Some(Binding::Removing { .. } | Binding::Unsure { .. }));
        let barrier = self.name_barriers.get(&name).copied().unwrap_or_default();
        let careless = self.fault == Fault::GrantDuringRemoval;
        if removing && !careless || self.view.applied < waiter.need_look.max(barrier) {
            return;
        }
        let at = self.view.at(&name);
        if let Some(content) = at
            && (!waiter.want.fresh || waiter.satisfied)
        {
            let found = self.view.image(content).and_then(|image| image.platform.clone());
            match (&waiter.want.platform, found) {
                (Some(wanted), Some(found)) if *wanted != found => {
                    if waiter.satisfied {
                        let wanted = wanted.clone();
                        return self.refuse(owner, Refusal::WrongPlatform { name, wanted, found });
                    }
                }
                _ => {
                    let barrier = self.content_barriers.get(&content).copied().unwrap_or_default();
                    if !self.is_being_removed(content) && barrier <= self.view.applied || careless {
                        self.grant(owner, &name, content);
                    }
                    return;
                }
            }
        }
        if at.is_none() && !self.view.complete && waiter.blind_looks < BLIND_LOOKS_MAX {
            return;
        }
        if let Some(content) = name.id() {
            return self.refuse(owner, Refusal::NoSuchId { content });
        }
        self.join_or_fetch(owner, &name);
    }

    fn join_or_fetch(&mut self, owner: &Owner, name: &ImageRef) {
        let moves_from = self.view.at(name);
        let counts_on_it =
            moves_from.and_then(|content| self.removals.get(&content)).is_some_and(Removal::counts_on_names);
        if counts_on_it || self.would_fall_with_a_removal(name) {
            return;
        }
        let Some(waiter) = self.waiters.get_mut(owner).filter(|waiter| !waiter.room.is_now()) else { return };
        match self.fetches.get(name) {
            Some(_) if self.fault == Fault::NoJoining && waiter.joined.is_none() => {
                waiter.joined = Some(FetchId(0));
                let fetch = FetchId(self.next_fetch);
                self.next_fetch += 1;
                self.actions.push(Action::Pull {
                    fetch,
                    name: name.clone(),
                    owner: owner.clone(),
                    platform: None,
                    patient: true,
                });
            }
            Some(fetch) => {
                if waiter.joined.is_none() && fetch.can_be_joined_by(waiter, moves_from.is_some(), self.fault) {
                    waiter.joined = Some(fetch.id);
                }
            }
            None if waiter.tries >= TRIES_MAX => {
                let times = waiter.tries;
                self.refuse(owner, Refusal::Vanished { name: name.clone(), times });
            }
            None => {
                let fetch = FetchId(self.next_fetch);
                self.next_fetch += 1;
                waiter.joined = Some(fetch);
                waiter.satisfied = false;
                waiter.unasked = None;
                let want = waiter.want.clone();
                self.start_fetch(fetch, want);
            }
        }
    }

    /// Whether the name is a digest name and a tag of its repository is being removed: it would go with the tag.
    fn would_fall_with_a_removal(&self, name: &ImageRef) -> bool {
        let mut at_work = self.removals.values().filter_map(Removal::at_work_on);
        name.digest().is_some() && at_work.any(|removed| removed.tag().is_some() && removed.same_repository(name))
    }

    fn start_fetch(&mut self, id: FetchId, want: Want) {
        let present = self.view.at(&want.name).is_some();
        let patient = is_patient(&want, present);
        let Want { owner, name, access, platform, archive, .. } = want;
        self.row(if present { Row::WantedFresh } else { Row::WantedAbsent });
        self.record_lone_digests(&name);
        let earlier = self.books.name(&name).and_then(|record| record.intent.as_ref());
        let earlier_until = earlier.and_then(|intent| intent.late_until.max(intent.earlier_until));
        let mut intent = Intent { archive: archive.clone(), earlier_until, ..self.intent_from_here(&name) };
        if let Some(earlier) = earlier {
            // A pull that was cut off may have left its content without the name; it is no more somebody's than that pull.
            intent.present_before.retain(|id| earlier.present_before.contains(id) || self.is_named(*id));
        }
        self.books.change_name(&name, |record| record.intent = Some(intent));
        self.late_looks.remove(&name);
        self.credits.expect(&name, archive.is_some(), Some(id), None);
        self.actions.push(match &archive {
            Some(archive) => Action::Load { fetch: id, name: name.clone(), owner, archive: archive.clone() },
            None => Action::Pull { fetch: id, name: name.clone(), owner, platform: platform.clone(), patient },
        });
        let fetch = Fetch {
            id,
            access,
            platform,
            archive,
            patient,
            cancelled: false,
            taken: false,
            arrived: false,
            blind_looks: 0,
            done: None,
        };
        self.fetches.insert(name, fetch);
    }

    /// What is known now of where a pull or load of the name would start from.
    fn intent_from_here(&self, name: &ImageRef) -> Intent {
        Intent {
            before: match self.view.at(name) {
                Some(content) => Before::At(content),
                None if self.view.complete => Before::Absent,
                None => Before::Unknown,
            },
            present_before: self.view.images().map(|i| i.id).filter(|id| self.books.content(*id).is_none()).collect(),
            digests_before: self.digests_of_repository(name),
            started_at: self.now,
            archive: None,
            late_until: None,
            earlier_until: None,
        }
    }

    /// What this intent was for has arrived, or will not; what else may come late is told by another, from here.
    fn watch_on(&mut self, name: &ImageRef, intent: &Intent) {
        let until = intent.late_until.max(intent.earlier_until).filter(|until| *until > self.now);
        let next = until.map(|_| Intent { late_until: until, ..self.intent_from_here(name) });
        self.late_looks.remove(name);
        self.books.change_name(name, |record| record.intent = next);
    }

    fn digests_of_repository(&self, name: &ImageRef) -> BTreeSet<ImageRef> {
        self.view.images().flat_map(|image| self.view.digests_at(image.id, name)).cloned().collect()
    }

    /// Digest names that stand without any tag of their repository, and that we did not leave, are somebody's own: the
    /// tag that a pull of ours brings beside them must not take them along when it goes.
    ///
    /// One that came with an earlier pull of the name, which was cut off before the tag, is not: engines set it first.
    fn record_lone_digests(&mut self, name: &ImageRef) {
        let earlier = self.books.name(name).and_then(|record| record.intent.as_ref());
        let lone: Vec<_> = self
            .view
            .images()
            .filter(|image| !image.names.iter().any(|other| other.tag().is_some() && other.same_repository(name)))
            .flat_map(|image| self.view.digests_at(image.id, name).map(|digest| (digest.clone(), image.id)))
            .filter(|(digest, id)| {
                digest != name
                    && earlier.is_none_or(|earlier| earlier.digests_before.contains(digest))
                    && self.books.binding(digest).is_none()
                    && self.books.content(*id).is_none_or(|record| !record.digest_names.contains(digest))
            })
            .collect();
        for (digest, content) in lone {
            let binding = Binding::Foreign { content, since: self.now, why: ForeignReason::Found };
            self.books.bind(&digest, Some(binding));
        }
    }

    pub(super) fn fetched(&mut self, id: FetchId, result: Result<(), FetchFailure>) {
        let Some(name) = self.fetches.iter().find(|(_, f)| f.id == id && f.is_running()).map(|(name, _)| name.clone())
        else {
            return;
        };
        let may_come_late = |failure: &FetchFailure| {
            matches!(failure.kind, FailureKind::Cancelled | FailureKind::TimedOut | FailureKind::EngineLost)
        };
        let until = match &result {
            Err(failure) if !may_come_late(failure) => None,
            _ => Some(self.now.plus(CREDIT_SPAN)),
        };
        self.credits.end(&name, id, until);
        if result.is_err() {
            let late_until = Some(self.now.plus(LATE));
            self.books.change_name(&name, |record| {
                if let Some(intent) = &mut record.intent {
                    intent.late_until = late_until;
                }
            });
        }
        let look = self.ask_look();
        self.name_barriers.insert(name.clone(), look);
        for waiter in self.waiters.values_mut().filter(|waiter| waiter.joined == Some(id)) {
            waiter.need_look = look;
        }
        if let Some(fetch) = self.fetches.get_mut(&name) {
            fetch.done = Some(Done { look, result });
        }
    }

    /// What the pulls and loads that have ended did, as the newest look shows it.
    pub(super) fn settle_fetches(&mut self) {
        let names: Vec<_> = self.fetches.keys().cloned().collect();
        for name in names {
            let Some(fetch) = self.fetches.get_mut(&name) else { continue };
            let Some(done) = &fetch.done else { continue };
            if self.view.applied < done.look {
                continue;
            }
            let Some(intent) = self.books.name(&name).and_then(|record| record.intent.clone()) else { continue };
            let moved_to = moved_to(&intent, self.view.at(&name));
            if moved_to.is_none() && !self.view.complete {
                fetch.blind_looks += 1;
                if fetch.blind_looks < BLIND_LOOKS_MAX {
                    continue;
                }
            }
            let Some(fetch) = self.fetches.remove(&name) else { continue };
            self.settle_fetch(&name, fetch, intent, moved_to);
        }
    }

    fn settle_fetch(&mut self, name: &ImageRef, fetch: Fetch, intent: Intent, moved_to: Option<ContentId>) {
        let Some(Done { result, .. }) = fetch.done else { return };
        self.remember_outcome(name, result.as_ref().err());
        match (&result, moved_to) {
            (Ok(()), Some(_)) => self.row(Row::PullMoved),
            (Ok(()), None) => self.row(Row::PullSame),
            (Err(_), _) if fetch.cancelled => {}
            (Err(_), _) => self.row(Row::PullFailed),
        }
        if let Some(content) = moved_to {
            if fetch.cancelled || result.is_err() {
                self.row(Row::PullLate);
                self.tell_late(name, content);
            }
            self.obtained(name, content, &intent, fetch.taken);
            self.watch_on(name, &intent);
        } else {
            if fetch.taken {
                self.books.change_name(name, |record| record.intent = None);
            } else if result.is_ok() {
                self.watch_on(name, &intent);
            }
            if let Some(Binding::Held { content } | Binding::Idle { content, .. }) = self.books.binding(name)
                && fetch.taken
            {
                self.taken_over(name, content);
            }
        }
        let joined: Vec<_> = self
            .waiters
            .iter_mut()
            .filter(|(_, waiter)| waiter.joined == Some(fetch.id))
            .map(|(owner, waiter)| {
                waiter.joined = None;
                waiter.tries += 1;
                waiter.satisfied = result.is_ok();
                (owner.clone(), waiter.want.fresh)
            })
            .collect();
        if let Err(failure) = result {
            let present = self.view.at(name).is_some();
            for (owner, _) in joined.into_iter().filter(|(_, fresh)| *fresh || !present) {
                if present
                    && failure.kind.is_registry_away()
                    && let Some(waiter) = self.waiters.get_mut(&owner).filter(|waiter| waiter.want.local_copy)
                {
                    waiter.satisfied = true;
                    waiter.unasked = Some(failure.clone());
                    self.row(Row::PullFailedLocal);
                    continue;
                }
                if failure.kind == FailureKind::NoSpace && self.waits_for_room(&owner, &failure) {
                    continue;
                }
                // An engine that went away took its pulls along: the one that answers now is asked within the same attempt.
                let tries = self.waiters.get(&owner).map_or(TRIES_MAX, |waiter| waiter.tries);
                if failure.kind != FailureKind::EngineLost || tries >= TRIES_MAX {
                    self.refuse(&owner, Refusal::Fetch(failure.clone()));
                }
            }
        }
    }

    /// What nobody waited for any more, or what a crash left behind, may have arrived since.
    pub(super) fn settle_late_intents(&mut self) {
        let late: Vec<_> = self
            .books
            .names()
            .filter(|record| !self.is_unsettled(&record.name))
            .filter_map(|record| Some((record.name.clone(), record.intent.clone()?)))
            .collect();
        for (name, intent) in late {
            let at = self.view.at(&name);
            let over = self.late_looks.get(&name).is_some_and(|look| *look <= self.view.applied);
            if let Some(content) = moved_to(&intent, at) {
                let recovered = self.recovery.was_under_way(&name);
                self.row(if recovered { Row::RecoveredPull } else { Row::PullLate });
                self.tell_late(&name, content);
                if self.fault == Fault::ForgetsLate {
                    self.books.change_name(&name, |record| record.intent = None);
                } else {
                    self.obtained(&name, content, &intent, false);
                    self.watch_on(&name, &intent);
                }
            } else if over {
                self.late_looks.remove(&name);
                self.books.change_name(&name, |record| record.intent = None);
            } else if at.is_none() && intent.before != Before::Absent {
                self.books.change_name(&name, |record| {
                    record.intent = Some(Intent { before: Before::Absent, ..intent });
                });
            }
        }
    }

    pub(super) fn pass_late_intents(&mut self) {
        let latest = self.now.plus(LATE);
        let late: Vec<_> = self
            .books
            .names()
            .filter_map(|record| Some((record.name.clone(), record.intent.as_ref()?.late_until?)))
            .collect();
        for (name, until) in late {
            if until <= self.now && !self.late_looks.contains_key(&name) {
                let look = self.ask_look();
                self.late_looks.insert(name, look);
            } else if until > latest {
                self.books.change_name(&name, |record| {
                    if let Some(intent) = &mut record.intent {
                        intent.late_until = Some(latest);
                    }
                });
            }
        }
        self.late_looks.retain(|name, _| self.books.name(name).is_some_and(|record| record.intent.is_some()));
    }

    pub(super) fn next_late_at(&self) -> Option<Timestamp> {
        let ends = self.books.names().filter_map(|record| record.intent.as_ref()?.late_until);
        ends.filter(|until| *until > self.now).min()
    }

    fn tell_late(&mut self, name: &ImageRef, content: ContentId) {
        let due_at = self.due_at(self.now);
        self.tell(Notice::ArrivedLate { name: name.clone(), content, due_at });
    }

    /// A pull or load of ours made the name point at this content.
    fn obtained(&mut self, name: &ImageRef, content: ContentId, intent: &Intent, taken: bool) {
        let was_ours = self.books.is_obtained(name);
        let ours = !taken && !self.policy.kept_by_others && intent.before != Before::Unknown;
        let why = match (taken, self.policy.kept_by_others) {
            (true, _) => ForeignReason::TakenOver,
            (false, true) => ForeignReason::KeptByOthers,
            (false, false) => ForeignReason::Unproven,
        };
        let binding = match ours {
            true if self.books.holders(name) > 0 => Binding::Held { content },
            true => Binding::Idle { content, idle_since: self.now },
            false => Binding::Foreign { content, since: self.now, why },
        };
        let took = self.now.since(intent.started_at);
        self.books.change_name(name, |record| {
            record.intent = None;
            record.foreign = false;
            record.binding = Some(binding);
            record.took = Some(took).filter(|took| !took.is_negative());
        });
        if ours {
            self.record_content(name, content, intent);
        }
        if let Before::At(left) = intent.before {
            self.left_behind(name, left, content, was_ours);
        }
    }

    fn record_content(&mut self, name: &ImageRef, content: ContentId, intent: &Intent) {
        let mut left: BTreeSet<_> = self.view.digests_at(content, name).cloned().collect();
        left.retain(|digest| digest != name && !intent.digests_before.contains(digest));
        let size_bytes = self.view.size_bytes(content);
        let record = match self.books.content(content) {
            Some(record) => {
                let mut record = record.clone();
                record.digest_names.extend(left);
                match record.state {
                    ContentState::Nameless => {
                        self.row(Row::ContentNamedAgain);
                        record.state = ContentState::Named;
                    }
                    ContentState::Left => record.state = ContentState::Named,
                    ContentState::Named | ContentState::Theirs | ContentState::Marked { .. } => {}
                }
                record
            }
            None if intent.present_before.contains(&content) => return,
            None => {
                self.tell(Notice::Obtained { name: name.clone(), content, size_bytes });
                let state = ContentState::Named;
                ContentRecord {
                    id: content,
                    state,
                    idle_since: None,
                    obtained_at: self.now,
                    size_bytes,
                    digest_names: left,
                }
            }
        };
        self.books.put_content(record);
    }

    /// The content that the name pointed at before: ours goes when nothing needs it and it has no other name; what others
    /// brought is left alone.
    fn left_behind(&mut self, name: &ImageRef, left: ContentId, now_at: ContentId, was_ours: bool) {
        if !was_ours {
            self.tell(Notice::MovedForeign { name: name.clone(), left, now_at });
        }
        if self.view.image(left).is_none() || self.is_named(left) {
            return;
        }
        if was_ours && self.books.content(left).is_some_and(|record| record.state != ContentState::Theirs) {
            self.row(Row::ContentNameless);
            self.books.change_content(left, ContentState::Nameless);
        } else {
            self.leave_nameless(left);
        }
    }

    fn grant(&mut self, owner: &Owner, name: &ImageRef, content: ContentId) {
        let Some(waiter) = self.waiters.remove(owner) else { return };
        let fetched = waiter.satisfied && waiter.unasked.is_none() || self.has_brought(&waiter, name, content);
        if !fetched {
            self.leave(&waiter);
        } else if let Some(fetch) = self.fetches.get_mut(name).filter(|fetch| waiter.joined == Some(fetch.id)) {
            fetch.arrived = true;
        }
        let binding = self.books.binding(name);
        if !self.books.is_obtained(name) {
            self.row(Row::WantedForeign);
        }
        if let Some(hold) = self.books.hold(owner, name) {
            let hold = Hold { granted: Some(content), ended_at: None, ..hold.clone() };
            self.books.put_hold(hold);
        }
        if binding.is_some() {
            let now = self.now;
            self.books.change_name(name, |record| {
                record.uses += 1;
                record.last_used_at = Some(now);
            });
        }
        self.actions.push(Action::Grant {
            owner: owner.clone(),
            name: name.clone(),
            content,
            name_points_at_it: name.id().is_none(),
            fetched,
            unasked: waiter.unasked.filter(|_| !fetched),
            size_bytes: self.view.size_bytes(content),
        });
        self.finish_handovers();
    }

    /// Whether the pull or load that the waiter joined has done its work, although its end was not told yet: a look
    /// can be faster.
    fn has_brought(&self, waiter: &Waiter, name: &ImageRef, content: ContentId) -> bool {
        let joined = self.fetches.get(name).filter(|fetch| waiter.joined == Some(fetch.id) && !fetch.taken);
        let intent = joined.and(self.books.name(name)).and_then(|record| record.intent.as_ref());
        intent.is_some_and(|intent| moved_to(intent, Some(content)).is_some())
    }

    pub(super) fn refuse(&mut self, owner: &Owner, why: Refusal) {
        if let Some(waiter) = self.waiters.remove(owner) {
            self.actions.push(Action::Refuse { owner: owner.clone(), name: waiter.want.name.clone(), why });
            self.leave(&waiter);
        }
    }

    /// What was under way at a crash may still bring something.
    pub(super) fn expect_late(&mut self, name: &ImageRef) {
        let until = self.now.plus(LATE);
        let mut is_load = false;
        self.books.change_name(name, |record| {
            if let Some(intent) = &mut record.intent {
                intent.late_until = Some(until);
                is_load = intent.archive.is_some();
            }
        });
        self.credits.expect(name, is_load, None, Some(until));
    }
}

/// Whether nothing that is present would do in place of what is pulled.
fn is_patient(want: &Want, present: bool) -> bool {
    !(want.fresh && want.local_copy && present)
}

/// The content that the name has moved to since the intent, if it has.
fn moved_to(intent: &Intent, at: Option<ContentId>) -> Option<ContentId> {
    at.filter(|content| intent.before != Before::At(*content))
}
