//! Room (K9): when it is short idle images go before their time, one after the other, the least worth first, until it is
//! not short any more. Two things begin that: a mark that was set, and "no space left".

use std::collections::{BTreeMap, BTreeSet};

use longshore_model::{ContentId, ImageRef, Timestamp};
use longshore_values::GoDuration;

use super::remove::Target;
use super::{Keeper, Removal};
use crate::space::{Rank, worth};
use crate::{
    ActId, Action, Binding, ContentState, Fault, FetchFailure, LookId, Notice, Owner, ROOM_PER_DOWNLOADED_BYTE,
    Refusal, RemovalReason, Room, Row, Short,
};

/// When nothing can go that is told again after this long, then after twice as long, and so on…
const TOLD_AGAIN_MIN: GoDuration = GoDuration::minutes(1);
/// … up to this long.
const TOLD_AGAIN_MAX: GoDuration = GoDuration::hours(1);

/// What is done about room that is short.
#[derive(Debug, Default)]
pub(crate) struct Space {
    /// The marks that are passed, until they are no more.
    over: BTreeSet<Short>,
    /// What obtained images took at the newest look, each layer once.
    taken_bytes: Option<u64>,
    wanted: Option<Wanted>,
    /// The one that goes now.
    chosen: Option<Chosen>,
    dead: Dead,
    /// Only looks from this one on show what the last act gave back.
    measured_by: LookId,
    /// Whether a complete look was taken in with this step.
    looked: bool,
    stuck: Option<Stuck>,
    /// Images that went since room is short.
    removed: u32,
    /// How often those who waited for room got what could be had.
    served: u64,
}

/// Room that a pull, or another write of ours, did not find.
#[derive(Debug, Default)]
struct Wanted {
    /// About how many free bytes it would take, as far as anybody knows.
    needed_bytes: u64,
    /// What was removed since: images, and containers that are over.
    removed: u32,
    /// About how many bytes that gave.
    freed_bytes: u64,
    /// Whether somebody other than pulls waits for it.
    for_writers: bool,
}

#[derive(Debug)]
struct Chosen {
    target: Target,
    content: ContentId,
    why: Short,
    bytes: u64,
}

/// Containers of ours that are over, which go first: once each time that room is short.
#[derive(Debug, Default, PartialEq, Eq)]
enum Dead {
    #[default]
    Unasked,
    Asked(ActId),
    Gone {
        at: Timestamp,
    },
}

/// Nothing can go.
#[derive(Debug)]
struct Stuck {
    told: BTreeMap<String, String>,
    again_at: Timestamp,
    wait: GoDuration,
}

/// Where a waiter stands whose pull met "no space left".
#[derive(Debug, Default)]
pub(crate) enum WaitForRoom {
    /// It has not met that.
    #[default]
    No,
    /// Room is being made for it.
    Now(FetchFailure),
    /// Its pull was tried once more.
    Over,
}

impl WaitForRoom {
    pub(crate) fn is_now(&self) -> bool {
        matches!(self, Self::Now(_))
    }
}

/// Content that could go, by one of its names first, or without one.
struct Candidate {
    target: Target,
    content: ContentId,
    bytes: u64,
    rank: Rank,
}

impl Space {
    pub(crate) fn has_looked(&mut self) {
        self.looked = true;
    }

    /// What room is short for now, if it is.
    pub(crate) fn short(&self) -> Option<Short> {
        let wanted = self.wanted.as_ref().map(|_| Short::NoSpace);
        wanted.or_else(|| self.over.first().copied())
    }

    pub(crate) fn is_short_for(&self, short: Short) -> bool {
        if short == Short::NoSpace { self.wanted.is_some() } else { self.over.contains(&short) }
    }

    /// Why this target goes now, when it was chosen.
    pub(crate) fn chose(&self, target: &Target) -> Option<RemovalReason> {
        let chosen = self.chosen.as_ref().filter(|chosen| chosen.target == *target)?;
        Some(RemovalReason::Room(chosen.why))
    }

