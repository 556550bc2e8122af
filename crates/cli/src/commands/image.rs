use longshore_api::{
    ImageAdoptRequest, ImageAdoptResponse, ImageCollectRequest, ImageCollectResponse, ImageExplain, ImagePause,
    ImagePauseRequest, ImagePin, ImagePinRequest, ImagePullRequest, ImagePulled, ImagesResponse,
};
use serde_json::Value;

use crate::client::escape;
use crate::commands::{Context, Outcome};
use crate::failure::While;
use crate::render::image;

pub(super) async fn status(context: &mut Context) -> Outcome {
    context.no_arguments()?;
    let doing = "Error querying images";
    let value = context.client.get_value("/v1/client/images", &[]).await.doing(doing)?;
    let for_people = !context.given.switch("json") && context.given.text("t").is_none();
    let pins: Vec<ImagePin> = match for_people {
        // While the keeper cannot be asked, which the list's note tells, nobody knows of pins.
        true => context.client.get("/v1/client/images/pins", &[]).await.unwrap_or_default(),
        false => Vec::new(),
    };
    context.show(value, doing, |view, images: ImagesResponse| image::status(view, &images, &pins))
}

pub(super) async fn explain(context: &mut Context) -> Outcome {
    let name = context.one_argument("This command takes one argument: <image>")?;
    let doing = "Error querying image";
    let path = format!("/v1/client/image/{}", escape(&name));
    let value = context.client.get_value(&path, &[]).await.doing(doing)?;
    context.show(value, doing, |view, found: ImageExplain| image::explain(view, &found))
}

pub(super) async fn pin(context: &mut Context) -> Outcome {
    if context.given.arguments.is_empty() {
        return pins(context).await;
    }
    let pattern = context.one_argument("This command takes one argument: <pattern>, or none to list the pins")?;
    let doing = "Error pinning images";
    let request = ImagePinRequest { pattern, who: who() };
    let value: Value = context.client.put("/v1/client/images/pin", &[], &request).await.doing(doing)?;
    context.show(value, doing, |_, pin: ImagePin| image::pinned(&pin))
}

async fn pins(context: &mut Context) -> Outcome {
    let doing = "Error querying pins";
    let value = context.client.get_value("/v1/client/images/pins", &[]).await.doing(doing)?;
    context.show(value, doing, |view, pins: Vec<ImagePin>| image::pins(view, &pins))
}

pub(super) async fn unpin(context: &mut Context) -> Outcome {
    let pattern = context.one_argument("This command takes one argument: <pattern>")?;
    let doing = "Error unpinning images";
    let request = ImagePinRequest { pattern: pattern.clone(), who: who() };
    let _: Value = context.client.put("/v1/client/images/unpin", &[], &request).await.doing(doing)?;
    context.ui.line(&format!("Unpinned {pattern}"));
    Ok(0)
}

pub(super) async fn adopt(context: &mut Context) -> Outcome {
    let pattern = context.one_argument("This command takes one argument: <pattern>")?;
    let dry_run = context.given.switch("dry-run");
    let doing = "Error adopting images";
    let request = ImageAdoptRequest { pattern, who: who(), dry_run };
    let value: Value = context.client.put("/v1/client/images/adopt", &[], &request).await.doing(doing)?;
    context.show(value, doing, |view, found: ImageAdoptResponse| image::adopted(view, &found, dry_run))
}

pub(super) async fn pause(context: &mut Context) -> Outcome {
    let duration = context.one_argument("This command takes one argument: <duration>")?;
    let doing = "Error pausing removals";
    let request = ImagePauseRequest { duration, who: who() };
    let value: Value = context.client.put("/v1/client/images/pause", &[], &request).await.doing(doing)?;
    context.show(value, doing, |view, pause: ImagePause| image::paused(view, &pause))
}

pub(super) async fn collect(context: &mut Context) -> Outcome {
    context.no_arguments()?;
    let dry_run = context.given.switch("dry-run");
    let doing = "Error collecting images";
    let request = ImageCollectRequest { dry_run };
    let value: Value = context.client.put("/v1/client/images/gc", &[], &request).await.doing(doing)?;
    context.show(value, doing, |view, gone: ImageCollectResponse| image::collected(view, &gone, dry_run))
}

pub(super) async fn pull(context: &mut Context) -> Outcome {
    let name = context.one_argument("This command takes one argument: <image>")?;
    let doing = "Error pulling image";
    let request = ImagePullRequest { name, force: context.given.switch("force") };
    let value: Value = context.client.put("/v1/client/images/pull", &[], &request).await.doing(doing)?;
    context.show(value, doing, |view, pulled: ImagePulled| image::pulled(view, &pulled))
}

/// Who asks, for those who wonder later.
fn who() -> String {
    let user = std::env::var("SUDO_USER").or_else(|_| std::env::var("USER")).unwrap_or_default();
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let (user, host) = (user.trim(), host.trim());
    match (user.is_empty(), host.is_empty()) {
        (true, true) => String::new(),
        (true, false) => format!("somebody at {host}"),
        (false, true) => user.to_owned(),
        (false, false) => format!("{user}@{host}"),
    }
}
