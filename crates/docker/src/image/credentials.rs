//! What a registry is shown: the task's own `auth`, else the agent's file and helpers, for the host that is asked.
//!
//! The first source that has something, or fails, decides. "Not found" is not a failure: the next source is asked.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use base64::Engine as _;
use longshore_engine::RegistryAuth;
use longshore_model::ImageRef;
use longshore_values::{Secret, masked};
use serde::Deserialize;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};

use crate::options::AuthOptions;

/// Why no credentials could be had. No text of a helper's standard output is in it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CredentialsError {
    #[error("the file of registry credentials {path} could not be read (plugin \"docker\" auth.config)")]
    File {
        path: String,
        #[source]
        source: std::io::Error,
    },
    /// Without what the reader says of it: that repeats values.
    #[error(
        "line {line}, column {column} of the file of registry credentials {path} is not in the form of Docker's config.json"
    )]
    Form { path: String, line: usize, column: usize },
    #[error("the entry for {key} in the file of registry credentials {path} cannot be read")]
    Entry { path: String, key: String },
    #[error("{program} could not be run; it has to be on the agent's PATH, or on the PATH that auth.helper_env gives")]
    Start {
        program: String,
        #[source]
        source: std::io::Error,
    },
    #[error("{program} failed for {key}: {message}")]
    Helper { program: String, key: String, message: String },
    #[error("{program} gave no answer for {key} within {after:?}, and was killed")]
    Timeout { program: String, key: String, after: Duration },
}

/// Where credentials were found, for people.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum Source {
    Task,
    /// An entry of the file.
    File(PathBuf),
    /// A helper that the file names, for this registry or for all.
    HelperOfFile {
        program: String,
        file: PathBuf,
    },
    /// The helper that the agent's options name.
    Helper {
        program: String,
    },
    #[default]
    Nowhere,
}

impl Source {
    /// Whether it makes credentials anew each time, which may then last for a short while only.
    pub(crate) fn is_helper(&self) -> bool {
        matches!(self, Self::HelperOfFile { .. } | Self::Helper { .. })
    }
}

/// How the registry was asked.
impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Task => f.write_str("with the credentials of the task's auth block"),
            Self::File(path) => write!(f, "with the credentials of the file auth.config ({})", path.display()),
            Self::HelperOfFile { program, file } => {
                write!(f, "with the credentials of the helper {program}, which {} names", file.display())
            }
            Self::Helper { program } => {
                write!(f, "with the credentials of the helper {program}, which auth.helper names")
            }
            Self::Nowhere => f.write_str("without credentials"),
        }
    }
}

const FILE_BYTES_MAX: u64 = 1 << 20;
const HELPER_BYTES_MAX: u64 = 1 << 20;
const STDERR_SHOWN_MAX: usize = 300;

/// How Docker's file and helpers call Docker Hub.
const HUB: &str = "docker.io";
const HUB_KEY: &str = "https://index.docker.io/v1/";

/// The credentials for a pull of `name`.
pub(crate) async fn resolve(
    name: &ImageRef,
    of_task: Option<&RegistryAuth>,
    options: &AuthOptions,
) -> Result<(Option<RegistryAuth>, Source), CredentialsError> {
    if let Some(auth) = of_task {
        return Ok((Some(auth.clone()), Source::Task));
    }
    let Some(host) = name.registry() else { return Ok((None, Source::Nowhere)) };
    if let Some(path) = &options.config
        && let Some((auth, source)) = of_file(path, host, options).await?
    {
        return Ok((Some(auth), source));
    }
    if let Some(helper) = &options.helper
        && let Some((auth, program)) = of_helper(helper, host, options).await?
    {
        return Ok((Some(auth), Source::Helper { program }));
    }
    Ok((None, Source::Nowhere))
}

#[derive(Debug, Default, Deserialize)]
struct ConfigFile {
    #[serde(default)]
    auths: BTreeMap<String, AuthEntry>,
    #[serde(default, rename = "credHelpers")]
    cred_helpers: BTreeMap<String, String>,
    #[serde(default, rename = "credsStore")]
    creds_store: Option<String>,
}

#[derive(Debug, Clone, Default, Deserialize)]
struct AuthEntry {
    /// Base64 of `user:password`.
    #[serde(default)]
    auth: Secret,
    #[serde(default)]
    username: String,
    #[serde(default)]
    password: Secret,
    #[serde(default)]
    identitytoken: Secret,
}

