//! People and programs that use the same engine.

use super::*;

impl World {
    pub(super) fn others_act(&mut self) {
        if !self.engine_up {
            return;
        }
        let (at, name) = (self.now, self.pick_tag());
        let present: Vec<_> = self.engine.contents.keys().copied().collect();
        let some = self.random.pick(&present);
        let which = self.random.below(14);
        self.note(|| format!("others do {which} with {name} {some:?}"));
        match which {
            0 => {
                let id = self.registry[&name];
                self.engine.pull(at, &name, id, Who::Others);
            }
            1 => {
                let id = self.registry[&name];
                self.engine.pull(at, &digest_name(&name, id), id, Who::Others);
            }
            2 => {
                let id = engine::content(self.random.below(6) as u8 + 1);
                self.engine.load(at, &name, id, Who::Others);
            }
            3 => {
                if let Some(id) = some {
                    self.engine.tag(at, &name, id, Who::Others);
                }
            }
            4 => {
                if let Some(id) = some {
                    self.engine.tag(at, &"mine/x:1".parse().unwrap(), id, Who::Others);
                }
            }
            5 | 6 => {
                let names: Vec<_> = self.engine.names.keys().cloned().collect();
                if let Some(name) = self.random.pick(&names) {
                    let now = self.engine.seq;
                    self.engine.remove(at, &name, Who::Others, u64::MAX, now, &mut self.random);
                }
            }
            7 if self.random.one_in(3) => self.engine.prune(at),
            8 if self.random.one_in(3) => {
                if let Some(id) = some {
                    self.engine.remove_by_force(at, id);
                }
            }
            9 | 10 => {
                if let Some(id) = some {
                    let mut names = self.engine.names_at(id);
                    names.retain(|name| !longshore_images::is_private(name));
                    let made_from = self.random.pick(&names);
                    self.engine.create(at, id, made_from, None);
                }
            }
            _ => self.others_stop(),
        }
    }

    pub(super) fn others_stop(&mut self) {
        let theirs: Vec<_> =
            self.engine.containers.iter().filter(|(_, c)| c.owner.is_none()).map(|(name, _)| name.clone()).collect();
        if let Some(container) = self.random.pick(&theirs) {
            self.engine.remove_container(self.now, &container);
        }
    }

    pub(super) fn push(&mut self) {
        let name = self.pick_tag();
        let id = engine::content(self.random.below(6) as u8 + 1);
        self.registry.insert(name, id);
    }

    pub(super) fn person_asks(&mut self) {
        let event = match self.random.below(8) {
            0 | 1 if self.collects => Event::CollectNow,
            2 => {
                let pattern = self.pick_tag().familiar().to_owned();
                Event::Pinned(Pin { pattern, who: "root".to_owned(), at: self.timestamp() })
            }
            3 | 4 => Event::Unpinned { pattern: self.pick_tag().familiar().to_owned() },
            6 => self.pauses(),
            5 if self.random.one_in(2) => {
                let (pattern, who) = (self.pick_tag().familiar().to_owned(), "root".to_owned());
                Event::Adopted { pattern, who }
            }
            _ => {
                let keep = if self.random.one_in(3) { vec![Glob::new("r.test/a:2")] } else { Vec::new() };
                let image = !self.random.one_in(8);
                // Few worlds change their minds about what others brought.
                let foreign = match (self.seed % 5, self.policy.foreign) {
                    (0, Foreign::Keep) => Foreign::Collect,
                    (0, Foreign::Collect) => Foreign::Keep,
                    (_, foreign) => foreign,
                };
                let space = space::draw_policy(&mut self.random);
                self.policy = Policy { keep, image, foreign, space, ..self.policy.clone() };
                Event::PolicyChanged(self.policy.clone())
            }
        };
        self.feed(event);
    }
}
