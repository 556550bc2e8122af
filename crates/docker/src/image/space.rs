//! The room on the engine's disk, measured: the file system on which its data lies, and the layers of its images.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use longshore_engine::{Endpoint, Engine, Error as EngineError, HistoryStep, Image};
use longshore_images::{Disk, Layer};
use longshore_model::ContentId;
use sha2::{Digest as _, Sha256};

/// Measures the file system of an engine's data root. Remembers where that is.
#[derive(Clone)]
pub(crate) struct Meter {
    engine: Engine,
    place: Arc<Mutex<Place>>,
}

#[derive(Default)]
enum Place {
    #[default]
    Unasked,
    /// On another machine, or where this agent cannot see it.
    Elsewhere,
    Here(PathBuf),
}

impl Meter {
    pub(crate) fn new(engine: Engine) -> Self {
        Self { engine, place: Arc::default() }
    }

    /// None when the engine's data is out of this agent's sight: then only what engines tell counts.
    pub(crate) async fn disk(&self) -> Option<Disk> {
        self.measure().await.map(|(_, disk)| disk)
    }

    /// The same, with the path of the engine's data.
    pub(crate) async fn measure(&self) -> Option<(PathBuf, Disk)> {
        let root = self.root().await?;
        let at = root.clone();
        let measured = tokio::task::spawn_blocking(move || nix::sys::statvfs::statvfs(&at)).await;
        match measured {
            Ok(Ok(about)) => {
                let bytes = |blocks: u64| blocks.saturating_mul(about.fragment_size());
                let disk = Disk { total_bytes: bytes(about.blocks()), free_bytes: bytes(about.blocks_available()) };
                Some((root, disk))
            }
            Ok(Err(error)) => {
                let first = !matches!(std::mem::replace(&mut *self.place(), Place::Elsewhere), Place::Elsewhere);
                if first {
                    tracing::warn!(
                        path = %root.display(),
                        %error,
                        "the file system of the engine's data cannot be measured: marks on it have no effect"
                    );
                }
                None
            }
            Err(_) => None,
        }
    }

    async fn root(&self) -> Option<PathBuf> {
        match &*self.place() {
            Place::Here(root) => return Some(root.clone()),
            Place::Elsewhere => return None,
            Place::Unasked => {}
        }
        if !matches!(self.engine.endpoint(), Endpoint::Unix(_)) {
            *self.place() = Place::Elsewhere;
            return None;
        }
        let root = PathBuf::from(self.engine.info().await.ok()?.docker_root_dir);
        if root.as_os_str().is_empty() {
            return None;
        }
        *self.place() = Place::Here(root.clone());
        Some(root)
    }

    fn place(&self) -> std::sync::MutexGuard<'_, Place> {
        self.place.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The layers of an image with their sizes. None when that cannot be told: then it counts with its whole size.
pub(crate) async fn layers(engine: &Engine, id: ContentId, image: &Image) -> Result<Option<Vec<Layer>>, EngineError> {
    let (Ok(size_bytes), Some(ids)) = (u64::try_from(image.size), chain_ids(&image.root_fs.layers)) else {
        return Ok(None);
    };
    if let [only] = ids[..] {
        return Ok(Some(vec![Layer { id: only, size_bytes }]));
    }
    let history = engine.image_history(&id.to_string()).await?;
    let sizes = sizes(&history, ids.len(), size_bytes);
    Ok(sizes.map(|sizes| ids.into_iter().zip(sizes).map(|(id, size_bytes)| Layer { id, size_bytes }).collect()))
}

/// What names each layer together with all below it: images share what lies on the same.
fn chain_ids(layers: &[String]) -> Option<Vec<ContentId>> {
    let mut chain: Vec<ContentId> = Vec::with_capacity(layers.len());
    for layer in layers {
        let layer: ContentId = layer.parse().ok()?;
        chain.push(match chain.last() {
            None => layer,
            Some(below) => ContentId::from_bytes(Sha256::digest(format!("{below} {layer}")).into()),
        });
    }
    Some(chain)
}

/// Sizes from the lowest layer up. Steps that made no layer cannot be told from those that made an empty one; what is empty
/// is taken to lie on top, the same way for all images that share what is below.
fn sizes(history: &[HistoryStep], layers: usize, size_bytes: u64) -> Option<Vec<u64>> {
    let sizes = history.iter().rev().filter_map(|step| u64::try_from(step.size).ok());
    let mut sizes: Vec<u64> = sizes.filter(|size_bytes| *size_bytes > 0).collect();
    if sizes.len() > layers || sizes.iter().sum::<u64>() != size_bytes {
        return None;
    }
    sizes.resize(layers, 0);
    Some(sizes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_are_named_with_what_is_below_them() {
        let digest = |n: u8| format!("sha256:{}", format!("{n:02x}").repeat(32));
        let chain = |layers: &[u8]| chain_ids(&layers.iter().map(|n| digest(*n)).collect::<Vec<_>>()).unwrap();
        let (one, other) = (chain(&[1, 2, 3]), chain(&[1, 2, 4]));
        assert_eq!((one[0].to_string(), &one[..2]), (digest(1), &other[..2]));
        assert_ne!(one[2], other[2]);
        assert_ne!(chain(&[2])[0], one[1], "on another ground it is another one");
        assert_eq!(chain_ids(&["md5:1".to_owned()]), None);
    }

    #[test]
    fn sizes_by_history() {
        for (history, layers, size_bytes, expected) in [
            (&[0, 5, 0, 7][..], 2, 12, Some(vec![7, 5])),
            (&[0, 5, 0, 7], 3, 12, Some(vec![7, 5, 0])),
            (&[], 0, 0, Some(vec![])),
            (&[], 2, 12, None),
            (&[5, 7], 1, 12, None),
            (&[5, 7], 2, 13, None),
            (&[-1, 7], 2, 7, Some(vec![7, 0])),
        ] {
            let steps: Vec<_> = history.iter().map(|size| HistoryStep { size: *size }).collect();
            assert_eq!(sizes(&steps, layers, size_bytes), expected, "{history:?}, {layers} layers");
        }
    }
}
