//! The first stage of a task's process: it becomes what the task is to be (session, control group, user, folder,
//! environment) and then turns into the task's command.
//!
//! What it is to be comes over the socket that is its standard input. When the command has started, that socket closes
//! by itself; an error is written to it instead. When the supervisor dies before it has recorded the process, the socket
//! closes at the other end and nothing starts.

use std::ffi::CString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process;

use nix::unistd::{Gid, Group, Uid, User, dup2_stdin, initgroups, setgid, setsid, setuid};

use super::control_group;
use super::protocol::Command;
use crate::ExecError;

/// The most that a command with its environment may come to.
const COMMAND_BYTES_MAX: u64 = 16 << 20;

pub(crate) fn run() -> Result<(), ExecError> {
    // A copy that closes when the command starts.
    let mut socket = UnixStream::from(io::stdin().as_fd().try_clone_to_owned().map_err(ExecError::Talk)?);
    let mut length = [0; 8];
    socket.read_exact(&mut length).map_err(ExecError::Talk)?;
    let mut text = Vec::new();
    let length = u64::from_be_bytes(length).min(COMMAND_BYTES_MAX);
    (&socket).take(length).read_to_end(&mut text).map_err(ExecError::Talk)?;
    let command: Command = serde_json::from_slice(&text).map_err(|error| ExecError::Talk(error.into()))?;
    let why = become_command(&command);
    socket.write_all(why.as_bytes()).map_err(ExecError::Talk)
}

/// Returns only when that is not possible, with the reason.
fn become_command(command: &Command) -> String {
    // Fails only for a leader of a group, which this process is when it was started as one; then it leads its own.
    let _ = setsid();
    for group in &command.control_groups {
        if let Err(error) = control_group::enter(group) {
            return format!("could not enter the control group {}: {error}", group.display());
        }
    }
    // Before the user changes: folders above may be closed to the task's user, and its own is its own.
    if let Err(error) = std::env::set_current_dir(&command.folder) {
        return format!("could not enter the folder {}: {error}", command.folder.display());
    }
    if !command.user.is_empty()
        && let Err(why) = become_user(&command.user)
    {
        return why;
    }
    let nothing = File::open("/dev/null").and_then(|file| Ok(dup2_stdin(file)?));
    if let Err(error) = nothing {
        return format!("could not open /dev/null: {error}");
    }
    // From here also what is closed from above can be reached.
    let within = command.program.strip_prefix(&command.folder).map(|rest| Path::new(".").join(rest));
    let error = process::Command::new(within.as_ref().unwrap_or(&command.program))
        .arg0(&command.program)
        .args(&command.arguments)
        .env_clear()
        .envs(&command.env)
        .exec();
    format!("could not start {} in {}: {error}", command.program.display(), command.folder.display())
}

fn become_user(text: &str) -> Result<(), String> {
    let (name, group) = text.split_once(':').map_or((text, None), |(name, group)| (name, Some(group)));
    let numeric = name.parse::<u32>().ok().map(Uid::from_raw);
    let known = match numeric {
        Some(uid) => User::from_uid(uid),
        None => User::from_name(name),
    };
    let known = known.map_err(|error| format!("could not look up user {name}: {error}"))?;
    let Some(uid) = numeric.or_else(|| known.as_ref().map(|user| user.uid)) else {
        return Err(format!("there is no user `{name}` on this host"));
    };
    let gid = match group {
        Some(group) => find_group(group)?,
        None => known.as_ref().map_or_else(|| Gid::from_raw(uid.as_raw()), |user| user.gid),
    };
    if uid == Uid::effective() && gid == Gid::effective() {
        return Ok(());
    }
    let account = CString::new(known.map_or_else(|| name.to_owned(), |user| user.name));
    let account = account.map_err(|_| format!("user name `{name}` holds a zero byte"))?;
    initgroups(&account, gid)
        .and_then(|()| setgid(gid))
        .and_then(|()| setuid(uid))
        .map_err(|error| format!("could not become user {text}: {error}; the agent must run as root for that"))
}

fn find_group(text: &str) -> Result<Gid, String> {
    if let Ok(number) = text.parse::<u32>() {
        return Ok(Gid::from_raw(number));
    }
    match Group::from_name(text) {
        Ok(Some(group)) => Ok(group.gid),
        Ok(None) => Err(format!("there is no group `{text}` on this host")),
        Err(error) => Err(format!("could not look up group {text}: {error}")),
    }
}
