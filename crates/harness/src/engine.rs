//! A private Docker engine, and a plain client for it.
//!
//! It has its own containerd (an engine that finds the machine's would share it), data, sockets, control group and
//! network namespace. Its processes can be killed and started again on the same data.

use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::{
    Address, Body, EventRecorder, HarnessError, Image, Namespace, Process, ProcessIdentity, Response, Result, Run,
    eventually, http, program,
};

/// How long a single call may stay silent.
const PATIENCE: Duration = Duration::from_secs(60);
const START_DEADLINE: Duration = Duration::from_secs(60);

/// What differs from engine to engine.
#[derive(Debug, Clone, Default)]
pub struct EngineSetup {
    /// Containers go on while the engine is down.
    pub live_restore: bool,
    /// Size in bytes of a file system of its own for the engine's data, to be filled; none: the run's folder.
    pub disk_bytes: Option<u64>,
}

/// A private engine. Ends with everything it runs when dropped.
#[derive(Debug)]
pub struct Engine {
    run: Run,
    namespace: Namespace,
    setup: EngineSetup,
    socket: PathBuf,
    containerd: Option<Process>,
    dockerd: Option<Process>,
    starts: u32,
}

/// A row of the engine's list of images.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ImageListing {
    /// The image id, `sha256:…`.
    pub id: String,
    /// Names with a tag, sorted.
    pub tags: Vec<String>,
    /// Names with a digest, sorted.
    pub digests: Vec<String>,
}

/// A row of the engine's list of containers, in any state.
#[derive(Debug, Clone)]
pub struct Container {
    /// Its id.
    pub id: String,
    /// Its name without the slash.
    pub name: String,
    /// The image as the engine shows it.
    pub image: String,
    /// The image's id.
    pub image_id: String,
    /// `created`, `running`, `exited`, …
    pub state: String,
    /// Its labels.
    pub labels: Value,
}

impl Container {
    /// A label's value.
    pub fn label(&self, key: &str) -> Option<&str> {
        self.labels.get(key).and_then(Value::as_str)
    }
}

/// What became of a removal by hand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Removal {
    /// Done, with the engine's list of what was untagged and deleted.
    Done(Vec<String>),
    /// There was no such image.
    Absent,
    /// Refused, with the engine's reason.
    Conflict(String),
}

/// A process that stands still, and goes on when this is dropped.
#[derive(Debug)]
pub struct Held {
    process: Option<ProcessIdentity>,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.process.inspect(|process| process.signal(Signal::SIGCONT));
    }
}

impl Engine {
    /// Starts an engine with the usual setup.
    ///
    /// # Errors
    /// When a program is missing, or the engine does not answer in time; its last lines are in the text.
    pub fn start(run: &Run) -> Result<Self> {
        Self::start_with(run, EngineSetup::default())
    }

    /// Starts an engine.
    ///
    /// # Errors
    /// As for [`Engine::start`].
    pub fn start_with(run: &Run, setup: EngineSetup) -> Result<Self> {
        let namespace = Namespace::create(run)?;
        let socket = run.dir().join("d.sock");
        run.write("engine/daemon.json", "{}")?;
        run.write("engine/containerd.toml", containerd_config(run))?;
        if let Some(bytes) = setup.disk_bytes {
            run.mount_disk("data", bytes)?;
        }
        let mut engine =
            Self { run: run.clone(), namespace, setup, socket, containerd: None, dockerd: None, starts: 0 };
        engine.resume()?;
        Ok(engine)
    }

    /// Starts it again, on the same data, after [`Engine::kill9`] or [`Engine::stop`].
    ///
    /// # Errors
    /// As for [`Engine::start`].
    pub fn resume(&mut self) -> Result<()> {
        self.starts += 1;
        let address = self.containerd_socket();
        if self.containerd.is_none() {
            let mut command = self.namespace.command(&program("containerd", "docker.io")?)?;
            command.arg("--config").arg(self.run.dir().join("engine/containerd.toml"));
            self.containerd = Some(Process::spawn(&self.run, "containerd", command)?);
            eventually(START_DEADLINE, "the socket of the private containerd", || {
                std::os::unix::net::UnixStream::connect(&address).map(drop).map_err(|error| error.to_string())
            })?;
        }
        let dir = self.run.dir();
        let mut command = self.namespace.command(&program("dockerd", "docker.io")?)?;
        command
            .arg("--config-file")
            .arg(dir.join("engine/daemon.json"))
            .arg("--data-root")
            .arg(dir.join("data"))
            .arg("--exec-root")
            .arg(dir.join("exec"))
            .arg("--pidfile")
            .arg(dir.join("d.pid"))
            .arg(format!("--containerd={}", address.display()))
            .arg(format!("--host=unix://{}", self.socket.display()))
            .arg(format!("--cgroup-parent=/{}", self.run.id()))
            .args(["--exec-opt", "native.cgroupdriver=cgroupfs"])
            .args(["--iptables=false", "--ip6tables=false", "--ip-masq=false"]);
        if self.setup.live_restore {
            command.arg("--live-restore");
        }
        self.dockerd = Some(Process::spawn(&self.run, "dockerd", command)?);
        self.wait_ready()
    }

