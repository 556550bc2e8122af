//! One look at the engine, in the keeper's words. What cannot be read is said, never left out (K6).

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use longshore_engine::{ContainerSummary, Engine, Error as EngineError, ImageSummary, ListContainers};
use longshore_images::{ContainerSeen, ImageSeen, Layer, Seen};
use longshore_model::{ContentId, ImageRef, NodeId};

use super::space::{Meter, layers};
use crate::task::{Identity, OWN_IMAGE};

/// Looks at an engine. Remembers what never changes: the platform of content, and its layers.
#[derive(Clone)]
pub(crate) struct Looker {
    engine: Engine,
    node: NodeId,
    facts: Arc<Mutex<BTreeMap<ContentId, Facts>>>,
    meter: Meter,
}

/// What an image says of itself when it is asked alone.
#[derive(Clone)]
struct Facts {
    platform: Option<String>,
    /// None when they cannot be told.
    layers: Option<Vec<Layer>>,
}

impl Looker {
    pub(crate) fn new(engine: Engine, node: NodeId) -> Self {
        Self { meter: Meter::new(engine.clone()), engine, node, facts: Arc::default() }
    }

    /// What measures the disk.
    pub(crate) fn meter(&self) -> Meter {
        self.meter.clone()
    }

    /// Lists images, then containers: a container that is made in between is seen, with an image that was seen or is
    /// listed by the next look. What is free is measured last.
    pub(crate) async fn look(&self) -> Result<Seen, EngineError> {
        let images = self.engine.images().await?;
        let containers = self.engine.containers(ListContainers { all: true, labels: &[] }).await?;
        let mut seen = Seen::default();
        for entry in images.unreadable {
            seen.unreadable.push(format!("image {}: {}", entry.id.unwrap_or_default(), entry.why));
        }
        for entry in containers.unreadable {
            seen.unreadable.push(format!("container {}: {}", entry.id.unwrap_or_default(), entry.why));
        }
        for image in images.items {
            match image_seen(&image) {
                Ok(image) => seen.images.push(image),
                Err(why) => seen.unreadable.push(why),
            }
        }
        for container in containers.items {
            match container_seen(&container, self.node) {
                Ok(container) => seen.containers.push(container),
                Err(why) => seen.unreadable.push(why),
            }
        }
        self.add_facts(&mut seen).await?;
        seen.room.disk = self.meter.disk().await;
        Ok(seen)
    }

    async fn add_facts(&self, seen: &mut Seen) -> Result<(), EngineError> {
        for image in &mut seen.images {
            let known = self.known().get(&image.id).cloned();
            let facts = match known {
                Some(facts) => facts,
                None => self.ask_facts(image.id).await?,
            };
            image.platform = facts.platform;
            seen.room.layers.extend(facts.layers.map(|layers| (image.id, layers)));
        }
        let mut known = self.known();
        known.retain(|id, _| seen.images.iter().any(|image| image.id == *id));
        Ok(())
    }

