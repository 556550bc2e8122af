//! What must hold after each step, judged from what really happened in the engine and from the node's own record; and
//! what must be gone when everything has come to rest.

use std::collections::{BTreeMap, BTreeSet};

use longshore_images::{
    Action, Binding, ContentState, EngineNews, Entry, Event, FailureKind, FetchFailure, FetchId, Foreign,
    ForeignReason, Hold, Keeper, LookId, NameRecord, Owner, Policy, Record, RemovalReason, Want, is_private,
};
use longshore_model::{AllocId, ContentId, ImageRef};

use crate::engine::{Told, Who};
use crate::world::{Attempt, Pressure, Request, World};

#[derive(Debug, Default)]
pub(crate) struct Oracle {
    /// When the newest complete look that reached the keeper was taken.
    pub(crate) seen: u64,
    newest_look: LookId,
    newest_complete: bool,
    issued_look: LookId,
    listed_from: Option<LookId>,
    /// The first look by which the removal of a name may be decided: one that was asked for when it was recorded.
    decided_from: BTreeMap<ImageRef, LookId>,
    /// When the removal of a name, or of the content that it stands on, was decided on, by the clock and by the time that
    /// has really passed.
    decided_at: BTreeMap<ImageRef, (i64, i64)>,
    marked_at: BTreeMap<ContentId, (i64, i64)>,
    listed: bool,
    restored: bool,
    collected: bool,
    accepted: BTreeMap<Owner, u64>,
    ended: BTreeSet<Owner>,
    /// Owners whose successor was accepted when they had not ended yet.
    handed_over: BTreeSet<(Owner, AllocId)>,
    /// Counts questions and pulls, to tell which came first.
    order: u64,
    asked: BTreeMap<Owner, (ImageRef, u64)>,
    /// Owners for whom what is present does when the registry cannot be asked.
    local_copy: BTreeSet<Owner>,
    /// Owners that came to want another name, and so may have given the first one back.
    switched: BTreeSet<Owner>,
    pulls: BTreeMap<FetchId, Pull>,
    /// Names that a pull or load of ours was ever sent for.
    ever_ours: BTreeSet<ImageRef>,
    /// The end of the last hold on a name, by the clock and by the time that has really passed.
    ended_at: BTreeMap<ImageRef, (i64, i64)>,
    /// Own pulls and loads whose event has not come: what others do meanwhile cannot be told from them.
    own_open: BTreeMap<ImageRef, u32>,
    own_loads_open: u32,
    /// What others did to a name, and the keeper was told in a way that leaves no doubt.
    told: BTreeMap<ImageRef, u64>,
    /// When the keeper was last told of anything that others did to a name or to content, in doubt or not.
    heard_name: BTreeMap<ImageRef, u64>,
    heard_content: BTreeMap<ContentId, u64>,
    /// Events of loads do not tell names: those of others can stand for one of ours, whose own event then seems theirs.
    heard_load: bool,
    clock_forward: bool,
    pub(crate) pressure: Pressure,
    /// Why names, and contents without one, go, and the least age that they must have had when that was decided.
    why_name: BTreeMap<ImageRef, (RemovalReason, i64)>,
    why_content: BTreeMap<ContentId, (RemovalReason, i64)>,
}

#[derive(Debug)]
struct Pull {
    name: ImageRef,
    order: u64,
    is_load: bool,
    answered: bool,
    ended_well: bool,
    /// The registry could not be asked.
    unasked: bool,
}

impl Oracle {
    pub(crate) fn agent_started(&mut self, entries: &[Entry]) {
        self.seen = 0;
        self.newest_look = LookId(0);
        self.newest_complete = false;
        self.decided_from.clear();
        self.issued_look = LookId(0);
        self.listed_from = None;
        self.listed = false;
        self.restored = false;
        self.pulls.clear();
        self.own_open.clear();
        self.own_loads_open = 0;
        self.told.clear();
        self.pressure.agent_started();
        for entry in entries {
            if let Entry::Name(NameRecord { name, intent: Some(intent), .. }) = entry {
                if intent.archive.is_some() {
                    self.own_loads_open += 1;
                } else {
                    self.own_open.insert(name.clone(), 1);
                }
                self.ever_ours.insert(name.clone());
            }
        }
    }

