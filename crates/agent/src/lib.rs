//! The composition root: reads files, starts the log, starts the roles asked for and ends them in order.
mod addresses;
mod arguments;
mod banner;
mod files;
mod logging;
