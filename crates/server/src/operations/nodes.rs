use std::collections::BTreeMap;

use longshore_model::{Eligibility, EvalId, LogIndex, NodeEvent, NodeId};
use longshore_state::{Change, EvaluationChange, NodeChange};

use crate::Server;
use crate::clock::SystemIds;
use crate::error::ServerError;
use crate::nodes::evaluations_for_node;

/// The answer to what concerns a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeAnswer {
    pub evals: Vec<EvalId>,
    pub index: LogIndex,
}

impl Server {
    /// Whether the node takes new allocations.
    pub async fn set_node_eligibility(&self, id: NodeId, eligibility: Eligibility) -> Result<NodeAnswer, ServerError> {
        let written = self
            .proposer()
            .propose(move |state, now| {
                let node = state.node(id).ok_or(ServerError::NotFound("node"))?;
                if node.eligibility == eligibility {
                    return Ok((None, Vec::new()));
                }
                let message = match eligibility {
                    Eligibility::Eligible => "Node marked as eligible for scheduling",
                    Eligibility::Ineligible => "Node marked as ineligible for scheduling",
                };
                let event = NodeEvent {
                    message: message.to_owned(),
                    subsystem: "Cluster".to_owned(),
                    at: now,
                    details: BTreeMap::new(),
                    create_index: LogIndex::default(),
                };
                let evaluations = match eligibility {
                    Eligibility::Eligible => evaluations_for_node(state, node, now, &mut SystemIds),
                    Eligibility::Ineligible => Vec::new(),
                };
                let evals = evaluations.iter().map(|evaluation| evaluation.id).collect();
                let event = Some(event);
                let change = NodeChange::Eligibility { node: id, eligibility, event, evaluations };
                Ok((Some(Change::Node(change)), evals))
            })
            .await?;
        Ok(NodeAnswer { evals: written.value, index: written.index })
    }

    /// Another look at every job that the node concerns.
    pub async fn evaluate_node(&self, id: NodeId) -> Result<NodeAnswer, ServerError> {
        let written = self
            .proposer()
            .propose(move |state, now| {
                let node = state.node(id).ok_or(ServerError::NotFound("node"))?;
                let evaluations = evaluations_for_node(state, node, now, &mut SystemIds);
                let evals: Vec<EvalId> = evaluations.iter().map(|evaluation| evaluation.id).collect();
                let change = Change::Evaluation(EvaluationChange::Upsert(evaluations));
                Ok(((!evals.is_empty()).then_some(change), evals))
            })
            .await?;
        Ok(NodeAnswer { evals: written.value, index: written.index })
    }

    /// Forgets a node, whatever it runs: that is lost then. One that comes back registers anew.
    pub async fn purge_node(&self, id: NodeId) -> Result<NodeAnswer, ServerError> {
        let written = self
            .proposer()
            .propose(move |state, now| {
                let node = state.node(id).ok_or(ServerError::NotFound("node"))?;
                let evaluations = evaluations_for_node(state, node, now, &mut SystemIds);
                let evals = evaluations.iter().map(|evaluation| evaluation.id).collect();
                Ok((Some(Change::Node(NodeChange::Purge { node: id, evaluations })), evals))
            })
            .await?;
        self.pulse().forget(id);
        Ok(NodeAnswer { evals: written.value, index: written.index })
    }
}