    pub(crate) fn before(&mut self, event: &Event) {
        match event {
            Event::Restored { .. } => self.restored = true,
            Event::CollectNow => self.collected = true,
            Event::PolicyChanged(policy) => self.pressure.pass_high(policy),
            Event::EngineBack => {
                self.listed = false;
                self.listed_from = Some(LookId(self.issued_look.0 + 1));
            }
            Event::EngineLost => {
                self.listed = false;
                self.listed_from = None;
            }
            _ => {}
        }
    }

    /// A record has been written.
    pub(crate) fn recorded(&mut self, record: &Record, now: i64, lived: i64, policy: &Policy) {
        let with_age = |why| {
            let span = match why {
                RemovalReason::Asked => None,
                RemovalReason::Room(_) => Some(policy.space.min_age),
                RemovalReason::Due | RemovalReason::Aged => policy.idle_span(),
            };
            (why, span.map_or(0, |span| span.as_nanoseconds()))
        };
        match &record.entry {
            Some(Entry::Name(record)) if matches!(record.binding, Some(Binding::Removing { .. })) => {
                if let Some(Binding::Removing { why, .. }) = record.binding {
                    self.why_name.insert(record.name.clone(), with_age(why));
                }
                let next = LookId(self.issued_look.0 + 1);
                self.decided_from.entry(record.name.clone()).or_insert(next);
                self.decided_at.entry(record.name.clone()).or_insert((now, lived));
            }
            Some(Entry::Name(record)) => {
                self.decided_from.remove(&record.name);
                self.decided_at.remove(&record.name);
            }
            Some(Entry::Content(record)) if matches!(record.state, ContentState::Marked { .. }) => {
                if let ContentState::Marked { why } = record.state {
                    self.why_content.insert(record.id, with_age(why));
                }
                self.marked_at.entry(record.id).or_insert((now, lived));
            }
            Some(Entry::Content(record)) => {
                self.marked_at.remove(&record.id);
            }
            Some(_) => {}
            // What a name's record said is over with it.
            None => {
                let other = |name: &ImageRef| format!("name {}", name.full()) != record.key;
                self.decided_from.retain(|name, _| other(name));
                self.decided_at.retain(|name, _| other(name));
            }
        }
    }

    pub(crate) fn accepted(&mut self, owner: &Owner, seq: u64) {
        self.accepted.insert(owner.clone(), seq);
    }

    /// It holds these names anew: what it asked for before counts no more, unless it is one of them.
    pub(crate) fn came_to_hold(&mut self, owner: &Owner, names: &[ImageRef]) {
        if self.asked.get(owner).is_some_and(|(asked, _)| !names.contains(asked)) {
            self.asked.remove(owner);
        }
    }

    /// A successor was accepted for what had not ended yet.
    pub(crate) fn handed_over(&mut self, predecessor: &Owner, successor: AllocId) {
        if !self.ended.contains(predecessor) {
            self.handed_over.insert((predecessor.clone(), successor));
        }
    }

    pub(crate) fn wanted(&mut self, want: &Want) {
        self.order += 1;
        if want.local_copy {
            self.local_copy.insert(want.owner.clone());
        } else {
            self.local_copy.remove(&want.owner);
        }
        let before = self.asked.insert(want.owner.clone(), (want.name.clone(), self.order));
        if before.is_some_and(|(name, _)| name != want.name) {
            self.switched.insert(want.owner.clone());
        }
    }

    /// The end of an owner's need has been recorded.
    pub(crate) fn ended(&mut self, owner: &Owner, at: i64, now: i64, lived: i64) {
        let at = at.min(now);
        if !self.ended.insert(owner.clone()) {
            return;
        }
        if let Some((name, _)) = self.asked.get(owner) {
            let lived = lived - (now - at);
            let ended = self.ended_at.entry(name.clone()).or_insert((at, lived));
            *ended = (at.max(ended.0), lived.max(ended.1));
        }
    }

