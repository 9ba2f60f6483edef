package io.dyber.zernel.record.builtin;

import io.dyber.zernel.record.event.CallMeaning;
import io.dyber.zernel.record.probe.FunctionProbe;
import java.util.ArrayList;
import java.util.List;

/// What of NCCL is probed. Arguments are those of `nccl.h` 2.28 in the System V ABI of x86-64: `ncclUniqueId` has 128
/// bytes and is passed by value, so it lies on the stack. `pnccl` names are the same code and not probed again.
final class NcclProbes {
    private static final String LIBRARY = "libnccl.so";
    private static final String TYPE = "{int8,uint8,int32,uint32,int64,uint64,float16,float32,float64,bfloat16,"
            + "float8_e4m3,float8_e5m2}";
    private static final String REDUCTION = "{sum,prod,max,min,avg}";

    private NcclProbes() {}

    static List<Probe> all() {
        return List.of(
                Probe.ofFunctions("nccl", "nccl", LIBRARY, operations(), "NCCL collectives, sends and receives: bytes, rank, order"),
                Probe.ofFunctions("nccl_comm", "nccl", LIBRARY, communicators(), "NCCL communicators made, split and ended"));
    }

    private static List<FunctionProbe> operations() {
        FunctionProbeTable nccl = new FunctionProbeTable("nccl", LIBRARY, true);
        List<FunctionProbe> hooks = new ArrayList<>(nccl.calls(CallMeaning.COLLECTIVE, """
                ncclAllReduce ncclReduceScatter(count=arg3, dtype=arg4:u32TYPE, op=arg5:u32REDUCTION,
                    communicator=arg6, stream=arg7, status=ret:s32)
                ncclAllGather ncclAlltoAll(count=arg3, dtype=arg4:u32TYPE,
                    communicator=arg5, stream=arg6, status=ret:s32)
                ncclReduce(count=arg3, dtype=arg4:u32TYPE, op=arg5:u32REDUCTION, peer=arg6:s32,
                    communicator=arg7, stream=arg8, status=ret:s32)
                ncclBroadcast ncclGather ncclScatter(count=arg3, dtype=arg4:u32TYPE, peer=arg5:s32,
                    communicator=arg6, stream=arg7, status=ret:s32)
                ncclBcast ncclSend ncclRecv(count=arg2, dtype=arg3:u32TYPE, peer=arg4:s32,
                    communicator=arg5, stream=arg6, status=ret:s32)
                """.replace("TYPE", TYPE).replace("REDUCTION", REDUCTION)));
        hooks.addAll(nccl.calls(CallMeaning.GROUP_BEGIN, "ncclGroupStart(status=ret:s32)"));
        hooks.addAll(nccl.calls(CallMeaning.GROUP_END, "ncclGroupEnd(status=ret:s32)"));
        return hooks;
    }

    private static List<FunctionProbe> communicators() {
        FunctionProbeTable nccl = new FunctionProbeTable("nccl_comm", LIBRARY, true);
        List<FunctionProbe> hooks = new ArrayList<>(nccl.calls(CallMeaning.COMMUNICATOR, """
                ncclCommInitRank ncclCommInitRankConfig(nranks=arg2:s32, rank=arg3:s32, comm_id=&arg7:hash,
                    communicator=*arg1@ret, status=ret:s32)
                ncclCommInitRankScalable(nranks=arg2:s32, rank=arg3:s32, comm_id=arg5:hash,
                    communicator=*arg1@ret, status=ret:s32)
                """));
        hooks.addAll(nccl.calls(CallMeaning.COMMUNICATORS, """
                ncclCommInitAll(addr=arg1, nranks=arg2:s32, status=ret:s32)
                """));
        hooks.addAll(nccl.calls(CallMeaning.CHILD_COMMUNICATOR, """
                ncclCommSplit(parent=arg1, color=arg2:s32, communicator=*arg4@ret, status=ret:s32)
                ncclCommShrink(parent=arg1, communicator=*arg4@ret, status=ret:s32)
                ncclCommGrow(parent=arg1, nranks=arg2:s32, comm_id=arg3:hash, rank=arg4:s32,
                    communicator=*arg5@ret, status=ret:s32)
                """));
        hooks.addAll(nccl.calls(CallMeaning.END_OF_COMMUNICATOR, """
                ncclCommDestroy ncclCommAbort ncclCommFinalize(communicator=arg1, status=ret:s32)
                """));
        hooks.addAll(nccl.facts(CallMeaning.RANK, """
                ncclCommUserRank(communicator=arg1, rank=*arg2@ret:s32, status=ret:s32)
                """));
        hooks.addAll(nccl.facts(CallMeaning.RANKS, """
                ncclCommCount(communicator=arg1, nranks=*arg2@ret:s32, status=ret:s32)
                """));
        return hooks;
    }
}
