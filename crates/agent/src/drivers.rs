//! The drivers of this node, as its settings want them.

use std::sync::Arc;

use longshore_docker::{DockerDriver, DriverSetup};
use longshore_driver::Driver;
use longshore_engine::Engine;
use longshore_exec::{MockDriver, RawExec, RawExecOptions, RawExecSetup};
use longshore_settings::{AgentConfig, Refusal, legacy_raw_exec_options};
use longshore_values::Diagnostic;

use crate::error::AgentError;
use crate::roles::Setup;

/// The raw_exec driver's options, and what is to be told about them.
pub(crate) fn raw_exec(config: &AgentConfig) -> Result<(RawExecOptions, Vec<Diagnostic>), Refusal> {
    let legacy = legacy_raw_exec_options(config);
    let decoded = RawExecOptions::decode(&legacy.tree).into_result()?;
    let mut warnings = legacy.warnings;
    warnings.extend(decoded.diagnostics);
    Ok((decoded.value, warnings))
}

pub(crate) fn all(setup: &Setup) -> Result<Vec<Arc<dyn Driver>>, AgentError> {
    let docker = DockerDriver::new(DriverSetup {
        options: setup.docker.clone(),
        engine: Engine::new(setup.docker_endpoint.clone()),
        node: longshore_client::node_id(&setup.folders.node_state)?,
        state_folder: setup.folders.engine_state.clone(),
        lock_folder: setup.folders.locks.clone(),
    })?;
    let mut drivers: Vec<Arc<dyn Driver>> = vec![Arc::new(docker)];
    if setup.raw_exec.enabled {
        let mut raw_exec = RawExecSetup::new(setup.folders.node_state.join("supervisor"), setup.config.dev);
        raw_exec.control_groups = !setup.raw_exec.no_cgroups;
        drivers.push(Arc::new(RawExec::new(raw_exec)));
    }
    // It runs nothing: for trying things out, or where an operator asks for it by name.
    if setup.config.dev || setup.config.plugins.contains_key("mock_driver") {
        drivers.push(Arc::new(MockDriver::new()));
    }
    Ok(drivers)
}
