//! The real binary as an agent, with its API and its command line.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::error::Doing;
use crate::{
    Address, AgentFile, Body, Engine, HarnessError, Process, ProcessIdentity, Response, Result, Run, eventually,
    free_port, http,
};

const PATIENCE: Duration = Duration::from_secs(60);
const READY_DEADLINE: Duration = Duration::from_secs(60);
/// A command that takes longer hangs; it is killed then, and its exit code says so.
const CLI_DEADLINE: Duration = Duration::from_secs(120);
const END_DEADLINE: Duration = Duration::from_secs(60);

/// How an agent is started.
#[derive(Debug, Clone)]
pub struct AgentSetup {
    binary: PathBuf,
    name: String,
    dev: bool,
    base_file: bool,
    base_last: bool,
    user: Option<u32>,
    files: Vec<(String, String)>,
    arguments: Vec<String>,
    environment: Vec<(String, String)>,
}

impl AgentSetup {
    /// An agent with a data folder and the general agent file, without Docker.
    pub fn new(binary: impl Into<PathBuf>) -> Self {
        Self {
            binary: binary.into(),
            name: "agent".to_owned(),
            dev: false,
            base_file: true,
            base_last: false,
            user: None,
            files: Vec::new(),
            arguments: Vec::new(),
            environment: Vec::new(),
        }
    }

    /// A name to tell several agents of one run apart.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        self.name = name.to_owned();
        self
    }

    /// With `-dev` and no data folder.
    #[must_use]
    pub fn dev(mut self) -> Self {
        (self.dev, self.base_file) = (true, false);
        self
    }

    /// Uses this engine, told by `DOCKER_HOST`, so that a test's agent file needs no line for it.
    #[must_use]
    pub fn on(self, engine: &Engine) -> Self {
        let endpoint = engine.endpoint();
        self.environment("DOCKER_HOST", &endpoint)
    }

    /// A further agent file.
    #[must_use]
    pub fn file(mut self, name: &str, text: &str) -> Self {
        self.files.push((name.to_owned(), text.to_owned()));
        self
    }

    /// An agent file that is there already.
    #[must_use]
    pub fn file_at(mut self, path: &Path) -> Self {
        self.arguments.extend(["-config".to_owned(), path.display().to_string()]);
        self
    }

    /// Runs as another user, with that user's id as the group's too.
    #[must_use]
    pub fn as_user(mut self, user: u32) -> Self {
        self.user = Some(user);
        self
    }

    /// Reads the general agent file after the others, so that its ports and folders win.
    #[must_use]
    pub fn base_file_last(mut self) -> Self {
        self.base_last = true;
        self
    }

    /// A further argument.
    #[must_use]
    pub fn argument(mut self, argument: &str) -> Self {
        self.arguments.push(argument.to_owned());
        self
    }

    /// A variable of its environment.
    #[must_use]
    pub fn environment(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Without the general agent file: all there is comes from [`AgentSetup::file`] and [`AgentSetup::argument`].
    #[must_use]
    pub fn without_base_file(mut self) -> Self {
        self.base_file = false;
        self
    }
}

/// What a command printed and how it ended.
#[derive(Debug, Clone)]
pub struct CliOutput {
    /// Its exit code, or 128 and the signal's number.
    pub code: i32,
    /// What it wrote to standard output.
    pub stdout: String,
    /// What it wrote to standard error.
    pub stderr: String,
}

impl CliOutput {
    /// This output, if the command said that all went well.
    ///
    /// # Errors
    /// With both outputs when it did not.
    pub fn success(self, doing: &str) -> Result<Self> {
        if self.code == 0 {
            return Ok(self);
        }
        Err(HarnessError::refused(doing, format!("exit code {}\n{}{}", self.code, self.stdout, self.stderr)))
    }

    /// Standard output as JSON.
    ///
    /// # Errors
    /// When it is none.
    pub fn json(&self) -> Result<Value> {
        serde_json::from_str(&self.stdout)
            .map_err(|error| HarnessError::refused(format!("read as JSON: {}{}", self.stdout, self.stderr), error))
    }
}