    fn is_enough(&self, room: &Room) -> bool {
        let Some(wanted) = &self.wanted else { return true };
        let free = room.disk.map_or(wanted.freed_bytes, |disk| disk.free_bytes);
        wanted.removed > 0 && free >= wanted.needed_bytes
    }
}

impl Keeper {
    /// Whether anything may go for want of room.
    fn may_make_room(&self) -> bool {
        self.policy.image && !self.policy.kept_by_others && self.paused().is_none()
    }

    /// A pull or load met "no space left". Whether the waiter waits for room and then has it tried once more.
    pub(super) fn waits_for_room(&mut self, owner: &Owner, failure: &FetchFailure) -> bool {
        let allowed = self.may_make_room() && self.policy.space.reclaim;
        let Some(waiter) = self.waiters.get_mut(owner).filter(|_| allowed) else { return false };
        if !matches!(waiter.room, WaitForRoom::No) {
            return false;
        }
        waiter.room = WaitForRoom::Now(failure.clone());
        self.want_room(failure.needed_bytes.unwrap_or(0), false);
        true
    }

    /// Another write of ours met "no space left".
    pub(super) fn no_space(&mut self) {
        if self.may_make_room() && self.policy.space.reclaim {
            self.want_room(0, true);
        } else {
            self.actions.push(Action::RoomMade { any: false });
        }
    }

    fn want_room(&mut self, needed_bytes: u64, for_writers: bool) {
        if self.space.wanted.is_none() {
            self.row(Row::RoomWanted);
            self.tell_pressed(Short::NoSpace);
            if !matches!(self.space.dead, Dead::Asked(_)) {
                self.space.dead = Dead::Unasked;
            }
            self.space.measured_by = self.ask_look();
        }
        let wanted = self.space.wanted.get_or_insert_default();
        wanted.needed_bytes = wanted.needed_bytes.max(needed_bytes);
        wanted.for_writers |= for_writers;
    }

    fn tell_pressed(&mut self, short: Short) {
        let taken_bytes = self.space.taken_bytes.filter(|_| short == Short::Budget);
        self.tell(Notice::Pressed { short, disk: self.view.room.disk, taken_bytes });
    }

    pub(super) fn dead_removed(&mut self, act: ActId, removed: u32) {
        if self.space.dead != Dead::Asked(act) {
            return;
        }
        self.space.dead = Dead::Gone { at: self.now };
        if let Some(wanted) = &mut self.space.wanted {
            wanted.removed += removed;
        }
        if removed > 0 {
            self.space.measured_by = self.ask_look();
        }
    }

    /// Goes on with what is to be done about room. Runs when everything is judged. Whether waiters have been served, so that
    /// they can be answered now.
    pub(super) fn make_room(&mut self) -> bool {
        let served = self.space.served;
        self.go_on_with_room();
        self.space.served != served
    }

    fn go_on_with_room(&mut self) {
        let looked = std::mem::take(&mut self.space.looked);
        if !self.may_make_room() {
            self.end_room("; meanwhile this agent may remove no images");
            self.space = Space { served: self.space.served, ..Space::default() };
            return;
        }
        if looked {
            self.pass_marks();
        }
        if !self.policy.space.reclaim {
            self.end_room("; meanwhile gc.reclaim was switched off");
        }
        self.drop_wanted_by_nobody();
        if self.is_going() {
            return;
        }
        if let Some(chosen) = self.space.chosen.take() {
            self.count_chosen(&chosen);
            if !looked {
                self.space.measured_by = self.ask_look();
            }
        }
        let measured = self.view.applied >= self.space.measured_by;
        if !self.may_remove() || !measured || matches!(self.space.dead, Dead::Asked(_)) {
            return;
        }
        if self.space.wanted.is_some() && self.space.is_enough(&self.view.room) {
            self.end_room("");
        }
        match self.space.short() {
            Some(short) => self.make_more(short),
            None => self.ease(),
        }
    }

    /// Whether the removal of what was chosen is under way.
    fn is_going(&self) -> bool {
        let Some(chosen) = &self.space.chosen else { return false };
        self.removals.get(&chosen.content).is_some_and(|removal| removal.is_of(&chosen.target))
    }

