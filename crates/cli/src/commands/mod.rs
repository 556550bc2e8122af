//! The commands: what each takes, and what it does.

mod alloc_exec;
mod alloc_fs;
mod alloc_logs;
mod alloc_restart;
mod alloc_signal;
mod alloc_status;
mod alloc_stop;
mod cluster;
mod config_show;
mod config_validate;
mod deployment;
mod escape;
mod eval_list;
mod eval_status;
mod fmt;
mod image;
mod job_eval;
mod job_history;
mod job_init;
mod job_inspect;
mod job_lists;
mod job_plan;
mod job_revert;
mod job_run;
mod job_status;
mod job_stop;
mod job_validate;
mod node_status;
mod status;
mod system_gc;
pub(crate) mod table;
mod tail;
mod target;
mod terminal;

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::Local;
use crate::client::Client;
use crate::failure::Failure;
use crate::flags::Given;
use crate::json::formatted;
use crate::monitor::{Cancelled, Monitor};
use crate::ui::Ui;
use crate::view::View;

/// What a command works with.
pub(crate) struct Context {
    pub(crate) ui: Ui,
    pub(crate) client: Client,
    pub(crate) given: Given,
    /// The name that the program was called by.
    pub(crate) program: String,
    /// For what is done in this process.
    pub(crate) local: Box<dyn Local>,
}

impl Context {
    /// `-verbose`.
    pub(crate) fn verbose(&self) -> bool {
        self.given.switch("verbose")
    }

    pub(crate) fn view(&self) -> View {
        self.ui.view(self.verbose())
    }

    /// A look at what follows from a write, through `client`.
    pub(crate) fn monitor<'a>(&'a mut self, client: &'a Client, cancelled: Cancelled) -> Monitor<'a> {
        let verbose = self.verbose();
        Monitor { ui: &mut self.ui, client, program: &self.program, verbose, cancelled }
    }

    /// Writes an answer: as JSON, through a template, or as `text` makes it.
    pub(crate) fn show<T: DeserializeOwned>(
        &mut self,
        value: Value,
        doing: &str,
        text: impl FnOnce(&View, T) -> String,
    ) -> Outcome {
        let text = match formatted(self.given.switch("json"), self.given.text("t"), &value)? {
            Some(text) => text,
            None => {
                let read = longshore_api::from_value(value);
                text(&self.view(), read.map_err(|why| Failure::told(format!("{doing}: {why}")))?)
            }
        };
        self.ui.line(&text);
        Ok(0)
    }

    /// The one argument that there must be.
    pub(crate) fn one_argument(&self, wanted: &str) -> Result<String, Failure> {
        match self.given.arguments.as_slice() {
            [argument] => Ok(argument.clone()),
            _ => Err(Failure::usage(wanted)),
        }
    }

    /// Refuses any argument.
    pub(crate) fn no_arguments(&self) -> Result<(), Failure> {
        if self.given.arguments.is_empty() { Ok(()) } else { Err(Failure::usage("This command takes no arguments")) }
    }

    /// Warnings that the server sent along with an answer.
    pub(crate) fn tell_warnings(&mut self, warnings: &str) {
        if !warnings.is_empty() {
            let head = self.view().yellow("Job Warnings:");
            self.ui.line(&format!("{head}\n{warnings}\n"));
        }
    }
}

/// What a command does; its exit code, or why it failed.
pub(crate) type Outcome = Result<u8, Failure>;

/// Which command is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    AgentInfo,
    AllocExec,
    AllocFs,
    AllocLogs,
    AllocRestart,
    AllocSignal,
    AllocStatus,
    AllocStop,
    ConfigShow,
    ConfigValidate,
    DeploymentFail,
    DeploymentList,
    DeploymentStatus,
    EvalList,
    EvalStatus,
    Fmt,
    ImageAdopt,
    ImageExplain,
    ImageGc,
    ImagePause,
    ImagePin,
    ImagePull,
    ImageStatus,
    ImageUnpin,
    JobAllocs,
    JobDeployments,
    JobEval,
    JobHistory,
    JobInit,
    JobInspect,
    JobPlan,
    JobRevert,
    JobRun,
    JobStatus,
    JobStop,
    JobValidate,
    NodeStatus,
    ServerMembers,
    Status,
    SystemGc,
    Version,
}

/// Carries a command out.
pub(crate) async fn perform(action: Action, context: &mut Context) -> Outcome {
    match action {
        Action::AgentInfo => cluster::agent_info(context).await,
        Action::AllocExec => alloc_exec::run(context).await,
        Action::AllocFs => alloc_fs::run(context).await,
        Action::AllocLogs => alloc_logs::run(context).await,
        Action::AllocRestart => alloc_restart::run(context).await,
        Action::AllocSignal => alloc_signal::run(context).await,
        Action::AllocStatus => alloc_status::run(context).await,
        Action::AllocStop => alloc_stop::run(context).await,
        Action::ConfigShow => config_show::run(context),
        Action::ConfigValidate => config_validate::run(context),
        Action::DeploymentFail => deployment::fail(context).await,
        Action::DeploymentList => deployment::list(context).await,
        Action::DeploymentStatus => deployment::status(context).await,
        Action::EvalList => eval_list::run(context).await,
        Action::EvalStatus => eval_status::run(context).await,
        Action::Fmt => fmt::run(context),
        Action::ImageAdopt => image::adopt(context).await,
        Action::ImageExplain => image::explain(context).await,
        Action::ImageGc => image::collect(context).await,
        Action::ImagePause => image::pause(context).await,
        Action::ImagePin => image::pin(context).await,
        Action::ImagePull => image::pull(context).await,
        Action::ImageStatus => image::status(context).await,
        Action::ImageUnpin => image::unpin(context).await,
        Action::JobAllocs => job_lists::allocations(context).await,
        Action::JobDeployments => job_lists::deployments(context).await,
        Action::JobEval => job_eval::run(context).await,
        Action::JobHistory => job_history::run(context).await,
        Action::JobInit => job_init::run(context),
        Action::JobInspect => job_inspect::run(context).await,
        Action::JobPlan => job_plan::run(context).await,
        Action::JobRevert => job_revert::run(context).await,
        Action::JobRun => job_run::run(context).await,
        Action::JobStatus => job_status::run(context).await,
        Action::JobStop => job_stop::run(context).await,
        Action::JobValidate => job_validate::run(context).await,
        Action::NodeStatus => node_status::run(context).await,
        Action::ServerMembers => cluster::members(context).await,
        Action::Status => status::run(context).await,
        Action::SystemGc => system_gc::run(context).await,
        Action::Version => {
            crate::version::tell(&mut context.ui, &context.program);
            Ok(0)
        }
    }
}