/// An agent that runs, or has been ended and can be started again with the same files and data.
#[derive(Debug)]
pub struct Agent {
    run: Run,
    setup: AgentSetup,
    ports: [u16; 3],
    process: Option<Process>,
}

impl Agent {
    /// Starts an agent and waits until it has a leader and a node that is ready.
    ///
    /// # Errors
    /// When it ends or does not come up; its last lines are in the text.
    pub fn start(run: &Run, setup: AgentSetup) -> Result<Self> {
        let mut agent = Self::prepare(run, setup)?;
        agent.resume()?;
        Ok(agent)
    }

    /// Writes the files of an agent that is started later.
    ///
    /// # Errors
    /// When a file cannot be written or no port is free.
    pub fn prepare(run: &Run, setup: AgentSetup) -> Result<Self> {
        let ports = [free_port()?, free_port()?, free_port()?];
        let mut agent = Self { run: run.clone(), setup, ports, process: None };
        if agent.setup.user.is_some() {
            agent.bring_the_binary()?;
        }
        if agent.setup.base_file {
            let file = AgentFile { data_dir: agent.data_dir(), ports, log_level: "DEBUG".to_owned() };
            run.write(&agent.path_of("00-base.hcl"), file.text())?;
        } else if agent.setup.dev {
            let [http, rpc, serf] = ports;
            let text = format!("ports {{\n  http = {http}\n  rpc  = {rpc}\n  serf = {serf}\n}}\n");
            run.write(&agent.path_of("00-ports.hcl"), text)?;
        }
        for (name, text) in &agent.setup.files {
            run.write(&agent.path_of(name), text)?;
        }
        Ok(agent)
    }

    /// Puts the binary where other users reach it: what root builds often lies in a folder of root's alone.
    fn bring_the_binary(&mut self) -> Result<()> {
        let near = self.file_path("longshore");
        if let Some(folder) = near.parent() {
            fs::create_dir_all(folder).doing(|| format!("make the folder `{}`", folder.display()))?;
        }
        let linked = fs::hard_link(&self.setup.binary, &near);
        linked
            .or_else(|_| fs::copy(&self.setup.binary, &near).map(|_| ()))
            .doing(|| format!("put the binary into `{}`", near.display()))?;
        self.setup.binary = near;
        Ok(())
    }

    fn path_of(&self, name: &str) -> String {
        format!("{}/{name}", self.setup.name)
    }

    /// Sets or takes away a variable of its environment, from its next start on.
    pub fn set_environment(&mut self, name: &str, value: Option<&str>) {
        self.setup.environment.retain(|(key, _)| key != name);
        if let Some(value) = value {
            self.setup.environment.push((name.to_owned(), value.to_owned()));
        }
    }

    /// Where a file of this agent lies.
    pub fn file_path(&self, name: &str) -> PathBuf {
        self.run.dir().join(self.path_of(name))
    }

    /// The folder of its data (not with `-dev`).
    pub fn data_dir(&self) -> PathBuf {
        self.run.dir().join(&self.setup.name).join("data")
    }

    /// The command that starts it.
    pub fn command(&self) -> Command {
        let mut command = self.plain_command();
        command.arg("agent");
        if self.setup.dev {
            command.arg("-dev");
        }
        let own = match (self.setup.base_file, self.setup.dev) {
            (true, _) => Some("00-base.hcl"),
            (false, true) => Some("00-ports.hcl"),
            (false, false) => None,
        };
        let own = own.map(|name| self.file_path(name));
        let (first, last) = if self.setup.base_last { (None, own) } else { (own, None) };
        for path in first.into_iter().chain(self.setup.files.iter().map(|(name, _)| self.file_path(name))) {
            command.arg("-config").arg(path);
        }
        command.args(&self.setup.arguments);
        if let Some(path) = last {
            command.arg("-config").arg(path);
        }
        command
    }

