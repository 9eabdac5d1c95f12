//! How much memory communicators take, by counting what is allocated: pure code, for jobs of any size.

use collie::monitor::{Budget, SharedList, SharedLists, Traffic};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Arc;

/// The system's allocator, with a count of the bytes that each thread has allocated and not freed. The test harness
/// allocates in threads of its own at any time, which must not be counted with a test.
struct Counting;

thread_local! {
    // Constant and without a destructor: an allocator may read it at any time, and reading it allocates nothing.
    static HELD: Cell<isize> = const { Cell::new(0) };
}

fn count(bytes: isize) {
    HELD.set(HELD.get() + bytes);
}

/// Bytes that this thread holds; less than zero where it has freed what others allocated.
fn held() -> isize {
    HELD.get()
}

// SAFETY: everything is passed on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What is kept of a communicator in proportion to its ranks or to the messages.
struct Communicator {
    _traffic: Traffic,
    _members: Arc<SharedList>,
    _nodes: Arc<SharedList>,
}

/// One of `ranks` ranks on several nodes whose algorithms send along a hypercube.
fn communicator(lists: &SharedLists, budget: &Arc<Budget>, ranks: usize) -> Communicator {
    let mut traffic = Traffic::within(Arc::clone(budget), ranks);
    for bit in 0..ranks.ilog2() {
        (0..100).for_each(|_| traffic.sent(1 << bit, 64));
    }
    let members = lists.of((0..ranks as u32).collect());
    let nodes = lists.of((0..ranks as u32).map(|rank| rank / 4).collect());
    Communicator { _traffic: traffic, _members: members, _nodes: nodes }
}

/// Bytes of the first communicator of a group and of each that follows with the same ranks.
fn bytes(ranks: usize) -> (isize, isize) {
    let budget = Arc::new(Budget::default());
    let lists = SharedLists::within(Arc::clone(&budget));
    let before = held();
    let first = communicator(&lists, &budget, ranks);
    let with_first = held();
    let more: Vec<_> = (0..10).map(|_| communicator(&lists, &budget, ranks)).collect();
    let with_more = held() - size_of_val(more.as_slice()) as isize;
    drop((first, more));
    (with_first - before, (with_more - with_first) / 10)
}

#[test]
fn communicators_take_what_their_messages_need() {
    // Lists of 4 bytes a rank come once; 24 bytes a place, for up to twice as many receivers as there are.
    for (ranks, most_of_first, most_of_more) in [(8, 1 << 10, 200), (1024, 10 << 10, 800), (65_536, 520 << 10, 1600)] {
        let (first, more) = bytes(ranks);
        println!("{ranks} ranks: {first} bytes for the first communicator of a group, {more} for each further one");
        assert!(first <= most_of_first && more <= most_of_more, "{ranks} ranks: {first} and {more} bytes");
    }
}
