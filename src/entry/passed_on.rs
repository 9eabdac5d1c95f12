//! The table and the C entries of calls beside collectives that versions of an MPI library may have or not, or that are
//! rare: counted, timed and passed on to the library's procedure, which is looked up by name.

use super::native::native_procedure;
use crate::call::messages::{Moved, count as counted, moved_to};
use crate::monitor::MessageCall;
use crate::mpi::procedures::procedure;
use mpi_sys::{
    MPI_Aint, MPI_Comm, MPI_Count, MPI_Datatype, MPI_File, MPI_Group, MPI_Info, MPI_Offset, MPI_Op, MPI_Request,
    MPI_Status, MPI_Win,
};
use std::os::raw::{c_char, c_int, c_void};

/// One call per line, handed to the macro that makes the entries:
///
/// the call; the last part of its name, and in lower and in upper case, for Fortran; whether it has a large-count form;
/// what its Fortran form takes: `choice` buffers of any type, `text`, whose length comes last, or `plain` arguments;
/// the arguments; those that give the bytes: the receiver, where there is one, a count (1 where it is no
/// argument) and its datatype.
///
/// `Count` and `Shift` are what the form of the call counts and displaces in.
macro_rules! passed_on {
    ($emit:ident) => {
        $emit! {
            Isendrecv "Isendrecv" isendrecv ISENDRECV large choice (
                buffer: *const c_void, count: Count, datatype: MPI_Datatype, to: c_int, tag: c_int, receive: *mut c_void,
                receive_count: Count, receive_type: MPI_Datatype, from: c_int, receive_tag: c_int, comm: MPI_Comm,
                request: *mut MPI_Request) [to count datatype];
            IsendrecvReplace "Isendrecv_replace" isendrecv_replace ISENDRECV_REPLACE large choice (
                buffer: *mut c_void, count: Count, datatype: MPI_Datatype, to: c_int, tag: c_int, from: c_int,
                receive_tag: c_int, comm: MPI_Comm, request: *mut MPI_Request) [to count datatype];
            SendInit "Send_init" send_init SEND_INIT large choice (
                buffer: *const c_void, count: Count, datatype: MPI_Datatype, to: c_int, tag: c_int, comm: MPI_Comm,
                request: *mut MPI_Request) [];
            BsendInit "Bsend_init" bsend_init BSEND_INIT large choice (
                buffer: *const c_void, count: Count, datatype: MPI_Datatype, to: c_int, tag: c_int, comm: MPI_Comm,
                request: *mut MPI_Request) [];
            SsendInit "Ssend_init" ssend_init SSEND_INIT large choice (
                buffer: *const c_void, count: Count, datatype: MPI_Datatype, to: c_int, tag: c_int, comm: MPI_Comm,
                request: *mut MPI_Request) [];
            RsendInit "Rsend_init" rsend_init RSEND_INIT large choice (
                buffer: *const c_void, count: Count, datatype: MPI_Datatype, to: c_int, tag: c_int, comm: MPI_Comm,
                request: *mut MPI_Request) [];
            RecvInit "Recv_init" recv_init RECV_INIT large choice (
                buffer: *mut c_void, count: Count, datatype: MPI_Datatype, from: c_int, tag: c_int, comm: MPI_Comm,
                request: *mut MPI_Request) [];
            PsendInit "Psend_init" psend_init PSEND_INIT small choice (
                buffer: *const c_void, partitions: c_int, count: MPI_Count, datatype: MPI_Datatype, to: c_int, tag: c_int,
                comm: MPI_Comm, info: MPI_Info, request: *mut MPI_Request) [];
            PrecvInit "Precv_init" precv_init PRECV_INIT small choice (
                buffer: *mut c_void, partitions: c_int, count: MPI_Count, datatype: MPI_Datatype, from: c_int, tag: c_int,
                comm: MPI_Comm, info: MPI_Info, request: *mut MPI_Request) [];
            Pready "Pready" pready PREADY small plain (partition: c_int, request: MPI_Request) [];
            PreadyRange "Pready_range" pready_range PREADY_RANGE small plain (
                first: c_int, last: c_int, request: MPI_Request) [];
            PreadyList "Pready_list" pready_list PREADY_LIST small plain (
                length: c_int, partitions: *const c_int, request: MPI_Request) [];
            Parrived "Parrived" parrived PARRIVED small plain (request: MPI_Request, partition: c_int, flag: *mut c_int) [];
            Cancel "Cancel" cancel CANCEL small plain (request: *mut MPI_Request) [];
            BufferDetach "Buffer_detach" buffer_detach BUFFER_DETACH large plain (buffer: *mut c_void, size: *mut Count) [];
            BufferFlush "Buffer_flush" buffer_flush BUFFER_FLUSH small plain () [];
            BufferIflush "Buffer_iflush" buffer_iflush BUFFER_IFLUSH small plain (request: *mut MPI_Request) [];
            CommDetachBuffer "Comm_detach_buffer" comm_detach_buffer COMM_DETACH_BUFFER large plain (
                comm: MPI_Comm, buffer: *mut c_void, size: *mut Count) [];
            CommFlushBuffer "Comm_flush_buffer" comm_flush_buffer COMM_FLUSH_BUFFER small plain (comm: MPI_Comm) [];
            CommIflushBuffer "Comm_iflush_buffer" comm_iflush_buffer COMM_IFLUSH_BUFFER small plain (
                comm: MPI_Comm, request: *mut MPI_Request) [];

            Put "Put" put PUT large choice (
                buffer: *const c_void, count: Count, datatype: MPI_Datatype, to: c_int, place: MPI_Aint, target_count: Count,
                target_type: MPI_Datatype, win: MPI_Win) [to count datatype];
            Get "Get" get GET large choice (
                buffer: *mut c_void, count: Count, datatype: MPI_Datatype, to: c_int, place: MPI_Aint, target_count: Count,
                target_type: MPI_Datatype, win: MPI_Win) [to count datatype];
            Accumulate "Accumulate" accumulate ACCUMULATE large choice (
                buffer: *const c_void, count: Count, datatype: MPI_Datatype, to: c_int, place: MPI_Aint, target_count: Count,
                target_type: MPI_Datatype, op: MPI_Op, win: MPI_Win) [to count datatype];
            GetAccumulate "Get_accumulate" get_accumulate GET_ACCUMULATE large choice (
                buffer: *const c_void, count: Count, datatype: MPI_Datatype, result: *mut c_void, result_count: Count,
                result_type: MPI_Datatype, to: c_int, place: MPI_Aint, target_count: Count, target_type: MPI_Datatype,
                op: MPI_Op, win: MPI_Win) [to target_count target_type];
            FetchAndOp "Fetch_and_op" fetch_and_op FETCH_AND_OP small choice (
                buffer: *const c_void, result: *mut c_void, datatype: MPI_Datatype, to: c_int, place: MPI_Aint, op: MPI_Op,
                win: MPI_Win) [to 1 datatype];
            CompareAndSwap "Compare_and_swap" compare_and_swap COMPARE_AND_SWAP small choice (
                buffer: *const c_void, compared: *const c_void, result: *mut c_void, datatype: MPI_Datatype, to: c_int,
                place: MPI_Aint, win: MPI_Win) [to 1 datatype];
            Rput "Rput" rput RPUT large choice (
                buffer: *const c_void, count: Count, datatype: MPI_Datatype, to: c_int, place: MPI_Aint, target_count: Count,
                target_type: MPI_Datatype, win: MPI_Win, request: *mut MPI_Request) [to count datatype];
            Rget "Rget" rget RGET large choice (
                buffer: *mut c_void, count: Count, datatype: MPI_Datatype, to: c_int, place: MPI_Aint, target_count: Count,
                target_type: MPI_Datatype, win: MPI_Win, request: *mut MPI_Request) [to count datatype];
            Raccumulate "Raccumulate" raccumulate RACCUMULATE large choice (
                buffer: *const c_void, count: Count, datatype: MPI_Datatype, to: c_int, place: MPI_Aint, target_count: Count,
                target_type: MPI_Datatype, op: MPI_Op, win: MPI_Win, request: *mut MPI_Request) [to count datatype];
            RgetAccumulate "Rget_accumulate" rget_accumulate RGET_ACCUMULATE large choice (
                buffer: *const c_void, count: Count, datatype: MPI_Datatype, result: *mut c_void, result_count: Count,
                result_type: MPI_Datatype, to: c_int, place: MPI_Aint, target_count: Count, target_type: MPI_Datatype,
                op: MPI_Op, win: MPI_Win, request: *mut MPI_Request) [to target_count target_type];
            WinCreate "Win_create" win_create WIN_CREATE large choice (
                base: *mut c_void, size: MPI_Aint, unit: Shift, info: MPI_Info, comm: MPI_Comm, win: *mut MPI_Win) [];
            WinAllocate "Win_allocate" win_allocate WIN_ALLOCATE large plain (
                size: MPI_Aint, unit: Shift, info: MPI_Info, comm: MPI_Comm, base: *mut c_void, win: *mut MPI_Win) [];
            WinAllocateShared "Win_allocate_shared" win_allocate_shared WIN_ALLOCATE_SHARED large plain (
                size: MPI_Aint, unit: Shift, info: MPI_Info, comm: MPI_Comm, base: *mut c_void, win: *mut MPI_Win) [];
            WinCreateDynamic "Win_create_dynamic" win_create_dynamic WIN_CREATE_DYNAMIC small plain (
                info: MPI_Info, comm: MPI_Comm, win: *mut MPI_Win) [];
            WinAttach "Win_attach" win_attach WIN_ATTACH small choice (win: MPI_Win, base: *mut c_void, size: MPI_Aint) [];
            WinDetach "Win_detach" win_detach WIN_DETACH small choice (win: MPI_Win, base: *const c_void) [];
            WinFree "Win_free" win_free WIN_FREE small plain (win: *mut MPI_Win) [];
            WinFence "Win_fence" win_fence WIN_FENCE small plain (hints: c_int, win: MPI_Win) [];
            WinStart "Win_start" win_start WIN_START small plain (group: MPI_Group, hints: c_int, win: MPI_Win) [];
            WinComplete "Win_complete" win_complete WIN_COMPLETE small plain (win: MPI_Win) [];
            WinPost "Win_post" win_post WIN_POST small plain (group: MPI_Group, hints: c_int, win: MPI_Win) [];
            WinWait "Win_wait" win_wait WIN_WAIT small plain (win: MPI_Win) [];
            WinTest "Win_test" win_test WIN_TEST small plain (win: MPI_Win, flag: *mut c_int) [];
            WinLock "Win_lock" win_lock WIN_LOCK small plain (kind: c_int, rank: c_int, hints: c_int, win: MPI_Win) [];
            WinUnlock "Win_unlock" win_unlock WIN_UNLOCK small plain (rank: c_int, win: MPI_Win) [];
            WinLockAll "Win_lock_all" win_lock_all WIN_LOCK_ALL small plain (hints: c_int, win: MPI_Win) [];
            WinUnlockAll "Win_unlock_all" win_unlock_all WIN_UNLOCK_ALL small plain (win: MPI_Win) [];
            WinFlush "Win_flush" win_flush WIN_FLUSH small plain (rank: c_int, win: MPI_Win) [];
            WinFlushAll "Win_flush_all" win_flush_all WIN_FLUSH_ALL small plain (win: MPI_Win) [];
            WinFlushLocal "Win_flush_local" win_flush_local WIN_FLUSH_LOCAL small plain (rank: c_int, win: MPI_Win) [];
            WinFlushLocalAll "Win_flush_local_all" win_flush_local_all WIN_FLUSH_LOCAL_ALL small plain (win: MPI_Win) [];
            WinSync "Win_sync" win_sync WIN_SYNC small plain (win: MPI_Win) [];

            FileOpen "File_open" file_open FILE_OPEN small text (
                comm: MPI_Comm, name: *const c_char, mode: c_int, info: MPI_Info, file: *mut MPI_File) [];
            FileClose "File_close" file_close FILE_CLOSE small plain (file: *mut MPI_File) [];
            FileDelete "File_delete" file_delete FILE_DELETE small text (name: *const c_char, info: MPI_Info) [];
            FileSetSize "File_set_size" file_set_size FILE_SET_SIZE small plain (file: MPI_File, size: MPI_Offset) [];
            FilePreallocate "File_preallocate" file_preallocate FILE_PREALLOCATE small plain (
                file: MPI_File, size: MPI_Offset) [];
            FileGetSize "File_get_size" file_get_size FILE_GET_SIZE small plain (file: MPI_File, size: *mut MPI_Offset) [];
            FileSetView "File_set_view" file_set_view FILE_SET_VIEW small text (
                file: MPI_File, place: MPI_Offset, element: MPI_Datatype, view: MPI_Datatype, representation: *const c_char,
                info: MPI_Info) [];
            FileSync "File_sync" file_sync FILE_SYNC small plain (file: MPI_File) [];
            FileSeek "File_seek" file_seek FILE_SEEK small plain (file: MPI_File, place: MPI_Offset, whence: c_int) [];
            FileSeekShared "File_seek_shared" file_seek_shared FILE_SEEK_SHARED small plain (
                file: MPI_File, place: MPI_Offset, whence: c_int) [];
            FileRead "File_read" file_read FILE_READ large choice (
                file: MPI_File, buffer: *mut c_void, count: Count, datatype: MPI_Datatype, status: *mut MPI_Status)
                [count datatype];
            FileReadAll "File_read_all" file_read_all FILE_READ_ALL large choice (
                file: MPI_File, buffer: *mut c_void, count: Count, datatype: MPI_Datatype, status: *mut MPI_Status)
                [count datatype];
            FileReadAt "File_read_at" file_read_at FILE_READ_AT large choice (
                file: MPI_File, place: MPI_Offset, buffer: *mut c_void, count: Count, datatype: MPI_Datatype,
                status: *mut MPI_Status) [count datatype];
            FileReadAtAll "File_read_at_all" file_read_at_all FILE_READ_AT_ALL large choice (
                file: MPI_File, place: MPI_Offset, buffer: *mut c_void, count: Count, datatype: MPI_Datatype,
                status: *mut MPI_Status) [count datatype];
            FileReadShared "File_read_shared" file_read_shared FILE_READ_SHARED large choice (
                file: MPI_File, buffer: *mut c_void, count: Count, datatype: MPI_Datatype, status: *mut MPI_Status)
                [count datatype];
            FileReadOrdered "File_read_ordered" file_read_ordered FILE_READ_ORDERED large choice (
                file: MPI_File, buffer: *mut c_void, count: Count, datatype: MPI_Datatype, status: *mut MPI_Status)
                [count datatype];
            FileWrite "File_write" file_write FILE_WRITE large choice (
                file: MPI_File, buffer: *const c_void, count: Count, datatype: MPI_Datatype, status: *mut MPI_Status)
                [count datatype];
            FileWriteAll "File_write_all" file_write_all FILE_WRITE_ALL large choice (
                file: MPI_File, buffer: *const c_void, count: Count, datatype: MPI_Datatype, status: *mut MPI_Status)
                [count datatype];
            FileWriteAt "File_write_at" file_write_at FILE_WRITE_AT large choice (
                file: MPI_File, place: MPI_Offset, buffer: *const c_void, count: Count, datatype: MPI_Datatype,
                status: *mut MPI_Status) [count datatype];
            FileWriteAtAll "File_write_at_all" file_write_at_all FILE_WRITE_AT_ALL large choice (
                file: MPI_File, place: MPI_Offset, buffer: *const c_void, count: Count, datatype: MPI_Datatype,
                status: *mut MPI_Status) [count datatype];
            FileWriteShared "File_write_shared" file_write_shared FILE_WRITE_SHARED large choice (
                file: MPI_File, buffer: *const c_void, count: Count, datatype: MPI_Datatype, status: *mut MPI_Status)
                [count datatype];
            FileWriteOrdered "File_write_ordered" file_write_ordered FILE_WRITE_ORDERED large choice (
                file: MPI_File, buffer: *const c_void, count: Count, datatype: MPI_Datatype, status: *mut MPI_Status)
                [count datatype];
            FileIread "File_iread" file_iread FILE_IREAD large choice (
                file: MPI_File, buffer: *mut c_void, count: Count, datatype: MPI_Datatype, request: *mut MPI_Request)
                [count datatype];
            FileIreadAll "File_iread_all" file_iread_all FILE_IREAD_ALL large choice (
                file: MPI_File, buffer: *mut c_void, count: Count, datatype: MPI_Datatype, request: *mut MPI_Request)
                [count datatype];
            FileIreadAt "File_iread_at" file_iread_at FILE_IREAD_AT large choice (
                file: MPI_File, place: MPI_Offset, buffer: *mut c_void, count: Count, datatype: MPI_Datatype,
                request: *mut MPI_Request) [count datatype];
            FileIreadAtAll "File_iread_at_all" file_iread_at_all FILE_IREAD_AT_ALL large choice (
                file: MPI_File, place: MPI_Offset, buffer: *mut c_void, count: Count, datatype: MPI_Datatype,
                request: *mut MPI_Request) [count datatype];
            FileIreadShared "File_iread_shared" file_iread_shared FILE_IREAD_SHARED large choice (
                file: MPI_File, buffer: *mut c_void, count: Count, datatype: MPI_Datatype, request: *mut MPI_Request)
                [count datatype];
            FileIwrite "File_iwrite" file_iwrite FILE_IWRITE large choice (
                file: MPI_File, buffer: *const c_void, count: Count, datatype: MPI_Datatype, request: *mut MPI_Request)
                [count datatype];
            FileIwriteAll "File_iwrite_all" file_iwrite_all FILE_IWRITE_ALL large choice (
                file: MPI_File, buffer: *const c_void, count: Count, datatype: MPI_Datatype, request: *mut MPI_Request)
                [count datatype];
            FileIwriteAt "File_iwrite_at" file_iwrite_at FILE_IWRITE_AT large choice (
                file: MPI_File, place: MPI_Offset, buffer: *const c_void, count: Count, datatype: MPI_Datatype,
                request: *mut MPI_Request) [count datatype];
            FileIwriteAtAll "File_iwrite_at_all" file_iwrite_at_all FILE_IWRITE_AT_ALL large choice (
                file: MPI_File, place: MPI_Offset, buffer: *const c_void, count: Count, datatype: MPI_Datatype,
                request: *mut MPI_Request) [count datatype];
            FileIwriteShared "File_iwrite_shared" file_iwrite_shared FILE_IWRITE_SHARED large choice (
                file: MPI_File, buffer: *const c_void, count: Count, datatype: MPI_Datatype, request: *mut MPI_Request)
                [count datatype];
            FileReadAllBegin "File_read_all_begin" file_read_all_begin FILE_READ_ALL_BEGIN large choice (
                file: MPI_File, buffer: *mut c_void, count: Count, datatype: MPI_Datatype) [count datatype];
            FileReadAllEnd "File_read_all_end" file_read_all_end FILE_READ_ALL_END small choice (
                file: MPI_File, buffer: *mut c_void, status: *mut MPI_Status) [];
            FileReadAtAllBegin "File_read_at_all_begin" file_read_at_all_begin FILE_READ_AT_ALL_BEGIN large choice (
                file: MPI_File, place: MPI_Offset, buffer: *mut c_void, count: Count, datatype: MPI_Datatype)
                [count datatype];
            FileReadAtAllEnd "File_read_at_all_end" file_read_at_all_end FILE_READ_AT_ALL_END small choice (
                file: MPI_File, buffer: *mut c_void, status: *mut MPI_Status) [];
            FileReadOrderedBegin "File_read_ordered_begin" file_read_ordered_begin FILE_READ_ORDERED_BEGIN large choice (
                file: MPI_File, buffer: *mut c_void, count: Count, datatype: MPI_Datatype) [count datatype];
            FileReadOrderedEnd "File_read_ordered_end" file_read_ordered_end FILE_READ_ORDERED_END small choice (
                file: MPI_File, buffer: *mut c_void, status: *mut MPI_Status) [];
            FileWriteAllBegin "File_write_all_begin" file_write_all_begin FILE_WRITE_ALL_BEGIN large choice (
                file: MPI_File, buffer: *const c_void, count: Count, datatype: MPI_Datatype) [count datatype];
            FileWriteAllEnd "File_write_all_end" file_write_all_end FILE_WRITE_ALL_END small choice (
                file: MPI_File, buffer: *const c_void, status: *mut MPI_Status) [];
            FileWriteAtAllBegin "File_write_at_all_begin" file_write_at_all_begin FILE_WRITE_AT_ALL_BEGIN large choice (
                file: MPI_File, place: MPI_Offset, buffer: *const c_void, count: Count, datatype: MPI_Datatype)
                [count datatype];
            FileWriteAtAllEnd "File_write_at_all_end" file_write_at_all_end FILE_WRITE_AT_ALL_END small choice (
                file: MPI_File, buffer: *const c_void, status: *mut MPI_Status) [];
            FileWriteOrderedBegin "File_write_ordered_begin" file_write_ordered_begin FILE_WRITE_ORDERED_BEGIN large choice (
                file: MPI_File, buffer: *const c_void, count: Count, datatype: MPI_Datatype) [count datatype];
            FileWriteOrderedEnd "File_write_ordered_end" file_write_ordered_end FILE_WRITE_ORDERED_END small choice (
                file: MPI_File, buffer: *const c_void, status: *mut MPI_Status) [];
        }
    };
}
pub(super) use passed_on;

