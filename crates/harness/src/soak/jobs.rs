//! The jobs of a soak, as the API takes them.

use serde_json::{Value, json};

const MILLISECOND: u64 = 1_000_000;
const SECOND: u64 = 1_000 * MILLISECOND;

/// How a task behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// Runs until it is told to end, and then ends at once.
    Steady,
    /// Takes its time to end.
    Slow,
    /// Ends by itself and is started again.
    Restarting,
    /// A batch job that is done after a moment.
    Batch,
    /// Asks the registry at each start.
    Fresh,
}

impl Shape {
    pub(super) const ALL: [Self; 5] = [Self::Steady, Self::Slow, Self::Restarting, Self::Batch, Self::Fresh];

    fn script(self) -> &'static str {
        match self {
            Self::Steady | Self::Fresh => "trap 'exit 0' TERM; while :; do sleep 3600 & wait $!; done",
            Self::Slow => "trap 'sleep 0.6; exit 0' TERM; while :; do sleep 3600 & wait $!; done",
            Self::Restarting => "trap 'exit 0' TERM; sleep 0.7 & wait $!; exit 1",
            Self::Batch => "sleep 0.4",
        }
    }
}

/// A job with one group and one task.
#[derive(Debug, Clone)]
pub(super) struct JobText {
    pub(super) id: String,
    /// The task's name, by which the witness knows it.
    pub(super) task: &'static str,
    pub(super) image: String,
    pub(super) count: u64,
    pub(super) memory_mb: u64,
    pub(super) shape: Shape,
}

impl JobText {
    /// The body of a registration.
    pub(super) fn body(&self) -> Value {
        let batch = self.shape == Shape::Batch;
        let mut job = json!({
            "ID": self.id,
            "Name": self.id,
            "Type": if batch { "batch" } else { "service" },
            "Datacenters": ["dc1"],
            "TaskGroups": [{
                "Name": "g",
                "Count": self.count,
                "RestartPolicy": {
                    "Attempts": 1000, "Interval": 3600 * SECOND, "Delay": 100 * MILLISECOND, "Mode": "delay",
                },
                "EphemeralDisk": { "SizeMB": 10 },
                "Tasks": [{
                    "Name": self.task,
                    "Driver": "docker",
                    "KillTimeout": 5 * SECOND,
                    "Config": {
                        "image": self.image,
                        "command": "/bin/sh",
                        "args": ["-c", self.shape.script()],
                        "force_pull": self.shape == Shape::Fresh,
                    },
                    "LogConfig": { "MaxFiles": 1, "MaxFileSizeMB": 1 },
                    "Resources": { "CPU": 20, "MemoryMB": self.memory_mb },
                }],
            }],
        });
        if let (false, Some(job)) = (batch, job.as_object_mut()) {
            let update = json!({
                "MaxParallel": 1,
                "MinHealthyTime": 100 * MILLISECOND,
                "HealthyDeadline": 30 * SECOND,
                "ProgressDeadline": 60 * SECOND,
            });
            job.insert("Update".to_owned(), update);
        }
        json!({ "Job": job })
    }
}
