//! A program file of one segment.

use super::program::Architecture;

const FILE_HEADER_BYTES: u16 = 64;
const SEGMENT_HEADER_BYTES: u16 = 56;
/// Where the file lies in memory.
const BASE: u64 = 0x40_0000;
/// As large as pages are on any machine that runs this.
const ALIGNMENT: u64 = 0x1_0000;

const LOAD: u32 = 1;
const STACK: u32 = 0x6474_e551;
const EXECUTE: u32 = 1;
const WRITE: u32 = 2;
const READ: u32 = 4;

/// The program for one kind of processor, as a static ELF file.
pub(super) fn program(architecture: Architecture) -> Vec<u8> {
    let code = architecture.code();
    let code_at = u64::from(FILE_HEADER_BYTES) + 2 * u64::from(SEGMENT_HEADER_BYTES);
    let size = code_at + code.len() as u64;
    let mut file = Vec::new();
    file.extend(b"\x7fELF");
    // 64 bit, little endian, version 1, System V; filled up to 16 bytes.
    file.extend([2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    file.extend(2u16.to_le_bytes()); // an executable
    file.extend(architecture.elf_machine().to_le_bytes());
    file.extend(1u32.to_le_bytes());
    file.extend((BASE + code_at).to_le_bytes()); // where it begins
    file.extend(u64::from(FILE_HEADER_BYTES).to_le_bytes()); // where the segments' headers are
    file.extend(0u64.to_le_bytes()); // no sections
    file.extend(0u32.to_le_bytes());
    for number in [FILE_HEADER_BYTES, SEGMENT_HEADER_BYTES, 2, 0, 0, 0] {
        file.extend(number.to_le_bytes());
    }
    segment(&mut file, LOAD, READ | EXECUTE, BASE, size, ALIGNMENT);
    // Says that no stack needs to be executable.
    segment(&mut file, STACK, READ | WRITE, 0, 0, 16);
    file.extend(code);
    file
}

fn segment(file: &mut Vec<u8>, kind: u32, rights: u32, at: u64, size: u64, alignment: u64) {
    file.extend(kind.to_le_bytes());
    file.extend(rights.to_le_bytes());
    // Place in the file, in memory twice, size in the file, in memory, alignment.
    for number in [0, at, at, size, size, alignment] {
        file.extend(number.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;
    use std::os::unix::process::ExitStatusExt as _;
    use std::path::Path;
    use std::process::{Child, Command};
    use std::time::{Duration, Instant};

    use super::*;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn the_same_bytes_each_time() {
        let x86_64 = program(Architecture::X86_64);
        assert_eq!(x86_64.len(), 266);
        insta::assert_snapshot!(hex(&x86_64[176..]), @"6802400100b80e00000031ff4889e631d241ba080000000f05b8800000004889e731f631d241ba080000000f0583f811740d85c078e3b8e700000031ff0f05b83d0000004883cfff31f6ba010000004531d20f0585c07fe7ebbf");
        let aarch64 = program(Architecture::Aarch64);
        insta::assert_snapshot!(hex(&aarch64[176..]), @"ff4300d1400088d22000a0f2e00300f9000080d2e1030091020080d2030180d2e81080d2010000d4e0030091010080d2020080d2030180d2281180d2010000d41f4400f1a000005400ffffb7000080d2c80b80d2010000d400008092010080d2220080d2030080d2882080d2010000d41f0000f12cffff54ecffff17");
    }

    fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
        let deadline = Instant::now() + Duration::from_secs(20);
        loop {
            if let Some(found) = look() {
                return found;
            }
            assert!(Instant::now() < deadline, "waited in vain for {what}");
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    fn children(of: u32) -> String {
        std::fs::read_to_string(format!("/proc/{of}/task/{of}/children")).unwrap()
    }

    /// Whether it waits for signals: it sleeps nowhere else.
    fn is_ready(child: &Child, program: &Path) -> bool {
        let link = std::fs::read_link(format!("/proc/{}/exe", child.id()));
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
        link.is_ok_and(|link| link == program) && status.contains("State:\tS")
    }

    #[test]
    fn it_waits_reaps_and_ends_at_once_on_term_and_int() {
        let Some(own) = Architecture::of_word(std::env::consts::ARCH) else { return };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pause");
        std::fs::write(&path, program(own)).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        for signal in ["TERM", "INT"] {
            // A child that ends after the shell has become the program: nobody but the program can reap it.
            let script = format!("(read line < {0}/fifo) & exec {0}/pause", folder.path().display());
            let fifo = folder.path().join("fifo");
            let _ = std::fs::remove_file(&fifo);
            nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::S_IRWXU).unwrap();
            let mut child = Command::new("/bin/sh").args(["-c", &script]).spawn().unwrap();
            wait_for("the program", || is_ready(&child, &path).then_some(()));
            assert_ne!(children(child.id()), "", "the shell's own child");
            std::fs::write(&fifo, "go\n").unwrap();
            wait_for("the reaping", || children(child.id()).is_empty().then_some(()));
            assert!(child.try_wait().unwrap().is_none(), "it ended without being asked");
            let killed = Command::new("/bin/kill").args([&format!("-{signal}"), &child.id().to_string()]).status();
            assert!(killed.unwrap().success());
            let ended = wait_for("its end", || child.try_wait().unwrap());
            assert_eq!((ended.code(), ended.signal()), (Some(0), None), "{signal}");
        }
    }
}
