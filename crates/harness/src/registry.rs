//! A registry on loopback of an engine's namespace. Images are pushed to it directly, so that the engine and its events
//! know nothing of them until somebody pulls.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use crate::image::digest;
use crate::{Address, Body, Engine, HarnessError, Image, Namespace, Process, Result, eventually, http, program};

const PATIENCE: Duration = Duration::from_secs(30);

/// A registry without passwords. Ends when dropped.
#[derive(Debug)]
pub struct Registry {
    process: Process,
    namespace: Namespace,
    address: SocketAddr,
}

impl Registry {
    /// Starts it beside the engine, at `127.0.0.1:5000` of the engine's namespace.
    ///
    /// # Errors
    /// When the program is missing or does not answer.
    pub fn start(engine: &Engine) -> Result<Self> {
        Self::start_at(engine, 5000)
    }

    /// Starts it at another port.
    ///
    /// # Errors
    /// As for [`Registry::start`].
    pub fn start_at(engine: &Engine, port: u16) -> Result<Self> {
        let run = engine.run();
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let data = run.dir().join(format!("registry-{port}"));
        let config = format!(
            "version: 0.1\nlog:\n  level: warn\n  accesslog:\n    disabled: false\nstorage:\n  delete:\n    enabled: true\n  \
             filesystem:\n    rootdirectory: {}\nhttp:\n  addr: {address}\n",
            data.display()
        );
        let config = run.write(&format!("registry-{port}.yml"), config)?;
        let mut command = engine.namespace().command(&program("docker-registry", "docker-registry")?)?;
        command.arg("serve").arg(config);
        let mut process = Process::spawn(run, &format!("registry-{port}"), command)?;
        let namespace = engine.namespace().clone();
        namespace.inside(|| {
            eventually(PATIENCE, "the registry to answer", || {
                if let Ok(Some(status)) = process.ended() {
                    return Err(format!("it ended ({status}): {}", process.log_tail(6)));
                }
                let answer = http::request(&Address::Tcp(address), "GET", "/v2/", &[], Body::Empty, PATIENCE);
                answer.map(drop).map_err(|error| error.to_string())
            })
        })?;
        Ok(Self { process, namespace, address })
    }

    /// `host:port` as it stands in image names.
    pub fn host(&self) -> String {
        self.address.to_string()
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Puts an image into a repository under a tag (an older one of that tag stays as content) and returns the digest of
    /// its manifest.
    ///
    /// # Errors
    /// When the registry refuses.
    pub fn push(&self, image: &Image, repository: &str, tag: &str) -> Result<String> {
        let manifest = image.manifest().to_string();
        self.namespace.inside(|| {
            for blob in [image.layer(), image.config()] {
                self.upload(repository, blob)?;
            }
            let path = format!("/v2/{repository}/manifests/{tag}");
            let body = Body::Bytes("application/vnd.docker.distribution.manifest.v2+json", manifest.as_bytes());
            self.ask("PUT", &path, body)?.success(&format!("push {repository}:{tag}"))
        })?;
        Ok(digest(manifest.as_bytes()))
    }

    fn upload(&self, repository: &str, blob: &[u8]) -> Result<()> {
        let doing = format!("upload a blob to {repository}");
        let begun = self.ask("POST", &format!("/v2/{repository}/blobs/uploads/"), Body::Empty)?.success(&doing)?;
        let location = begun.header("location").ok_or_else(|| HarnessError::refused(&doing, "no Location"))?;
        let own = format!("http://{}", self.address);
        let path = location.strip_prefix(&own).unwrap_or(location);
        let joint = if path.contains('?') { '&' } else { '?' };
        let path = format!("{path}{joint}digest={}", digest(blob));
        self.ask("PUT", &path, Body::Bytes("application/octet-stream", blob))?.success(&doing).map(drop)
    }

    fn ask(&self, method: &str, path: &str, body: Body<'_>) -> Result<http::Response> {
        http::request(&Address::Tcp(self.address), method, path, &[], body, PATIENCE)
    }

    /// Its access log so far, line by line.
    pub fn access_log(&self) -> Vec<String> {
        self.process.log().lines().filter(|line| line.contains("HTTP/1.")).map(str::to_owned).collect()
    }
}
