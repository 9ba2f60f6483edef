package io.dyber.zernel.record.builtin;

import io.dyber.zernel.record.event.CallMeaning;
import io.dyber.zernel.record.event.CallShape.Role;
import io.dyber.zernel.record.probe.Capture;
import io.dyber.zernel.record.probe.Function;
import io.dyber.zernel.record.probe.FunctionProbe;
import io.dyber.zernel.record.probe.Source;
import io.dyber.zernel.record.probe.Width;
import java.util.List;

/// What of torch.distributed is probed.
///
/// Whether `Work::wait` of a backend runs or an override of it differs from one to the next, and one calls the other:
/// only calls at depth 0 are to be counted. DDP waits for its buckets in `finalize_backward`, where compilers inline the
/// wait itself, so the row also holds the copying of the buckets.
/// `c10::ivalue::Future::wait` is left out: the autograd engine waits so for a backward pass on a GPU.
///
/// Waiting for a CUDA collective blocks the thread only where PyTorch is asked for it (`TORCH_NCCL_BLOCKING_WAIT`);
/// otherwise it blocks the stream and returns at once.
final class DistributedProbes {
    private static final String CPU = "libtorch_cpu.so";
    private static final String CUDA = "libtorch_cuda.so";

    /// How C++ writes `(anonymous namespace)`, and anything in it.
    private static final String ANONYMOUS = "_ZN4c10d12_GLOBAL__N_1*";

    /// The parts of a backward pass that DDP adds. DDP's forward, like FSDP's hooks, is a record_function region.
    static final List<String> REDUCER =
            List.of("c10d::Reducer::prepare_for_backward", "c10d::Reducer::all_reduce_bucket");

    private DistributedProbes() {}

    static Probe waits() {
        return Probe.ofFunctions(
                "dist_wait",
                "torch",
                CPU,
                List.of(
                        wait(CPU, "c10d::Work::wait", "Work::wait"),
                        wait(CPU, "c10d::Reducer::finalize_backward", "Reducer::finalize_backward"),
                        wait(CPU, "c10d::ProcessGroupGloo::SendWork::wait", "SendWork::wait"),
                        wait(CPU, "c10d::ProcessGroupGloo::RecvWork::wait", "RecvWork::wait"),
                        wait(CPU, "c10d::ProcessGroupGloo::monitoredBarrier", "monitoredBarrier"),
                        wait(CPU, "c10d::ProcessGroupMPI::AsyncWork::wait", "AsyncWork::wait"),
                        wait(CPU, "c10d::FutureWrappingWork::wait", "FutureWrappingWork::wait"),
                        wait(CPU, ANONYMOUS + "LambdaWork4waitE*", "LambdaWork::wait"),
                        wait(CPU, ANONYMOUS + "CUDAWork11synchronizeE*", "CUDAWork::synchronize"),
                        wait(CUDA, "c10d::ProcessGroupNCCL::WorkNCCL::wait", "WorkNCCL::wait"),
                        wait(CUDA, "c10d::ProcessGroupNCCL::WorkNCCL::synchronize", "WorkNCCL::synchronize"),
                        wait(CUDA, "c10d::ProcessGroupNCCL::WorkNCCL::synchronizeStream", "WorkNCCL::synchronizeStream"),
                        wait(CUDA, "c10d::nccl2::WorkNCCL::wait", "WorkNCCL::wait"),
                        wait(CUDA, "c10d::nccl2::WorkNCCL::synchronize", "WorkNCCL::synchronize"),
                        wait(CUDA, "c10d::ProcessGroupUCC::WorkUCC::wait", "WorkUCC::wait"),
                        wait(CUDA, "c10d::ProcessGroupUCC::WorkUCC::synchronize", "WorkUCC::synchronize")),
                "threads blocked on work of torch.distributed");
    }

    /// The entry has to be sent, with whatever is at hand, since only it tells how deep the call is.
    private static FunctionProbe wait(String library, String symbol, String name) {
        Capture anything = new Capture("", Source.ARGUMENT, 1, List.of(), Width.U64, false);
        Function function = new Function("dist_wait", name, library, symbol, List.of(anything));
        return new FunctionProbe(function, Role.CALL, true, CallMeaning.NOTHING, true);
    }
}