async fn of_file(
    path: &Path,
    host: &str,
    options: &AuthOptions,
) -> Result<Option<(RegistryAuth, Source)>, CredentialsError> {
    let shown = path.display().to_string();
    let text = read_limited(path).await.map_err(|source| CredentialsError::File { path: shown.clone(), source })?;
    let file: ConfigFile = serde_json::from_slice(&text).map_err(|error| CredentialsError::Form {
        path: shown.clone(),
        line: error.line(),
        column: error.column(),
    })?;
    if let Some(entry) = entry_for(&file.auths, host) {
        let auth = entry.decode().ok_or_else(|| CredentialsError::Entry { path: shown, key: host.to_owned() })?;
        if !auth.is_empty() {
            return Ok(Some((auth, Source::File(path.to_owned()))));
        }
    }
    let helper = keys(host).into_iter().find_map(|key| file.cred_helpers.get(key)).or(file.creds_store.as_ref());
    match helper {
        Some(helper) if !helper.is_empty() => {
            let found = of_helper(helper, host, options).await?;
            Ok(found.map(|(auth, program)| (auth, Source::HelperOfFile { program, file: path.to_owned() })))
        }
        _ => Ok(None),
    }
}

async fn read_limited(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut text = Vec::new();
    tokio::fs::File::open(path).await?.take(FILE_BYTES_MAX + 1).read_to_end(&mut text).await?;
    if text.len() as u64 > FILE_BYTES_MAX {
        return Err(std::io::Error::other(format!(
            "larger than the limit \"registry credentials file\" of {FILE_BYTES_MAX} bytes"
        )));
    }
    Ok(text)
}

/// The keys that a registry may stand under, the right one first.
fn keys(host: &str) -> Vec<&str> {
    if host == HUB { vec![HUB_KEY, HUB, "index.docker.io"] } else { vec![host] }
}

fn entry_for<'a>(auths: &'a BTreeMap<String, AuthEntry>, host: &str) -> Option<&'a AuthEntry> {
    let exact = keys(host).into_iter().find_map(|key| auths.get(key));
    exact.or_else(|| auths.iter().find(|(key, _)| host_of(key) == host).map(|(_, entry)| entry))
}

/// The host of a key, which may carry scheme and path.
fn host_of(key: &str) -> &str {
    let key = key.strip_prefix("https://").or_else(|| key.strip_prefix("http://")).unwrap_or(key);
    key.split('/').next().unwrap_or(key)
}