    pub(crate) fn answered(&mut self, request: &Request, event: &Event, snapshot: u64, policy: &Policy) {
        match (request, event) {
            (Request::Look { look }, Event::Looked { seen, .. }) if *look > self.newest_look => {
                self.newest_look = *look;
                self.newest_complete = seen.is_complete();
                if seen.is_complete() {
                    self.pressure.looked(seen, policy);
                    self.seen = snapshot;
                    if self.listed_from.is_some_and(|from| from <= *look) {
                        self.listed = true;
                    }
                }
            }
            (_, Event::Fetched { fetch, result }) => {
                if let Some(pull) = self.pulls.get_mut(fetch) {
                    pull.answered = true;
                    if result.as_ref().is_err_and(|failure| failure.kind == FailureKind::NoSpace) {
                        self.pressure.no_space();
                    }
                    pull.ended_well = result.is_ok();
                    pull.unasked = result.as_ref().is_err_and(|failure| failure.kind.is_registry_away());
                    let definite = |failure: &FetchFailure| {
                        matches!(failure.kind, FailureKind::NotFound | FailureKind::Unreachable)
                    };
                    if result.as_ref().is_err_and(definite) {
                        let (name, is_load) = (pull.name.clone(), pull.is_load);
                        self.own_event(&name, is_load);
                    }
                }
            }
            _ => {}
        }
    }

    fn own_event(&mut self, name: &ImageRef, is_load: bool) {
        let open = if is_load { Some(&mut self.own_loads_open) } else { self.own_open.get_mut(name) };
        if let Some(open) = open {
            *open = open.saturating_sub(1);
        }
    }

    pub(crate) fn event_delivered(&mut self, told: &Told) {
        match (&told.news, told.by) {
            (EngineNews::Pulled { name }, Who::Ours) => self.own_event(&name.clone(), false),
            (EngineNews::Loaded { .. }, Who::Ours) => self.own_loads_open = self.own_loads_open.saturating_sub(1),
            (EngineNews::Pulled { name }, Who::Others) => {
                self.heard_name.insert(name.clone(), u64::MAX);
                if self.own_open.get(name).is_none_or(|open| *open == 0) {
                    self.told.insert(name.clone(), told.seq);
                }
            }
            (EngineNews::Tagged { name, content }, Who::Others) => {
                self.heard_name.insert(name.clone(), u64::MAX);
                self.heard_content.insert(*content, u64::MAX);
                self.told.insert(name.clone(), told.seq);
            }
            (EngineNews::Loaded { content }, Who::Others) => {
                self.heard_load = true;
                self.heard_content.insert(*content, u64::MAX);
            }
            _ => {}
        }
    }

    pub(crate) fn clock_stepped_back(&mut self, now: i64) {
        self.ended_at.values_mut().for_each(|(at, _)| *at = now.min(*at));
    }

    pub(crate) fn clock_stepped_forward(&mut self) {
        self.clock_forward = true;
    }
}

impl World {
    fn is_live(&self, owner: &Owner) -> bool {
        if *owner == Owner::Agent {
            return self.infra_recorded.is_some();
        }
        if matches!(owner, Owner::KeptVersion { .. }) {
            return self.versions_held.contains(owner);
        }
        if owner.alloc().is_none() {
            return self.wishes.get(owner).is_some_and(|wish| wish.recorded);
        }
        if self.robbed.contains_key(owner) {
            return false;
        }
        let task = owner.alloc().and_then(|alloc| self.allocs.get(&alloc)).and_then(|alloc| alloc.tasks.get(owner));
        task.is_some_and(|task| task.ended_at.is_none())
    }

    /// The name that a task that may still start or run needs.
    fn needed_name(&self, owner: &Owner) -> Option<ImageRef> {
        if let Some((name, _)) = self.oracle.asked.get(owner) {
            return Some(name.clone());
        }
        if let Some(wish) = self.wishes.get(owner) {
            return Some(wish.name.clone());
        }
        if *owner == Owner::Agent {
            return self.infra_recorded.clone();
        }
        if matches!(owner, Owner::KeptVersion { .. }) {
            return self.versions.get(owner).cloned();
        }
        let alloc = self.allocs.get(&owner.alloc()?)?;
        Some(alloc.tasks.get(owner)?.name.clone())
    }

