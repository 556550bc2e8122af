use std::fmt;

use longshore_values::GoDuration;

use super::Keeper;
use crate::Binding;

/// What always holds of a keeper, by the number that the crate's documentation gives it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Invariant {
    NeededIsNeverRemoved,
    UnneededGoesOnTime,
    HoldBelongsToOwner,
    OnePull,
    OnlyWhatWeBrought,
    UnknownIsNotNo,
    Handover,
    RecoveryFirst,
}

impl Invariant {
    pub const fn number(self) -> &'static str {
        match self {
            Self::NeededIsNeverRemoved => "K1",
            Self::UnneededGoesOnTime => "K2",
            Self::HoldBelongsToOwner => "K3",
            Self::OnePull => "K4",
            Self::OnlyWhatWeBrought => "K5",
            Self::UnknownIsNotNo => "K6",
            Self::Handover => "K7",
            Self::RecoveryFirst => "K10",
        }
    }
}

/// One thing that is wrong with a keeper's state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Breach {
    pub invariant: Invariant,
    pub what: String,
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.invariant.number(), self.what)
    }
}

impl Keeper {
    /// What is wrong with this state; empty when every invariant holds. Meant to run after each step.
    pub fn breaches(&self) -> Vec<Breach> {
        let mut found = Vec::new();
        let mut breach = |invariant, what| found.push(Breach { invariant, what });
        for (content, removal) in &self.removals {
            if removal.takes_content() && self.books.content_holders(*content).next().is_some() {
                breach(Invariant::NeededIsNeverRemoved, format!("{content:?} is granted while it is being removed"));
            }
            if removal.is_sent() && !self.recovery.is_compared() {
                breach(Invariant::RecoveryFirst, format!("removal of {content:?} sent before the comparison"));
            }
        }
        for record in self.books.names() {
            let name = &record.name;
            match record.binding {
                Some(Binding::Held { content }) if self.view.known && self.need_of_name(name, content).is_none() => {
                    breach(Invariant::UnneededGoesOnTime, format!("{name} is held and nothing needs it"));
                }
                Some(Binding::Idle { content, idle_since }) => {
                    if let Some(need) = self.need_of_name(name, content) {
                        breach(Invariant::NeededIsNeverRemoved, format!("{name} is idle with {need}"));
                    }
                    if idle_since > self.now {
                        breach(Invariant::UnneededGoesOnTime, format!("{name} is idle since a time to come"));
                    }
                }
                Some(Binding::Removing { content, .. } | Binding::Unsure { content, .. }) => {
                    if !self.removals.get(&content).is_some_and(|removal| removal.removes(name)) {
                        breach(Invariant::UnneededGoesOnTime, format!("nobody removes {name}"));
                    }
                }
                Some(Binding::Held { .. } | Binding::Foreign { .. }) | None => {}
            }
            if record.intent.as_ref().is_some_and(|intent| intent.late_until.is_none())
                && !self.fetches.contains_key(name)
            {
                breach(Invariant::UnneededGoesOnTime, format!("nobody settles the intent of {name}"));
            }
        }
        for record in self.books.contents() {
            if record.idle_since.is_some_and(|idle_since| idle_since > self.now) {
                breach(Invariant::UnneededGoesOnTime, format!("{:?} is idle since a time to come", record.id));
            }
        }
        for (owner, waiter) in &self.waiters {
            let name = &waiter.want.name;
            if self.books.hold(owner, name).is_none() {
                breach(Invariant::HoldBelongsToOwner, format!("{owner} waits for {name} without a hold"));
            }
            if waiter.joined.is_some() && self.fetches.get(name).map(|fetch| fetch.id) != waiter.joined {
                breach(Invariant::OnePull, format!("{owner} waits for a pull of {name} that is not out"));
            }
        }
        for (name, fetch) in &self.fetches {
            let waited_for = self.waiters.values().any(|waiter| waiter.joined == Some(fetch.id));
            if fetch.is_running() && !fetch.cancelled && !fetch.arrived && !waited_for {
                breach(Invariant::OnePull, format!("a pull of {name} goes on that nobody waits for"));
            }
        }
        for hold in self.books.holds() {
            let lingers = hold.owner.alloc().and_then(|alloc| self.books.successor(alloc)).is_some();
            if hold.ended_at.is_some() && !lingers && self.recovery.is_compared() {
                breach(Invariant::Handover, format!("{} has ended and holds {} for nobody", hold.owner, hold.name));
            }
        }
        found
    }

    /// How long the engine's view may be out of date before it is looked at again without a reason.
    #[doc(hidden)]
    pub const LOOK_PERIOD: GoDuration = super::LOOK_PERIOD;
}
