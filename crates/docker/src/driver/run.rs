//! A task that runs: its end, its stop, what is left of it, and how it is found again.

use std::time::Duration;

use longshore_crashpoint::crash_point;
use longshore_driver::{DriverError, ExitResult, Recovered, StartRequest, TaskHandle};
use longshore_engine::{Class, Container, ContainerStatus, Error as EngineError};
use longshore_images::Owner;
use longshore_values::GoDuration;

use super::handle::HandleState;
use super::network;
use super::pumps::Watchers;
use super::shared::Shared;
use super::start::{remove_container, started_at};
use crate::error::{is_unreachable, of_engine};
use crate::image::with_causes;
use crate::task::Identity;

const AGAIN_MIN: Duration = Duration::from_millis(100);
const AGAIN_MAX: Duration = Duration::from_secs(5);
/// How long the end of a task waits for more of the rest of its output.
const REST_OF_LOG: Duration = Duration::from_secs(10);

/// What a task has to end by itself when the network of its group has ended.
const WITHOUT_NETWORK: Duration = Duration::from_secs(5);

/// Repeats a call for as long as the engine cannot be reached.
struct Patience {
    wait: Duration,
    /// Whether the engine was away meanwhile.
    was_away: bool,
}

impl Patience {
    fn new() -> Self {
        Self { wait: AGAIN_MIN, was_away: false }
    }

    /// Waits, if the error is that the engine was not there; else gives it back.
    async fn after(&mut self, error: EngineError) -> Result<(), EngineError> {
        if !is_unreachable(&error) {
            return Err(error);
        }
        self.was_away = true;
        tokio::time::sleep(self.wait).await;
        self.wait = (self.wait * 2).min(AGAIN_MAX);
        Ok(())
    }
}

/// Returns when the container does not run any more. An engine that goes away and comes back is waited for.
pub(crate) async fn wait(shared: &Shared, handle: &TaskHandle) -> Result<ExitResult, DriverError> {
    let state = HandleState::of(handle)?;
    let id = &state.container_id;
    let mut patience = Patience::new();
    let (mut network, mut lost_network) = (state.network.as_deref(), false);
    loop {
        let ended = tokio::select! {
            biased;
            ended = shared.engine.wait_container(id) => ended,
            () = network_ended(shared, network) => {
                network = None;
                lost_network = end_without_network(shared, handle, id).await;
                continue;
            }
        };
        match ended {
            Ok(_) => break,
            Err(error) if error.is_not_found() => return Ok(removed()),
            Err(error) => patience.after(error).await.map_err(of_engine)?,
        }
    }
    let container = loop {
        match shared.engine.container(id).await {
            Ok(container) => break container,
            Err(error) if error.is_not_found() => return Ok(removed()),
            Err(error) => patience.after(error).await.map_err(of_engine)?,
        }
    };
    shared.pumps.finish(id, REST_OF_LOG).await;
    if matches!(container.state.status, ContainerStatus::Removing | ContainerStatus::Dead) {
        return Ok(removed());
    }
    let mut exit = exit_of(&container, patience.was_away);
    if lost_network {
        let why = "the network of its group had ended";
        exit.message = if exit.message.is_empty() { why.to_owned() } else { format!("{} ({why})", exit.message) };
    }
    Ok(exit)
}

/// Comes when the network that the task shares has ended; never for a task that shares none.
async fn network_ended(shared: &Shared, network: Option<&str>) {
    match network {
        Some(network) => network::ended(shared, network).await,
        None => std::future::pending().await,
    }
}

/// Ends a task whose network has ended, for as long as it takes: it would go on without one, and nothing could join it.
/// Whether it still ran.
async fn end_without_network(shared: &Shared, handle: &TaskHandle, id: &str) -> bool {
    match shared.engine.container(id).await {
        Ok(container) if container.state.running => {}
        // The wait for it tells what became of it.
        _ => return false,
    }
    tracing::warn!(container = id, task = %handle.id, "the network of its group has ended: the task is ended, too");
    let mut wait = AGAIN_MIN;
    while let Err(error) = shared.engine.stop_container(id, WITHOUT_NETWORK).await {
        if matches!(error.class(), Class::NotFound | Class::WrongState) {
            break;
        }
        tracing::debug!(container = id, error = %with_causes(&error), "not ended yet");
        tokio::time::sleep(wait).await;
        wait = (wait * 2).min(AGAIN_MAX);
    }
    true
}

fn removed() -> ExitResult {
    ExitResult {
        exit_code: 137,
        signal: 0,
        oom_killed: false,
        by_engine: false,
        message: "the container was removed by somebody else while its task ran".to_owned(),
    }
}

fn exit_of(container: &Container, engine_was_away: bool) -> ExitResult {
    let code = i32::try_from(container.state.exit_code).unwrap_or(-1);
    let oom_killed = container.state.oom_killed;
    let mut message = match (oom_killed, code) {
        (true, _) => "OOM Killed".to_owned(),
        (false, 0) => String::new(),
        (false, code) => format!("Docker container exited with non-zero exit code: {code}"),
    };
    if !container.state.error.is_empty() {
        message = format!("{message}: {}", container.state.error);
    }
    // Its handler of the signal may make anything of it, which cannot be told from an end of its own at that time.
    let by_engine = engine_was_away && !oom_killed;
    if by_engine && matches!(code, 137 | 143) {
        message.push_str(" (the Docker engine was stopped or restarted meanwhile)");
    }
    ExitResult { exit_code: code, signal: 0, oom_killed, by_engine, message }
}

