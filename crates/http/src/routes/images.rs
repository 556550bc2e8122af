use axum::extract::Path;
use axum::response::Response;
use longshore_api as api;
use longshore_driver::{DriverError, ErrorClass, Explained, Images};

use crate::context::{Ask, Context};
use crate::error::{ApiError, Result, with_causes};
use crate::reply;
use crate::show::image;

pub(super) fn keeper(context: &Context) -> Option<&dyn Images> {
    context.client.as_ref()?.images().into_iter().next().map(|(_, images)| images)
}

/// `GET /v1/client/images`. An engine that cannot be asked is no error of the agent's: it is told in the note.
pub(crate) async fn list(ask: Ask) -> Result<Response> {
    let Some(images) = keeper(&ask.context) else {
        let note =
            "no driver of this node keeps images; is the docker driver enabled, and its engine there?".to_owned();
        return reply::json(&ask.params, &api::ImagesResponse { note, images: Vec::new() });
    };
    let note = images.keeper_note().await.or_else(|| sick_driver(&ask.context));
    let shown = match images.list().await {
        Ok(known) => {
            api::ImagesResponse { note: note.unwrap_or_default(), images: known.iter().map(image::status).collect() }
        }
        Err(why) => api::ImagesResponse {
            note: note.unwrap_or_else(|| format!("could not list the images: {}", with_causes(&why))),
            images: Vec::new(),
        },
    };
    reply::json(&ask.params, &shown)
}

/// `GET /v1/client/image/{name}`.
/// What the driver that keeps images says when it was well once and is not now: its list is of an earlier look then.
fn sick_driver(context: &Context) -> Option<String> {
    let client = context.client.as_ref()?;
    let (name, _) = client.images().into_iter().next()?;
    let node = client.node();
    let driver = node.drivers.get(name).filter(|driver| driver.detected && !driver.healthy)?;
    Some(format!("{}; what is listed is as of the last look", driver.health_description))
}

pub(crate) async fn explain(ask: Ask, Path(name): Path<String>) -> Result<Response> {
    let lists = "`longshore image status` lists them";
    let Some(images) = keeper(&ask.context) else {
        return Err(ApiError::not_found(format!("no driver of this node keeps images, so {name:?} is not known here")));
    };
    match images.explain(&name).await {
        Ok(Explained::Known(found)) => reply::json(&ask.params, &image::explanation(&found)),
        Ok(Explained::Unknown { looked_for, near }) if near.is_empty() => {
            Err(ApiError::not_found(format!("no image {name:?} is known here (looked for {looked_for}); {lists}")))
        }
        Ok(Explained::Unknown { looked_for, near }) => Err(ApiError::not_found(format!(
            "no image {name:?} is known here (looked for {looked_for}); known are {}; {lists}",
            near.join(", ")
        ))),
        Err(why) if why.class == ErrorClass::Fatal => {
            Err(ApiError::bad_request(format!("could not look up an image: {}", with_causes(&why))))
        }
        Err(why) => Err(failed("look up an image", &why)),
    }
}

fn failed(doing: &str, why: &DriverError) -> ApiError {
    ApiError::server(format!("could not {doing}: {}", with_causes(why)))
}
