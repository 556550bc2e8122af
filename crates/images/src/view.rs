use std::collections::BTreeMap;

use longshore_model::{ContentId, ImageRef};

use crate::{ContainerSeen, ImageSeen, LookId, Room, Seen};

/// The engine as the last look showed it.
#[derive(Debug, Default)]
pub(crate) struct View {
    /// The newest look that was taken in; looks that began earlier are older than this and say nothing new.
    pub(crate) applied: LookId,
    /// Whether that look could read everything.
    pub(crate) complete: bool,
    /// Whether any look has been complete, so that what was never seen may be called absent.
    pub(crate) known: bool,
    images: BTreeMap<ContentId, ImageSeen>,
    names: BTreeMap<ImageRef, ContentId>,
    containers: BTreeMap<ContentId, Vec<ContainerSeen>>,
    pub(crate) room: Room,
    /// How many contents have each layer.
    layer_users: BTreeMap<ContentId, u32>,
}

impl View {
    /// Takes a look in. One that could not read everything adds to what is known and takes nothing away (K6).
    pub(crate) fn take(&mut self, look: LookId, seen: Seen) {
        self.applied = look;
        self.complete = seen.is_complete();
        if self.complete {
            self.known = true;
            self.images.clear();
            self.names.clear();
            self.containers.clear();
        }
        self.take_room(seen.room);
        for image in seen.images {
            for name in &image.names {
                if let Some(old) = self.names.insert(name.clone(), image.id)
                    && old != image.id
                    && let Some(old) = self.images.get_mut(&old)
                {
                    old.names.retain(|known| known != name);
                }
            }
            self.images.insert(image.id, image);
        }
        for container in seen.containers {
            let of_content = self.containers.entry(container.content).or_default();
            of_content.retain(|known| known.id != container.id);
            of_content.push(container);
        }
    }

    fn take_room(&mut self, room: Room) {
        if !self.complete {
            self.room.disk = room.disk.or(self.room.disk);
            self.room.layers.extend(room.layers);
        } else {
            self.room = room;
        }
        self.layer_users.clear();
        for layer in self.room.layers.values().flatten() {
            *self.layer_users.entry(layer.id).or_default() += 1;
        }
    }

    /// Whether more than one content has the layer.
    pub(crate) fn is_shared(&self, layer: ContentId) -> bool {
        self.layer_users.get(&layer).is_some_and(|users| *users > 1)
    }

    /// Where a name points; a bare id names its content while that is there.
    pub(crate) fn at(&self, name: &ImageRef) -> Option<ContentId> {
        match name.id() {
            Some(id) => self.images.contains_key(&id).then_some(id),
            None => self.names.get(name).copied(),
        }
    }

    pub(crate) fn image(&self, id: ContentId) -> Option<&ImageSeen> {
        self.images.get(&id)
    }

    pub(crate) fn images(&self) -> impl Iterator<Item = &ImageSeen> {
        self.images.values()
    }

    pub(crate) fn names_at(&self, id: ContentId) -> &[ImageRef] {
        self.images.get(&id).map_or(&[], |image| &image.names)
    }

    pub(crate) fn containers_of(&self, id: ContentId) -> &[ContainerSeen] {
        self.containers.get(&id).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn has_child(&self, id: ContentId) -> bool {
        self.images.values().any(|image| image.parent == Some(id))
    }

    pub(crate) fn size_bytes(&self, id: ContentId) -> u64 {
        self.images.get(&id).map_or(0, |image| image.size_bytes)
    }

    /// Digest names of the repository of `name` that stand on the content.
    pub(crate) fn digests_at<'a>(&'a self, id: ContentId, name: &'a ImageRef) -> impl Iterator<Item = &'a ImageRef> {
        self.names_at(id).iter().filter(|other| other.digest().is_some() && other.same_repository(name))
    }
}
