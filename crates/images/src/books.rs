use std::collections::{BTreeMap, BTreeSet};
use std::mem;

use longshore_model::{AllocId, ContentId, ImageRef, Timestamp};

use crate::{
    Binding, ContentRecord, ContentState, Entry, Handover, Hold, NameRecord, Owner, Pause, Pin, Record, Story,
};

/// The stories of so many images that are gone are kept: about 200 KiB.
pub(crate) const STORIES_MAX: usize = 512;

/// Everything that outlives the agent, and what of it has changed since the last step.
///
/// The ledger holds the same entries: whatever is changed here is marked, and leaves as a record of the step.
#[derive(Debug, Default)]
pub(crate) struct Books {
    holds: BTreeMap<Owner, BTreeMap<ImageRef, Hold>>,
    holders_by_name: BTreeMap<ImageRef, BTreeSet<Owner>>,
    holders_by_content: BTreeMap<ContentId, BTreeSet<(Owner, ImageRef)>>,
    handovers: BTreeMap<AllocId, AllocId>,
    names: BTreeMap<ImageRef, NameRecord>,
    contents: BTreeMap<ContentId, ContentRecord>,
    pins: BTreeMap<String, Pin>,
    pause: Option<Pause>,
    stories: BTreeMap<ImageRef, Story>,
    changed: BTreeSet<Key>,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Hold(Owner, ImageRef),
    Handover(AllocId),
    Name(ImageRef),
    Content(ContentId),
    Pin(String),
    Pause,
    Story(ImageRef),
}

impl Books {
    /// The books as the ledger has them.
    pub(crate) fn restore(entries: Vec<Entry>) -> Self {
        let mut books = Self::default();
        for entry in entries {
            match entry {
                Entry::Hold(hold) => books.put_hold(hold),
                Entry::Handover(handover) => books.put_handover(handover),
                Entry::Name(record) => {
                    books.names.insert(record.name.clone(), record);
                }
                Entry::Content(record) => {
                    books.contents.insert(record.id, record);
                }
                Entry::Pin(pin) => books.put_pin(pin),
                Entry::Pause(pause) => books.pause = Some(pause),
                Entry::Story(story) => _ = books.stories.insert(story.name.clone(), story),
            }
        }
        books.changed.clear();
        books
    }

    /// What has changed since the last call, for the ledger.
    pub(crate) fn take_records(&mut self) -> Vec<Record> {
        mem::take(&mut self.changed).into_iter().map(|key| self.record(key)).collect()
    }

    fn record(&self, key: Key) -> Record {
        let (key, entry) = match key {
            Key::Hold(owner, name) => {
                (Entry::hold_key(&owner, &name), self.hold(&owner, &name).cloned().map(Entry::Hold))
            }
            Key::Handover(predecessor) => (
                Entry::handover_key(predecessor),
                self.successor(predecessor).map(|successor| Entry::Handover(Handover { predecessor, successor })),
            ),
            Key::Name(name) => (Entry::name_key(&name), self.names.get(&name).cloned().map(Entry::Name)),
            Key::Content(id) => (Entry::content_key(id), self.contents.get(&id).cloned().map(Entry::Content)),
            Key::Pin(pattern) => (Entry::pin_key(&pattern), self.pins.get(&pattern).cloned().map(Entry::Pin)),
            Key::Story(name) => (Entry::story_key(&name), self.stories.get(&name).cloned().map(Entry::Story)),
            Key::Pause => (Entry::PAUSE_KEY.to_owned(), self.pause.clone().map(Entry::Pause)),
        };
        Record { key, entry }
    }

    /// All entries, as a ledger that has every record holds them.
    pub(crate) fn entries(&self) -> Vec<Entry> {
        let holds = self.holds.values().flat_map(BTreeMap::values).cloned().map(Entry::Hold);
        let handovers = self.handovers.iter().map(|(predecessor, successor)| {
            Entry::Handover(Handover { predecessor: *predecessor, successor: *successor })
        });
        let names = self.names.values().cloned().map(Entry::Name);
        let contents = self.contents.values().cloned().map(Entry::Content);
        let pins = self.pins.values().cloned().map(Entry::Pin);
        let pause = self.pause.clone().map(Entry::Pause);
        let stories = self.stories.values().cloned().map(Entry::Story);
        holds.chain(handovers).chain(names).chain(contents).chain(pins).chain(pause).chain(stories).collect()
    }