    fn live_owners(&self) -> Vec<Owner> {
        let owners =
            self.allocs.values().flat_map(|alloc| alloc.tasks.keys()).chain(self.wishes.keys()).chain([&Owner::Agent]);
        let owners = owners.chain(&self.versions_held);
        owners.filter(|owner| self.is_live(owner)).cloned().collect()
    }

    /// The content that an attempt relies on from grant to the end of its container.
    fn relied_on(&self, owner: &Owner) -> Option<(ImageRef, ContentId)> {
        match self.attempts.get(owner)? {
            Attempt::Granted { name, content, .. } => Some((name.clone(), *content)),
            Attempt::Created { name, container } | Attempt::Running { name, container } => {
                Some((name.clone(), self.engine.containers.get(container)?.content))
            }
            Attempt::Idle | Attempt::Asked { .. } => None,
        }
    }

    fn others_changed_since(&self, id: ContentId, seq: u64) -> bool {
        self.engine.others_content.get(&id).is_some_and(|changed| *changed > seq)
    }

    /// After each step.
    pub(crate) fn check(&mut self) {
        let Some(keeper) = &self.keeper else { return };
        let breaches = keeper.breaches();
        self.require(breaches.is_empty(), || format!("{}", breaches[0]));
        let entries = keeper.entries();
        let recovered = keeper.is_recovered();
        if self.random.one_in(64) {
            let (mut kept, mut ledger) = (entries.clone(), self.ledger_entries());
            kept.sort_by_key(Entry::key);
            ledger.sort_by_key(Entry::key);
            self.require(kept == ledger, || "K3: the ledger differs from the books".to_owned());
        }
        let holds = entries.into_iter().filter_map(|entry| match entry {
            Entry::Hold(hold) => Some(hold),
            _ => None,
        });
        let holds: Vec<Hold> = holds.collect();
        self.check_holds(&holds, recovered);
    }

    fn check_holds(&self, holds: &[Hold], recovered: bool) {
        for owner in self.live_owners() {
            let Some(name) = self.needed_name(&owner) else { continue };
            let held = holds.iter().any(|hold| hold.owner == owner && hold.name == name && hold.ended_at.is_none());
            self.require(held, || format!("K3: {owner} lost its hold on {name}"));
        }
        for (owner, compared) in &self.robbed {
            self.require(*compared < 2, || format!("K3: two comparisons did not give {owner} its hold back"));
        }
        for hold in holds {
            if self.strays.get(&hold.owner).is_some_and(|compared| *compared < 2) {
                continue;
            }
            if let Some(expires_at) = hold.expires_at.filter(|_| recovered) {
                let over = expires_at.0 <= self.now || self.wishes_over.contains(&hold.owner);
                self.require(!over, || {
                    format!("K3: nobody wishes for {} any more, {} holds it", hold.name, hold.owner)
                });
            }
            if hold.owner == Owner::Agent && recovered {
                let networks = |other: &Hold| matches!(other.owner, Owner::Network(_)) && other.name == hold.name;
                let stands = self.infra_recorded.as_ref() == Some(&hold.name) || holds.iter().any(networks);
                self.require(stands || !self.infra_told, || {
                    format!("K3: the agent has no need of {} any more and holds it", hold.name)
                });
            }
            if matches!(hold.owner, Owner::KeptVersion { .. }) && recovered && self.versions_known {
                let kept = self.versions.get(&hold.owner) == Some(&hold.name);
                self.require(kept, || format!("K3: nobody goes back to what {} holds", hold.owner));
            }
            let Some(alloc) = &hold.owner.alloc() else { continue };
            if self.is_live(&hold.owner) {
                continue;
            }
            let told = self.allocs.contains_key(alloc) && !self.untold.contains(&hold.owner);
            let known = self.allocs.contains_key(alloc);
            if !recovered || known && !told {
                continue;
            }
            self.require(self.may_linger(hold, *alloc, holds), || {
                format!("K3: {} has ended and still holds {}", hold.owner, hold.name)
            });
        }
        for (alloc, record) in &self.allocs {
            if let Some(predecessor) = record.replaces {
                self.check_handover(predecessor, *alloc, holds);
            }
        }
    }

