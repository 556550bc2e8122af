//! Room: a disk that fills up, the marks on it, and what must hold of removals for want of it (K9).

use longshore_images::{
    Binding, ContentState, Disk, NameRecord, RemovalReason, Retain, Room, Short, SpacePolicy, is_private,
};

use super::*;

pub(super) fn draw_disk(random: &mut Random) -> Option<u64> {
    [None, Some(1_500), Some(3_000), Some(6_000)][random.below(4)]
}

pub(super) fn draw_policy(random: &mut Random) -> SpacePolicy {
    let marks = random.one_in(2);
    let mut space = SpacePolicy {
        disk_high: (marks && random.one_in(2)).then(|| [50, 70, 90][random.below(3)]),
        min_free_bytes: (marks && random.one_in(4)).then_some(700),
        budget_bytes: (marks && random.one_in(3)).then(|| [500, 1_200][random.below(2)]),
        min_age: GoDuration::seconds([0, 0, 0, 5, 60][random.below(5)]),
        max_age: GoDuration::seconds([0, 0, 120, 300][random.below(4)]),
        reclaim: !random.one_in(6),
        ..SpacePolicy::default()
    };
    if space.disk_high.is_some() && random.one_in(2) {
        space.disk_low = Some(30);
    }
    if space.has_marks() && random.one_in(3) {
        space.retain = Retain::Space;
    }
    space
}

/// What the judge of this world knows about room.
#[derive(Debug, Default)]
pub(crate) struct Pressure {
    /// As the newest complete look that reached the keeper showed it.
    room: Room,
    seen: Option<Seen>,
    /// The high mark was passed, and the low one not reached since.
    over_high: bool,
    /// A pull or write of this life of the agent met "no space left".
    met_no_space: bool,
    /// Somebody waits for `RoomMade`.
    pub(crate) waits_for_room: bool,
    /// Contents of which a removal was tried: it may be put off.
    tried: BTreeSet<ContentId>,
}

impl Pressure {
    pub(crate) fn agent_started(&mut self) {
        *self = Self::default();
    }

    pub(crate) fn looked(&mut self, seen: &Seen, policy: &Policy) {
        self.room = seen.room.clone();
        self.seen = Some(seen.clone());
        self.pass_high(policy);
    }

    pub(crate) fn pass_high(&mut self, policy: &Policy) {
        let Some(disk) = self.room.disk else { return };
        let mark = if self.over_high { policy.space.low() } else { policy.space.disk_high };
        self.over_high = mark.is_some_and(|percent| disk.is_above(percent));
    }

    pub(crate) fn no_space(&mut self) {
        self.met_no_space = true;
    }
}

impl World {
    pub(super) fn no_space(&mut self, id: ContentId) -> FetchFailure {
        let needed_bytes = self.random.one_in(2).then(|| engine::bytes_of([id].into_iter()));
        FetchFailure { needed_bytes, ..failed(FailureKind::NoSpace, "no space left on device") }
    }

    /// Others write, or remove, what is no image; and sometimes a write of the agent's own fails of it.
    pub(super) fn others_fill_the_disk(&mut self) {
        let Some(total) = self.engine.disk_bytes else { return };
        self.engine.other_bytes = self.random.next() % (total * 3 / 4);
        let other_bytes = self.engine.other_bytes;
        self.note(|| format!("others take {other_bytes} bytes"));
        if self.random.one_in(4) {
            self.oracle.pressure.no_space();
            self.oracle.pressure.waits_for_room = true;
            self.feed(Event::NoSpace);
        }
    }

    /// An image has been chosen to go for want of room: of those that could go it must be worth least.
    pub(super) fn check_choice(&mut self, records: &[Record]) {
        let chosen = records.iter().find_map(|record| match &record.entry {
            Some(Entry::Name(NameRecord { binding: Some(Binding::Removing { content, why, .. }), .. })) => {
                why.is_room().then_some(*content)
            }
            _ => None,
        });
        let Some(chosen) = chosen else { return };
        let entries = self.ledger_entries();
        let Some(worth) = self.worth_if_free(&entries, chosen, true) else { return };
        let others: Vec<_> = self.oracle.pressure.room.layers.keys().copied().filter(|id| *id != chosen).collect();
        for other in others {
            if self.oracle.pressure.tried.contains(&other) {
                continue;
            }
            if let Some(less) = self.worth_if_free(&entries, other, false) {
                self.require(less >= worth * 0.999, || {
                    format!("K9: {chosen} goes for want of room, worth {worth}, and {other} is worth {less}")
                });
            }
        }
        self.oracle.pressure.tried.insert(chosen);
    }

