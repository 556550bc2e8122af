//! The network that the tasks of a group share, held by a container that does nothing else.
//!
//! - N1: one container an allocation. It is found again by its name, and taken only if it runs, and if its marks and the
//!   hash of what it was made from are those that this agent would give it now.
//! - N2: it is there before the first of its tasks, and goes with the allocation, after the last.
//! - N3: its end is the end of the network: tasks that still run in it are ended, and the next start makes another.

mod body;

use std::sync::Arc;
use std::time::{Duration, Instant};

use longshore_crashpoint::crash_point;
use longshore_driver::{DriverError, GroupNetwork, NetworkRequest, TaskAddress};
use longshore_engine::{Class, Container, ContainerStatus, CreateContainer, Error as EngineError};
use longshore_images::Owner;
use tokio_util::sync::CancellationToken;

use super::ask::{Asker, given_up};
use super::shared::Shared;
use super::start::{address, backoff, remove_container};
use crate::error::{is_unreachable, of_engine};
use crate::image::{CheckedArchive, Grant};
use crate::pause;
use crate::task::{Identity, OWN_IMAGE};

/// How often something may come between before the attempt ends.
const ROUNDS_MAX: u32 = 6;
/// An engine that is away is asked again after this at the latest.
const AWAY_AGAIN_MAX: Duration = Duration::from_secs(2);
/// The first interface in a network namespace that the engine makes.
const INTERFACE: &str = "eth0";

/// Makes the network, or finds the one that there is. After `cancelled` it waits for nothing any more; what was begun then is
/// done to its end, and goes with the allocation.
pub(super) async fn create(
    shared: Arc<Shared>,
    request: NetworkRequest,
    cancelled: CancellationToken,
) -> Result<GroupNetwork, DriverError> {
    let (body, hash) = body::container_body(&request)?;
    let turn = cancelled.run_until_cancelled(shared.network_turns.take(&request.alloc)).await;
    let Some(_turn) = turn else { return Err(given_up()) };
    let name = body::container_name(request.alloc);
    let maker = Maker { shared: &shared, request: &request, cancelled: &cancelled, name, hash };
    match maker.find().await? {
        Some(container) => Ok(network_of(&container)),
        None => maker.make(body).await,
    }
}

fn network_of(container: &Container) -> GroupNetwork {
    let address = address(container, false).map(|found| TaskAddress { interface: INTERFACE.to_owned(), ..found });
    GroupNetwork { id: container.id.clone(), address }
}

struct Maker<'a> {
    shared: &'a Shared,
    request: &'a NetworkRequest,
    cancelled: &'a CancellationToken,
    name: String,
    hash: String,
}

