//! The drivers of this node, as its settings want them.

use std::sync::Arc;

use longshore_docker::{DockerDriver, DriverSetup};
use longshore_driver::Driver;
use longshore_engine::Engine;
use longshore_exec::{MockDriver, RawExec, RawExecSetup};
use longshore_model::NodeId;

use crate::client_options;
use crate::error::AgentError;
use crate::roles::Setup;

#[derive(Default)]
pub(crate) struct Drivers {
    pub(crate) all: Vec<Arc<dyn Driver>>,
    /// The one of them that looks for an engine.
    pub(crate) docker: Option<Arc<DockerDriver>>,
}

pub(crate) fn all(setup: &Setup, node: NodeId) -> Result<Drivers, AgentError> {
    let allows = |name: &str| client_options::allows(&setup.config.client.options, name);
    let mut drivers = Drivers::default();
    if allows("docker") {
        let docker = Arc::new(DockerDriver::new(DriverSetup {
            options: setup.docker.clone(),
            engine: Engine::new(setup.docker_endpoint.clone()),
            node,
            state_folder: setup.folders.engine_state.clone(),
            lock_folder: setup.folders.locks.clone(),
        })?);
        drivers.all.push(docker.clone());
        drivers.docker = Some(docker);
    }
    if setup.raw_exec.enabled && allows("raw_exec") {
        let mut raw_exec = RawExecSetup::new(setup.folders.node_state.join("supervisor"), setup.config.dev);
        raw_exec.control_groups = !setup.raw_exec.no_cgroups;
        drivers.all.push(Arc::new(RawExec::new(raw_exec)));
    }
    if setup.mock.enabled && allows("mock_driver") {
        drivers.all.push(Arc::new(MockDriver::new()));
    }
    Ok(drivers)
}
