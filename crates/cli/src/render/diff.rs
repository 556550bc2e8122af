//! The differences between two versions of a job, as `job plan` and `job history -p` show them.

use longshore_api::{FieldDiff, JobDiff, ObjectDiff, TaskDiff, TaskGroupDiff};

use crate::view::View;

/// What marks a line, and how wide that is.
fn marker(kind: &str) -> &'static str {
    match kind {
        "Added" => "+",
        "Deleted" => "-",
        "Edited" => "+/-",
        _ => "",
    }
}

/// The marker with a space after it, filled up to `width`.
fn marked(view: &View, kind: &str, width: usize) -> String {
    let text = marker(kind);
    let painted = match kind {
        "Added" => view.green(text),
        "Deleted" => view.red(text),
        "Edited" => view.yellow(text),
        _ => String::new(),
    };
    format!("{painted}{}", " ".repeat(width.saturating_sub(text.len())))
}

/// The width of the widest marker of a scope, the space after it included.
fn marker_width<'a>(kinds: impl Iterator<Item = &'a str>) -> usize {
    kinds.map(|kind| marker(kind).len()).max().filter(|width| *width > 0).map_or(0, |width| width + 1)
}

/// The whole job. New and deleted parts show what is in them only when all is to be shown.
pub(crate) fn job(view: &View, diff: &JobDiff) -> String {
    let kinds = scope(&diff.fields, &diff.objects).chain(diff.task_groups.iter().map(|group| group.kind.as_str()));
    let width = marker_width(kinds);
    let own = marker_width(std::iter::once(diff.kind.as_str()));
    let mut out = vec![format!("{}{}", marked(view, &diff.kind, own), view.bold(&format!("Job: {:?}", diff.id)))];
    if diff.kind == "Edited" || view.verbose {
        members(view, &diff.fields, &diff.objects, 0, width, &mut out);
    }
    for group in &diff.task_groups {
        task_group(view, group, width, &mut out);
    }
    out.join("\n")
}

fn scope<'a>(fields: &'a [FieldDiff], objects: &'a [ObjectDiff]) -> impl Iterator<Item = &'a str> {
    fields.iter().map(|field| field.kind.as_str()).chain(objects.iter().map(|object| object.kind.as_str()))
}

fn task_group(view: &View, group: &TaskGroupDiff, above: usize, out: &mut Vec<String>) {
    let mut line =
        format!("{}{}", marked(view, &group.kind, above), view.bold(&format!("Task Group: {:?}", group.name)));
    if !group.updates.is_empty() {
        let updates: Vec<String> =
            group.updates.iter().map(|(what, count)| update(view, what, &format!("{count} {what}"))).collect();
        line.push_str(&format!(" ({})", updates.join(", ")));
    }
    out.push(line);
    let width =
        marker_width(scope(&group.fields, &group.objects).chain(group.tasks.iter().map(|task| task.kind.as_str())));
    if group.kind == "Edited" || view.verbose {
        members(view, &group.fields, &group.objects, 2, width, out);
    }
    for item in &group.tasks {
        task(view, item, width, out);
    }
}

fn task(view: &View, task: &TaskDiff, above: usize, out: &mut Vec<String>) {
    let head = format!("  {}{}", marked(view, &task.kind, above), view.bold(&format!("Task: {:?}", task.name)));
    out.push(format!("{head}{}", annotations(view, &task.annotations)));
    let elided = matches!(task.kind.as_str(), "Added" | "Deleted") && !view.verbose;
    if task.kind == "None" || elided {
        return;
    }
    let width = marker_width(scope(&task.fields, &task.objects));
    members(view, &task.fields, &task.objects, 4, width, out);
}

/// Fields, then objects, all lined up.
fn members(
    view: &View,
    fields: &[FieldDiff],
    objects: &[ObjectDiff],
    indent: usize,
    width: usize,
    out: &mut Vec<String>,
) {
    let longest = fields.iter().map(|field| field.name.chars().count()).max().unwrap_or(0);
    let space = " ".repeat(indent);
    for field in fields {
        let gap = " ".repeat(longest - field.name.chars().count());
        let value = match field.kind.as_str() {
            "Edited" => format!("{:?} => {:?}", field.old, field.new),
            "Deleted" => format!("{:?}", field.old),
            _ => format!("{:?}", field.new),
        };
        let marked = marked(view, &field.kind, width);
        let annotations = annotations(view, &field.annotations);
        out.push(format!("{space}{marked}{}: {gap}{value}{annotations}", field.name));
    }
    for object in objects {
        out.push(format!("{space}{}{} {{", marked(view, &object.kind, width), object.name));
        let inner = marker_width(scope(&object.fields, &object.objects));
        members(view, &object.fields, &object.objects, indent + 2, inner, out);
        out.push(format!("{space}{}}}", " ".repeat(width)));
    }
}

fn annotations(view: &View, words: &[String]) -> String {
    if words.is_empty() {
        return String::new();
    }
    let painted: Vec<String> =
        words.iter().map(|word| update(view, word.strip_prefix("forces ").unwrap_or(word), word)).collect();
    format!(" ({})", painted.join(", "))
}

/// `text` in the colour of what it says will happen.
fn update(view: &View, what: &str, text: &str) -> String {
    match what {
        "create" => view.green(text),
        "destroy" => view.red(text),
        "migrate" => view.blue(text),
        "in-place update" => view.cyan(text),
        "create/destroy update" | "canary" => view.yellow(text),
        _ => text.to_owned(),
    }
}
