//! When everything is gone and nothing is wrong: one task's image comes, is used, and goes in time, whatever becomes of another.

use super::*;

impl World {
    /// The image goes within a second of its time; the engine refuses to remove another one meanwhile.
    pub(super) fn one_more_life(&mut self, delay: i64) {
        let (name, other): (ImageRef, ImageRef) = ("r.test/b:1".parse().unwrap(), "acme/c:1".parse().unwrap());
        if self.engine.at(&name).is_some() {
            return;
        }
        if self.engine.at(&other).is_none() && self.registry[&other] != self.registry[&name] {
            let owner = self.run_task(&other);
            self.refuses = Some(other);
            self.end_task(&owner);
            self.sweep();
            self.settle(delay + SECOND);
        }
        let owner = self.run_task(&name);
        self.end_task(&owner);
        self.sweep();
        if !self.would_take_what_others_brought(&name) {
            if delay > SECOND {
                self.settle(delay - SECOND / 2);
                self.require(self.engine.at(&name).is_some(), || format!("K2: {name} went before its time"));
            }
            self.settle(2 * SECOND);
            self.require(self.engine.at(&name).is_none(), || format!("K2: {name} did not go in time"));
        }
        self.refuses = None;
    }

    /// A task that runs from this image.
    fn run_task(&mut self, name: &ImageRef) -> Owner {
        let alloc = AllocId::from_u128(self.next_alloc);
        self.next_alloc += 1;
        let owner = Owner::task(alloc, "web");
        let tasks = BTreeMap::from([(owner.clone(), TaskRecord { name: name.clone(), ended_at: None })]);
        self.placed.insert(alloc, AllocRecord { tasks, replaces: None });
        self.accept();
        while !matches!(self.attempts[&owner], Attempt::Running { .. }) {
            if self.attempts[&owner] == Attempt::Idle {
                self.attempts.insert(owner.clone(), Attempt::Asked { name: name.clone(), fresh: false });
                let access = "some".to_owned();
                let want = Want {
                    owner: owner.clone(),
                    name: name.clone(),
                    fresh: false,
                    local_copy: false,
                    access,
                    platform: None,
                    archive: None,
                };
                self.feed(Event::Wanted(want));
            } else if !matches!(self.attempts[&owner], Attempt::Asked { .. }) {
                self.task_moves();
            }
            self.settle(SECOND / 100);
        }
        owner
    }
}
