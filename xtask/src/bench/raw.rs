//! The yardstick: the Docker engine, driven over its socket with the very bodies that the agent sends.

use std::fs;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use longshore_harness::{Agent, Body, Engine, Run};
use serde_json::{Map, Value, json};

use super::job::{submit, wait_ended, wait_running};
use crate::shell::Outcome;

/// What a container of the agent was made from.
pub(super) struct Recipe {
    body: Value,
}

/// Fields of a container's description that the engine fills in by itself.
const OWN_FIELDS: [&str; 1] = ["Hostname"];

impl Recipe {
    /// Has the agent make one, and reads what it is made from. Its folders are replaced by others that stay.
    pub(super) fn learn(run: &Run, engine: &Engine, agent: &Agent, network: &str) -> Outcome<Self> {
        let submitted = submit(agent, &format!("recipe-{network}"), "docker", network, 1)?;
        let seen = wait_running(agent, &format!("recipe-{network}"), 1)?;
        let container = engine.containers()?.into_iter().next().ok_or("the agent's container is not there")?;
        let described = engine.inspect_container(&container.id)?;
        submitted.stop(agent)?;
        wait_ended(agent, &seen)?;
        let mut body: Map<String, Value> =
            described.get("Config").and_then(Value::as_object).cloned().unwrap_or_default();
        body.retain(|key, _| !OWN_FIELDS.contains(&key.as_str()));
        // As long, but nobody's: the agent would end what carries its own marks and is not its own.
        if let Some(labels) = body.get_mut("Labels").and_then(Value::as_object_mut) {
            for (key, value) in labels.iter_mut() {
                if ["longshore.agent", "longshore.allocation", "com.hashicorp.nomad.alloc_id"].contains(&key.as_str()) {
                    *value = json!("00000000-0000-0000-0000-00000000000b");
                }
            }
        }
        let mut host = described.get("HostConfig").cloned().ok_or("a container without HostConfig")?;
        if let Some(binds) = host.get_mut("Binds").and_then(Value::as_array_mut) {
            for (number, bind) in binds.iter_mut().enumerate() {
                let text = bind.as_str().unwrap_or_default();
                let (_, target) = text.split_once(':').ok_or_else(|| format!("a mount that is none: {text}"))?;
                let folder = run.dir().join(format!("raw-{number}"));
                fs::create_dir_all(&folder)?;
                *bind = json!(format!("{}:{target}", folder.display()));
            }
        }
        body.insert("HostConfig".to_owned(), host);
        Ok(Self { body: Value::Object(body) })
    }

    /// Creates, inspects and starts one, and returns its id.
    pub(super) fn start(&self, engine: &Engine, name: &str) -> Outcome<String> {
        let path = format!("/containers/create?name={name}");
        let created = engine.call("POST", &path, Body::Json(&self.body))?.success("create")?.json()?;
        let id = created.get("Id").and_then(Value::as_str).ok_or("the engine gave no id")?;
        engine.inspect_container(id)?;
        engine.call("POST", &format!("/containers/{id}/start"), Body::Empty)?.success("start")?;
        Ok(id.to_owned())
    }

    /// Starts so many with so many in flight at once, and removes them again. The time until the last has started.
    pub(super) fn start_many(&self, engine: &Engine, count: usize, flights: usize) -> Outcome<Duration> {
        let (next, made) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        let began = Instant::now();
        std::thread::scope(|scope| -> Result<(), String> {
            let fly = || -> Result<(), String> {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count {
                        return Ok(());
                    }
                    let id = self.start(engine, &format!("raw-{number}")).map_err(|error| error.to_string())?;
                    made.lock().map_err(|error| error.to_string())?.push(id);
                }
            };
            let flights: Vec<_> = (0..flights).map(|_| scope.spawn(fly)).collect();
            flights.into_iter().try_for_each(|it| it.join().map_err(|_| "a flight ended badly".to_owned())?)
        })?;
        let took = began.elapsed();
        for id in made.lock().map_err(|error| error.to_string())?.iter() {
            engine.remove_container(id)?;
        }
        Ok(took)
    }
}
