//! What the server lists against what the node has: what is to be done about the difference.
//!
//! K7: an allocation is accepted before the one that it replaces is told to stop.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use longshore_model::{AllocId, Allocation, ClientStatus, LogIndex};

/// An allocation of the node's record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Known {
    /// The newest form that its runner was given.
    pub(crate) alloc_modify_index: LogIndex,
    /// As the node last said or would say now.
    pub(crate) client_status: ClientStatus,
    /// It can never start again and its drivers have forgotten it.
    pub(crate) is_over: bool,
    /// When it ended; orders local collection.
    pub(crate) ended_at: longshore_model::Timestamp,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Order {
    /// Take it in: holds and record.
    Accept(Arc<Allocation>),
    /// It is being accepted and is not to run any more.
    GiveUp(AllocId),
    /// Tell its runner the newer form.
    Update(Arc<Allocation>),
    /// It is to stop and was never here: say that nothing of it runs.
    NeverRan(Arc<Allocation>),
    /// The server does not list it any more: stop what runs.
    Stop(AllocId),
    /// Nobody asks for it any more: its folder and record go.
    Collect(AllocId),
    /// The server believes something else than what is: say it again.
    Report(AllocId),
}

/// Orders, acceptances first. `accepting`: being accepted right now, or let go of again. `kept_max`: how many ended allocations may stay.
pub(crate) fn reconcile(
    listed: &[Arc<Allocation>],
    known: &BTreeMap<AllocId, Known>,
    accepting: &BTreeSet<AllocId>,
    kept_max: usize,
) -> Vec<Order> {
    let mut orders = Vec::new();
    let mut awaited = BTreeSet::new();
    for alloc in listed {
        if !known.contains_key(&alloc.id) && !alloc.is_terminal() {
            awaited.extend(alloc.previous_alloc);
            if !accepting.contains(&alloc.id) {
                orders.push(Order::Accept(Arc::clone(alloc)));
            }
        }
    }
    for alloc in listed {
        match known.get(&alloc.id) {
            Some(found) => {
                let newer = alloc.alloc_modify_index > found.alloc_modify_index;
                if newer && !(alloc.server_terminal() && awaited.contains(&alloc.id)) {
                    orders.push(Order::Update(Arc::clone(alloc)));
                }
                if alloc.client_status != found.client_status {
                    orders.push(Order::Report(alloc.id));
                }
            }
            None if alloc.server_terminal() && accepting.contains(&alloc.id) => orders.push(Order::GiveUp(alloc.id)),
            None if alloc.server_terminal() && !alloc.client_status.is_terminal() => {
                orders.push(Order::NeverRan(Arc::clone(alloc)));
            }
            None => {}
        }
    }
    let listed_ids: BTreeMap<_, _> = listed.iter().map(|alloc| (alloc.id, alloc.client_status)).collect();
    let unlisted = accepting.iter().filter(|id| !listed_ids.contains_key(id));
    orders.extend(unlisted.map(|id| Order::GiveUp(*id)));
    let mut kept = Vec::new();
    for (id, found) in known {
        match listed_ids.get(id) {
            None if found.is_over => orders.push(Order::Collect(*id)),
            None => orders.push(Order::Stop(*id)),
            Some(status) if found.is_over && status.is_terminal() => kept.push((found.ended_at, *id)),
            Some(_) => {}
        }
    }
    kept.sort_unstable();
    let surplus = kept.len().saturating_sub(kept_max);
    orders.extend(kept.into_iter().take(surplus).map(|(_, id)| Order::Collect(id)));
    orders
}

#[cfg(test)]
mod tests {
    use longshore_model::{DesiredStatus, Timestamp};

    use super::*;
    use crate::testing;

