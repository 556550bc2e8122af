//! A pretend Docker engine: names, contents, containers, and the rules by which removals, pulls and loads change them,
//! as the real one was observed to have them. It also remembers whose doing everything was, which the keeper never sees.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use longshore_images::{
    ContainerSeen, Disk, EngineNews, ImageSeen, Layer, Owner, RemovalAnswer, Room, Seen, is_private,
};
use longshore_model::{ContentId, ImageRef};

use crate::random::Random;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Who {
    Ours,
    Others,
}

#[derive(Debug, Clone)]
pub(crate) struct Name {
    pub(crate) content: ContentId,
    /// Who pulled, loaded or tagged it last.
    pub(crate) by: Who,
    /// When that was.
    pub(crate) seq: u64,
}

#[derive(Debug, Clone)]
pub(crate) struct Content {
    /// Who brought it, or brought it again.
    pub(crate) by: Who,
    /// Who took its last name, when it has none.
    pub(crate) unnamed_by: Who,
}

#[derive(Debug, Clone)]
pub(crate) struct Container {
    pub(crate) content: ContentId,
    pub(crate) made_from: Option<ImageRef>,
    pub(crate) owner: Option<Owner>,
    pub(crate) started: bool,
    pub(crate) seq: u64,
}

/// An event on its way to those who listen.
#[derive(Debug, Clone)]
pub(crate) struct Told {
    pub(crate) news: EngineNews,
    pub(crate) by: Who,
    pub(crate) seq: u64,
    pub(crate) at: i64,
}

#[derive(Debug, Default)]
pub(crate) struct Engine {
    pub(crate) names: BTreeMap<ImageRef, Name>,
    pub(crate) contents: BTreeMap<ContentId, Content>,
    pub(crate) containers: BTreeMap<String, Container>,
    pub(crate) events: VecDeque<Told>,
    /// Counts everything that happens here.
    pub(crate) seq: u64,
    /// Who removed a name last, and when the request for it was sent.
    pub(crate) name_removed: BTreeMap<ImageRef, (Who, u64)>,
    /// Whose fault it is that content is gone. A removal of ours that took it because others had changed its names or
    /// containers since the look by which we decided is theirs.
    pub(crate) content_removed: BTreeMap<ContentId, Who>,
    /// When others last did something to a name, content or its containers.
    pub(crate) others_name: BTreeMap<ImageRef, u64>,
    pub(crate) others_content: BTreeMap<ContentId, u64>,
    next_container: u64,
    /// The disk that everything lies on; none: it cannot be measured, and never fills up.
    pub(crate) disk_bytes: Option<u64>,
    /// What others have on it.
    pub(crate) other_bytes: u64,
}

pub(crate) fn content(n: u8) -> ContentId {
    ContentId::from_bytes([n; 32])
}

/// The digest name under which a repository serves the content.
pub(crate) fn digest_name(name: &ImageRef, id: ContentId) -> ImageRef {
    let hex: String = id.as_bytes().iter().map(|byte| format!("{:02x}", byte ^ 0xa5)).collect();
    format!("{}@sha256:{hex}", name.repository().unwrap()).parse().unwrap()
}

/// Every content has a layer of its own, and one that half of the others have too.
pub(crate) fn layers(id: ContentId) -> Vec<Layer> {
    let n = id.as_bytes()[0];
    let base = Layer { id: content(200 + n % 2), size_bytes: 300 };
    vec![base, Layer { id: content(100 + n), size_bytes: u64::from(n) * 50 + 100 }]
}

/// What contents take together, each layer once.
pub(crate) fn bytes_of(contents: impl Iterator<Item = ContentId>) -> u64 {
    let layers: BTreeMap<_, _> = contents.flat_map(layers).map(|layer| (layer.id, layer.size_bytes)).collect();
    layers.values().sum()
}

impl Engine {
    pub(crate) fn free_bytes(&self) -> u64 {
        let used = bytes_of(self.contents.keys().copied()) + self.other_bytes;
        self.disk_bytes.unwrap_or(u64::MAX).saturating_sub(used)
    }

    /// Whether there is no room for the content.
    pub(crate) fn is_too_full_for(&self, id: ContentId) -> bool {
        let with = bytes_of(self.contents.keys().copied().chain([id]));
        self.disk_bytes.is_some_and(|total| with + self.other_bytes > total)
    }

