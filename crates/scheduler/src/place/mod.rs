//! Finds a node for each placement: what is feasible, what has room, which is best.

mod constraint;
mod feasible;
mod ports;
mod rank;
mod spread;

use std::collections::BTreeMap;
use std::sync::Arc;

use longshore_model::{
    AllocDeploymentStatus, AllocId, AllocMetric, AllocatedGroup, AllocatedTask, Allocation, ClientStatus, DeploymentId,
    DesiredStatus, DesiredTransition, Evaluation, IdSource, Job, LogIndex, Node, NodeId, NodeScore, RescheduleEvent,
    RescheduleTracker, TaskGroup, Timestamp,
};
use longshore_state::{AllocStop, NodeUse, State};
use longshore_values::Glob;

use crate::Outcome;
use crate::reconcile::{Placement, STOP_UPDATED, next_delay};
#[cfg(test)]
pub(crate) use constraint::COMPILED;
use constraint::Patterns;
use feasible::{Feasibility, Verdict};

/// How many candidates a placement's metrics show.
const SHOWN_SCORES: usize = 5;

/// A node with what is taken there, this plan included.
struct Candidate {
    node: Arc<Node>,
    used: NodeUse,
    /// Groups of this job's allocations there, one entry an allocation.
    job_groups: Vec<(AllocId, String)>,
}

/// Places one evaluation's allocations one after another; each sees those before it.
pub(crate) struct Stack<'a> {
    state: &'a State,
    evaluation: &'a Evaluation,
    job: &'a Arc<Job>,
    candidates: Vec<Candidate>,
    nodes_in_pool: u32,
    nodes_available: BTreeMap<String, u32>,
    feasibility: Feasibility,
    patterns: Patterns,
    misfits: Vec<Placement>,
}

impl<'a> Stack<'a> {
    pub(crate) fn new(state: &'a State, evaluation: &'a Evaluation, job: &'a Arc<Job>, stops: &[AllocStop]) -> Self {
        let datacenters: Vec<Glob> = job.datacenters.iter().map(Glob::new).collect();
        // One that is named and has no node is told as such.
        let named = job.datacenters.iter().filter(|name| !name.contains('*')).map(|name| (name.clone(), 0));
        let (mut nodes_in_pool, mut nodes_available) = (0, named.collect::<BTreeMap<String, u32>>());
        let mut candidates = Vec::new();
        for node in state.nodes() {
            if job.node_pool != "all" && node.node_pool != job.node_pool {
                continue;
            }
            nodes_in_pool += 1;
            if !node.takes_placements() || !datacenters.iter().any(|glob| glob.matches(&node.datacenter)) {
                continue;
            }
            *nodes_available.entry(node.datacenter.clone()).or_default() += 1;
            candidates.push(Candidate {
                node: Arc::clone(node),
                used: state.node_use(node.id),
                job_groups: Vec::new(),
            });
        }
        let mut stack = Self {
            state,
            evaluation,
            job,
            candidates,
            nodes_in_pool,
            nodes_available,
            feasibility: Feasibility::default(),
            patterns: Patterns::default(),
            misfits: Vec::new(),
        };
        for alloc in state.allocations_of_job(&job.key) {
            if alloc.is_terminal() {
                continue;
            }
            if let Some(candidate) = stack.candidate_mut(alloc.node) {
                candidate.job_groups.push((alloc.id, alloc.group.clone()));
            }
        }
        for stop in stops {
            stack.release(stop.alloc);
        }
        stack
    }

    fn candidate_mut(&mut self, node: NodeId) -> Option<&mut Candidate> {
        // `State::nodes` is sorted by id, and so are the candidates.
        let at = self.candidates.binary_search_by_key(&node, |candidate| candidate.node.id).ok()?;
        self.candidates.get_mut(at)
    }

    /// An allocation of this job goes: its room is free for what this plan places.
    fn release(&mut self, id: AllocId) {
        let Some(alloc) = self.state.allocation(id).cloned() else { return };
        let Some(candidate) = self.candidate_mut(alloc.node) else { return };
        if alloc.occupies_node() {
            candidate.used.remove(&alloc.resources);
        }
        candidate.job_groups.retain(|(known, _)| *known != id);
    }

    /// Which classes of nodes could ever take one of the groups that were tried.
    pub(crate) fn class_eligibility(&self) -> BTreeMap<String, bool> {
        self.feasibility.class_eligibility()
    }

    /// Whether a constraint looks at what is unique to a node.
    pub(crate) fn escaped(&self) -> bool {
        self.feasibility.escaped(self.job)
    }

    /// Updates that their node does not allow any more: they are replaced instead.
    pub(crate) fn take_misfits(&mut self) -> Vec<Placement> {
        std::mem::take(&mut self.misfits)
    }

