//! The calls of MPI beside collectives that are counted and timed: messages, one-sided communication, files.

use serde::{Deserialize, Serialize};

/// What a call deals with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum Area {
    /// It sends or receives messages, or completes requests of any kind but those of collectives.
    #[default]
    #[serde(rename = "point-to-point")]
    PointToPoint,
    /// It reads or writes windows, makes them, or synchronises ranks that do.
    #[serde(rename = "one-sided")]
    OneSided,
    /// It reads, writes, opens or closes files.
    #[serde(rename = "files")]
    Files,
}

impl Area {
    /// All of them; `area as usize` is the place in it.
    pub const ALL: [Self; 3] = [Self::PointToPoint, Self::OneSided, Self::Files];

    /// What reports call it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::PointToPoint => "point-to-point",
            Self::OneSided => "one-sided",
            Self::Files => "files",
        }
    }
}

macro_rules! message_calls {
    ($($area:ident { $($name:ident $text:literal)* })*) => {
        /// A call beside collectives.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        #[allow(missing_docs, reason = "the names say it")]
        pub enum MessageCall { $($($name),*),* }

        impl MessageCall {
            /// All of them; `call as usize` is the place in it.
            pub const ALL: &'static [Self] = &[$($(Self::$name),*),*];

            /// MPI's name for it, without the `_c` of its large-count form.
            pub const fn name(self) -> &'static str {
                match self {
                    $($(Self::$name => concat!("MPI_", $text)),*),*
                }
            }

            /// What it deals with.
            #[inline(always)]
            pub const fn area(self) -> Area {
                match self {
                    $($(Self::$name)|* => Area::$area),*
                }
            }
        }
    };
}

message_calls! {
    PointToPoint {
        Send "Send" Bsend "Bsend" Ssend "Ssend" Rsend "Rsend"
        Isend "Isend" Ibsend "Ibsend" Issend "Issend" Irsend "Irsend"
        Recv "Recv" Irecv "Irecv" Mrecv "Mrecv" Imrecv "Imrecv"
        Sendrecv "Sendrecv" SendrecvReplace "Sendrecv_replace" Isendrecv "Isendrecv" IsendrecvReplace "Isendrecv_replace"
        Probe "Probe" Iprobe "Iprobe" Mprobe "Mprobe" Improbe "Improbe"
        SendInit "Send_init" BsendInit "Bsend_init" SsendInit "Ssend_init" RsendInit "Rsend_init" RecvInit "Recv_init"
        Start "Start" Startall "Startall"
        PsendInit "Psend_init" PrecvInit "Precv_init" Pready "Pready" PreadyRange "Pready_range" PreadyList "Pready_list"
        Parrived "Parrived"
        Wait "Wait" Waitall "Waitall" Waitany "Waitany" Waitsome "Waitsome"
        Test "Test" Testall "Testall" Testany "Testany" Testsome "Testsome"
        RequestGetStatus "Request_get_status" RequestGetStatusAll "Request_get_status_all"
        RequestGetStatusAny "Request_get_status_any" RequestGetStatusSome "Request_get_status_some"
        Cancel "Cancel" BufferDetach "Buffer_detach" BufferFlush "Buffer_flush" BufferIflush "Buffer_iflush"
        CommDetachBuffer "Comm_detach_buffer" CommFlushBuffer "Comm_flush_buffer" CommIflushBuffer "Comm_iflush_buffer"
    }
    OneSided {
        Put "Put" Get "Get" Accumulate "Accumulate" GetAccumulate "Get_accumulate" FetchAndOp "Fetch_and_op"
        CompareAndSwap "Compare_and_swap" Rput "Rput" Rget "Rget" Raccumulate "Raccumulate"
        RgetAccumulate "Rget_accumulate"
        WinCreate "Win_create" WinAllocate "Win_allocate" WinAllocateShared "Win_allocate_shared"
        WinCreateDynamic "Win_create_dynamic" WinAttach "Win_attach" WinDetach "Win_detach" WinFree "Win_free"
        WinFence "Win_fence" WinStart "Win_start" WinComplete "Win_complete" WinPost "Win_post" WinWait "Win_wait"
        WinTest "Win_test" WinLock "Win_lock" WinUnlock "Win_unlock" WinLockAll "Win_lock_all"
        WinUnlockAll "Win_unlock_all" WinFlush "Win_flush" WinFlushAll "Win_flush_all" WinFlushLocal "Win_flush_local"
        WinFlushLocalAll "Win_flush_local_all" WinSync "Win_sync"
    }
    Files {
        FileOpen "File_open" FileClose "File_close" FileDelete "File_delete" FileSetSize "File_set_size"
        FilePreallocate "File_preallocate" FileGetSize "File_get_size" FileSetView "File_set_view" FileSync "File_sync"
        FileSeek "File_seek" FileSeekShared "File_seek_shared"
        FileRead "File_read" FileReadAll "File_read_all" FileReadAt "File_read_at" FileReadAtAll "File_read_at_all"
        FileReadShared "File_read_shared" FileReadOrdered "File_read_ordered"
        FileWrite "File_write" FileWriteAll "File_write_all" FileWriteAt "File_write_at"
        FileWriteAtAll "File_write_at_all" FileWriteShared "File_write_shared" FileWriteOrdered "File_write_ordered"
        FileIread "File_iread" FileIreadAll "File_iread_all" FileIreadAt "File_iread_at"
        FileIreadAtAll "File_iread_at_all" FileIreadShared "File_iread_shared"
        FileIwrite "File_iwrite" FileIwriteAll "File_iwrite_all" FileIwriteAt "File_iwrite_at"
        FileIwriteAtAll "File_iwrite_at_all" FileIwriteShared "File_iwrite_shared"
        FileReadAllBegin "File_read_all_begin" FileReadAllEnd "File_read_all_end"
        FileReadAtAllBegin "File_read_at_all_begin" FileReadAtAllEnd "File_read_at_all_end"
        FileReadOrderedBegin "File_read_ordered_begin" FileReadOrderedEnd "File_read_ordered_end"
        FileWriteAllBegin "File_write_all_begin" FileWriteAllEnd "File_write_all_end"
        FileWriteAtAllBegin "File_write_at_all_begin" FileWriteAtAllEnd "File_write_at_all_end"
        FileWriteOrderedBegin "File_write_ordered_begin" FileWriteOrderedEnd "File_write_ordered_end"
    }
}

