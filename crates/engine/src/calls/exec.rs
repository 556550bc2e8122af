use crate::client::{Call, Engine};
use crate::error::Error;
use crate::model::exec::{CreateExec, CreatedExec, Exec, StartExec};
use crate::path::Path;
use crate::streams::ExecStreams;

impl Engine {
    /// Makes a command ready to run in a running container; nothing runs yet.
    pub async fn create_exec(&self, container: &str, body: &CreateExec) -> Result<CreatedExec, Error> {
        let path = Path::new("/containers").then(container).then("exec");
        self.json(Call::post(path, format!("preparing a command in container {container}")).json(body)?).await
    }

    /// Starts it and gives its streams. It goes on when they are dropped.
    pub async fn start_exec(&self, id: &str, tty: bool) -> Result<ExecStreams, Error> {
        let call = Call::post(exec(id, "start"), format!("starting the command {id}"));
        let call = call.json(&StartExec { detach: false, tty })?.upgrade();
        let doing = call.doing.clone();
        let upgraded = self.send(call).await?.upgraded().await?;
        Ok(ExecStreams::new(doing, upgraded, tty))
    }

    /// Sets the size of its terminal. Refused, after some seconds, before its start.
    pub async fn resize_exec(&self, id: &str, rows: u16, columns: u16) -> Result<(), Error> {
        let path = exec(id, "resize").query("h", &rows.to_string()).query("w", &columns.to_string());
        self.done(Call::post(path, format!("resizing the terminal of the command {id}"))).await
    }

    pub async fn exec(&self, id: &str) -> Result<Exec, Error> {
        self.json(Call::get(exec(id, "json"), format!("inspecting the command {id}"))).await
    }
}

fn exec(id: &str, verb: &str) -> Path {
    Path::new("/exec").then(id).then(verb)
}
