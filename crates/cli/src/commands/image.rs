use longshore_api::{
    ImageCollectRequest, ImageCollectResponse, ImageExplain, ImagePin, ImagePinRequest, ImagePullRequest, ImagePulled,
    ImagesResponse,
};
use serde_json::Value;

use crate::client::escape;
use crate::commands::{Context, Outcome};
use crate::failure::{Failure, While};
use crate::json::formatted;
use crate::render::image;
use crate::view::View;

pub(super) async fn status(context: &mut Context) -> Outcome {
    context.no_arguments()?;
    let doing = "Error querying images";
    let value = context.client.get_value("/v1/client/images", &[]).await.doing(doing)?;
    tell(context, value, doing, |view, images: &ImagesResponse| image::list(view, images))
}

pub(super) async fn explain(context: &mut Context) -> Outcome {
    let name = context.one_argument("This command takes one argument: <image>")?;
    let doing = "Error querying image";
    let path = format!("/v1/client/image/{}", escape(&name));
    let value = context.client.get_value(&path, &[]).await.doing(doing)?;
    tell(context, value, doing, |view, found: &ImageExplain| image::explain(view, found))
}

pub(super) async fn pin(context: &mut Context) -> Outcome {
    if context.given.arguments.is_empty() {
        return pins(context).await;
    }
    let pattern = context.one_argument("This command takes one argument: <pattern>, or none to list the pins")?;
    let doing = "Error pinning images";
    let request = ImagePinRequest { pattern, who: who() };
    let value: Value = context.client.put("/v1/client/images/pin", &[], &request).await.doing(doing)?;
    tell(context, value, doing, |_, pin: &ImagePin| image::pinned(pin))
}

async fn pins(context: &mut Context) -> Outcome {
    let doing = "Error querying pins";
    let value = context.client.get_value("/v1/client/images/pins", &[]).await.doing(doing)?;
    tell(context, value, doing, |view, pins: &Vec<ImagePin>| image::pins(view, pins))
}

pub(super) async fn unpin(context: &mut Context) -> Outcome {
    let pattern = context.one_argument("This command takes one argument: <pattern>")?;
    let doing = "Error unpinning images";
    let request = ImagePinRequest { pattern: pattern.clone(), who: who() };
    let _: Value = context.client.put("/v1/client/images/unpin", &[], &request).await.doing(doing)?;
    context.ui.line(&format!("Unpinned {pattern}"));
    Ok(0)
}

pub(super) async fn collect(context: &mut Context) -> Outcome {
    context.no_arguments()?;
    let dry_run = context.given.switch("dry-run");
    let doing = "Error collecting images";
    let request = ImageCollectRequest { dry_run };
    let value: Value = context.client.put("/v1/client/images/gc", &[], &request).await.doing(doing)?;
    tell(context, value, doing, |view, gone: &ImageCollectResponse| image::collected(view, gone, dry_run))
}

pub(super) async fn pull(context: &mut Context) -> Outcome {
    let name = context.one_argument("This command takes one argument: <image>")?;
    let doing = "Error pulling image";
    let request = ImagePullRequest { name, force: context.given.switch("force") };
    let value: Value = context.client.put("/v1/client/images/pull", &[], &request).await.doing(doing)?;
    tell(context, value, doing, |view, pulled: &ImagePulled| image::pulled(view, pulled))
}

/// Prints an answer as asked for: as it came, through a template, or for people.
fn tell<T: serde::de::DeserializeOwned>(
    context: &mut Context,
    value: Value,
    doing: &str,
    render: impl FnOnce(&View, &T) -> String,
) -> Outcome {
    let (json, template) = (context.given.switch("json"), context.given.text("t").map(str::to_owned));
    let text = match formatted(json, template.as_deref(), &value)? {
        Some(text) => text,
        None => {
            let shape = |why| Failure::told(format!("{doing}: {why}"));
            let shown: T = longshore_api::from_value(value).map_err(shape)?;
            render(&context.view(), &shown)
        }
    };
    context.ui.line(&text);
    Ok(0)
}

/// Who asks, for those who wonder later who pinned something.
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
