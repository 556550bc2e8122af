//! An image that a person asks for: brought, and kept for a while. However often it is asked for, one hold keeps it.

use longshore_driver::{DriverError, EventSink, Pulled};
use longshore_images::{Event, Owner};
use longshore_model::{ImageRef, Timestamp};
use longshore_values::GoDuration;

use super::ask::{Asker, allowed_image};
use super::ended;
use super::shared::Shared;
use super::wishes::keeper;
use crate::image::{Keeping, now};
use crate::task::TaskConfig;

/// For how long an image that a person asked for is kept.
const PULLED_STAYS: GoDuration = GoDuration::hours(1);

/// Brings an image and holds it for a while, from now on.
pub(crate) async fn pull(shared: &Shared, written: &str, fresh: bool) -> Result<Pulled, DriverError> {
    let keeping = keeper(shared).await?;
    let config = TaskConfig { image: written.trim().to_owned(), force_pull: fresh, ..TaskConfig::default() };
    let name = allowed_image(&config, &shared.options)?;
    // People who ask for the same name share an owner, which has one question at a time.
    let _turn = shared.pulls_by_people.take(&name).await;
    let owner = Owner::Asked { name: name.familiar().to_owned() };
    let kept_until = now().plus(PULLED_STAYS);
    let before = keeping.explain(name.clone()).await.map_err(ended)?;
    let holders = before.into_iter().flat_map(|it| it.status.holders);
    let kept_before = holders.filter(|hold| hold.owner == owner).find_map(|hold| hold.expires_at);
    let asked = Asked { owner: owner.clone(), name: name.clone(), kept_before };
    let mut unanswered = Unanswered { keeping: &keeping, asked: Some(asked) };
    keeping.record(Event::Wished { owner: owner.clone(), name, expires_at: kept_until }).await.map_err(ended)?;
    let events = EventSink::new(|_| {});
    let asker = Asker::of_wish(shared, owner, &config, &events).await?;
    let grant = asker.grant().await?;
    unanswered.asked = None;
    Ok(Pulled {
        name: asker.name.familiar().to_owned(),
        content_id: grant.content.to_string(),
        size_bytes: grant.size_bytes,
        message: asker.ready_text(&grant),
        kept_until,
    })
}

struct Asked {
    owner: Owner,
    name: ImageRef,
    /// Until when it was kept before this was asked.
    kept_before: Option<Timestamp>,
}

/// Leaves the hold as it was, unless the image came.
struct Unanswered<'a> {
    keeping: &'a Keeping,
    asked: Option<Asked>,
}

impl Drop for Unanswered<'_> {
    fn drop(&mut self) {
        let Some(Asked { owner, name, kept_before }) = self.asked.take() else { return };
        match kept_before {
            Some(expires_at) => {
                self.keeping.tell(Event::GaveUp { owner: owner.clone() });
                self.keeping.tell(Event::Wished { owner, name, expires_at });
            }
            None => self.keeping.tell(Event::Ended { owner, at: now() }),
        }
    }
}