    fn count_chosen(&mut self, chosen: &Chosen) {
        if self.view.image(chosen.content).is_some() {
            return;
        }
        self.space.removed += 1;
        self.space.stuck = None;
        if let Some(wanted) = &mut self.space.wanted {
            wanted.removed += 1;
            wanted.freed_bytes = wanted.freed_bytes.saturating_add(chosen.bytes);
        }
    }

    fn make_more(&mut self, short: Short) {
        // Since nothing could go, containers may be over as well.
        let told_at = self.space.stuck.as_ref().map(|stuck| stuck.again_at).filter(|at| *at <= self.now);
        let ask = match self.space.dead {
            Dead::Unasked => true,
            Dead::Gone { at } => told_at.is_some_and(|told_at| at < told_at),
            Dead::Asked(_) => false,
        };
        if ask {
            self.row(Row::DeadRemoved);
            let act = self.next_act();
            self.space.dead = Dead::Asked(act);
            self.actions.push(Action::RemoveDead { act });
            return;
        }
        if short == Short::NoSpace && self.is_hopeless() {
            let why = "; without all images that nothing needs there would not be enough room either";
            return self.end_room(why);
        }
        match self.least_worth() {
            Some(Candidate { target, content, bytes, .. }) => {
                self.space.chosen = Some(Chosen { target, content, why: short, bytes });
            }
            None if short == Short::NoSpace => {
                self.tell_stuck(short);
                let why = self.why_nothing_went();
                self.end_room(&why);
            }
            None => self.tell_stuck(short),
        }
    }

    /// Whether all that could go would not do, whatever the pull takes beyond its download.
    fn is_hopeless(&self) -> bool {
        let Some(wanted) = &self.space.wanted else { return false };
        let mut layers = BTreeMap::new();
        let mut bytes = self.view.room.disk.map_or(u64::MAX, |disk| disk.free_bytes);
        for image in self.view.images().filter(|image| self.candidate(image.id).is_ok()) {
            match self.view.room.layers.get(&image.id) {
                Some(known) => layers.extend(known.iter().map(|layer| (layer.id, layer.size_bytes))),
                None => bytes = bytes.saturating_add(image.size_bytes),
            }
        }
        let bytes = layers.values().fold(bytes, |sum, size_bytes| sum.saturating_add(*size_bytes));
        wanted.removed == 0 && bytes < wanted.needed_bytes / ROOM_PER_DOWNLOADED_BYTE
    }

    /// Room is not short any more.
    fn ease(&mut self) {
        self.space.dead = Dead::Unasked;
        self.space.removed = 0;
    }

    /// Which marks are passed, by the newest look.
    fn pass_marks(&mut self) {
        let policy = &self.policy.space;
        let has_budget = policy.budget_bytes.is_some();
        self.space.taken_bytes = has_budget.then(|| self.obtained_bytes());
        for short in [Short::DiskHigh, Short::MinFree, Short::Budget] {
            let was_over = self.space.over.contains(&short);
            let Some(is_over) = self.is_over(short, was_over) else { continue };
            if is_over && !was_over {
                self.row(Row::MarkPassed);
                self.space.over.insert(short);
                self.tell_pressed(short);
            } else if !is_over && was_over && self.fault != Fault::OvershootsTheMark {
                self.space.over.remove(&short);
                let (disk, removed) = (self.view.room.disk, self.space.removed);
                self.tell(Notice::Eased { short, disk, removed });
            }
        }
    }

    /// None when it cannot be told: then what was known last holds (K6).
    fn is_over(&self, short: Short, was_over: bool) -> Option<bool> {
        let (policy, disk) = (&self.policy.space, self.view.room.disk);
        match short {
            Short::DiskHigh => {
                let assumed = Some(80).filter(|_| self.fault == Fault::PressesWithoutMark);
                let Some(high) = policy.disk_high.or(assumed) else { return Some(false) };
                let low = policy.low().unwrap_or(high);
                disk.map(|disk| disk.is_above(if was_over { low } else { high }))
            }
            Short::MinFree => {
                let Some(least) = policy.min_free_bytes else { return Some(false) };
                disk.map(|disk| disk.free_bytes < least)
            }
            Short::Budget => {
                let Some(most) = policy.budget_bytes else { return Some(false) };
                Some(self.obtained_bytes() > most)
            }
            Short::NoSpace => None,
        }
    }

