//! Bandwidth of the reduction kernels against a plain `out = a + b` on doubles, the add of the STREAM benchmark, in
//! buffers of the same total size.
//!
//! `cargo bench --package collie-reduction`; words after `--` pick the rows that contain one of them, such as `Sum` or
//! `C64`.
//!
//! Each kernel takes turns with the add, and the fastest turn of each counts: what else the machine does then hits both
//! alike. A harness that measures one after the other, minutes apart, gave ratios from 30 to 120 % for one kernel on a
//! busy machine. Bytes are those of all three buffers, as in STREAM. Buffers start on a cache line, and again 16 bytes
//! behind one, where `malloc` puts large blocks.

use collie_reduction::{Element, Kernel, Op, instruction_set, kernel};
use std::hint::black_box;
use std::time::Instant;

/// Where the three buffers lie together, the bytes of each, and how many turns to take.
const LEVELS: [(&str, usize, usize); 3] = [("L1", 8 << 10, 300), ("L2", 256 << 10, 300), ("memory", 64 << 20, 12)];

/// Bytes of each buffer that one turn goes through at least, so that reading the clock does not count.
const TURN: usize = 2 << 20;

/// STREAM's add as a compiler makes it for this processor.
fn add(a: &[f64], b: &[f64], out: &mut [f64]) {
    #[inline(always)]
    fn body(a: &[f64], b: &[f64], out: &mut [f64]) {
        for ((out, a), b) in out.iter_mut().zip(a).zip(b) {
            *out = a + b;
        }
    }
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx512f")]
        fn avx512(a: &[f64], b: &[f64], out: &mut [f64]) {
            body(a, b, out);
        }
        #[target_feature(enable = "avx2")]
        fn avx2(a: &[f64], b: &[f64], out: &mut [f64]) {
            body(a, b, out);
        }
        if is_x86_feature_detected!("avx512f") {
            // SAFETY: the processor has it.
            return unsafe { avx512(a, b, out) };
        }
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has it.
            return unsafe { avx2(a, b, out) };
        }
    }
    body(a, b, out);
}

/// Doubles near 1, which are ordinary values read as any of the elements, and the index of the one that lies
/// `behind` bytes behind a cache line.
fn buffer(bytes: usize, behind: usize) -> (Vec<f64>, usize) {
    let memory: Vec<f64> = (0..bytes / 8 + 16).map(|i| 1.0 + (i % 1021) as f64 / 1024.0).collect();
    let start = memory.as_ptr().align_offset(64) + behind / 8;
    (memory, start)
}

/// Seconds that `work`, done `times` times, takes.
fn seconds(times: usize, mut work: impl FnMut()) -> f64 {
    let start = Instant::now();
    for _ in 0..times {
        work();
    }
    start.elapsed().as_secs_f64()
}

/// Bytes per nanosecond of the kernel and of the add.
fn measure(kernel: Kernel, element: Element, bytes: usize, turns: usize, behind: usize) -> (f64, f64) {
    let [(a, a_start), (b, b_start), (mut out, out_start)] =
        [buffer(bytes, behind), buffer(bytes, behind), buffer(bytes, behind)];
    let (a, b) = (&a[a_start..][..bytes / 8], &b[b_start..][..bytes / 8]);
    let out = &mut out[out_start..][..bytes / 8];
    let times = (TURN / bytes).max(1);
    let (mut fastest, mut fastest_add) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..turns {
        fastest_add = fastest_add.min(seconds(times, || add(black_box(a), black_box(b), black_box(out))));
        fastest = fastest.min(seconds(times, || {
            let (left, right, into) = (a.as_ptr().cast(), b.as_ptr().cast(), out.as_mut_ptr().cast());
            // SAFETY: each buffer holds so many elements; the three are apart.
            unsafe { kernel(black_box(left), black_box(right), black_box(into), bytes / element.size()) }
        }));
    }
    let moved = (3 * bytes * times) as f64 / 1e9;
    (moved / fastest, moved / fastest_add)
}

/// What a call costs where the elements cost nothing.
fn small() {
    const TIMES: usize = 100_000;
    let fastest = |work: &mut dyn FnMut()| {
        let nanoseconds = |()| seconds(TIMES, &mut *work) * 1e9 / TIMES as f64;
        [(); 50].map(nanoseconds).into_iter().fold(f64::INFINITY, f64::min)
    };
    let (op, element) = (Op::Sum, Element::F64);
    let lookup = fastest(&mut || {
        black_box(kernel(black_box(op), black_box(element)));
    });
    let sum = kernel(op, element).expect("MPI allows it");
    let (a, b, mut out) = (1.0f64, 2.0f64, 0.0f64);
    let one = fastest(&mut || {
        let (left, right, into) = ((&raw const a).cast(), (&raw const b).cast(), (&raw mut out).cast());
        // SAFETY: three separate doubles.
        unsafe { sum(black_box(left), black_box(right), black_box(into), 1) }
    });
    println!("finding a kernel {lookup:.1} ns, adding one double {one:.1} ns");
}

fn main() {
    // Cargo itself passes `--bench`.
    let picked: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    println!("instruction set: {}", instruction_set());
    small();
    for (level, bytes, turns) in LEVELS {
        for behind in [0, 16] {
            println!("\n{level}, {bytes} bytes per buffer, {behind} bytes behind a cache line");
            for (op, element) in Op::ALL.into_iter().flat_map(|op| Element::ALL.map(|element| (op, element))) {
                let name = format!("{op:?} {element:?}");
                let skipped = !picked.is_empty() && !picked.iter().any(|part| name.contains(part.as_str()));
                let Some(kernel) = kernel(op, element).filter(|_| !skipped) else { continue };
                let (found, add) = measure(kernel, element, bytes, turns, behind);
                println!("{name:20} {found:6.1} GB/s, {:3.0} % of the add's {add:6.1}", 100.0 * found / add);
            }
        }
    }
}
