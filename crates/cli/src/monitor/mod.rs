//! Follows an evaluation, and the deployment that it belongs to, until both have ended or the person leaves. Waits by
//! blocking queries.

mod terminal;
mod troubles;

use std::collections::BTreeMap;
use std::future::Future;

use longshore_api::{AllocListStub, Deployment, Evaluation};

use crate::client::{Client, ClientError, Indexed};
use crate::render::deployment::progress;
use crate::render::metric::failures;
use crate::ui::Ui;
use crate::view::View;
use troubles::Troubles;

/// How long one blocking query waits at most.
const WAIT: &str = "60s";
/// The same while a deployment is shown on a terminal, so that progress of pulls is seen.
const DEPLOYMENT_WAIT: &str = "2s";

/// How a monitor ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    Well,
    /// Something found no room.
    NoRoom,
    /// The evaluation or the deployment failed, or could not be followed.
    Badly,
    /// The person left by Ctrl-C.
    Left,
}

impl Ended {
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Well => 0,
            Self::Badly => 1,
            Self::NoRoom => 2,
            // What a shell tells of a program that SIGINT ended.
            Self::Left => 130,
        }
    }
}

/// What to make of a deployment that was cancelled meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cancelled {
    /// Something went in its place: it did not do what was asked for.
    IsFailure,
    /// A stopped job's deployment is cancelled, which is what was asked for.
    IsExpected,
}

/// What of an evaluation has been told.
#[derive(Debug)]
struct Told {
    trigger: bool,
    deployment: String,
    status: String,
    /// Client status by allocation.
    allocs: BTreeMap<String, String>,
}

impl Told {
    fn nothing() -> Self {
        Self { trigger: false, deployment: String::new(), status: "pending".to_owned(), allocs: BTreeMap::new() }
    }

    /// The lines about what is new since the last look.
    fn news(&mut self, view: &View, eval: &Evaluation, allocs: &[AllocListStub]) -> Vec<String> {
        let mut lines = Vec::new();
        if !self.trigger {
            self.trigger = true;
            lines.push(if eval.node_id.is_empty() {
                format!("Evaluation triggered by job {:?}", eval.job_id)
            } else {
                format!("Evaluation triggered by node {:?}", view.id(&eval.node_id))
            });
        }
        if self.deployment != eval.deployment_id {
            self.deployment.clone_from(&eval.deployment_id);
            lines.push(format!("Evaluation within deployment: {:?}", view.id(&eval.deployment_id)));
        }
        for alloc in allocs {
            lines.extend(self.alloc_news(view, eval, alloc));
        }
        if self.status != eval.status {
            lines.push(format!("Evaluation status changed: {:?} -> {:?}", self.status, eval.status));
            self.status.clone_from(&eval.status);
        }
        lines
    }

    fn alloc_news(&mut self, view: &View, eval: &Evaluation, alloc: &AllocListStub) -> Option<String> {
        let id = view.id(&alloc.id);
        let before = self.allocs.insert(alloc.id.clone(), alloc.client_status.clone());
        match before {
            None if alloc.desired_status != "run" => None,
            None => {
                let what = if alloc.create_index < eval.create_index { "modified" } else { "created" };
                let (node, group) = (view.id(&alloc.node_id), &alloc.task_group);
                Some(format!("Allocation {id:?} {what}: node {node:?}, group {group:?}"))
            }
            Some(before) if before != alloc.client_status => {
                let (after, why) = (&alloc.client_status, &alloc.client_description);
                Some(format!("Allocation {id:?} status changed: {before:?} -> {after:?} ({why})"))
            }
            Some(_) => None,
        }
    }
}

/// The lines that close an evaluation; the first is a heading.
fn closing(view: &View, eval: &Evaluation) -> (String, Vec<String>) {
    let finished = format!("Evaluation {:?} finished with status {:?}", view.id(&eval.id), eval.status);
    if eval.failed_tg_allocs.is_empty() {
        return (finished, Vec::new());
    }
    let mut lines = failures(&eval.failed_tg_allocs, "");
    for line in &mut lines {
        // Reasons stand below their group, further in than the group's line.
        *line = line.replace("\n", "\n    ");
    }
    if !eval.blocked_eval.is_empty() {
        let blocked = view.id(&eval.blocked_eval);
        lines.push(format!("Evaluation {blocked:?} waiting for additional capacity to place remainder"));
    }
    (format!("{finished} but failed to place all allocations:"), lines)
}

fn heading(ui: &mut Ui, verbose: bool, text: &str) {
    let clock = ui.view(verbose).clock();
    ui.line(&format!("==> {clock}: {text}"));
}

fn detail(ui: &mut Ui, verbose: bool, text: &str) {
    let clock = ui.view(verbose).clock();
    ui.line(&format!("    {clock}: {text}"));
}

