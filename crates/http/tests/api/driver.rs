//! A driver named `docker` that runs nothing: its tasks start when the test lets them, and run until they are stopped.
//! It knows two images.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use longshore_driver::{
    AcceptRequest, Adopted, Capabilities, Collected, ConfigFault, Driver, DriverError, ExitResult, Explained,
    Fingerprint, ImageCount, ImageExplanation, ImageHolder, ImageReport, Images, KnownAllocation, PauseReport,
    PinReport, Pulled, Reason, Recovered, StartRequest, Started, TaskHandle, TaskId,
};
use longshore_model::{AllocId, Provenance, Timestamp};
use longshore_values::GoDuration;
use serde_json::Value;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

pub(crate) struct Stage {
    may_start: watch::Sender<bool>,
    running: Mutex<BTreeMap<TaskId, CancellationToken>>,
    /// How many starts wait until they may.
    held: AtomicUsize,
    start_fails: Mutex<Option<&'static str>>,
    has_images: bool,
    is_away: AtomicBool,
    paused: Mutex<Option<PauseReport>>,
    /// `task: signal`, as they came.
    signals: Mutex<Vec<String>>,
}

impl Stage {
    pub(crate) fn new(may_start: bool, has_images: bool) -> Self {
        Self {
            may_start: watch::Sender::new(may_start),
            running: Mutex::default(),
            held: AtomicUsize::new(0),
            start_fails: Mutex::default(),
            has_images,
            is_away: AtomicBool::new(false),
            paused: Mutex::default(),
            signals: Mutex::default(),
        }
    }

    pub(crate) fn held(&self) -> usize {
        self.held.load(Ordering::SeqCst)
    }

    /// From now on nothing starts until it may.
    pub(crate) fn hold_starts(&self) {
        self.may_start.send_replace(false);
    }

    /// From now on every start fails for good, so.
    pub(crate) fn fail_starts(&self, why: &'static str) {
        *self.start_fails.lock().unwrap_or_else(PoisonError::into_inner) = Some(why);
    }

    pub(crate) fn let_start(&self) {
        self.may_start.send_replace(true);
    }

    /// From now on its images cannot be asked for.
    pub(crate) fn go_away(&self) {
        self.is_away.store(true, Ordering::SeqCst);
    }

    pub(crate) fn signals(&self) -> Vec<String> {
        std::mem::take(&mut *self.signals.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn stopped(&self, task: &TaskId) -> CancellationToken {
        self.running.lock().unwrap_or_else(PoisonError::into_inner).entry(task.clone()).or_default().clone()
    }
}

#[async_trait]
impl Driver for Stage {
    fn name(&self) -> &'static str {
        "docker"
    }
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            send_signals: true,
            exec: false,
            image_isolation: true,
            group_networks: false,
            dies_with_agent: true,
        }
    }
    async fn fingerprint(&self) -> Fingerprint {
        Fingerprint {
            detected: true,
            healthy: true,
            description: "Healthy".to_owned(),
            attributes: BTreeMap::from([("driver.docker".to_owned(), "true".to_owned())]),
        }
    }
    async fn fingerprint_changed(&self) {
        std::future::pending().await
    }
    fn check_config(&self, config: &Value) -> Result<(), DriverError> {
        match config.get("colour") {
            Some(_) => {
                let message = "`colour` is no option of this driver".to_owned();
                let fault = ConfigFault { path: vec!["colour".to_owned()], message: message.clone() };
                Err(DriverError::fatal(message).with_config_faults(vec![fault]))
            }
            None => Ok(()),
        }
    }
    fn ports_named(&self, config: &Value) -> Vec<String> {
        let ports = config["ports"].as_array().into_iter().flatten();
        ports.filter_map(Value::as_str).map(str::to_owned).collect()
    }
    async fn accept(&self, _: AcceptRequest) -> Result<(), DriverError> {
        Ok(())
    }
    async fn start(&self, request: StartRequest) -> Result<Started, DriverError> {
        let mut gate = self.may_start.subscribe();
        self.held.fetch_add(1, Ordering::SeqCst);
        let opened = gate.wait_for(|open| *open).await.map(|_| ());
        self.held.fetch_sub(1, Ordering::SeqCst);
        opened.map_err(|_| DriverError::cancelled("the test is over"))?;
        if let Some(why) = *self.start_fails.lock().unwrap_or_else(PoisonError::into_inner) {
            return Err(DriverError::fatal(why));
        }
        let running = CancellationToken::new();
        self.running.lock().unwrap_or_else(PoisonError::into_inner).insert(request.id.clone(), running);
        let handle = TaskHandle { id: request.id, driver: "docker".to_owned(), state: Value::Null };
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let started_at = Timestamp::from_nanoseconds(since.as_nanos().try_into().unwrap());
        Ok(Started { handle, address: None, started_at })
    }
    async fn recover(&self, _: &TaskHandle, _: StartRequest) -> Result<Recovered, DriverError> {
        Ok(Recovered::Gone)
    }
    async fn wait(&self, handle: &TaskHandle) -> Result<ExitResult, DriverError> {
        self.stopped(&handle.id).cancelled().await;
        Ok(ExitResult { exit_code: 0, signal: 0, oom_killed: false, by_engine: false, message: String::new() })
    }
    async fn stop(&self, handle: &TaskHandle, _: &str, _: GoDuration) -> Result<(), DriverError> {
        self.stopped(&handle.id).cancel();
        Ok(())
    }
    async fn destroy(&self, _: &TaskHandle) -> Result<(), DriverError> {
        Ok(())
    }
    async fn signal(&self, handle: &TaskHandle, signal: &str) -> Result<(), DriverError> {
        let said = format!("{}: {signal}", handle.id.task);
        self.signals.lock().unwrap_or_else(PoisonError::into_inner).push(said);
        Ok(())
    }
    async fn forget(&self, _: AllocId, _: Timestamp) -> Result<(), DriverError> {
        Ok(())
    }
    async fn restore(&self, _: Vec<KnownAllocation>) -> Result<(), DriverError> {
        Ok(())
    }
    fn images(&self) -> Option<&dyn Images> {
        self.has_images.then_some(self)
    }
    async fn shutdown(&self) {}
}