    /// What the content of names of ours takes, each layer once.
    fn obtained_bytes(&self) -> u64 {
        let by_name = self.books.names().filter_map(|record| record.binding).filter(Binding::is_obtained);
        let nameless = self.books.contents().filter(|record| is_nameless(record.state)).map(|record| record.id);
        let contents: BTreeSet<_> = by_name.map(|binding| binding.content()).chain(nameless).collect();
        let (mut layers, mut whole) = (BTreeMap::new(), 0_u64);
        for id in contents {
            match self.view.room.layers.get(&id) {
                Some(known) => layers.extend(known.iter().map(|layer| (layer.id, layer.size_bytes))),
                None => whole = whole.saturating_add(self.view.size_bytes(id)),
            }
        }
        layers.values().fold(whole, |sum, size_bytes| sum.saturating_add(*size_bytes))
    }

    /// What goes from the disk with the content: the layers that no other content has.
    fn own_bytes(&self, id: ContentId) -> u64 {
        let Some(layers) = self.view.room.layers.get(&id) else { return self.view.size_bytes(id) };
        let own = layers.iter().filter(|layer| !self.view.is_shared(layer.id));
        own.fold(0, |sum, layer| sum.saturating_add(layer.size_bytes))
    }

    fn least_worth(&self) -> Option<Candidate> {
        let ids: BTreeSet<_> = self.view.images().map(|image| image.id).collect();
        let candidates = ids.into_iter().filter_map(|id| self.candidate(id).ok());
        if self.fault == Fault::WorthiestFirst {
            return candidates.max_by(|one, other| one.rank.compare(&other.rank));
        }
        candidates.min_by(|one, other| one.rank.compare(&other.rank))
    }

    /// The content, if all that stands on it is ours and idle; else why it stays.
    fn candidate(&self, id: ContentId) -> Result<Candidate, String> {
        if self.removals.contains_key(&id) || self.content_barriers.contains_key(&id) {
            return Err("its removal is under way".to_owned());
        }
        if let Some(need) = self.need_of_nameless(id) {
            return Err(need.to_string());
        }
        let (mut ours, mut uses, mut took, mut used_at) = (Vec::new(), 0, None, Timestamp::NEVER);
        for name in self.view.names_at(id) {
            let Some(record) = self.books.name(name).filter(|record| record.binding.is_some()) else {
                // Private, or a digest name that goes with a tag of ours.
                if crate::is_private(name) || self.falls_with_ours(id, name) {
                    continue;
                }
                return Err(format!("{} was brought by others", name.familiar()));
            };
            let idle_since = match record.binding {
                Some(Binding::Idle { content, idle_since }) if content == id => idle_since,
                Some(Binding::Foreign { .. }) => return Err(format!("{} was brought by others", name.familiar())),
                _ => return Err(format!("{} is needed", name.familiar())),
            };
            if self.is_unsettled(name) {
                return Err(format!("{} is being pulled", name.familiar()));
            }
            self.may_go_by_age(&Target::Name(name.clone()), idle_since)?;
            uses += record.uses;
            took = took.max(record.took);
            used_at = used_at.max(idle_since).max(record.last_used_at.unwrap_or(Timestamp::NEVER));
            ours.push(name.clone());
        }
        let target = match ours.into_iter().next() {
            Some(name) => Target::Name(name),
            None => {
                let record = self.books.content(id).filter(|record| is_nameless(record.state));
                let Some(idle_since) = record.and_then(|record| record.idle_since) else {
                    return Err("it has no name, and others brought it".to_owned());
                };
                self.may_go_by_age(&Target::Content(id), idle_since)?;
                used_at = idle_since;
                Target::Content(id)
            }
        };
        let bytes = self.own_bytes(id);
        let rank = Rank { worth: worth(uses, self.now.since(used_at), took, bytes), last_used_at: used_at };
        Ok(Candidate { target, content: id, bytes, rank })
    }

