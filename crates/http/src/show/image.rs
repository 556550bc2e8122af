use longshore_api as api;
use longshore_driver::{
    Adopted, Collected, ImageExplanation, ImageHolder, ImageReport, PauseReport, PinReport, Pulled,
};
use longshore_model::Timestamp;

use super::time;

pub(crate) fn status(report: &ImageReport) -> api::ImageStatus {
    let when = |at: Option<Timestamp>| at.map(time).unwrap_or_default();
    api::ImageStatus {
        name: report.name.clone(),
        id: report.content_id.clone(),
        size_bytes: report.size_bytes,
        provenance: report.provenance.as_str().to_owned(),
        state: report.state.clone(),
        // A container needs its image and holds nothing: no record of ours keeps it.
        holds: report.holders.iter().filter(|holder| holder.kind != "container").count() as u64,
        holders: report.holders.iter().map(holder).collect(),
        why: report.reason.clone(),
        due_at: when(report.due_at),
        idle_since: when(report.idle_since),
        last_used: when(report.last_used_at),
        progress: report.progress.clone(),
    }
}

fn holder(holder: &ImageHolder) -> api::ImageHolder {
    let of_allocation = matches!(holder.kind.as_str(), "task" | "network");
    api::ImageHolder {
        kind: holder.kind.clone(),
        id: holder.id.clone(),
        alloc_id: if of_allocation { holder.id.clone() } else { String::new() },
        task_name: holder.task.clone(),
    }
}

pub(crate) fn explanation(explanation: &ImageExplanation) -> api::ImageExplain {
    api::ImageExplain { status: status(&explanation.report), lines: explanation.lines.clone() }
}

pub(crate) fn pin(pin: &PinReport) -> api::ImagePin {
    api::ImagePin { pattern: pin.pattern.clone(), who: pin.who.clone(), at: time(pin.at), names: pin.names.clone() }
}

pub(crate) fn pause(pause: &PauseReport) -> api::ImagePause {
    api::ImagePause { who: pause.who.clone(), at: time(pause.at), until: time(pause.until) }
}

pub(crate) fn adopted(image: &Adopted) -> api::ImageAdopted {
    api::ImageAdopted {
        name: image.name.clone(),
        id: image.content_id.clone(),
        size_bytes: image.size_bytes,
        adopted: image.adopted,
        outcome: image.outcome.clone(),
    }
}

pub(crate) fn collected(image: &Collected) -> api::ImageCollected {
    api::ImageCollected {
        name: image.name.clone(),
        id: image.content_id.clone(),
        size_bytes: image.size_bytes,
        removed: image.removed,
        outcome: image.outcome.clone(),
    }
}

pub(crate) fn pulled(image: &Pulled) -> api::ImagePulled {
    api::ImagePulled {
        name: image.name.clone(),
        id: image.content_id.clone(),
        size_bytes: image.size_bytes,
        message: image.message.clone(),
        kept_until: time(image.kept_until),
    }
}
