//! One pull or load, to its end: progress told, silence limited, failures in words that help.

use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use longshore_engine::{Class, Engine, Error as EngineError, PullStream, RegistryAuth};
use longshore_images::{FailureKind, FetchFailure};
use longshore_model::ImageRef;
use sha2::{Digest as _, Sha256};
use tokio::io::{AsyncRead, ReadBuf};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::archive::CheckedArchive;
use super::credentials::{self, Source};
use super::progress::{Bytes, Progress};
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
    pub(crate) cancel: CancellationToken,
    pub(crate) progress: watch::Sender<Progress>,
}

/// How long a pull that nobody waits for is let to unpack what it has fetched.
const UNPACK_MAX: Duration = Duration::from_secs(60);

impl Fetch {
    pub(crate) async fn pull(self) -> Result<(), FetchFailure> {
        let (auth, source) = self.credentials().await?;
        let (Some(repository), Some(reference)) = (self.name.repository(), self.reference()) else {
            return Err(self.failure(FailureKind::Other, "an image id cannot be pulled", ""));
        };
        let stream = self.engine.pull(repository, &reference, auth.as_ref(), self.platform.as_deref());
        self.follow(stream, source).await
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
        match self.follow(stream, Source::Nowhere).await {
            Err(FetchFailure { kind: FailureKind::Other, message }) => {
                Err(FetchFailure { kind: FailureKind::BadArchive, message })
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
        source: Source,
    ) -> Result<(), FetchFailure> {
        let work = async {
            let mut stream = match self.lively(stream).await? {
                Ok(stream) => stream,
                Err(error) => return Err(self.engine_failure(&error, source).await),
            };
            loop {
                match self.lively(self.until_progress(&mut stream)).await? {
                    Ok(true) => {}
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
        let cancelled = || self.failure(FailureKind::Cancelled, "nobody waits for it any more", "");
        // An engine that loses its caller between making the image and naming it leaves content without any name, which
        // nobody could tell from somebody else's. So what only has to be unpacked gets its name, and goes by that.
        if self.progress.borrow().is_all_fetched() {
            return tokio::time::timeout(UNPACK_MAX, work).await.unwrap_or_else(|_| Err(cancelled()));
        }
        Err(cancelled())
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

    /// The outcome of a step, if it comes before the limit on silence.
    async fn lively<T>(&self, step: impl Future<Output = T>) -> Result<T, FetchFailure> {
        let after = self.activity_timeout;
        tokio::time::timeout(after, step).await.map_err(|_| {
            let cause = format!("no progress for {after:?} ({})", *self.progress.borrow());
            let hint = "see whether the registry answers; plugin \"docker\" pull_activity_timeout sets the limit";
            self.failure(FailureKind::TimedOut, &cause, hint)
        })
    }

    async fn engine_failure(&self, error: &EngineError, source: Source) -> FetchFailure {
        let class = error.class();
        let kind = kind_of(class);
        let cause = error.engine_message().map_or_else(|| with_causes(error), str::to_owned);
        let further = match (class, source) {
            (Class::RegistryDenied, Source::Task) => {
                " (asked with the credentials of the task's auth block)".to_owned()
            }
            (Class::RegistryDenied, Source::File) => " (asked with the credentials of the file auth.config)".to_owned(),
            (Class::RegistryDenied, Source::Helper) => {
                " (asked with the credentials of a credential helper)".to_owned()
            }
            (Class::RegistryDenied, Source::Nowhere) => " (asked without credentials)".to_owned(),
            (Class::NoSpace, _) => format!(" ({})", self.room().await),
            _ => String::new(),
        };
        self.failure(kind, &format!("{cause}{further}"), class.hint())
    }

    /// How far it came, and the room on the engine's disk: what was unpacked of it is gone again by now.
    async fn room(&self) -> String {
        let came = format!("{} were there", *self.progress.borrow());
        let Ok(info) = self.engine.info().await else { return came };
        let root = PathBuf::from(info.docker_root_dir);
        let looked = tokio::task::spawn_blocking(move || nix::sys::statvfs::statvfs(&root).map(|room| (root, room)));
        match looked.await {
            Ok(Ok((root, room))) => {
                let bytes = |blocks: u64| Bytes(blocks.saturating_mul(room.fragment_size()));
                let (free, all) = (bytes(room.blocks_available()), bytes(room.blocks()));
                format!("{came}; without it {free} of {all} are free at {}", root.display())
            }
            // An engine elsewhere, or a folder that this agent may not see.
            _ => came,
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
        FetchFailure { kind, message }
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

/// An error with what caused it, in one line.
pub(crate) fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
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
