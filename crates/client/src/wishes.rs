//! Has ready what servers wish for before they place it here (K8): images, as far as drivers have any.
//!
//! - C1: what is listed is wanted, and nothing else: work at what is not wished for any more has ended before drivers are
//!   told the whole list, and they are told at each change, until they have taken it.
//! - C2: each wish is answered once it is fulfilled or cannot be, as often as it takes for the server to hear it; a later
//!   wish for the same is answered anew, and what is under way for it goes on.
//! - C3: what stands in the way of one that is still tried is told, once for each cause.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::try_join_all;
use longshore_driver::{DelaySink, DriverError, ErrorClass, PrefetchId, PrefetchRequest};
use longshore_link::WishedImages;
use longshore_model::{DeploymentId, Task, TaskGroup, WishAnswer, WishReport};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::clock::{self, Backoff};
use crate::shared::Shared;

const RETRY_DELAY_MIN: Duration = Duration::from_millis(100);
const RETRY_DELAY_MAX: Duration = Duration::from_secs(10);

/// Those that work at wishes, by what they are for.
type Working = BTreeMap<(DeploymentId, String), Worker>;

struct Worker {
    /// The wish as it was last told.
    newest: watch::Sender<WishedImages>,
    /// Its one task; aborted when this is dropped.
    task: JoinSet<()>,
}

impl Worker {
    fn new(shared: &Arc<Shared>, wish: WishedImages) -> Self {
        let (newest, told) = watch::channel(wish);
        let mut task = JoinSet::new();
        task.spawn(see_to(Arc::clone(shared), told));
        Self { newest, task }
    }

    fn tell(&self, wish: WishedImages) {
        self.newest.send_if_modified(|told| {
            let is_newer = told.since != wish.since;
            if is_newer {
                *told = wish;
            }
            is_newer
        });
    }
}

/// Until the agent ends. Begins with the first list: before it nothing is known to be over.
pub(crate) async fn fulfil(shared: Arc<Shared>, mut listed: watch::Receiver<Option<Vec<WishedImages>>>) {
    let (mut working, mut told) = (Working::new(), Told::default());
    let mut backoff = Backoff::new(RETRY_DELAY_MIN, RETRY_DELAY_MAX);
    while listed.wait_for(Option::is_some).await.is_ok() {
        let wished = listed.borrow_and_update().clone().unwrap_or_default();
        let now = clock::now();
        let wished: Vec<_> = wished.into_iter().filter(|wish| now < wish.expires_at).collect();
        call_off(&mut working, &wished).await;
        let all_told = told.tell(&shared, &wished).await;
        // Also when a driver cannot be told yet: what is in its way is the answer, should it last.
        for wish in wished {
            match working.entry((wish.deployment, wish.group.clone())) {
                Entry::Vacant(free) => _ = free.insert(Worker::new(&shared, wish)),
                Entry::Occupied(worker) => worker.get().tell(wish),
            }
        }
        let Err(error) = all_told else {
            backoff = Backoff::new(RETRY_DELAY_MIN, RETRY_DELAY_MAX);
            if listed.changed().await.is_err() {
                return;
            }
            continue;
        };
        tracing::debug!(error = error.full_text(), "could not say what is wished for");
        tokio::select! {
            () = backoff.pause() => {}
            changed = listed.changed() => if changed.is_err() { return },
        }
    }
}

/// Work at what is not wished for any more ends; so does what a panic ended, to be begun anew.
async fn call_off(working: &mut Working, wished: &[WishedImages]) {
    let mut over = Vec::new();
    for (key, worker) in &mut *working {
        let (deployment, group) = key;
        let still = wished.iter().any(|wish| wish.deployment == *deployment && wish.group == *group);
        if let Some(Err(error)) = worker.task.try_join_next() {
            tracing::error!(deployment.id = %deployment, group, %error, "work at a wish ended unexpectedly");
            over.push(key.clone());
        } else if !still {
            over.push(key.clone());
        }
    }
    for key in over {
        if let Some(mut worker) = working.remove(&key) {
            // Waits for its end: nothing is asked of a driver for it after this.
            worker.task.shutdown().await;
        }
    }
}

