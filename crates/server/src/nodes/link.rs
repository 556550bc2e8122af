use std::time::Duration;

use async_trait::async_trait;
use longshore_link::{AllocationReport, HeartbeatOrder, LinkError, NodeAllocations, ServerLink};
use longshore_model::{LogIndex, Node, NodeId, NodeStatus, WishReport};
use longshore_state::{Change, NodeChange};
use tokio::sync::oneshot;

use super::{Report, evaluations_for_node, versions, wishes};
use crate::Server;
use crate::clock::SystemIds;
use crate::error::ServerError;

/// How long a node waits for its allocations to change before it is answered with what it knows.
const WATCH_WAIT: Duration = Duration::from_secs(300);

#[async_trait]
impl ServerLink for Server {
    async fn register(&self, node: Node) -> Result<HeartbeatOrder, LinkError> {
        let id = node.id;
        let written = self
            .proposer()
            .propose(move |state, now| {
                let mut node = node;
                node.status = NodeStatus::Ready;
                let known = state.node(id);
                if known.is_some_and(|known| says_the_same(known, &node)) {
                    return Ok((None, ()));
                }
                let evaluations = evaluations_for_node(state, &node, now, &mut SystemIds);
                Ok((Some(Change::Node(NodeChange::Register { node: Box::new(node), evaluations })), ()))
            })
            .await;
        written.map_err(|why| why.into_link("register the node", id))?;
        Ok(HeartbeatOrder { ttl: self.pulse().heard(id) })
    }

    async fn heartbeat(&self, node: NodeId) -> Result<HeartbeatOrder, LinkError> {
        let known = self.snapshot().node(node).map(|known| known.status).ok_or(LinkError::UnknownNode(node))?;
        if known != NodeStatus::Ready {
            let written = self
                .proposer()
                .propose(move |state, now| {
                    let known = state.node(node).ok_or(ServerError::NotFound("node"))?;
                    if known.status == NodeStatus::Ready {
                        return Ok((None, ()));
                    }
                    let evaluations = evaluations_for_node(state, known, now, &mut SystemIds);
                    let status = NodeStatus::Ready;
                    Ok((Some(Change::Node(NodeChange::Status { node, status, event: None, evaluations })), ()))
                })
                .await;
            written.map_err(|why| why.into_link("mark the node as ready", node))?;
            tracing::info!(node.id = %node, "node is heard again");
        }
        Ok(HeartbeatOrder { ttl: self.pulse().heard(node) })
    }

    async fn watch_allocations(&self, node: NodeId, after: LogIndex) -> Result<NodeAllocations, LinkError> {
        let state = tokio::select! {
            state = self.published().wait_for_node(node, after, WATCH_WAIT) => state,
            () = self.end().cancelled() => return Err(LinkError::ShuttingDown),
        };
        if state.node(node).is_none() {
            return Err(LinkError::UnknownNode(node));
        }
        Ok(NodeAllocations {
            index: state.node_allocations_index(node),
            allocations: state.allocations_of_node(node).cloned().collect(),
            wishes: wishes::of_node(&state, node),
            earlier: versions::of_node(&state, node),
        })
    }

    async fn report(&self, node: NodeId, reports: Vec<AllocationReport>) -> Result<(), LinkError> {
        if reports.is_empty() {
            return Ok(());
        }
        if self.snapshot().node(node).is_none() {
            return Err(LinkError::UnknownNode(node));
        }
        let (reply, answer) = oneshot::channel();
        self.reports().send(Report { reports, reply }).await.map_err(|_| LinkError::ShuttingDown)?;
        let outcome = answer.await.map_err(|_| LinkError::ShuttingDown)?;
        outcome.map_err(|why| why.into_link("write down the report", node))
    }

    async fn report_images(&self, node: NodeId, reports: Vec<WishReport>) -> Result<(), LinkError> {
        let written = self
            .proposer()
            .propose(move |state, now| {
                state.node(node).ok_or(ServerError::NotFound("node"))?;
                Ok((wishes::answered(state, node, reports, now, &mut SystemIds), ()))
            })
            .await;
        written.map(|_| ()).map_err(|why| why.into_link("write down the report on images", node))
    }
}

/// Whether a registration tells nothing that is not known: most are repetitions after a start of the agent.
fn says_the_same(known: &Node, told: &Node) -> bool {
    let mut told = told.clone();
    told.status_description.clone_from(&known.status_description);
    told.status_updated_at = known.status_updated_at;
    told.eligibility = known.eligibility;
    told.events.clone_from(&known.events);
    told.create_index = known.create_index;
    told.modify_index = known.modify_index;
    *known == told
}
