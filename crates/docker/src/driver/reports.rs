//! What people are told about images.

use async_trait::async_trait;
use longshore_driver::{
    Adopted, Collected, DriverError, Explained, ImageCount, ImageExplanation, ImageHolder, ImageReport, ImageRoom,
    Images, PauseReport, PinReport, Pulled,
};
use longshore_images::{Explanation, ImageStatus, Owner, Retain, Short, SpacePolicy};
use longshore_model::{ContentId, ImageRef, Provenance, Timestamp};
use longshore_values::{ByteSize, GoDuration};

use super::near::{by_id_start, near};
use super::shared::Books;
use super::{DockerDriver, persons, pull, story, wishes};
use crate::image::{Status, now};

#[async_trait]
impl Images for DockerDriver {
    async fn list(&self) -> Result<Vec<ImageReport>, DriverError> {
        let status = self.status().await?;
        Ok(status.images.iter().map(|image| report(image, &status)).collect())
    }

    async fn explain(&self, name: &str) -> Result<Explained, DriverError> {
        let wanted: ImageRef = name
            .parse()
            .map_err(|error| DriverError::fatal(format!("{error}")).hint("write repository:tag, or an image id"))?;
        let status = self.status().await?;
        let at = now();
        if wanted.id().is_none()
            && let Some(explained) = self.explain_name(&wanted).await?
        {
            return Ok(Explained::Known(explanation(&explained, &status, at)));
        }
        // An id says more about content without a name than about any of its names.
        let id = wanted.id().or_else(|| by_id_start(name, &status.images));
        let nameless = || status.images.iter().find(|image| image.name.is_none() && image.content == id);
        let found = id.and_then(|_| nameless().or_else(|| status.images.iter().find(|image| image.content == id)));
        if found.is_none()
            && let Some(gone) = self.explain_name(&wanted).await?
        {
            return Ok(Explained::Known(explanation(&gone, &status, at)));
        }
        Ok(match found {
            Some(image) => {
                Explained::Known(ImageExplanation { report: report(image, &status), lines: lines(image, &status, at) })
            }
            None => Explained::Unknown {
                looked_for: wanted.full().to_owned(),
                near: near(&wanted, &status.images).iter().map(|name| name.familiar().to_owned()).collect(),
            },
        })
    }

    async fn pin(&self, pattern: &str, who: &str) -> Result<PinReport, DriverError> {
        wishes::pin(&self.shared, pattern, who).await
    }

    async fn unpin(&self, pattern: &str) -> Result<bool, DriverError> {
        wishes::unpin(&self.shared, pattern).await
    }

    async fn pins(&self) -> Result<Vec<PinReport>, DriverError> {
        wishes::pins(&self.shared).await
    }

    async fn counts(&self) -> Result<Vec<ImageCount>, DriverError> {
        Ok(self.status().await?.counts)
    }

    async fn adopt(&self, pattern: &str, who: &str, dry_run: bool) -> Result<Vec<Adopted>, DriverError> {
        persons::adopt(&self.shared, pattern, who, dry_run).await
    }

    async fn pause(&self, span: GoDuration, who: &str) -> Result<Option<PauseReport>, DriverError> {
        persons::pause(&self.shared, span, who).await
    }

    async fn paused(&self) -> Result<Option<PauseReport>, DriverError> {
        persons::paused(&self.shared).await
    }

    async fn room(&self) -> Result<Option<ImageRoom>, DriverError> {
        let room = self.status().await?.room;
        Ok(Some(ImageRoom {
            disk_total_bytes: room.disk.map(|disk| disk.total_bytes),
            disk_free_bytes: room.disk.map(|disk| disk.free_bytes),
            obtained_bytes: room.obtained_bytes,
            short: Short::ALL.into_iter().map(|short| (short.as_str(), room.short.contains(&short))).collect(),
        }))
    }

    async fn collect(&self, dry_run: bool) -> Result<Vec<Collected>, DriverError> {
        wishes::collect(&self.shared, dry_run).await
    }

