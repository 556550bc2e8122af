//! One pull or load, to its end: progress told, silence limited, failures in words that help.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use longshore_engine::{Class, Engine, Error as EngineError, PullStream, RegistryAuth};
use longshore_images::{FailureKind, FetchFailure};
use longshore_model::ImageRef;
use longshore_values::{ByteSize, with_causes};
use sha2::{Digest as _, Sha256};
use tokio::io::{AsyncRead, ReadBuf};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::archive::CheckedArchive;
use super::credentials::{self, Source};
use super::gate::{Gate, Place};
use super::progress::{Progress, Stage};
use super::space::Meter;
use crate::options::AuthOptions;

/// What a start attempt brings along for the case that its image has to be brought.
#[derive(Clone, Default)]
pub(crate) struct Access {
    pub(crate) of_task: Option<RegistryAuth>,
    /// Credentials that cannot be had: go on without.
    pub(crate) soft_fail: bool,
    pub(crate) archive: Option<Arc<CheckedArchive>>,
}

/// One pull or load, as its runner needs it.
pub(crate) struct Fetch {
    pub(crate) engine: Engine,
    pub(crate) name: ImageRef,
    pub(crate) access: Access,
    pub(crate) auth: AuthOptions,
    pub(crate) platform: Option<String>,
    pub(crate) activity_timeout: Duration,
    /// Whether a registry that asks for fewer requests is waited for.
    pub(crate) patient: bool,
    pub(crate) meter: Meter,
    pub(crate) gate: Arc<Gate>,
    pub(crate) cancel: CancellationToken,
    pub(crate) progress: watch::Sender<Progress>,
}

/// How long a pull that nobody waits for is let to unpack what it has fetched.
const UNPACK_MAX: Duration = Duration::from_secs(60);
/// When nobody waits for a pull any more: for so long messages come that were sent before.
const MESSAGES_LATE: Duration = Duration::from_millis(300);
/// So long an engine may be silent that has not told to have fetched all, until such a pull is cut off.
const SILENCE_MAX: Duration = Duration::from_secs(10);
/// How long the registry may take for its first word, if the limit on silence is not shorter.
const CONNECT_MAX: Duration = Duration::from_secs(60);
/// How often a pull is held against the room on the disk.
const MEASURE_EVERY: Duration = Duration::from_millis(250);
/// What may pass is tried again after these times, and then told.
const AGAIN_AFTER: [Duration; 2] = [Duration::from_millis(500), Duration::from_secs(2)];

/// A failed try, and whether another one may end otherwise.
struct Failed {
    failure: FetchFailure,
    again: Again,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Again {
    No,
    /// Soon: what is in the way may pass.
    Soon,
    /// When the registry may be asked again, however often.
    WhenRested,
    /// At once: credentials that last for a short while only may have been too old.
    WithNewCredentials,
}

impl From<FetchFailure> for Failed {
    fn from(failure: FetchFailure) -> Self {
        Self { failure, again: Again::No }
    }
}

impl Fetch {
    pub(crate) async fn pull(self) -> Result<(), FetchFailure> {
        let registry = self.name.registry().unwrap_or_default().to_owned();
        let (mut waits, mut had_new_credentials) = (AGAIN_AFTER.into_iter(), false);
        loop {
            if let Some(why) = self.gate.rests(&registry).filter(|_| !self.patient) {
                return Err(FetchFailure { kind: FailureKind::RateLimited, message: why, needed_bytes: None });
            }
            let tell = |stage| self.progress.send_modify(|progress| progress.wait(stage));
            let place = tokio::select! {
                place = self.gate.enter(&registry, tell) => place,
                () = self.cancel.cancelled() => return Err(self.cancelled()),
            };
            let Err(Failed { failure, again }) = self.pull_once(place).await else {
                self.gate.gave(&registry);
                return Ok(());
            };
            match again {
                Again::WhenRested => {
                    self.gate.limited(&registry, &failure.message);
                    if !self.patient {
                        return Err(failure);
                    }
                }
                Again::WithNewCredentials if !had_new_credentials => had_new_credentials = true,
                Again::Soon if let Some(wait) = waits.next() => self.rest(wait, &failure).await?,
                _ => return Err(failure),
            }
        }
    }