/// The C entries.
macro_rules! entries {
    (@one $call:ident $form:literal $text:literal ($($argument:ident: $type:ty),*) $bytes:tt) => {
        const _: () = {
            /// # Safety
            /// As the MPI standard says.
            #[unsafe(export_name = concat!("MPI_", $text, $form))]
            unsafe extern "C-unwind" fn entry($($argument: $type),*) -> c_int {
                let native = native_procedure!(
                    procedure(concat!("PMPI_", $text, $form, "\0")) as fn($($argument: $type),*) -> c_int
                );
                // SAFETY: the library's procedure of that name takes these arguments, which are the program's own.
                counted(MessageCall::$call, || entries!(@bytes $bytes), || unsafe { native($($argument),*) })
            }
        };
    };
    (@bytes []) => { Moved::NOTHING };
    (@bytes [$count:ident $datatype:ident]) => { moved_to(0, i64::from($count), $datatype) };
    (@bytes [$to:ident 1 $datatype:ident]) => { moved_to($to, 1, $datatype) };
    (@bytes [$to:ident $count:ident $datatype:ident]) => { moved_to($to, i64::from($count), $datatype) };
    (@large small $($rest:tt)*) => {};
    (@large large $($rest:tt)*) => { entries! { @one $($rest)* } };
    ($($call:ident $text:literal $lower:ident $upper:ident $large:ident $fortran:ident $arguments:tt $bytes:tt;)*) => {
        /// The forms that count in `int`.
        mod int {
            use super::*;
            type Count = c_int;
            type Shift = c_int;
            $(entries! { @one $call "" $text $arguments $bytes })*
        }

        /// The large-count forms, where the MPI has them.
        #[cfg(mpi_large_count)]
        mod large_count {
            use super::*;
            type Count = MPI_Count;
            type Shift = MPI_Aint;
            $(entries! { @large $large $call "_c" $text $arguments $bytes })*
        }
    };
}

passed_on! { entries }
