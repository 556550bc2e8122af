use std::collections::BTreeMap;

use longshore_model::{ClientStatus, JobKey, LogIndex};
use serde::{Deserialize, Serialize};

/// How many allocations of a job are where, by group (scheduling facts, section 9).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobSummary {
    pub job: JobKey,
    pub groups: BTreeMap<String, GroupSummary>,
    pub create_index: LogIndex,
    pub modify_index: LogIndex,
}

/// `complete` and `failed` count all that ever were; the others count what is so now.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupSummary {
    pub queued: u32,
    pub complete: u32,
    pub failed: u32,
    pub running: u32,
    pub starting: u32,
    pub lost: u32,
    pub unknown: u32,
}

impl GroupSummary {
    fn slot(&mut self, status: ClientStatus) -> &mut u32 {
        match status {
            ClientStatus::Pending => &mut self.starting,
            ClientStatus::Running => &mut self.running,
            ClientStatus::Complete => &mut self.complete,
            ClientStatus::Failed => &mut self.failed,
            ClientStatus::Lost => &mut self.lost,
            ClientStatus::Unknown => &mut self.unknown,
        }
    }

    pub(crate) fn moved(&mut self, from: Option<ClientStatus>, to: ClientStatus) {
        if from == Some(to) {
            return;
        }
        if let Some(from) = from.filter(|from| !matches!(from, ClientStatus::Complete | ClientStatus::Failed)) {
            let slot = self.slot(from);
            *slot = slot.saturating_sub(1);
        }
        if from.is_none() {
            self.queued = self.queued.saturating_sub(1);
        }
        *self.slot(to) += 1;
    }
}
