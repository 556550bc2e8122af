//! How long job files take to read and to complete, by their size: `cargo bench -p longshore-jobs --bench job_files`.
//! Prints a table of medians: reading is linear when the time a megabyte stays the same.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::time::{Duration, Instant};

use longshore_jobs::complete;
use longshore_jobspec::{Input, format, parse};

/// How often each step is taken; the median is told.
const ROUNDS: usize = 7;

/// One group of about 1.2 kB, with what job files usually have.
fn group(at: usize) -> String {
    format!(
        r#"
  group "web-{at}" {{
    count = 1 + {at} % 3
    network {{
      port "http" {{
        to = 8080
      }}
    }}
    constraint {{
      attribute = "${{attr.kernel.name}}"
      value     = "linux"
    }}
    update {{
      max_parallel     = 1
      min_healthy_time = "5s"
    }}
    service {{
      name     = "web-{at}"
      provider = "nomad"
      port     = "http"
      tags     = [for name in local.names : "${{name}}-{at}"]
      check {{
        type     = "http"
        path     = "/health"
        interval = "10s"
        timeout  = "2s"
      }}
    }}
    task "server" {{
      driver = "docker"
      config {{
        image = "registry.example/web:${{var.version}}"
        args  = ["-listen", ":${{NOMAD_PORT_http}}", "-name", upper("web-{at}")]
        ports = ["http"]
      }}
      env {{
        GREETING = "hello from {at}"
        ADDRESS  = "${{NOMAD_ADDR_http}}"
        TEXT     = <<-EOT
          one line
          and another %{{ if {at} > 10 }}late%{{ else }}early%{{ endif }}
        EOT
      }}
      resources {{
        cpu    = 100
        memory = 64
      }}
    }}
  }}
"#
    )
}

/// A job file of about this many bytes.
fn file(bytes: usize) -> String {
    let mut text = String::from(
        "variable \"version\" {\n  type    = string\n  default = \"1\"\n}\nlocals {\n  names = [\"a\", \"b\"]\n}\njob \"many\" {\n",
    );
    let mut at = 0;
    while text.len() < bytes.saturating_sub(700) {
        text.push_str(&group(at));
        at += 1;
    }
    text.push_str("}\n");
    text
}

fn median(mut step: impl FnMut() -> Duration) -> Duration {
    let mut times: Vec<Duration> = (0..ROUNDS).map(|_| step()).collect();
    times.sort();
    times[ROUNDS / 2]
}

fn timed<T>(act: impl FnOnce() -> T) -> Duration {
    let begin = Instant::now();
    std::hint::black_box(act());
    begin.elapsed()
}

fn main() {
    println!("| file | read, ms | ms a MB | completed, ms | formatted, ms | the same as JSON of the API, ms |");
    println!("|---|---|---|---|---|---|");
    for bytes in [2_000, 312_500, 625_000, 1_250_000, 2_500_000] {
        let text = file(bytes);
        let input = Input::new("many.hcl", &text);
        let job = parse(&input).unwrap().job;
        let json = serde_json::json!({ "Job": job }).to_string();
        let read = median(|| timed(|| parse(&input).unwrap()));
        let completed = median(|| {
            let job = job.clone();
            timed(|| complete(job).unwrap())
        });
        let formatted = median(|| timed(|| format("many.hcl", &text).unwrap()));
        let from_json = median(|| timed(|| parse(&Input::new("many.json", &json)).unwrap()));
        let ms = |span: Duration| span.as_secs_f64() * 1_000.0;
        println!(
            "| {:.3} MB | {:.2} | {:.0} | {:.2} | {:.2} | {:.2} |",
            text.len() as f64 / 1e6,
            ms(read),
            ms(read) / (text.len() as f64 / 1e6),
            ms(completed),
            ms(formatted),
            ms(from_json)
        );
    }
}
