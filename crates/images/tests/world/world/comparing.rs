//! What node and keeper know of owners comes to differ, and is compared from time to time.

use super::*;

impl World {
    /// The agent goes on, and its node knows nothing of an allocation any more: a fault of its own.
    pub(super) fn node_loses_an_allocation(&mut self) {
        let ends = |owner: &Owner| {
            let attempt = self.attempts.get(owner);
            !matches!(attempt, Some(Attempt::Idle | Attempt::Running { .. })) || self.robbed.contains_key(owner)
        };
        let alone = |id: &AllocId, alloc: &AllocRecord| {
            let mut others = self.allocs.values().chain(self.placed.values());
            alloc.replaces.is_none() && !others.any(|other| other.replaces == Some(*id))
        };
        let lost: Vec<_> = self
            .allocs
            .iter()
            .filter(|(id, alloc)| alone(id, alloc) && !alloc.tasks.keys().any(ends))
            .map(|(id, _)| *id)
            .collect();
        let Some(alloc) = self.random.pick(&lost).filter(|_| self.is_recovered()) else { return };
        self.note(|| format!("allocation {alloc} is lost by the node"));
        for owner in self.allocs.remove(&alloc).into_iter().flat_map(|record| record.tasks.into_keys()) {
            let container = self.engine.container_of(&owner).map(|(name, _)| name.clone());
            container.into_iter().for_each(|container| self.engine.remove_container(self.now, &container));
            self.attempts.remove(&owner);
            self.stopping.remove(&owner);
            self.strays.insert(owner, 0);
        }
    }

    /// While the agent is down its ledger loses the hold of a task.
    pub(super) fn ledger_loses_a_hold(&mut self) {
        let replaced: BTreeSet<_> =
            self.allocs.values().chain(self.placed.values()).filter_map(|alloc| alloc.replaces).collect();
        let held = self.ledger_entries().into_iter().filter_map(|entry| match entry {
            Entry::Hold(hold) => {
                let alloc = hold.owner.alloc()?;
                let record = self.allocs.get(&alloc).filter(|record| record.replaces.is_none())?;
                (!replaced.contains(&alloc) && record.tasks.get(&hold.owner)?.ended_at.is_none()).then_some(hold)
            }
            _ => None,
        });
        let held: Vec<_> = held.collect();
        let Some(robbed) = self.random.pick(&held).map(|hold| hold.owner) else { return };
        self.note(|| format!("the ledger loses the holds of {robbed}"));
        for hold in held.into_iter().filter(|hold| hold.owner == robbed) {
            self.ledger.remove(&Entry::Hold(hold).key());
        }
        self.robbed.insert(robbed, 0);
    }

    fn is_recovered(&self) -> bool {
        self.restored && self.keeper.as_ref().is_some_and(Keeper::is_recovered)
    }

    /// The node says which owners it knows.
    pub(super) fn compare(&mut self) {
        if !self.is_recovered() {
            return;
        }
        let tasks = || self.allocs.values().flat_map(|alloc| &alloc.tasks);
        let live = tasks().filter(|(owner, task)| task.ended_at.is_none() || self.untold.contains(owner));
        let live: Vec<_> = live.map(|(owner, task)| Need { owner: owner.clone(), name: task.name.clone() }).collect();
        let owners = live.iter().map(|need| need.owner.clone()).collect();
        let needs = live.into_iter().filter(|need| !self.untold.contains(&need.owner)).collect();
        self.feed(Event::Compared { live: owners, needs });
    }

    pub(super) fn has_compared(&mut self) {
        self.strays.values_mut().chain(self.robbed.values_mut()).for_each(|compared| *compared += 1);
    }

    /// Who was robbed of its hold, and has one again or is over.
    pub(super) fn see_what_is_held_again(&mut self) {
        if self.robbed.is_empty() {
            return;
        }
        let mut holders: BTreeMap<Owner, Vec<ImageRef>> = BTreeMap::new();
        for entry in self.ledger_entries() {
            if let Entry::Hold(hold) = entry {
                holders.entry(hold.owner).or_default().push(hold.name);
            }
        }
        let lives = |owner: &Owner| {
            let alloc = owner.alloc().and_then(|alloc| self.allocs.get(&alloc));
            alloc.and_then(|alloc| alloc.tasks.get(owner)).is_some_and(|task| task.ended_at.is_none())
        };
        let over: Vec<_> =
            self.robbed.keys().filter(|owner| holders.contains_key(*owner) || !lives(owner)).cloned().collect();
        for owner in over {
            self.robbed.remove(&owner);
            // A comparison knows the name that the allocation came with, not one that was asked for since.
            self.oracle.came_to_hold(&owner, holders.get(&owner).map(Vec::as_slice).unwrap_or_default());
            self.oracle.accepted(&owner, self.engine.seq);
        }
    }
}