    fn successor(&self, alloc: AllocId) -> Option<AllocId> {
        self.allocs.iter().find(|(_, record)| record.replaces == Some(alloc)).map(|(id, _)| *id)
    }

    fn may_linger(&self, hold: &Hold, alloc: AllocId, holds: &[Hold]) -> bool {
        let Some(successor) = self.successor(alloc) else { return false };
        let theirs = |other: &&Hold| other.owner.alloc() == Some(successor) && other.ended_at.is_none();
        hold.ended_at.is_some() && holds.iter().any(|other| theirs(&other) && other.granted.is_none())
    }

    /// K7: while a successor has been granted nothing, what its predecessor held stays held.
    fn check_handover(&self, predecessor: AllocId, successor: AllocId, holds: &[Hold]) {
        let of = |alloc: AllocId| holds.iter().filter(move |hold| hold.owner.alloc() == Some(alloc));
        let waits = of(successor).any(|hold| hold.ended_at.is_none());
        let granted = of(successor).any(|hold| hold.granted.is_some());
        let Some(record) = self.allocs.get(&predecessor) else { return };
        if !waits || granted {
            return;
        }
        let Some(successor_record) = self.allocs.get(&successor) else { return };
        let replaced: Vec<_> = successor_record.tasks.keys().cloned().collect();
        if replaced.iter().any(|owner| !self.is_live(owner)) {
            return;
        }
        for (owner, task) in &record.tasks {
            if task.ended_at.is_some() && !self.oracle.handed_over.contains(&(owner.clone(), successor)) {
                continue;
            }
            let held = of(predecessor).any(|hold| hold.owner == *owner);
            self.require(held, || format!("K7: {owner} let go before its successor had its image"));
        }
    }

    /// What the keeper orders.
    pub(crate) fn oracle_acts(&mut self, action: &Action) {
        match action {
            Action::Look { look } => self.oracle.issued_look = *look,
            Action::Pull { fetch, name, owner, .. } | Action::Load { fetch, name, owner, .. } => {
                let is_load = matches!(action, Action::Load { .. });
                self.check_pull(*fetch, name, owner, is_load);
            }
            Action::Grant { owner, name, content, .. } => self.check_grant(owner, name, *content),
            Action::RemoveName { name, content, .. } => self.check_order(name, *content),
            Action::Tag { .. } => {
                self.require(self.oracle.restored && self.oracle.listed, || "K10: tagged before recovery".to_owned());
            }
            _ => {}
        }
    }

    fn check_pull(&mut self, fetch: FetchId, name: &ImageRef, owner: &Owner, is_load: bool) {
        let other = self.oracle.pulls.values().any(|pull| pull.name == *name && !pull.answered);
        self.require(!other, || format!("K4: a second pull of {name}"));
        if let Some(Attempt::Asked { fresh: false, .. }) = self.attempts.get(owner) {
            let since = self.oracle.accepted.get(owner).copied().unwrap_or(0);
            let same = !self.oracle.switched.contains(owner)
                && self.allocs.values().any(|alloc| alloc.tasks.get(owner).is_some_and(|task| task.name == *name));
            let removed = self.engine.name_removed.get(name);
            let ours = removed.is_some_and(|(who, sent)| *who == Who::Ours && *sent > since);
            let touched = self.engine.others_name.get(name).is_some_and(|seq| *seq > since);
            self.require(!ours || !same || touched || self.engine.at(name).is_some(), || {
                format!("K7: {name} was removed after {owner} was accepted")
            });
        }
        self.oracle.order += 1;
        let order = self.oracle.order;
        let pull = Pull { name: name.clone(), order, is_load, answered: false, ended_well: false, unasked: false };
        self.oracle.pulls.insert(fetch, pull);
        self.oracle.ever_ours.insert(name.clone());
        if is_load {
            self.oracle.own_loads_open += 1;
        } else {
            *self.oracle.own_open.entry(name.clone()).or_default() += 1;
        }
    }

