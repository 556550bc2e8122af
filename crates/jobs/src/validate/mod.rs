//! The rules that a job with its defaults filled in must keep, with Nomad's wordings.

mod access;
mod cron;
mod files;
mod group;
mod job;
mod launch;
mod network;
mod placement;
mod policies;
mod service;
mod storage;
mod task;

pub(crate) use job::job;
pub(crate) use placement::operator;

use crate::fault::Fault;

/// Faults of one part, gathered.
#[derive(Default)]
struct Faults(Vec<Fault>);

impl Faults {
    fn when(&mut self, wrong: bool, text: impl FnOnce() -> String) {
        if wrong {
            self.0.push(Fault::plain(text()));
        }
    }

    /// What is wrong with one attribute or block of the part.
    fn at(&mut self, path: &str, wrong: bool, text: impl FnOnce() -> String) {
        if wrong {
            self.0.push(Fault::plain(text()).within(path));
        }
    }

    /// Faults of one block of the part, as a list of their own.
    fn nested(&mut self, path: &str, prefix: &str, faults: Vec<Fault>) {
        self.0.extend(Fault::nested(prefix, faults).map(|fault| fault.within(path)));
    }

    /// Faults of one block of the part, among the others.
    fn within(&mut self, path: &str, faults: impl IntoIterator<Item = Fault>) {
        self.0.extend(faults.into_iter().map(|fault| fault.within(path)));
    }
}

/// The first place at which each repeated name was seen: `(place, first place)` counted from 1.
fn repeated<'a>(names: impl Iterator<Item = &'a str>) -> Vec<(usize, &'a str, usize)> {
    let mut seen: std::collections::BTreeMap<&str, usize> = std::collections::BTreeMap::new();
    let mut found = Vec::new();
    for (at, name) in names.enumerate() {
        match seen.get(name) {
            Some(first) => found.push((at + 1, name, *first)),
            None => {
                seen.insert(name, at + 1);
            }
        }
    }
    found
}
