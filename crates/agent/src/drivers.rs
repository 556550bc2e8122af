//! The drivers of this node, as its settings want them.

use std::collections::BTreeMap;
use std::sync::Arc;

use longshore_docker::{DockerDriver, DriverSetup};
use longshore_driver::Driver;
use longshore_engine::Engine;
use longshore_exec::{MockDriver, MockOptions, RawExec, RawExecOptions, RawExecSetup};
use longshore_model::NodeId;
use serde_json::{Value, json};

use crate::error::AgentError;
use crate::roles::Setup;
use crate::{client_options, docker};

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
            engine: Engine::with_version(setup.docker_endpoint.clone(), setup.docker_api_version),
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

/// The options of all drivers under their names in the agent file, as `/v1/agent/self` tells them.
pub(crate) fn shown(
    docker: &longshore_docker::Options,
    raw_exec: RawExecOptions,
    mock: MockOptions,
) -> BTreeMap<&'static str, Value> {
    let raw_exec = json!({ "enabled": raw_exec.enabled, "no_cgroups": raw_exec.no_cgroups });
    let mock = json!({ "enabled": mock.enabled });
    [("docker", docker::shown(docker)), ("raw_exec", raw_exec), ("mock_driver", mock)].into()
}
