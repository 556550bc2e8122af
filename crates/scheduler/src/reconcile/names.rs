use std::collections::BTreeSet;

use longshore_model::Allocation;

/// Hands out the lowest free numbers of a group's allocations.
pub(super) struct Names<'a> {
    job: &'a str,
    group: &'a str,
    used: BTreeSet<u32>,
    /// All below are used: large groups are named in one pass.
    from: u32,
}

impl<'a> Names<'a> {
    pub(super) fn new(job: &'a str, group: &'a str) -> Self {
        Self { job, group, used: BTreeSet::new(), from: 0 }
    }

    pub(super) fn take(&mut self, index: u32) {
        self.used.insert(index);
    }

    pub(super) fn next(&mut self) -> String {
        let free = (self.from..).find(|index| !self.used.contains(index)).unwrap_or(0);
        self.used.insert(free);
        self.from = free.saturating_add(1);
        Allocation::name_of(self.job, self.group, free)
    }
}
