mod containers;
mod images;
mod system;

pub use containers::{ListContainers, LogOptions, RemoveOptions};
pub use images::DeleteOptions;