    async fn rest(&self, wait: Duration, failure: &FetchFailure) -> Result<(), FetchFailure> {
        let until = Instant::now() + wait;
        let stage = Stage::Resting { until, why: failure.message.clone() };
        self.progress.send_modify(|progress| progress.wait(stage));
        tokio::select! {
            () = tokio::time::sleep_until(until.into()) => Ok(()),
            () = self.cancel.cancelled() => Err(self.cancelled()),
        }
    }

    async fn pull_once(&self, mut place: Place) -> Result<(), Failed> {
        let (auth, source) = self.credentials().await?;
        let (Some(repository), Some(reference)) = (self.name.repository(), self.reference()) else {
            return Err(self.failure(FailureKind::Other, "an image id cannot be pulled", "").into());
        };
        self.progress.send_modify(|progress| progress.ask(source.clone()));
        let stream = self.engine.pull(repository, &reference, auth.as_ref(), self.platform.as_deref());
        tokio::select! {
            outcome = self.follow(stream, &source) => outcome,
            never = place.grow_old() => match never {},
        }
    }

    fn cancelled(&self) -> FetchFailure {
        let cause = format!("nobody waits for it any more; it was at: {}", *self.progress.borrow());
        self.failure(FailureKind::Cancelled, &cause, "")
    }

    pub(crate) async fn load(self) -> Result<(), FetchFailure> {
        let Some(archive) = self.access.archive.clone() else {
            return Err(self.failure(FailureKind::BadArchive, "the attempt that brought the archive has ended", ""));
        };
        let reader = match VerifiedReader::open(&archive) {
            Ok(reader) => reader,
            Err(error) => return Err(self.failure(FailureKind::BadArchive, &error.to_string(), "")),
        };
        let stream = self.engine.load_images(reader, &archive.path);
        match self.follow(stream, &Source::Nowhere).await.map_err(|failed| failed.failure) {
            Err(failure @ FetchFailure { kind: FailureKind::Other, .. }) => {
                Err(FetchFailure { kind: FailureKind::BadArchive, ..failure })
            }
            outcome => outcome,
        }
    }

    fn reference(&self) -> Option<String> {
        let digest = self.name.digest().map(ToString::to_string);
        digest.or_else(|| self.name.tag().map(str::to_owned))
    }

    async fn credentials(&self) -> Result<(Option<RegistryAuth>, Source), FetchFailure> {
        let resolved = credentials::resolve(&self.name, self.access.of_task.as_ref(), &self.auth).await;
        resolved.or_else(|error| {
            let text = with_causes(&error);
            if self.access.soft_fail {
                tracing::warn!(image = self.name.familiar(), error = %text, "no credentials; pulling without");
                return Ok((None, Source::Nowhere));
            }
            Err(self.failure(
                FailureKind::Denied,
                &text,
                "mend the source of credentials, or set auth_soft_fail = true in the task to pull without",
            ))
        })
    }