    // Holds.

    pub(crate) fn hold(&self, owner: &Owner, name: &ImageRef) -> Option<&Hold> {
        self.holds.get(owner)?.get(name)
    }

    pub(crate) fn holds(&self) -> impl Iterator<Item = &Hold> {
        self.holds.values().flat_map(BTreeMap::values)
    }

    pub(crate) fn holds_of<'a>(&'a self, owner: &Owner) -> impl Iterator<Item = &'a Hold> + use<'a> {
        self.holds.get(owner).into_iter().flat_map(BTreeMap::values)
    }

    /// The holds of all owners that belong to an allocation.
    pub(crate) fn holds_of_alloc(&self, alloc: AllocId) -> impl Iterator<Item = &Hold> {
        let tasks = Owner::Task { alloc, task: String::new() };
        let tasks = self
            .holds
            .range(tasks..)
            .take_while(move |(owner, _)| matches!(owner, Owner::Task { .. }) && owner.alloc() == Some(alloc));
        tasks.map(|(_, holds)| holds).chain(self.holds.get(&Owner::Network(alloc))).flat_map(BTreeMap::values)
    }

    pub(crate) fn holders(&self, name: &ImageRef) -> usize {
        self.holders_by_name.get(name).map_or(0, BTreeSet::len)
    }

    pub(crate) fn holds_on<'a>(&'a self, name: &'a ImageRef) -> impl Iterator<Item = &'a Hold> {
        let owners = self.holders_by_name.get(name).into_iter().flatten();
        owners.filter_map(move |owner| self.hold(owner, name))
    }

    /// Owner and name of each hold that keeps the content.
    pub(crate) fn content_holders(&self, id: ContentId) -> impl Iterator<Item = &(Owner, ImageRef)> {
        self.holders_by_content.get(&id).into_iter().flatten()
    }

    pub(crate) fn put_hold(&mut self, hold: Hold) {
        let (owner, name) = (hold.owner.clone(), hold.name.clone());
        self.unlink_hold(&owner, &name);
        self.changed.insert(Key::Hold(owner.clone(), name.clone()));
        self.holders_by_name.entry(name.clone()).or_default().insert(owner.clone());
        for id in hold.contents() {
            self.holders_by_content.entry(id).or_default().insert((owner.clone(), name.clone()));
        }
        self.holds.entry(owner).or_default().insert(name, hold);
    }

    pub(crate) fn drop_hold(&mut self, owner: &Owner, name: &ImageRef) -> Option<Hold> {
        let hold = self.unlink_hold(owner, name)?;
        self.changed.insert(Key::Hold(owner.clone(), name.clone()));
        Some(hold)
    }

    fn unlink_hold(&mut self, owner: &Owner, name: &ImageRef) -> Option<Hold> {
        let of_owner = self.holds.get_mut(owner)?;
        let hold = of_owner.remove(name)?;
        if of_owner.is_empty() {
            self.holds.remove(owner);
        }
        remove_from(&mut self.holders_by_name, name, owner);
        let holder = (owner.clone(), name.clone());
        for id in hold.contents() {
            remove_from(&mut self.holders_by_content, &id, &holder);
        }
        Some(hold)
    }

    // Handovers.

    pub(crate) fn successor(&self, predecessor: AllocId) -> Option<AllocId> {
        self.handovers.get(&predecessor).copied()
    }

    pub(crate) fn handovers(&self) -> impl Iterator<Item = (AllocId, AllocId)> {
        self.handovers.iter().map(|(predecessor, successor)| (*predecessor, *successor))
    }

    pub(crate) fn put_handover(&mut self, handover: Handover) {
        if self.handovers.insert(handover.predecessor, handover.successor) != Some(handover.successor) {
            self.changed.insert(Key::Handover(handover.predecessor));
        }
    }

    pub(crate) fn drop_handover(&mut self, predecessor: AllocId) {
        if self.handovers.remove(&predecessor).is_some() {
            self.changed.insert(Key::Handover(predecessor));
        }
    }

    // Names.

    pub(crate) fn name(&self, name: &ImageRef) -> Option<&NameRecord> {
        self.names.get(name)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &NameRecord> {
        self.names.values()
    }

    pub(crate) fn binding(&self, name: &ImageRef) -> Option<Binding> {
        self.names.get(name)?.binding
    }

    /// Changes the record of a name; one that says nothing any more is dropped.
    pub(crate) fn change_name(&mut self, name: &ImageRef, change: impl FnOnce(&mut NameRecord)) {
        let record = self.names.entry(name.clone()).or_insert_with(|| NameRecord {
            name: name.clone(),
            binding: None,
            intent: None,
            foreign: false,
            uses: 0,
            last_used_at: None,
            took: None,
        });
        change(record);
        record.foreign &= record.binding.is_some_and(|binding| binding.idle_since().is_some());
        if record.binding.is_none() && record.intent.is_none() {
            self.names.remove(name);
        }
        self.changed.insert(Key::Name(name.clone()));
    }

    pub(crate) fn bind(&mut self, name: &ImageRef, binding: Option<Binding>) {
        self.change_name(name, |record| record.binding = binding);
    }

    /// Whether others brought the name, and it is in line for removal because the settings say so.
    pub(crate) fn is_lent(&self, name: &ImageRef) -> bool {
        self.names.get(name).is_some_and(|record| record.foreign)
    }

    /// Whether a pull or load of ours made the name point where it does.
    pub(crate) fn is_obtained(&self, name: &ImageRef) -> bool {
        self.names.get(name).is_some_and(|record| !record.foreign && record.binding.is_some_and(|it| it.is_obtained()))
    }

    // Contents.

    pub(crate) fn content(&self, id: ContentId) -> Option<&ContentRecord> {
        self.contents.get(&id)
    }

    pub(crate) fn contents(&self) -> impl Iterator<Item = &ContentRecord> {
        self.contents.values()
    }

    pub(crate) fn put_content(&mut self, record: ContentRecord) {
        self.changed.insert(Key::Content(record.id));
        self.contents.insert(record.id, record);
    }

    pub(crate) fn change_content(&mut self, id: ContentId, state: ContentState) {
        if let Some(record) = self.contents.get_mut(&id)
            && record.state != state
        {
            record.state = state;
            self.changed.insert(Key::Content(id));
        }
    }

    pub(crate) fn date_content(&mut self, id: ContentId, idle_since: Option<Timestamp>) {
        if let Some(record) = self.contents.get_mut(&id)
            && record.idle_since != idle_since
        {
            record.idle_since = idle_since;
            self.changed.insert(Key::Content(id));
        }
    }

    pub(crate) fn drop_content(&mut self, id: ContentId) {
        if self.contents.remove(&id).is_some() {
            self.changed.insert(Key::Content(id));
        }
    }

    // Pins.

    pub(crate) fn pins(&self) -> impl Iterator<Item = &Pin> {
        self.pins.values()
    }

    pub(crate) fn put_pin(&mut self, pin: Pin) {
        self.changed.insert(Key::Pin(pin.pattern.clone()));
        self.pins.insert(pin.pattern.clone(), pin);
    }

    pub(crate) fn drop_pin(&mut self, pattern: &str) {
        if self.pins.remove(pattern).is_some() {
            self.changed.insert(Key::Pin(pattern.to_owned()));
        }
    }

    // Stories.

    pub(crate) fn story(&self, name: &ImageRef) -> Option<&Story> {
        self.stories.get(name)
    }

    pub(crate) fn stories(&self) -> impl Iterator<Item = &Story> {
        self.stories.values()
    }

    /// In place of an earlier one of the name; the oldest of too many goes.
    pub(crate) fn put_story(&mut self, story: Story) {
        if self.stories.len() >= STORIES_MAX
            && !self.stories.contains_key(&story.name)
            && let Some(oldest) = self.stories.values().min_by_key(|story| story.at).map(|story| story.name.clone())
        {
            self.stories.remove(&oldest);
            self.changed.insert(Key::Story(oldest));
        }
        self.changed.insert(Key::Story(story.name.clone()));
        self.stories.insert(story.name.clone(), story);
    }

    // The pause.

    pub(crate) fn pause(&self) -> Option<&Pause> {
        self.pause.as_ref()
    }

    pub(crate) fn set_pause(&mut self, pause: Option<Pause>) {
        if self.pause != pause {
            self.pause = pause;
            self.changed.insert(Key::Pause);
        }
    }
}

fn remove_from<K: Ord, V: Ord>(index: &mut BTreeMap<K, BTreeSet<V>>, key: &K, value: &V) {
    if let Some(values) = index.get_mut(key) {
        values.remove(value);
        if values.is_empty() {
            index.remove(key);
        }
    }
}
