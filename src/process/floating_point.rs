//! The floating-point environment of a thread: which exceptions have come up, which of them end the process, and how
//! results are rounded. It is the program's.
//!
//! What Collie calculates for itself, such as predictions and verdicts, must leave no exceptions behind for the program
//! to find, nor end in its traps, and has to come out alike on all ranks. The compiler relies on that environment too,
//! and may calculate with numbers that nobody looks at afterwards. The program's own data are combined in its own
//! environment, as the MPI library does it.

/// The program's environment has been put aside for the usual one; it comes back when this is dropped.
#[derive(Debug)]
struct Apart(arch::Environment);

impl Apart {
    fn begin() -> Self {
        let program = arch::get();
        arch::set(arch::USUAL);
        Self(program)
    }
}

impl Drop for Apart {
    fn drop(&mut self) {
        arch::set(self.0);
    }
}

/// Runs what calculates for Collie alone.
#[inline]
pub fn apart<R>(calculate: impl FnOnce() -> R) -> R {
    let _apart = Apart::begin();
    calculate()
}

#[cfg(target_arch = "x86_64")]
mod arch {
    use std::arch::asm;

    /// MXCSR. The x87 unit is used for `long double` alone, of which Collie calculates nothing of its own.
    pub type Environment = u32;

    /// All exceptions masked and none come up, rounding to nearest, denormal numbers as they are.
    pub const USUAL: Environment = 0x1F80;

    #[inline]
    pub fn get() -> Environment {
        let mut environment = 0;
        // SAFETY: writes these four bytes alone.
        unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut environment, options(nostack, preserves_flags)) };
        environment
    }

    #[inline]
    pub fn set(environment: Environment) {
        // SAFETY: the value is one that was read before, or the usual one; what is calculated in between expects no
        // other, and moves past neither of the two, which may change memory as far as the compiler knows.
        unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const environment, options(nostack, preserves_flags)) };
    }
}

#[cfg(target_arch = "aarch64")]
mod arch {
    use std::arch::asm;

    /// FPCR and FPSR.
    pub type Environment = (u64, u64);

    /// No traps, none come up, rounding to nearest, denormal numbers as they are.
    pub const USUAL: Environment = (0, 0);

    #[inline]
    pub fn get() -> Environment {
        let (control, status);
        // SAFETY: only reads.
        unsafe {
            asm!("mrs {}, fpcr", "mrs {}, fpsr", out(reg) control, out(reg) status, options(nostack, preserves_flags));
        }
        (control, status)
    }

    #[inline]
    pub fn set((control, status): Environment) {
        // SAFETY: the value is one that was read before, or the usual one.
        unsafe {
            asm!("msr fpcr, {}", "msr fpsr, {}", in(reg) control, in(reg) status, options(nostack, preserves_flags));
        }
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod arch {
    pub type Environment = ();
    pub const USUAL: Environment = ();
    pub const fn get() -> Environment {}
    pub const fn set((): Environment) {}
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use std::hint::black_box;

    /// Bits of MXCSR: division by zero has come up; it ends the process unless this one is set.
    const DIVIDED: u32 = 1 << 2;
    const MASKS_DIVISION: u32 = 1 << 9;

    #[test]
    fn what_is_calculated_apart_leaves_the_programs_environment_alone() {
        let before = arch::get();
        arch::set(before & !MASKS_DIVISION & !DIVIDED);
        let (found, usual) = apart(|| {
            let usual = arch::get();
            (black_box(1.0) / black_box(0.0), usual)
        });
        let after = arch::get();
        arch::set(before);
        assert_eq!((found, usual), (f64::INFINITY, arch::USUAL));
        assert_eq!(after & (MASKS_DIVISION | DIVIDED), 0, "{after:x}");
    }

    #[test]
    fn it_comes_back_after_a_panic() {
        let before = arch::get();
        arch::set(before | DIVIDED);
        let panicked = std::panic::catch_unwind(|| apart(|| std::panic::resume_unwind(Box::new(()))));
        let after = arch::get();
        arch::set(before);
        assert!(panicked.is_err() && after & DIVIDED != 0, "{after:x}");
    }
}
