//! What every test here needs: a machine with an engine, a registry and a counting proxy, and jobs that sleep.

use std::time::Duration;

use longshore_harness::{
    Agent, AgentSetup, CliOutput, Container, CountingProxy, Engine, Image, Registry, Run, eventually,
};
use serde_json::Value;

/// For what takes an agent and an engine no more than a moment, on a machine that is busy with other tests.
pub(crate) const SOON: Duration = Duration::from_secs(60);

pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_longshore");

/// An engine with a registry and a counting proxy before it. Fields end in this order.
pub(crate) struct Machine {
    pub(crate) proxy: CountingProxy,
    pub(crate) registry: Registry,
    pub(crate) engine: Engine,
    pub(crate) run: Run,
}

impl Machine {
    pub(crate) fn start() -> Self {
        let run = Run::start().unwrap();
        let engine = Engine::start(&run).unwrap();
        let registry = Registry::start(&engine).unwrap();
        let proxy = CountingProxy::start(&engine, &registry).unwrap();
        Self { proxy, registry, engine, run }
    }

    /// Puts a new image into the registry, under tag `1`, and returns it with its name as a job writes it.
    pub(crate) fn push(&self, repository: &str) -> (Image, String) {
        let image = Image::sleeper().unwrap();
        self.registry.push(&image, repository, "1").unwrap();
        (image, self.name(repository))
    }

    pub(crate) fn name(&self, repository: &str) -> String {
        format!("{}/{repository}:1", self.proxy.host())
    }

    /// An agent on this machine's engine, with one agent file beside the general one.
    pub(crate) fn agent(&self, file: &str) -> Agent {
        Agent::start(&self.run, self.setup("agent").file("agent.hcl", file)).unwrap()
    }

    pub(crate) fn setup(&self, name: &str) -> AgentSetup {
        AgentSetup::new(BINARY).named(name).on(&self.engine)
    }

    /// How often the registry was asked about a repository.
    pub(crate) fn requests(&self, repository: &str) -> usize {
        self.proxy.seen_of(repository).len()
    }

    pub(crate) fn has_image(&self, name: &str) -> bool {
        self.engine.image_id(name).unwrap().is_some()
    }

    pub(crate) fn wait_image_gone(&self, within: Duration, name: &str) {
        eventually(within, format!("the removal of {name}"), || {
            if self.has_image(name) { Err("it is there".to_owned()) } else { Ok(()) }
        })
        .unwrap();
    }

    /// Containers of the tasks of a job, by their label, in any state.
    pub(crate) fn containers_of(&self, allocations: &[String]) -> Vec<Container> {
        let mut all = self.engine.containers().unwrap();
        all.retain(|it| {
            it.label("com.hashicorp.nomad.alloc_id").is_some_and(|id| allocations.iter().any(|mine| mine == id))
        });
        all
    }
}

/// A job of one group with one Docker task that sleeps.
#[derive(Clone)]
pub(crate) struct Job {
    pub(crate) id: String,
    pub(crate) image: String,
    pub(crate) count: u32,
    pub(crate) memory: u32,
    /// Lines of the task's `config`.
    pub(crate) config: Vec<String>,
    /// Lines of the task.
    pub(crate) task: Vec<String>,
    /// Lines of the group.
    pub(crate) group: Vec<String>,
}

impl Job {
    pub(crate) fn new(id: &str, image: &str) -> Self {
        Self {
            id: id.to_owned(),
            image: image.to_owned(),
            count: 1,
            memory: 32,
            config: Vec::new(),
            task: Vec::new(),
            group: Vec::new(),
        }
    }

    pub(crate) fn count(mut self, count: u32) -> Self {
        self.count = count;
        self
    }

    pub(crate) fn memory(mut self, memory: u32) -> Self {
        self.memory = memory;
        self
    }

    pub(crate) fn config(mut self, line: &str) -> Self {
        self.config.push(line.to_owned());
        self
    }

    pub(crate) fn task(mut self, line: &str) -> Self {
        self.task.push(line.to_owned());
        self
    }

    pub(crate) fn group(mut self, line: &str) -> Self {
        self.group.push(line.to_owned());
        self
    }

    pub(crate) fn text(&self) -> String {
        let Self { id, image, count, memory, config, task, group } = self;
        let lines = |lines: &[String], indent: &str| lines.join(&format!("\n{indent}"));
        format!(
            r#"job "{id}" {{
  update {{
    max_parallel     = 1
    min_healthy_time = "100ms"
    healthy_deadline = "1m"
  }}
  group "g" {{
    count = {count}
    {group}
    task "main" {{
      driver = "docker"
      {task}
      config {{
        image = "{image}"
        {config}
      }}
      resources {{
        cpu    = 20
        memory = {memory}
      }}
    }}
  }}
}}
"#,
            group = lines(group, "    "),
            task = lines(task, "      "),
            config = lines(config, "        "),
        )
    }
}

/// Runs a job and waits for the end of its deployment.
#[track_caller]
pub(crate) fn run_job(agent: &Agent, job: &Job) -> CliOutput {
    agent.job_run(&job.id, &job.text()).unwrap().success(&format!("run {}", job.id)).unwrap()
}

