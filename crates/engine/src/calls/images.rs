use futures_util::TryStreamExt as _;
use http_body_util::{BodyExt as _, StreamBody};
use hyper::body::Frame;
use hyper::header::{HeaderName, HeaderValue};
use tokio::io::AsyncRead;
use tokio_util::io::ReaderStream;

use crate::auth::RegistryAuth;
use crate::class::Asked;
use crate::client::{Call, Engine, Payload};
use crate::error::Error;
use crate::model::Listed;
use crate::model::image::{HistoryStep, Image, ImageRemoval, ImageSummary};
use crate::path::Path;
use crate::streams::PullStream;

const REGISTRY_AUTH: HeaderName = HeaderName::from_static("x-registry-auth");

/// How an image's name is removed. There is no `force`: it would take what others still use.
#[derive(Debug, Clone, Copy, Default)]
pub struct DeleteOptions {
    /// Keep parents that lose their last child.
    pub noprune: bool,
}

impl Engine {
    /// All images, those without a tag included, without intermediate ones.
    pub async fn images(&self) -> Result<Listed<ImageSummary>, Error> {
        self.json(Call::get(Path::new("/images/json"), "listing images")).await.map(Listed::of_values)
    }

    /// `name`: a full reference with tag or digest, or a full id. The engine also takes prefixes of ids: do not.
    pub async fn image(&self, name: &str) -> Result<Image, Error> {
        let path = Path::new("/images").then(name).then("json");
        self.json(Call::get(path, format!("inspecting image {name}"))).await
    }

    /// How the image was made, the last step first. `name` as for [`Engine::image`].
    pub async fn image_history(&self, name: &str) -> Result<Vec<HistoryStep>, Error> {
        let path = Path::new("/images").then(name).then("history");
        self.json(Call::get(path, format!("asking for the layers of image {name}"))).await
    }

    /// Gives `source` (id or reference) the further name `repository:tag`.
    pub async fn tag_image(&self, source: &str, repository: &str, tag: &str) -> Result<(), Error> {
        let path = Path::new("/images").then(source).then("tag").query("repo", repository).query("tag", tag);
        self.done(Call::post(path, format!("tagging image {source} as {repository}:{tag}"))).await
    }

    /// Removes one name, and the content with its last one unless a container uses it. `name` must be a full reference
    /// with tag or digest: ids, and words that the engine could take for the beginning of one, are refused here.
    pub async fn delete_image(&self, name: &str, options: DeleteOptions) -> Result<Vec<ImageRemoval>, Error> {
        let doing = format!("removing image {name}");
        let last = name.rsplit('/').next().unwrap_or(name);
        if !last.contains(':') || name.starts_with("sha256:") {
            let source = "not a full name with tag or digest; images are removed by name only".into();
            return Err(Error::Request { doing, source });
        }
        let path = Path::new("/images").then(name).flag("noprune", options.noprune);
        self.json(Call::delete(path, doing)).await
    }

    /// Starts a pull of `repository` at `tag` (a tag, or a digest). There is no deadline, not even for the first
    /// message: an engine waits for a silent registry without end. Dropping the future or the stream cancels.
    pub async fn pull(
        &self,
        repository: &str,
        tag: &str,
        auth: Option<&RegistryAuth>,
        platform: Option<&str>,
    ) -> Result<PullStream, Error> {
        let separator = if tag.contains(':') { '@' } else { ':' };
        let mut path = Path::new("/images/create").query("fromImage", repository).query("tag", tag);
        if let Some(platform) = platform {
            path = path.query("platform", platform);
        }
        let mut call = Call::post(path, format!("pulling image {repository}{separator}{tag}"));
        call.asked = Asked::Pull;
        call.deadline = None;
        call.headers.extend(auth_header(&call.doing, auth)?);
        Ok(PullStream::new(self.send(call).await?))
    }

    /// Sends `repository:tag` to its registry.
    pub async fn push(&self, repository: &str, tag: &str, auth: Option<&RegistryAuth>) -> Result<PullStream, Error> {
        let path = Path::new("/images").then(repository).then("push").query("tag", tag);
        let mut call = Call::post(path, format!("pushing image {repository}:{tag}"));
        call.asked = Asked::Pull;
        call.deadline = None;
        // The engine insists on the header here.
        let auth = auth.cloned().unwrap_or_default();
        call.headers.extend(auth_header(&call.doing, Some(&auth))?);
        Ok(PullStream::new(self.send(call).await?))
    }

    /// Loads an archive of images, plain or compressed. Failures come in the stream: read it to its end.
    pub async fn load_images(&self, archive: impl AsyncRead + Send + 'static, what: &str) -> Result<PullStream, Error> {
        let mut call = Call::post(Path::new("/images/load").query("quiet", "1"), format!("loading images from {what}"));
        call.payload = tar(archive);
        call.deadline = None;
        Ok(PullStream::new(self.send(call).await?))
    }

    /// Makes a one-layer image `repository:tag` from the tar of a file system. `changes` are Dockerfile lines.
    pub async fn import_image(
        &self,
        layer: impl AsyncRead + Send + 'static,
        repository: &str,
        tag: &str,
        changes: &[&str],
    ) -> Result<PullStream, Error> {
        let mut path = Path::new("/images/create").query("fromSrc", "-").query("repo", repository).query("tag", tag);
        for change in changes {
            path = path.query("changes", change);
        }
        let mut call = Call::post(path, format!("importing image {repository}:{tag}"));
        call.payload = tar(layer);
        call.deadline = None;
        Ok(PullStream::new(self.send(call).await?))
    }
}

fn tar(reader: impl AsyncRead + Send + 'static) -> Payload {
    Payload::Tar(StreamBody::new(ReaderStream::with_capacity(reader, 64 << 10).map_ok(Frame::data)).boxed_unsync())
}

fn auth_header(doing: &str, auth: Option<&RegistryAuth>) -> Result<Option<(HeaderName, HeaderValue)>, Error> {
    let Some(auth) = auth else { return Ok(None) };
    let mut value = HeaderValue::from_str(&auth.header())
        .map_err(|source| Error::Request { doing: doing.to_owned(), source: Box::new(source) })?;
    value.set_sensitive(true);
    Ok(Some((REGISTRY_AUTH, value)))
}
