//! The program, instruction by instruction.
//!
//! In C it would be
//!
//! ```c
//! sigset_t set = { INT, TERM, CHLD };
//! sigprocmask(SIG_BLOCK, &set, NULL);
//! for (;;) {
//!     int signal = sigtimedwait(&set, NULL, NULL);
//!     if (signal == SIGCHLD) { while (wait4(-1, NULL, WNOHANG, NULL) > 0); }
//!     else if (signal >= 0) exit_group(0);
//! }
//! ```
//!
//! Signals are blocked and waited for, not handled: the first process of a namespace takes no signal that it has no
//! handler for, and a handler needs a return path of its own on each kind of processor.

/// A kind of processor that there is a program for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Architecture {
    X86_64,
    Aarch64,
}

impl Architecture {
    /// By the word that a Docker engine says (`amd64`), or the kernel (`x86_64`).
    pub(crate) fn of_word(word: &str) -> Option<Self> {
        match word {
            "amd64" | "x86_64" => Some(Self::X86_64),
            "arm64" | "aarch64" => Some(Self::Aarch64),
            _ => None,
        }
    }

    /// As images have it.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::X86_64 => "amd64",
            Self::Aarch64 => "arm64",
        }
    }

    /// `e_machine` of an ELF file.
    pub(super) fn elf_machine(self) -> u16 {
        match self {
            Self::X86_64 => 62,
            Self::Aarch64 => 183,
        }
    }

    /// The machine code; it begins with its first byte and needs nothing but a stack.
    pub(super) fn code(self) -> Vec<u8> {
        match self {
            Self::X86_64 => x86_64(),
            Self::Aarch64 => aarch64(),
        }
    }
}

const SIGCHLD: u32 = 17;
/// Bit n − 1 for signal n: INT (2), TERM (15), CHLD (17).
const SIGNALS: u32 = 1 << 1 | 1 << 14 | 1 << 16;
/// Bytes of a signal set, as the kernel counts them.
const SET_BYTES: u8 = 8;

fn x86_64() -> Vec<u8> {
    const SIGPROCMASK: u8 = 14;
    const SIGTIMEDWAIT: u8 = 128;
    const WAIT4: u8 = 61;
    const EXIT_GROUP: u8 = 231;
    const SYSCALL: [u8; 2] = [0x0f, 0x05];
    let mut code = Vec::new();
    let mut put = |bytes: &[u8]| {
        code.extend_from_slice(bytes);
        code.len()
    };
    put(&[0x68]); // push SIGNALS
    put(&SIGNALS.to_le_bytes());
    put(&[0xb8, SIGPROCMASK, 0, 0, 0]); // mov eax, SIGPROCMASK
    put(&[0x31, 0xff]); // xor edi, edi (SIG_BLOCK)
    put(&[0x48, 0x89, 0xe6]); // mov rsi, rsp
    put(&[0x31, 0xd2]); // xor edx, edx
    put(&[0x41, 0xba, SET_BYTES, 0, 0, 0]); // mov r10d, SET_BYTES
    let wait = put(&SYSCALL);
    put(&[0xb8, SIGTIMEDWAIT, 0, 0, 0]); // mov eax, SIGTIMEDWAIT
    put(&[0x48, 0x89, 0xe7]); // mov rdi, rsp
    put(&[0x31, 0xf6]); // xor esi, esi
    put(&[0x31, 0xd2]); // xor edx, edx
    put(&[0x41, 0xba, SET_BYTES, 0, 0, 0]); // mov r10d, SET_BYTES
    put(&SYSCALL);
    put(&[0x83, 0xf8, SIGCHLD as u8]); // cmp eax, SIGCHLD
    const EXIT_BYTES: u8 = 2 + 2 + 5 + 2 + 2;
    put(&[0x74, EXIT_BYTES]); // je reap
    put(&[0x85, 0xc0]); // test eax, eax
    let at = put(&[0x78]); // js wait: interrupted
    put(&[back(at, wait)]);
    put(&[0xb8, EXIT_GROUP, 0, 0, 0]); // mov eax, EXIT_GROUP
    put(&[0x31, 0xff]); // xor edi, edi
    let reap = put(&SYSCALL);
    put(&[0xb8, WAIT4, 0, 0, 0]); // mov eax, WAIT4
    put(&[0x48, 0x83, 0xcf, 0xff]); // or rdi, -1
    put(&[0x31, 0xf6]); // xor esi, esi
    put(&[0xba, 1, 0, 0, 0]); // mov edx, WNOHANG
    put(&[0x45, 0x31, 0xd2]); // xor r10d, r10d
    put(&SYSCALL);
    put(&[0x85, 0xc0]); // test eax, eax
    let at = put(&[0x7f]); // jg reap
    put(&[back(at, reap)]);
    let at = put(&[0xeb]); // jmp wait
    put(&[back(at, wait)]);
    code
}

