//! A start attempt's question for its image: asked of the keeper, told to the task's watchers, bounded in time.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use longshore_driver::{DelaySink, DriverError, EventSink, Reason, StartRequest};
use longshore_images::{Archive, Event, FailureKind, Owner, Refusal, Want};
use longshore_model::{AllocId, ImageRef, TaskEvent};
use longshore_values::{ByteSize, GoDuration};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::shared::{Shared, closing};
use crate::image::{
    Access, Answer, BadArchive, CheckedArchive, EngineState, Grant, Keeping, Pace, Progress, check_archive, now,
};
use crate::options::{Options, PullChoice};
use crate::task::{TaskConfig, check_registry};

/// The event type that Nomad uses for what a driver says.
pub(super) const DRIVER_EVENT: &str = "Driver";

/// Pauses between attempts at an image that is wished for.
const AGAIN_MIN: Duration = Duration::from_secs(1);
const AGAIN_MAX: Duration = Duration::from_secs(30);
/// How long a start waits for room for its container.
const ROOM_MAX: Duration = Duration::from_secs(60);

/// Asks for the image of one attempt, as often as it takes.
pub(crate) struct Asker<'a> {
    shared: &'a Shared,
    keeping: Keeping,
    owner: Owner,
    pub(crate) name: ImageRef,
    want: Want,
    access: Access,
    events: &'a EventSink,
    timeout: GoDuration,
    /// Where that limit can be set.
    timeout_setting: &'static str,
    /// The pull that was last waited for.
    watched: Mutex<Option<watch::Receiver<Progress>>>,
}

/// Says that the attempt gave up, unless it was answered.
struct Question<'a> {
    keeping: &'a Keeping,
    owner: Option<Owner>,
}

impl Drop for Question<'_> {
    fn drop(&mut self) {
        if let Some(owner) = self.owner.take() {
            self.keeping.tell(Event::GaveUp { owner });
        }
    }
}

impl<'a> Asker<'a> {
    pub(crate) async fn new(
        shared: &'a Shared,
        request: &'a StartRequest,
        config: &TaskConfig,
        cancelled: &CancellationToken,
    ) -> Result<Self, DriverError> {
        let name = allowed_image(config, &shared.options)?;
        let archive = match &config.load {
            None => None,
            Some(path) => Some(open_archive(request, path, &name, cancelled).await?),
        };
        let owner = Owner::task(request.id.alloc, &request.id.task);
        Self::of(shared, owner, name, config, archive, &request.events).await
    }

    /// For a task that is to come: nothing of it is known but its config.
    pub(crate) async fn of_wish(
        shared: &'a Shared,
        owner: Owner,
        config: &TaskConfig,
        events: &'a EventSink,
    ) -> Result<Self, DriverError> {
        Self::of(shared, owner, allowed_image(config, &shared.options)?, config, None, events).await
    }

    async fn of(
        shared: &'a Shared,
        owner: Owner,
        name: ImageRef,
        config: &TaskConfig,
        archive: Option<Arc<CheckedArchive>>,
        events: &'a EventSink,
    ) -> Result<Self, DriverError> {
        let choice = pull_choice(config, shared.options.pull, &name);
        let want = Want {
            owner: owner.clone(),
            name: name.clone(),
            fresh: choice != PullChoice::Missing,
            local_copy: choice == PullChoice::Changed,
            access: shared.access_word(config.auth.as_ref(), config.auth_soft_fail),
            platform: None,
            archive: archive.as_ref().map(|archive| Archive { digest: archive.digest.clone() }),
        };
        Ok(Self {
            shared,
            keeping: shared.keeping().await?,
            owner,
            name,
            want,
            access: Access { of_task: config.auth.clone(), soft_fail: config.auth_soft_fail, archive },
            events,
            timeout: config.image_pull_timeout.unwrap_or(shared.options.image_pull_timeout),
            timeout_setting: "image_pull_timeout",
            watched: Mutex::default(),
        })
    }

    /// For the network of an allocation. `archive` is the built-in image; `again`: what has its name now is not it.
    pub(crate) async fn of_network(
        shared: &'a Shared,
        alloc: AllocId,
        archive: Option<Arc<CheckedArchive>>,
        again: bool,
        events: &'a EventSink,
    ) -> Result<Self, DriverError> {
        let (owner, name) = (Owner::Network(alloc), shared.network_image()?);
        let is_latest = name.tag() == Some("latest");
        let want = Want {
            owner: owner.clone(),
            name: name.clone(),
            fresh: again || is_latest,
            local_copy: is_latest,
            access: shared.access_word(None, true),
            platform: None,
            archive: archive.as_ref().map(|archive| Archive { digest: archive.digest.clone() }),
        };
        Ok(Self {
            shared,
            keeping: shared.keeping().await?,
            owner,
            name,
            want,
            access: Access { of_task: None, soft_fail: true, archive },
            events,
            timeout: shared.options.infra_image_pull_timeout,
            timeout_setting: "infra_image_pull_timeout",
            watched: Mutex::default(),
        })
    }

