use axum::body::Body;
use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::Response;
use longshore_api as api;
use longshore_driver::{DriverError, ErrorClass, Explained, Images, Reason};
use longshore_values::GoDuration;

use crate::context::{Ask, Context};
use crate::error::{ApiError, Result, with_causes};
use crate::show::image;
use crate::{body, reply};

pub(super) fn keeper(context: &Context) -> Option<&dyn Images> {
    context.client.as_ref()?.images().into_iter().next().map(|(_, images)| images)
}

/// `GET /v1/client/images`. An engine that cannot be asked is no error of the agent's: it is told in the note.
pub(crate) async fn list(ask: Ask) -> Result<Response> {
    let Some(images) = keeper(&ask.context) else {
        let note =
            "no driver of this node keeps images; is the docker driver enabled, and its engine there?".to_owned();
        return reply::json(&ask.params, &api::ImagesResponse { note, pause: None, images: Vec::new() });
    };
    let note = images.keeper_note().await.or_else(|| sick_driver(&ask.context));
    let shown = match images.list().await {
        Ok(known) => api::ImagesResponse {
            note: note.unwrap_or_default(),
            pause: images.paused().await.unwrap_or_default().as_ref().map(image::pause),
            images: known.iter().map(image::status).collect(),
        },
        Err(why) => api::ImagesResponse {
            note: note.unwrap_or_else(|| format!("could not list the images: {}", with_causes(&why))),
            pause: None,
            images: Vec::new(),
        },
    };
    reply::json(&ask.params, &shown)
}

/// What the driver that keeps images says when it was well once and is not now: its list is of an earlier look then.
fn sick_driver(context: &Context) -> Option<String> {
    let client = context.client.as_ref()?;
    let (name, _) = client.images().into_iter().next()?;
    let node = client.node();
    let driver = node.drivers.get(name).filter(|driver| driver.detected && !driver.healthy)?;
    Some(format!("{}; what is listed is as of the last look", driver.health_description))
}

/// `GET /v1/client/image/{name}`.
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
        Err(why) => Err(failed("look up an image", &why)),
    }
}

/// `GET /v1/client/images/pins`.
pub(crate) async fn pins(ask: Ask) -> Result<Response> {
    let pins = match keeper(&ask.context) {
        Some(images) => images.pins().await.map_err(|why| failed("list the pins", &why))?,
        None => Vec::new(),
    };
    reply::json(&ask.params, &pins.iter().map(image::pin).collect::<Vec<_>>())
}

/// `PUT /v1/client/images/pin`.
pub(crate) async fn pin(ask: Ask, body: Body) -> Result<Response> {
    let request: api::ImagePinRequest = body::json(body).await?;
    let pin = needed(&ask.context)?
        .pin(&request.pattern, who(&request.who))
        .await
        .map_err(|why| failed("pin images", &why))?;
    reply::json(&ask.params, &image::pin(&pin))
}

/// `PUT /v1/client/images/unpin`.
pub(crate) async fn unpin(ask: Ask, body: Body) -> Result<Response> {
    let request: api::ImagePinRequest = body::json(body).await?;
    let stood = needed(&ask.context)?.unpin(&request.pattern).await.map_err(|why| failed("take a pin back", &why))?;
    if !stood {
        return Err(ApiError::not_found(format!("nothing is pinned by {:?}", request.pattern)));
    }
    reply::json(&ask.params, &api::GenericResponse::default())
}

/// `PUT /v1/client/images/adopt`.
pub(crate) async fn adopt(ask: Ask, body: Body) -> Result<Response> {
    let request: api::ImageAdoptRequest = body::json(body).await?;
    let adopted = needed(&ask.context)?.adopt(&request.pattern, who(&request.who), request.dry_run).await;
    let images = adopted.map_err(|why| failed("adopt images", &why))?.iter().map(image::adopted).collect();
    reply::json(&ask.params, &api::ImageAdoptResponse { images })
}

/// `PUT /v1/client/images/pause`.
pub(crate) async fn pause(ask: Ask, body: Body) -> Result<Response> {
    let request: api::ImagePauseRequest = body::json(body).await?;
    let doing = "pause the removal of images";
    let span: GoDuration =
        request.duration.parse().map_err(|why| ApiError::bad_request(format!("could not {doing}: {why}")))?;
    let pause = needed(&ask.context)?.pause(span, who(&request.who)).await.map_err(|why| failed(doing, &why))?;
    reply::json(&ask.params, &pause.as_ref().map(image::pause).unwrap_or_default())
}

/// Who asks, for those who wonder later.
fn who(told: &str) -> &str {
    if told.is_empty() { "somebody over the API" } else { told }
}

/// `PUT /v1/client/images/gc`.
pub(crate) async fn collect(ask: Ask, body: Body) -> Result<Response> {
    let request: api::ImageCollectRequest = body::optional_json(body).await?.unwrap_or_default();
    let collected = ask.context.unless_ended(needed(&ask.context)?.collect(request.dry_run)).await;
    let gone = collected.ok_or_else(ending)?.map_err(|why| failed("collect images", &why))?;
    let images = gone.iter().map(image::collected).collect();
    reply::json(&ask.params, &api::ImageCollectResponse { images })
}

/// `PUT /v1/client/images/pull`: answered when the image is here, or cannot be had.
pub(crate) async fn pull(ask: Ask, body: Body) -> Result<Response> {
    let request: api::ImagePullRequest = body::json(body).await?;
    let pulled = ask.context.unless_ended(needed(&ask.context)?.pull(&request.name, request.force)).await;
    let pulled = pulled.ok_or_else(ending)?;
    reply::json(&ask.params, &image::pulled(&pulled.map_err(|why| failed("pull an image", &why))?))
}

fn needed(context: &Context) -> Result<&dyn Images> {
    keeper(context).ok_or_else(|| ApiError::not_found("no driver of this node keeps images".to_owned()))
}

fn ending() -> ApiError {
    ApiError::server("the agent is ending".to_owned())
}

fn failed(doing: &str, why: &DriverError) -> ApiError {
    let text = format!("could not {doing}: {}", with_causes(why));
    let hint = if why.hint.is_empty() { String::new() } else { format!("; {}", why.hint) };
    let text = text + &hint;
    match (why.reason, why.class) {
        (Reason::NotFound, _) => ApiError::not_found(text),
        (Reason::KeptElsewhere, _) => ApiError::new(StatusCode::CONFLICT, text),
        (Reason::Other, ErrorClass::Fatal) => ApiError::bad_request(text),
        (Reason::Other, ErrorClass::Retry | ErrorClass::Cancelled) => ApiError::server(text),
    }
}
