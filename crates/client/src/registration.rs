//! Makes the node known to the server and keeps it known: registration, heartbeats, news of drivers.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use longshore_driver::{Driver, Fingerprint};
use longshore_link::LinkError;
use longshore_model::Node;
use longshore_values::GoDuration;
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

use crate::clock;
use crate::host::node;
use crate::shared::Shared;

const RETRY_DELAY_MIN: Duration = Duration::from_millis(100);
const RETRY_DELAY_MAX: Duration = Duration::from_secs(10);
/// A heartbeat comes no more often than this, whatever the server asks.
const HEARTBEAT_DELAY_MIN: Duration = Duration::from_millis(100);
/// How long the first registration waits for drivers that take their time.
const FIRST_FINGERPRINT_MAX: Duration = Duration::from_millis(500);

/// The last word of the server to this node.
#[derive(Debug, Clone, Copy)]
pub struct Heartbeat {
    pub at: Instant,
    /// For how long from then on the server holds the node to be there.
    pub ttl: GoDuration,
}

/// Whether the server knows the node.
#[derive(Debug)]
pub(crate) struct Registration {
    is_registered: watch::Sender<bool>,
}

impl Registration {
    pub(crate) fn new() -> Self {
        Self { is_registered: watch::Sender::new(false) }
    }

    /// Returns when the server knows the node.
    pub(crate) async fn registered(&self) {
        // The sender lives as long as `self`.
        let _ = self.is_registered.subscribe().wait_for(|known| *known).await;
    }

    /// The server said that it does not know the node.
    pub(crate) fn forgotten(&self) {
        self.is_registered.send_replace(false);
    }
}

/// Keeps the node registered until the agent ends.
pub(crate) async fn keep_registered(shared: Arc<Shared>, registration: Arc<Registration>) {
    let (sender, mut news) = mpsc::unbounded_channel();
    let mut watchers = tokio::task::JoinSet::new();
    for driver in shared.drivers.values() {
        watchers.spawn(watch_driver(Arc::clone(driver), sender.clone()));
    }
    drop(sender);
    let mut fingerprints = BTreeMap::new();
    let first_until = Instant::now() + FIRST_FINGERPRINT_MAX;
    while fingerprints.len() < shared.drivers.len() {
        match tokio::time::timeout_at(first_until, news.recv()).await {
            Ok(Some((name, fingerprint))) => fingerprints.insert(name, fingerprint),
            Ok(None) | Err(_) => break,
        };
    }
    let mut known = registration.is_registered.subscribe();
    let mut retry_delay = RETRY_DELAY_MIN;
    let mut told: Option<Node> = None;
    let mut due_at = Instant::now();
    loop {
        let node = node::with_drivers(&shared.node(), &fingerprints, clock::now());
        let must_register = !*known.borrow_and_update() || told.as_ref() != Some(&node);
        if must_register {
            shared.set_node(node.clone());
        }
        if must_register || Instant::now() >= due_at {
            let answer = if must_register {
                shared.link.register(node.clone()).await
            } else {
                shared.link.heartbeat(shared.node_id).await
            };
            match answer {
                Ok(order) => {
                    if must_register {
                        tracing::info!(node.id = %shared.node_id, "node registered");
                    }
                    shared.set_heartbeat(Heartbeat { at: Instant::now(), ttl: order.ttl });
                    told = Some(node);
                    retry_delay = RETRY_DELAY_MIN;
                    due_at = Instant::now() + (order.ttl.to_std() / 2).max(HEARTBEAT_DELAY_MIN);
                    registration.is_registered.send_if_modified(|known| !std::mem::replace(known, true));
                    known.borrow_and_update();
                }
                Err(LinkError::UnknownNode(_)) if !must_register => {
                    registration.forgotten();
                    continue;
                }
                Err(error) => {
                    tracing::warn!(%error, "could not reach the server");
                    due_at = Instant::now() + retry_delay;
                    retry_delay = (retry_delay * 2).min(RETRY_DELAY_MAX);
                    // Nothing below shortens the pause, so that an absent server is not asked without end.
                    tokio::time::sleep_until(due_at).await;
                    continue;
                }
            }
        }
        tokio::select! {
            () = tokio::time::sleep_until(due_at) => {}
            _ = known.changed() => {}
            Some((name, fingerprint)) = news.recv() => {
                fingerprints.insert(name, fingerprint);
            }
        }
    }
}

/// Tells every change of what a driver says of itself.
async fn watch_driver(driver: Arc<dyn Driver>, sender: mpsc::UnboundedSender<(&'static str, Fingerprint)>) {
    loop {
        let fingerprint = driver.fingerprint().await;
        if sender.send((driver.name(), fingerprint)).is_err() {
            return;
        }
        driver.fingerprint_changed().await;
    }
}
