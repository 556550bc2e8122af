//! `cargo xtask demo`: the main job of Longshore, shown on this machine with everything real.

use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use longshore_harness::{
    Agent, AgentSetup, CountingProxy, Engine, Image, ImageSetup, Registry, Run, eventually, interrupt_waits, program,
    reap_leftovers,
};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::setup;
use crate::shell::{self, Outcome, cargo, workspace};

const REPOSITORY: &str = "demo/web";
const JOB_FILE: &str = "examples/web.nomad.hcl";
const AGENT_FILE: &str = "examples/agent.hcl";
const INTERRUPTED: u8 = 130;

const INTRODUCTION: &str = "\
This shows what Longshore does with a job and with its image. It
  - installs Debian packages that are missing (docker.io with containerd and runc, docker-registry,
    busybox-static, iproute2) and says which;
  - starts a private Docker engine and a registry in a network namespace and a folder of their own. An engine that runs
    on this machine already is neither used nor changed;
  - starts an agent, runs a job, updates it, stops it, and watches the image;
  - takes everything away again and looks whether something is left. Ctrl-C ends it at any time, with the same look.";

pub(crate) fn run() -> ExitCode {
    println!("{INTRODUCTION}\n");
    let signals = match watch_signals() {
        Ok(signals) => signals,
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::FAILURE;
        }
    };
    let (installed, outcome, left) = match setup::ensure() {
        Err(error) => (Vec::new(), Err(error), Vec::new()),
        Ok(installed) => match reap_leftovers().and_then(|_| Run::start()) {
            Err(error) => (installed, Err(error.into()), Vec::new()),
            Ok(run) => {
                run.keep_no_logs();
                let interrupted = signals.begin(&run);
                let outcome = if interrupted { Err("interrupted".into()) } else { perform(&run) };
                let left = take_away(run);
                (installed, outcome, left)
            }
        },
    };
    if !installed.is_empty() {
        println!("Packages that were installed, and stay: {}", installed.join(", "));
    }
    for line in &left {
        eprintln!("left behind: {line}");
    }
    let interrupted = signals.interrupted.load(Ordering::SeqCst);
    match outcome {
        _ if !left.is_empty() => ExitCode::FAILURE,
        _ if interrupted => ExitCode::from(INTERRUPTED),
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("\nerror: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Ends everything of the run and says what is still there.
fn take_away(run: Run) -> Vec<String> {
    heading("Taking everything away");
    let cleaned = run.clean();
    let left: Vec<String> = run.leftovers().iter().map(ToString::to_string).collect();
    match cleaned {
        Err(error) if left.is_empty() => return vec![error.to_string()],
        _ if left.is_empty() => {
            println!("No process, container, image, network, mount or file of the demo is left.");
        }
        _ => {}
    }
    left
}

/// Signals are taken by a thread of their own, which ends what runs; the way home is the same as without a signal.
struct Signals {
    interrupted: Arc<AtomicBool>,
    runs: std::sync::mpsc::Sender<Run>,
}

impl Signals {
    /// From now on a signal ends this run. Answers whether one has come already.
    fn begin(&self, run: &Run) -> bool {
        // The thread is gone when a signal came before there was a run.
        let _ = self.runs.send(run.clone());
        self.interrupted.load(Ordering::SeqCst)
    }
}

/// By handlers and not by a blocked mask: what we start would inherit the mask, and never hear a SIGTERM.
fn watch_signals() -> Outcome<Signals> {
    let mut taken = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP])
        .map_err(|error| format!("could not take signals: {error}"))?;
    let interrupted = Arc::new(AtomicBool::new(false));
    let (runs, inbox) = std::sync::mpsc::channel::<Run>();
    let flag = interrupted.clone();
    thread::spawn(move || {
        for signal in taken.forever() {
            if flag.swap(true, Ordering::SeqCst) {
                println!("\nAlready ending; a moment, please.");
                continue;
            }
            println!(
                "\nCaught {}: ending the demo.",
                signal_hook::low_level::signal_name(signal).unwrap_or("a signal")
            );
            interrupt_waits();
            for run in inbox.try_iter() {
                run.end();
            }
        }
    });
    Ok(Signals { interrupted, runs })
}