    async fn ask_facts(&self, id: ContentId) -> Result<Facts, EngineError> {
        // Gone since the list, or it says nothing: unknown.
        let unknown = Facts { platform: None, layers: None };
        let details = match self.engine.image(&id.to_string()).await {
            Ok(details) if !details.architecture.is_empty() && !details.os.is_empty() => details,
            Ok(_) => return Ok(unknown),
            Err(error) if error.is_not_found() => return Ok(unknown),
            Err(error) => return Err(error),
        };
        let layers = match layers(&self.engine, id, &details).await {
            Ok(layers) => layers,
            Err(error) if error.is_not_found() => return Ok(unknown),
            Err(error) => return Err(error),
        };
        let variant = if details.variant.is_empty() { String::new() } else { format!("/{}", details.variant) };
        let platform = Some(format!("{}/{}{variant}", details.os, details.architecture));
        let facts = Facts { platform, layers };
        self.known().insert(id, facts.clone());
        Ok(facts)
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<ContentId, Facts>> {
        self.facts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn image_seen(image: &ImageSummary) -> Result<ImageSeen, String> {
    let unreadable = |what: &str| format!("image {}: {what}", image.id);
    let id: ContentId = image.id.parse().map_err(|why| unreadable(&format!("{why}")))?;
    let names: Result<Vec<ImageRef>, String> = image
        .tags()
        .chain(image.digests())
        .map(|name| name.parse().map_err(|why| unreadable(&format!("{why}"))))
        .collect();
    Ok(ImageSeen {
        id,
        names: names?,
        size_bytes: u64::try_from(image.size).unwrap_or(0),
        platform: None,
        parent: match image.parent_id.as_str() {
            "" => None,
            parent => Some(parent.parse().map_err(|why| unreadable(&format!("parent: {why}")))?),
        },
    })
}

fn container_seen(container: &ContainerSummary, node: NodeId) -> Result<ContainerSeen, String> {
    let content: ContentId =
        container.image_id.parse().map_err(|why| format!("container {}: image {why}", container.id))?;
    let ours = Identity::of_labels(&container.labels).filter(|identity| identity.agent == node);
    let written = match &ours {
        Some(_) => container.labels.get(OWN_IMAGE).map(String::as_str),
        None => None,
    };
    Ok(ContainerSeen {
        id: container.id.clone(),
        content,
        made_from: made_from(written.unwrap_or(&container.image), content),
        owner: ours.map(|identity| identity.owner),
    })
}

/// The name that a container was made from; `None` when what the engine shows is the content's id or a beginning of it.
fn made_from(shown: &str, content: ContentId) -> Option<ImageRef> {
    let digits = shown.strip_prefix("sha256:").unwrap_or(shown);
    if content.hex().starts_with(digits) {
        return None;
    }
    shown.parse::<ImageRef>().ok().filter(|name| name.id().is_none())
}

#[cfg(test)]
mod tests {
    use longshore_images::Owner;
    use longshore_model::AllocId;

    use super::*;
    use crate::task::{OWN_AGENT, OWN_ALLOCATION, OWN_CONFIG_HASH, OWN_TASK};

    const ID: &str = "sha256:ce60000000000000000000000000000000000000000000000000000000000001";

    #[test]
    fn placeholders_are_no_names_and_what_cannot_be_read_is_said() {
        let image = ImageSummary {
            id: ID.to_owned(),
            repo_tags: vec!["<none>:<none>".into(), "redis:7".into()],
            repo_digests: vec!["<none>@<none>".into()],
            size: 5,
            ..ImageSummary::default()
        };
        let seen = image_seen(&image).unwrap();
        assert_eq!(seen.names, ["docker.io/library/redis:7".parse().unwrap()]);
        let odd = ImageSummary { repo_tags: vec!["Redis:7".into()], ..image };
        assert!(image_seen(&odd).unwrap_err().contains(ID));
        assert!(image_seen(&ImageSummary { id: "ce60".into(), ..ImageSummary::default() }).is_err());
    }

    #[test]
    fn whose_a_container_is() {
        let node = NodeId::from_u128(7);
        let mut container = ContainerSummary {
            id: "c1".into(),
            image: "redis:7".into(),
            image_id: ID.to_owned(),
            ..ContainerSummary::default()
        };
        let seen = container_seen(&container, node).unwrap();
        assert_eq!((seen.owner, seen.made_from), (None, Some("redis:7".parse().unwrap())));
        for shown in ["ce60", "ce6000000000", ID] {
            let by_id = ContainerSummary { image: shown.into(), ..container.clone() };
            assert_eq!(container_seen(&by_id, node).unwrap().made_from, None, "{shown}");
        }
        let alloc = AllocId::from_u128(3);
        for (key, value) in [
            (OWN_AGENT, node.to_string()),
            (OWN_ALLOCATION, alloc.to_string()),
            (OWN_TASK, "web".to_owned()),
            (OWN_CONFIG_HASH, "ab".to_owned()),
            (OWN_IMAGE, "acme/web:1".to_owned()),
        ] {
            container.labels.insert(key.to_owned(), value);
        }
        container.image = ID.to_owned();
        let seen = container_seen(&container, node).unwrap();
        assert_eq!(seen.owner, Some(Owner::task(alloc, "web")));
        assert_eq!(seen.made_from, Some("acme/web:1".parse().unwrap()));
        assert_eq!(container_seen(&container, NodeId::from_u128(8)).unwrap().owner, None);
    }
}