    pub(crate) fn update_in_place(
        &mut self,
        known: &Arc<Allocation>,
        deployment: Option<DeploymentId>,
        evaluation: &Evaluation,
        outcome: &mut Outcome,
    ) {
        let Some(group) = self.job.group(&known.group) else { return };
        let fits = self.state.node(known.node).is_some_and(|node| {
            matches!(self.feasibility.check(self.job, group, node, &self.patterns), Verdict::Feasible)
        });
        if !fits {
            self.misfits.push(Placement {
                group: known.group.clone(),
                name: known.name.clone(),
                previous: Some(Arc::clone(known)),
                rescheduled: false,
                stop_when_placed: Some(AllocStop {
                    alloc: known.id,
                    description: STOP_UPDATED.to_owned(),
                    client_status: None,
                    follow_up: None,
                }),
                stop_in_any_case: None,
                images: Vec::new(),
            });
            return;
        }
        let mut alloc = Allocation::clone(known);
        alloc.eval = evaluation.id;
        alloc.job_version = self.job.version;
        alloc.job_spec = Arc::clone(self.job);
        if group.roll_out().is_some() && deployment.is_some() {
            alloc.deployment = deployment;
            alloc.deployment_status = None;
        }
        outcome.plan.places.push(alloc);
    }

    /// The allocation on its node, or why there is none. `only` is the one node that it may be.
    pub(crate) fn place(
        &mut self,
        placement: &Placement,
        only: Option<NodeId>,
        deployment: Option<DeploymentId>,
        now: Timestamp,
        ids: &mut dyn IdSource,
    ) -> Result<Allocation, Box<AllocMetric>> {
        let mut metric = AllocMetric {
            nodes_in_pool: self.nodes_in_pool,
            nodes_available: self.nodes_available.clone(),
            ..AllocMetric::default()
        };
        let job = Arc::clone(self.job);
        let Some(group) = job.group(&placement.group) else { return Err(Box::new(metric)) };
        if let Some(stop) = &placement.stop_when_placed {
            self.release(stop.alloc);
        }
        let seed = ids.next_id();
        let found = self.best(group, placement, only, &mut metric).and_then(|(at, ports)| {
            let candidate = self.candidates.get(at)?;
            Some((at, ports.pick(&candidate.node, &candidate.used, seed)?))
        });
        let Some((at, ports)) = found else {
            if let (Some(stop), None) = (&placement.stop_when_placed, &placement.stop_in_any_case) {
                self.take_back(stop.alloc);
            }
            return Err(Box::new(metric));
        };
        let Some(candidate) = self.candidates.get_mut(at) else { return Err(Box::new(metric)) };
        let id = AllocId::fresh(ids);
        let network = candidate.node.networks.first();
        let resources = AllocatedGroup {
            tasks: group
                .tasks
                .iter()
                .map(|task| {
                    let ask = &task.resources;
                    let given = AllocatedTask {
                        cpu_mhz: ask.cpu_mhz,
                        memory_mb: ask.memory_mb,
                        // Memory is not oversubscribed: a ceiling above it is ignored, as its owner was warned.
                        memory_max_mb: 0,
                    };
                    (task.name.clone(), given)
                })
                .collect(),
            disk_mb: group.ephemeral_disk.size_mb,
            ports,
            network_mode: group.networks.first().map(|network| network.mode.clone()),
            network_ip: network.map(|network| network.ip.clone()).unwrap_or_default(),
            network_device: network.map(|network| network.device.clone()).unwrap_or_default(),
        };
        candidate.used.add(&resources);
        candidate.job_groups.push((id, group.name.clone()));
        let node = Arc::clone(&candidate.node);
        let in_deployment = deployment.filter(|_| group.roll_out().is_some());
        Ok(Allocation {
            id,
            eval: self.evaluation.id,
            node: node.id,
            node_name: node.name.clone(),
            job: job.key.clone(),
            job_version: job.version,
            job_spec: Arc::clone(&job),
            group: group.name.clone(),
            name: placement.name.clone(),
            resources,
            desired_status: DesiredStatus::Run,
            desired_description: String::new(),
            desired_transition: DesiredTransition::default(),
            client_status: ClientStatus::Pending,
            client_description: String::new(),
            task_states: BTreeMap::new(),
            deployment: in_deployment,
            deployment_status: None::<AllocDeploymentStatus>,
            network_status: None,
            previous_alloc: placement.previous.as_ref().map(|previous| previous.id),
            next_alloc: None,
            followup_eval: None,
            reschedule_tracker: tracker(placement, group, now),
            metrics: metric,
            create_index: LogIndex::default(),
            modify_index: LogIndex::default(),
            alloc_modify_index: LogIndex::default(),
            create_time: now,
            modify_time: now,
        })
    }

    /// Undoes `release`: what could not be replaced stays.
    fn take_back(&mut self, id: AllocId) {
        let Some(alloc) = self.state.allocation(id).cloned() else { return };
        let Some(candidate) = self.candidate_mut(alloc.node) else { return };
        if alloc.occupies_node() {
            candidate.used.add(&alloc.resources);
        }
        if !alloc.is_terminal() {
            candidate.job_groups.push((id, alloc.group.clone()));
        }
    }