    fn check_grant(&mut self, owner: &Owner, name: &ImageRef, content: ContentId) {
        self.require(self.is_live(owner), || format!("K3: {owner} has ended and is granted {name}"));
        if let Some(Attempt::Asked { fresh: true, .. }) = self.attempts.get(owner) {
            let since = self.oracle.asked.get(owner).map_or(0, |(_, order)| *order);
            let local = self.oracle.local_copy.contains(owner);
            let fresh =
                |pull: &Pull| pull.name == *name && pull.order > since && (pull.ended_well || local && pull.unasked);
            self.require(self.oracle.pulls.values().any(fresh), || {
                format!("K4: {owner} asked for fresh {name} and was granted what an older pull brought")
            });
        }
        let waits = matches!(self.attempts.get(owner), Some(Attempt::Asked { name: asked, .. }) if asked == name);
        self.require(waits, || format!("K3: {owner} is granted {name} ({content}) without having asked"));
    }

    /// A removal is being sent.
    fn check_order(&self, name: &ImageRef, content: ContentId) {
        let oracle = &self.oracle;
        self.require(oracle.restored && oracle.listed, || format!("K10: {name} removed before recovery"));
        self.require(oracle.newest_complete, || format!("K6: {name} removed on a look that could not read everything"));
        let paused = self.paused.is_some_and(|(_, until)| until > self.now);
        self.require(!paused, || format!("{name} removed, and a person has paused removals"));
        let fresh = oracle.decided_from.get(name).is_none_or(|from| *from <= oracle.newest_look);
        self.require(fresh, || format!("K1: {name} removed without a fresh look"));
        self.require(self.policy.image || oracle.collected, || format!("{name} removed with gc.image = false"));
        self.require(!self.policy.kept_by_others, || format!("K5: {name} removed, and another agent keeps the images"));
        self.require(name.id().is_none(), || format!("K5: {name} is removed by id"));
        for owner in self.live_owners() {
            let needed = self.needed_name(&owner);
            self.require(needed.as_ref() != Some(name), || format!("K1: {name} removed, {owner} needs it"));
        }
        // Content that was marked and is named again may still have its mark.
        let named = oracle.why_name.get(name).filter(|_| oracle.decided_at.contains_key(name));
        let nameless = oracle.why_content.get(&content).filter(|_| oracle.marked_at.contains_key(&content));
        let why = named.or(nameless).or_else(|| oracle.why_name.get(name)).copied();
        let (why, delay) = why.unwrap_or((RemovalReason::Due, self.policy.image_delay.as_nanoseconds()));
        self.check_pressure(name, why);
        if let Some((ended_at, lived)) = oracle.ended_at.get(name)
            && !oracle.collected
        {
            let decided = oracle.decided_at.get(name).or(oracle.marked_at.get(&content)).copied();
            let moments = decided.into_iter().chain([(self.now, self.lived)]);
            let passed = moments.into_iter().any(|(now, then)| now - ended_at >= delay || then - lived >= delay);
            self.require(passed, || format!("K2: {name} removed before its delay has passed"));
        }
        self.check_provenance(name, content);
        self.check_uses(name, content, oracle.seen);
    }

    fn check_provenance(&self, name: &ImageRef, content: ContentId) {
        let Some(truth) = self.engine.names.get(name) else { return };
        if is_private(name) || truth.by == Who::Ours || self.policy.foreign == Foreign::Collect {
            return;
        }
        let oracle = &self.oracle;
        let told = oracle.told.get(name).is_some_and(|seq| *seq >= truth.seq);
        self.require(!told, || format!("K5: {name} removed, and the keeper was told that others brought it"));
        let moved = truth.content != content && oracle.seen >= truth.seq;
        self.require(!moved, || format!("K5: {name} removed, and the keeper saw that others moved it"));
        let pulled = |ours: &ImageRef| ours == name || name.digest().is_some() && ours.same_repository(name);
        self.require(oracle.ever_ours.iter().any(pulled), || format!("K5: {name} removed, and it was never ours"));
    }