    async fn follow(
        &self,
        stream: impl Future<Output = Result<PullStream, EngineError>>,
        source: &Source,
    ) -> Result<(), Failed> {
        let work = async {
            let mut stream = match self.answered(stream).await? {
                Ok(stream) => stream,
                Err(error) => return Err(self.engine_failure(&error, source).await),
            };
            let mut measured_at: Option<Instant> = None;
            loop {
                match self.lively(self.until_progress(&mut stream)).await? {
                    Ok(true) => {
                        let is_time = measured_at.is_none_or(|at| at.elapsed() >= MEASURE_EVERY);
                        if is_time && self.progress.borrow().bytes_to_come() > 0 {
                            self.must_fit().await?;
                            measured_at = Some(Instant::now());
                        }
                    }
                    Ok(false) => return Ok(()),
                    Err(error) => return Err(self.engine_failure(&error, source).await),
                }
            }
        };
        let mut work = std::pin::pin!(work);
        tokio::select! {
            outcome = &mut work => return outcome,
            () = self.cancel.cancelled() => {}
        }
        // The engine may be further than what it told: it sends its messages late and few of them. So it is a message that
        // comes now which decides, and long silence.
        tokio::select! {
            outcome = &mut work => return outcome,
            () = tokio::time::sleep(MESSAGES_LATE) => {}
        }
        let mut progress = self.progress.subscribe();
        if !progress.borrow_and_update().is_all_fetched() {
            tokio::select! {
                outcome = &mut work => return outcome,
                _ = progress.changed() => {}
                () = tokio::time::sleep(SILENCE_MAX) => {}
            }
        }
        // An engine that loses its caller between making the image and naming it leaves content without any name, which
        // nobody could tell from somebody else's. So what only has to be unpacked gets its name, and goes by that.
        if self.progress.borrow().is_all_fetched() {
            return tokio::time::timeout(UNPACK_MAX, work).await.unwrap_or_else(|_| Err(self.cancelled().into()));
        }
        Err(self.cancelled().into())
    }

