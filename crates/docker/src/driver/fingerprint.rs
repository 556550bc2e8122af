//! What the node tells of this driver.

use std::collections::BTreeMap;

use longshore_driver::Fingerprint;
use longshore_engine::Engine;

use super::shared::{Books, Shared};
use crate::image::{EngineState, with_causes};

pub(crate) async fn fingerprint(shared: &Shared) -> Fingerprint {
    shared.see();
    let engine = &shared.engine;
    let version = match engine.version().await {
        Ok(version) => version,
        Err(error) => {
            let seen = *shared.engine_state.borrow() != EngineState::Unknown
                && matches!(&*shared.books.borrow(), Books::Open { .. });
            return Fingerprint {
                // An engine that was there once is a sick one, not an absent one.
                detected: seen,
                healthy: false,
                description: format!("Failed to connect to docker daemon: {}", with_causes(&error)),
                attributes: BTreeMap::new(),
            };
        }
    };
    let mut attributes = BTreeMap::new();
    let mut set = |key: &str, value: String| attributes.insert(format!("driver.docker{key}"), value);
    set("", "1".to_owned());
    set(".version", version.version);
    set(".os_type", version.os);
    if shared.options.allow_privileged {
        set(".privileged.enabled", "true".to_owned());
    }
    if shared.options.volumes.enabled {
        set(".volumes.enabled", "true".to_owned());
    }
    if shared.options.pids_limit > 0 {
        set(".pids.limit", shared.options.pids_limit.to_string());
    }
    if let Some(gateway) = bridge_gateway(engine).await {
        set(".bridge_ip", gateway);
    }
    match engine.info().await {
        Ok(info) => {
            let runtimes: Vec<&str> = info.runtimes.keys().map(String::as_str).collect();
            set(".runtimes", runtimes.join(","));
        }
        Err(error) => tracing::warn!(error = %with_causes(&error), "the Docker engine does not tell about itself"),
    }
    let (healthy, description) = health(shared);
    Fingerprint { detected: true, healthy, description, attributes }
}

fn health(shared: &Shared) -> (bool, String) {
    if *shared.engine_state.borrow() == EngineState::Other {
        return (
            false,
            "Another Docker engine listens at this address than at the start: restart the agent".to_owned(),
        );
    }
    match &*shared.books.borrow() {
        Books::Broken { why } => (false, why.clone()),
        Books::Open { note: Some(note), .. } => (true, format!("Healthy, but {note}")),
        Books::Open { note: None, .. } | Books::Opening { .. } => (true, "Healthy".to_owned()),
    }
}

async fn bridge_gateway(engine: &Engine) -> Option<String> {
    match engine.network("bridge").await {
        Ok(network) => network.gateway().map(str::to_owned),
        Err(error) => {
            tracing::debug!(error = %with_causes(&error), "the network named bridge cannot be inspected");
            None
        }
    }
}
