//! What a person says of the engine's images: that they are ours, or that none is to go for a while.

use longshore_driver::{Adopted, DriverError, PauseReport, Reason};
use longshore_images::{Adoption, Event, Pause, Standing};
use longshore_model::{ContentId, ImageRef};
use longshore_values::GoDuration;

use super::ended;
use super::near::near;
use super::shared::Shared;
use super::wishes::{keeper, pattern_of, who_of};
use crate::image::{Adopt, now};

pub(crate) async fn adopt(
    shared: &Shared,
    pattern: &str,
    who: &str,
    dry_run: bool,
) -> Result<Vec<Adopted>, DriverError> {
    let keeping = keeper(shared).await?;
    let (pattern, who) = (pattern_of(pattern)?, who_of(who)?);
    let adoption = Adopt { pattern: pattern.clone(), who, dry_run };
    let Some(found) = keeping.adopt(adoption).await.map_err(ended)? else {
        return Err(DriverError::retry("the engine's images have not been looked at yet").hint("ask again in a moment"));
    };
    if found.is_empty() {
        let error = DriverError::fatal(format!("no image here matches {pattern}")).because(Reason::NotFound);
        let images = keeping.status().await.map_err(ended)?.images;
        let near = pattern.parse::<ImageRef>().map(|name| near(&name, &images)).unwrap_or_default();
        let near: Vec<_> = near.iter().map(ImageRef::familiar).collect();
        return Err(error.hint(match near.is_empty() {
            true => "`longshore image status` lists what is here".to_owned(),
            false => format!("here are {}", near.join(", ")),
        }));
    }
    Ok(found.iter().map(|image| adopted(image, dry_run)).collect())
}

fn adopted(image: &Adoption, dry_run: bool) -> Adopted {
    let (adopted, outcome) = match image.standing {
        Standing::Foreign if dry_run => (false, "would be adopted"),
        Standing::Foreign => (true, "adopted"),
        Standing::Ours => (false, "already obtained"),
        Standing::Unsettled => (false, "not adopted: it is being pulled, or was changed a moment ago; ask again"),
    };
    Adopted {
        name: image.name.familiar().to_owned(),
        content_id: ContentId::to_string(&image.content),
        size_bytes: image.size_bytes,
        adopted,
        outcome: outcome.to_owned(),
    }
}

pub(crate) async fn pause(shared: &Shared, span: GoDuration, who: &str) -> Result<Option<PauseReport>, DriverError> {
    let keeping = keeper(shared).await?;
    let who = who_of(who)?;
    if span.is_negative() {
        return Err(
            DriverError::fatal(format!("a pause of {span} would be over before it begins")).hint("`0s` ends one")
        );
    }
    let at = now();
    let event = match span.is_zero() {
        true => Event::Resumed { who },
        false => Event::Paused(Pause { who, at, until: at.plus(span) }),
    };
    keeping.record(event).await.map_err(ended)?;
    paused(shared).await
}

pub(crate) async fn paused(shared: &Shared) -> Result<Option<PauseReport>, DriverError> {
    let pause = shared.keeping_now()?.status().await.map_err(ended)?.pause;
    Ok(pause.map(|Pause { who, at, until }| PauseReport { who, at, until }))
}