/// What each driver was last told.
#[derive(Default)]
struct Told(BTreeMap<&'static str, Vec<PrefetchId>>);

impl Told {
    /// All drivers, whatever one of them says; what the first said that did not take it.
    async fn tell(&mut self, shared: &Shared, wished: &[WishedImages]) -> Result<(), DriverError> {
        let mut outcome = Ok(());
        for (name, driver) in &shared.drivers {
            let groups = wished.iter().filter_map(|wish| Some((wish, wish.job.group(&wish.group)?)));
            let ids: Vec<_> = groups.flat_map(|(wish, group)| wished_of(wish, group, name)).map(|(id, _)| id).collect();
            if self.0.get(name) == Some(&ids) {
                continue;
            }
            match driver.keep_prefetched(ids.clone()).await {
                Ok(()) => _ = self.0.insert(name, ids),
                Err(error) => outcome = outcome.and(Err(error)),
            }
        }
        outcome
    }
}

/// What a driver is to have for a group's tasks.
fn wished_of<'a>(
    wish: &'a WishedImages,
    group: &'a TaskGroup,
    driver: &'a str,
) -> impl Iterator<Item = (PrefetchId, &'a Task)> + use<'a> {
    group.tasks.iter().filter(move |task| task.driver == driver).map(|task| {
        let (job, version) = (wish.job.key.clone(), wish.job.version);
        (PrefetchId { job, version, group: group.name.clone(), task: task.name.clone() }, task)
    })
}

/// Brings what is wished for and says so, and again each time it is wished for anew.
async fn see_to(shared: Arc<Shared>, mut newest: watch::Receiver<WishedImages>) {
    loop {
        let wish = newest.borrow_and_update().clone();
        let (delay, told) = watch::channel(None);
        let brought = tokio::select! {
            brought = bring(&shared, &wish, delay) => brought,
            never = tell_delays(&shared, newest.clone(), told) => match never {},
        };
        let answer = match brought {
            Ok(()) => Some(WishAnswer::Ready),
            // The agent ends, and the next one is asked again; or nobody wishes for it by now.
            Err(error) if error.class == ErrorClass::Cancelled => None,
            Err(error) => Some(WishAnswer::Failed { why: error.full_text() }),
        };
        // Wished for anew meanwhile: what was brought is there, and only that wish is still open.
        if !newest.has_changed().unwrap_or(false) {
            let answered = async {
                if let Some(answer) = answer {
                    say(&shared, wish, answer).await;
                }
                std::future::pending::<()>().await;
            };
            tokio::select! {
                () = answered => {}
                changed = newest.changed() => if changed.is_err() { return },
            }
        }
    }
}

/// What stands in the way of a wish, as long as it is tried, to whoever wished for it last.
async fn tell_delays(
    shared: &Shared,
    newest: watch::Receiver<WishedImages>,
    mut told: watch::Receiver<Option<String>>,
) -> Infallible {
    loop {
        if told.changed().await.is_err() {
            // Nothing is tried any more, and that is answered.
            return std::future::pending().await;
        }
        let why = told.borrow_and_update().clone();
        let wish = newest.borrow().clone();
        if let Some(why) = why {
            say(shared, wish, WishAnswer::Delayed { why }).await;
        }
    }
}

async fn say(shared: &Shared, wish: WishedImages, answer: WishAnswer) {
    tracing::info!(job.id = %wish.job.key, job.version = wish.job.version, group = wish.group, ?answer, "wished for");
    let report = WishReport { deployment: wish.deployment, group: wish.group, since: wish.since, answer };
    let mut backoff = Backoff::new(RETRY_DELAY_MIN, RETRY_DELAY_MAX);
    while let Err(error) = shared.link.report_images(shared.node_id, vec![report.clone()]).await {
        tracing::warn!(%error, "could not tell the server of an image that it wished for");
        backoff.pause().await;
    }
}

/// What the group's tasks need, side by side. What no driver here can bring is for the start to find.
async fn bring(shared: &Shared, wish: &WishedImages, delay: watch::Sender<Option<String>>) -> Result<(), DriverError> {
    let Some(group) = wish.job.group(&wish.group) else { return Ok(()) };
    let delays = DelaySink::new(move |why| {
        let why = Some(why.full_text());
        delay.send_if_modified(|told| {
            let is_news = *told != why;
            *told = why;
            is_news
        });
    });
    let request = |(id, task): (PrefetchId, &Task)| PrefetchRequest {
        id,
        config: task.config.clone(),
        expires_at: wish.expires_at,
        delays: delays.clone(),
    };
    let drivers = shared.drivers.iter();
    let all = drivers.flat_map(|(name, driver)| wished_of(wish, group, name).map(|it| driver.prefetch(request(it))));
    try_join_all(all).await.map(|_| ())
}
