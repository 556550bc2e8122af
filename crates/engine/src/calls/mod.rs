mod containers;
mod exec;
mod images;
mod system;

pub use containers::{ListContainers, LogOptions, RemoveOptions};
pub use images::DeleteOptions;