    /// The image, from the keeper. What may pass by itself is tried again for as long as a pull may take: what waits for
    /// this goes on running meanwhile.
    pub(crate) async fn grant_with_patience(&self, delays: &DelaySink) -> Result<Grant, DriverError> {
        let mut question = Question { keeping: &self.keeping, owner: Some(self.owner.clone()) };
        let mut last = None;
        let asking = async {
            let mut pause = AGAIN_MIN;
            loop {
                match self.answer().await? {
                    Ok(grant) => return Ok(grant),
                    Err(Refusal::NotWished { .. }) => {
                        return Err(DriverError::cancelled("nobody wishes for the image any more"));
                    }
                    Err(why) if may_pass(&why) => {
                        tracing::info!(%why, "an image that is wished for is asked for again in {pause:?}");
                        delays.tell(&refused(&why));
                        last = Some(why);
                    }
                    Err(why) => return Err(refused(&why)),
                }
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(AGAIN_MAX);
            }
        };
        let outcome = tokio::time::timeout(self.timeout.to_std(), asking).await;
        match (outcome, last) {
            (Ok(answered), _) => {
                question.owner = None;
                answered
            }
            (Err(_), Some(why)) => {
                Err(refused(&why).hint(format!("tried for {} ({})", self.timeout_setting, self.timeout)))
            }
            (Err(_), None) => Err(self.timed_out()),
        }
    }

    /// The image, from the keeper.
    pub(crate) async fn grant(&self) -> Result<Grant, DriverError> {
        let mut question = Question { keeping: &self.keeping, owner: Some(self.owner.clone()) };
        let outcome = tokio::time::timeout(self.timeout.to_std(), self.answer()).await;
        match outcome {
            Ok(answered) => {
                question.owner = None;
                answered?.map_err(|why| refused(&why))
            }
            Err(_) => Err(self.timed_out()),
        }
    }

    /// The engine's disk is full, and not for want of the image: has idle images go. Whether anything went.
    pub(crate) async fn make_room(&self) -> bool {
        matches!(tokio::time::timeout(ROOM_MAX, self.keeping.make_room()).await, Ok(Ok(true)))
    }

    /// The container is made from the content.
    pub(crate) fn made(&self, grant: &Grant) {
        self.keeping.tell(Event::ContainerMade {
            owner: self.owner.clone(),
            name: self.name.clone(),
            content: grant.content,
        });
    }

    async fn answer(&self) -> Result<Result<Grant, Refusal>, DriverError> {
        let mut answers = self.keeping.want(self.want.clone(), self.access.clone());
        let (mut progress, mut pace, mut announced) = (None, Pace::new(Instant::now()), false);
        loop {
            let answer = tokio::select! {
                answer = answers.recv() => answer,
                () = tick(progress.as_ref(), &pace) => {
                    if let Some(watched) = &progress {
                        self.tell_progress(watched);
                    }
                    pace.told(Instant::now());
                    continue;
                }
            };
            match answer {
                Some(Answer::Fetching(watched)) => {
                    if !announced {
                        announced = true;
                        let message = if self.access.archive.is_some() { "Loading image" } else { "Downloading image" };
                        self.emit(message.to_owned());
                    }
                    *self.watched() = Some(watched.clone());
                    progress = Some(watched);
                }
                Some(Answer::Granted(grant)) => {
                    self.emit(self.ready_text(&grant));
                    return Ok(Ok(grant));
                }
                Some(Answer::Refused(why)) => return Ok(Err(why)),
                None => return Err(closing()),
            }
        }
    }

    fn tell_progress(&self, watched: &watch::Receiver<Progress>) {
        let text = format!("Pulling image {}: {}", self.name.familiar(), *watched.borrow());
        self.emit(text);
    }

    fn emit(&self, message: String) {
        self.events.emit(TaskEvent::new(DRIVER_EVENT, now(), message).detail("image", self.name.familiar()));
    }

    /// How the image came.
    pub(crate) fn ready_text(&self, grant: &Grant) -> String {
        let name = self.name.familiar();
        match &grant.brought {
            None => match &grant.unasked {
                None => format!("Image ready: {name} was already present"),
                Some(failure) => format!(
                    "Image ready: {name} was already present, and the registry could not be asked for a newer one: {failure}"
                ),
            },
            Some(brought) => {
                let took = GoDuration::milliseconds(i64::try_from(brought.took.as_millis()).unwrap_or(i64::MAX));
                if brought.by_load {
                    format!("Image ready: {name} loaded in {took}, {} unpacked", ByteSize(grant.size_bytes))
                } else {
                    let bytes = brought.downloaded_bytes;
                    format!("Image ready: {name} pulled in {took}, {} downloaded", ByteSize(bytes))
                }
            }
        }
    }

