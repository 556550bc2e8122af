mod expressions;
mod files;
mod functions;
mod limits;
mod oracle;

use serde_json::Value;

use crate::Parsed;

/// The job file with one task whose `config` is `body`, after `before` on the top level.
fn file(before: &str, body: &str) -> String {
    format!(
        "{before}\njob \"j\" {{\n  group \"g\" {{\n    task \"t\" {{\n      config {{\n{body}\n      }}\n    }}\n  }}\n}}\n"
    )
}

fn config(parsed: Parsed) -> Value {
    serde_json::to_value(&parsed.job.task_groups[0].tasks[0].config).unwrap()
}