    /// Whether the keeper took it for its own: others may have brought it again since, and it was not told yet.
    fn was_ours(&self, name: &ImageRef) -> bool {
        let record = |entry: &Entry| matches!(entry, Entry::Name(record) if record.name == *name && !record.foreign);
        self.ledger_entries().iter().any(record)
    }

    /// Whether somebody uses what goes with the name, who did so when the keeper looked.
    fn check_uses(&self, name: &ImageRef, content: ContentId, seen: u64) {
        if self.engine.at(name) != Some(content) || self.others_changed_since(content, seen) {
            return;
        }
        let (falling, last) = self.engine.falling(name);
        for (id, container) in &self.engine.containers {
            let uses = container.content == content && container.seq <= seen;
            let theirs = self.engine.names[name].by == Who::Others && !is_private(name);
            let collected = theirs && uses && self.policy.foreign == Foreign::Collect && !self.was_ours(name);
            self.require(!collected, || format!("K5: {name} of others removed, container {id} uses it"));
            let by_name = container.made_from.as_ref().map_or(!is_private(name), |from| falling.contains(from));
            self.require(!uses || !(last || by_name), || {
                format!("K1: {name} removed, container {id} was made from it")
            });
        }
        for owner in self.live_owners() {
            let needed = self.needed_name(&owner);
            let falls = needed.as_ref().is_some_and(|needed| falling.contains(needed));
            self.require(!falls, || format!("K1: {name} removed, and with it what {owner} needs"));
            let relied_on = self.relied_on(&owner).is_some_and(|(_, id)| id == content);
            self.require(!last || !relied_on, || format!("K1: the last name {name} removed, {owner} uses the content"));
        }
    }

    /// A removal is being carried out by the engine, perhaps long after it was sent.
    pub(crate) fn check_removal(&self, name: &ImageRef, seen: u64) {
        let Some(content) = self.engine.at(name) else { return };
        if self.others_changed_since(content, seen) {
            return;
        }
        let (falling, last) = self.engine.falling(name);
        for owner in self.live_owners() {
            let Some((used, id)) = self.relied_on(&owner) else { continue };
            let hit = id == content && (last || falling.contains(&used));
            self.require(!hit, || format!("K1: {name} is being removed, {owner} was granted it"));
        }
    }

    /// Content that was handed out is not there.
    pub(crate) fn check_missing(&self, owner: &Owner, content: ContentId, _granted: u64) {
        let by = self.engine.content_removed.get(&content);
        self.require(by == Some(&Who::Others), || format!("K1: {owner} was granted {content}, and we removed it"));
    }

    fn records(keeper: &Keeper) -> (Vec<Hold>, Vec<NameRecord>) {
        let (mut holds, mut names) = (Vec::new(), Vec::new());
        for entry in keeper.entries() {
            match entry {
                Entry::Hold(hold) => holds.push(hold),
                Entry::Name(record) => names.push(record),
                _ => {}
            }
        }
        (holds, names)
    }

    /// Everything has come to rest while tasks go on.
    pub(crate) fn check_quiet(&self) {
        let holds = self.keeper.as_ref().map(|keeper| Self::records(keeper).0).unwrap_or_default();
        for (owner, name) in self.versions.iter().filter(|(_, name)| self.engine.at(name).is_some()) {
            let held = holds.iter().any(|hold| hold.owner == *owner && hold.name == *name);
            self.require(held, || format!("K3: {owner} can be gone back to, and does not hold {name}"));
        }
        for attempt in self.attempts.values() {
            let waits = matches!(attempt, Attempt::Asked { .. });
            self.require(!waits, || format!("{attempt:?} is never answered"));
        }
        self.require(!self.oracle.pressure.waits_for_room, || "a write waits for room for ever".to_owned());
    }