    fn watched(&self) -> MutexGuard<'_, Option<watch::Receiver<Progress>>> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn timed_out(&self) -> DriverError {
        let name = self.name.familiar();
        let engine = match &*self.shared.engine_state.borrow() {
            EngineState::Lost(why) => format!("; the Docker engine does not answer: {why}"),
            EngineState::Other => "; another Docker engine listens at its address now".to_owned(),
            EngineState::Answers | EngineState::Unknown => String::new(),
        };
        let registry = self.name.registry().unwrap_or("no registry");
        let at =
            self.watched().as_ref().map(|watched| format!("; it was at: {}", *watched.borrow())).unwrap_or_default();
        DriverError::retry(format!(
            "could not get image {name} from {registry} within {} ({}){at}{engine}",
            self.timeout_setting, self.timeout
        ))
        .hint(format!("see whether the registry is slow or silent, or set a longer {}", self.timeout_setting))
    }
}

/// The task's own word, the agent's, or else what Nomad does: `latest` is asked for at each start.
fn pull_choice(config: &TaskConfig, of_agent: Option<PullChoice>, name: &ImageRef) -> PullChoice {
    if config.force_pull {
        return PullChoice::Always;
    }
    let as_nomad = if name.tag() == Some("latest") { PullChoice::Always } else { PullChoice::Missing };
    config.pull.or(of_agent).unwrap_or(as_nomad)
}

/// Comes when progress is to be told; never without a pull.
async fn tick(progress: Option<&watch::Receiver<Progress>>, pace: &Pace) {
    match progress {
        Some(_) => tokio::time::sleep_until(pace.next_at().into()).await,
        None => std::future::pending().await,
    }
}

/// The image of a task's config, if this node may get it. No other image is ever asked for.
pub(crate) fn allowed_image(config: &TaskConfig, options: &Options) -> Result<ImageRef, DriverError> {
    let name = ImageRef::from_task_option(&config.image)
        .map_err(|error| DriverError::fatal(format!("config.image: {error}")).hint("write repository:tag"))?;
    check_registry(&name, options).map_err(|error| DriverError::fatal(error.to_string()))?;
    Ok(name)
}

async fn open_archive(
    request: &StartRequest,
    path: &str,
    name: &ImageRef,
    cancelled: &CancellationToken,
) -> Result<Arc<CheckedArchive>, DriverError> {
    let (folder, path, name) = (request.dirs.local.clone(), path.to_owned(), name.clone());
    let until = cancelled.clone();
    let checked = tokio::task::spawn_blocking(move || check_archive(&folder, &path, &name, &until)).await;
    match checked {
        Ok(Err(_)) if cancelled.is_cancelled() => Err(given_up()),
        Ok(Ok(archive)) => Ok(Arc::new(archive)),
        Ok(Err(error @ BadArchive::Open { .. })) => Err(DriverError::retry(error.to_string()).caused_by_source(error)),
        Ok(Err(error)) => Err(DriverError::fatal(error.to_string()).caused_by_source(error)),
        Err(error) => Err(DriverError::retry("the archive of the task could not be read").caused_by(error)),
    }
}

/// What a start ends with that nobody wants any more.
pub(super) fn given_up() -> DriverError {
    DriverError::cancelled("the start was called off")
}

/// A cause without saying the error itself again.
trait CausedBySource {
    fn caused_by_source(self, error: impl std::error::Error) -> Self;
}

impl CausedBySource for DriverError {
    fn caused_by_source(self, error: impl std::error::Error) -> Self {
        match error.source() {
            Some(source) => self.caused_by(crate::error::Cause(source.to_string())),
            None => self,
        }
    }
}

/// Whether another attempt may end otherwise without anybody's doing.
fn may_pass(why: &Refusal) -> bool {
    match why {
        Refusal::Fetch(failure) => !matches!(
            failure.kind,
            FailureKind::NotFound | FailureKind::Denied | FailureKind::WrongPlatform | FailureKind::BadArchive
        ),
        Refusal::Vanished { .. } => true,
        Refusal::NoSuchId { .. } | Refusal::WrongPlatform { .. } | Refusal::NotWished { .. } => false,
    }
}

fn refused(why: &Refusal) -> DriverError {
    let fatal = match why {
        Refusal::NoSuchId { .. } | Refusal::WrongPlatform { .. } => true,
        Refusal::Fetch(failure) => failure.kind == FailureKind::BadArchive,
        Refusal::Vanished { .. } | Refusal::NotWished { .. } => false,
    };
    let error = if fatal { DriverError::fatal(why.to_string()) } else { DriverError::retry(why.to_string()) };
    let not_found = match why {
        Refusal::NoSuchId { .. } => true,
        Refusal::Fetch(failure) => failure.kind == FailureKind::NotFound,
        Refusal::Vanished { .. } | Refusal::NotWished { .. } | Refusal::WrongPlatform { .. } => false,
    };
    error.because(if not_found { Reason::NotFound } else { Reason::Other })
}
