//! The last story of an image that is gone, in sentences.

use longshore_images::{End, RemovalOutcome, RemovalReason, Story};
use longshore_model::Timestamp;
use longshore_values::ByteSize;

use super::reports::whole_seconds;

/// When it went, who decided, why, and what was freed.
pub(crate) fn lines(story: &Story, now: Timestamp) -> Vec<String> {
    let ago = whole_seconds(now.since(story.at));
    let mut lines = vec![match &story.end {
        End::ByOthers => format!("It went {ago} ago: others removed it."),
        End::Removed { why, delay, foreign, outcome } => {
            let who = match why {
                RemovalReason::Due => format!("Longshore removed it, because nothing had needed it for {delay}"),
                RemovalReason::Asked => "Longshore removed it, because a person asked (`image gc`)".to_owned(),
                RemovalReason::Aged => "Longshore removed it, because of its age (gc.max_age)".to_owned(),
                RemovalReason::Room(short) => format!("Longshore removed it to make room: {short}"),
            };
            let theirs = if *foreign { "; others had brought it, and gc.foreign is \"collect\"" } else { "" };
            format!("It went {ago} ago: {who}{theirs}; {}.", freed(outcome))
        }
    }];
    if let Some(idle_since) = story.idle_since {
        lines.push(format!("It was last needed {} ago.", whole_seconds(now.since(idle_since))));
    }
    if story.uses > 0 {
        lines.push(format!("It had been granted to tasks {} times.", story.uses));
    }
    lines
}

fn freed(outcome: &RemovalOutcome) -> String {
    match outcome {
        RemovalOutcome::Removed { freed_bytes } => format!("about {} were freed", ByteSize(*freed_bytes)),
        RemovalOutcome::Untagged => "its content stayed under another name, so nothing was freed".to_owned(),
        other => other.to_string(),
    }
}