    /// Uses, half of them after each day, times seconds, per byte of its own: when every name of it is ours and idle.
    fn worth_if_free(&self, entries: &[Entry], id: ContentId, chosen: bool) -> Option<f64> {
        let seen = self.oracle.pressure.seen.as_ref()?;
        let image = seen.images.iter().find(|image| image.id == id)?;
        let record = |name: &ImageRef| {
            entries.iter().find_map(|entry| match entry {
                Entry::Name(record) if record.name == *name => Some(record),
                _ => None,
            })
        };
        let (mut uses, mut took, mut used_at) = (0, 1.0_f64, 0);
        let mut names = image.names.iter().filter(|name| !is_private(name)).peekable();
        names.peek()?;
        for name in names {
            let record = record(name)?;
            let since = match record.binding? {
                Binding::Idle { idle_since, .. } => idle_since,
                Binding::Removing { idle_since, .. } if chosen => idle_since,
                _ => return None,
            };
            if record.intent.is_some() || since.plus(self.policy.space.min_age) > self.timestamp() {
                return None;
            }
            uses += record.uses;
            took = took.max(record.took.map_or(1.0, GoDuration::as_seconds_f64));
            used_at = used_at.max(since.0).max(record.last_used_at.map_or(0, |at| at.0));
        }
        let held = entries.iter().any(|entry| match entry {
            Entry::Hold(hold) => image.names.contains(&hold.name) || hold.contents().any(|held| held == id),
            Entry::Pin(pin) => image.names.iter().any(|name| pin.pattern == name.familiar()),
            Entry::Content(record) => record.id == id && matches!(record.state, ContentState::Marked { .. }),
            _ => false,
        });
        let kept = image.names.iter().any(|name| self.policy.kept_by(name).is_some());
        if held || kept || seen.containers.iter().any(|container| container.content == id) {
            return None;
        }
        let own = engine::layers(id).into_iter().filter(|layer| {
            !seen.images.iter().any(|other| other.id != id && engine::layers(other.id).contains(layer))
        });
        let own: u64 = own.map(|layer| layer.size_bytes).sum();
        let days = ((self.now - used_at) as f64 / 86_400e9).max(0.0);
        Some(uses as f64 * 0.5_f64.powf(days) * took / own.max(1) as f64)
    }

    /// A removal for want of room is being sent.
    pub(crate) fn check_pressure(&self, name: &ImageRef, why: RemovalReason) {
        let RemovalReason::Room(short) = why else { return };
        let (pressure, space) = (&self.oracle.pressure, &self.policy.space);
        let disk = pressure.room.disk;
        let is_short = match short {
            Short::NoSpace => pressure.met_no_space && space.reclaim,
            Short::DiskHigh => {
                let above_low = |disk: Disk| space.low().is_some_and(|low| disk.is_above(low));
                pressure.over_high && disk.is_some_and(above_low)
            }
            Short::MinFree => {
                disk.is_some_and(|disk| space.min_free_bytes.is_some_and(|least| disk.free_bytes < least))
            }
            Short::Budget => space.budget_bytes.is_some(),
        };
        self.require(is_short, || format!("K9: {name} removed for want of room ({short}), and there is {disk:?}"));
    }

    /// The pressure of this world at its worst, with nobody in its way: after a while no mark is passed any more, or
    /// nothing is left that could go.
    pub(super) fn press_to_the_end(&mut self) {
        if !self.policy.image || self.policy.kept_by_others || self.engine.disk_bytes.is_none() {
            return;
        }
        let Some(high) = self.policy.space.disk_high else { return };
        self.settle(400 * SECOND);
        let Some(disk) = self.engine.look().room.disk.filter(|disk| disk.is_above(high)) else { return };
        let entries = self.ledger_entries();
        let present: Vec<_> = self.engine.contents.keys().copied().collect();
        for id in present {
            let free = self.worth_if_free(&entries, id, false).is_some();
            self.require(!free, || format!("K9: {id} could make room and stays: {disk}"));
        }
    }
}