#[async_trait]
impl Images for Stage {
    async fn list(&self) -> Result<Vec<ImageReport>, DriverError> {
        if self.is_away.load(Ordering::SeqCst) {
            let why = std::io::Error::other("it is being restarted");
            return Err(DriverError::retry("the engine does not answer").caused_by(why));
        }
        Ok(reports())
    }
    async fn counts(&self) -> Result<Vec<ImageCount>, DriverError> {
        Ok(vec![ImageCount { what: "removals", labels: vec![("reason", "due"), ("outcome", "removed")], value: 3.0 }])
    }
    async fn explain(&self, name: &str) -> Result<Explained, DriverError> {
        let found = reports().into_iter().find(|report| report.name == name);
        Ok(match found {
            Some(report) => Explained::Known(ImageExplanation { report, lines: vec!["a task holds it".to_owned()] }),
            None => Explained::Unknown {
                looked_for: format!("docker.io/library/{name}"),
                near: if name == "redis:8" { vec!["redis:7".to_owned()] } else { Vec::new() },
            },
        })
    }
    async fn pin(&self, pattern: &str, who: &str) -> Result<PinReport, DriverError> {
        if pattern.is_empty() {
            return Err(DriverError::fatal("the pattern is empty").hint("write one"));
        }
        Ok(PinReport {
            pattern: pattern.to_owned(),
            who: who.to_owned(),
            at: Timestamp::from_seconds(1_796_060_496),
            names: vec!["redis:7".to_owned()],
        })
    }
    async fn unpin(&self, pattern: &str) -> Result<bool, DriverError> {
        Ok(pattern == "redis:7")
    }
    async fn pins(&self) -> Result<Vec<PinReport>, DriverError> {
        Ok(vec![self.pin("redis:*", "ann").await?])
    }
    async fn adopt(&self, pattern: &str, who: &str, dry_run: bool) -> Result<Vec<Adopted>, DriverError> {
        if pattern == "none:*" {
            return Err(DriverError::fatal("no image here matches none:*").because(Reason::NotFound));
        }
        let outcome = if dry_run { "would be adopted".to_owned() } else { format!("adopted by {who}") };
        let (name, content_id) = (pattern.to_owned(), "sha256:0123".to_owned());
        Ok(vec![Adopted { name, content_id, size_bytes: 4_000_000, adopted: !dry_run, outcome }])
    }
    async fn pause(&self, span: GoDuration, who: &str) -> Result<Option<PauseReport>, DriverError> {
        let at = Timestamp::from_seconds(1_796_060_496);
        let pause = PauseReport { who: who.to_owned(), at, until: at.plus(span) };
        *self.paused.lock().unwrap_or_else(PoisonError::into_inner) = Some(pause).filter(|_| !span.is_zero());
        self.paused().await
    }
    async fn paused(&self) -> Result<Option<PauseReport>, DriverError> {
        Ok(self.paused.lock().unwrap_or_else(PoisonError::into_inner).clone())
    }
    async fn collect(&self, dry_run: bool) -> Result<Vec<Collected>, DriverError> {
        let outcome = if dry_run { "would be removed" } else { "removed" };
        let collected = |report: &ImageReport| Collected {
            name: report.name.clone(),
            content_id: report.content_id.clone(),
            size_bytes: report.size_bytes,
            removed: !dry_run,
            outcome: outcome.to_owned(),
        };
        Ok(reports().iter().take(1).map(collected).collect())
    }
    async fn pull(&self, name: &str, fresh: bool) -> Result<Pulled, DriverError> {
        let refused = |why: &str| DriverError::retry(format!("could not pull image {name}: {why}"));
        match name {
            "none:1" => return Err(refused("access denied")),
            "gone:1" => return Err(refused("not found").because(Reason::NotFound)),
            "theirs:1" => return Err(refused("another agent keeps this engine").because(Reason::KeptElsewhere)),
            _ => {}
        }
        Ok(Pulled {
            name: name.to_owned(),
            content_id: "sha256:0123".to_owned(),
            size_bytes: 4_000_000,
            message: if fresh { "pulled" } else { "present" }.to_owned(),
            kept_until: Timestamp::from_seconds(1_796_060_496),
        })
    }
    async fn keeper_note(&self) -> Option<String> {
        None
    }
}

fn reports() -> Vec<ImageReport> {
    let report = |name: &str| ImageReport {
        name: name.to_owned(),
        content_id: "sha256:0123".to_owned(),
        size_bytes: 4_000_000,
        provenance: Provenance::Obtained,
        state: "idle".to_owned(),
        holders: Vec::new(),
        reason: "nobody needs it".to_owned(),
        due_at: Some(Timestamp::from_seconds(1_796_060_496)),
        idle_since: Some(Timestamp::from_seconds(1_796_060_316)),
        last_used_at: Some(Timestamp::from_seconds(1_796_060_313)),
        progress: String::new(),
    };
    let holder = ImageHolder { kind: "task".to_owned(), id: "a1".to_owned(), task: "httpd".to_owned() };
    let held = ImageReport {
        state: "held".to_owned(),
        holders: vec![holder],
        due_at: None,
        idle_since: None,
        ..report("127.0.0.1:5000/demo/web:1")
    };
    vec![report("redis:7"), held]
}
