use longshore_images::{Level, Notice, Owner};
use longshore_model::ImageRef;

/// One line of the audit log. A hold is one line with owner, image and the counts before and after as fields.
pub(crate) fn tell(notice: &Notice) {
    match notice {
        Notice::HoldTaken { owner, name, before, after } => hold("hold taken", owner, name, *before, *after),
        Notice::HoldReturned { owner, name, before, after } => hold("hold given back", owner, name, *before, *after),
        Notice::HoldDropped { owner, name, before, after } => tracing::warn!(
            target: "longshore_images",
            %owner,
            image = name.familiar(),
            before,
            after,
            "hold dropped: its owner is not known to this node"
        ),
        Notice::HoldMissed { owner, name } => tracing::warn!(
            target: "longshore_images",
            %owner,
            image = name.familiar(),
            "a hold was missing, and is taken: its owner lives on this node"
        ),
        Notice::HoldLingers { owner, name } => {
            tracing::info!(target: "longshore_images", %owner, image = name.familiar(), "hold kept for the successor");
        }
        Notice::ReleaseWithoutHold { owner } => {
            tracing::error!(target: "longshore_images", %owner, "gave back a hold that it never had");
        }
        other => about_image(other),
    }
}

fn hold(what: &str, owner: &Owner, name: &ImageRef, before: usize, after: usize) {
    tracing::info!(target: "longshore_images", %owner, image = name.familiar(), before, after, "{what}");
}

fn about_image(notice: &Notice) {
    let image = notice.name().map(|name| name.familiar()).unwrap_or_default();
    match notice.level() {
        Level::Debug => tracing::debug!(target: "longshore_images", image, "{notice}"),
        Level::Info => tracing::info!(target: "longshore_images", image, "{notice}"),
        Level::Warn => tracing::warn!(target: "longshore_images", image, "{notice}"),
        Level::Error => tracing::error!(target: "longshore_images", image, "{notice}"),
    }
}
