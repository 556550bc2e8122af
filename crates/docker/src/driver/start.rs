//! One attempt to start a task: image granted, container made from it and looked at, started, or nothing left behind.

use std::sync::Arc;
use std::time::Duration;

use longshore_crashpoint::crash_point;
use longshore_driver::{DriverError, StartRequest, Started, TaskAddress, TaskHandle};
use longshore_engine::{
    Class, Container, ContainerStatus, CreateContainer, EndpointSettings, Error as EngineError, RemoveOptions,
    parse_rfc3339_nanoseconds,
};
use longshore_images::Owner;
use longshore_model::Timestamp;
use tokio_util::sync::CancellationToken;

use super::ask::{Asker, given_up};
use super::handle::HandleState;
use super::pins::Pins;
use super::pumps::Watchers;
use super::shared::Shared;
use crate::error::of_engine;
use crate::image::{Grant, now, with_causes};
use crate::task::{Identity, TaskConfig, container_body, container_name};

/// How often an image may vanish between its grant and its container before the attempt ends.
const ROUNDS_MAX: u32 = 3;

/// The attempt, to its end. After `cancelled` it ends soon and leaves no container.
pub(crate) async fn attempt(
    shared: Arc<Shared>,
    request: StartRequest,
    cancelled: CancellationToken,
) -> Result<Started, DriverError> {
    let config = TaskConfig::decode(&request.config).map_err(DriverError::from)?;
    // Such a variable would be cut off by the container, or refused for ever.
    if let Some((name, _)) = request.env.iter().find(|(name, value)| name.contains('\0') || value.contains('\0')) {
        return Err(DriverError::fatal(format!("the task's environment variable {name:?} holds a NUL byte")));
    }
    let (body, hash) = container_body(&request, &config, &shared.options, cpus())
        .map_err(|error| DriverError::fatal(error.to_string()))?;
    let asker = Asker::new(&shared, &request, &config, &cancelled).await?;
    let maker = Maker { shared: &shared, request: &request, config: &config, body, hash, asker: &asker };
    let mut rounds = 0;
    loop {
        let grant = tokio::select! {
            grant = asker.grant() => grant?,
            () = cancelled.cancelled() => return Err(given_up()),
        };
        rounds += 1;
        let pins = Pins::hold(&shared, &request, &config).await?;
        match maker.make(&grant, &pins, &cancelled).await? {
            Made::Container { id, runs } => {
                let started = maker.start(id, runs, &cancelled).await?;
                drop(pins);
                // After the start: the look that follows would only be in its way.
                asker.made(&grant);
                return Ok(started);
            }
            Made::ImageGone if rounds < ROUNDS_MAX => {}
            Made::ImageGone => {
                return Err(DriverError::retry(format!(
                    "image {} was there and gone again before a container was made from it, {rounds} times over",
                    asker.name.familiar()
                ))
                .hint("something else removes images on this engine: see its events"));
            }
        }
    }
}

/// Removes the container of a start whose success nobody took.
pub(super) async fn undo(shared: &Shared, handle: &TaskHandle) {
    let Ok(HandleState { container_id, .. }) = HandleState::of(handle) else { return };
    match remove_container(shared, &container_id).await {
        Ok(()) => shared.pumps.forget(&container_id, true).await,
        Err(error) => tracing::warn!(
            container_id,
            error = %with_causes(&error),
            "left behind by a start that was called off; it goes with its allocation"
        ),
    }
}

/// Processors as the agent sees them.
fn cpus() -> u32 {
    std::thread::available_parallelism().map_or(1, |n| u32::try_from(n.get()).unwrap_or(u32::MAX))
}

enum Made {
    Container { id: String, runs: bool },
    ImageGone,
}

/// What stood under the container's name.
enum Found {
    /// Nothing any more: it was being removed.
    Nothing,
    /// Something of ours that was of no use any more; it is gone now.
    Cleared,
    /// Of this very attempt's making, before a crash.
    Usable { id: String, runs: bool },
}

struct Maker<'a> {
    shared: &'a Shared,
    request: &'a StartRequest,
    config: &'a TaskConfig,
    body: CreateContainer,
    hash: String,
    asker: &'a Asker<'a>,
}

