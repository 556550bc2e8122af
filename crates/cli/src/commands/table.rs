//! Every command with its flags and its help.

use crate::commands::Action;
use crate::flags::Flag;
use crate::jobfile;

/// A command.
pub(crate) struct Command {
    /// The words that call it: `job run`.
    pub(crate) name: &'static str,
    /// Other words that call it too; the help does not list them.
    pub(crate) aliases: &'static [&'static str],
    /// What stands behind its name in `Usage:`.
    pub(crate) arguments: &'static str,
    /// One line for lists.
    pub(crate) synopsis: &'static str,
    /// Further lines of its help; may be empty.
    pub(crate) about: &'static str,
    /// Groups of its own flags.
    pub(crate) flags: &'static [&'static [Flag]],
    /// It talks to an agent, and takes the flags that say to which.
    pub(crate) general: bool,
    pub(crate) action: Action,
}

/// A word that commands stand behind.
pub(crate) struct Group {
    pub(crate) name: &'static str,
    pub(crate) synopsis: &'static str,
}

pub(crate) const GROUPS: &[Group] = &[
    Group { name: "alloc", synopsis: "Interact with allocations" },
    Group { name: "config", synopsis: "Interact with agent files" },
    Group { name: "deployment", synopsis: "Interact with deployments" },
    Group { name: "eval", synopsis: "Interact with evaluations" },
    Group { name: "image", synopsis: "See the images that tasks need, and why they stay or go" },
    Group { name: "job", synopsis: "Interact with jobs" },
    Group { name: "node", synopsis: "Interact with nodes" },
    Group { name: "server", synopsis: "Interact with servers" },
    Group { name: "system", synopsis: "Interact with the whole cluster" },
];

/// Flags of every command that talks to an agent.
pub(crate) const GENERAL: &[Flag] = &[
    Flag::text("address", "The agent's address; also NOMAD_ADDR (default http://127.0.0.1:4646)."),
    Flag::text("region", "The region to ask for; also NOMAD_REGION."),
    Flag::text("namespace", "The namespace to ask for; also NOMAD_NAMESPACE."),
    Flag::switch("no-color", "No colours; also NOMAD_CLI_NO_COLOR and NO_COLOR."),
    Flag::switch("force-color", "Colours even when no terminal reads; also NOMAD_CLI_FORCE_COLOR."),
    Flag::text("ca-cert", "Accepted; TLS is not in this build."),
    Flag::text("ca-path", "Accepted; TLS is not in this build."),
    Flag::text("client-cert", "Accepted; TLS is not in this build."),
    Flag::text("client-key", "Accepted; TLS is not in this build."),
    Flag::text("tls-server-name", "Accepted; TLS is not in this build."),
    Flag::switch("tls-skip-verify", "Accepted; TLS is not in this build."),
    Flag::switch("insecure", "The same as -tls-skip-verify."),
    Flag::text("token", "The token to ask with; also NOMAD_TOKEN."),
];

const VERBOSE: Flag = Flag::switch("verbose", "Whole ids, absolute times and more detail.");
const DETACH: Flag = Flag::switch("detach", "Return at once instead of following the evaluation.");
const JSON: Flag = Flag::switch("json", "The answer as JSON.");
const DIAGNOSTICS: Flag = Flag::text("diagnostics", "How mistakes are told: text, or json for editors (default text).");
const TEMPLATE: Flag = Flag::text("t", "The answer through a Go template.");
const PRIORITY: Flag = Flag::integer("eval-priority", "The evaluation's priority, if not the job's.");
const NO_DELAY: Flag = Flag::switch("no-shutdown-delay", "Do not wait for the shutdown delays of groups and tasks.");

const OF_JOB: Flag = Flag::switch("job", "The argument is a job; one of its allocations is taken.");

const FOLLOWING: &[Flag] = &[
    Flag::switch("f", "Go on as more is written."),
    Flag::switch("tail", "Begin near the end."),
    Flag::integer("n", "With -tail: how many lines."),
    Flag::integer("c", "With -tail: how many bytes."),
    VERBOSE,
];

const STATUS_FORMAT: &[Flag] = &[VERBOSE, JSON, TEMPLATE];

