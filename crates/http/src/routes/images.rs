use axum::extract::Path;
use axum::response::Response;
use longshore_api as api;
use longshore_driver::{DriverError, Images};

use crate::context::{Ask, Context};
use crate::error::{ApiError, Result, with_causes};
use crate::reply;
use crate::show::image;

pub(super) fn keeper(context: &Context) -> Option<&dyn Images> {
    context.client.as_ref()?.images().into_iter().next().map(|(_, images)| images)
}

/// `GET /v1/client/images`.
pub(crate) async fn list(ask: Ask) -> Result<Response> {
    let shown = match keeper(&ask.context) {
        Some(images) => api::ImagesResponse {
            note: images.keeper_note().await.unwrap_or_default(),
            images: images
                .list()
                .await
                .map_err(|why| failed("list the images", &why))?
                .iter()
                .map(image::status)
                .collect(),
        },
        None => api::ImagesResponse {
            note: "no driver of this node keeps images; is the docker driver enabled, and its engine there?".to_owned(),
            images: Vec::new(),
        },
    };
    reply::json(&ask.params, &shown)
}

/// `GET /v1/client/image/{name}`.
pub(crate) async fn explain(ask: Ask, Path(name): Path<String>) -> Result<Response> {
    let unknown =
        || ApiError::not_found(format!("no image {name:?} is known here; `longshore image status` lists them"));
    let images = keeper(&ask.context).ok_or_else(unknown)?;
    let found = images.explain(&name).await.map_err(|why| failed("look up an image", &why))?;
    reply::json(&ask.params, &image::explanation(&found.ok_or_else(unknown)?))
}

fn failed(doing: &str, why: &DriverError) -> ApiError {
    ApiError::server(format!("could not {doing}: {}", with_causes(why)))
}