/// The distance of a short jump back whose one byte of distance stands at `at`, counted from behind it.
fn back(at: usize, to: usize) -> u8 {
    (to as i64 - (at as i64 + 1)) as i8 as u8
}

fn aarch64() -> Vec<u8> {
    const SIGPROCMASK: u32 = 135;
    const SIGTIMEDWAIT: u32 = 137;
    const WAIT4: u32 = 260;
    const EXIT_GROUP: u32 = 94;
    const SUPERVISOR_CALL: u32 = 0xd400_0001;
    let movz = |register: u32, value: u32| 0xd280_0000 | value << 5 | register;
    let mut code: Vec<u32> = Vec::new();
    let mut put = |words: &[u32]| {
        code.extend_from_slice(words);
        code.len() as i32
    };
    put(&[0xd100_43ff]); // sub sp, sp, #16
    put(&[movz(0, SIGNALS & 0xffff)]);
    put(&[0xf2a0_0000 | (SIGNALS >> 16) << 5]); // movk x0, SIGNALS >> 16, lsl #16
    put(&[0xf900_03e0]); // str x0, [sp]
    put(&[movz(0, 0)]); // SIG_BLOCK
    put(&[0x9100_03e1]); // mov x1, sp
    put(&[movz(2, 0), movz(3, SET_BYTES.into()), movz(8, SIGPROCMASK)]);
    let wait = put(&[SUPERVISOR_CALL]);
    put(&[0x9100_03e0]); // mov x0, sp
    put(&[movz(1, 0), movz(2, 0), movz(3, SET_BYTES.into()), movz(8, SIGTIMEDWAIT)]);
    put(&[SUPERVISOR_CALL]);
    put(&[0xf100_001f | SIGCHLD << 10]); // cmp x0, SIGCHLD
    const EXIT_WORDS: u32 = 1 + 3;
    put(&[0x5400_0000 | (EXIT_WORDS + 1) << 5]); // b.eq reap
    let here = put(&[]);
    put(&[0xb7f8_0000 | (((wait - here) as u32) & 0x3fff) << 5]); // tbnz x0, #63, wait: interrupted
    put(&[movz(0, 0), movz(8, EXIT_GROUP)]);
    let reap = put(&[SUPERVISOR_CALL]);
    put(&[0x9280_0000]); // mov x0, -1
    put(&[movz(1, 0), movz(2, 1), movz(3, 0), movz(8, WAIT4)]); // WNOHANG is 1
    put(&[SUPERVISOR_CALL]);
    put(&[0xf100_001f]); // cmp x0, 0
    let here = put(&[]);
    put(&[0x5400_000c | (((reap - here) as u32) & 0x7_ffff) << 5]); // b.gt reap
    let here = put(&[]);
    put(&[0x1400_0000 | (((wait - here) as u32) & 0x3ff_ffff)]); // b wait
    code.into_iter().flat_map(u32::to_le_bytes).collect()
}
