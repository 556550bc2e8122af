//! The keeper: what is known, and the one function that everything goes through.

mod accept;
mod adopt;
mod agent;
mod bring;
mod check;
mod compare;
mod credits;
mod explain;
mod foreign;
mod judge;
mod looks;
mod news;
mod pause;
mod prefetch;
mod recover;
mod remove;
mod space;
mod stories;
#[cfg(test)]
mod tests;
mod versions;

use std::collections::{BTreeMap, BTreeSet};
use std::mem;

use longshore_model::{ContentId, ImageRef, Timestamp};
use longshore_values::GoDuration;

use self::bring::{Fetch, Waiter};
pub use self::check::{Breach, Invariant};
use self::compare::Differences;
use self::credits::Credits;
use self::looks::Looks;
use self::recover::Recovery;
use self::remove::{Backoff, Removal, Target};
pub use self::space::RoomReport;
use self::space::Space;
use crate::books::Books;
use crate::view::View;
use crate::{Action, Entry, Event, Fault, LastFailure, LookId, Notice, Owner, Policy, Row, RowCounts, Step};

/// How long an act whose answer was lost may still be at work in the engine.
pub(crate) const SETTLE: GoDuration = GoDuration::seconds(5);
/// How long after a pull was cancelled or lost what arrives is still taken to be its doing.
pub(crate) const LATE: GoDuration = GoDuration::minutes(1);
/// After a refusal a removal is tried again, first after this long, then after twice as long, and so on…
pub(crate) const BACKOFF_MIN: GoDuration = GoDuration::seconds(5);
/// … up to this long.
pub(crate) const BACKOFF_MAX: GoDuration = GoDuration::minutes(5);
/// A look that failed is repeated after this long.
pub(crate) const LOOK_AGAIN: GoDuration = GoDuration::seconds(1);
/// Without any event the engine is looked at this often, while it has something of ours.
pub(crate) const LOOK_PERIOD: GoDuration = GoDuration::minutes(1);

/// Decides about the images of one engine. See the crate's documentation for what it promises.
#[derive(Debug)]
pub struct Keeper {
    policy: Policy,
    books: Books,
    view: View,
    engine_up: bool,
    looks: Looks,
    recovery: Recovery,
    waiters: BTreeMap<Owner, Waiter>,
    /// What was said to be wished for still, and is to be compared with the holds.
    still_wished: Option<BTreeSet<Owner>>,
    /// What the agent's settings need, once they were told.
    agent_needs: Option<BTreeSet<ImageRef>>,
    /// Which versions' images are to be kept, once that was told.
    versions: Option<BTreeSet<(Owner, ImageRef)>>,
    differences: Differences,
    fetches: BTreeMap<ImageRef, Fetch>,
    removals: BTreeMap<ContentId, Removal>,
    backoffs: BTreeMap<Target, Backoff>,
    /// What a person asked to collect.
    asked: BTreeSet<Target>,
    /// Looks that began before these say nothing about the name or content: an act of ours came between.
    name_barriers: BTreeMap<ImageRef, LookId>,
    content_barriers: BTreeMap<ContentId, LookId>,
    credits: Credits,
    space: Space,
    /// How the last pull or load of a name failed, unless one ended well since.
    failures: BTreeMap<ImageRef, LastFailure>,
    /// The look after which a pull or load that was cancelled or lost is no longer waited for.
    late_looks: BTreeMap<ImageRef, LookId>,
    /// Names that others brought, with the content that ours had: what it means for that shows with the next look.
    taken: BTreeMap<ImageRef, Option<ContentId>>,
    /// Ends of needs within the current step, by which what becomes idle in it is dated.
    ended_names: BTreeMap<ImageRef, Timestamp>,
    ended_contents: BTreeMap<ContentId, Timestamp>,
    next_fetch: u64,
    next_act: u64,
    now: Timestamp,
    wake_at: Option<Timestamp>,
    actions: Vec<Action>,
    rows: RowCounts,
    fault: Fault,
}

impl Keeper {
    /// The keeper as the ledger has it. Nothing is removed until `Event::Restored` and `Event::EngineBack` have come and
    /// the engine has been looked at (K10).
    pub fn restore(policy: Policy, entries: Vec<Entry>, now: Timestamp) -> Self {
        Self::restore_with_fault(policy, entries, now, Fault::None)
    }

    /// A keeper that does one thing wrong on purpose, so that a test can show that it would be noticed.
    #[doc(hidden)]
    pub fn restore_with_fault(policy: Policy, entries: Vec<Entry>, now: Timestamp, fault: Fault) -> Self {
        let mut keeper = Self {
            policy,
            books: Books::restore(entries),
            view: View::default(),
            engine_up: false,
            looks: Looks::default(),
            recovery: Recovery::default(),
            waiters: BTreeMap::new(),
            still_wished: None,
            agent_needs: None,
            versions: None,
            differences: Differences::default(),
            fetches: BTreeMap::new(),
            removals: BTreeMap::new(),
            backoffs: BTreeMap::new(),
            asked: BTreeSet::new(),
            name_barriers: BTreeMap::new(),
            content_barriers: BTreeMap::new(),
            credits: Credits::default(),
            space: Space::default(),
            failures: BTreeMap::new(),
            late_looks: BTreeMap::new(),
            taken: BTreeMap::new(),
            ended_names: BTreeMap::new(),
            ended_contents: BTreeMap::new(),
            next_fetch: 1,
            next_act: 1,
            now,
            wake_at: None,
            actions: Vec::new(),
            rows: RowCounts::new(),
            fault,
        };
        keeper.pick_up();
        keeper
    }