    /// Everything has come to rest, and all tasks have ended longer ago than the delay.
    pub(crate) fn check_gone(&self) {
        let Some(keeper) = &self.keeper else { return };
        let (holds, records) = Self::records(keeper);
        self.require(holds.is_empty(), || format!("K3: {:?} is still held", holds[0]));
        for record in &records {
            let foreign = matches!(record.binding, Some(Binding::Foreign { .. }));
            let stays = foreign || self.would_take_what_others_brought(&record.name);
            self.require(stays && record.intent.is_none(), || {
                let why = keeper.explain(&record.name).map(|explanation| explanation.status.why);
                let beside: Vec<_> = records.iter().filter(|other| other.name.same_repository(&record.name)).collect();
                format!("K2: {record:?} is still there: {why:?}; beside it {beside:?}")
            });
        }
        if self.policy.foreign == Foreign::Collect && !self.oracle.clock_forward {
            let left: Vec<_> = self.engine.names.keys().collect();
            self.require(left.is_empty(), || format!("K2: {left:?} are collected, and stay"));
        }
        for (name, truth) in &self.engine.names {
            self.require(!is_private(name), || format!("K2: the private name {name} is still there"));
            if truth.by == Who::Ours && name.tag().is_some() && !self.would_take_what_others_brought(name) {
                let record = records.iter().find(|record| record.name == *name);
                self.require(self.may_be_foreign(name, record), || format!("K2: {name} is ours and stays: {record:?}"));
            }
        }
        for (id, content) in &self.engine.contents {
            let names = self.engine.names_at(*id);
            let left = names.iter().all(|name| name.digest().is_some() && self.engine.names[name].by == Who::Ours);
            let bound = records.iter().any(|r| names.contains(&r.name));
            let leaked = left && content.by == Who::Ours && content.unnamed_by == Who::Ours && !bound;
            let in_doubt = self.oracle.heard_content.contains_key(id)
                || self.oracle.heard_load
                || names.iter().any(|name| self.oracle.heard_name.contains_key(name))
                || self.engine.others_content.contains_key(id)
                || names.iter().any(|name| self.engine.others_name.keys().any(|theirs| theirs.same_repository(name)))
                || self.oracle.clock_forward;
            self.require(!leaked || in_doubt, || format!("K2: {id:?} was left nameless by us and stays"));
        }
    }

    /// The last tag of a repository takes the digest names beside it along: one that others brought keeps the tag.
    pub(crate) fn would_take_what_others_brought(&self, name: &ImageRef) -> bool {
        let (falling, _) = self.engine.falling(name);
        let Some(id) = self.engine.at(name) else { return false };
        let theirs = self.engine.contents.get(&id).is_some_and(|content| content.by == Who::Others)
            || self.engine.others_content.contains_key(&id)
            || self.oracle.clock_forward;
        // What others did to a tag may be told after a pull of ours: then the digest name beside it is theirs, in doubt.
        let heard = self.oracle.heard_name.keys().any(|other| other.same_repository(name));
        let records = self.keeper.as_ref().filter(|_| heard).map(|keeper| Self::records(keeper).1).unwrap_or_default();
        let taken = |falls: &ImageRef| {
            let foreign = |record: &&NameRecord| matches!(record.binding, Some(Binding::Foreign { .. }));
            records.iter().filter(foreign).any(|record| record.name == *falls)
        };
        let by_others = |falls: &ImageRef| self.engine.names[falls].by == Who::Others || taken(falls);
        falling.iter().any(|falls| falls != name && (theirs || by_others(falls)))
    }

    /// Whether the keeper has a reason to think that a name of ours is not ours.
    fn may_be_foreign(&self, name: &ImageRef, record: Option<&NameRecord>) -> bool {
        let why = record.and_then(|record| match record.binding {
            Some(Binding::Foreign { why, .. }) => Some(why),
            _ => None,
        });
        match why {
            Some(ForeignReason::Unproven | ForeignReason::KeptByOthers) => true,
            Some(_) => {
                let at = self.engine.at(name);
                self.oracle.clock_forward
                    || self.oracle.heard_load
                    || self.oracle.heard_name.contains_key(name)
                    || self.engine.others_name.contains_key(name)
                    || at.is_some_and(|id| self.oracle.heard_content.contains_key(&id))
            }
            None => self.oracle.clock_forward || self.engine.others_name.contains_key(name),
        }
    }
}
