use crate::ui::Ui;

/// The release of Nomad whose API and command line are kept.
pub const NOMAD_LEVEL: &str = "1.6.3";

/// Our own release.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Two lines: the one that tools look for first is the one of the name that was called.
pub(crate) fn tell(ui: &mut Ui, program: &str) {
    for line in lines(program) {
        ui.line(&line);
    }
}

fn lines(program: &str) -> [String; 2] {
    let (own, nomad) = (format!("Longshore v{VERSION}"), format!("Nomad v{NOMAD_LEVEL}"));
    if program == "nomad" { [nomad, own] } else { [own, nomad] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_decides_which_comes_first() {
        assert!(lines("nomad")[0].starts_with("Nomad v1.6.3"));
        assert!(lines("longshore")[0].starts_with("Longshore v"));
        assert_eq!(lines("longshore")[1], "Nomad v1.6.3");
    }
}
