//! The newest durable state, and those who wait for it to change.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use longshore_model::{LogIndex, NodeId};
use longshore_state::{Effect, State, Table};
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, timeout_at};

pub(crate) struct Published {
    state: watch::Sender<Arc<State>>,
    jobs: watch::Sender<LogIndex>,
    evaluations: watch::Sender<LogIndex>,
    allocations: watch::Sender<LogIndex>,
    deployments: watch::Sender<LogIndex>,
    nodes: watch::Sender<LogIndex>,
    /// Wakes the one who waits for a node's allocations; thousands of them would make one channel for all a herd.
    node_wakers: Mutex<BTreeMap<NodeId, Arc<Notify>>>,
}

impl Published {
    pub(crate) fn new(state: Arc<State>) -> Self {
        let table = |table| watch::Sender::new(state.table_index(table));
        Self {
            jobs: table(Table::Jobs),
            evaluations: table(Table::Evaluations),
            allocations: table(Table::Allocations),
            deployments: table(Table::Deployments),
            nodes: table(Table::Nodes),
            node_wakers: Mutex::default(),
            state: watch::Sender::new(state),
        }
    }

    pub(crate) fn snapshot(&self) -> Arc<State> {
        Arc::clone(&self.state.borrow())
    }

    /// Makes `state` the one that everybody sees, and wakes who waits for what changed in it.
    pub(crate) fn publish(&self, state: &Arc<State>, effects: &[Effect]) {
        self.state.send_replace(Arc::clone(state));
        for table in [Table::Jobs, Table::Evaluations, Table::Allocations, Table::Deployments, Table::Nodes] {
            self.table(table).send_if_modified(|index| {
                let newer = state.table_index(table);
                std::mem::replace(index, newer) != newer
            });
        }
        let wakers = self.node_wakers.lock().unwrap_or_else(PoisonError::into_inner);
        for effect in effects {
            if let Effect::NodeAllocations(node) = effect
                && let Some(waker) = wakers.get(node)
            {
                waker.notify_waiters();
            }
        }
    }

    /// The first state in which `index_of` is above `after`, or the newest one when `wait` is over or all ends.
    ///
    /// Looks only when `table` has changed.
    pub(crate) async fn wait_for_table(
        &self,
        table: Table,
        after: LogIndex,
        wait: Duration,
        index_of: impl Fn(&State) -> LogIndex,
    ) -> Arc<State> {
        let mut changes = self.table(table).subscribe();
        let deadline = Instant::now() + wait;
        loop {
            changes.borrow_and_update();
            let state = self.snapshot();
            if index_of(&state) > after {
                return state;
            }
            if !matches!(timeout_at(deadline, changes.changed()).await, Ok(Ok(()))) {
                return self.snapshot();
            }
        }
    }

    /// The first state that `is_there` accepts, or `None` when `wait` is over. Looks at every change.
    pub(crate) async fn wait_until(&self, wait: Duration, is_there: impl Fn(&State) -> bool) -> Option<Arc<State>> {
        let mut changes = self.state.subscribe();
        let found = changes.wait_for(|state| is_there(state));
        match tokio::time::timeout(wait, found).await {
            Ok(Ok(state)) => Some(Arc::clone(&state)),
            _ => None,
        }
    }

    /// The same for the allocations of one node.
    pub(crate) async fn wait_for_node(&self, node: NodeId, after: LogIndex, wait: Duration) -> Arc<State> {
        let waker = {
            let mut wakers = self.node_wakers.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(wakers.entry(node).or_default())
        };
        let deadline = Instant::now() + wait;
        loop {
            let woken = waker.notified();
            tokio::pin!(woken);
            // From here on no change is missed.
            woken.as_mut().enable();
            let state = self.snapshot();
            if state.node_allocations_index(node) > after || timeout_at(deadline, woken).await.is_err() {
                return state;
            }
        }
    }

    fn table(&self, table: Table) -> &watch::Sender<LogIndex> {
        match table {
            Table::Jobs => &self.jobs,
            Table::Evaluations => &self.evaluations,
            Table::Allocations => &self.allocations,
            Table::Deployments => &self.deployments,
            Table::Nodes => &self.nodes,
        }
    }
}