    /// Takes one event in and says what to do: first write the records, in one transaction, then carry out the actions.
    pub fn step(&mut self, now: Timestamp, event: Event) -> Step {
        self.now = now;
        self.ended_names.clear();
        self.ended_contents.clear();
        match event {
            Event::Accepted { alloc, needs, replaces } => self.accept(alloc, needs, replaces),
            Event::Wanted(want) => self.want(want),
            Event::GaveUp { owner } => self.give_up(&owner),
            Event::ContainerMade { owner, name, content } => self.container_made(&owner, &name, content),
            Event::Wished { owner, name, expires_at } => self.wished(&owner, &name, expires_at),
            Event::StillWished { owners } => self.are_still_wished(owners),
            Event::VersionsKept { needs } => self.versions_kept(needs),
            Event::AgentNeeds { names } => self.agent_needs(names),
            Event::Ended { owner, at } => self.ended(owner, at),
            Event::Restored { live, ended } => self.restored(live, ended),
            Event::Compared { live, needs } => self.compared(live, needs),
            Event::Looked { look, seen } => self.looked(look, seen),
            Event::LookFailed { look, message } => self.look_failed(look, message),
            Event::Fetched { fetch, result } => self.fetched(fetch, result),
            Event::Removed { act, answer } => self.removed(act, answer),
            Event::Tagged { act, answer } => self.tagged(act, answer),
            Event::DeadRemoved { act, removed } => self.dead_removed(act, removed),
            Event::NoSpace => self.no_space(),
            Event::EngineSaw { news, .. } => self.engine_saw(news),
            Event::EngineLost => self.engine_lost(),
            Event::EngineBack => self.engine_back(),
            Event::PolicyChanged(policy) => self.policy_changed(policy),
            Event::CollectNow => self.collect_now(),
            Event::Pinned(pin) => self.books.put_pin(pin),
            Event::Adopted { pattern, who } => self.adopt(&pattern, &who),
            Event::Unpinned { pattern } => self.books.drop_pin(&pattern),
            Event::Paused(pause) => self.pause(pause),
            Event::Resumed { who } => self.resume(&who),
            Event::Tick => {}
        }
        self.pass_time();
        self.answer_waiters();
        self.pass_agent();
        self.pass_versions();
        self.judge();
        if self.make_room() {
            self.answer_waiters();
            self.judge();
        }
        self.start_removals();
        self.issue_look();
        self.set_wake();
        Step { records: self.books.take_records(), actions: mem::take(&mut self.actions) }
    }

    /// The settings in force.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// All entries that the ledger holds when every record has been written.
    pub fn entries(&self) -> Vec<Entry> {
        self.books.entries()
    }

    /// How often each row of the life cycle was taken.
    pub fn rows(&self) -> &RowCounts {
        &self.rows
    }

    /// Whether removals may happen: allocations are restored, the engine was listed, and both have been compared (K10).
    pub fn is_recovered(&self) -> bool {
        self.recovery.is_done()
    }

    fn policy_changed(&mut self, policy: Policy) {
        self.policy = policy;
        self.space.has_looked();
        if !self.policy.image || self.policy.kept_by_others {
            self.call_off_removals(|removal| !removal.is_asked());
        }
        if !self.policy.collects_foreign() {
            let lent = self.books.names().filter(|record| record.foreign);
            let lent: BTreeSet<_> = lent.map(|record| record.name.clone()).collect();
            self.call_off_removals(|removal| lent.iter().any(|name| removal.removes(name)));
        }
    }

    fn row(&mut self, row: Row) {
        *self.rows.entry(row).or_default() += 1;
    }

    fn tell(&mut self, notice: Notice) {
        self.actions.push(Action::Tell(notice));
    }

    /// None: only pressure, or a person, ends it.
    fn due_at(&self, idle_since: Timestamp) -> Option<Timestamp> {
        if self.fault == Fault::ZeroDelay { Some(idle_since) } else { self.policy.due_at(idle_since) }
    }

    /// Clocks step back: no time that lies ahead may be further away than its own span.
    fn pass_time(&mut self) {
        let now = self.now;
        for backoff in self.backoffs.values_mut() {
            backoff.retry_at = backoff.retry_at.min(now.plus(BACKOFF_MAX));
        }
        for removal in self.removals.values_mut() {
            removal.clamp(now.plus(SETTLE));
        }
        self.credits.expire(now);
        self.pass_pause();
        self.pass_stuck();
        self.pass_wishes();
        self.pass_late_intents();
        self.pass_looks();
        self.settle_removals();
    }

    fn set_wake(&mut self) {
        let next = [
            self.looks.wake_at(),
            self.backoffs.values().map(|backoff| backoff.retry_at).filter(|at| *at > self.now).min(),
            self.removals.values().filter_map(Removal::settles_at).min(),
            self.next_late_at(),
            self.next_due_at(),
            self.pause_ends_at(),
            self.next_expiry_at(),
            self.next_room_at(),
        ];
        let next = next.into_iter().flatten().min();
        if next != self.wake_at {
            self.wake_at = next;
            self.actions.extend(next.map(Action::WakeAt));
        }
    }
}