    /// Our binary with the environment of the run and nothing of the caller's that would change what it does.
    fn plain_command(&self) -> Command {
        let mut command = Command::new(&self.setup.binary);
        for (name, _) in std::env::vars_os() {
            let name_text = name.to_string_lossy();
            if ["NOMAD_", "DOCKER_", "LONGSHORE_"].iter().any(|prefix| name_text.starts_with(prefix)) {
                command.env_remove(&name);
            }
        }
        let home = self.run.dir().join(&self.setup.name).join("home");
        command.env("HOME", &home).env("XDG_STATE_HOME", home.join("state")).env("NOMAD_CLI_NO_COLOR", "1");
        // Without an engine of the run there is none at all: the machine's own is not for tests.
        command.env("DOCKER_HOST", format!("unix://{}", self.run.dir().join("no-engine.sock").display()));
        if let Some(user) = self.setup.user {
            command.uid(user).gid(user);
        }
        command.envs(self.setup.environment.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Starts it (again) and waits until it is ready.
    ///
    /// # Errors
    /// As for [`Agent::start`].
    pub fn resume(&mut self) -> Result<()> {
        self.launch()?;
        self.wait_ready()
    }

    /// Starts it (again) without waiting.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn launch(&mut self) -> Result<()> {
        let home = self.run.dir().join(&self.setup.name).join("home");
        fs::create_dir_all(&home).doing(|| format!("make the folder `{}`", home.display()))?;
        chown(&home, self.setup.user, self.setup.user).doing(|| format!("give away `{}`", home.display()))?;
        self.process = Some(Process::spawn(&self.run, &self.setup.name, self.command())?);
        Ok(())
    }

    /// Waits until it answers, has a leader, and its node is ready.
    ///
    /// # Errors
    /// When it ends or is not ready in time; its last lines are in the text.
    pub fn wait_ready(&mut self) -> Result<()> {
        let ready = |agent: &mut Self| -> std::result::Result<(), String> {
            if let Some(status) = agent.ended().map_err(|error| error.to_string())? {
                return Err(format!("it has ended ({status})"));
            }
            let leader = agent.get("/v1/status/leader").map_err(|error| error.to_string())?;
            if leader.as_str().unwrap_or_default().is_empty() {
                return Err("no leader yet".to_owned());
            }
            let nodes = agent.get("/v1/nodes").map_err(|error| error.to_string())?;
            let is_ready = |node: &Value| node.get("Status").and_then(Value::as_str) == Some("ready");
            if nodes.as_array().is_some_and(|nodes| nodes.iter().any(is_ready)) {
                return Ok(());
            }
            Err(format!("no node is ready: {nodes}"))
        };
        let deadline = READY_DEADLINE;
        let mut gone = false;
        let waited = eventually(deadline, "the agent to be ready", || {
            let seen = ready(self);
            gone = seen.as_ref().is_err_and(|text| text.starts_with("it has ended"));
            if gone { Ok(()) } else { seen }
        });
        match waited {
            Ok(()) if !gone => Ok(()),
            Ok(()) => Err(HarnessError::refused("start the agent", format!("it ended:\n{}", self.log_tail(25)))),
            Err(error) => Err(HarnessError::refused("start the agent", format!("{error}\n{}", self.log_tail(25)))),
        }
    }

    /// Starts an agent that is expected to end by itself (a file that is refused), and returns what it said.
    ///
    /// # Errors
    /// When it has not ended in time.
    pub fn run_to_end(run: &Run, setup: AgentSetup, within: Duration) -> Result<CliOutput> {
        let agent = Self::prepare(run, setup)?;
        let (out, err) = (run.log_path("refused-out"), run.log_path("refused-err"));
        let open = |path: &Path| fs::File::create(path).doing(|| format!("make `{}`", path.display()));
        let mut child = run.spawn(agent.command().stdin(Stdio::null()).stdout(open(&out)?).stderr(open(&err)?))?;
        let read = |path: &Path| fs::read_to_string(path).unwrap_or_default();
        let ended = eventually(within, "the end of an agent with a bad file", || {
            let status = child.try_wait().map_err(|error| error.to_string())?;
            status.ok_or_else(|| format!("it runs on:\n{}{}", read(&out), read(&err)))
        });
        let _ = child.kill();
        let _ = child.wait();
        Ok(CliOutput { code: exit_code(ended?), stdout: read(&out), stderr: read(&err) })
    }

    /// How it ended, if it has.
    ///
    /// # Errors
    /// When the system cannot tell.
    pub fn ended(&mut self) -> Result<Option<ExitStatus>> {
        self.process.as_mut().map_or(Ok(None), Process::ended)
    }

    /// Kills it (9).
    pub fn kill9(&mut self) {
        self.process = None;
    }

    /// Ends it with SIGTERM and returns how it ended.
    ///
    /// # Errors
    /// When it has not ended within a minute.
    pub fn stop(&mut self) -> Result<ExitStatus> {
        self.end(Signal::SIGTERM)
    }

    /// Ends it with a signal and returns how it ended.
    ///
    /// # Errors
    /// When it has not ended within a minute.
    pub fn end(&mut self, signal: Signal) -> Result<ExitStatus> {
        match self.process.take() {
            Some(mut process) => process.end(signal, END_DEADLINE),
            None => Err(HarnessError::refused("end the agent", "it does not run")),
        }
    }

    /// Its process id; 0 when it does not run.
    pub fn pid(&self) -> i32 {
        self.process.as_ref().map_or(0, Process::pid)
    }

    /// All that it logged, over all its starts.
    pub fn log(&self) -> String {
        let raw = fs::read(self.run.log_path(&self.setup.name)).unwrap_or_default();
        String::from_utf8_lossy(&raw).into_owned()
    }

    /// The last lines of its log.
    pub fn log_tail(&self, lines: usize) -> String {
        let log = self.log();
        let all: Vec<&str> = log.lines().collect();
        all[all.len().saturating_sub(lines)..].join("\n")
    }

    /// Where its HTTP API is.
    pub fn http_address(&self) -> SocketAddr {
        SocketAddr::from((Ipv4Addr::LOCALHOST, self.ports[0]))
    }

    /// One call of its API.
    ///
    /// # Errors
    /// When no answer comes; the answer's status is the caller's to judge.
    pub fn call(&self, method: &str, path: &str, body: Body<'_>) -> Result<Response> {
        http::request(&Address::Tcp(self.http_address()), method, path, &[], body, PATIENCE)
    }

    /// A GET that is expected to bring JSON.
    ///
    /// # Errors
    /// When the answer is none of success, or no JSON.
    pub fn get(&self, path: &str) -> Result<Value> {
        self.call("GET", path, Body::Empty)?.success(&format!("ask the agent for {path}"))?.json()
    }

    /// The command of our command line with these arguments, pointed at this agent.
    pub fn cli_command(&self, arguments: &[&str]) -> Command {
        let mut command = self.plain_command();
        command.env("NOMAD_ADDR", format!("http://{}", self.http_address())).args(arguments);
        command
    }

    /// Runs a command of our command line against this agent.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn cli(&self, arguments: &[&str]) -> Result<CliOutput> {
        let mut command = self.cli_command(arguments);
        let child = self.run.spawn(command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()))?;
        let output = within_deadline(child).doing(|| format!("run longshore {}", arguments.join(" ")))?;
        Ok(CliOutput {
            code: exit_code(output.status),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        })
    }

    /// Writes a job file and runs `job run` on it.
    ///
    /// # Errors
    /// When the file cannot be written or the command not started; its exit code is the caller's to judge.
    pub fn job_run(&self, name: &str, text: &str) -> Result<CliOutput> {
        let path = self.run.write(&self.path_of(&format!("jobs/{name}.nomad.hcl")), text)?;
        self.cli(&["job", "run", &path.display().to_string()])
    }
}

/// Waits for a command, and kills it when it takes longer than any should.
fn within_deadline(child: std::process::Child) -> std::io::Result<std::process::Output> {
    let identity = i32::try_from(child.id()).ok().and_then(ProcessIdentity::of);
    let (ended, waits) = mpsc::channel::<()>();
    let watch = thread::spawn(move || {
        if let (Err(mpsc::RecvTimeoutError::Timeout), Some(identity)) = (waits.recv_timeout(CLI_DEADLINE), identity) {
            identity.signal(Signal::SIGKILL);
        }
    });
    let output = child.wait_with_output();
    drop(ended);
    let _ = watch.join();
    output
}

fn exit_code(status: ExitStatus) -> i32 {
    use std::os::unix::process::ExitStatusExt;
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default())
}