    /// Whether the digest name, which has no record of its own, goes with the last tag of ours beside it.
    fn falls_with_ours(&self, id: ContentId, digest: &ImageRef) -> bool {
        let left = self.books.content(id).is_some_and(|record| record.digest_names.contains(digest));
        let beside = |name: &&ImageRef| {
            name.tag().is_some()
                && name.same_repository(digest)
                && self.books.binding(name).is_some_and(|binding| binding.is_obtained())
        };
        digest.digest().is_some() && (left || self.view.names_at(id).iter().any(|name| beside(&name)))
    }

    fn may_go_by_age(&self, target: &Target, idle_since: Timestamp) -> Result<(), String> {
        if let Some(backoff) = self.backoffs.get(target).filter(|backoff| backoff.retry_at > self.now) {
            return Err(format!("could not be removed, tried again later: {}", backoff.message));
        }
        if self.policy.may_be_pressed_at(idle_since) > self.now && self.fault != Fault::IgnoresMinAge {
            return Err(format!("it was used less than gc.min_age ({}) ago", self.policy.space.min_age));
        }
        Ok(())
    }

    /// Whether a removal for want of room still has its reason, as the look shows by which it is decided.
    pub(super) fn still_presses(&self, why: RemovalReason, target: &Target) -> bool {
        let RemovalReason::Room(short) = why else { return true };
        let idle_since = match target {
            Target::Name(name) => self.books.binding(name).and_then(|binding| binding.idle_since()),
            Target::Content(id) => self.books.content(*id).and_then(|record| record.idle_since),
        };
        let old = idle_since.is_some_and(|at| self.policy.may_be_pressed_at(at) <= self.now);
        if self.fault == Fault::OvershootsTheMark || self.fault == Fault::IgnoresMinAge {
            return true;
        }
        let is_short = match short {
            Short::NoSpace => self.space.wanted.is_some() && !self.space.is_enough(&self.view.room),
            mark => self.space.over.contains(&mark) && self.is_over(mark, true) == Some(true),
        };
        old && is_short
    }

    /// The pulls and writes that waited for room have been served as well as can be.
    fn end_room(&mut self, why_nothing_went: &str) {
        let Some(wanted) = self.space.wanted.take() else { return };
        if wanted.for_writers {
            self.actions.push(Action::RoomMade { any: wanted.removed > 0 });
        }
        let waiting = self.waiters.iter().filter(|(_, waiter)| waiter.room.is_now());
        let waiting: Vec<_> = waiting.map(|(owner, _)| owner.clone()).collect();
        let any = wanted.removed > 0;
        self.row(if any { Row::RoomMade } else { Row::NoRoomMade });
        for owner in waiting {
            let Some(waiter) = self.waiters.get_mut(&owner) else { continue };
            let WaitForRoom::Now(mut failure) = std::mem::replace(&mut waiter.room, WaitForRoom::Over) else {
                continue;
            };
            if !any {
                failure.message.push_str(why_nothing_went);
                self.refuse(&owner, Refusal::Fetch(failure));
            }
        }
        let (disk, removed) = (self.view.room.disk, wanted.removed);
        if any {
            self.tell(Notice::Eased { short: Short::NoSpace, disk, removed });
        }
        self.space.served += 1;
    }

    /// All that waited for room have gone.
    fn drop_wanted_by_nobody(&mut self) {
        let waits = self.waiters.values().any(|waiter| waiter.room.is_now());
        if self.space.wanted.as_ref().is_some_and(|wanted| !wanted.for_writers && !waits) {
            self.space.wanted = None;
        }
    }

    /// Why each image stays, by what it is called.
    fn why_each_stays(&self) -> BTreeMap<String, String> {
        let reason = |id| self.candidate(id).err();
        self.view.images().filter_map(|image| Some((self.called(image.id), reason(image.id)?))).collect()
    }

