package io.dyber.zernel.record.builtin;

import io.dyber.zernel.record.event.CallMeaning;
import io.dyber.zernel.record.event.CallShape.Role;
import io.dyber.zernel.record.probe.Capture;
import io.dyber.zernel.record.probe.CollectorProbe;
import io.dyber.zernel.record.probe.Function;
import io.dyber.zernel.record.probe.FunctionProbe;
import io.dyber.zernel.record.probe.OperatorProbe;
import io.dyber.zernel.record.probe.ProbeSpec;
import io.dyber.zernel.record.probe.PythonProbe;
import io.dyber.zernel.record.probe.Source;
import io.dyber.zernel.record.probe.UsdtProbe;
import io.dyber.zernel.record.probe.Width;
import java.util.ArrayList;
import java.util.List;

/// What of PyTorch is probed.
final class TorchProbes {
    private static final String TORCH = "libtorch_cpu.so";
    private static final String PROFILER = "torch::autograd::profiler::";

    /// What begins and ends a profile of PyTorch's own profiler, and writes it: rare, and long where there is much in it.
    private static final List<String> PROFILING = List.of(
            "prepareProfiler",
            "enableProfiler",
            "enableProfilerWithEventPostProcess",
            "disableProfiler",
            "ProfilerResult::save");

    private static final Probe REGION = Probe.ofFunctions(
            "region",
            "torch",
            TORCH,
            regions(),
            "PyTorch record_function regions: DataLoader, Optimizer.step, DDP, FSDP and the user's own");

    private static final Probe BACKWARD = Probe.ofFunctions(
            "backward",
            "torch",
            TORCH,
            List.of(new FunctionProbe(
                    new Function(
                            "backward", "Engine::execute", TORCH, "torch::autograd::Engine::execute", List.of()),
                    Role.CALL,
                    true)),
            "backward passes of PyTorch's autograd engine");

    private static final Probe TORCH_OP = Probe.ofFunctions(
            OperatorProbe.KIND,
            "torch",
            OperatorProbe.LIBRARY,
            List.of(),
            "PyTorch operators as the dispatcher is called, which you choose with --probe 'torch_op:aten::*'");

    private static final Probe PY_CALL = Probe.ofFunctions(
            PythonProbe.KIND,
            "torch",
            CollectorProbe.INTERPRETER,
            List.of(),
            "calls into Python, which you choose with --probe 'py_call:FUNCTION' or 'py_call:PyObject_Call*'");

    private static final Probe TORCH_ALLOC = allocator(
            "torch_alloc",
            "usdt:libc10_cuda.so:pytorch:malloc(addr=arg1, device=arg2, bytes=arg3, stream=arg4)",
            CallMeaning.TORCH_ALLOCATION,
            "memory handed out by PyTorch's caching allocator for the GPU");

    private static final Probe TORCH_FREE = allocator(
            "torch_free",
            "usdt:libc10_cuda.so:pytorch:free(addr=arg1)",
            CallMeaning.TORCH_RELEASE,
            "memory given back to PyTorch's caching allocator for the GPU");

    private TorchProbes() {}

    static List<Probe> all() {
        return List.of(REGION, BACKWARD, DistributedProbes.waits(), TORCH_OP, PY_CALL, TORCH_ALLOC, TORCH_FREE);
    }

    private static List<FunctionProbe> regions() {
        List<FunctionProbe> hooks = new ArrayList<>();
        DistributedProbes.REDUCER.forEach(function -> hooks.add(call(function)));
        hooks.add(new FunctionProbe(regionEnter(PROFILER + "record_function_enter_new"), Role.OPEN, true));
        hooks.add(new FunctionProbe(regionExit(PROFILER + "record_function_exit_new"), Role.CLOSE, true));
        PROFILING.forEach(function -> hooks.add(call(PROFILER + function)));
        return hooks;
    }

    /// A call that is a region by itself, named as its function.
    private static FunctionProbe call(String symbol) {
        return new FunctionProbe(
                new Function("region", symbol, TORCH, symbol, List.of()), Role.CALL, true, CallMeaning.NOTHING, true);
    }

    private static Probe allocator(String kind, String tracepoint, CallMeaning meaning, String summary) {
        UsdtProbe probe = (UsdtProbe) ProbeSpec.parse(tracepoint);
        FunctionProbe hook = new FunctionProbe(probe.ofKind(kind), Role.INSTANT, true, meaning, true);
        return Probe.ofFunctions(kind, "torch", probe.library(), List.of(hook), summary);
    }

    /// `record_function_enter_new(std::string const &name, ...)` returns an intrusive pointer in memory, so its first
    /// visible argument is the second. The object it points to is the region's handle.
    private static Function regionEnter(String symbol) {
        return new Function(
                "region",
                "",
                TORCH,
                symbol,
                List.of(
                        Capture.argument("name", 2, Width.STDSTR),
                        new Capture("", Source.RETURN, 0, List.of(0), Width.U64, true)));
    }

    private static Function regionExit(String symbol) {
        return new Function(
                "region",
                "",
                TORCH,
                symbol,
                List.of(new Capture("", Source.ARGUMENT, 1, List.of(0), Width.U64, false)));
    }
}
