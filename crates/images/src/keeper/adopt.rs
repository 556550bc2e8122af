use std::collections::BTreeSet;

use longshore_model::{ContentId, ImageRef};
use longshore_values::Glob;

use super::Keeper;
use crate::policy::matches_name;
use crate::{Adoption, Binding, ContentRecord, ContentState, Fault, Notice, Row, Standing, is_private};

impl Keeper {
    /// What a pattern matches on the engine, by the newest look; none before the engine could be read, and
    /// none where another agent keeps the images. Digest names that go
    /// with a tag, and so come back with it, are not told on their own; nameless content is matched by its id alone.
    pub fn adoptable(&self, pattern: &str) -> Option<Vec<Adoption>> {
        if !self.view.known || self.policy.kept_by_others {
            return None;
        }
        let glob = Glob::new(pattern);
        let by_id = pattern.starts_with("sha256:");
        let mut found = Vec::new();
        for image in self.view.images() {
            let adoption = |name: &ImageRef, standing| Adoption {
                name: name.clone(),
                content: image.id,
                size_bytes: image.size_bytes,
                standing,
            };
            let matching: Vec<_> = image.names.iter().filter(|name| matches_name(&glob, name)).collect();
            for name in &matching {
                let comes_with = |tag: &ImageRef| {
                    tag.tag().is_some()
                        && tag.same_repository(name)
                        && (matching.contains(&tag) || self.is_ours_at(tag, image.id))
                };
                let is_bound = self.books.binding(name).is_some();
                let goes_along = name.digest().is_some() && !is_bound && image.names.iter().any(comes_with);
                if !goes_along {
                    found.push(adoption(name, self.standing(name, image.id)));
                }
            }
            let id = ImageRef::from_id(image.id);
            if by_id && !self.is_named(image.id) && matches_name(&glob, &id) {
                found.push(adoption(&id, self.standing_of_content(image.id)));
            }
        }
        Some(found)
    }

    fn standing(&self, name: &ImageRef, at: ContentId) -> Standing {
        if is_private(name) {
            return self.standing_of_content(at);
        }
        if self.is_ours_at(name, at) {
            Standing::Ours
        } else if self.is_unsettled(name) || self.taken.contains_key(name) {
            Standing::Unsettled
        } else {
            Standing::Foreign
        }
    }

    fn standing_of_content(&self, id: ContentId) -> Standing {
        match self.books.content(id).map(|record| record.state) {
            Some(ContentState::Left) | None => Standing::Foreign,
            Some(_) => Standing::Ours,
        }
    }

    fn is_ours_at(&self, name: &ImageRef, at: ContentId) -> bool {
        self.books.is_obtained(name) && self.books.binding(name).is_some_and(|binding| binding.content() == at)
    }

    /// A person takes back what matches a pattern. From now on it is as if we had brought it: judged in this same step.
    pub(super) fn adopt(&mut self, pattern: &str, who: &str) {
        let adoptable = self.adoptable(pattern).unwrap_or_default();
        let mut contents = BTreeSet::new();
        for Adoption { name, content, .. } in adoptable.into_iter().filter(|it| it.standing == Standing::Foreign) {
            self.row(Row::Adopted);
            self.tell(Notice::Adopted { name: name.clone(), content, who: who.to_owned() });
            if name.id().is_some() || is_private(&name) {
                self.adopt_nameless(content);
                continue;
            }
            if self.fault != Fault::AdoptionForgotten {
                self.books.bind(&name, Some(Binding::Held { content }));
            }
            contents.insert(content);
        }
        for content in contents {
            self.adopt_digests(content);
            if self.is_all_ours(content) {
                self.adopt_content(content);
            }
        }
    }

    /// Digest names that others were thought to have pulled go with the tag again that came back.
    fn adopt_digests(&mut self, id: ContentId) {
        let names = self.view.names_at(id);
        let beside_ours = |digest: &ImageRef| {
            names.iter().any(|tag| tag.tag().is_some() && tag.same_repository(digest) && self.is_ours_at(tag, id))
        };
        let foreign = |name: &ImageRef| matches!(self.books.binding(name), Some(Binding::Foreign { .. }));
        let left = names.iter().filter(|name| name.digest().is_some() && foreign(name) && beside_ours(name));
        let back: Vec<_> = left.filter(|digest| self.books.holders(digest) == 0).cloned().collect();
        for digest in back {
            self.books.bind(&digest, None);
        }
    }

    /// Whether nobody else has a name on the content.
    fn is_all_ours(&self, id: ContentId) -> bool {
        let names = self.view.names_at(id);
        let goes_with_ours = |digest: &ImageRef| {
            let beside = |tag: &&ImageRef| tag.tag().is_some() && tag.same_repository(digest);
            digest.digest().is_some() && self.books.binding(digest).is_none() && names.iter().any(|tag| beside(&tag))
        };
        names.iter().all(|name| is_private(name) || self.is_ours_at(name, id) || goes_with_ours(name))
    }

    /// With its last foreign name content comes back, too: what a later pull of ours leaves nameless of it goes.
    fn adopt_content(&mut self, id: ContentId) {
        let unbound = |name: &&ImageRef| name.digest().is_some() && self.books.binding(name).is_none();
        let digest_names: BTreeSet<_> = self.view.names_at(id).iter().filter(unbound).cloned().collect();
        let record = match self.books.content(id) {
            Some(record) => ContentRecord { state: ContentState::Named, digest_names, ..record.clone() },
            None => self.new_content(id, ContentState::Named, digest_names),
        };
        self.books.put_content(record);
    }

    fn adopt_nameless(&mut self, id: ContentId) {
        // Of what others have a name on only our private name has to go.
        let state = if self.is_named(id) { ContentState::Theirs } else { ContentState::Nameless };
        let record = match self.books.content(id) {
            Some(record) => ContentRecord { state, ..record.clone() },
            None => self.new_content(id, state, BTreeSet::new()),
        };
        self.books.put_content(record);
    }

    fn new_content(&self, id: ContentId, state: ContentState, digest_names: BTreeSet<ImageRef>) -> ContentRecord {
        ContentRecord {
            id,
            state,
            idle_since: None,
            obtained_at: self.now,
            size_bytes: self.view.size_bytes(id),
            digest_names,
        }
    }
}
