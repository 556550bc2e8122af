//! Tells drivers which versions of jobs can be gone back to, at each change and until they have taken it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use longshore_driver::{DriverError, EarlierVersion};
use longshore_link::EarlierVersion as Listed;
use tokio::sync::watch;

use crate::clock::Backoff;
use crate::shared::Shared;

const RETRY_DELAY_MIN: Duration = Duration::from_millis(100);
const RETRY_DELAY_MAX: Duration = Duration::from_secs(10);

/// Until the agent ends. Begins with the first list: before it nothing is known to be over.
pub(crate) async fn keep(shared: Arc<Shared>, mut listed: watch::Receiver<Option<Vec<Listed>>>) {
    let mut told = BTreeMap::new();
    let mut backoff = Backoff::new(RETRY_DELAY_MIN, RETRY_DELAY_MAX);
    while listed.wait_for(Option::is_some).await.is_ok() {
        let earlier = listed.borrow_and_update().clone().unwrap_or_default();
        let Err(error) = tell(&shared, &earlier, &mut told).await else {
            backoff = Backoff::new(RETRY_DELAY_MIN, RETRY_DELAY_MAX);
            if listed.changed().await.is_err() {
                return;
            }
            continue;
        };
        tracing::debug!(error = error.full_text(), "could not say which versions can be gone back to");
        tokio::select! {
            () = backoff.pause() => {}
            changed = listed.changed() => if changed.is_err() { return },
        }
    }
}

/// All drivers, whatever one of them says; what the first said that did not take it.
async fn tell(
    shared: &Shared,
    earlier: &[Listed],
    told: &mut BTreeMap<&'static str, Vec<EarlierVersion>>,
) -> Result<(), DriverError> {
    let mut outcome = Ok(());
    for (name, driver) in &shared.drivers {
        let of_driver: Vec<_> = earlier.iter().map(|version| of_driver(version, name)).collect();
        if told.get(name) == Some(&of_driver) {
            continue;
        }
        match driver.keep_versions(of_driver.clone()).await {
            Ok(()) => _ = told.insert(name, of_driver),
            Err(error) => outcome = outcome.and(Err(error)),
        }
    }
    outcome
}

fn of_driver(listed: &Listed, driver: &str) -> EarlierVersion {
    let tasks = listed.job.groups.iter().flat_map(|group| &group.tasks);
    EarlierVersion {
        job: listed.job.key.clone(),
        version: listed.job.version,
        newer_stable: listed.newer_stable,
        configs: tasks.filter(|task| task.driver == driver).map(|task| task.config.clone()).collect(),
    }
}
