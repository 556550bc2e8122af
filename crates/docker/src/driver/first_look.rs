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
