//! `gc.foreign = "collect"`: what others brought goes like ours, content by content: while anything needs one of its names,
//! or a container uses it, all of its names stay, because taking one away would free nothing.

use longshore_model::{ContentId, ImageRef};

use super::{Keeper, Target};
use crate::{Binding, Fault, ForeignReason, Notice, Row, is_private};

impl Keeper {
    /// Puts in line for removal what others brought and nothing needs: it is idle since it was first seen so.
    pub(super) fn lend_foreign(&mut self) {
        if !self.policy.collects_foreign() || !self.view.complete || !self.is_recovered() {
            return;
        }
        let mut idle = Vec::new();
        for image in self.view.images() {
            let busy = self.removals.contains_key(&image.id) || self.content_barriers.contains_key(&image.id);
            let careless = self.fault == Fault::CollectsUsedForeign;
            if !busy && (careless || self.need_of_nameless(image.id).is_none()) {
                let names = image.names.iter().filter(|name| self.may_be_lent(name, &image.names));
                let unneeded = names.filter(|name| self.need_of_name(name, image.id).is_none());
                idle.extend(unneeded.map(|name| (name.clone(), image.id)));
            }
        }
        for (name, content) in idle {
            let ended = self.ended_names.get(&name).or(self.ended_contents.get(&content));
            let idle_since = ended.copied().unwrap_or(self.now);
            self.row(Row::ForeignIdle);
            let due_at = self.due_at(idle_since);
            self.tell(Notice::ForeignIdle { name: name.clone(), content, due_at });
            self.books.change_name(&name, |record| {
                record.binding = Some(Binding::Idle { content, idle_since });
                record.foreign = true;
            });
        }
    }

    /// A digest name beside a tag of its repository goes with that.
    fn may_be_lent(&self, name: &ImageRef, beside: &[ImageRef]) -> bool {
        let record = self.books.name(name);
        let ours = record.and_then(|record| record.binding).is_some_and(|binding| binding.is_obtained());
        let pulling = record.is_some_and(|record| record.intent.is_some());
        let has_tag = || beside.iter().any(|other| other.tag().is_some() && other.same_repository(name));
        let unsettled = self.is_unsettled(name) || self.taken.contains_key(name);
        !ours && !pulling && !unsettled && !is_private(name) && (name.digest().is_none() || !has_tag())
    }

    /// It is somebody's again, and nothing more: needed, or left alone by the settings.
    pub(super) fn give_back(&mut self, name: &ImageRef, content: ContentId) {
        self.row(Row::ForeignBack);
        if self.fault == Fault::CollectedBecomesOurs {
            return self.books.bind(name, Some(Binding::Held { content }));
        }
        self.make_foreign(name, content, ForeignReason::Found);
    }

    /// Those that the settings leave alone again.
    pub(super) fn is_lent_in_vain(&self, goal: &Target) -> bool {
        matches!(goal, Target::Name(name) if self.books.is_lent(name) && !self.policy.collects_foreign())
    }
}
