use longshore_model::{ContentId, ImageRef};

use super::Keeper;
use crate::{End, RemovalOutcome, RemovalReason, Story, is_private};

impl Keeper {
    /// How the image of that name went the last time, or content of that id.
    pub fn story(&self, name: &ImageRef) -> Option<&Story> {
        let of_content = || {
            let id = name.id()?;
            self.books.stories().filter(|story| story.content == id).max_by_key(|story| story.at)
        };
        self.books.story(name).or_else(of_content)
    }

    /// A removal of ours has come to its end: when the name is gone, that is remembered.
    pub(super) fn remember_removal(
        &mut self,
        name: &ImageRef,
        content: ContentId,
        why: RemovalReason,
        outcome: &RemovalOutcome,
    ) {
        let gone =
            matches!(outcome, RemovalOutcome::Removed { .. } | RemovalOutcome::Untagged | RemovalOutcome::GoneAlready);
        if gone {
            let (delay, foreign) =
                (self.policy.idle_span().unwrap_or_else(|| self.policy.delay()), self.books.is_lent(name));
            self.remember(name, content, End::Removed { why, delay, foreign, outcome: outcome.clone() });
        }
    }

    pub(super) fn remember(&mut self, name: &ImageRef, content: ContentId, end: End) {
        let record = self.books.name(name);
        let idle_since = match record {
            Some(record) => record.binding.and_then(|binding| binding.idle_since()),
            None => self.books.content(content).and_then(|record| record.idle_since),
        };
        let story = Story {
            name: if is_private(name) { ImageRef::from_id(content) } else { name.clone() },
            content,
            at: self.now,
            end,
            idle_since,
            last_used_at: record.and_then(|record| record.last_used_at),
            uses: record.map_or(0, |record| record.uses),
        };
        self.books.put_story(story);
    }
}
