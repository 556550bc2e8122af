//! Tasks of the node: placed, accepted, started, ended, forgotten.

use super::*;

impl World {
    pub(super) fn place(&mut self) {
        if self.allocs.values().filter(|alloc| alloc.tasks.values().any(|task| task.ended_at.is_none())).count() > 6 {
            return;
        }
        let alloc = AllocId::from_u128(self.next_alloc);
        self.next_alloc += 1;
        let mut tasks = BTreeMap::new();
        for task in ["web", "side"].into_iter().take(1 + self.random.below(5) / 4) {
            let name = self.pick_name();
            tasks.insert(Owner::task(alloc, task), TaskRecord { name, ended_at: None });
        }
        if self.random.one_in(4) {
            tasks.insert(Owner::Network(alloc), TaskRecord { name: self.infra.clone(), ended_at: None });
        }
        self.placed.insert(alloc, AllocRecord { tasks, replaces: None });
    }

    /// Somebody sets another infra image.
    pub(super) fn change_infra(&mut self) {
        let names = ["r.test/infra:1", "r.test/infra:2"];
        self.infra = names[self.random.below(2)].parse().unwrap();
    }

    pub(super) fn tell_infra(&mut self) {
        self.feed(Event::AgentNeeds { names: vec![self.infra.clone()] });
    }

    pub(super) fn update(&mut self) {
        let live: Vec<_> = self
            .allocs
            .iter()
            .filter(|(_, alloc)| alloc.tasks.values().all(|task| task.ended_at.is_none()))
            .filter(|(_, alloc)| !alloc.tasks.keys().any(|owner| self.robbed.contains_key(owner)))
            .map(|(id, _)| *id)
            .collect();
        let Some(old) = self.random.pick(&live) else { return };
        if self.placed.values().chain(self.allocs.values()).any(|alloc| alloc.replaces == Some(old)) {
            return;
        }
        let alloc = AllocId::from_u128(self.next_alloc);
        self.next_alloc += 1;
        let mut tasks = BTreeMap::new();
        for (owner, task) in self.allocs[&old].tasks.clone() {
            let (owner, name) = match owner {
                Owner::Task { task: task_name, .. } => {
                    let name = if self.random.one_in(3) { self.pick_name() } else { task.name };
                    (Owner::task(alloc, task_name), name)
                }
                _ => (Owner::Network(alloc), self.infra.clone()),
            };
            tasks.insert(owner, TaskRecord { name, ended_at: None });
        }
        self.placed.insert(alloc, AllocRecord { tasks, replaces: Some(old) });
    }

    /// The node accepts what was placed, and only then stops what it replaces.
    pub(super) fn accept(&mut self) {
        let Some((alloc, record)) = self.placed.iter().next().map(|(id, record)| (*id, record.clone())) else { return };
        if self.keeper.is_none() {
            return;
        }
        let needs = record.tasks.iter().map(|(owner, task)| Need { owner: owner.clone(), name: task.name.clone() });
        let needs: Vec<_> = needs.collect();
        let replaces = record.replaces;
        self.feed(Event::Accepted { alloc, needs, replaces });
        if self.keeper.is_some() {
            self.stop_replaced();
        }
    }

    pub(super) fn stop_replaced(&mut self) {
        let replaced: BTreeSet<_> = self.allocs.values().filter_map(|alloc| alloc.replaces).collect();
        for alloc in replaced {
            let owners = self.allocs.get(&alloc).map(|alloc| alloc.tasks.keys().cloned().collect::<Vec<_>>());
            self.stopping.extend(owners.unwrap_or_default());
        }
    }

    pub(super) fn stop(&mut self) {
        let owners: Vec<_> = self.attempts.keys().cloned().collect();
        if let Some(owner) = self.random.pick(&owners) {
            self.stopping.insert(owner);
        }
    }

    pub(super) fn task_moves(&mut self) {
        let owners: Vec<_> = self.attempts.keys().cloned().collect();
        let Some(owner) = self.random.pick(&owners) else { return };
        if self.stopping.contains(&owner) {
            return self.end_task(&owner);
        }
        if self.wishes.contains_key(&owner) {
            return self.wish_moves(&owner);
        }
        match self.attempts[&owner].clone() {
            Attempt::Idle => self.ask(&owner),
            Attempt::Asked { .. } => {
                if self.random.one_in(12) {
                    self.attempts.insert(owner.clone(), Attempt::Idle);
                    self.feed(Event::GaveUp { owner });
                }
            }
            Attempt::Granted { name, content, seq } => self.create(&owner, name, content, seq),
            Attempt::Created { name, container } => {
                if let Some(state) = self.engine.containers.get_mut(&container) {
                    state.started = true;
                    self.attempts.insert(owner, Attempt::Running { name, container });
                } else {
                    self.attempts.insert(owner, Attempt::Idle);
                }
            }
            Attempt::Running { container, .. } => {
                if self.random.one_in(10) {
                    self.engine.remove_container(self.now, &container);
                    self.attempts.insert(owner, Attempt::Idle);
                }
            }
        }
    }

