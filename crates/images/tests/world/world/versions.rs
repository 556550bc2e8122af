//! Versions of a job that can be gone back to: servers tell which, and their images stay.

use longshore_model::JobKey;

use super::*;

fn version(number: u64) -> Owner {
    Owner::KeptVersion { job: JobKey::new("default", "web"), version: number }
}

impl World {
    /// A newer version is stable, or the job is purged: a server tells what can be gone back to.
    pub(super) fn versions_change(&mut self) {
        if self.random.one_in(4) {
            self.versions.clear();
        } else {
            self.next_version += 1;
            let (owner, name) = (version(self.next_version), self.pick_tag());
            self.versions.insert(owner, name);
            while self.versions.len() > 2 {
                self.versions.pop_first();
            }
        }
        self.tell_versions();
    }

    pub(super) fn tell_versions(&mut self) {
        let needs = self.versions.iter().map(|(owner, name)| Need { owner: owner.clone(), name: name.clone() });
        self.feed(Event::VersionsKept { needs: needs.collect() });
    }

    pub(super) fn versions_told(&mut self, needs: &[Need]) {
        self.versions_known = true;
        self.versions_held.retain(|owner| needs.iter().any(|need| need.owner == *owner));
        self.see_versions_held();
    }

    /// What was held once is to stay held for as long as the version is kept.
    pub(super) fn see_versions_held(&mut self) {
        for entry in self.ledger_entries() {
            if let Entry::Hold(Hold { owner, .. }) = entry
                && self.versions.contains_key(&owner)
            {
                self.versions_held.insert(owner);
            }
        }
    }
}
