use longshore_api::{ImageExplain, ImagesResponse};

use crate::client::escape;
use crate::commands::{Context, Outcome};
use crate::failure::{Failure, While};
use crate::json::formatted;
use crate::render::image;

pub(super) async fn status(context: &mut Context) -> Outcome {
    context.no_arguments()?;
    let doing = "Error querying images";
    let value = context.client.get_value("/v1/client/images", &[]).await.doing(doing)?;
    let (json, template) = (context.given.switch("json"), context.given.text("t").map(str::to_owned));
    let text = match formatted(json, template.as_deref(), &value)? {
        Some(text) => text,
        None => {
            let shape = |why| Failure::told(format!("{doing}: {why}"));
            let images: ImagesResponse = longshore_api::from_value(value).map_err(shape)?;
            image::list(&context.view(), &images)
        }
    };
    context.ui.line(&text);
    Ok(0)
}

pub(super) async fn explain(context: &mut Context) -> Outcome {
    let name = context.one_argument("This command takes one argument: <image>")?;
    let doing = "Error querying image";
    let path = format!("/v1/client/image/{}", escape(&name));
    let value = context.client.get_value(&path, &[]).await.doing(doing)?;
    let (json, template) = (context.given.switch("json"), context.given.text("t").map(str::to_owned));
    let text = match formatted(json, template.as_deref(), &value)? {
        Some(text) => text,
        None => {
            let shape = |why| Failure::told(format!("{doing}: {why}"));
            let found: ImageExplain = longshore_api::from_value(value).map_err(shape)?;
            image::explain(&context.view(), &found)
        }
    };
    context.ui.line(&text);
    Ok(0)
}
