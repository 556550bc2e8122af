use std::collections::BTreeMap;
use std::sync::Arc;

use longshore_model::{Allocation, Deployment, Evaluation, Job, JobKey, LogIndex, Node, NodeId};
use serde::{Deserialize, Serialize};

use crate::apply::wished_nodes;
use crate::{JobSummary, State, Table};

/// The number of the image's form.
const IMAGE_FORM: u32 = 1;

/// Why bytes are no image of a state.
#[derive(Debug, thiserror::Error)]
pub enum BadImage {
    #[error("the snapshot has form {found}, this build reads form {IMAGE_FORM}: a newer Longshore wrote it")]
    NewerForm { found: u32 },
    #[error("the snapshot cannot be understood")]
    Content(#[source] serde_json::Error),
    #[error("the snapshot names job version {0} that it does not hold")]
    MissingJob(usize),
}

#[derive(Deserialize)]
struct Form {
    form: u32,
}

#[derive(Serialize, Deserialize)]
struct Image {
    form: u32,
    index: LogIndex,
    table_indexes: Vec<(Table, LogIndex)>,
    /// Every job version that something below names, once.
    jobs: Vec<Arc<Job>>,
    current: Vec<usize>,
    versions: Vec<Vec<usize>>,
    summaries: Vec<JobSummary>,
    evaluations: Vec<Arc<Evaluation>>,
    allocations: Vec<(usize, Arc<Allocation>)>,
    node_allocations_index: Vec<(NodeId, LogIndex)>,
    deployments: Vec<Arc<Deployment>>,
    nodes: Vec<Arc<Node>>,
}

/// Numbers job versions as they are first met.
#[derive(Default)]
struct Jobs {
    numbers: BTreeMap<(JobKey, LogIndex, u64, LogIndex), usize>,
    list: Vec<Arc<Job>>,
}

impl Jobs {
    fn number(&mut self, job: &Arc<Job>) -> usize {
        let key = (job.key.clone(), job.create_index, job.version, job.modify_index);
        *self.numbers.entry(key).or_insert_with(|| {
            self.list.push(Arc::clone(job));
            self.list.len() - 1
        })
    }
}

impl State {
    /// The whole state as bytes, for a snapshot.
    pub fn to_image(&self) -> Result<Vec<u8>, serde_json::Error> {
        let mut jobs = Jobs::default();
        let image = Image {
            form: IMAGE_FORM,
            index: self.index,
            table_indexes: self.table_indexes.iter().map(|(table, index)| (*table, *index)).collect(),
            current: self.jobs.values().map(|job| jobs.number(job)).collect(),
            versions: self
                .versions
                .values()
                .map(|versions| versions.iter().map(|job| jobs.number(job)).collect())
                .collect(),
            allocations: self
                .allocations
                .values()
                .map(|alloc| (jobs.number(&alloc.job_spec), Arc::clone(alloc)))
                .collect(),
            jobs: jobs.list,
            summaries: self.summaries.values().cloned().collect(),
            evaluations: self.evaluations.values().cloned().collect(),
            node_allocations_index: self.node_allocations_index.iter().map(|(node, index)| (*node, *index)).collect(),
            deployments: self.deployments.values().cloned().collect(),
            nodes: self.nodes.values().cloned().collect(),
        };
        serde_json::to_vec(&image)
    }

    /// The state that `to_image` wrote.
    pub fn from_image(bytes: &[u8]) -> Result<Self, BadImage> {
        let Form { form } = serde_json::from_slice(bytes).map_err(BadImage::Content)?;
        if form != IMAGE_FORM {
            return Err(BadImage::NewerForm { found: form });
        }
        let image: Image = serde_json::from_slice(bytes).map_err(BadImage::Content)?;
        let job = |number: usize| image.jobs.get(number).cloned().ok_or(BadImage::MissingJob(number));
        let mut state = Self {
            index: image.index,
            table_indexes: image.table_indexes.into_iter().collect(),
            summaries: image.summaries.into_iter().map(|summary| (summary.job.clone(), summary)).collect(),
            node_allocations_index: image.node_allocations_index.into_iter().collect(),
            nodes: image.nodes.into_iter().map(|node| (node.id, node)).collect(),
            ..Self::default()
        };
        for number in image.current {
            let job = job(number)?;
            state.jobs.insert(job.key.clone(), job);
        }
        for numbers in image.versions {
            for number in numbers {
                let job = job(number)?;
                state.versions.entry(job.key.clone()).or_default().push_back(job);
            }
        }
        for evaluation in image.evaluations {
            state.evaluations_by_job.entry(evaluation.job.clone()).or_default().insert(evaluation.id);
            state.evaluations.insert(evaluation.id, evaluation);
        }
        for (number, alloc) in image.allocations {
            let mut alloc = Arc::unwrap_or_clone(alloc);
            alloc.job_spec = job(number)?;
            state.allocations_by_job.entry(alloc.job.clone()).or_default().insert(alloc.id);
            state.allocations_by_node.entry(alloc.node).or_default().insert(alloc.id);
            state.allocations_by_evaluation.entry(alloc.eval).or_default().insert(alloc.id);
            let used = state.node_use.entry(alloc.node).or_default();
            if alloc.occupies_node() {
                used.add(&alloc.resources);
            }
            state.allocations.insert(alloc.id, Arc::new(alloc));
        }
        for deployment in image.deployments {
            state.deployments_by_job.entry(deployment.job.clone()).or_default().insert(deployment.id);
            for node in wished_nodes(Some(&deployment)) {
                state.wishes_by_node.entry(node).or_default().insert(deployment.id);
            }
            state.deployments.insert(deployment.id, deployment);
        }
        Ok(state)
    }
}