    async fn pull(&self, name: &str, fresh: bool) -> Result<Pulled, DriverError> {
        pull::pull(&self.shared, name, fresh).await
    }

    async fn keeper_note(&self) -> Option<String> {
        match &*self.shared.books.borrow() {
            Books::Opening { why } | Books::Broken { why } => Some(why.clone()),
            Books::Open { note, .. } => note.clone(),
        }
    }
}

impl DockerDriver {
    async fn explain_name(&self, name: &ImageRef) -> Result<Option<Explanation>, DriverError> {
        let explained = self.shared.keeping_now()?.explain(name.clone()).await;
        explained.map_err(|error| DriverError::cancelled(error.to_string()))
    }

    async fn status(&self) -> Result<Status, DriverError> {
        let keeping = self.shared.keeping_now()?;
        keeping.status().await.map_err(|error| DriverError::cancelled(error.to_string()))
    }
}

fn explanation(explained: &Explanation, status: &Status, at: Timestamp) -> ImageExplanation {
    let mut lines = lines(&explained.status, status, at);
    if let Some(gone) = explained.last_story.as_ref().filter(|_| explained.status.content.is_none()) {
        lines.splice(1..1, story::lines(gone, at));
    }
    lines.extend(further_lines(explained, at));
    ImageExplanation { report: report(&explained.status, status), lines }
}

fn report(image: &ImageStatus, status: &Status) -> ImageReport {
    let progress = image.name.as_ref().and_then(|name| status.progress.get(name)).cloned().unwrap_or_default();
    ImageReport {
        name: shown_name(image),
        content_id: image.content.as_ref().map(ContentId::to_string).unwrap_or_default(),
        size_bytes: image.size_bytes.unwrap_or(0),
        provenance: image.provenance,
        state: image.state.as_str().to_owned(),
        holders: holders(image),
        reason: image.why.clone(),
        due_at: image.due_at,
        idle_since: image.idle_since,
        last_used_at: image.last_used_at,
        progress,
    }
}

pub(crate) fn shown_name(image: &ImageStatus) -> String {
    match (&image.name, &image.content) {
        (Some(name), _) => name.familiar().to_owned(),
        (None, Some(content)) => content.to_string(),
        (None, None) => String::new(),
    }
}

fn holders(image: &ImageStatus) -> Vec<ImageHolder> {
    let holds = image.holders.iter().map(|hold| holder(&hold.owner));
    let containers = image.containers.iter().map(|id| ImageHolder {
        kind: "container".to_owned(),
        id: id.clone(),
        task: String::new(),
    });
    holds.chain(containers).collect()
}

fn holder(owner: &Owner) -> ImageHolder {
    let (kind, id, task) = match owner {
        Owner::Task { alloc, task } => ("task", alloc.to_string(), task.clone()),
        Owner::Network(alloc) => ("network", alloc.to_string(), String::new()),
        Owner::Agent => ("agent", String::new(), String::new()),
        Owner::Prefetch { job, version, group, task } => {
            ("prefetch", format!("{job} v{version}"), format!("{group}/{task}"))
        }
        Owner::KeptVersion { job, version } => ("kept version", format!("{job} v{version}"), String::new()),
        Owner::Pin { pattern } => ("pin", pattern.clone(), String::new()),
        Owner::Asked { name } => ("pull", name.clone(), String::new()),
    };
    ImageHolder { kind: kind.to_owned(), id, task }
}