fn failed(ui: &mut Ui, verbose: bool, doing: &str, why: &ClientError) -> Ended {
    let clock = ui.view(verbose).clock();
    ui.error(&format!("==> {clock}: {doing}: {why}"));
    Ended::Badly
}

/// A person's look at what the server does meanwhile.
pub(crate) struct Monitor<'a> {
    pub(crate) ui: &'a mut Ui,
    pub(crate) client: &'a Client,
    /// The name that the program was called by.
    pub(crate) program: &'a str,
    pub(crate) verbose: bool,
    pub(crate) cancelled: Cancelled,
}

/// What is looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Followed {
    Evaluation(String),
    Deployment(String),
}

impl Monitor<'_> {
    /// Follows an evaluation, those that come after it, and its deployment.
    pub(crate) async fn evaluation(self, id: &str) -> Ended {
        self.follow(Followed::Evaluation(id.to_owned()), interrupted()).await
    }

    /// Follows a deployment, and where it is rolled back the one that does so.
    pub(crate) async fn deployment(self, id: &str) -> Ended {
        self.follow(Followed::Deployment(id.to_owned()), interrupted()).await
    }

    /// The same, until `interrupted` returns.
    pub(crate) async fn follow(mut self, first: Followed, interrupted: impl Future<Output = ()>) -> Ended {
        let mut followed = first.clone();
        let ended = tokio::select! {
            ended = self.follow_to_end(first, &mut followed) => Some(ended),
            () = interrupted => None,
        };
        ended.unwrap_or_else(|| self.leave(&followed))
    }

    async fn follow_to_end(&mut self, first: Followed, followed: &mut Followed) -> Ended {
        match first {
            Followed::Evaluation(id) => self.evaluations_from(id, followed).await,
            Followed::Deployment(id) => self.deployments_from(&id, followed).await,
        }
    }

    /// Follows an evaluation to its end, then the next one, and at last the deployment.
    async fn evaluations_from(&mut self, mut id: String, followed: &mut Followed) -> Ended {
        let verbose = self.verbose;
        heading(self.ui, verbose, &format!("Monitoring evaluation {:?}", self.ui.view(verbose).id(&id).to_owned()));
        let mut ended = Ended::Well;
        loop {
            let eval = match one_evaluation(self.ui, self.client, &id, verbose).await {
                Ok(eval) => eval,
                Err(why) => return failed(self.ui, verbose, "Error reading evaluation", &why),
            };
            if !eval.failed_tg_allocs.is_empty() {
                ended = Ended::NoRoom;
            } else if eval.status == "failed" {
                ended = Ended::Badly;
            }
            if eval.next_eval.is_empty() {
                if eval.deployment_id.is_empty() {
                    return ended;
                }
                if ended == Ended::NoRoom {
                    for line in way_out(&eval) {
                        detail(self.ui, verbose, line);
                    }
                }
                let of_deployment = self.deployments_from(&eval.deployment_id, followed).await;
                return if of_deployment == Ended::Well { ended } else { of_deployment };
            }
            let next = self.ui.view(verbose).id(&eval.next_eval).to_owned();
            let after = if eval.wait.is_zero() { String::new() } else { format!(" in {}", eval.wait) };
            heading(self.ui, verbose, &format!("Monitoring next evaluation {next:?}{after}"));
            id = eval.next_eval;
            *followed = Followed::Evaluation(id.clone());
        }
    }

    /// Follows a deployment to its end; where a failed one is rolled back, the one that does so too.
    async fn deployments_from(&mut self, id: &str, followed: &mut Followed) -> Ended {
        let first = match self.deployment_to_end(id, followed).await {
            Ok(deployment) => deployment,
            Err(ended) => return ended,
        };
        match first.status.as_str() {
            "successful" => return Ended::Well,
            "cancelled" if self.cancelled == Cancelled::IsExpected => return Ended::Well,
            "failed" if first.status_description.contains("rolling back to job version") => {}
            _ => return Ended::Badly,
        }
        match rollback(self.client, &first).await {
            Ok(Some(next)) => match self.deployment_to_end(&next, followed).await {
                Ok(_) => Ended::Badly,
                Err(ended) => ended,
            },
            Ok(None) => Ended::Badly,
            Err(why) => failed(self.ui, self.verbose, "Error fetching rollback deployment", &why),
        }
    }

    async fn deployment_to_end(&mut self, id: &str, followed: &mut Followed) -> Result<Deployment, Ended> {
        let verbose = self.verbose;
        *followed = Followed::Deployment(id.to_owned());
        heading(self.ui, verbose, &format!("Monitoring deployment {:?}", self.ui.view(verbose).id(id).to_owned()));
        let ended = one_deployment(self.ui, self.client, id, verbose).await;
        ended.map_err(|why| failed(self.ui, verbose, "Error fetching deployment", &why))
    }

    /// What goes on without being looked at, and how to look again.
    fn leave(&mut self, followed: &Followed) -> Ended {
        let view = self.ui.view(self.verbose);
        let (what, id, command) = match followed {
            Followed::Evaluation(id) => ("evaluation", view.id(id), "eval status"),
            Followed::Deployment(id) => ("deployment", view.id(id), "deployment status"),
        };
        if self.ui.terminal {
            // Behind the `^C` that the terminal shows.
            self.ui.note("");
        }
        let (clock, program) = (view.clock(), self.program);
        self.ui.note(&format!("==> {clock}: No longer monitored: {what} {id:?} goes on."));
        self.ui.note(&format!("    {clock}: To look again: {program} {command} -monitor {id}"));
        Ended::Left
    }
}

