use std::collections::BTreeSet;

use longshore_model::ImageRef;

use super::Keeper;
use crate::{Fault, Need, Owner, Row};

impl Keeper {
    /// Versions that can be gone back to, with their images.
    pub(super) fn versions_kept(&mut self, needs: Vec<Need>) {
        self.versions = Some(needs.into_iter().map(|Need { owner, name }| (owner, name)).collect());
    }

    /// Holds what is here of them, and gives back what is no version's any more. Before the comparison nothing is given
    /// back: what becomes idle by it is dated in the step in which it can be seen.
    pub(super) fn pass_versions(&mut self) {
        let Some(versions) = &self.versions else { return };
        let is_here = |name: &ImageRef| self.view.at(name).is_some();
        let missing = |(owner, name): &&(Owner, ImageRef)| self.books.hold(owner, name).is_none() && is_here(name);
        let missing: Vec<_> = versions.iter().filter(missing).cloned().collect();
        let careless = self.fault == Fault::KeptVersionForgotten;
        let held = self.books.holds().filter(|hold| matches!(hold.owner, Owner::KeptVersion { .. }));
        let held = held.map(|hold| (hold.owner.clone(), hold.name.clone()));
        let over: BTreeSet<_> =
            held.filter(|held| self.recovery.is_compared() && (careless || !versions.contains(held))).collect();
        for (owner, name) in missing {
            self.row(Row::VersionKept);
            self.take_hold(&owner, &name);
        }
        for (owner, name) in over {
            self.row(Row::VersionOver);
            self.release(&owner, &name, self.now);
        }
    }
}
