//! What a person is told when the agent has started.

use super::DockerDriver;
use super::shared::Books;
use crate::image::EngineState;

/// How a driver found its engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FirstLook {
    /// It is there, and this agent keeps its images.
    Fine,
    /// It is there, but something about its images is otherwise than wished.
    But(String),
    /// It was not reached, and why.
    Away(String),
}

impl DockerDriver {
    /// The outcome of looking for the engine for the first time, as soon as there is one. For how long to wait is the
    /// caller's affair.
    pub async fn first_look(&self) -> FirstLook {
        let (mut engine, mut books) = (self.shared.engine_state.subscribe(), self.shared.books.subscribe());
        loop {
            match &*books.borrow_and_update() {
                Books::Open { note: None, .. } => return FirstLook::Fine,
                Books::Open { note: Some(note), .. } => return FirstLook::But(note.clone()),
                Books::Broken { why } => return FirstLook::But(why.clone()),
                Books::Opening { .. } => {}
            }
            if let EngineState::Lost(why) = &*engine.borrow_and_update() {
                return FirstLook::Away(why.clone());
            }
            tokio::select! {
                _ = engine.changed() => {}
                _ = books.changed() => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use longshore_driver::Driver;
    use longshore_engine::Engine;
    use longshore_model::{AllocId, NodeId, Timestamp};

    use super::*;
    use crate::{DriverSetup, Options};

    #[tokio::test]
    async fn without_an_engine_it_is_away_and_allocations_of_others_are_forgotten_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let socket = format!("unix://{}", folder.path().join("no.sock").display());
        let driver = DockerDriver::new(DriverSetup {
            options: Options::default(),
            engine: Engine::new(socket.parse().unwrap()),
            node: NodeId::from_u128(1),
            state_folder: folder.path().to_owned(),
            lock_folder: folder.path().to_owned(),
        })
        .unwrap();
        let FirstLook::Away(why) = driver.first_look().await else { panic!("it is not away") };
        assert!(why.contains("no.sock"), "{why}");
        let forgotten = driver.forget(AllocId::from_u128(7), Timestamp::from_seconds(1));
        tokio::time::timeout(Duration::from_secs(10), forgotten).await.unwrap().unwrap();
    }
}