/// Submits a job and waits for nothing.
#[track_caller]
pub(crate) fn submit(agent: &Agent, job: &Job) -> CliOutput {
    let path = agent.file_path(&format!("jobs/{}.nomad.hcl", job.id));
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, job.text()).unwrap();
    agent
        .cli(&["job", "run", "-detach", path.to_str().unwrap()])
        .unwrap()
        .success(&format!("submit {}", job.id))
        .unwrap()
}

/// Stops a job and waits until none of its containers is left.
#[track_caller]
pub(crate) fn stop_job(machine: &Machine, agent: &Agent, id: &str) {
    agent.cli(&["job", "stop", "-detach", id]).unwrap().success(&format!("stop {id}")).unwrap();
    wait_no_containers(machine, agent, id);
}

#[track_caller]
pub(crate) fn wait_no_containers(machine: &Machine, agent: &Agent, id: &str) {
    let ids: Vec<String> = allocations(agent, id).iter().map(|it| text(it, "ID")).collect();
    eventually(SOON, format!("the end of the containers of {id}"), || {
        let left = machine.containers_of(&ids);
        if left.is_empty() { Ok(()) } else { Err(format!("{left:?}")) }
    })
    .unwrap();
}

/// All allocations of a job, whatever their state.
#[track_caller]
pub(crate) fn allocations(agent: &Agent, id: &str) -> Vec<Value> {
    agent.get(&format!("/v1/job/{id}/allocations?all=true")).unwrap().as_array().cloned().unwrap_or_default()
}

/// Waits until so many allocations of a job run and no other one is meant to, and returns their ids.
#[track_caller]
pub(crate) fn wait_running(agent: &Agent, id: &str, count: usize) -> Vec<String> {
    eventually(SOON, format!("{count} running allocations of {id}"), || {
        let all = agent.get(&format!("/v1/job/{id}/allocations")).map_err(|error| error.to_string())?;
        let meant: Vec<&Value> =
            all.as_array().into_iter().flatten().filter(|it| it["DesiredStatus"] == "run").collect();
        if meant.len() == count && meant.iter().all(|it| it["ClientStatus"] == "running") {
            return Ok(meant.iter().map(|it| text(it, "ID")).collect());
        }
        Err(meant.iter().map(|it| format!("{} {}; ", it["ClientStatus"], it["TaskStates"])).collect())
    })
    .unwrap()
}

/// `image status -json`, a row for each name. Right after its start an agent has not looked at the engine yet, and says so.
#[track_caller]
pub(crate) fn image_rows(agent: &Agent) -> Vec<Value> {
    let said = eventually(SOON, "the agent to have reached the engine", || {
        let said = agent.cli(&["image", "status", "-json"]).map_err(|error| error.to_string())?;
        if said.stderr.contains("not reached yet") { Err(said.stderr) } else { Ok(said) }
    });
    let said = said.unwrap().success("ask for image status").unwrap().json().unwrap();
    said["Images"].as_array().cloned().unwrap_or_else(|| panic!("no Images in {said}"))
}

/// The row of one name, if there is one.
#[track_caller]
pub(crate) fn image_row(agent: &Agent, name: &str) -> Option<Value> {
    image_rows(agent).into_iter().find(|row| row["Name"] == name)
}

/// Waits until nobody holds the image of that name any more and returns its row.
#[track_caller]
pub(crate) fn wait_idle(agent: &Agent, name: &str) -> Value {
    eventually(SOON, format!("{name} to be idle"), || {
        let row = image_row(agent, name).ok_or("there is no such row")?;
        if row["Holds"] == 0 && row["IdleSince"].is_string() { Ok(row) } else { Err(row.to_string()) }
    })
    .unwrap()
}

/// Seconds from `IdleSince` to `DueAt` of a row.
#[track_caller]
pub(crate) fn delay_seconds(row: &Value) -> f64 {
    let at = |key: &str| {
        let text = row[key].as_str().unwrap_or_else(|| panic!("no {key} in {row}"));
        chrono::DateTime::parse_from_rfc3339(text).unwrap_or_else(|error| panic!("{key} = {text}: {error}"))
    };
    (at("DueAt") - at("IdleSince")).num_milliseconds() as f64 / 1e3
}

#[track_caller]
pub(crate) fn check_delay(row: &Value, seconds: f64) {
    let delay = delay_seconds(row);
    assert!((delay - seconds).abs() <= 1.0, "{delay} s instead of {seconds} s: {row}");
}

pub(crate) fn text(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_default().to_owned()
}

/// The texts of the events of an allocation's task, as people read them.
#[track_caller]
pub(crate) fn event_texts(agent: &Agent, allocation: &str, task: &str) -> Vec<String> {
    let facts = agent.get(&format!("/v1/allocation/{allocation}")).unwrap();
    let events = facts["TaskStates"][task]["Events"].as_array().cloned().unwrap_or_default();
    events.iter().map(|event| format!("{}: {}", text(event, "Type"), text(event, "DisplayMessage"))).collect()
}
