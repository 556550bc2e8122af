//! Images of versions that jobs can be gone back to.

use longshore_driver::{DriverError, EarlierVersion};
use longshore_images::{Event, Need, Owner};
use longshore_model::is_image_known_before_start;

use super::ask::allowed_image;
use super::ended;
use super::shared::Shared;
use crate::task::TaskConfig;

/// Keeps what is here of the images of so many versions as `gc.keep_versions` says, and lets go of the others'.
pub(crate) async fn keep(shared: &Shared, earlier: Vec<EarlierVersion>) -> Result<(), DriverError> {
    let kept = shared.options.gc.keep_versions;
    let wanted = earlier.into_iter().filter(|version| kept > 0 && version.newer_stable <= kept);
    let needs = wanted.flat_map(|version| needs(shared, version)).collect();
    let keeping = shared.keeping().await?;
    keeping.record(Event::VersionsKept { needs }).await.map_err(ended)
}

/// What its tasks name as it stands; a name that is filled in at the start cannot be known, and one that is not allowed any
/// more cannot be gone back to.
fn needs(shared: &Shared, version: EarlierVersion) -> Vec<Need> {
    let owner = Owner::KeptVersion { job: version.job, version: version.version };
    let known = version.configs.iter().filter(|config| is_image_known_before_start(config));
    let names = known.filter_map(|config| allowed_image(&TaskConfig::decode(config).ok()?, &shared.options).ok());
    names.map(|name| Need { owner: owner.clone(), name }).collect()
}