impl MessageCall {
    /// Whether it returns without waiting for any other rank: MPI calls it local, or immediate. Calls that do not know
    /// which of both they are, as a send that may be buffered, are not among them; nor is any that deals with files.
    #[inline(always)]
    pub const fn returns_at_once(self) -> bool {
        matches!(
            self,
            Self::Isend
                | Self::Ibsend
                | Self::Issend
                | Self::Irsend
                | Self::Irecv
                | Self::Imrecv
                | Self::Isendrecv
                | Self::IsendrecvReplace
                | Self::Iprobe
                | Self::Improbe
                | Self::SendInit
                | Self::BsendInit
                | Self::SsendInit
                | Self::RsendInit
                | Self::RecvInit
                | Self::Start
                | Self::Startall
                | Self::PsendInit
                | Self::PrecvInit
                | Self::Pready
                | Self::PreadyRange
                | Self::PreadyList
                | Self::Parrived
                | Self::Test
                | Self::Testall
                | Self::Testany
                | Self::Testsome
                | Self::RequestGetStatus
                | Self::RequestGetStatusAll
                | Self::RequestGetStatusAny
                | Self::RequestGetStatusSome
                | Self::Cancel
                | Self::BufferIflush
                | Self::CommIflushBuffer
                | Self::Put
                | Self::Get
                | Self::Accumulate
                | Self::GetAccumulate
                | Self::FetchAndOp
                | Self::CompareAndSwap
                | Self::Rput
                | Self::Rget
                | Self::Raccumulate
                | Self::RgetAccumulate
                | Self::WinTest
                | Self::WinSync
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_wait_for_another_rank_does_not_return_at_once() {
        for call in MessageCall::ALL {
            let name = call.name().trim_start_matches("MPI_");
            let waits =
                ["Wait", "Win_wait", "Win_fence", "Win_lock", "Win_unlock", "Win_flush", "Win_start", "Win_complete"];
            if waits.iter().any(|wait| name.starts_with(wait)) || call.area() == Area::Files {
                assert!(!call.returns_at_once(), "{name}");
            }
            let immediate = ["I", "Test", "Request_get_status"].iter().any(|start| name.starts_with(start));
            assert!(!immediate || call.returns_at_once(), "{name}");
        }
        let may_wait =
            ["Send", "Bsend", "Ssend", "Rsend", "Recv", "Mrecv", "Sendrecv", "Sendrecv_replace", "Probe", "Mprobe"];
        for name in may_wait {
            let call = MessageCall::ALL.iter().find(|call| call.name() == format!("MPI_{name}"));
            assert!(call.is_some_and(|call| !call.returns_at_once()), "{name}");
        }
    }

    #[test]
    fn names_are_mpis_and_unique() {
        let mut names: Vec<&str> = MessageCall::ALL.iter().map(|call| call.name()).collect();
        assert!(names.contains(&"MPI_Sendrecv_replace"));
        let number = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), number);
        // Records of ranks hold the place in one byte.
        assert!(number < 256);
    }

    #[test]
    fn names_say_what_windows_and_files_are() {
        for call in MessageCall::ALL {
            let name = call.name();
            assert_eq!(name.starts_with("MPI_File_"), call.area() == Area::Files, "{name}");
            assert!(!name.starts_with("MPI_Win_") || call.area() == Area::OneSided, "{name}");
        }
        let places: Vec<usize> = Area::ALL.iter().map(|area| *area as usize).collect();
        assert_eq!(places, [0, 1, 2]);
    }
}