    /// Reads on until something moved. Whether the stream goes on.
    async fn until_progress(&self, stream: &mut PullStream) -> Result<bool, EngineError> {
        while let Some(message) = stream.next().await? {
            let mut moved = false;
            self.progress.send_modify(|progress| moved = progress.take(&message));
            if moved {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The beginning of an answer, if it comes before the limit on that.
    async fn answered<T>(&self, step: impl Future<Output = T>) -> Result<T, FetchFailure> {
        let after = self.activity_timeout.min(CONNECT_MAX);
        tokio::time::timeout(after, step).await.map_err(|_| {
            let what = if self.access.archive.is_some() { "the engine" } else { "the registry" };
            let hint = "see whether the registry answers, and whether the engine reaches it";
            self.failure(FailureKind::TimedOut, &format!("no answer from {what} for {after:?}"), hint)
        })
    }

    /// The outcome of a step, if it comes before the limit on silence.
    async fn lively<T>(&self, step: impl Future<Output = T>) -> Result<T, FetchFailure> {
        let after = self.activity_timeout;
        tokio::time::timeout(after, step).await.map_err(|_| {
            let cause = format!("no progress for {after:?} ({})", *self.progress.borrow());
            let hint = "see whether the registry answers; plugin \"docker\" pull_activity_timeout sets the limit";
            self.failure(FailureKind::TimedOut, &cause, hint)
        })
    }

    async fn engine_failure(&self, error: &EngineError, source: &Source) -> Failed {
        let class = error.class();
        let kind = kind_of(class);
        let cause = error.engine_message().map_or_else(|| with_causes(error), str::to_owned);
        let further = match class {
            Class::RegistryDenied => format!(" (asked {source})"),
            Class::NoSpace => format!(" ({})", self.room().await),
            _ => String::new(),
        };
        let again = match class {
            Class::RegistryUnreachable | Class::RegistryFailed => Again::Soon,
            Class::RegistryLimited => Again::WhenRested,
            Class::RegistryDenied if source.is_helper() => Again::WithNewCredentials,
            _ => Again::No,
        };
        Failed { failure: self.failure(kind, &format!("{cause}{further}"), class.hint()), again }
    }

    /// How far it came, and the room on the engine's disk: what was unpacked of it is gone again by now.
    async fn room(&self) -> String {
        let came = format!("{} were there", *self.progress.borrow());
        match self.meter.measure().await {
            Some((root, disk)) => {
                let (free, all) = (ByteSize(disk.free_bytes), ByteSize(disk.total_bytes));
                format!("{came}; without it {free} of {all} are free at {}", root.display())
            }
            // An engine elsewhere, or a folder that this agent may not see.
            None => came,
        }
    }

    /// What is still to come has to find room: when it cannot, going on would only fill the disk for all.
    async fn must_fit(&self) -> Result<(), FetchFailure> {
        let to_come = self.progress.borrow().bytes_to_come();
        if to_come == 0 {
            return Ok(());
        }
        let Some((root, disk)) = self.meter.measure().await.filter(|(_, disk)| disk.free_bytes < to_come) else {
            return Ok(());
        };
        let cause = format!(
            "stopped early: {} are still to be downloaded, and {} of {} are free at {} ({})",
            ByteSize(to_come),
            ByteSize(disk.free_bytes),
            ByteSize(disk.total_bytes),
            root.display(),
            *self.progress.borrow()
        );
        Err(self.failure(FailureKind::NoSpace, &cause, Class::NoSpace.hint()))
    }

    /// About how many free bytes it takes, as far as its messages, or its archive, tell.
    fn needed_bytes(&self) -> Option<u64> {
        match &self.access.archive {
            // Unpacked whole, and then once more as layers.
            Some(archive) => Some(archive.reader().and_then(|file| file.metadata()).ok()?.len().saturating_mul(2)),
            None => self.progress.borrow().needed_bytes(),
        }
    }

    fn failure(&self, kind: FailureKind, cause: &str, hint: &str) -> FetchFailure {
        let (image, verb) = (self.name.familiar(), if self.access.archive.is_some() { "load" } else { "pull" });
        let from = match (self.name.registry(), &self.access.archive) {
            (_, Some(archive)) => format!(" from {:?}", archive.path),
            (Some(registry), None) => format!(" from registry {registry}"),
            (None, None) => String::new(),
        };
        let mut message = format!("could not {verb} image {image}{from}: {kind}: {cause}");
        if !hint.is_empty() {
            message.push_str("; try: ");
            message.push_str(hint);
        }
        let needed_bytes = if kind == FailureKind::NoSpace { self.needed_bytes() } else { None };
        FetchFailure { kind, message, needed_bytes }
    }
}

fn kind_of(class: Class) -> FailureKind {
    match class {
        Class::RegistryUnreachable | Class::RegistryUntrusted | Class::RegistryFailed => FailureKind::Unreachable,
        Class::RegistryDenied => FailureKind::Denied,
        Class::RegistryLimited => FailureKind::RateLimited,
        Class::ManifestMissing | Class::NotFound => FailureKind::NotFound,
        Class::PlatformMissing => FailureKind::WrongPlatform,
        Class::NoSpace => FailureKind::NoSpace,
        Class::EngineUnreachable | Class::Cut => FailureKind::EngineLost,
        Class::Timeout => FailureKind::TimedOut,
        _ => FailureKind::Other,
    }
}

/// The checked archive once more, which must still be the same to its last byte: an upload that breaks off is refused by
/// the engine.
struct VerifiedReader {
    file: tokio::fs::File,
    hasher: Sha256,
    expected: String,
    /// Read to its end, and the same.
    verified: bool,
}

impl VerifiedReader {
    fn open(archive: &CheckedArchive) -> std::io::Result<Self> {
        let file = tokio::fs::File::from_std(archive.reader()?);
        Ok(Self { file, hasher: Sha256::new(), expected: archive.digest.clone(), verified: false })
    }
}

impl AsyncRead for VerifiedReader {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<std::io::Result<()>> {
        let before = buf.filled().len();
        std::task::ready!(Pin::new(&mut self.file).poll_read(cx, buf))?;
        match buf.filled().get(before..) {
            Some(read) if !read.is_empty() => self.hasher.update(read),
            _ if self.verified => {}
            _ => {
                let digest: String = self.hasher.finalize_reset().iter().map(|byte| format!("{byte:02x}")).collect();
                if digest != self.expected {
                    return Poll::Ready(Err(std::io::Error::other("the archive was changed while it was loaded")));
                }
                self.verified = true;
            }
        }
        Poll::Ready(Ok(()))
    }
}
