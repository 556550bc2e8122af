use std::collections::BTreeSet;

use longshore_model::{ContentId, ImageRef};

use super::Keeper;
use crate::{Binding, ContentRecord, ContentState, EngineNews, ForeignReason, Notice, Row, is_private, private_name};

impl Keeper {
    /// The engine's events say less than looks do; they only tell when to look, and that others brought again what we had.
    pub(super) fn engine_saw(&mut self, news: EngineNews) {
        match news {
            EngineNews::Pulled { name } => {
                if !self.credits.take_pull(&name) {
                    self.others_brought(&name, None);
                }
            }
            EngineNews::Tagged { name, content } => {
                if !is_private(&name) {
                    self.others_brought(&name, Some(content));
                }
            }
            EngineNews::Loaded { content } => {
                if !self.credits.take_load() {
                    let ours = |binding: Binding| binding.is_obtained() && binding.content() == content;
                    let names = self.books.names().filter(|record| record.binding.is_some_and(ours));
                    let names: Vec<_> = names.map(|record| record.name.clone()).collect();
                    let tags = names.iter().filter(|name| name.tag().is_some());
                    tags.for_each(|name| self.others_brought(name, Some(content)));
                }
            }
            EngineNews::ImagesChanged | EngineNews::ContainersChanged => {}
        }
        self.ask_look();
    }

    /// Others pulled, loaded or tagged the name: it is theirs from now on. `told` is the content, where the event tells it.
    fn others_brought(&mut self, name: &ImageRef, told: Option<ContentId>) {
        let ours = self.books.binding(name).filter(|_| self.books.is_obtained(name));
        let content = ours.map(|binding| binding.content());
        self.taken.insert(name.clone(), content);
        let look = self.ask_look();
        self.name_barriers.insert(name.clone(), look);
        if let Some(fetch) = self.fetches.get_mut(name) {
            fetch.taken = true;
            return;
        }
        if self.books.name(name).is_some_and(|record| record.intent.is_some()) {
            self.books.change_name(name, |record| record.intent = None);
        }
        match self.books.binding(name) {
            Some(Binding::Held { content } | Binding::Idle { content, .. }) => match told {
                Some(now_at) if now_at != content => self.others_changed(name, content, Some(now_at)),
                _ => self.taken_over(name, content),
            },
            Some(Binding::Removing { content, .. } | Binding::Unsure { content, .. }) => {
                if let Some(removal) = self.removals.get_mut(&content).filter(|removal| removal.removes(name)) {
                    removal.taken = true;
                }
            }
            Some(Binding::Foreign { .. }) | None => {}
        }
    }

    pub(super) fn taken_over(&mut self, name: &ImageRef, content: ContentId) {
        if !self.books.is_lent(name) {
            self.row(Row::TakenOver);
            self.tell(Notice::MovedByOthers { name: name.clone(), content, now_at: content });
        }
        self.make_foreign(name, content, ForeignReason::TakenOver);
    }

    /// What a look shows of names that others brought: content that still has the name is theirs as well; and a digest name
    /// that they pulled stands on its own, it is no leftover of a pull of ours.
    pub(super) fn settle_taken(&mut self) {
        for (name, was_at) in std::mem::take(&mut self.taken) {
            if self.name_barriers.contains_key(&name) {
                self.taken.insert(name, was_at);
                continue;
            }
            let Some(content) = self.view.at(&name) else { continue };
            if was_at == Some(content) {
                self.disown(content);
            }
            if name.digest().is_some() && self.books.binding(&name).is_none() && !self.is_unsettled(&name) {
                let binding = Binding::Foreign { content, since: self.now, why: ForeignReason::TakenOver };
                self.books.bind(&name, Some(binding));
            }
        }
    }

    /// The content is others' now.
    fn disown(&mut self, id: ContentId) {
        if self.view.at(&private_name(id)) != Some(id) {
            self.books.drop_content(id);
        } else if let Some(record) = self.books.content(id) {
            let record = ContentRecord { state: ContentState::Theirs, digest_names: BTreeSet::new(), ..record.clone() };
            self.books.put_content(record);
        }
    }
}
