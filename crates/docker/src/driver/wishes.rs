//! What people ask of the keeper: that an image stays, or that what nobody needs goes now.

use std::time::{Duration, Instant};

use longshore_driver::{Collected, DriverError, PinReport, Reason};
use longshore_images::{Event, ImageStatus, Pin, StateWord};
use longshore_model::{ContentId, ImageRef, Provenance};

use super::ended;
use super::reports::shown_name;
use super::shared::{Books, Shared};
use crate::image::{Keeping, now};

const PATTERN_BYTES_MAX: usize = 1024;
const WHO_BYTES_MAX: usize = 256;
/// How long a person waits to see what becomes of a collection.
const COLLECT_MAX: Duration = Duration::from_secs(10);
const COLLECT_POLL: Duration = Duration::from_millis(50);

/// The keeper, if it keeps. Waits for an agent that has just been started.
pub(super) async fn keeper(shared: &Shared) -> Result<Keeping, DriverError> {
    let keeping = shared.keeping().await?;
    match &*shared.books.borrow() {
        Books::Open { note: Some(note), .. } => Err(DriverError::fatal(note.clone())
            .because(Reason::KeptElsewhere)
            .hint("ask the agent that keeps the images of this engine")),
        Books::Open { .. } | Books::Broken { .. } | Books::Opening { .. } => Ok(keeping),
    }
}

pub(crate) async fn pin(shared: &Shared, pattern: &str, who: &str) -> Result<PinReport, DriverError> {
    let keeping = keeper(shared).await?;
    let pattern = pattern_of(pattern)?;
    let who = who_of(who)?;
    let pin = Pin { pattern: pattern.clone(), who, at: now() };
    keeping.record(Event::Pinned(pin.clone())).await.map_err(ended)?;
    let pins = keeping.pins().await.map_err(ended)?;
    let names = pins.into_iter().find(|(pin, _)| pin.pattern == pattern).map(|(_, names)| names).unwrap_or_default();
    Ok(report(pin, &names))
}

pub(crate) async fn unpin(shared: &Shared, pattern: &str) -> Result<bool, DriverError> {
    let keeping = keeper(shared).await?;
    let pattern = pattern_of(pattern)?;
    let stood = keeping.pins().await.map_err(ended)?.iter().any(|(pin, _)| pin.pattern == pattern);
    keeping.record(Event::Unpinned { pattern }).await.map_err(ended)?;
    Ok(stood)
}

pub(crate) async fn pins(shared: &Shared) -> Result<Vec<PinReport>, DriverError> {
    let pins = shared.keeping_now()?.pins().await.map_err(ended)?;
    Ok(pins.into_iter().map(|(pin, names)| report(pin, &names)).collect())
}

pub(crate) async fn collect(shared: &Shared, dry_run: bool) -> Result<Vec<Collected>, DriverError> {
    let keeping = keeper(shared).await?;
    let before = keeping.status().await.map_err(ended)?;
    let going: Vec<_> = before.images.into_iter().filter(is_idle).collect();
    if let Some(pause) = before.pause.filter(|_| !dry_run) {
        return Err(DriverError::fatal(format!("{} has paused the removal of images", pause.who))
            .hint("`longshore image pause 0s` ends the pause"));
    }
    if dry_run || going.is_empty() {
        return Ok(going.iter().map(|image| collected(image, false, "would be removed".to_owned())).collect());
    }
    keeping.record(Event::CollectNow).await.map_err(ended)?;
    let deadline = Instant::now() + COLLECT_MAX;
    loop {
        let now = keeping.status().await.map_err(ended)?.images;
        let left =
            |image: &ImageStatus| now.iter().find(|other| other.name == image.name && other.content == image.content);
        let at_work = going.iter().filter_map(left).any(is_going);
        if !at_work || Instant::now() >= deadline {
            let outcome = |image: &ImageStatus| match left(image) {
                None => collected(image, true, "removed".to_owned()),
                Some(now) => collected(image, false, now.why.clone()),
            };
            return Ok(going.iter().map(outcome).collect());
        }
        tokio::time::sleep(COLLECT_POLL).await;
    }
}

/// Ours, or to be removed like ours, and nothing needs it.
fn is_idle(image: &ImageStatus) -> bool {
    let nameless = image.state == StateWord::Nameless && image.provenance == Provenance::Obtained;
    (nameless || image.state == StateWord::Idle) && image.idle_since.is_some()
}

fn is_going(image: &ImageStatus) -> bool {
    let removing = matches!(image.state, StateWord::Removing | StateWord::Unsure);
    image.retry_at.is_none() && (removing || is_idle(image))
}

/// A pattern as it is kept: one without `*` is a name, in full.
pub(super) fn pattern_of(written: &str) -> Result<String, DriverError> {
    let written = text("pattern", written, PATTERN_BYTES_MAX)?;
    if written.contains('*') {
        return Ok(written.to_owned());
    }
    let name: ImageRef = written
        .parse()
        .map_err(|error| DriverError::fatal(format!("{error}")).hint("write repository:tag, or a pattern with *"))?;
    Ok(name.familiar().to_owned())
}

pub(super) fn who_of(who: &str) -> Result<String, DriverError> {
    Ok(text("who", who, WHO_BYTES_MAX)?.to_owned())
}

fn text<'a>(what: &str, text: &'a str, bytes_max: usize) -> Result<&'a str, DriverError> {
    let text = text.trim();
    if text.is_empty() || text.len() > bytes_max || text.chars().any(char::is_control) {
        return Err(DriverError::fatal(format!(
            "the {what} must have 1 to {bytes_max} bytes, without control characters"
        )));
    }
    Ok(text)
}

fn report(pin: Pin, names: &[ImageRef]) -> PinReport {
    let names = names.iter().map(|name| name.familiar().to_owned()).collect();
    PinReport { pattern: pin.pattern, who: pin.who, at: pin.at, names }
}

fn collected(image: &ImageStatus, removed: bool, outcome: String) -> Collected {
    Collected {
        name: shown_name(image),
        content_id: image.content.as_ref().map(ContentId::to_string).unwrap_or_default(),
        size_bytes: image.size_bytes.unwrap_or(0),
        removed,
        outcome,
    }
}
