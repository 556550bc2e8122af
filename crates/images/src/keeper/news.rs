use longshore_model::{ContentId, ImageRef};

use super::Keeper;
use crate::{Binding, EngineNews, ForeignReason, Notice, Row, is_private};

impl Keeper {
    /// The engine's events say less than looks do; they only tell when to look, and that others brought again what we had.
    pub(super) fn engine_saw(&mut self, news: EngineNews) {
        match news {
            EngineNews::Pulled { name } => {
                if !self.credits.take_pull(&name) {
                    self.others_brought(&name);
                }
            }
            EngineNews::Tagged { name, .. } => {
                if !is_private(&name) {
                    self.others_brought(&name);
                }
            }
            EngineNews::Loaded { content } => {
                if !self.credits.take_load() {
                    let ours = |binding: Binding| binding.is_obtained() && binding.content() == content;
                    let names = self.books.names().filter(|record| record.binding.is_some_and(ours));
                    let names: Vec<_> = names.map(|record| record.name.clone()).collect();
                    names.iter().filter(|name| name.tag().is_some()).for_each(|name| self.others_brought(name));
                }
            }
            EngineNews::ImagesChanged | EngineNews::ContainersChanged => {}
        }
        self.ask_look();
    }

    /// Others pulled, loaded or tagged the name: it is theirs from now on.
    fn others_brought(&mut self, name: &ImageRef) {
        if name.digest().is_some() {
            self.taken_digests.insert(name.clone());
        }
        if let Some(fetch) = self.fetches.get_mut(name) {
            fetch.taken = true;
            return;
        }
        match self.books.binding(name) {
            Some(Binding::Held { content } | Binding::Idle { content, .. }) => self.taken_over(name, content),
            Some(Binding::Removing { content, .. } | Binding::Unsure { content, .. }) => {
                if let Some(removal) = self.removals.get_mut(&content).filter(|removal| removal.removes(name)) {
                    removal.taken = true;
                }
            }
            Some(Binding::Foreign { .. }) | None => {}
        }
    }

    pub(super) fn taken_over(&mut self, name: &ImageRef, content: ContentId) {
        self.row(Row::TakenOver);
        self.tell(Notice::MovedByOthers { name: name.clone(), content, now_at: content });
        self.make_foreign(name, content, ForeignReason::TakenOver);
        self.books.drop_content(content);
    }

    /// A digest name that others pulled stands on its own: it is no leftover of a pull of ours.
    pub(super) fn record_taken_digests(&mut self) {
        let taken = std::mem::take(&mut self.taken_digests);
        for name in taken {
            if let Some(content) = self.content_of_unbound(&name) {
                let binding = Binding::Foreign { content, since: self.now, why: ForeignReason::TakenOver };
                self.books.bind(&name, Some(binding));
            }
        }
    }

    fn content_of_unbound(&self, name: &ImageRef) -> Option<ContentId> {
        let unbound = self.books.binding(name).is_none() && !self.is_unsettled(name);
        self.view.at(name).filter(|_| unbound)
    }
}