/// All commands but `agent`, sorted by name.
pub(crate) const COMMANDS: &[Command] = &[
    Command {
        name: "agent-info",
        aliases: &[],
        arguments: "[options]",
        synopsis: "Show what an agent tells of itself",
        about: "",
        flags: &[&[JSON, TEMPLATE]],
        general: true,
        action: Action::AgentInfo,
    },
    Command {
        name: "alloc exec",
        aliases: &["exec"],
        arguments: "[options] <allocation> <command> [<argument>...]",
        synopsis: "Run a command beside a task",
        about: "The command runs in the surroundings of a running task, and its exit code is passed on. On a terminal,\n  \
                \"~.\" at the beginning of a line hangs up.",
        flags: &[&[
            Flag::text("task", "The task; needed when there are several."),
            OF_JOB,
            Flag::switch("i", "Pass on what is typed (default true)."),
            Flag::switch("t", "With a terminal (default: when this command has one)."),
            Flag::text("e", "The character that hangs up with a dot behind it, or \"none\" (default ~)."),
            VERBOSE,
        ]],
        general: true,
        action: Action::AllocExec,
    },
    Command {
        name: "alloc fs",
        aliases: &["fs"],
        arguments: "[options] <allocation> [<path>]",
        synopsis: "Show the files of an allocation",
        about: "A folder is listed, a file is shown. Secrets are shown to nobody.",
        flags: &[
            &[
                Flag::switch("H", "Sizes as plain numbers of bytes."),
                OF_JOB,
                Flag::switch("stat", "What there is to know of the file, not what it holds."),
            ],
            FOLLOWING,
        ],
        general: true,
        action: Action::AllocFs,
    },
    Command {
        name: "alloc logs",
        aliases: &["logs"],
        arguments: "[options] <allocation> [<task>]",
        synopsis: "Show what a task has written",
        about: "Both streams are shown unless -stdout or -stderr is given.",
        flags: &[
            &[
                Flag::switch("stdout", "Standard output alone."),
                Flag::switch("stderr", "Standard error alone."),
                Flag::text("task", "The task, when the allocation has several."),
                OF_JOB,
            ],
            FOLLOWING,
        ],
        general: true,
        action: Action::AllocLogs,
    },
    Command {
        name: "alloc restart",
        aliases: &[],
        arguments: "[options] <allocation> [<task>]",
        synopsis: "Have tasks of an allocation end and start again",
        about: "All that run, unless one is named. They start again whatever their restart policy.",
        flags: &[&[
            Flag::switch("all-tasks", "All tasks, also those that have ended."),
            Flag::text("task", "The task."),
            VERBOSE,
        ]],
        general: true,
        action: Action::AllocRestart,
    },
    Command {
        name: "alloc signal",
        aliases: &[],
        arguments: "[options] <allocation> [<task>]",
        synopsis: "Send a signal to tasks of an allocation",
        about: "To all of them, unless one is named.",
        flags: &[&[Flag::text("s", "The signal by name (default SIGKILL)."), Flag::text("task", "The task."), VERBOSE]],
        general: true,
        action: Action::AllocSignal,
    },
    Command {
        name: "alloc status",
        aliases: &["alloc-status"],
        arguments: "[options] <allocation>",
        synopsis: "Show an allocation and what its tasks are doing",
        about: "",
        flags: &[
            &[
                Flag::switch("short", "The most important in a few lines."),
                Flag::switch("stats", "What the tasks use; measuring takes about two seconds."),
            ],
            STATUS_FORMAT,
        ],
        general: true,
        action: Action::AllocStatus,
    },
    Command {
        name: "alloc stop",
        aliases: &[],
        arguments: "[options] <allocation>",
        synopsis: "Stop an allocation and have it replaced",
        about: "",
        flags: &[&[DETACH, VERBOSE, NO_DELAY]],
        general: true,
        action: Action::AllocStop,
    },
    Command {
        name: "config show",
        aliases: &[],
        arguments: "[-origin] [agent options] [<path>...]",
        synopsis: "Show the settings that an agent would hold",
        about: "",
        flags: &[],
        general: false,
        action: Action::ConfigShow,
    },
    Command {
        name: "config validate",
        aliases: &[],
        arguments: "[options] <path> [<path>...]",
        synopsis: "Check agent files before an agent is started with them",
        about: "Paths are files or folders, as -config of `agent` takes them. Every error and every warning is listed with\n  \
                file, line and what to try; the exit code is 1 when an agent would not start.",
        flags: &[&[Flag::switch("effective", "List every setting that holds, and where it comes from."), DIAGNOSTICS]],
        general: false,
        action: Action::ConfigValidate,
    },
    Command {
        name: "deployment fail",
        aliases: &[],
        arguments: "[options] <deployment id>",
        synopsis: "Fail a deployment by hand",
        about: "",
        flags: &[&[DETACH, VERBOSE]],
        general: true,
        action: Action::DeploymentFail,
    },
    Command {
        name: "deployment list",
        aliases: &[],
        arguments: "[options]",
        synopsis: "List all deployments",
        about: "",
        flags: &[&[Flag::text("filter", "Refused: expressions are not in this build.")], STATUS_FORMAT],
        general: true,
        action: Action::DeploymentList,
    },
    Command {
        name: "deployment status",
        aliases: &[],
        arguments: "[options] <deployment id>",
        synopsis: "Show a deployment",
        about: "",
        flags: &[
            &[
                Flag::switch("monitor", "Follow it to its end."),
                Flag::duration("wait", "Accepted: the monitor waits for changes, not for a time."),
            ],
            STATUS_FORMAT,
        ],
        general: true,
        action: Action::DeploymentStatus,
    },
    Command {
        name: "eval list",
        aliases: &[],
        arguments: "[options]",
        synopsis: "List evaluations",
        about: "",
        flags: &[
            &[Flag::text("job", "Of this job alone."), Flag::text("status", "In this status alone.")],
            STATUS_FORMAT,
        ],
        general: true,
        action: Action::EvalList,
    },
    Command {
        name: "eval status",
        aliases: &["eval-status"],
        arguments: "[options] <evaluation>",
        synopsis: "Show an evaluation and what found no room",
        about: "",
        flags: &[&[Flag::switch("monitor", "Follow it to its end.")], STATUS_FORMAT],
        general: true,
        action: Action::EvalStatus,
    },
    Command {
        name: "fmt",
        aliases: &[],
        arguments: "[options] [<path>...]",
        synopsis: "Put job, variable and agent files into their usual form",
        about: "Paths are files, or folders whose .hcl and .nomad files are meant; the present folder unless given, `-` for\n  \
                standard input. Only blanks change. The names of the files that were not in their form are listed.",
        flags: &[&[
            Flag::switch("check", "Write nothing; exit with 1 when a file is not in its form."),
            Flag::switch("list", "List the files that were not in their form (default true)."),
            Flag::switch("write", "Write the files anew (default true)."),
            Flag::switch("recursive", "Go into folders within folders."),
        ]],
        general: false,
        action: Action::Fmt,
    },
    Command {
        name: "image adopt",
        aliases: &[],
        arguments: "[options] <pattern>",
        synopsis: "Take back what others are thought to have brought",
        about: "What is foreign and matches counts as brought by Longshore from now on: it goes when nothing needs it. After the\nagent's records of images were lost everything is foreign, and this takes it back. A pattern holds * for any run of\ncharacters; without * it is one name, as docker reads it, or the id of content that has no name.",
        flags: &[&[Flag::switch("dry-run", "Only tell what would be adopted.")], STATUS_FORMAT],
        general: true,
        action: Action::ImageAdopt,
    },
    Command {
        name: "image explain",
        aliases: &[],
        arguments: "[options] <image>",
        synopsis: "Tell who holds an image, why it stays, and when it goes",
        about: "",
        flags: &[STATUS_FORMAT],
        general: true,
        action: Action::ImageExplain,
    },
    Command {
        name: "image gc",
        aliases: &[],
        arguments: "[options]",
        synopsis: "Remove the images that nobody needs now",
        about: "What Longshore brought and nothing needs goes at once, whatever its delay, and also when gc.image is false.\nImages that are held, pinned, kept by gc.keep or brought by others stay.",
        flags: &[&[Flag::switch("dry-run", "Only tell what would go.")], STATUS_FORMAT],
        general: true,
        action: Action::ImageGc,
    },
    Command {
        name: "image pause",
        aliases: &[],
        arguments: "[options] <duration>",
        synopsis: "Remove no images for a while",
        about: "No image is removed for so long (\"2h\"), for any reason, over restarts too; \"image status\" says so. \"0s\" ends it.",
        flags: &[STATUS_FORMAT],
        general: true,
        action: Action::ImagePause,
    },
    Command {
        name: "image pin",
        aliases: &[],
        arguments: "[options] [<pattern>]",
        synopsis: "Keep images until they are unpinned, or list what is pinned",
        about: "A pattern holds * for any run of characters: \"acme/*\". Without * it is one name, as docker reads it.",
        flags: &[STATUS_FORMAT],
        general: true,
        action: Action::ImagePin,
    },
    Command {
        name: "image pull",
        aliases: &[],
        arguments: "[options] <image>",
        synopsis: "Bring an image to the agent's node and keep it for an hour",
        about: "Tasks that need it meanwhile find it. Pin it to keep it for longer.",
        flags: &[&[Flag::switch("force", "Ask the registry also when the image is there.")], STATUS_FORMAT],
        general: true,
        action: Action::ImagePull,
    },
    Command {
        name: "image status",
        aliases: &[],
        arguments: "[options]",
        synopsis: "List the agent's images with their holders and what becomes of them",
        about: "",
        flags: &[STATUS_FORMAT],
        general: true,
        action: Action::ImageStatus,
    },
    Command {
        name: "image unpin",
        aliases: &[],
        arguments: "[options] <pattern>",
        synopsis: "Take a pin back",
        about: "What nothing else needs is removed when its delay has passed.",
        flags: &[],
        general: true,
        action: Action::ImageUnpin,
    },
    Command {
        name: "job allocs",
        aliases: &[],
        arguments: "[options] <job>",
        synopsis: "List a job's allocations",
        about: "",
        flags: &[&[Flag::switch("all", "Also those of an earlier job of the same name.")], STATUS_FORMAT],
        general: true,
        action: Action::JobAllocs,
    },
    Command {
        name: "job deployments",
        aliases: &[],
        arguments: "[options] <job>",
        synopsis: "List a job's deployments",
        about: "",
        flags: &[
            &[
                Flag::switch("latest", "The newest one alone, in full."),
                Flag::switch("all", "Also those of an earlier job of the same name."),
            ],
            STATUS_FORMAT,
        ],
        general: true,
        action: Action::JobDeployments,
    },
    Command {
        name: "job eval",
        aliases: &[],
        arguments: "[options] <job>",
        synopsis: "Have the scheduler look at a job anew",
        about: "",
        flags: &[&[DETACH, Flag::switch("force-reschedule", "Failed allocations are replaced at once."), VERBOSE]],
        general: true,
        action: Action::JobEval,
    },
    Command {
        name: "job history",
        aliases: &[],
        arguments: "[options] <job>",
        synopsis: "Show a job's versions",
        about: "",
        flags: &[&[
            Flag::switch("p", "What each version changed."),
            Flag::switch("full", "Each version in full."),
            Flag::text("version", "One version alone."),
            VERBOSE,
            JSON,
            TEMPLATE,
        ]],
        general: true,
        action: Action::JobHistory,
    },
    Command {
        name: "job init",
        aliases: &["init"],
        arguments: "[options] <filename>",
        synopsis: "Write an example job file",
        about: "The file is example.nomad.hcl unless another name is given.",
        flags: &[&[
            Flag::switch("short", "Without explanations."),
            Flag::switch("connect", "Refused: service meshes are not in this build."),
            Flag::text("template", "Refused: templates of jobs are not in this build."),
            Flag::switch("list-templates", "Refused: templates of jobs are not in this build."),
        ]],
        general: true,
        action: Action::JobInit,
    },
    Command {
        name: "job inspect",
        aliases: &["inspect"],
        arguments: "[options] <job>",
        synopsis: "Show a job as JSON",
        about: "",
        flags: &[&[Flag::text("version", "An earlier version."), JSON, TEMPLATE]],
        general: true,
        action: Action::JobInspect,
    },
    Command {
        name: "job plan",
        aliases: &["plan"],
        arguments: "[options] <path>",
        synopsis: "Show what running a job file would change",
        about: "Exits with 0 when no allocation would come or go, 1 when some would, 255 on errors.",
        flags: &[
            &[
                Flag::switch("diff", "Whether to show the differences (default true)."),
                Flag::switch("policy-override", "Accepted."),
                VERBOSE,
            ],
            jobfile::FLAGS,
        ],
        general: true,
        action: Action::JobPlan,
    },
    Command {
        name: "job revert",
        aliases: &[],
        arguments: "[options] <job> <version>",
        synopsis: "Run an earlier version of a job again",
        about: "",
        flags: &[&[
            DETACH,
            Flag::text("consul-token", "Sent along; Consul is not in this build."),
            Flag::text("vault-token", "Sent along; Vault is not in this build."),
            VERBOSE,
        ]],
        general: true,
        action: Action::JobRevert,
    },
    Command {
        name: "job run",
        aliases: &["run"],
        arguments: "[options] <path>",
        synopsis: "Run a job, or update one that runs",
        about: "The path may be - for standard input. Follows the evaluation and the deployment; exits with 0 when both went \
                well, 1 on errors, 2 when something found no room.",
        flags: &[
            &[
                Flag::text("check-index", "Run only if the server has the job at this index; 0: only if it has none."),
                DETACH,
                PRIORITY,
                Flag::switch("output", "Print the job as JSON and submit nothing."),
                Flag::switch("policy-override", "Accepted."),
                Flag::switch("preserve-counts", "Groups that exist keep their count."),
                Flag::text("consul-token", "Accepted for job files that need Consul."),
                Flag::text("consul-namespace", "Accepted for job files that need Consul."),
                VERBOSE,
            ],
            jobfile::FLAGS,
        ],
        general: true,
        action: Action::JobRun,
    },
    Command {
        name: "job status",
        aliases: &[],
        arguments: "[options] <job>",
        synopsis: "List jobs, or show one",
        about: "",
        flags: &[&[
            Flag::switch("short", "The most important in a few lines."),
            Flag::switch("evals", "The job's evaluations too."),
            Flag::switch("all-allocs", "Also allocations of an earlier job of the same name."),
            VERBOSE,
        ]],
        general: true,
        action: Action::JobStatus,
    },
    Command {
        name: "job stop",
        aliases: &["stop"],
        arguments: "[options] <job>...",
        synopsis: "Stop jobs",
        about: "",
        flags: &[&[
            DETACH,
            PRIORITY,
            Flag::switch("global", "Accepted for jobs of several regions."),
            NO_DELAY,
            Flag::switch("purge", "Forget the job altogether."),
            Flag::switch("yes", "Do not ask when a prefix was given."),
            VERBOSE,
        ]],
        general: true,
        action: Action::JobStop,
    },
    Command {
        name: "job validate",
        aliases: &["validate"],
        arguments: "[options] <path>",
        synopsis: "Check a job file without running it",
        about: "",
        flags: &[&[DIAGNOSTICS], jobfile::FLAGS],
        general: true,
        action: Action::JobValidate,
    },
    Command {
        name: "node status",
        aliases: &["node-status"],
        arguments: "[options] <node>",
        synopsis: "List nodes, or show one",
        about: "",
        flags: &[
            &[
                Flag::switch("self", "The node of the agent that is asked."),
                Flag::switch("stats", "How its processors, memory and disks are doing."),
                Flag::switch("allocs", "In the list: how many allocations run on each."),
                Flag::switch("short", "The most important in a few lines."),
                Flag::switch("os", "In the list: operating systems."),
                Flag::switch("quiet", "In the list: ids alone."),
                Flag::text("filter", "Refused: expressions are not in this build."),
                Flag::integer("per-page", "In the list: how many."),
                Flag::text("page-token", "In the list: where to go on."),
            ],
            STATUS_FORMAT,
        ],
        general: true,
        action: Action::NodeStatus,
    },
    Command {
        name: "server members",
        aliases: &[],
        arguments: "[options]",
        synopsis: "List the servers that an agent knows",
        about: "",
        flags: &[&[Flag::switch("detailed", "All tags of each.")], STATUS_FORMAT],
        general: true,
        action: Action::ServerMembers,
    },
    Command {
        name: "status",
        aliases: &[],
        arguments: "[options] <id>",
        synopsis: "List jobs, or show whatever an id belongs to",
        about: "",
        flags: &[&[
            VERBOSE,
            Flag::switch("short", "For a job: the most important in a few lines."),
            Flag::switch("evals", "For a job: its evaluations too."),
            Flag::switch("all-allocs", "For a job: also allocations of an earlier job of the same name."),
        ]],
        general: true,
        action: Action::Status,
    },
    Command {
        name: "system gc",
        aliases: &[],
        arguments: "[options]",
        synopsis: "Forget what has ended, now",
        about: "",
        flags: &[],
        general: true,
        action: Action::SystemGc,
    },
    Command {
        name: "version",
        aliases: &[],
        arguments: "",
        synopsis: "Print the version",
        about: "",
        flags: &[],
        general: false,
        action: Action::Version,
    },
];

impl Command {
    /// Every flag that the command takes.
    pub(crate) fn all_flags(&self) -> Vec<&'static Flag> {
        let general: &[Flag] = if self.general { GENERAL } else { &[] };
        general.iter().chain(self.flags.iter().copied().flatten()).collect()
    }
}
