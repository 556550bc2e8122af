//! Has ready what servers wish for before they place it here (K8): images, as far as drivers have any.
//!
//! - C1: what is listed is wanted, and nothing else: drivers are told the whole list at each change, before anything new
//!   is begun.
//! - C2: each wish is answered once it is fulfilled or cannot be, as often as it takes for the server to hear it; a later
//!   wish for the same is answered anew.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::try_join_all;
use longshore_driver::{DriverError, ErrorClass, PrefetchId, PrefetchRequest};
use longshore_link::WishedImages;
use longshore_model::{DeploymentId, TaskGroup, Timestamp, WishAnswer, WishReport};
use tokio::sync::watch;
use tokio::task::{AbortHandle, JoinSet};

use crate::clock::{self, Backoff};
use crate::shared::Shared;

const RETRY_DELAY_MIN: Duration = Duration::from_millis(100);
const RETRY_DELAY_MAX: Duration = Duration::from_secs(10);

/// Those that work at a wish, by what it is for, with the time of the wish.
type Working = BTreeMap<(DeploymentId, String), (Timestamp, AbortHandle)>;

/// Until the agent ends. Begins with the first list: before it nothing is known to be over.
pub(crate) async fn fulfil(shared: Arc<Shared>, mut listed: watch::Receiver<Option<Vec<WishedImages>>>) {
    let (mut working, mut told) = (Working::new(), Told::default());
    let mut tasks = JoinSet::new();
    let mut backoff = Backoff::new(RETRY_DELAY_MIN, RETRY_DELAY_MAX);
    while listed.wait_for(Option::is_some).await.is_ok() {
        let wished = listed.borrow_and_update().clone().unwrap_or_default();
        let now = clock::now();
        let wished: Vec<_> = wished.into_iter().filter(|wish| now < wish.expires_at).collect();
        call_off(&mut working, &wished);
        if let Err(error) = told.tell(&shared, &wished).await {
            tracing::debug!(error = error.full_text(), "could not say what is wished for");
            tokio::select! {
                () = backoff.pause() => {}
                changed = listed.changed() => if changed.is_err() { return },
            }
            continue;
        }
        backoff = Backoff::new(RETRY_DELAY_MIN, RETRY_DELAY_MAX);
        for wish in wished {
            let key = (wish.deployment, wish.group.clone());
            if let Entry::Vacant(free) = working.entry(key) {
                free.insert((wish.since, tasks.spawn(answer(Arc::clone(&shared), wish))));
            }
        }
        if listed.changed().await.is_err() {
            return;
        }
        while tasks.try_join_next().is_some() {}
    }
}

/// Work at what is not wished any more, or was wished anew, ends.
fn call_off(working: &mut Working, wished: &[WishedImages]) {
    working.retain(|(deployment, group), (since, task)| {
        let still =
            wished.iter().any(|wish| wish.deployment == *deployment && wish.group == *group && wish.since == *since);
        if !still {
            task.abort();
        }
        still
    });
}

/// What each driver was last told.
#[derive(Default)]
struct Told(BTreeMap<&'static str, Vec<PrefetchId>>);

impl Told {
    async fn tell(&mut self, shared: &Shared, wished: &[WishedImages]) -> Result<(), DriverError> {
        for (name, driver) in &shared.drivers {
            let groups = wished.iter().filter_map(|wish| Some((wish, wish.job.group(&wish.group)?)));
            let requests = groups.flat_map(|(wish, group)| requests(wish, group, name));
            let ids: Vec<_> = requests.map(|request| request.id).collect();
            if self.0.get(name) != Some(&ids) {
                driver.keep_prefetched(ids.clone()).await?;
                self.0.insert(name, ids);
            }
        }
        Ok(())
    }
}

fn requests<'a>(
    wish: &'a WishedImages,
    group: &'a TaskGroup,
    driver: &'a str,
) -> impl Iterator<Item = PrefetchRequest> + use<'a> {
    group.tasks.iter().filter(move |task| task.driver == driver).map(|task| PrefetchRequest {
        id: PrefetchId {
            job: wish.job.key.clone(),
            version: wish.job.version,
            group: group.name.clone(),
            task: task.name.clone(),
        },
        config: task.config.clone(),
        expires_at: wish.expires_at,
    })
}

async fn answer(shared: Arc<Shared>, wish: WishedImages) {
    let answer = match bring(&shared, &wish).await {
        Ok(()) => WishAnswer::Ready,
        // The agent ends: the next one is asked again.
        Err(error) if error.class == ErrorClass::Cancelled => return,
        Err(error) => WishAnswer::Failed { why: error.full_text() },
    };
    tracing::info!(job.id = %wish.job.key, job.version = wish.job.version, group = wish.group, ?answer, "wished for");
    let report = WishReport { deployment: wish.deployment, group: wish.group, since: wish.since, answer };
    let mut backoff = Backoff::new(RETRY_DELAY_MIN, RETRY_DELAY_MAX);
    while let Err(error) = shared.link.report_images(shared.node_id, vec![report.clone()]).await {
        tracing::warn!(%error, "could not tell the server of an image that it wished for");
        backoff.pause().await;
    }
}

/// What the group's tasks need, side by side. What no driver here can bring is for the start to find.
async fn bring(shared: &Shared, wish: &WishedImages) -> Result<(), DriverError> {
    let Some(group) = wish.job.group(&wish.group) else { return Ok(()) };
    let drivers = shared.drivers.iter();
    let all = drivers.flat_map(|(name, driver)| requests(wish, group, name).map(|it| driver.prefetch(it)));
    try_join_all(all).await.map(|_| ())
}