/// The answers to: why is it here, who needs it, when does it go. Most important first.
fn lines(image: &ImageStatus, status: &Status, now: Timestamp) -> Vec<String> {
    let report = report(image, status);
    let mut lines = vec![format!("{} is {}: {}", report.name, report.state, report.reason)];
    match image.due_at {
        Some(due_at) => {
            let left = due_at.since(now);
            let left = if left.is_negative() { GoDuration::ZERO } else { left };
            lines.push(format!("It is removed in {} if nothing needs it before.", whole_seconds(left)));
        }
        None => lines.push("It has no time of removal.".to_owned()),
    }
    for holder in &report.holders {
        let of_task = if holder.task.is_empty() { String::new() } else { format!("/{}", holder.task) };
        lines.push(format!("Needed by {} {}{of_task}.", holder.kind, holder.id));
    }
    lines.push(match image.provenance {
        Provenance::Obtained => "Longshore brought it.".to_owned(),
        Provenance::Foreign if image.idle_since.is_some() => {
            "Others brought it; gc.foreign = \"collect\" has it removed all the same.".to_owned()
        }
        Provenance::Foreign => "Others brought it, so Longshore does not remove it.".to_owned(),
        Provenance::Absent => "It is not on this engine now.".to_owned(),
    });
    if !report.content_id.is_empty() {
        lines.push(format!("Its content is {} ({}).", report.content_id, ByteSize(report.size_bytes)));
    }
    if image.uses > 0 {
        lines.push(format!("It was granted to tasks {} times.", image.uses));
    }
    if let Some(source) = image.name.as_ref().and_then(|name| status.asked.get(name)) {
        lines.push(format!("Its registry was last asked {source}."));
    }
    if !report.progress.is_empty() {
        lines.push(format!("A pull is under way: {}.", report.progress));
    }
    lines
}

fn further_lines(explained: &Explanation, now: Timestamp) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(last) = &explained.last_failure {
        let ago = whole_seconds(now.since(last.at));
        let row = if last.times > 1 { format!(" {} times in a row", last.times) } else { String::new() };
        lines.push(format!("Bringing it failed{row}, last {ago} ago: {}.", last.failure.message));
        if explained.waiters.is_empty() {
            lines.push(match explained.status.holds {
                0 => "It is not tried again: nothing needs it.".to_owned(),
                _ => "It is tried again when a task that needs it is started anew, as its restart policy says."
                    .to_owned(),
            });
        }
    }
    if let Some(tag) = &explained.goes_with {
        lines
            .push(format!("It is a digest name that came with {}, and the engine drops it with that.", tag.familiar()));
    }
    for other in &explained.other_names {
        lines.push(format!("{} names the same content.", other.familiar()));
    }
    for waiter in &explained.waiters {
        lines.push(format!("{waiter} waits for it."));
    }
    if let Some(refusal) = &explained.last_refusal {
        lines.push(format!("The last attempt to remove it was refused: {refusal}."));
    }
    if let Some(pause) = &explained.paused {
        let left = whole_seconds(pause.until.since(now));
        lines.push(format!("{} has paused removals: nothing is removed for {left}.", pause.who));
    } else if !explained.removals_allowed {
        lines.push("Nothing is removed now: the engine was not compared with this node's allocations yet.".to_owned());
    }
    let policy = &explained.policy;
    lines.push(format!("Settings: gc.image = {}, gc.image_delay = {}.", policy.image, policy.image_delay));
    let room = room_settings(&policy.space);
    if !room.is_empty() {
        lines.push(format!("Settings about room: {}.", room.join(", ")));
    }
    lines
}

/// Those that are not as they would be without a word.
fn room_settings(space: &SpacePolicy) -> Vec<String> {
    let size = |key: &str, bytes: Option<u64>| bytes.map(|bytes| format!("gc.{key} = {}", ByteSize(bytes)));
    let percent = |key: &str, percent: Option<u8>| percent.map(|percent| format!("gc.{key} = {percent}%"));
    let age = |key: &str, age: GoDuration| (!age.is_zero()).then(|| format!("gc.{key} = {age}"));
    [
        (space.retain == Retain::Space).then(|| "gc.retain = \"space\"".to_owned()),
        size("budget", space.budget_bytes),
        percent("disk_high", space.disk_high),
        percent("disk_low", space.low()),
        size("min_free", space.min_free_bytes),
        age("min_age", space.min_age),
        age("max_age", space.max_age),
        (!space.reclaim).then(|| "gc.reclaim = false".to_owned()),
    ]
    .into_iter()
    .flatten()
    .collect()
}

pub(super) fn whole_seconds(span: GoDuration) -> GoDuration {
    GoDuration::seconds(span.as_nanoseconds() / 1_000_000_000)
}
