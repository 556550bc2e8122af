//! What the engine tests and the demo need on the machine, and how it gets there.
//!
//! Packages come from the distribution by `apt-get`. Installing `docker.io` or `docker-registry` would start a service on
//! a usual machine; while we install, a `policy-rc.d` forbids that, so that the machine's own services stay as they are.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use longshore_harness::{Engine, Run, program};

use crate::shell::{self, Outcome};

/// Programs with the packages that have them.
const NEEDED: &[(&str, &str)] = &[
    ("dockerd", "docker.io"),
    ("containerd", "containerd"),
    ("runc", "runc"),
    ("docker-registry", "docker-registry"),
    ("busybox", "busybox-static"),
    ("ip", "iproute2"),
    ("nsenter", "util-linux"),
];

const POLICY: &str = "/usr/sbin/policy-rc.d";

/// Sees that everything is there, installs what is not, and returns the packages that it installed.
///
/// # Errors
/// When this is not root, or something cannot be installed.
pub(crate) fn ensure() -> Outcome<Vec<&'static str>> {
    if !nix::unistd::geteuid().is_root() {
        return Err("a private Docker engine needs root; hint: run it as root, for example with \
                    `sudo -E env \"PATH=$PATH\" cargo xtask …`"
            .into());
    }
    let mut missing: Vec<&'static str> =
        NEEDED.iter().filter(|(name, package)| program(name, package).is_err()).map(|(_, package)| *package).collect();
    missing.sort_unstable();
    missing.dedup();
    if missing.is_empty() {
        println!("Everything that is needed is installed already.");
        return Ok(missing);
    }
    println!("These Debian packages are missing and will be installed (they stay afterwards): {}", missing.join(", "));
    install(&missing)?;
    Ok(missing)
}

fn install(packages: &[&str]) -> Outcome {
    let apt = program("apt-get", "apt").map_err(|_| {
        format!("there is no apt-get on this machine; hint: install these by hand: {}", packages.join(", "))
    })?;
    let _policy = NoServiceStarts::begin()?;
    let mut update = Command::new(&apt);
    update.args(["-q", "update"]);
    let mut install = Command::new(&apt);
    install
        .args(["-q", "-y", "-o", "Dpkg::Use-Pty=0", "--no-install-recommends", "install"])
        .args(packages)
        .env("DEBIAN_FRONTEND", "noninteractive");
    // Without a network the lists on disk may still do; the installation decides.
    if let Err(error) = shell::run(&mut update) {
        println!("{error}; going on with the package lists that are there");
    }
    shell::run(&mut install).map_err(|error| {
        format!("{error}; hint: install these by hand and run the command again: {}", packages.join(", ")).into()
    })
}

/// While this lives, packages do not start their services. A policy that the machine has already is left as it is.
struct NoServiceStarts(Option<PathBuf>);

impl NoServiceStarts {
    fn begin() -> Outcome<Self> {
        let path = Path::new(POLICY);
        if path.exists() {
            println!("{POLICY} is there already and stays as it is: it decides whether the packages start services.");
            return Ok(Self(None));
        }
        fs::write(path, "#!/bin/sh\nexit 101\n").map_err(|error| format!("could not write {POLICY}: {error}"))?;
        let made = Self(Some(path.to_owned()));
        fs::set_permissions(path, fs::Permissions::from_mode(0o755))
            .map_err(|error| format!("could not make {POLICY} executable: {error}"))?;
        println!("{POLICY} forbids service starts while the packages are installed; it is removed right after.");
        Ok(made)
    }
}

impl Drop for NoServiceStarts {
    fn drop(&mut self) {
        if let Some(path) = &self.0
            && let Err(error) = fs::remove_file(path)
        {
            eprintln!("could not remove {}: {error}; hint: remove it by hand", path.display());
        }
    }
}

/// Starts a private engine and ends it again, so that what depends on one fails here and with a reason.
///
/// # Errors
/// When no engine can be had.
pub(crate) fn prove_engine() -> Outcome {
    let run = Run::start()?;
    let engine = Engine::start(&run).map_err(|error| {
        format!("no Docker engine can be had on this machine, and nothing is skipped for that: {error}")
    })?;
    drop(engine);
    run.clean()?;
    Ok(())
}