impl AuthEntry {
    fn decode(&self) -> Option<RegistryAuth> {
        let (mut username, mut password) = (self.username.clone(), self.password.clone());
        if !self.auth.is_empty() {
            let bytes = base64::engine::general_purpose::STANDARD.decode(self.auth.reveal()).ok()?;
            let text = String::from_utf8(bytes).ok()?;
            let (user, pass) = text.split_once(':')?;
            username = user.to_owned();
            password = Secret::new(pass.trim_end_matches('\0'));
        }
        Some(RegistryAuth { username, password, identity_token: self.identitytoken.clone(), ..RegistryAuth::default() })
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct HelperAnswer {
    #[serde(default)]
    username: String,
    #[serde(default)]
    secret: Secret,
}

/// How a helper says that what it gives is a token, not a password.
const TOKEN_USER: &str = "<token>";

/// With the name of the program that gave them.
async fn of_helper(
    helper: &str,
    host: &str,
    options: &AuthOptions,
) -> Result<Option<(RegistryAuth, String)>, CredentialsError> {
    let program = format!("docker-credential-{helper}");
    if helper.contains('/') {
        let source = std::io::Error::other("its name must not hold a slash");
        return Err(CredentialsError::Start { program, source });
    }
    // Helpers know Docker Hub by its old address; some only by its host.
    for key in keys(host).into_iter().take(2) {
        if let Some(answer) = ask(&program, key, options).await? {
            let auth = if answer.username == TOKEN_USER {
                RegistryAuth { identity_token: answer.secret, ..RegistryAuth::default() }
            } else {
                RegistryAuth { username: answer.username, password: answer.secret, ..RegistryAuth::default() }
            };
            if !auth.is_empty() {
                return Ok(Some((auth, program)));
            }
        }
    }
    Ok(None)
}

/// Asks one helper. Whatever it has started is ended with it.
async fn ask(program: &str, key: &str, options: &AuthOptions) -> Result<Option<HelperAnswer>, CredentialsError> {
    let limit = options.helper_timeout.to_std();
    let start = |source| CredentialsError::Start { program: program.to_owned(), source };
    let mut child = tokio::process::Command::new(program)
        .arg("get")
        // With a PATH of its own it is looked for there.
        .envs(&options.helper_env)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true)
        .spawn()
        .map_err(start)?;
    let group = ProcessGroup::of(&child);
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let talk = async {
        if let Some(mut stdin) = stdin {
            // One that does not read its input still answers or fails.
            let _ = stdin.write_all(key.as_bytes()).await;
        }
        let (out, err) = tokio::join!(read_some(stdout), read_some(stderr));
        let status = child.wait().await;
        Ok::<_, std::io::Error>((status?, out?, err?))
    };
    let timed_out = |_| CredentialsError::Timeout { program: program.to_owned(), key: key.to_owned(), after: limit };
    let (status, out, err) = tokio::time::timeout(limit, talk).await.map_err(timed_out)?.map_err(start)?;
    drop(group);
    let failed =
        |message: String| CredentialsError::Helper { program: program.to_owned(), key: key.to_owned(), message };
    if status.success() {
        return serde_json::from_slice(&out).map(Some).map_err(|_| failed("its answer is no JSON".to_owned()));
    }
    if says_not_found(&out) || says_not_found(&err) {
        return Ok(None);
    }
    let told: String = masked(String::from_utf8_lossy(&err).trim()).chars().take(STDERR_SHOWN_MAX).collect();
    Err(failed(if told.is_empty() { format!("it ended with {status}") } else { told }))
}

async fn read_some(pipe: Option<impl AsyncRead + Unpin>) -> std::io::Result<Vec<u8>> {
    let mut text = Vec::new();
    if let Some(pipe) = pipe {
        pipe.take(HELPER_BYTES_MAX).read_to_end(&mut text).await?;
    }
    Ok(text)
}

/// A helper and what it started; killed when dropped.
struct ProcessGroup(Option<nix::unistd::Pid>);

impl ProcessGroup {
    fn of(child: &tokio::process::Child) -> Self {
        Self(child.id().and_then(|id| i32::try_from(id).ok()).map(nix::unistd::Pid::from_raw))
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        if let Some(group) = self.0 {
            // Usually there is nothing left of it.
            let _ = nix::sys::signal::killpg(group, nix::sys::signal::Signal::SIGKILL);
        }
    }
}

/// What the helpers of Docker print, on either output, when they have nothing.
fn says_not_found(text: &[u8]) -> bool {
    let text = String::from_utf8_lossy(text).to_lowercase();
    ["credentials not found", "no credentials server url", "not found in the keychain", "item could not be found"]
        .iter()
        .any(|words| text.contains(words))
}

#[cfg(test)]
mod tests {
    use longshore_values::GoDuration;

    use super::*;
    use crate::image::with_causes;

    fn name(text: &str) -> ImageRef {
        text.parse().unwrap()
    }

    async fn check(file: &str, image: &str, expected: &str) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.json");
        std::fs::write(&path, file).unwrap();
        let options = AuthOptions { config: Some(path), ..AuthOptions::default() };
        let got = match resolve(&name(image), None, &options).await {
            Ok((Some(auth), _)) => format!("{}:{}", auth.username, auth.password.reveal()),
            Ok((None, source)) => format!("{source:?}"),
            Err(why) => why.to_string().replace(&folder.path().display().to_string(), "DIR"),
        };
        assert_eq!(got, expected, "{file} {image}");
    }