    fn called(&self, id: ContentId) -> String {
        let names = self.view.names_at(id);
        let name = names.iter().find(|name| name.tag().is_some()).or_else(|| names.first());
        name.map_or_else(|| id.short().to_string(), |name| name.familiar().to_owned())
    }

    fn why_nothing_went(&self) -> String {
        let stay = self.why_each_stays();
        let Some((image, why)) = stay.first_key_value() else {
            return "; there is no image on the engine that could make room".to_owned();
        };
        let further = match stay.len() {
            1 => String::new(),
            count => format!(", and {} further images stay as well", count - 1),
        };
        format!("; no idle image can make room: {image} stays ({why}){further}")
    }

    fn tell_stuck(&mut self, short: Short) {
        let now = self.now;
        if self.space.stuck.as_ref().is_some_and(|stuck| stuck.again_at > now) {
            return;
        }
        self.row(Row::NothingCanGo);
        let stay = self.why_each_stays();
        let before = self.space.stuck.take();
        let wait = before.as_ref().map_or(TOLD_AGAIN_MIN, |stuck| stuck.wait.saturating_mul(2).min(TOLD_AGAIN_MAX));
        let told = before.map(|stuck| stuck.told).unwrap_or_default();
        for (image, why) in stay.iter().filter(|(image, why)| told.get(*image) != Some(*why)) {
            self.tell(Notice::CannotGo { image: image.clone(), why: why.clone() });
        }
        self.tell(Notice::NothingCanGo { short, disk: self.view.room.disk, images: stay.len() });
        self.space.stuck = Some(Stuck { told: stay, again_at: now.plus(wait), wait });
    }

    /// The next time at which pressure may find more to remove.
    pub(super) fn next_room_at(&self) -> Option<Timestamp> {
        self.space.short()?;
        let old_at = self.books.names().filter_map(|record| record.binding?.idle_since());
        let old_at = old_at.chain(self.books.contents().filter_map(|record| record.idle_since));
        let old_at = old_at.map(|idle_since| self.policy.may_be_pressed_at(idle_since));
        let again_at = self.space.stuck.as_ref().map(|stuck| stuck.again_at);
        old_at.chain(again_at).filter(|at| *at > self.now).min()
    }

    /// What was told is said again once it is long ago. Clocks step back.
    pub(super) fn pass_stuck(&mut self) {
        let now = self.now;
        let Some(stuck) = &mut self.space.stuck else { return };
        stuck.again_at = stuck.again_at.min(now.plus(stuck.wait));
        if stuck.again_at.plus(TOLD_AGAIN_MAX) <= now {
            self.space.stuck = None;
        }
        if let Dead::Gone { at } = &mut self.space.dead {
            *at = now.min(*at);
        }
    }

    /// What is said of something idle while room is short.
    pub(super) fn said_of_room(&self, idle_since: Option<Timestamp>) -> Option<String> {
        let short = self.space.short().filter(|_| self.may_make_room())?;
        let may_at = self.policy.may_be_pressed_at(idle_since?);
        Some(if may_at > self.now {
            format!("idle, and younger than gc.min_age ({}); {short}", self.policy.space.min_age)
        } else {
            format!("idle, and goes as soon as it is worth least; {short}")
        })
    }

    /// Room as it is, for people and for metrics.
    pub fn room(&self) -> RoomReport {
        RoomReport {
            disk: self.view.room.disk,
            obtained_bytes: self.obtained_bytes(),
            short: Short::ALL.into_iter().filter(|short| self.space.is_short_for(*short)).collect(),
            removed: self.space.removed,
        }
    }
}

/// What is known of the room on the engine's disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoomReport {
    /// None when it cannot be measured.
    pub disk: Option<crate::Disk>,
    /// What images of ours take, each shared layer once.
    pub obtained_bytes: u64,
    /// What room is short for.
    pub short: Vec<Short>,
    /// How many images went since it is.
    pub removed: u32,
}

fn is_nameless(state: ContentState) -> bool {
    matches!(state, ContentState::Nameless | ContentState::Marked { .. })
}

impl Removal {
    fn is_of(&self, target: &Target) -> bool {
        self.goal() == target
    }
}
