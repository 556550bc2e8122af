//! A deployment on a terminal: drawn anew in its place, so that progress is seen.

use std::time::Duration;

use longshore_api::{AllocListStub, Deployment};

use super::troubles::Troubles;
use super::{DEPLOYMENT_WAIT, has_ended, indented};
use crate::client::{Client, ClientError};
use crate::render::deployment::progress;
use crate::ui::Ui;
use crate::view::View;

const SPINNER: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const SPINNER_PERIOD: Duration = Duration::from_millis(120);

/// Draws the block anew in its place, with a spinner and what pending tasks are doing.
pub(super) async fn on_terminal(
    ui: &mut Ui,
    client: &Client,
    id: &str,
    verbose: bool,
) -> Result<Deployment, ClientError> {
    let (path, allocs_path) = (format!("/v1/deployment/{id}"), format!("/v1/deployment/allocations/{id}"));
    let mut drawing = Drawing::default();
    let mut tick = tokio::time::interval(SPINNER_PERIOD);
    let (mut deployment, mut allocs) = (None, Vec::new());
    let mut next_deployment = Box::pin(client.get_after::<Deployment>(&path, &[], 0, DEPLOYMENT_WAIT));
    let mut next_allocs = Box::pin(client.get_after::<Vec<AllocListStub>>(&allocs_path, &[], 0, DEPLOYMENT_WAIT));
    let (mut frame, mut troubles) = (0, Troubles::default());
    loop {
        tokio::select! {
            found = &mut next_deployment => {
                let found = found?;
                next_deployment = Box::pin(client.get_after(&path, &[], found.index, DEPLOYMENT_WAIT));
                deployment = Some(found.value);
            }
            found = &mut next_allocs => {
                let found = found?;
                next_allocs = Box::pin(client.get_after(&allocs_path, &[], found.index, DEPLOYMENT_WAIT));
                allocs = found.value;
            }
            _ = tick.tick() => frame += 1,
        }
        let Some(current) = &deployment else { continue };
        let view = ui.view(verbose);
        drawing.write_above(ui, &troubles.news(&view, &allocs));
        drawing.draw(ui, &terminal_block(&view, current, &allocs, frame));
        if has_ended(current) {
            ui.line("");
            return Ok(current.clone());
        }
    }
}

fn terminal_block(view: &View, deployment: &Deployment, allocs: &[AllocListStub], frame: usize) -> String {
    let id = view.id(&deployment.id);
    let spinner = SPINNER.get(frame % SPINNER.len()).copied().unwrap_or("");
    let head = match deployment.status.as_str() {
        "successful" => format!("  ✓ Deployment {id:?} successful"),
        "failed" | "cancelled" => format!("  ! Deployment {id:?} {}", deployment.status),
        _ => format!("  {spinner} Deployment {id:?} in progress..."),
    };
    let mut block = format!("{head}\n{}", indented(&progress(view, deployment, allocs)));
    let lines = if has_ended(deployment) { Vec::new() } else { pending_tasks(view, allocs) };
    if !lines.is_empty() {
        block.push_str(&format!("\n\n{}", indented(&lines.join("\n"))));
    }
    block
}

/// What tasks that do not run yet are doing: the newest event of each.
fn pending_tasks(view: &View, allocs: &[AllocListStub]) -> Vec<String> {
    let pending = allocs.iter().filter(|alloc| alloc.client_status == "pending");
    let tasks = pending.flat_map(|alloc| alloc.task_states.iter().map(move |(name, state)| (alloc, name, state)));
    let waiting = tasks.filter(|(_, _, state)| state.state == "pending");
    waiting
        .filter_map(|(alloc, name, state)| {
            let event = state.events.last()?;
            Some(format!("Allocation {:?} task {name:?}: {}", view.id(&alloc.id), event.display_message))
        })
        .collect()
}

/// A block of lines on a terminal that is drawn over itself.
#[derive(Debug, Default)]
struct Drawing {
    lines: usize,
}

impl Drawing {
    /// Lines that stay, before what is drawn next.
    fn write_above(&mut self, ui: &mut Ui, lines: &[String]) {
        if lines.is_empty() {
            return;
        }
        let text = format!("{}\r\x1b[J{}\n\n", self.back(), indented(&lines.join("\n")));
        self.lines = 0;
        // A terminal that went away ends the process by its own signal.
        let _ = ui.raw(text.as_bytes());
    }

    fn back(&self) -> String {
        if self.lines > 0 { format!("\x1b[{}A", self.lines) } else { String::new() }
    }

    fn draw(&mut self, ui: &mut Ui, block: &str) {
        // Lines are not wrapped while they are drawn, so that as many can be taken back as were written.
        let back = self.back();
        self.lines = block.lines().count();
        // A terminal that went away ends the process by its own signal.
        ui.draw(&format!("{back}\r\x1b[J\x1b[?7l"), block, "\x1b[?7h\n");
    }
}

#[cfg(test)]
mod tests {
    use longshore_api::{TaskEvent, TaskState};

    use super::*;
    use crate::monitor::tests::{alloc, view};

    #[test]
    fn a_terminal_sees_what_pending_tasks_do() {
        let event = TaskEvent {
            display_message: "Pulling image redis:7 (12 MiB of 40 MiB)".to_owned(),
            ..TaskEvent::default()
        };
        let state = TaskState { state: "pending".to_owned(), events: vec![event], ..TaskState::default() };
        let mut pulling = alloc("aaaaaaaa", 1, "run", "pending");
        pulling.task_states = [("web".to_owned(), state)].into();
        let mut deployment = Deployment {
            id: "1f2e3d4c-0000-0000-0000-000000000000".to_owned(),
            job_id: "web".to_owned(),
            status: "running".to_owned(),
            status_description: "Deployment is running".to_owned(),
            ..Deployment::default()
        };
        insta::assert_snapshot!(terminal_block(&view(), &deployment, &[pulling.clone()], 4), @r#"
        ⠼ Deployment "1f2e3d4c" in progress...
          2026-11-30T17:38:32Z
          ID          = 1f2e3d4c
          Job ID      = web
          Job Version = 0
          Status      = running
          Description = Deployment is running

          Allocation "aaaaaaaa" task "web": Pulling image redis:7 (12 MiB of 40 MiB)
        "#);
        deployment.status = "successful".to_owned();
        insta::assert_snapshot!(terminal_block(&view(), &deployment, &[pulling], 4), @r#"
        ✓ Deployment "1f2e3d4c" successful
          2026-11-30T17:38:32Z
          ID          = 1f2e3d4c
          Job ID      = web
          Job Version = 0
          Status      = successful
          Description = Deployment is running
        "#);
    }
}
