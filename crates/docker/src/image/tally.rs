//! What has been done with images since the agent's start, counted for metrics.

use std::collections::BTreeMap;
use std::time::Duration;

use longshore_driver::ImageCount;
use longshore_images::{FailureKind, FetchFailure, Notice, Refusal, RemovalOutcome, RemovalReason};

/// Counts by what they count and by their labels' values.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tally(BTreeMap<(&'static str, Labels), f64>);

type Labels = Vec<(&'static str, &'static str)>;

impl Tally {
    fn add(&mut self, what: &'static str, labels: Labels, value: f64) {
        *self.0.entry((what, labels)).or_default() += value;
    }

    /// An image was handed out to who asked for it.
    pub(crate) fn granted(&mut self, how: &'static str) {
        self.add("grants", vec![("how", how)], 1.0);
    }

    pub(crate) fn refused(&mut self, why: &Refusal) {
        let reason = match why {
            Refusal::Fetch(failure) => kind(failure.kind),
            Refusal::NoSuchId { .. } => "no_such_id",
            Refusal::Vanished { .. } => "vanished",
            Refusal::NotWished { .. } => "not_wished",
            Refusal::WrongPlatform { .. } => "wrong_platform",
        };
        self.add("refusals", vec![("reason", reason)], 1.0);
    }

    /// A pull or load has ended.
    pub(crate) fn fetched(&mut self, by_load: bool, result: Result<(), &FetchFailure>, bytes: u64, took: Duration) {
        let outcome = result.map_or_else(|failure| kind(failure.kind), |()| "ok");
        let how = ("how", if by_load { "load" } else { "pull" });
        self.add("fetches", vec![how, ("outcome", outcome)], 1.0);
        self.add("fetch_seconds", vec![how], took.as_secs_f64());
        self.add("downloaded_bytes", Vec::new(), bytes as f64);
    }

    /// What the keeper tells: removals, with who decided and what came of it.
    pub(crate) fn told(&mut self, notice: &Notice) {
        if let Notice::Pressed { short, .. } = notice {
            self.add("pressed", vec![("reason", short.as_str())], 1.0);
        }
        let Notice::Removal { why, outcome, .. } = notice else { return };
        let reason = match why {
            RemovalReason::Due => "due",
            RemovalReason::Asked => "asked",
            RemovalReason::Aged => "aged",
            RemovalReason::Room(short) => short.as_str(),
        };
        let came_of_it = match outcome {
            RemovalOutcome::Removed { .. } => "removed",
            RemovalOutcome::Untagged => "untagged",
            RemovalOutcome::GoneAlready => "gone_already",
            RemovalOutcome::Moved => "moved",
            RemovalOutcome::InUse { .. } => "in_use",
            RemovalOutcome::Refused { .. } => "refused",
            RemovalOutcome::Unanswered { .. } => "unanswered",
        };
        self.add("removals", vec![("reason", reason), ("outcome", came_of_it)], 1.0);
        if let RemovalOutcome::Removed { freed_bytes } = outcome {
            self.add("freed_bytes", vec![("reason", reason)], *freed_bytes as f64);
        }
    }

    pub(crate) fn counts(&self) -> Vec<ImageCount> {
        let count = |((what, labels), value): (&(&'static str, Labels), &f64)| ImageCount {
            what,
            labels: labels.clone(),
            value: *value,
        };
        self.0.iter().map(count).collect()
    }
}

fn kind(kind: FailureKind) -> &'static str {
    match kind {
        FailureKind::Unreachable => "unreachable",
        FailureKind::NotFound => "not_found",
        FailureKind::Denied => "denied",
        FailureKind::RateLimited => "rate_limited",
        FailureKind::NoSpace => "no_space",
        FailureKind::WrongPlatform => "wrong_platform",
        FailureKind::BadArchive => "bad_archive",
        FailureKind::Cancelled => "cancelled",
        FailureKind::TimedOut => "timed_out",
        FailureKind::EngineLost => "engine_lost",
        FailureKind::Other => "other",
    }
}

#[cfg(test)]
mod tests {
    use longshore_model::{ContentId, ImageRef};

    use super::*;

    #[test]
    fn counts_add_up_by_their_labels() {
        let mut tally = Tally::default();
        let removal = |why, outcome| Notice::Removal {
            name: ImageRef::from_task_option("acme/web:1").unwrap(),
            content: ContentId::from_bytes([1; 32]),
            why,
            outcome,
        };
        tally.granted("present");
        tally.granted("present");
        let failure = FetchFailure { kind: FailureKind::TimedOut, message: String::new(), needed_bytes: None };
        tally.fetched(false, Err(&failure), 5, Duration::from_millis(1_500));
        tally.fetched(false, Ok(()), 7, Duration::from_millis(500));
        tally.refused(&Refusal::Fetch(failure));
        tally.told(&removal(RemovalReason::Due, RemovalOutcome::Removed { freed_bytes: 10 }));
        tally.told(&removal(RemovalReason::Due, RemovalOutcome::InUse { by: String::new(), retry_at: None }));
        tally.told(&Notice::Recovered);
        let lines: Vec<String> =
            tally.counts().iter().map(|count| format!("{} {:?} {}", count.what, count.labels, count.value)).collect();
        insta::assert_snapshot!(lines.join("\n"), @r#"
        downloaded_bytes [] 12
        fetch_seconds [("how", "pull")] 2
        fetches [("how", "pull"), ("outcome", "ok")] 1
        fetches [("how", "pull"), ("outcome", "timed_out")] 1
        freed_bytes [("reason", "due")] 10
        grants [("how", "present")] 2
        refusals [("reason", "timed_out")] 1
        removals [("reason", "due"), ("outcome", "in_use")] 1
        removals [("reason", "due"), ("outcome", "removed")] 1
        "#);
    }
}
