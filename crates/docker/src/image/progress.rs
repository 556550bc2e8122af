//! How far a pull is, from the engine's messages.

use std::collections::BTreeMap;
use std::fmt;
use std::time::{Duration, Instant};

use longshore_engine::PullMessage;
use longshore_images::ROOM_PER_DOWNLOADED_BYTE;
use longshore_values::ByteSize;

use super::credentials::Source;

/// What is known of a pull or load under way.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Progress {
    stage: Stage,
    /// What the registry was last shown.
    source: Option<Source>,
    layers: BTreeMap<String, Layer>,
    /// What an unusual message says: retries, an archive's names.
    note: String,
}

/// What is waited for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum Stage {
    /// A place among the pulls at work.
    Queued { at_work: usize },
    /// The time at which a registry that failed or asked for patience is asked again.
    Resting { until: Instant, why: String },
    /// The registry, or its bytes.
    #[default]
    Asked,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Layer {
    phase: Phase,
    /// Compressed bytes.
    current: u64,
    total: u64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Waiting,
    Downloading,
    Downloaded,
    Extracting,
    Done,
    /// It was on the engine before.
    Present,
}

impl Progress {
    /// Nothing is asked of the registry before that has passed.
    pub(crate) fn wait(&mut self, stage: Stage) {
        self.stage = stage;
    }

    /// The registry is asked, with what this source gave; what an earlier try brought is brought anew or found.
    pub(crate) fn ask(&mut self, source: Source) {
        *self = Self { source: Some(source), ..Self::default() };
    }

    /// What the registry was last shown; none when it was not asked yet.
    pub(crate) fn source(&self) -> Option<&Source> {
        self.source.as_ref()
    }

    /// Takes a message in. Whether anything moved by it: a count-down to a retry is no progress, nor is a repetition.
    pub(crate) fn take(&mut self, message: &PullMessage) -> bool {
        let before = self.clone();
        let phase = match message.status.as_str() {
            "Pulling fs layer" | "Waiting" => Some(Phase::Waiting),
            "Downloading" => Some(Phase::Downloading),
            "Verifying Checksum" | "Download complete" => Some(Phase::Downloaded),
            "Extracting" => Some(Phase::Extracting),
            "Pull complete" => Some(Phase::Done),
            "Already exists" => Some(Phase::Present),
            _ => None,
        };
        match phase {
            Some(phase) if !message.id.is_empty() => self.set(message, phase),
            _ if message.status.starts_with("Retrying") => self.note.clone_from(&message.status),
            _ => {}
        }
        match phase {
            Some(_) => self.layers != before.layers,
            None => message.is_progress(),
        }
    }

    fn set(&mut self, message: &PullMessage, phase: Phase) {
        let bytes = |n: i64| u64::try_from(n).unwrap_or(0);
        let layer = self.layers.entry(message.id.clone()).or_default();
        layer.phase = phase;
        if matches!(phase, Phase::Downloading | Phase::Extracting) {
            layer.total = layer.total.max(bytes(message.progress.total));
        }
        match phase {
            Phase::Downloading => layer.current = bytes(message.progress.current),
            Phase::Downloaded | Phase::Extracting | Phase::Done => layer.current = layer.total,
            Phase::Waiting | Phase::Present => {}
        }
        self.note.clear();
    }

    /// Whether nothing is left to be fetched: what is still to be done is the engine's alone.
    pub(crate) fn is_all_fetched(&self) -> bool {
        let fetched = |layer: &Layer| !matches!(layer.phase, Phase::Waiting | Phase::Downloading);
        !self.layers.is_empty() && self.layers.values().all(fetched)
    }

    /// Compressed bytes that are still to be downloaded, as far as the messages told.
    pub(crate) fn bytes_to_come(&self) -> u64 {
        self.layers.values().map(|layer| layer.total.saturating_sub(layer.current)).sum()
    }

    /// About how much room it takes until it is done. Layers that have not begun are taken to be as large as the others.
    pub(crate) fn needed_bytes(&self) -> Option<u64> {
        let missing = self.layers.values().filter(|layer| layer.phase != Phase::Present);
        let (mut all, mut known, mut bytes) = (0_u64, 0_u64, 0_u64);
        for layer in missing {
            all += 1;
            known += u64::from(layer.total > 0);
            bytes = bytes.saturating_add(layer.total);
        }
        let average = bytes.checked_div(known)?;
        Some(bytes.saturating_add(average.saturating_mul(all - known)).saturating_mul(ROOM_PER_DOWNLOADED_BYTE))
    }

    /// Compressed bytes that were downloaded, as far as the messages told.
    pub(crate) fn downloaded_bytes(&self) -> u64 {
        self.layers.values().map(|layer| layer.current).sum()
    }
}