    fn best(
        &mut self,
        group: &TaskGroup,
        placement: &Placement,
        only: Option<NodeId>,
        metric: &mut AllocMetric,
    ) -> Option<(usize, ports::PortPlan)> {
        let spreads = spread::Spreads::new(self.job, group, &self.candidates, self.state);
        let penalised = penalised_nodes(placement);
        let ask = group.total_ask();
        let mut best: Option<(f64, u64, usize, ports::PortPlan)> = None;
        let mut scores: Vec<NodeScore> = Vec::new();
        for (at, candidate) in self.candidates.iter().enumerate() {
            metric.nodes_evaluated += 1;
            let node = &candidate.node;
            if let Verdict::Filtered(reason) = self.feasibility.check(self.job, group, node, &self.patterns) {
                filtered(metric, node, reason);
                continue;
            }
            if let Some(reason) = feasible::distinct(self.job, group, &self.candidates, candidate) {
                filtered(metric, node, reason);
                continue;
            }
            let ports = match ports::PortPlan::new(group, node, &candidate.used) {
                Ok(ports) => ports,
                Err(dimension) => {
                    exhausted(metric, node, dimension);
                    continue;
                }
            };
            if let Some(dimension) = candidate.used.exhausted_by(ask, node.available()) {
                exhausted(metric, node, dimension.to_owned());
                continue;
            }
            let score =
                rank::score(self.job, group, candidate, ask, &spreads, &self.patterns, penalised.contains(&node.id));
            let tie = tie_breaker(self.evaluation, node.id);
            let may_be = only.is_none_or(|only| only == node.id);
            let is_better = best.as_ref().is_none_or(|(known, known_tie, _, _)| {
                score.normalized > *known || score.normalized == *known && tie < *known_tie
            });
            if may_be && is_better {
                best = Some((score.normalized, tie, at, ports));
            }
            keep_score(&mut scores, score);
        }
        metric.scores = scores;
        best.map(|(_, _, at, ports)| (at, ports))
    }
}

/// The best few, best first.
fn keep_score(scores: &mut Vec<NodeScore>, score: NodeScore) {
    let at = scores.partition_point(|known| known.normalized >= score.normalized);
    if at < SHOWN_SCORES {
        scores.insert(at, score);
        scores.truncate(SHOWN_SCORES);
    }
}

fn filtered(metric: &mut AllocMetric, node: &Node, reason: String) {
    metric.nodes_filtered += 1;
    *metric.constraint_filtered.entry(reason).or_default() += 1;
    if !node.class.is_empty() {
        *metric.class_filtered.entry(node.class.clone()).or_default() += 1;
    }
}

fn exhausted(metric: &mut AllocMetric, node: &Node, dimension: String) {
    metric.nodes_exhausted += 1;
    *metric.dimension_exhausted.entry(dimension).or_default() += 1;
    if !node.class.is_empty() {
        *metric.class_exhausted.entry(node.class.clone()).or_default() += 1;
    }
}

/// Equal scores are decided by a mix of evaluation and node, so that jobs do not all start on the first node.
fn tie_breaker(evaluation: &Evaluation, node: NodeId) -> u64 {
    let mut mixed = evaluation.id.as_u128() ^ node.as_u128().rotate_left(64);
    mixed = (mixed ^ (mixed >> 67)).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
    u64::try_from((mixed >> 64) & u128::from(u64::MAX)).unwrap_or_default()
}

/// Where the failed one and those before it were.
fn penalised_nodes(placement: &Placement) -> Vec<NodeId> {
    let Some(previous) = placement.previous.as_ref().filter(|_| placement.rescheduled) else { return Vec::new() };
    let before = previous.reschedule_tracker.events.iter().map(|event| event.previous_node);
    before.chain(std::iter::once(previous.node)).collect()
}

/// The history that a rescheduled allocation carries on.
fn tracker(placement: &Placement, group: &TaskGroup, now: Timestamp) -> RescheduleTracker {
    let (Some(previous), Some(policy)) = (&placement.previous, &group.reschedule) else {
        return RescheduleTracker::default();
    };
    if !placement.rescheduled {
        return RescheduleTracker::default();
    }
    const KEPT_WHEN_UNLIMITED: usize = 5;
    let mut events: Vec<RescheduleEvent> = previous.reschedule_tracker.events.clone();
    if !policy.unlimited {
        events.retain(|event| event.at > now.minus(policy.interval));
    }
    events.push(RescheduleEvent {
        at: now,
        previous_alloc: previous.id,
        previous_node: previous.node,
        delay: next_delay(previous, policy),
    });
    if policy.unlimited && events.len() > KEPT_WHEN_UNLIMITED {
        events.drain(..events.len() - KEPT_WHEN_UNLIMITED);
    }
    RescheduleTracker { events }
}