/// Returns when the person presses Ctrl-C.
async fn interrupted() {
    if tokio::signal::ctrl_c().await.is_err() {
        // Then it ends the process, as it does without a handler.
        std::future::pending::<()>().await;
    }
}

/// How a deployment that waits for room goes on, and how not to wait for it.
fn way_out(eval: &Evaluation) -> [&'static str; 2] {
    let goes_on = if eval.failed_tg_allocs.values().any(|metric| metric.nodes_exhausted > 0) {
        "It goes on when there is room: when other jobs end or shrink, a node joins, or this job is run again asking for less"
    } else {
        "It goes on when a node that fits joins or becomes eligible, or when this job is run again asking for other nodes"
    };
    [goes_on, "Until then this waits. Ctrl-C leaves the job as it is; run with -detach nothing is waited for"]
}

async fn one_evaluation(ui: &mut Ui, client: &Client, id: &str, verbose: bool) -> Result<Evaluation, ClientError> {
    let mut told = Told::nothing();
    let mut index = 0;
    loop {
        let eval: Indexed<Evaluation> = client.get_after(&format!("/v1/evaluation/{id}"), &[], index, WAIT).await?;
        let allocs: Vec<AllocListStub> = client.get(&format!("/v1/evaluation/{id}/allocations"), &[]).await?;
        let view = ui.view(verbose);
        for line in told.news(&view, &eval.value, &allocs) {
            detail(ui, verbose, &line);
        }
        if matches!(eval.value.status.as_str(), "complete" | "failed" | "canceled") {
            let (head, lines) = closing(&view, &eval.value);
            heading(ui, verbose, &head);
            for line in lines {
                detail(ui, verbose, &line);
            }
            return Ok(eval.value);
        }
        index = eval.index;
    }
}

/// The deployment that brings the earlier version back. Waits for it; `None` when the job makes none.
async fn rollback(client: &Client, failed: &Deployment) -> Result<Option<String>, ClientError> {
    let path = format!("/v1/job/{}/deployments", crate::client::escape(&failed.job_id));
    let mut index = 0;
    for _ in 0..5 {
        let found: Indexed<Vec<Deployment>> = client.get_after(&path, &[], index, DEPLOYMENT_WAIT).await?;
        let newest = found.value.iter().max_by_key(|deployment| deployment.create_index);
        if let Some(newest) = newest.filter(|newest| newest.create_index > failed.create_index) {
            return Ok(Some(newest.id.clone()));
        }
        index = found.index;
    }
    Ok(None)
}

fn has_ended(deployment: &Deployment) -> bool {
    matches!(deployment.status.as_str(), "successful" | "failed" | "cancelled")
}

async fn one_deployment(ui: &mut Ui, client: &Client, id: &str, verbose: bool) -> Result<Deployment, ClientError> {
    if ui.terminal {
        terminal::on_terminal(ui, client, id, verbose).await
    } else {
        on_pipe(ui, client, id, verbose).await
    }
}

/// Prints the whole block again at each change, and what goes wrong as soon as a node tells it.
async fn on_pipe(ui: &mut Ui, client: &Client, id: &str, verbose: bool) -> Result<Deployment, ClientError> {
    let (path, allocs_path) = (format!("/v1/deployment/{id}"), format!("/v1/deployment/allocations/{id}"));
    let look = |index| Box::pin(client.get_after::<Vec<AllocListStub>>(&allocs_path, &[], index, WAIT));
    let mut next_deployment = Box::pin(client.get_after::<Deployment>(&path, &[], 0, WAIT));
    // Looked at from the first look at the deployment on.
    let mut next_allocs = look(0);
    let (mut shown, mut troubles): (Option<Deployment>, _) = (None, Troubles::default());
    loop {
        let allocs = tokio::select! {
            found = &mut next_deployment => {
                let found = found?;
                let allocs = look(0).await?;
                if shown.as_ref().is_none_or(|shown| differs(shown, &found.value)) {
                    let view = ui.view(verbose);
                    let listed = if verbose { allocs.value.as_slice() } else { &[] };
                    ui.line(&indented(&progress(&view, &found.value, listed)));
                    ui.line("");
                }
                next_deployment = Box::pin(client.get_after(&path, &[], found.index, WAIT));
                shown = Some(found.value);
                allocs
            }
            found = &mut next_allocs, if shown.is_some() => found?,
        };
        let news = troubles.news(&ui.view(verbose), &allocs.value);
        for line in &news {
            detail(ui, verbose, line);
        }
        if !news.is_empty() {
            ui.line("");
        }
        match &shown {
            Some(deployment) if has_ended(deployment) => return Ok(deployment.clone()),
            _ => next_allocs = look(allocs.index),
        }
    }
}

