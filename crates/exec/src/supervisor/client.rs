//! The agent's side: finds the supervisor of the node, or starts it.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::process::Command;
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::protocol::{Answer, Request};
use super::record::Records;
use super::server::{SOCKET, short_path};
use crate::ExecError;

const START_MAX: Duration = Duration::from_secs(10);
const LOG: &str = "supervisor.log";
/// The supervisor's own log begins anew when it has grown beyond this.
const LOG_BYTES_MAX: u64 = 1 << 20;

/// How the supervisor is started: `program arguments… folder`.
#[derive(Debug, Clone)]
pub(crate) struct Launch {
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<String>,
    /// It ends, with all its tasks, when this process does.
    pub(crate) ends_with_agent: bool,
}

/// The supervisor of this node, started when it is first needed.
#[derive(Debug)]
pub(crate) struct Supervisor {
    folder: PathBuf,
    launch: Launch,
    /// The connection that tells the supervisor that an agent is here.
    attached: Mutex<Option<UnixStream>>,
}

impl Supervisor {
    pub(crate) fn new(folder: PathBuf, launch: Launch) -> Self {
        Self { folder, launch, attached: Mutex::new(None) }
    }

    /// Whether an earlier one may have left something here: then it is to be asked.
    pub(crate) fn has_left_something(&self) -> bool {
        self.folder.join(SOCKET).exists() || !Records::at(&self.folder).is_empty()
    }

    /// Asks, starting the supervisor if there is none.
    pub(crate) async fn ask(&self, request: &Request) -> Result<Answer, ExecError> {
        self.attach().await?;
        let stream = self.connect().await.map_err(ExecError::Talk)?;
        let (_, answer) = exchange(stream, request).await.map_err(ExecError::Talk)?;
        match answer {
            Answer::Refused(why) => Err(ExecError::Refused(why)),
            other => Ok(other),
        }
    }

    /// Lets go: what runs goes on, unless it ends with the agent.
    pub(crate) async fn detach(&self) {
        drop(self.attached.lock().await.take());
    }

    async fn attach(&self) -> Result<(), ExecError> {
        let mut attached = self.attached.lock().await;
        if let Some(stream) = &*attached {
            // Readable only when the other end has gone: nothing is ever said on it.
            let mut nothing = [0];
            let gone =
                !matches!(stream.try_read(&mut nothing), Err(error) if error.kind() == io::ErrorKind::WouldBlock);
            if !gone {
                return Ok(());
            }
        }
        let deadline = Instant::now() + START_MAX;
        let request = Request::Attach { ends_with_agent: self.launch.ends_with_agent };
        let mut launched = false;
        let mut pause = Duration::from_millis(1);
        loop {
            let attempt = async { exchange(self.connect().await?, &request).await };
            match attempt.await {
                Ok((stream, Answer::Done)) => {
                    *attached = Some(stream);
                    return Ok(());
                }
                Ok(_) => return Err(ExecError::Misunderstood),
                Err(_) if !launched => {
                    self.launch()?;
                    launched = true;
                }
                Err(_) if Instant::now() < deadline => {}
                Err(_) => {
                    let log = self.folder.join(LOG);
                    return Err(ExecError::Silent { seconds: START_MAX.as_secs(), log });
                }
            }
            // A socket that is not there yet announces itself to nobody.
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(Duration::from_millis(50));
        }
    }

    async fn connect(&self) -> io::Result<UnixStream> {
        let folder = File::open(&self.folder)?;
        UnixStream::connect(short_path(&folder, SOCKET)).await
    }

    fn launch(&self) -> Result<(), ExecError> {
        let files = |doing, path: PathBuf| move |source| ExecError::Files { doing, path, source };
        let made = DirBuilder::new().recursive(true).mode(0o700).create(&self.folder);
        made.map_err(files("make", self.folder.clone()))?;
        let log_path = self.folder.join(LOG);
        let too_long = std::fs::metadata(&log_path).is_ok_and(|found| found.len() > LOG_BYTES_MAX);
        let mut options = OpenOptions::new();
        options.create(true).mode(0o600);
        let options = if too_long { options.write(true).truncate(true) } else { options.append(true) };
        let log = options.open(&log_path).map_err(files("open", log_path))?;
        let launch = &self.launch;
        let mut child = Command::new(&launch.program)
            .arg0("longshore")
            .args(&launch.arguments)
            .arg(&self.folder)
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .map_err(|source| ExecError::Launch { program: launch.program.clone(), source })?;
        // It outlives this process; while this one lives, it must not stay as a zombie.
        tokio::spawn(async move { child.wait().await });
        Ok(())
    }
}

async fn exchange(stream: UnixStream, request: &Request) -> io::Result<(UnixStream, Answer)> {
    let mut line = serde_json::to_vec(request)?;
    line.push(b'\n');
    let mut stream = BufReader::new(stream);
    stream.write_all(&line).await?;
    let mut answer = String::new();
    if stream.read_line(&mut answer).await? == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok((stream.into_inner(), serde_json::from_str(&answer)?))
}