    fn wait_ready(&mut self) -> Result<()> {
        let address = self.address();
        let dockerd = &mut self.dockerd;
        eventually(START_DEADLINE, "the private Docker engine to answer", || {
            if let Some(process) = dockerd.as_mut()
                && let Ok(Some(status)) = process.ended()
            {
                return Err(format!("dockerd ended ({status}); its last lines:\n{}", process.log_tail(12)));
            }
            match http::request(&address, "GET", "/_ping", &[], Body::Empty, PATIENCE) {
                Ok(answer) if answer.status == 200 => Ok(()),
                Ok(answer) => Err(format!("status {}", answer.status)),
                Err(error) => {
                    Err(format!("{error}; {}", dockerd.as_ref().map(|it| it.log_tail(6)).unwrap_or_default()))
                }
            }
        })
    }

    /// Stops the engine's containerd where it is, until what this gives is dropped: whatever the engine asks of it meanwhile
    /// takes that long.
    pub fn hold_containerd(&self) -> Held {
        let process = self.containerd.as_ref().and_then(Process::identity);
        process.inspect(|process| process.signal(Signal::SIGSTOP));
        Held { process }
    }

    /// Kills the engine with its containerd (9). Containers and their shims go on.
    pub fn kill9(&mut self) {
        for process in [self.dockerd.take(), self.containerd.take()].into_iter().flatten() {
            drop(process);
        }
    }

    /// Ends the engine in order.
    ///
    /// # Errors
    /// When it has not ended within 30 s; it is killed then.
    pub fn stop(&mut self) -> Result<()> {
        for mut process in [self.dockerd.take(), self.containerd.take()].into_iter().flatten() {
            process.end(Signal::SIGTERM, Duration::from_secs(30))?;
        }
        Ok(())
    }

    /// How often it has been started.
    pub fn starts(&self) -> u32 {
        self.starts
    }

    /// The run that it belongs to.
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// Its network namespace.
    pub fn namespace(&self) -> &Namespace {
        &self.namespace
    }

    /// Its socket.
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// Its address as `DOCKER_HOST` and an agent's `endpoint` want it.
    pub fn endpoint(&self) -> String {
        format!("unix://{}", self.socket.display())
    }

    /// Where its API is.
    pub fn address(&self) -> Address {
        Address::Unix(self.socket.clone())
    }

    /// The folder of its data.
    pub fn data_root(&self) -> PathBuf {
        self.run.dir().join("data")
    }

    /// Starts to record its events.
    pub fn record_events(&self) -> EventRecorder {
        EventRecorder::start(self.address())
    }

    /// One call of its API.
    ///
    /// # Errors
    /// When no answer comes; the answer's status is the caller's to judge.
    pub fn call(&self, method: &str, path: &str, body: Body<'_>) -> Result<Response> {
        http::request(&self.address(), method, path, &[], body, PATIENCE)
    }

    fn get(&self, path: &str) -> Result<Value> {
        self.call("GET", path, Body::Empty)?.success(&format!("ask the engine for {path}"))?.json()
    }

    /// Its images, intermediate ones left out, sorted.
    ///
    /// # Errors
    /// When the engine does not list them.
    pub fn images(&self) -> Result<Vec<ImageListing>> {
        let list = self.get("/images/json")?;
        let mut images: Vec<ImageListing> = rows(&list)
            .map(|row| ImageListing {
                id: text(row, "Id"),
                tags: names(row, "RepoTags"),
                digests: names(row, "RepoDigests"),
            })
            .collect();
        images.sort();
        Ok(images)
    }

    /// The id of the image of that name, or none.
    ///
    /// # Errors
    /// When the engine does not say.
    pub fn image_id(&self, name: &str) -> Result<Option<String>> {
        let answer = self.call("GET", &format!("/images/{name}/json"), Body::Empty)?;
        if answer.status == 404 {
            return Ok(None);
        }
        Ok(Some(text(&answer.success(&format!("inspect image {name}"))?.json()?, "Id")))
    }

    /// Its containers in any state.
    ///
    /// # Errors
    /// When the engine does not list them.
    pub fn containers(&self) -> Result<Vec<Container>> {
        let list = self.get("/containers/json?all=1")?;
        Ok(rows(&list)
            .map(|row| Container {
                id: text(row, "Id"),
                name: names(row, "Names")
                    .first()
                    .map(|name| name.trim_start_matches('/').to_owned())
                    .unwrap_or_default(),
                image: text(row, "Image"),
                image_id: text(row, "ImageID"),
                state: text(row, "State"),
                labels: row.get("Labels").cloned().unwrap_or_default(),
            })
            .collect())
    }