impl fmt::Display for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.stage != Stage::Asked {
            return self.stage.fmt(f);
        }
        if self.layers.is_empty() {
            return if self.note.is_empty() { self.stage.fmt(f) } else { f.write_str(&self.note) };
        }
        let done = self.layers.values().filter(|layer| matches!(layer.phase, Phase::Done | Phase::Present)).count();
        let total: u64 = self.layers.values().map(|layer| layer.total).sum();
        write!(f, "{done} of {} layers", self.layers.len())?;
        if total > 0 {
            write!(f, ", {} of {}", ByteSize(self.downloaded_bytes()), ByteSize(total))?;
        }
        if !self.note.is_empty() {
            write!(f, ", {}", self.note)?;
        }
        Ok(())
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Queued { at_work } => write!(f, "waiting for one of {at_work} pulls at work to end"),
            Self::Resting { until, why } => {
                let left = until.saturating_duration_since(Instant::now()).as_secs_f64().ceil();
                write!(f, "asking the registry again in {left}s: {why}")
            }
            Self::Asked => f.write_str("waiting for the registry"),
        }
    }
}

/// When to tell people about progress again: soon at first, then ever less often.
#[derive(Debug)]
pub(crate) struct Pace {
    next_at: Instant,
    wait: Duration,
}

const PACE_MIN: Duration = Duration::from_secs(3);
const PACE_MAX: Duration = Duration::from_secs(120);

impl Pace {
    pub(crate) fn new(now: Instant) -> Self {
        Self { next_at: now + PACE_MIN, wait: PACE_MIN * 2 }
    }

    pub(crate) fn next_at(&self) -> Instant {
        self.next_at
    }

    pub(crate) fn told(&mut self, now: Instant) {
        self.next_at = now + self.wait;
        self.wait = (self.wait * 2).min(PACE_MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(json: &str) -> PullMessage {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn a_pull_in_messages() {
        let mut progress = Progress::default();
        let mut told = Vec::new();
        assert!(!progress.is_all_fetched());
        for line in [
            r#"{"status":"Pulling from a","id":"1"}"#,
            r#"{"status":"Pulling fs layer","progressDetail":{},"id":"aa"}"#,
            r#"{"status":"Already exists","progressDetail":{},"id":"bb"}"#,
            r#"{"status":"Downloading","progressDetail":{"current":1024,"total":4096},"id":"aa"}"#,
            r#"{"status":"Downloading","progressDetail":{"current":1024,"total":4096},"id":"aa"}"#,
            r#"{"status":"Retrying in 5 seconds","progressDetail":{},"id":"aa"}"#,
            r#"{"status":"Downloading","progressDetail":{"current":4000,"total":4096},"id":"aa"}"#,
            r#"{"status":"Pull complete","progressDetail":{},"id":"aa"}"#,
            r#"{"status":"Digest: sha256:ab"}"#,
        ] {
            told.push(format!("{} {progress}", progress.clone().take(&message(line))));
            progress.take(&message(line));
            assert_eq!(progress.is_all_fetched(), line.contains("complete") || line.contains("Digest"), "{line}");
        }
        told.push(progress.to_string());
        insta::assert_snapshot!(told.join("\n"), @r"
        true waiting for the registry
        true waiting for the registry
        true 0 of 1 layers
        true 1 of 2 layers
        false 1 of 2 layers, 1.0 KiB of 4.0 KiB
        false 1 of 2 layers, 1.0 KiB of 4.0 KiB
        true 1 of 2 layers, 1.0 KiB of 4.0 KiB, Retrying in 5 seconds
        true 1 of 2 layers, 3.9 KiB of 4.0 KiB
        true 2 of 2 layers, 4.0 KiB of 4.0 KiB
        2 of 2 layers, 4.0 KiB of 4.0 KiB
        ");
        assert_eq!(progress.downloaded_bytes(), 4096);
    }

    #[test]
    fn the_room_that_a_pull_takes() {
        let mut progress = Progress::default();
        let room = |progress: &Progress| (progress.bytes_to_come(), progress.needed_bytes());
        assert_eq!(room(&progress), (0, None));
        for (line, to_come, needed) in [
            (r#"{"status":"Pulling fs layer","progressDetail":{},"id":"aa"}"#, 0, None),
            (r#"{"status":"Pulling fs layer","progressDetail":{},"id":"bb"}"#, 0, None),
            (r#"{"status":"Already exists","progressDetail":{},"id":"cc"}"#, 0, None),
            (
                r#"{"status":"Downloading","progressDetail":{"current":1000,"total":4000},"id":"aa"}"#,
                3000,
                Some(2 * 4000 * 3),
            ),
            (r#"{"status":"Downloading","progressDetail":{"current":1,"total":10},"id":"bb"}"#, 3009, Some(4010 * 3)),
            (r#"{"status":"Download complete","progressDetail":{},"id":"aa"}"#, 9, Some(4010 * 3)),
            (r#"{"status":"Pull complete","progressDetail":{},"id":"bb"}"#, 0, Some(4010 * 3)),
        ] {
            progress.take(&message(line));
            assert_eq!(room(&progress), (to_come, needed), "{line}");
        }
    }
}
