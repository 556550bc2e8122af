//! What a person says of the images: that they are ours, also after the ledger was lost; that nothing is to go for a while.

use longshore_images::NameRecord;

use super::*;

impl World {
    /// A person wants nothing removed for a while, or no longer so.
    pub(super) fn pauses(&mut self) -> Event {
        let (at, who) = (self.timestamp(), "root".to_owned());
        if self.random.one_in(2) {
            return Event::Resumed { who };
        }
        let until = at.plus(GoDuration::seconds([1, 5, 60][self.random.below(3)]));
        Event::Paused(Pause { who, at, until })
    }

    /// What the keeper has taken back is its own by the person's word, whoever brought it.
    pub(super) fn has_adopted(&mut self, pattern: &Glob) {
        for entry in self.ledger_entries() {
            if let Entry::Name(NameRecord { name, binding: Some(binding), .. }) = entry
                && binding.is_obtained()
                && (pattern.matches(name.full()) || pattern.matches(name.familiar()))
            {
                self.engine.belongs_to_us(&name, binding.content());
            }
        }
    }

    /// Everything that the agent knew is gone: nothing goes then, until a person says what was ours.
    pub(super) fn lose_the_ledger(&mut self, delay: i64) {
        self.note(|| "the ledger is lost".to_owned());
        for tag in self.registry.keys().cloned().collect::<Vec<_>>() {
            let (at, id, who) = (self.now, self.registry[&tag], [Who::Ours, Who::Others][self.random.below(2)]);
            match self.random.below(4) {
                0 => self.engine.pull(at, &digest_name(&tag, id), id, who),
                1 => {
                    self.engine.pull(at, &tag, id, who);
                    self.engine.tag(at, &"mine/x:1".parse().unwrap(), id, Who::Others);
                }
                _ => self.engine.pull(at, &tag, id, who),
            }
        }
        self.engine.events.clear();
        self.policy.foreign = Foreign::Keep;
        self.crash_agent();
        self.late.clear();
        self.ledger.clear();
        self.infra_recorded = None;
        self.allocs.clear();
        self.start_agent();
        self.restore_allocations();
        self.infra_told = true;
        self.versions_held.clear();
        self.feed(Event::AgentNeeds { names: Vec::new() });
        let before: Vec<_> = self.engine.names.keys().cloned().collect();
        self.settle(2 * delay + 60 * SECOND);
        let after: Vec<_> = self.engine.names.keys().cloned().collect();
        self.require(before == after, || "K5: something went of which no record says that it is ours".to_owned());
        let pattern = if self.random.one_in(2) { "*" } else { "r.test/*" };
        let (pattern, who) = (pattern.to_owned(), "root".to_owned());
        self.feed(Event::Adopted { pattern: pattern.clone(), who });
        self.settle(delay + 60 * SECOND);
        let theirs = |name: &ImageRef| pattern != "*" && !name.full().starts_with("r.test/");
        for name in before.iter().filter(|name| !longshore_images::is_private(name)) {
            let is_there = self.engine.at(name).is_some();
            self.require(is_there == theirs(name), || {
                format!("K2: {name} was adopted with {pattern}, and is there: {is_there}")
            });
        }
    }
}
