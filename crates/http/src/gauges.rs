//! Figures that `/v1/metrics` tells, taken from a snapshot at the moment of asking.

use std::collections::BTreeMap;

use longshore_api::GaugeValue;
use longshore_driver::{ImageCount, ImageReport, ImageRoom};
use longshore_model::{ClientStatus, EvalStatus, JobStatus, Node, NodeId};
use longshore_server::EvaluationCounts;
use longshore_state::State;

type Labels = BTreeMap<String, String>;

/// Gauges in the making.
#[derive(Debug, Default)]
pub(crate) struct Gauges(Vec<GaugeValue>);

impl Gauges {
    fn add(&mut self, name: &str, value: f64, labels: &Labels) {
        self.0.push(GaugeValue { name: name.to_owned(), value, labels: labels.clone() });
    }

    pub(crate) fn of_evaluations(&mut self, counts: EvaluationCounts) {
        for (what, count) in [
            ("broker.total_ready", counts.ready),
            ("broker.total_unacked", counts.unacknowledged),
            ("broker.total_pending", counts.pending),
            ("broker.total_waiting", counts.waiting),
            ("blocked_evals.total_blocked", counts.blocked),
        ] {
            self.add(&format!("nomad.nomad.{what}"), count as f64, &Labels::new());
        }
    }

    pub(crate) fn of_server(&mut self, state: &State) {
        let none = Labels::new();
        for (status, name) in [
            (JobStatus::Pending, "nomad.nomad.job_status.pending"),
            (JobStatus::Running, "nomad.nomad.job_status.running"),
            (JobStatus::Dead, "nomad.nomad.job_status.dead"),
        ] {
            self.add(name, state.jobs().filter(|job| job.status == status).count() as f64, &none);
        }
        for job in state.jobs() {
            let Some(summary) = state.summary(&job.key) else { continue };
            for (group, counts) in &summary.groups {
                let labels = labels([("job", &job.key.id), ("task_group", group), ("namespace", &job.key.namespace)]);
                for (what, count) in [
                    ("queued", counts.queued),
                    ("complete", counts.complete),
                    ("failed", counts.failed),
                    ("running", counts.running),
                    ("starting", counts.starting),
                    ("lost", counts.lost),
                    ("unknown", counts.unknown),
                ] {
                    self.add(&format!("nomad.nomad.job_summary.{what}"), f64::from(count), &labels);
                }
            }
        }
        let blocked = state.evaluations().filter(|eval| eval.status == EvalStatus::Blocked);
        let escaped = blocked.filter(|eval| eval.escaped_computed_class).count();
        self.add("nomad.nomad.blocked_evals.total_escaped", escaped as f64, &none);
        self.add(
            "nomad.nomad.heartbeat.active",
            state.nodes().filter(|node| node.takes_placements()).count() as f64,
            &none,
        );
        self.add("nomad.raft.appliedIndex", state.index().0 as f64, &none);
    }

    pub(crate) fn of_node(&mut self, state: &State, id: NodeId) {
        let Some(node) = state.node(id) else { return };
        let labels = node_labels(node);
        let mut statuses =
            BTreeMap::from([("pending", 0_u32), ("running", 0), ("terminal", 0), ("blocked", 0), ("migrating", 0)]);
        let mut used = longshore_model::Resources::default();
        for alloc in state.allocations_of_node(id) {
            let what = match alloc.client_status {
                ClientStatus::Pending => "pending",
                ClientStatus::Running | ClientStatus::Unknown => "running",
                ClientStatus::Complete | ClientStatus::Failed | ClientStatus::Lost => "terminal",
            };
            *statuses.entry(what).or_default() += 1;
            if alloc.occupies_node() {
                let taken = alloc.resources.total();
                used.cpu_mhz += taken.cpu_mhz;
                used.memory_mb += taken.memory_mb;
                used.disk_mb += taken.disk_mb;
            }
        }
        for (what, count) in statuses {
            self.add(&format!("nomad.client.allocations.{what}"), f64::from(count), &labels);
        }
        let free = node.available();
        for (what, taken, available) in [
            ("cpu", used.cpu_mhz, free.cpu_mhz),
            ("memory", used.memory_mb, free.memory_mb),
            ("disk", used.disk_mb, free.disk_mb),
        ] {
            self.add(&format!("nomad.client.allocated.{what}"), taken as f64, &labels);
            self.add(&format!("nomad.client.unallocated.{what}"), (available - taken) as f64, &labels);
        }
    }