fn perform(run: &Run) -> Outcome {
    heading("Building Longshore");
    show_and_run(run, cargo().args(["build", "--package", "longshore", "--locked"]))?;
    let binary = std::env::current_exe()?.with_file_name("longshore");

    heading("Starting a private Docker engine and a registry");
    let engine = Engine::start(run)?;
    let registry = Registry::start(&engine)?;
    let proxy = CountingProxy::start(&engine, &registry)?;
    println!("engine:   {}", engine.endpoint());
    println!("registry: {} (a counting proxy before it is at {})", registry.host(), proxy.host());
    let image = Image::build(&ImageSetup { padding_bytes: 3_000_000, ..ImageSetup::default() })?;
    registry.push(&image, REPOSITORY, "1")?;
    println!("pushed {REPOSITORY}:1, made from busybox-static, to the registry; the engine has no image yet:");
    docker(run, &engine, &["images"])?;

    heading("Starting the agent");
    println!("{AGENT_FILE} keeps an unused image for 10 s here; the default is 3 minutes.");
    let setup = AgentSetup::new(binary).on(&engine).file_at(&workspace().join(AGENT_FILE)).base_file_last();
    let mut agent = Agent::prepare(run, setup)?;
    println!("$ DOCKER_HOST={} {}", engine.endpoint(), shell::show(&agent.command()));
    agent.resume()?;
    println!("ready; the commands below have NOMAD_ADDR=http://{}", agent.http_address());

    heading("Running a job");
    cli(run, &agent, &["job", "run", JOB_FILE])?;
    cli(run, &agent, &["alloc", "logs", "-job", "web"])?;
    fetch_page(run, &engine)?;
    docker(run, &engine, &["ps", "--format", "{{.Names}}  {{.Image}}  {{.Status}}"])?;
    cli(run, &agent, &["image", "status"])?;
    let first = proxy.seen_of(REPOSITORY).len();
    println!("\nThe registry was asked {first} times about {REPOSITORY}.");

    heading("Changing only the resources");
    let text = std::fs::read_to_string(workspace().join(JOB_FILE))?;
    let changed = text.replace("memory = 32", "memory = 48");
    if changed == text {
        return Err(format!("{JOB_FILE} has no line `memory = 32` to change").into());
    }
    let path = run.write("web-with-more-memory.nomad.hcl", changed)?;
    println!("{} is {JOB_FILE} with `memory = 48` instead of 32.", path.display());
    cli(run, &agent, &["job", "run", &path.display().to_string()])?;
    cli(run, &agent, &["image", "status"])?;
    let again = proxy.seen_of(REPOSITORY).len() - first;
    println!("\nThe registry was asked {again} times about {REPOSITORY} during the update.");
    if again != 0 {
        return Err("the update asked the registry, and there was no need to".into());
    }

    heading("Stopping the job, and watching its image go");
    cli(run, &agent, &["job", "stop", "web"])?;
    watch_image_go(run, &agent, &engine, &format!("{}/{REPOSITORY}:1", proxy.host()))?;
    docker(run, &engine, &["images"])?;
    docker(run, &engine, &["ps", "--all"])?;
    println!("\nThe image was pulled once, held while it was needed, and is gone now that nobody needs it.");

    heading("Ending the agent");
    let status = agent.stop()?;
    println!("the agent ended on SIGTERM ({status}; without `leave_on_terminate` that is 1, as with Nomad)");
    Ok(())
}

fn watch_image_go(run: &Run, agent: &Agent, engine: &Engine, name: &str) -> Outcome {
    let began = Instant::now();
    let mut shown: Option<Instant> = None;
    eventually(Duration::from_secs(60), format!("the removal of {name}"), || {
        if shown.is_none_or(|at| at.elapsed() >= Duration::from_secs(3)) {
            cli(run, agent, &["image", "status"]).map_err(|error| error.to_string())?;
            shown = Some(Instant::now());
        }
        match engine.image_id(name).map_err(|error| error.to_string())? {
            None => Ok(()),
            Some(id) => Err(format!("it is still there ({id})")),
        }
    })?;
    eventually(Duration::from_secs(10), "an agent that has seen it", || {
        let rows = agent.get("/v1/client/images").map_err(|error| error.to_string())?;
        let known = rows.get("Images").and_then(serde_json::Value::as_array).is_none_or(|rows| !rows.is_empty());
        if known { Err(rows.to_string()) } else { Ok(()) }
    })?;
    println!(
        "\nThe engine has no image {name} any more, {:.1} s after the job was stopped.",
        began.elapsed().as_secs_f64()
    );
    cli(run, agent, &["image", "status"])
}

/// The page of the task, asked for inside the namespace where the engine publishes ports.
fn fetch_page(run: &Run, engine: &Engine) -> Outcome {
    let container = engine.containers()?.into_iter().find(|it| it.state == "running").ok_or("no container runs")?;
    let facts = engine.inspect_container(&container.id)?;
    let binding = facts.pointer("/NetworkSettings/Ports/8080~1tcp/0").ok_or("the container publishes no port")?;
    let text = |key: &str| binding.get(key).and_then(serde_json::Value::as_str).unwrap_or_default();
    let url = format!("http://{}:{}/", text("HostIp"), text("HostPort"));
    let busybox = program("busybox", "busybox-static")?;
    show_and_run(run, engine.namespace().command(&busybox)?.args(["wget", "-q", "-O", "-", &url]))
}

fn docker(run: &Run, engine: &Engine, arguments: &[&str]) -> Outcome {
    let mut command = Command::new(program("docker", "docker.io")?);
    show_and_run(run, command.arg("--host").arg(engine.endpoint()).args(arguments))
}

fn cli(run: &Run, agent: &Agent, arguments: &[&str]) -> Outcome {
    show_and_run(run, agent.cli_command(arguments).current_dir(workspace()))
}

fn show_and_run(run: &Run, command: &mut Command) -> Outcome {
    let shown = shell::show(command);
    println!("\n$ {shown}");
    let status = run.spawn(command.stdin(Stdio::null()))?.wait()?;
    if status.success() { Ok(()) } else { Err(format!("`{shown}` failed ({status})").into()) }
}

fn heading(text: &str) {
    println!("\n==> {text}");
}