    pub(crate) fn happen(&mut self) -> u64 {
        self.seq += 1;
        self.seq
    }

    fn tell(&mut self, at: i64, by: Who, news: EngineNews) {
        let seq = self.seq;
        self.events.push_back(Told { news, by, seq, at });
    }

    pub(crate) fn at(&self, name: &ImageRef) -> Option<ContentId> {
        match name.id() {
            Some(id) => self.contents.contains_key(&id).then_some(id),
            None => self.names.get(name).map(|name| name.content),
        }
    }

    pub(crate) fn names_at(&self, id: ContentId) -> Vec<ImageRef> {
        self.names.iter().filter(|(_, n)| n.content == id).map(|(name, _)| name.clone()).collect()
    }

    pub(crate) fn uses(&self, id: ContentId) -> bool {
        self.containers.values().any(|container| container.content == id)
    }

    /// A person said so.
    pub(crate) fn belongs_to_us(&mut self, name: &ImageRef, content: ContentId) {
        if let Some(name) = self.names.get_mut(name).filter(|name| name.content == content) {
            name.by = Who::Ours;
        }
    }

    fn touch(&mut self, by: Who, name: &ImageRef, id: ContentId) {
        if by == Who::Others {
            self.others_name.insert(name.clone(), self.seq);
            self.others_content.insert(id, self.seq);
        }
    }

    fn point(&mut self, name: &ImageRef, id: ContentId, by: Who) {
        let seq = self.seq;
        self.touch(by, name, id);
        let old = self.names.insert(name.clone(), Name { content: id, by, seq });
        let present = self.contents.contains_key(&id);
        let content = self.contents.entry(id).or_insert(Content { by, unnamed_by: by });
        if present && by == Who::Others {
            content.by = Who::Others;
        }
        if let Some(old) = old
            && old.content != id
        {
            self.touch(by, name, old.content);
            if let Some(left) = self.contents.get_mut(&old.content) {
                left.unnamed_by = by;
                if old.by == Who::Others {
                    left.by = Who::Others;
                }
            }
        }
    }

    /// A pull by tag or digest ends well, or "is up to date": then a name of others stays theirs.
    pub(crate) fn pull(&mut self, at: i64, name: &ImageRef, id: ContentId, by: Who) {
        self.happen();
        let moves = self.at(name) != Some(id);
        if moves || by == Who::Others {
            self.point(name, id, by);
        }
        if name.tag().is_some() {
            let digest = digest_name(name, id);
            if self.at(&digest) != Some(id) {
                let seq = self.seq;
                self.names.insert(digest, Name { content: id, by, seq });
            }
        }
        self.tell(at, by, EngineNews::Pulled { name: name.clone() });
    }

    pub(crate) fn load(&mut self, at: i64, name: &ImageRef, id: ContentId, by: Who) {
        self.happen();
        if self.at(name) != Some(id) || by == Who::Others {
            self.point(name, id, by);
        }
        self.tell(at, by, EngineNews::Loaded { content: id });
    }

    pub(crate) fn tag(&mut self, at: i64, name: &ImageRef, id: ContentId, by: Who) -> bool {
        self.happen();
        if !self.contents.contains_key(&id) {
            return false;
        }
        let private = is_private(name);
        if private {
            let seq = self.seq;
            self.names.insert(name.clone(), Name { content: id, by, seq });
        } else {
            self.point(name, id, by);
        }
        self.tell(at, by, EngineNews::Tagged { name: name.clone(), content: id });
        true
    }

    /// What goes with a name, and whether the content goes too.
    pub(crate) fn falling(&self, name: &ImageRef) -> (BTreeSet<ImageRef>, bool) {
        let Some(id) = self.at(name) else { return (BTreeSet::new(), false) };
        let names = self.names_at(id);
        let mut falling = BTreeSet::from([name.clone()]);
        let another_tag = |n: &ImageRef| n != name && n.tag().is_some() && n.same_repository(name);
        if name.tag().is_some() && !names.iter().any(another_tag) {
            falling.extend(names.iter().filter(|n| n.digest().is_some() && n.same_repository(name)).cloned());
        }
        let last = names.iter().all(|name| falling.contains(name));
        (falling, last)
    }