    pub(super) fn ask(&mut self, owner: &Owner) {
        let Some(alloc) = owner.alloc().and_then(|alloc| self.allocs.get(&alloc)) else { return };
        let mut name = alloc.tasks[owner].name.clone();
        if matches!(owner, Owner::Network(_)) {
            self.attempts.insert(owner.clone(), Attempt::Asked { name: name.clone(), fresh: false });
            let (owner, access) = (owner.clone(), "some".to_owned());
            let want = Want { owner, name, fresh: false, local_copy: false, access, platform: None, archive: None };
            return self.feed(Event::Wanted(want));
        }
        if self.random.one_in(20) {
            name = self.pick_name();
        }
        let archive = (name.tag().is_some() && self.random.one_in(5))
            .then(|| Archive { digest: (self.random.below(6) + 1).to_string() });
        let fresh = name.tag().is_some() && self.random.one_in(4);
        let local_copy = fresh && self.random.one_in(2);
        let access = if self.random.one_in(5) { "other" } else { "some" }.to_owned();
        self.attempts.insert(owner.clone(), Attempt::Asked { name: name.clone(), fresh });
        self.feed(Event::Wanted(Want {
            owner: owner.clone(),
            name,
            fresh,
            local_copy,
            access,
            platform: None,
            archive,
        }));
    }

    pub(super) fn create(&mut self, owner: &Owner, name: ImageRef, content: ContentId, granted: u64) {
        if !self.engine_up {
            return;
        }
        let by_name = self.random.one_in(2).then(|| name.clone());
        let made_from = Some(by_name.unwrap_or_else(|| name.clone())).filter(|name| name.id().is_none());
        match self.engine.create(self.now, content, made_from, Some(owner.clone())) {
            None => {
                self.check_missing(owner, content, granted);
                self.attempts.insert(owner.clone(), Attempt::Idle);
            }
            Some(container) => {
                if !self.calm && self.random.one_in(60) {
                    self.count_crash(CrashRow::Create, Side::After);
                    return self.crash_agent();
                }
                let attempt = Attempt::Created { name: name.clone(), container };
                self.attempts.insert(owner.clone(), attempt);
                self.feed(Event::ContainerMade { owner: owner.clone(), name, content });
            }
        }
    }

    /// The end goes into the node's record, then the container goes, then the hold.
    pub(super) fn end_task(&mut self, owner: &Owner) {
        let Some(alloc) = owner.alloc() else { return self.end_wish(owner) };
        let at = self.timestamp();
        if let Some(task) = self.allocs.get_mut(&alloc).and_then(|alloc| alloc.tasks.get_mut(owner)) {
            task.ended_at = Some(at);
        }
        self.untold.insert(owner.clone());
        self.stopping.remove(owner);
        self.attempts.remove(owner);
        let container = self.engine.container_of(owner).map(|(name, _)| name.clone());
        if !self.calm && self.random.one_in(40) {
            self.count_crash(CrashRow::Stop, if container.is_some() { Side::Before } else { Side::After });
            if self.allocs.values().any(|other| other.replaces == Some(alloc)) {
                self.count_crash(CrashRow::Handover, Side::After);
            }
            return self.crash_agent();
        }
        if let Some(container) = container {
            if !self.random.one_in(10) {
                self.engine.remove_container(self.now, &container);
            }
            if !self.calm && self.random.one_in(40) {
                self.count_crash(CrashRow::Stop, Side::After);
                return self.crash_agent();
            }
        }
        self.feed(Event::Ended { owner: owner.clone(), at });
    }

    /// The agent removes containers of tasks that have ended, and forgets allocations that are over.
    pub(super) fn sweep(&mut self) {
        self.remove_dead();
        if self.restored && self.keeper.as_ref().is_some_and(Keeper::is_recovered) {
            let untold = &self.untold;
            let replaced: BTreeSet<_> = self.allocs.values().filter_map(|alloc| alloc.replaces).collect();
            self.allocs.retain(|id, alloc| {
                replaced.contains(id)
                    || alloc.tasks.iter().any(|(owner, task)| task.ended_at.is_none() || untold.contains(owner))
            });
        }
    }

    /// Containers of tasks that have ended go. How many.
    pub(super) fn remove_dead(&mut self) -> u32 {
        let ended = |owner: &Owner, allocs: &BTreeMap<AllocId, AllocRecord>| {
            let task = owner.alloc().and_then(|alloc| allocs.get(&alloc)).and_then(|alloc| alloc.tasks.get(owner));
            task.is_none_or(|task| task.ended_at.is_some())
        };
        let left: Vec<_> = self
            .engine
            .containers
            .iter()
            .filter(|(_, container)| container.owner.as_ref().is_some_and(|owner| ended(owner, &self.allocs)))
            .map(|(name, _)| name.clone())
            .collect();
        for container in &left {
            self.engine.remove_container(self.now, container);
        }
        left.len() as u32
    }

    pub(super) fn restore_allocations(&mut self) {
        let tasks = || self.allocs.values().flat_map(|alloc| &alloc.tasks);
        let live = tasks().filter(|(_, task)| task.ended_at.is_none()).map(|(owner, _)| owner.clone()).collect();
        let ended = tasks().filter_map(|(owner, task)| Some((owner.clone(), task.ended_at?))).collect();
        self.feed(Event::Restored { live, ended });
        if self.keeper.is_some() {
            self.untold.clear();
            self.stop_replaced();
            self.feed(Event::StillWished { owners: self.wishes.keys().cloned().collect() });
        }
    }

    /// The node loses its record of an allocation while it is down: nobody knows the owner any more.
    pub(super) fn forget_allocation(&mut self) {
        let Some(alloc) = self.random.pick(&self.allocs.keys().copied().collect::<Vec<_>>()) else { return };
        self.note(|| format!("allocation {alloc} is forgotten"));
        if let Some(record) = self.allocs.remove(&alloc) {
            for owner in record.tasks.keys() {
                let container = self.engine.container_of(owner).map(|(name, _)| name.clone());
                container.into_iter().for_each(|container| self.engine.remove_container(self.now, &container));
            }
        }
    }
}