impl Maker<'_> {
    /// Makes the container: under the image's name when that points at what was granted, else by id. Either way its
    /// image is the granted one, and still there, or the container is removed again. Whether the container's name is
    /// free is the engine's to say: it is asked about only when it is not.
    async fn make(&self, grant: &Grant, pins: &Pins, cancelled: &CancellationToken) -> Result<Made, DriverError> {
        let name = container_name(&self.request.id);
        let mut by_name = grant.by_name;
        let (mut name_taken, mut room_made) = (0, false);
        let attempts_max = self.config.container_exists_attempts;
        let attempts_max = attempts_max.unwrap_or(self.shared.options.container_exists_attempts);
        loop {
            if cancelled.is_cancelled() {
                // An earlier try may have made one without an answer.
                if name_taken > 0
                    && let Ok(Found::Usable { id, .. }) = self.clear_the_name(&name, grant).await
                {
                    self.remove(&id).await?;
                }
                return Err(given_up());
            }
            let mut body = self.body.clone();
            pins.put(&mut body);
            body.image = if by_name { self.asker.name.familiar().to_owned() } else { grant.content.to_string() };
            crash_point("docker.container_planned");
            let created = match self.shared.engine.create_container(&name, &body).await {
                Ok(created) => created,
                Err(error) => match error.class() {
                    Class::NotFound => return Ok(Made::ImageGone),
                    Class::NoSpace if !room_made => {
                        room_made = true;
                        if !self.asker.make_room().await {
                            return Err(of_engine(error));
                        }
                        continue;
                    }
                    class @ (Class::NameTaken | Class::BeingRemoved | Class::Cut | Class::Timeout)
                        if name_taken < attempts_max =>
                    {
                        name_taken += 1;
                        // What may have been made without an answer is found under its name by the next try.
                        let found = match class {
                            Class::NameTaken => self.clear_the_name(&name, grant).await?,
                            _ => Found::Nothing,
                        };
                        match found {
                            Found::Usable { id, runs } => return Ok(Made::Container { id, runs }),
                            Found::Cleared => {}
                            Found::Nothing => {
                                let pause = tokio::time::sleep(backoff(name_taken));
                                tokio::select! { () = pause => {}, () = cancelled.cancelled() => {} }
                            }
                        }
                        continue;
                    }
                    _ => return Err(of_engine(error)),
                },
            };
            for warning in &created.warnings {
                tracing::warn!(container = name, warning, "the Docker engine warns");
            }
            crash_point("docker.container_created");
            match self.is_as_granted(&created.id, grant).await {
                Ok(true) => return Ok(Made::Container { id: created.id, runs: false }),
                Ok(false) => {
                    self.remove(&created.id).await?;
                    if !by_name {
                        return Ok(Made::ImageGone);
                    }
                    tracing::info!(container = name, image = %grant.content, "the name moved meanwhile; creating by id");
                    by_name = false;
                }
                Err(error) => {
                    self.remove(&created.id).await?;
                    return Err(of_engine(error));
                }
            }
        }
    }

    fn owner(&self) -> Owner {
        Owner::task(self.request.id.alloc, &self.request.id.task)
    }

    /// Whether the container's image is the granted one and is still on the engine.
    async fn is_as_granted(&self, id: &str, grant: &Grant) -> Result<bool, EngineError> {
        let granted = grant.content.to_string();
        let (container, image) = tokio::join!(self.shared.engine.container(id), self.shared.engine.image(&granted));
        match image {
            Ok(_) => Ok(container?.image == granted),
            Err(error) if error.is_not_found() => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// What stands under the container's name: ours and right, ours and to be removed, or somebody else's.
    async fn clear_the_name(&self, name: &str, grant: &Grant) -> Result<Found, DriverError> {
        let container = match self.shared.engine.container(name).await {
            Ok(container) => container,
            Err(error) if error.is_not_found() => return Ok(Found::Nothing),
            Err(error) => return Err(of_engine(error)),
        };
        let identity = Identity::of_labels(&container.config.labels)
            .filter(|identity| identity.agent == self.shared.node && identity.owner == self.owner());
        let Some(identity) = identity else {
            return Err(DriverError::retry(format!(
                "the container name {name} is taken by a container that is not this agent's ({})",
                container.id
            ))
            .hint("remove that container, or see which agent runs it"));
        };
        let right = identity.config_hash == self.hash && container.image == grant.content.to_string();
        match container.state.status {
            ContainerStatus::Running if right => {
                tracing::info!(container = name, "found running, as it was started before: adopted");
                return Ok(Found::Usable { id: container.id, runs: true });
            }
            ContainerStatus::Created if right && container.state.error.is_empty() => {
                return Ok(Found::Usable { id: container.id, runs: false });
            }
            _ => {}
        }
        tracing::info!(container = name, state = %container.state.status, "removing what an earlier attempt left");
        self.remove(&container.id).await?;
        Ok(Found::Cleared)
    }

    async fn start(&self, id: String, runs: bool, cancelled: &CancellationToken) -> Result<Started, DriverError> {
        if cancelled.is_cancelled() {
            self.remove(&id).await?;
            return Err(given_up());
        }
        if !runs && let Err(error) = self.start_container(&id).await {
            // What failed stays the answer, also when there is more to say about what it left.
            if let Err(left) = self.remove(&id).await {
                tracing::warn!(container = id, error = left.full_text(), "left behind by a failed start");
            }
            // For the next attempt.
            if error.class() == Class::NoSpace {
                self.asker.make_room().await;
            }
            return Err(of_engine(error));
        }
        crash_point("docker.container_started");
        let container = match self.shared.engine.container(&id).await {
            Ok(container) => container,
            Err(error) => {
                self.remove(&id).await?;
                return Err(of_engine(error));
            }
        };
        if cancelled.is_cancelled() {
            self.remove(&id).await?;
            return Err(given_up());
        }
        let (shared, request) = (self.shared, self.request);
        // One that was found running had told it when it was started.
        let watchers = if runs { Watchers::Told } else { Watchers::New(&request.events) };
        shared.pumps.start(&shared.engine, &shared.options, &container, &request.logs, watchers);
        let state = HandleState {
            container_id: id,
            config_hash: self.hash.clone(),
            image: self.body_image(),
            network: self.network(),
        };
        Ok(Started {
            handle: state.into_handle(self.request.id.clone())?,
            // What others are told is where the group is, also when this task is elsewhere.
            address: match &self.request.network {
                Some(network) => network.address.clone(),
                None => address(&container, self.config.advertise_ipv6_address),
            },
            started_at: started_at(&container),
        })
    }

    /// What the container shares, of its group.
    fn network(&self) -> Option<String> {
        let shared = self.request.network.as_ref().filter(|_| self.config.network_mode.is_empty());
        shared.map(|network| network.id.clone())
    }

    fn body_image(&self) -> String {
        self.asker.name.familiar().to_owned()
    }

    async fn start_container(&self, id: &str) -> Result<(), EngineError> {
        let outcome = self.shared.engine.start_container(id).await;
        let Err(error) = outcome else { return Ok(()) };
        if error.class().is_unknown_outcome() || error.class() == Class::EngineUnreachable {
            // It may have started all the same.
            if let Ok(container) = self.shared.engine.container(id).await
                && container.state.running
            {
                return Ok(());
            }
        }
        Err(error)
    }

    async fn remove(&self, id: &str) -> Result<(), DriverError> {
        remove_container(self.shared, id).await.map_err(of_engine)
    }
}

const REMOVE_TRIES_MAX: u32 = 8;

/// Removes a container, running or not, with its anonymous volumes. Done when it is not there (any more).
pub(crate) async fn remove_container(shared: &Shared, id: &str) -> Result<(), EngineError> {
    let mut tries = 0;
    loop {
        let removed = shared.engine.remove_container(id, RemoveOptions { force: true, volumes: true }).await;
        let Err(error) = removed else { return Ok(()) };
        tries += 1;
        match error.class() {
            Class::NotFound => return Ok(()),
            // Somebody else's removal: wait for its end.
            Class::BeingRemoved | Class::Cut | Class::Timeout | Class::Server if tries < REMOVE_TRIES_MAX => {
                tokio::time::sleep(backoff(tries)).await;
            }
            _ => return Err(error),
        }
    }
}

/// 100 ms, doubling, at most 10 s.
pub(super) fn backoff(tries: u32) -> Duration {
    Duration::from_millis(50 << tries.clamp(1, 8)).min(Duration::from_secs(10))
}

pub(crate) fn started_at(container: &Container) -> Timestamp {
    parse_rfc3339_nanoseconds(&container.state.started_at).map_or_else(now, Timestamp::from_nanoseconds)
}

/// Its address in the first network in which it has one of its own; the global IPv6 one when that is to be told.
pub(crate) fn address(container: &Container, wants_ipv6: bool) -> Option<TaskAddress> {
    let networks = &container.network_settings.networks;
    let of = |address: fn(&EndpointSettings) -> &String| {
        let (name, network) = networks.iter().find(|(_, network)| !address(network).is_empty())?;
        Some(TaskAddress { ip: address(network).clone(), interface: name.clone() })
    };
    let ipv6 = if wants_ipv6 { of(|network| &network.global_ipv6_address) } else { None };
    ipv6.or_else(|| of(|network| &network.ip_address))
}

#[cfg(test)]
mod tests {
    use longshore_engine::NetworkSettings;

    use super::*;

    #[track_caller]
    fn check(networks: &[(&str, &str, &str)], wants_ipv6: bool, expected: Option<(&str, &str)>) {
        let networks = networks.iter().map(|(name, ipv4, ipv6)| {
            let endpoint = EndpointSettings { ip_address: (*ipv4).to_owned(), global_ipv6_address: (*ipv6).to_owned() };
            ((*name).to_owned(), endpoint)
        });
        let network_settings = NetworkSettings { networks: networks.collect(), ..NetworkSettings::default() };
        let told = address(&Container { network_settings, ..Container::default() }, wants_ipv6);
        let told = told.map(|address| (address.interface, address.ip));
        assert_eq!(told, expected.map(|(interface, ip)| (interface.to_owned(), ip.to_owned())));
    }

    #[test]
    fn the_address_that_others_are_told() {
        check(&[("host", "", "")], false, None);
        check(&[("a", "", ""), ("b", "10.0.0.2", "fd00::2")], false, Some(("b", "10.0.0.2")));
        check(&[("a", "10.0.0.2", ""), ("b", "10.1.0.2", "fd00::2")], true, Some(("b", "fd00::2")));
        check(&[("a", "10.0.0.2", "")], true, Some(("a", "10.0.0.2")));
    }
}
