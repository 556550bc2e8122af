use longshore_api as api;
use longshore_model::Evaluation;

use super::metric::{by_group, counts};
use super::{id, time};

pub(crate) fn evaluation(eval: &Evaluation) -> api::Evaluation {
    api::Evaluation {
        id: eval.id.to_string(),
        namespace: eval.job.namespace.clone(),
        priority: eval.priority.into(),
        kind: eval.kind.word().to_owned(),
        triggered_by: eval.triggered_by.word().to_owned(),
        job_id: eval.job.id.clone(),
        job_modify_index: eval.job_modify_index.0,
        node_id: id(eval.node),
        node_modify_index: eval.node_modify_index.0,
        deployment_id: id(eval.deployment),
        status: eval.status.word().to_owned(),
        status_description: eval.status_description.clone(),
        wait: eval.wait,
        wait_until: time(eval.wait_until),
        next_eval: id(eval.next_eval),
        previous_eval: id(eval.previous_eval),
        blocked_eval: id(eval.blocked_eval),
        failed_tg_allocs: by_group(&eval.failed_groups),
        class_eligibility: eval.class_eligibility.clone(),
        escaped_computed_class: eval.escaped_computed_class,
        queued_allocations: counts(&eval.queued_allocations),
        snapshot_index: eval.snapshot_index.0,
        create_index: eval.create_index.0,
        modify_index: eval.modify_index.0,
        create_time: eval.create_time.as_nanoseconds(),
        modify_time: eval.modify_time.as_nanoseconds(),
        ..api::Evaluation::default()
    }
}

/// An evaluation beside the one that was asked for.
pub(crate) fn stub(eval: &Evaluation) -> api::EvaluationStub {
    api::EvaluationStub {
        id: eval.id.to_string(),
        namespace: eval.job.namespace.clone(),
        priority: eval.priority.into(),
        kind: eval.kind.word().to_owned(),
        triggered_by: eval.triggered_by.word().to_owned(),
        job_id: eval.job.id.clone(),
        node_id: id(eval.node),
        deployment_id: id(eval.deployment),
        status: eval.status.word().to_owned(),
        status_description: eval.status_description.clone(),
        wait_until: time(eval.wait_until),
        next_eval: id(eval.next_eval),
        previous_eval: id(eval.previous_eval),
        blocked_eval: id(eval.blocked_eval),
        create_index: eval.create_index.0,
        modify_index: eval.modify_index.0,
        create_time: eval.create_time.as_nanoseconds(),
        modify_time: eval.modify_time.as_nanoseconds(),
    }
}