    /// Longshore's own.
    pub(crate) fn of_images(&mut self, images: &[ImageReport]) {
        let mut by_state: BTreeMap<(&str, &str), (u64, u64)> = BTreeMap::new();
        for image in images {
            let key = (image.state.as_str(), image.provenance.as_str());
            let (count, bytes) = by_state.entry(key).or_default();
            *count += 1;
            *bytes += image.size_bytes;
        }
        for ((state, provenance), (count, bytes)) in by_state {
            let labels = labels([("state", state), ("provenance", provenance)]);
            self.add("longshore.images.count", count as f64, &labels);
            self.add("longshore.images.bytes", bytes as f64, &labels);
        }
    }

    /// Longshore's own: who holds images, by the kind of holder.
    pub(crate) fn of_holders(&mut self, images: &[ImageReport]) {
        let mut by_kind: BTreeMap<&str, u64> = BTreeMap::new();
        for holder in images.iter().flat_map(|image| &image.holders) {
            *by_kind.entry(&holder.kind).or_default() += 1;
        }
        for (kind, count) in by_kind {
            self.add("longshore.images.holders", count as f64, &labels([("kind", kind)]));
        }
    }

    /// Longshore's own: what was done with images since the agent's start.
    pub(crate) fn of_image_counts(&mut self, counts: &[ImageCount]) {
        for count in counts {
            let labels = count.labels.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
            self.add(&format!("longshore.images.{}_total", count.what), count.value, &labels);
        }
    }

    /// Longshore's own: the file system that images lie on, and what it is short for.
    pub(crate) fn of_image_room(&mut self, room: Option<&ImageRoom>) {
        let Some(room) = room else { return };
        let none = Labels::new();
        let measured = [
            ("disk_total_bytes", room.disk_total_bytes),
            ("disk_free_bytes", room.disk_free_bytes),
            ("obtained_bytes", Some(room.obtained_bytes)),
        ];
        for (what, bytes) in measured.into_iter().filter_map(|(what, bytes)| Some((what, bytes?))) {
            self.add(&format!("longshore.images.{what}"), bytes as f64, &none);
        }
        for (reason, is_short) in &room.short {
            self.add("longshore.images.pressure", f64::from(u8::from(*is_short)), &labels([("reason", reason)]));
        }
    }

    /// Sorted by name.
    pub(crate) fn into_values(mut self) -> Vec<GaugeValue> {
        self.0.sort_by(|one, other| (&one.name, &one.labels).cmp(&(&other.name, &other.labels)));
        self.0
    }
}

fn labels<const N: usize>(pairs: [(&str, &str); N]) -> Labels {
    pairs.into_iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
}

fn node_labels(node: &Node) -> Labels {
    labels([
        ("node_id", &node.id.to_string()),
        ("datacenter", &node.datacenter),
        ("node_class", if node.class.is_empty() { "none" } else { &node.class }),
        ("node_pool", &node.node_pool),
        ("node_status", node.status.word()),
        ("node_scheduling_eligibility", node.eligibility.word()),
    ])
}

/// The same in Prometheus' text form; the gauges come sorted by name.
pub(crate) fn prometheus(gauges: &[GaugeValue]) -> String {
    let mut text = String::new();
    let mut last = "";
    for gauge in gauges {
        let name: String = gauge.name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        if gauge.name != last {
            text.push_str(&format!("# TYPE {name} gauge\n"));
            last = &gauge.name;
        }
        text.push_str(&name);
        if !gauge.labels.is_empty() {
            let pairs: Vec<String> =
                gauge.labels.iter().map(|(key, value)| format!("{key}=\"{}\"", escaped(value))).collect();
            text.push_str(&format!("{{{}}}", pairs.join(",")));
        }
        text.push_str(&format!(" {}\n", gauge.value));
    }
    text
}

fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_form() {
        let mut gauges = Gauges::default();
        gauges.add("longshore.images.count", 2.0, &labels([("state", "idle"), ("provenance", "a\"b\\c")]));
        gauges.add("longshore.images.count", 1.5, &labels([("state", "held")]));
        gauges.add("nomad.raft.appliedIndex", 7.0, &Labels::new());
        insta::assert_snapshot!(prometheus(&gauges.into_values()), @r#"
        # TYPE longshore_images_count gauge
        longshore_images_count{provenance="a\"b\\c",state="idle"} 2
        longshore_images_count{state="held"} 1.5
        # TYPE nomad_raft_appliedIndex gauge
        nomad_raft_appliedIndex 7
        "#);
    }
}