    /// Listed: `id index desired client previous`; known: `id index client over`.
    #[track_caller]
    fn check(listed: &[&str], known: &[&str], accepting: &[u128], expected: &[&str]) {
        let number = |word: &str| word.parse::<u128>().unwrap_or(0);
        let status = |word: &str| match word {
            "pending" => ClientStatus::Pending,
            "running" => ClientStatus::Running,
            "failed" => ClientStatus::Failed,
            _ => ClientStatus::Complete,
        };
        let listed: Vec<_> = listed
            .iter()
            .map(|row| {
                let words: Vec<_> = row.split(' ').collect();
                let mut alloc = testing::allocation(number(words[0]), Vec::new());
                alloc.alloc_modify_index = LogIndex(number(words[1]) as u64);
                alloc.desired_status = if words[2] == "run" { DesiredStatus::Run } else { DesiredStatus::Stop };
                alloc.client_status = status(words[3]);
                alloc.previous_alloc = words.get(4).map(|word| AllocId::from_u128(number(word)));
                Arc::new(alloc)
            })
            .collect();
        let known: BTreeMap<_, _> = known
            .iter()
            .map(|row| {
                let words: Vec<_> = row.split(' ').collect();
                let found = Known {
                    alloc_modify_index: LogIndex(number(words[1]) as u64),
                    client_status: status(words[2]),
                    is_over: words.get(3) == Some(&"over"),
                    ended_at: Timestamp::from_seconds(number(words[0]) as i64),
                };
                (AllocId::from_u128(number(words[0])), found)
            })
            .collect();
        let accepting = accepting.iter().map(|id| AllocId::from_u128(*id)).collect();
        let text: Vec<_> = reconcile(&listed, &known, &accepting, 2)
            .iter()
            .map(|order| match order {
                Order::Accept(alloc) => format!("accept {}", alloc.id.as_u128()),
                Order::GiveUp(id) => format!("give up {}", id.as_u128()),
                Order::Update(alloc) => format!("update {} {}", alloc.id.as_u128(), alloc.desired_status.word()),
                Order::NeverRan(alloc) => format!("never ran {}", alloc.id.as_u128()),
                Order::Stop(id) => format!("stop {}", id.as_u128()),
                Order::Collect(id) => format!("collect {}", id.as_u128()),
                Order::Report(id) => format!("report {}", id.as_u128()),
            })
            .collect();
        assert_eq!(text, expected);
    }

    #[test]
    fn listed_against_known() {
        check(&[], &[], &[], &[]);
        check(&["1 5 run pending"], &[], &[], &["accept 1"]);
        check(&["1 5 run pending"], &[], &[1], &[]);
        check(&["1 5 run running"], &[], &[], &["accept 1"]);
        check(&["1 5 run complete"], &[], &[], &[]);
        check(&["1 5 stop pending"], &[], &[], &["never ran 1"]);
        check(&["1 5 stop complete"], &[], &[], &[]);
        check(&["1 6 stop pending"], &[], &[1], &["give up 1"]);
        check(&[], &[], &[1], &["give up 1"]);
        check(&["1 5 run running"], &["1 5 running"], &[], &[]);
        check(&["1 6 stop running"], &["1 5 running"], &[], &["update 1 stop"]);
        check(&["1 5 run pending"], &["1 5 running"], &[], &["report 1"]);
        check(&["1 5 stop running"], &["1 5 complete over"], &[], &["report 1"]);
        check(&[], &["1 5 running"], &[], &["stop 1"]);
        check(&[], &["1 5 complete over"], &[], &["collect 1"]);
    }

    #[test]
    fn a_successor_is_accepted_before_its_predecessor_stops() {
        let listed = ["1 6 stop running", "2 6 run pending 1", "3 6 stop running"];
        let known = ["1 5 running", "3 5 running"];
        check(&listed, &known, &[], &["accept 2", "update 3 stop"]);
        check(&listed, &known, &[2], &["update 3 stop"]);
        check(&listed, &["1 5 running", "2 6 pending", "3 6 running"], &[], &["update 1 stop"]);
        // A successor that is itself stopped before it was accepted holds nothing back.
        check(&["1 6 stop running", "2 7 stop pending 1"], &["1 5 running"], &[], &["update 1 stop", "never ran 2"]);
    }

    #[test]
    fn the_oldest_ended_ones_go_when_there_are_too_many() {
        let listed = ["1 5 stop complete", "2 5 stop complete", "3 5 stop complete", "4 5 stop running"];
        let known = ["1 5 complete over", "2 5 complete over", "3 5 complete over", "4 5 complete over"];
        check(&listed, &known, &[], &["report 4", "collect 1"]);
    }
}
