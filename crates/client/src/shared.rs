use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use longshore_driver::Driver;
use longshore_link::ServerLink;
use longshore_model::{AllocId, Node, NodeId};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::ClientConfig;
use crate::database::NodeDatabase;
use crate::registration::Heartbeat;
use crate::reports::Reports;
use crate::rules::environment::NodeFacts;
use crate::runner::shell::View;

/// What all parts of the node use.
pub(crate) struct Shared {
    pub(crate) config: ClientConfig,
    pub(crate) node_id: NodeId,
    pub(crate) database: NodeDatabase,
    pub(crate) link: Arc<dyn ServerLink>,
    pub(crate) drivers: BTreeMap<&'static str, Arc<dyn Driver>>,
    pub(crate) reports: Reports,
    /// The node as it was last told to the server.
    node: RwLock<Arc<Node>>,
    views: Mutex<BTreeMap<AllocId, View>>,
    /// Told at each change of a view.
    views_changed: watch::Sender<()>,
    heartbeat: Mutex<Option<Heartbeat>>,
    /// The agent ends: everything in this process stops where it is.
    pub(crate) stopping: CancellationToken,
}

impl Shared {
    pub(crate) fn new(
        config: ClientConfig,
        node: Node,
        database: NodeDatabase,
        link: Arc<dyn ServerLink>,
        drivers: BTreeMap<&'static str, Arc<dyn Driver>>,
    ) -> Self {
        Self {
            config,
            node_id: node.id,
            database,
            link,
            drivers,
            reports: Reports::default(),
            node: RwLock::new(Arc::new(node)),
            views: Mutex::default(),
            views_changed: watch::Sender::new(()),
            heartbeat: Mutex::default(),
            stopping: CancellationToken::new(),
        }
    }

    pub(crate) fn node(&self) -> Arc<Node> {
        Arc::clone(&self.node.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn set_node(&self, node: Node) {
        *self.node.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(node);
    }

    pub(crate) fn view(&self, alloc: AllocId) -> Option<View> {
        self.views.lock().unwrap_or_else(PoisonError::into_inner).get(&alloc).cloned()
    }

    /// Looks at every allocation that is here.
    pub(crate) fn for_each_view(&self, mut look: impl FnMut(AllocId, &View)) {
        for (id, view) in &*self.views.lock().unwrap_or_else(PoisonError::into_inner) {
            look(*id, view);
        }
    }

    pub(crate) fn set_view(&self, alloc: AllocId, view: View) {
        self.views.lock().unwrap_or_else(PoisonError::into_inner).insert(alloc, view);
        self.views_changed.send_replace(());
    }

    /// The first that `found` makes of an allocation's view, as it is now or becomes; `None` stands for one that is not
    /// here (any more).
    pub(crate) async fn wait_for_view<T>(&self, alloc: AllocId, found: impl Fn(Option<&View>) -> Option<T>) -> T {
        let mut changed = self.views_changed.subscribe();
        loop {
            if let Some(it) = found(self.view(alloc).as_ref()) {
                return it;
            }
            // The sender lives as long as `self`.
            let _ = changed.changed().await;
        }
    }

    pub(crate) fn heartbeat(&self) -> Option<Heartbeat> {
        *self.heartbeat.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn set_heartbeat(&self, heartbeat: Heartbeat) {
        *self.heartbeat.lock().unwrap_or_else(PoisonError::into_inner) = Some(heartbeat);
    }

    pub(crate) fn remove_view(&self, alloc: AllocId) {
        self.views.lock().unwrap_or_else(PoisonError::into_inner).remove(&alloc);
        self.views_changed.send_replace(());
    }

    pub(crate) fn facts(&self) -> NodeFacts {
        let node = self.node();
        NodeFacts {
            identity: longshore_driver::NodeIdentity {
                id: node.id,
                name: node.name.clone(),
                datacenter: node.datacenter.clone(),
                region: self.config.region.clone(),
            },
            class: node.class.clone(),
            pool: node.node_pool.clone(),
            attributes: node.attributes.clone(),
            meta: node.meta.clone(),
            cgroup_parent: self.config.cgroup_parent.clone(),
        }
    }
}
