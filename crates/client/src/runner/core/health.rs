//! Health for the deployment that the allocation belongs to.

use longshore_model::{HealthCheck, Timestamp};

use super::Core;
use crate::rules::events;
use crate::rules::health::{self, HealthRules, HealthWatch, Verdict};

impl Core {
    pub(super) fn watch_health(&mut self, now: Timestamp) {
        let (Some(deployment), Some(_)) = (self.alloc.deployment, &self.group.update) else { return };
        if self.record.health.is_none_or(|watch| watch.deployment != deployment) {
            self.record.health = Some(HealthWatch { deployment, since: now, decided: None });
            self.step.save_record = true;
        }
        // A person may have decided through the API.
        if let Some(watch) = &mut self.record.health
            && watch.decided.is_none()
            && let Some(status) = self.alloc.deployment_status
            && let Some(healthy) = status.healthy
        {
            watch.decided = Some((healthy, status.timestamp));
            self.step.save_record = true;
        }
    }

    pub(super) fn judge_health(&self, now: Timestamp) -> Option<Verdict> {
        let watch = self.record.health.filter(|watch| watch.decided.is_none())?;
        if self.record.stop.is_some() {
            return None;
        }
        let update = self.group.update.as_ref()?;
        let rules = HealthRules {
            check: update.health_check,
            min_healthy_time: update.min_healthy_time,
            healthy_deadline: update.healthy_deadline,
        };
        let tasks = self.group.tasks.iter();
        let pairs = tasks.filter_map(|task| Some((task, &self.tasks.get(&task.name)?.state)));
        Some(health::judge(&rules, watch.since, pairs, now)).filter(|_| rules.check != HealthCheck::Manual)
    }

    pub(super) fn conclude_health(&mut self, now: Timestamp) {
        let healthy = match self.judge_health(now) {
            None | Some(Verdict::LookAgainAt(_)) => return,
            Some(Verdict::Healthy) => true,
            Some(Verdict::Unhealthy(at_fault)) => {
                for (name, why) in at_fault {
                    self.tell(&name, events::unhealthy(now, &why));
                }
                false
            }
        };
        if let Some(watch) = &mut self.record.health {
            watch.decided = Some((healthy, now));
            self.step.save_record = true;
        }
    }
}