/// Ends the task: by `signal` or the image's own, then by force after `timeout`.
pub(crate) async fn stop(
    shared: &Shared,
    handle: &TaskHandle,
    signal: &str,
    timeout: GoDuration,
) -> Result<(), DriverError> {
    let state = HandleState::of(handle)?;
    let id = &state.container_id;
    let timeout = timeout.to_std();
    let mut patience = Patience::new();
    loop {
        let stopped = if signal.is_empty() {
            shared.engine.stop_container(id, whole_seconds(timeout)).await
        } else {
            stop_by_signal(shared, id, signal, timeout).await
        };
        match stopped {
            Ok(()) => break,
            Err(error) if matches!(error.class(), Class::NotFound | Class::WrongState) => break,
            Err(error) => patience.after(error).await.map_err(of_engine)?,
        }
    }
    crash_point("docker.container_stopped");
    Ok(())
}

/// The engine counts whole seconds; less than one would be "at once".
fn whole_seconds(timeout: Duration) -> Duration {
    let seconds = timeout.as_secs() + u64::from(timeout.subsec_nanos() > 0);
    Duration::from_secs(seconds)
}

async fn stop_by_signal(shared: &Shared, id: &str, signal: &str, timeout: Duration) -> Result<(), EngineError> {
    shared.engine.kill_container(id, signal).await?;
    match tokio::time::timeout(timeout, shared.engine.wait_container(id)).await {
        Ok(ended) => ended.map(|_| ()),
        Err(_) => shared.engine.stop_container(id, Duration::ZERO).await,
    }
}

pub(crate) async fn signal(shared: &Shared, handle: &TaskHandle, signal: &str) -> Result<(), DriverError> {
    let state = HandleState::of(handle)?;
    shared.engine.kill_container(&state.container_id, signal).await.map_err(of_engine)
}

/// Removes the container, unless ended ones are to be kept.
pub(crate) async fn destroy(shared: &Shared, handle: &TaskHandle) -> Result<(), DriverError> {
    let state = HandleState::of(handle)?;
    let id = &state.container_id;
    if !shared.options.gc.container {
        tracing::info!(container = id, task = %handle.id, "ended container kept: gc.container is false");
        shared.pumps.forget(id, false).await;
        return Ok(());
    }
    let mut patience = Patience::new();
    while let Err(error) = remove_container(shared, id).await {
        patience.after(error).await.map_err(of_engine)?;
    }
    shared.pumps.forget(id, true).await;
    crash_point("docker.container_removed");
    Ok(())
}

/// Finds the task's container again. Only the very one that was started counts: labels and record must agree.
pub(crate) async fn recover(
    shared: &Shared,
    handle: &TaskHandle,
    request: &StartRequest,
) -> Result<Recovered, DriverError> {
    let state = HandleState::of(handle)?;
    let container = match shared.engine.container(&state.container_id).await {
        Ok(container) => container,
        Err(error) if error.is_not_found() => return Ok(Recovered::Gone),
        Err(error) => return Err(of_engine(error)),
    };
    let alloc = handle.id.alloc;
    let owner = Owner::task(alloc, &handle.id.task);
    let expected = Identity { agent: shared.node, alloc, owner, config_hash: state.config_hash };
    if Identity::of_labels(&container.config.labels).as_ref() != Some(&expected) {
        tracing::warn!(container = container.id, task = %handle.id, "not adopted: its labels and the node's record do not agree");
        return Ok(Recovered::Gone);
    }
    match container.state.status {
        ContainerStatus::Created | ContainerStatus::Removing | ContainerStatus::Dead => Ok(Recovered::Gone),
        ContainerStatus::Exited => {
            shared.pumps.start(&shared.engine, &shared.options, &container, &request.logs, Watchers::Told);
            shared.pumps.finish(&container.id, REST_OF_LOG).await;
            Ok(Recovered::Exited(exit_of(&container, false)))
        }
        ContainerStatus::Running
        | ContainerStatus::Paused
        | ContainerStatus::Restarting
        | ContainerStatus::Other(_) => {
            shared.pumps.start(&shared.engine, &shared.options, &container, &request.logs, Watchers::Told);
            Ok(Recovered::Running { started_at: started_at(&container) })
        }
    }
}

#[cfg(test)]
mod tests {
    use longshore_engine::ContainerState;

    use super::*;

    #[track_caller]
    fn check(exit_code: i64, oom_killed: bool, away: bool, expected: &str) {
        let state = ContainerState { exit_code, oom_killed, ..ContainerState::default() };
        let exit = exit_of(&Container { state, ..Container::default() }, away);
        assert_eq!(format!("{} {:?}", exit.exit_code, exit.message), expected);
    }

    #[test]
    fn ends_in_words() {
        check(0, false, true, "0 \"\"");
        check(3, false, true, "3 \"Docker container exited with non-zero exit code: 3\"");
        check(0, true, false, "0 \"OOM Killed\"");
        check(
            137,
            false,
            true,
            "137 \"Docker container exited with non-zero exit code: 137 (the Docker engine was stopped or restarted meanwhile)\"",
        );
        assert_eq!(whole_seconds(Duration::from_millis(1)), Duration::from_secs(1));
        assert_eq!(whole_seconds(Duration::from_secs(5)), Duration::from_secs(5));
        assert_eq!(whole_seconds(Duration::ZERO), Duration::ZERO);
    }
}