impl Maker<'_> {
    /// The container, if it runs and is as it should be. What is ours and of no use is removed.
    async fn find(&self) -> Result<Option<Container>, DriverError> {
        let container = match self.look().await {
            Ok(container) => container,
            Err(error) if error.is_not_found() => return Ok(None),
            Err(error) => return Err(of_engine(error)),
        };
        let identity = Identity::of_labels(&container.config.labels).filter(|identity| {
            identity.agent == self.shared.node && identity.owner == Owner::Network(self.request.alloc)
        });
        let Some(identity) = identity else {
            return Err(DriverError::retry(format!(
                "the container name {} is taken by a container that is not this agent's ({})",
                self.name, container.id
            ))
            .hint("remove that container, or see which agent runs it"));
        };
        if container.state.status == ContainerStatus::Running && identity.config_hash == self.hash {
            return Ok(Some(container));
        }
        tracing::info!(
            container = self.name,
            state = %container.state.status,
            "removing what is left of a network of the allocation"
        );
        remove_container(self.shared, &container.id).await.map_err(of_engine)?;
        Ok(None)
    }

    /// Waits for an engine that is away, as the wait for an image does.
    async fn look(&self) -> Result<Container, EngineError> {
        let patience = self.shared.options.infra_image_pull_timeout.to_std();
        let (began, mut tries) = (Instant::now(), 0);
        loop {
            match self.shared.engine.container(&self.name).await {
                Err(error)
                    if is_unreachable(&error) && began.elapsed() < patience && !self.cancelled.is_cancelled() =>
                {
                    tries += 1;
                    tokio::time::sleep(backoff(tries).min(AWAY_AGAIN_MAX)).await;
                }
                looked => return looked,
            }
        }
    }

    async fn make(&self, mut body: CreateContainer) -> Result<GroupNetwork, DriverError> {
        let mut by_id = false;
        for round in 1..=ROUNDS_MAX {
            let granted = self.cancelled.run_until_cancelled(self.grant()).await;
            let (asker, grant) = granted.unwrap_or_else(|| Err(given_up()))?;
            let image = asker.name.familiar().to_owned();
            body.image = if grant.by_name && !by_id { image.clone() } else { grant.content.to_string() };
            body.labels.insert(OWN_IMAGE.to_owned(), image);
            crash_point("docker.network_planned");
            let created = match self.shared.engine.create_container(&self.name, &body).await {
                Ok(created) => created,
                Err(error) => match error.class() {
                    // Its image went, or an earlier try was answered too late: once more from the beginning.
                    Class::NotFound | Class::NameTaken | Class::BeingRemoved | Class::Cut | Class::Timeout
                        if round < ROUNDS_MAX =>
                    {
                        tokio::time::sleep(backoff(round)).await;
                        match self.find().await? {
                            Some(container) => return Ok(network_of(&container)),
                            None => continue,
                        }
                    }
                    _ => return Err(of_engine(error)),
                },
            };
            crash_point("docker.network_created");
            match self.shared.engine.container(&created.id).await {
                Ok(container) if container.image == grant.content.to_string() => {}
                Ok(_) => {
                    // The name moved meanwhile.
                    self.remove(&created.id).await?;
                    by_id = true;
                    continue;
                }
                Err(error) => {
                    self.remove(&created.id).await?;
                    return Err(of_engine(error));
                }
            }
            return self.start(&created.id, &asker, &grant).await;
        }
        Err(DriverError::retry(format!("the container {} could not be made from one image", self.name))
            .hint("something else changes images on this engine: see its events"))
    }

    async fn start(&self, id: &str, asker: &Asker<'_>, grant: &Grant) -> Result<GroupNetwork, DriverError> {
        let started = self.shared.engine.start_container(id).await;
        crash_point("docker.network_started");
        let looked = self.shared.engine.container(id).await;
        match (started, looked) {
            // What was not answered may have been done all the same.
            (_, Ok(container)) if container.state.status == ContainerStatus::Running => {
                asker.made(grant);
                tracing::info!(container = self.name, container_id = id, "the group's network is there");
                Ok(network_of(&container))
            }
            (Err(error), _) | (Ok(()), Err(error)) => {
                self.remove(id).await?;
                Err(of_engine(error))
            }
            (Ok(()), Ok(container)) => {
                self.remove(id).await?;
                let image = asker.name.familiar();
                Err(DriverError::retry(format!(
                    "the container of the group's network ended at once with exit code {}: it was made from {image}",
                    container.state.exit_code
                ))
                .hint("the image must hold a program that waits until it is ended: see infra_image"))
            }
        }
    }

    async fn remove(&self, id: &str) -> Result<(), DriverError> {
        remove_container(self.shared, id).await.map_err(of_engine)
    }

    /// The image: what the settings name, or else the built-in one.
    async fn grant(&self) -> Result<(Asker<'_>, Grant), DriverError> {
        let Some(built_in) = self.built_in().await? else {
            let asker = self.asker(None, false).await?;
            let grant = asker.grant().await?;
            return Ok((asker, grant));
        };
        let (archive, layer) = built_in;
        for again in [false, true] {
            let asker = self.asker(Some(archive.clone()), again).await?;
            let grant = asker.grant().await?;
            match self.shared.engine.image(&grant.content.to_string()).await {
                Ok(image) if image.root_fs.layers == [layer.as_str()] => return Ok((asker, grant)),
                // Somebody else's image has the name: the load moves it.
                Ok(_) => {}
                Err(error) if error.is_not_found() => {}
                Err(error) => return Err(of_engine(error)),
            }
        }
        Err(DriverError::retry(format!("the name {} points at an image that is not the built-in one", pause::name()))
            .hint("remove that name from the engine, or name another image with infra_image"))
    }

    async fn asker(&self, archive: Option<Arc<CheckedArchive>>, again: bool) -> Result<Asker<'_>, DriverError> {
        Asker::of_network(self.shared, self.request.alloc, archive, again, &self.request.events).await
    }

    /// The built-in image for this engine, with the digest of its layer; `None` when the settings name another.
    async fn built_in(&self) -> Result<Option<(Arc<CheckedArchive>, String)>, DriverError> {
        if self.shared.options.infra_image.is_some() {
            return Ok(None);
        }
        let version = self.shared.engine.version().await.map_err(of_engine)?;
        let architecture = pause::Architecture::of_word(&version.arch).ok_or_else(|| {
            DriverError::fatal(format!("there is no built-in image for networks on engines of {:?}", version.arch))
                .hint("name one with infra_image")
        })?;
        let image = pause::image(architecture)
            .and_then(|image| Ok((CheckedArchive::of_bytes(&image.archive, "the built-in image")?, image.layer)));
        let (archive, layer) =
            image.map_err(|error| DriverError::retry("the built-in image could not be made").caused_by(error))?;
        Ok(Some((Arc::new(archive), layer)))
    }
}

/// Returns when the container that holds a network runs no more. An engine that cannot be asked says nothing.
pub(super) async fn ended(shared: &Shared, id: &str) {
    let mut tries = 0;
    loop {
        match shared.engine.wait_container(id).await {
            Ok(_) => return,
            Err(error) if error.is_not_found() => return,
            Err(_) => {
                tries += 1;
                tokio::time::sleep(backoff(tries).min(AWAY_AGAIN_MAX)).await;
            }
        }
    }
}
