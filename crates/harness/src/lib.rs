//! Everything that a test or the demo needs around the real binary: a private Docker engine, a registry, a proxy that
//! counts and misbehaves on order, images that are distinct by construction, and agents with their files.
//!
//! What it promises:
//!
//! 1. **Only ours is touched.** An engine of the machine, its containers and its images are never asked, changed or
//!    ended. A private engine lives in a network namespace, a control group and a folder of its own.
//! 2. **Nothing is left.** A [`Run`] takes away its processes, mounts, namespace, control groups and folder when it
//!    is dropped, also in a panic. What a killed run left behind, the next one takes away ([`reap_leftovers`]).
//! 3. **It is an independent witness.** It speaks to the engine and the registry with a client of its own and shares no code with
//!    what it tests.
//!
//! Conditions are awaited with deadlines ([`eventually`]); nothing here waits for a fixed time and hopes.

mod agent;
mod agent_file;
mod cleanup;
mod engine;
mod error;
mod events;
mod http;
mod image;
mod namespace;
mod process;
mod proxy;
mod registry;
mod run;
pub mod soak;
mod wait;

pub use agent::{Agent, AgentSetup, CliOutput};
pub use agent_file::AgentFile;
pub use cleanup::{Leftover, reap_leftovers};
pub use engine::{Container, Engine, EngineSetup, Held, ImageListing, Removal};
pub use error::{HarnessError, Result};
pub use events::{EngineEvent, EventRecorder};
pub use http::{Address, Body, Response, request};
pub use image::{Image, ImageSetup};
pub use namespace::Namespace;
pub use process::{Process, ProcessIdentity, program};
pub use proxy::{CountingProxy, Fault, Rule, SeenRequest};
pub use registry::Registry;
pub use run::{Run, free_port, random_hex};
pub use wait::{eventually, interrupt_waits};
