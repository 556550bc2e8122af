use longshore_api::{
    ImageAdoptResponse, ImageCollectResponse, ImageExplain, ImageHolder, ImagePause, ImagePin, ImagePulled,
    ImageStatus, ImagesResponse,
};

use crate::render::blocks;
use crate::table::{pairs, table};
use crate::view::{View, bytes};

/// The table of images: what is there, who needs it, and when it goes.
pub(crate) fn list(view: &View, images: &ImagesResponse) -> String {
    let mut head = ["Name", "ID", "Size", "Provenance", "State", "Holds", "Goes in"].map(str::to_owned).to_vec();
    if view.verbose {
        head.extend(["Last Used", "Why", "Held By"].map(str::to_owned));
    }
    let mut rows = vec![head];
    for image in &images.images {
        let mut row = vec![
            image.name.clone(),
            content_id(view, &image.id),
            if image.id.is_empty() { String::new() } else { bytes(image.size_bytes) },
            image.provenance.clone(),
            state_words(image),
            image.holds.to_string(),
            goes_in(view, image),
        ];
        if view.verbose {
            row.push(view.relative(image.last_used.as_nanoseconds()));
            row.push(image.why.clone());
            row.push(image.holders.iter().map(|holder| held_by(view, holder)).collect::<Vec<_>>().join(", "));
        }
        rows.push(row);
    }
    let table = match (images.images.is_empty(), images.note.is_empty()) {
        (true, true) => "No images".to_owned(),
        // Whether there are any is not known then.
        (true, false) => String::new(),
        (false, _) => table(&rows),
    };
    let note = if images.note.is_empty() { String::new() } else { view.yellow(&images.note) };
    let pause = images.pause.as_ref().map(|pause| view.yellow(&paused(view, pause))).unwrap_or_default();
    blocks(&[note, pause, table])
}

/// Whether images are removed now.
pub(crate) fn paused(view: &View, pause: &ImagePause) -> String {
    let until = pause.until.as_nanoseconds();
    if until == 0 {
        return "Images are removed again when nothing needs them".to_owned();
    }
    let left = view.relative(until);
    format!("No image is removed for {} ({} paused it)", left.trim_end_matches(" from now"), pause.who)
}

/// What is ours from now on, or would be.
pub(crate) fn adopted(view: &View, found: &ImageAdoptResponse, dry_run: bool) -> String {
    let mut rows = vec![["Name", "ID", "Size", "Outcome"].map(str::to_owned).to_vec()];
    for image in &found.images {
        let size = bytes(image.size_bytes);
        rows.push(vec![image.name.clone(), content_id(view, &image.id), size, image.outcome.clone()]);
    }
    let note = if dry_run { "Nothing was adopted (-dry-run)".to_owned() } else { String::new() };
    blocks(&[table(&rows), note])
}

/// The table of images, and below it what people had pinned.
pub(crate) fn status(view: &View, images: &ImagesResponse, pinned: &[ImagePin]) -> String {
    let pins = if pinned.is_empty() { String::new() } else { format!("{}\n{}", view.bold("Pins"), pins(view, pinned)) };
    blocks(&[list(view, images), pins])
}

/// `task 8fa20aaa/cache`, `pin redis:*`.
fn held_by(view: &View, holder: &ImageHolder) -> String {
    let task = if holder.task_name.is_empty() { String::new() } else { format!("/{}", holder.task_name) };
    format!("{} {}{task}", holder.kind, content_id(view, &holder.id)).trim_end().to_owned()
}

