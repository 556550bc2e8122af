//! Which of the engine's events are of our own doing.

use std::collections::BTreeMap;

use longshore_model::{ImageRef, Timestamp};
use longshore_values::GoDuration;

use crate::FetchId;

/// How long after the end of a pull of ours the engine's event for it may still come.
pub(super) const CREDIT_SPAN: GoDuration = GoDuration::minutes(1);

/// How many events of pulls and loads of our own are still to come: what exceeds them, others did.
#[derive(Debug, Default)]
pub(crate) struct Credits {
    pulls: BTreeMap<ImageRef, Vec<Credit>>,
    loads: Vec<Credit>,
}

#[derive(Debug)]
struct Credit {
    fetch: Option<FetchId>,
    /// Set once the fetch has ended.
    until: Option<Timestamp>,
}

impl Credits {
    pub(super) fn expect(&mut self, name: &ImageRef, is_load: bool, fetch: Option<FetchId>, until: Option<Timestamp>) {
        let credits = if is_load { &mut self.loads } else { self.pulls.entry(name.clone()).or_default() };
        credits.push(Credit { fetch, until });
    }

    pub(super) fn end(&mut self, name: &ImageRef, fetch: FetchId, until: Option<Timestamp>) {
        for credits in self.pulls.get_mut(name).into_iter().chain([&mut self.loads]) {
            match until {
                Some(_) => credits.iter_mut().filter(|c| c.fetch == Some(fetch)).for_each(|c| c.until = until),
                None => credits.retain(|credit| credit.fetch != Some(fetch)),
            }
        }
    }

    /// Whether an event of a pull of this name may be our own; it then stands for none further.
    pub(crate) fn take_pull(&mut self, name: &ImageRef) -> bool {
        let Some(credits) = self.pulls.get_mut(name) else { return false };
        let expected = !credits.is_empty();
        if expected {
            credits.remove(0);
        }
        expected
    }

    pub(crate) fn take_load(&mut self) -> bool {
        let expected = !self.loads.is_empty();
        if expected {
            self.loads.remove(0);
        }
        expected
    }

    pub(crate) fn expire(&mut self, now: Timestamp) {
        let latest = now.plus(CREDIT_SPAN);
        let keep = |credit: &mut Credit| {
            credit.until = credit.until.map(|until| until.min(latest));
            credit.until.is_none_or(|until| until > now)
        };
        self.loads.retain_mut(keep);
        self.pulls.retain(|_, credits| {
            credits.retain_mut(keep);
            !credits.is_empty()
        });
    }
}