fn differs(a: &Deployment, b: &Deployment) -> bool {
    (&a.status, &a.status_description, &a.task_groups) != (&b.status, &b.status_description, &b.task_groups)
}

fn indented(text: &str) -> String {
    let lines = text.lines().map(|line| if line.is_empty() { String::new() } else { format!("    {line}") });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::Zone;
    use longshore_api::AllocMetric;

    pub(super) fn view() -> View {
        View { now: 1_796_060_312_000_000_000, zone: Zone::Utc, verbose: false, colour: false }
    }

    fn eval() -> Evaluation {
        Evaluation {
            id: "8fa20aaa-0000-0000-0000-000000000000".to_owned(),
            job_id: "web".to_owned(),
            status: "pending".to_owned(),
            create_index: 10,
            ..Evaluation::default()
        }
    }

    pub(super) fn alloc(id: &str, create_index: u64, desired: &str, client: &str) -> AllocListStub {
        AllocListStub {
            id: format!("{id}-0000-0000-0000-000000000000"),
            node_id: "bbbbbbbb-0000-0000-0000-000000000000".to_owned(),
            task_group: "g".to_owned(),
            desired_status: desired.to_owned(),
            client_status: client.to_owned(),
            client_description: "Tasks are running".to_owned(),
            create_index,
            ..AllocListStub::default()
        }
    }

    #[test]
    fn each_piece_of_news_is_told_once() {
        let mut told = Told::nothing();
        let mut eval = eval();
        assert_eq!(told.news(&view(), &eval, &[]), ["Evaluation triggered by job \"web\""]);
        assert!(told.news(&view(), &eval, &[]).is_empty());
        eval.deployment_id = "1f2e3d4c-0000-0000-0000-000000000000".to_owned();
        let mut allocs = vec![
            alloc("aaaaaaaa", 10, "run", "pending"),
            alloc("cccccccc", 3, "run", "running"),
            alloc("dddddddd", 3, "stop", "running"),
        ];
        assert_eq!(
            told.news(&view(), &eval, &allocs),
            [
                "Evaluation within deployment: \"1f2e3d4c\"",
                "Allocation \"aaaaaaaa\" created: node \"bbbbbbbb\", group \"g\"",
                "Allocation \"cccccccc\" modified: node \"bbbbbbbb\", group \"g\"",
            ]
        );
        allocs[0].client_status = "running".to_owned();
        eval.status = "complete".to_owned();
        assert_eq!(
            told.news(&view(), &eval, &allocs),
            [
                "Allocation \"aaaaaaaa\" status changed: \"pending\" -> \"running\" (Tasks are running)",
                "Evaluation status changed: \"pending\" -> \"complete\"",
            ]
        );
    }

    #[test]
    fn what_found_no_room_is_told_with_its_reasons() {
        let mut eval = eval();
        eval.status = "complete".to_owned();
        assert_eq!(closing(&view(), &eval).0, "Evaluation \"8fa20aaa\" finished with status \"complete\"");
        let metric = AllocMetric {
            nodes_evaluated: 1,
            nodes_exhausted: 1,
            dimension_exhausted: [("memory".to_owned(), 1)].into(),
            coalesced_failures: 2,
            ..AllocMetric::default()
        };
        eval.failed_tg_allocs = [("g".to_owned(), metric)].into();
        eval.blocked_eval = "cccccccc-0000-0000-0000-000000000000".to_owned();
        let (head, lines) = closing(&view(), &eval);
        insta::assert_snapshot!(format!("{head}\n{}", lines.join("\n")), @r#"
        Evaluation "8fa20aaa" finished with status "complete" but failed to place all allocations:
        Task Group "g" (failed to place 3 allocations):
              * Resources exhausted on 1 nodes
              * Dimension "memory" exhausted on 1 nodes
        Evaluation "cccccccc" waiting for additional capacity to place remainder
        "#);
    }
}