    #[tokio::test]
    async fn files_are_read_by_host() {
        // "ann:p:w" in base64.
        let file = r#"{"auths": {"https://index.docker.io/v1/": {"auth": "YW5uOnA6dw=="},
            "reg.example:5000": {"username": "bob", "password": "x"}, "https://old.example/v2/": {"username": "old"},
            "bad.example": {"auth": "???"}, "empty.example": {}}}"#;
        check(file, "redis:7", "ann:p:w").await;
        check(file, "reg.example:5000/a:1", "bob:x").await;
        check(file, "reg.example/a:1", "Nowhere").await;
        check(file, "old.example/a:1", "old:").await;
        check(file, "empty.example/a:1", "Nowhere").await;
        check(
            file,
            "bad.example/a:1",
            "the entry for bad.example in the file of registry credentials DIR/config.json cannot be read",
        )
        .await;
        let at = |line, column| {
            format!(
                "line {line}, column {column} of the file of registry credentials DIR/config.json is not in the form of Docker's config.json"
            )
        };
        check("[", "redis:7", &at(1, 1)).await;
        // What stands in the wrong place may be a secret.
        check("{\"auths\": {\n\"reg.example\": \"czNjcjN0\"}}", "redis:7", &at(2, 25)).await;
        check("{}", "redis:7", "Nowhere").await;
    }

    #[tokio::test]
    async fn a_task_s_own_come_first() {
        let auth = RegistryAuth { username: "t".into(), ..RegistryAuth::default() };
        let missing = AuthOptions { config: Some("/nowhere/config.json".into()), ..AuthOptions::default() };
        assert_eq!(resolve(&name("a:1"), Some(&auth), &missing).await.unwrap(), (Some(auth), Source::Task));
        assert!(matches!(resolve(&name("a:1"), None, &missing).await, Err(CredentialsError::File { .. })));
        let helper = AuthOptions { helper: Some("longshore-none".into()), ..AuthOptions::default() };
        assert!(matches!(resolve(&name("a:1"), None, &helper).await, Err(CredentialsError::Start { .. })));
    }

    #[test]
    fn not_found_is_told_from_failure() {
        assert!(says_not_found(b"credentials not found in native keychain\n"));
        assert!(!says_not_found(b"gpg: decryption failed"));
    }

    fn limited() -> AuthOptions {
        AuthOptions { helper_timeout: GoDuration::milliseconds(1_500), ..AuthOptions::default() }
    }

    #[tokio::test]
    async fn helpers_are_found_by_their_own_path_and_named_to_people() {
        let folder = tempfile::tempdir().unwrap();
        let script = |name: &str, text: &str| {
            let path = folder.path().join(format!("docker-credential-{name}"));
            std::fs::write(&path, format!("#!/bin/sh\nread key\n{text}\n")).unwrap();
            std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
        };
        script("none", "echo credentials not found in native keychain; exit 1");
        script("all", r#"echo "{\"Username\":\"<token>\",\"Secret\":\"$FOR-$key\"}""#);
        let file = folder.path().join("config.json");
        std::fs::write(&file, r#"{"credHelpers": {"a.example": "none", "b.example": "all"}}"#).unwrap();
        let path = format!("{}:/usr/bin:/bin", folder.path().display());
        let options = AuthOptions {
            config: Some(file),
            helper: Some("all".to_owned()),
            helper_env: [("PATH".to_owned(), path), ("FOR".to_owned(), "me".to_owned())].into(),
            ..limited()
        };
        for (image, expected) in [
            ("a.example/x:1", "the helper docker-credential-all, which auth.helper names"),
            ("b.example/x:1", "the helper docker-credential-all, which DIR/config.json names"),
        ] {
            let (auth, source) = resolve(&name(image), None, &options).await.unwrap();
            assert_eq!(auth.unwrap().identity_token.reveal(), format!("me-{}", &image[..9]));
            let shown = source.to_string().replace(&folder.path().display().to_string(), "DIR");
            assert_eq!(shown, format!("with the credentials of {expected}"), "{image}");
        }
    }

    /// What a helper script makes of being asked.
    async fn check_helper(script: &str, expected: &str) {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("docker-credential-x");
        std::fs::write(&program, format!("#!/bin/sh\ncd {}\n{script}\n", folder.path().display())).unwrap();
        std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
        let program = program.to_str().unwrap();
        let got = match ask(program, "reg.example", &limited()).await {
            Ok(Some(answer)) => format!("{}:{}", answer.username, answer.secret.reveal()),
            Ok(None) => "nothing".to_owned(),
            Err(why) => with_causes(&why).replace(program, "HELPER"),
        };
        assert_eq!(got, expected, "{script}");
        if let Ok(pid) = std::fs::read_to_string(folder.path().join("pid")) {
            let gone =
                || std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).is_ok_and(|it| it.contains(") Z "));
            let deadline = std::time::Instant::now() + Duration::from_secs(10);
            while Path::new(&format!("/proc/{}", pid.trim())).exists() && !gone() {
                assert!(std::time::Instant::now() < deadline, "what the helper started is still there");
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        }
    }

    #[tokio::test]
    async fn helpers_are_asked_within_a_limit_and_nothing_of_them_is_left() {
        check_helper(
            r#"read key; echo "{\"ServerURL\":\"$key\",\"Username\":\"$key\",\"Secret\":\"s\"}""#,
            "reg.example:s",
        )
        .await;
        check_helper("echo credentials not found in native keychain; exit 1", "nothing").await;
        check_helper("echo secret; echo locked >&2; exit 1", "HELPER failed for reg.example: locked").await;
        check_helper("echo secret", "HELPER failed for reg.example: its answer is no JSON").await;
        let silent = "HELPER gave no answer for reg.example within 1.5s, and was killed";
        check_helper("sleep 1000 & echo $! > pid; wait", silent).await;
        // It ends at once, and what it leaves behind keeps the pipe open.
        check_helper("sleep 1000 & echo $! > pid", silent).await;
    }
}