    /// An unforced removal by name. Containers made since `sent` may not be noticed: the engine looks before it deletes,
    /// without a lock.
    pub(crate) fn remove(
        &mut self,
        at: i64,
        name: &ImageRef,
        by: Who,
        sent: u64,
        seen: u64,
        random: &mut Random,
    ) -> RemovalAnswer {
        self.happen();
        let Some(id) = self.at(name) else { return RemovalAnswer::NotFound };
        let (falling, last) = self.falling(name);
        let racing = random.one_in(2);
        let used =
            self.containers.values().any(|container| container.content == id && (container.seq <= sent || !racing));
        if last && used {
            return RemovalAnswer::InUse { message: "container is using its referenced image".to_owned() };
        }
        let changed = self.others_content.get(&id).is_some_and(|seq| *seq > seen);
        for gone in &falling {
            self.names.remove(gone);
            self.name_removed.insert(gone.clone(), (if changed { Who::Others } else { by }, sent));
            self.touch(by, gone, id);
        }
        let mut deleted = Vec::new();
        if last {
            self.contents.remove(&id);
            self.content_removed.insert(id, if changed { Who::Others } else { by });
            deleted.push(id);
        } else if let Some(content) = self.contents.get_mut(&id) {
            content.unnamed_by = by;
        }
        self.tell(at, by, EngineNews::ImagesChanged);
        RemovalAnswer::Done { untagged: falling.into_iter().collect(), deleted }
    }

    /// By force, as people do: names and content go whatever runs.
    pub(crate) fn remove_by_force(&mut self, at: i64, id: ContentId) {
        self.happen();
        for name in self.names_at(id) {
            self.names.remove(&name);
            self.name_removed.insert(name.clone(), (Who::Others, self.seq));
            self.touch(Who::Others, &name, id);
        }
        self.others_content.insert(id, self.seq);
        self.contents.remove(&id);
        self.content_removed.insert(id, Who::Others);
        self.tell(at, Who::Others, EngineNews::ImagesChanged);
    }

    /// Content without tags goes, unless a container uses it.
    pub(crate) fn prune(&mut self, at: i64) {
        let contents: Vec<_> = self.contents.keys().copied().collect();
        for id in contents {
            if self.names_at(id).iter().all(|name| name.digest().is_some()) && !self.uses(id) {
                self.remove_by_force(at, id);
            }
        }
    }

    pub(crate) fn create(
        &mut self,
        at: i64,
        id: ContentId,
        made_from: Option<ImageRef>,
        owner: Option<Owner>,
    ) -> Option<String> {
        self.happen();
        if !self.contents.contains_key(&id) {
            return None;
        }
        self.next_container += 1;
        let name = format!("c{:011}", self.next_container);
        let by = if owner.is_some() { Who::Ours } else { Who::Others };
        if by == Who::Others {
            self.others_content.insert(id, self.seq);
        }
        let container = Container { content: id, made_from, owner, started: false, seq: self.seq };
        self.containers.insert(name.clone(), container);
        self.tell(at, by, EngineNews::ContainersChanged);
        Some(name)
    }

    pub(crate) fn remove_container(&mut self, at: i64, name: &str) {
        self.happen();
        if let Some(container) = self.containers.remove(name) {
            let by = if container.owner.is_some() { Who::Ours } else { Who::Others };
            self.tell(at, by, EngineNews::ContainersChanged);
        }
    }

    pub(crate) fn container_of(&self, owner: &Owner) -> Option<(&String, &Container)> {
        self.containers.iter().find(|(_, container)| container.owner.as_ref() == Some(owner))
    }

    pub(crate) fn look(&self) -> Seen {
        let images = self.contents.keys().map(|id| ImageSeen {
            id: *id,
            names: self.names_at(*id),
            size_bytes: layers(*id).iter().map(|layer| layer.size_bytes).sum(),
            platform: None,
            parent: None,
        });
        let containers = self.containers.iter().map(|(name, container)| ContainerSeen {
            id: name.clone(),
            content: container.content,
            made_from: container.made_from.clone(),
            owner: container.owner.clone(),
        });
        let room = Room {
            disk: self.disk_bytes.map(|total_bytes| Disk { total_bytes, free_bytes: self.free_bytes() }),
            layers: self.contents.keys().map(|id| (*id, layers(*id))).collect(),
        };
        Seen { images: images.collect(), containers: containers.collect(), unreadable: Vec::new(), room }
    }
}