/// One image with its story.
pub(crate) fn explain(view: &View, explain: &ImageExplain) -> String {
    let image = &explain.status;
    let mut rows = vec![
        ("Name", image.name.clone()),
        ("ID", image.id.clone()),
        ("Size", if image.id.is_empty() { String::new() } else { bytes(image.size_bytes) }),
        ("Provenance", image.provenance.clone()),
        ("State", image.state.clone()),
        ("Holds", image.holds.to_string()),
        ("Goes in", goes_in(view, image)),
    ];
    if !image.progress.is_empty() {
        rows.push(("Progress", image.progress.clone()));
    }
    for (name, at) in [("Due At", image.due_at), ("Idle Since", image.idle_since), ("Last Used", image.last_used)] {
        if !at.is_zero() {
            rows.push((name, view.time(at.as_nanoseconds())));
        }
    }
    let mut parts = vec![pairs(&rows)];
    if !image.holders.is_empty() {
        parts.push(format!("{}\n{}", view.bold("Held by"), holders(view, &image.holders)));
    }
    if !explain.lines.is_empty() {
        let lines: Vec<String> = explain.lines.iter().map(|line| format!("  * {line}")).collect();
        parts.push(format!("{}\n{}", view.bold("Why"), lines.join("\n")));
    }
    blocks(&parts)
}

/// What a pin does.
pub(crate) fn pinned(pin: &ImagePin) -> String {
    let pattern = &pin.pattern;
    if pin.names.is_empty() {
        return format!("Pinned {pattern}: no image here has such a name now; one that comes is kept");
    }
    format!("Pinned {pattern}: {} kept until \"image unpin\"", pin.names.join(", "))
}

/// All pins.
pub(crate) fn pins(view: &View, pins: &[ImagePin]) -> String {
    if pins.is_empty() {
        return "No pins".to_owned();
    }
    let mut rows = vec![["Pattern", "By", "Pinned", "Images"].map(str::to_owned).to_vec()];
    for pin in pins {
        let at = view.relative(pin.at.as_nanoseconds());
        rows.push(vec![pin.pattern.clone(), pin.who.clone(), at, pin.names.join(", ")]);
    }
    table(&rows)
}

/// An image that is here now.
pub(crate) fn pulled(view: &View, pulled: &ImagePulled) -> String {
    let left = view.relative(pulled.kept_until.as_nanoseconds());
    format!(
        "{}\nKept for {}, and for as long as something needs it",
        pulled.message,
        left.trim_end_matches(" from now")
    )
}

/// What went, or would go.
pub(crate) fn collected(view: &View, gone: &ImageCollectResponse, dry_run: bool) -> String {
    if gone.images.is_empty() {
        return "Nothing to remove: every image that Longshore brought is needed".to_owned();
    }
    let mut rows = vec![["Name", "ID", "Size", "Outcome"].map(str::to_owned).to_vec()];
    for image in &gone.images {
        let size = bytes(image.size_bytes);
        rows.push(vec![image.name.clone(), content_id(view, &image.id), size, image.outcome.clone()]);
    }
    let note = if dry_run { "Nothing was removed (-dry-run)".to_owned() } else { String::new() };
    blocks(&[table(&rows), note])
}

fn holders(view: &View, holders: &[ImageHolder]) -> String {
    let mut rows = vec![["Kind", "ID", "Task"].map(str::to_owned).to_vec()];
    for holder in holders {
        rows.push(vec![holder.kind.clone(), content_id(view, &holder.id), holder.task_name.clone()]);
    }
    table(&rows)
}

/// An id of the engine's without its algorithm, cut to twelve characters as its own tools do; one of ours to eight.
fn content_id(view: &View, id: &str) -> String {
    if view.verbose {
        return id.to_owned();
    }
    let hex = id.strip_prefix("sha256:").unwrap_or(id);
    match hex.len() {
        64 => hex.get(..12).unwrap_or(hex).to_owned(),
        36 => view.id(hex).to_owned(),
        _ => hex.to_owned(),
    }
}

fn state_words(image: &ImageStatus) -> String {
    if image.progress.is_empty() { image.state.clone() } else { format!("{} ({})", image.state, image.progress) }
}

/// `2m41s`, `now`, or `-` for what stays.
fn goes_in(view: &View, image: &ImageStatus) -> String {
    let at = image.due_at.as_nanoseconds();
    if at == 0 {
        return "-".to_owned();
    }
    if at <= view.now {
        return "now".to_owned();
    }
    view.relative(at).trim_end_matches(" from now").replace("0s ago", "now")
}
