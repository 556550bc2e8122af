//! What has to have been seen at least once over all worlds.

use std::collections::BTreeMap;

use longshore_images::{ROWS_OF_LATER_FEATURES, Row, RowCounts};

/// The steps at which an agent can die, as the keeper's table of crashes numbers them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CrashRow {
    Accept,
    Pull,
    Load,
    Grant,
    Create,
    Start,
    Stop,
    Release,
    RemoveName,
    RemoveNameless,
    Handover,
    Prefetch,
    AgentNeeds,
}

/// After the record and before the act, or after the act and before its outcome is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Side {
    Before,
    After,
}

const CRASH_ROWS: [CrashRow; 13] = [
    CrashRow::Accept,
    CrashRow::Pull,
    CrashRow::Load,
    CrashRow::Grant,
    CrashRow::Create,
    CrashRow::Start,
    CrashRow::Stop,
    CrashRow::Release,
    CrashRow::RemoveName,
    CrashRow::RemoveNameless,
    CrashRow::Handover,
    CrashRow::Prefetch,
    CrashRow::AgentNeeds,
];

#[derive(Debug, Default)]
pub(crate) struct Coverage {
    rows: RowCounts,
    crashes: BTreeMap<(CrashRow, Side), u64>,
}

impl Coverage {
    pub(crate) fn add(&mut self, (rows, crashes): (RowCounts, BTreeMap<(CrashRow, Side), u64>)) {
        for (row, count) in rows {
            *self.rows.entry(row).or_default() += count;
        }
        for (row, count) in crashes {
            *self.crashes.entry(row).or_default() += count;
        }
    }

    pub(crate) fn merge(&mut self, other: Self) {
        self.add((other.rows, other.crashes));
    }

    /// Prints how often each row was taken, and names those that never were.
    pub(crate) fn never_taken(&self) -> Vec<String> {
        let mut never = Vec::new();
        let mut print = |row: String, count: u64| {
            println!("{count:>10}  {row}");
            if count == 0 {
                never.push(row);
            }
        };
        for row in Row::ALL {
            print(format!("{row:?}"), self.rows.get(row).copied().unwrap_or(0));
        }
        for row in CRASH_ROWS {
            for side in [Side::Before, Side::After] {
                print(format!("crash, {row:?}, {side:?}"), self.crashes.get(&(row, side)).copied().unwrap_or(0));
            }
        }
        for (row, feature) in ROWS_OF_LATER_FEATURES {
            println!("     later  {row} ({feature})");
        }
        never
    }
}
