/// A name that Nomad came to know after the level that is kept here.
pub(crate) struct Later {
    block: &'static str,
    name: &'static str,
    pub(crate) since: &'static str,
}

const fn since(since: &'static str, block: &'static str, name: &'static str) -> Later {
    Later { block, name, since }
}

static LATER: &[Later] = &[
    since("1.8", "job", "ui"),
    since("1.8", "group", "disconnect"),
    since("1.7", "group", "prevent_reschedule_on_lost"),
    since("2.0", "group", "max_run_duration"),
    since("1.7", "task", "action"),
    since("1.8", "task", "schedule"),
    since("1.11", "task", "secret"),
    since("1.7", "task", "consul"),
    since("1.7", "consul", "cluster"),
    since("1.7", "consul", "partition"),
    since("1.7", "resources", "numa"),
    since("1.9", "resources", "secrets"),
    since("1.8", "network", "cni"),
    since("1.10", "port", "ignore_collision"),
    since("1.7", "artifact", "insecure"),
    since("1.9", "artifact", "chown"),
    since("1.10", "template", "once"),
    since("2.0", "change_script", "run_on_first_render"),
    since("1.7", "vault", "role"),
    since("1.7", "vault", "cluster"),
    since("1.7", "vault", "allow_token_expiration"),
    since("1.7", "identity", "name"),
    since("1.7", "identity", "aud"),
    since("1.7", "identity", "change_mode"),
    since("1.7", "identity", "change_signal"),
    since("1.7", "identity", "filepath"),
    since("1.7", "identity", "service_name"),
    since("1.7", "identity", "ttl"),
    since("1.10", "identity", "extra_claims"),
    since("1.10", "volume", "sticky"),
    since("1.10", "volume_mount", "selinux_label"),
    since("1.7", "service", "weights"),
    since("1.7", "service", "kind"),
    since("1.7", "service", "identity"),
    since("1.7", "service", "cluster"),
    since("1.7", "check", "notes"),
    since("1.7", "check", "failures_before_warning"),
];

pub(crate) fn later(block: &str, name: &str) -> Option<&'static Later> {
    LATER.iter().find(|later| later.block == block && later.name == name)
}
