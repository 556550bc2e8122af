use longshore_images::{Foreign, SpacePolicy};
use longshore_settings::Block;
use longshore_values::{Glob, GoDuration};

use super::space::read_space;
use super::{at_least, positive};

/// What is removed when nobody needs it any more.
#[derive(Debug, Clone, PartialEq)]
pub struct GcOptions {
    /// Whether the agent removes images at all.
    pub image: bool,
    /// From the end of an image's last need to its removal. Zero or less: at once.
    pub image_delay: GoDuration,
    /// Whether the containers of ended tasks are removed.
    pub container: bool,
    pub dangling_containers: DanglingOptions,
    /// Names that are never removed.
    pub keep: Vec<Glob>,
    /// What becomes of images that others brought.
    pub foreign: Foreign,
    /// So many earlier, stable versions of each job keep their images.
    pub keep_versions: usize,
    /// How room and age bear on that.
    pub space: SpacePolicy,
}

/// The removal of containers that carry our mark and that no allocation knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DanglingOptions {
    pub enabled: bool,
    /// Only tell.
    pub dry_run: bool,
    pub period: GoDuration,
    /// How old a container must be; at least 1 m.
    pub creation_grace: GoDuration,
}

impl Default for GcOptions {
    fn default() -> Self {
        Self {
            image: true,
            image_delay: GoDuration::minutes(3),
            container: true,
            dangling_containers: DanglingOptions::default(),
            keep: Vec::new(),
            foreign: Foreign::Keep,
            keep_versions: 0,
            space: SpacePolicy::default(),
        }
    }
}

impl Default for DanglingOptions {
    fn default() -> Self {
        Self { enabled: true, dry_run: false, period: GoDuration::minutes(5), creation_grace: GoDuration::minutes(5) }
    }
}

/// Servers know six versions of a job.
const KEEP_VERSIONS_MAX: i64 = 5;
const CREATION_GRACE_MIN: GoDuration = GoDuration::minutes(1);

impl GcOptions {
    pub(super) fn read(block: &mut Block<'_>) -> Self {
        let default = Self::default();
        Self {
            image: block.take_bool_or("image", default.image),
            image_delay: block.take_duration_or("image_delay", default.image_delay),
            container: block.take_bool_or("container", default.container),
            dangling_containers: block.take_block("dangling_containers", DanglingOptions::read),
            keep: block.take_strings_or("keep", &[]).into_iter().map(Glob::new).collect(),
            foreign: block.take_parsed("foreign", foreign).unwrap_or(default.foreign),
            keep_versions: usize::try_from(block.take_integer_or("keep_versions", 0, 0..=KEEP_VERSIONS_MAX))
                .unwrap_or(default.keep_versions),
            space: read_space(block),
        }
    }
}

fn foreign(word: &str) -> Result<Foreign, String> {
    match word {
        "keep" => Ok(Foreign::Keep),
        "collect" => Ok(Foreign::Collect),
        _ => Err(format!("takes one of keep, collect, not {word:?}")),
    }
}

impl DanglingOptions {
    fn read(block: &mut Block<'_>) -> Self {
        let default = Self::default();
        Self {
            enabled: block.take_bool_or("enabled", default.enabled),
            dry_run: block.take_bool_or("dry_run", default.dry_run),
            period: positive(block, "period", default.period),
            creation_grace: at_least(block, "creation_grace", default.creation_grace, CREATION_GRACE_MIN),
        }
    }
}