    /// The engine's whole description of a container.
    ///
    /// # Errors
    /// When there is none of that name or id.
    pub fn inspect_container(&self, name: &str) -> Result<Value> {
        self.get(&format!("/containers/{name}/json"))
    }

    /// Loads an image under the names given.
    ///
    /// # Errors
    /// When the engine refuses the archive.
    pub fn load(&self, image: &Image, names: &[&str]) -> Result<()> {
        let archive = image.archive(names)?;
        let answer = self.call("POST", "/images/load", Body::Bytes("application/x-tar", &archive))?;
        let said = answer.success("load an image")?.text();
        if said.contains("errorDetail") { Err(HarnessError::refused("load an image", said.trim())) } else { Ok(()) }
    }

    /// Pulls an image as a person would.
    ///
    /// # Errors
    /// With the engine's reason.
    pub fn pull(&self, name: &str) -> Result<()> {
        let answer = self.call("POST", &format!("/images/create?fromImage={name}"), Body::Empty)?;
        let doing = format!("pull {name}");
        let said = answer.success(&doing)?.text();
        if said.contains("errorDetail") { Err(HarnessError::refused(doing, said.trim())) } else { Ok(()) }
    }

    /// Gives an image a further name.
    ///
    /// # Errors
    /// With the engine's reason.
    pub fn tag(&self, name: &str, repository: &str, tag: &str) -> Result<()> {
        let path = format!("/images/{name}/tag?repo={repository}&tag={tag}");
        self.call("POST", &path, Body::Empty)?.success(&format!("tag {name} as {repository}:{tag}")).map(drop)
    }

    /// Removes a name of an image as a person would, without force.
    ///
    /// # Errors
    /// When the answer is none of the usual ones.
    pub fn remove_image(&self, name: &str) -> Result<Removal> {
        let answer = self.call("DELETE", &format!("/images/{name}"), Body::Empty)?;
        match answer.status {
            404 => Ok(Removal::Absent),
            409 => Ok(Removal::Conflict(text(&answer.json()?, "message"))),
            _ => {
                let list = answer.success(&format!("remove image {name}"))?.json()?;
                let told = |row: &Value| {
                    ["Untagged", "Deleted"].iter().find_map(|key| Some(format!("{key} {}", row.get(key)?.as_str()?)))
                };
                Ok(Removal::Done(rows(&list).filter_map(told).collect()))
            }
        }
    }

    /// Makes and starts a container by hand.
    ///
    /// # Errors
    /// With the engine's reason.
    pub fn run_container(&self, name: &str, image: &str, command: &[&str], labels: &Value) -> Result<String> {
        let id = self.create_container(name, image, command, labels)?;
        self.call("POST", &format!("/containers/{id}/start"), Body::Empty)?.success("start a container")?;
        Ok(id)
    }

    /// Makes a container by hand and does not start it; an empty command stands for the one of the image.
    ///
    /// # Errors
    /// With the engine's reason.
    pub fn create_container(&self, name: &str, image: &str, command: &[&str], labels: &Value) -> Result<String> {
        let command = Some(command).filter(|command| !command.is_empty());
        let body = json!({ "Image": image, "Cmd": command, "Labels": labels });
        let path = format!("/containers/create?name={name}");
        let answer = self.call("POST", &path, Body::Json(&body))?.success(&format!("create container {name}"))?;
        Ok(text(&answer.json()?, "Id"))
    }

    /// Kills and removes a container.
    ///
    /// # Errors
    /// With the engine's reason; one that is not there is no error.
    pub fn remove_container(&self, name: &str) -> Result<()> {
        let answer = self.call("DELETE", &format!("/containers/{name}?force=1&v=1"), Body::Empty)?;
        if answer.status == 404 { Ok(()) } else { answer.success(&format!("remove container {name}")).map(drop) }
    }

    /// The last lines that the engine logged.
    pub fn log_tail(&self, lines: usize) -> String {
        self.dockerd.as_ref().map(|process| process.log_tail(lines)).unwrap_or_default()
    }

    fn containerd_socket(&self) -> PathBuf {
        self.run.dir().join("c.sock")
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.kill9();
    }
}

/// CRI would listen on a TCP port and look for CNI; nothing here asks for it.
fn containerd_config(run: &Run) -> String {
    let dir = run.dir().display();
    format!(
        "version = 2\nroot = \"{dir}/containerd/root\"\nstate = \"{dir}/containerd/state\"\n\
         disabled_plugins = [\"io.containerd.grpc.v1.cri\"]\n\
         [grpc]\n  address = \"{dir}/c.sock\"\n\
         [debug]\n  level = \"warn\"\n"
    )
}

fn rows(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

fn text(row: &Value, key: &str) -> String {
    row.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn names(row: &Value, key: &str) -> Vec<String> {
    let mut names: Vec<String> =
        row.get(key).into_iter().flat_map(rows).filter_map(Value::as_str).map(str::to_owned).collect();
    names.sort();
    names
}
