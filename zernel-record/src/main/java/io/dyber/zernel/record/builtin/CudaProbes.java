package io.dyber.zernel.record.builtin;

import io.dyber.zernel.record.event.CallMeaning;
import io.dyber.zernel.record.event.Layer;
import io.dyber.zernel.record.probe.FunctionProbe;
import io.dyber.zernel.record.probe.LibrarySelector;
import java.util.ArrayList;
import java.util.List;

/// What of the CUDA runtime (`libcudart`, also inside a program) and driver (`libcuda`) is probed. Arguments are those
/// of the toolkit's `cuda_runtime_api.h` and `cuda.h` in the System V ABI of x86-64. `_ptsz` and `_ptds` variants are
/// what code built for per-thread default streams calls.
final class CudaProbes {
    private static final String DRIVER = "libcuda.so.1";
    private static final List<String> RUNTIMES = List.of("libcudart.so", LibrarySelector.PROGRAM);

    private CudaProbes() {}

    static List<Probe> all() {
        return List.of(
                probe("cuda_launch", launches(), "CUDA kernel launches: grid, block, stream, kernel; time to enqueue"),
                probe("cuda_graph", graphs(), "CUDA graphs: captures, instantiations and launches"),
                probe("cuda_copy", copies(), "CUDA copies and fills: bytes, direction, pinned or pageable memory"),
                probe("cuda_sync", syncs(), "time blocked until a stream, event or device is done"),
                probe("gpu_alloc", allocations(), "device memory allocated, also failed: bytes, address, device"),
                probe("gpu_free", releases(), "device memory freed"),
                probe("gpu_map", maps(), "address space of the driver reserved, mapped and unmapped"));
    }

    private static Probe probe(String kind, List<FunctionProbe> hooks, String summary) {
        return Probe.ofFunctions(kind, "cuda", "libcuda.so.1 or libcudart.so", hooks, summary);
    }

    private static List<FunctionProbe> launches() {
        List<FunctionProbe> hooks = new ArrayList<>();
        FunctionProbeTable driver = new FunctionProbeTable("cuda_launch", DRIVER, Layer.DRIVER, false);
        hooks.addAll(driver.calls(CallMeaning.LAUNCH, """
                cuLaunchKernel[_ptsz] cuLaunchCooperativeKernel[_ptsz](func=arg1,
                    grid_x=arg2:u32, grid_y=arg3:u32, grid_z=arg4:u32,
                    block_x=arg5:u32, block_y=arg6:u32, block_z=arg7:u32,
                    shared_bytes=arg8:u32, stream=arg9, status=ret:s32)
                cuLaunchKernelEx[_ptsz](func=arg2,
                    grid_x=arg1->0:u32, grid_y=arg1->4:u32, grid_z=arg1->8:u32,
                    block_x=arg1->12:u32, block_y=arg1->16:u32, block_z=arg1->20:u32,
                    shared_bytes=arg1->24:u32, stream=arg1->32, status=ret:s32)
                """));
        hooks.addAll(driver.facts(CallMeaning.KERNEL_NAME, """
                cuModuleGetFunction cuLibraryGetKernel(func=*arg1@ret, src=arg3, kernel=arg3:str, status=ret:s32)
                cuKernelGetFunction(func=*arg1@ret, addr=arg2, status=ret:s32)
                """));
        for (String library : RUNTIMES) {
            FunctionProbeTable runtime = new FunctionProbeTable("cuda_launch", library, Layer.RUNTIME, false);
            hooks.addAll(runtime.calls(CallMeaning.LAUNCH, """
                    cudaLaunchKernel[_ptsz] __cudaLaunchKernel[_ptsz] cudaLaunchCooperativeKernel[_ptsz](func=arg1,
                        grid_x=arg2:u32, grid_y=arg2>>32:u32, grid_z=arg3:u32,
                        block_x=arg4:u32, block_y=arg4>>32:u32, block_z=arg5:u32,
                        shared_bytes=arg7, stream=arg8, status=ret:s32)
                    cudaLaunchKernelExC[_ptsz](func=arg2,
                        grid_x=arg1->0:u32, grid_y=arg1->4:u32, grid_z=arg1->8:u32,
                        block_x=arg1->12:u32, block_y=arg1->16:u32, block_z=arg1->20:u32,
                        shared_bytes=arg1->24, stream=arg1->32, status=ret:s32)
                    """));
            hooks.addAll(runtime.instantFacts(CallMeaning.KERNEL_NAME, """
                    __cudaRegisterFunction(func=arg2, kernel=arg4:str)
                    """));
            hooks.addAll(runtime.facts(CallMeaning.KERNEL_NAME, """
                    __cudaGetKernel cudaGetKernel cudaGetFuncBySymbol(func=*arg1@ret, addr=arg2, status=ret:s32)
                    cudaLibraryGetKernel(func=*arg1@ret, src=arg3, kernel=arg3:str, status=ret:s32)
                    """));
        }
        return hooks;
    }

    private static List<FunctionProbe> graphs() {
        List<FunctionProbe> hooks = new ArrayList<>();
        FunctionProbeTable driver = new FunctionProbeTable("cuda_graph", DRIVER, Layer.DRIVER, false);
        hooks.addAll(driver.calls(CallMeaning.GRAPH_LAUNCH, """
                cuGraphLaunch[_ptsz](addr=arg1, stream=arg2, status=ret:s32)
                cuGraphExecUpdate_v2(addr=arg1, status=ret:s32)
                """));
        hooks.addAll(driver.calls(CallMeaning.CAPTURE_BEGIN, """
                cuStreamBeginCapture_v2[_ptsz](stream=arg1, status=ret:s32)
                """));
        hooks.addAll(driver.calls(CallMeaning.CAPTURE_END, """
                cuStreamEndCapture[_ptsz](stream=arg1, addr=*arg2@ret, status=ret:s32)
                """));
        hooks.addAll(driver.calls(CallMeaning.INSTANTIATION, """
                cuGraphInstantiateWithFlags(addr=*arg1@ret, src=arg2, status=ret:s32)
                cuGraphInstantiateWithParams[_ptsz](addr=*arg1@ret, src=arg2, status=ret:s32)
                """));
        for (String library : RUNTIMES) {
            FunctionProbeTable runtime = new FunctionProbeTable("cuda_graph", library, Layer.RUNTIME, false);
            hooks.addAll(runtime.calls(CallMeaning.GRAPH_LAUNCH, """
                    cudaGraphLaunch[_ptsz](addr=arg1, stream=arg2, status=ret:s32)
                    cudaGraphExecUpdate(addr=arg1, status=ret:s32)
                    """));
            hooks.addAll(runtime.calls(CallMeaning.CAPTURE_BEGIN, """
                    cudaStreamBeginCapture[_ptsz](stream=arg1, status=ret:s32)
                    """));
            hooks.addAll(runtime.calls(CallMeaning.CAPTURE_END, """
                    cudaStreamEndCapture[_ptsz](stream=arg1, addr=*arg2@ret, status=ret:s32)
                    """));
            hooks.addAll(runtime.calls(CallMeaning.INSTANTIATION, """
                    cudaGraphInstantiate cudaGraphInstantiateWithFlags(addr=*arg1@ret, src=arg2, status=ret:s32)
                    cudaGraphInstantiateWithParams[_ptsz](addr=*arg1@ret, src=arg2, status=ret:s32)
                    """));
        }
        return hooks;
    }

    /// A pitched copy has its rows' width in `bytes` and their number in `count` until they are multiplied, a fill of
    /// wider elements the number of them and their width.
    private static List<FunctionProbe> copies() {
        List<FunctionProbe> hooks = new ArrayList<>();
        FunctionProbeTable driver = new FunctionProbeTable("cuda_copy", DRIVER, Layer.DRIVER, false);
        hooks.addAll(driver.calls(CallMeaning.COPY, """
                cuMemcpyHtoD_v2[_ptds](addr=arg1, src=arg2, bytes=arg3, copy_kind="HtoD", async=0, status=ret:s32)
                cuMemcpyDtoH_v2[_ptds](addr=arg1, src=arg2, bytes=arg3, copy_kind="DtoH", async=0, status=ret:s32)
                cuMemcpyDtoD_v2[_ptds](addr=arg1, src=arg2, bytes=arg3, copy_kind="DtoD", async=0, status=ret:s32)
                cuMemcpy[_ptds](addr=arg1, src=arg2, bytes=arg3, copy_kind="default", async=0, status=ret:s32)
                cuMemcpyPeer[_ptds](addr=arg1, src=arg3, bytes=arg5, copy_kind="PtoP", async=0, status=ret:s32)
                cuMemcpy2D_v2[_ptds] cuMemcpy2DUnaligned_v2[_ptds](bytes=arg1->112, count=arg1->120,
                    copy_kind="default", async=0, status=ret:s32)
                cuMemcpyHtoDAsync_v2[_ptsz](addr=arg1, src=arg2, bytes=arg3, stream=arg4,
                    copy_kind="HtoD", async=1, status=ret:s32)
                cuMemcpyDtoHAsync_v2[_ptsz](addr=arg1, src=arg2, bytes=arg3, stream=arg4,
                    copy_kind="DtoH", async=1, status=ret:s32)
                cuMemcpyDtoDAsync_v2[_ptsz](addr=arg1, src=arg2, bytes=arg3, stream=arg4,
                    copy_kind="DtoD", async=1, status=ret:s32)
                cuMemcpyAsync[_ptsz](addr=arg1, src=arg2, bytes=arg3, stream=arg4,
                    copy_kind="default", async=1, status=ret:s32)
                cuMemcpyPeerAsync[_ptsz](addr=arg1, src=arg3, bytes=arg5, stream=arg6,
                    copy_kind="PtoP", async=1, status=ret:s32)
                cuMemcpy2DAsync_v2[_ptsz](bytes=arg1->112, count=arg1->120, stream=arg2,
                    copy_kind="default", async=1, status=ret:s32)
                cuMemcpyBatchAsync[_ptsz](stream=arg9, copy_kind="default", async=1, status=ret:s32)
                cuMemcpyBatchAsync_v2[_ptsz](stream=arg8, copy_kind="default", async=1, status=ret:s32)
                cuMemsetD8_v2[_ptds](addr=arg1, bytes=arg3, copy_kind="memset", async=0, status=ret:s32)
                cuMemsetD16_v2[_ptds](addr=arg1, bytes=arg3, count=2, copy_kind="memset", async=0, status=ret:s32)
                cuMemsetD32_v2[_ptds](addr=arg1, bytes=arg3, count=4, copy_kind="memset", async=0, status=ret:s32)
                cuMemsetD8Async[_ptsz](addr=arg1, bytes=arg3, stream=arg4,
                    copy_kind="memset", async=1, status=ret:s32)
                cuMemsetD16Async[_ptsz](addr=arg1, bytes=arg3, count=2, stream=arg4,
                    copy_kind="memset", async=1, status=ret:s32)
                cuMemsetD32Async[_ptsz](addr=arg1, bytes=arg3, count=4, stream=arg4,
                    copy_kind="memset", async=1, status=ret:s32)
                cuMemsetD2D8_v2[_ptds](addr=arg1, bytes=arg4, count=arg5, copy_kind="memset", async=0, status=ret:s32)
                cuMemsetD2D8Async[_ptsz](addr=arg1, bytes=arg4, count=arg5, stream=arg6,
                    copy_kind="memset", async=1, status=ret:s32)
                """));
        hooks.addAll(driver.facts(CallMeaning.PIN, """
                cuMemHostAlloc cuMemAllocHost_v2(addr=*arg1@ret, bytes=arg2, status=ret:s32)
                cuMemHostRegister_v2(addr=arg1, bytes=arg2, status=ret:s32)
                """));
        hooks.addAll(driver.facts(CallMeaning.UNPIN, """
                cuMemFreeHost cuMemHostUnregister(addr=arg1, status=ret:s32)
                """));
        for (String library : RUNTIMES) {
            FunctionProbeTable runtime = new FunctionProbeTable("cuda_copy", library, Layer.RUNTIME, false);
            hooks.addAll(runtime.calls(CallMeaning.COPY, """
                    cudaMemcpy[_ptds](addr=arg1, src=arg2, bytes=arg3,
                        copy_kind=arg4:u32{HtoH,HtoD,DtoH,DtoD,default}, async=0, status=ret:s32)
                    cudaMemcpyAsync[_ptsz](addr=arg1, src=arg2, bytes=arg3,
                        copy_kind=arg4:u32{HtoH,HtoD,DtoH,DtoD,default}, stream=arg5, async=1, status=ret:s32)
                    cudaMemcpy2D[_ptds](addr=arg1, src=arg3, bytes=arg5, count=arg6,
                        copy_kind=arg7:u32{HtoH,HtoD,DtoH,DtoD,default}, async=0, status=ret:s32)
                    cudaMemcpy2DAsync[_ptsz](addr=arg1, src=arg3, bytes=arg5, count=arg6,
                        copy_kind=arg7:u32{HtoH,HtoD,DtoH,DtoD,default}, stream=arg8, async=1, status=ret:s32)
                    cudaMemcpyPeer(addr=arg1, src=arg3, bytes=arg5, copy_kind="PtoP", async=0, status=ret:s32)
                    cudaMemcpyPeerAsync(addr=arg1, src=arg3, bytes=arg5, stream=arg6,
                        copy_kind="PtoP", async=1, status=ret:s32)
                    cudaMemset[_ptds](addr=arg1, bytes=arg3, copy_kind="memset", async=0, status=ret:s32)
                    cudaMemsetAsync[_ptsz](addr=arg1, bytes=arg3, stream=arg4,
                        copy_kind="memset", async=1, status=ret:s32)
                    cudaMemset2D[_ptds](addr=arg1, bytes=arg4, count=arg5,
                        copy_kind="memset", async=0, status=ret:s32)
                    cudaMemset2DAsync[_ptsz](addr=arg1, bytes=arg4, count=arg5, stream=arg6,
                        copy_kind="memset", async=1, status=ret:s32)
                    """));
            hooks.addAll(runtime.facts(CallMeaning.PIN, """
                    cudaHostAlloc cudaMallocHost(addr=*arg1@ret, bytes=arg2, status=ret:s32)
                    cudaHostRegister(addr=arg1, bytes=arg2, status=ret:s32)
                    """));
            hooks.addAll(runtime.facts(CallMeaning.UNPIN, """
                    cudaFreeHost cudaHostUnregister(addr=arg1, status=ret:s32)
                    """));
        }
        return hooks;
    }

    private static List<FunctionProbe> syncs() {
        List<FunctionProbe> hooks = new ArrayList<>(new FunctionProbeTable("cuda_sync", DRIVER, Layer.DRIVER, true).calls(CallMeaning.WAIT, """
                cuStreamSynchronize[_ptsz](stream=arg1, status=ret:s32)
                cuEventSynchronize cuCtxSynchronize_v2(addr=arg1, status=ret:s32)
                cuCtxSynchronize(status=ret:s32)
                """));
        for (String library : RUNTIMES) {
            hooks.addAll(new FunctionProbeTable("cuda_sync", library, Layer.RUNTIME, true).calls(CallMeaning.WAIT, """
                    cudaStreamSynchronize[_ptsz](stream=arg1, status=ret:s32)
                    cudaEventSynchronize(addr=arg1, status=ret:s32)
                    cudaDeviceSynchronize(status=ret:s32)
                    """));
        }
        return hooks;
    }

    /// `cuMemCreate` has in `src` what kind of memory it is to be (`CUmemLocationType`), which is looked at and taken out.
    private static List<FunctionProbe> allocations() {
        List<FunctionProbe> hooks = new ArrayList<>(new FunctionProbeTable("gpu_alloc", DRIVER, Layer.DRIVER, true).calls(CallMeaning.ALLOCATION, """
                cuMemAlloc_v2 cuMemAllocManaged(bytes=arg2, addr=*arg1@ret, status=ret:s32)
                cuMemAllocPitch_v2(bytes=arg3, count=arg4, addr=*arg1@ret, status=ret:s32)
                cuMemAllocAsync[_ptsz](bytes=arg2, stream=arg3, addr=*arg1@ret, status=ret:s32)
                cuMemAllocFromPoolAsync[_ptsz](bytes=arg2, stream=arg4, addr=*arg1@ret, status=ret:s32)
                cuMemCreate(bytes=arg2, src=arg3->8:u32, device=arg3->12:s32, addr=*arg1@ret, status=ret:s32)
                """));
        for (String library : RUNTIMES) {
            FunctionProbeTable runtime = new FunctionProbeTable("gpu_alloc", library, Layer.RUNTIME, true);
            hooks.addAll(runtime.calls(CallMeaning.ALLOCATION, """
                    cudaMalloc cudaMallocManaged(bytes=arg2, addr=*arg1@ret, status=ret:s32)
                    cudaMallocPitch(bytes=arg3, count=arg4, addr=*arg1@ret, status=ret:s32)
                    cudaMallocAsync[_ptsz](bytes=arg2, stream=arg3, addr=*arg1@ret, status=ret:s32)
                    cudaMallocFromPoolAsync[_ptsz](bytes=arg2, stream=arg4, addr=*arg1@ret, status=ret:s32)
                    """));
            hooks.addAll(runtime.facts(CallMeaning.CURRENT_DEVICE, """
                    cudaSetDevice(device=arg1:s32, status=ret:s32)
                    """));
        }
        return hooks;
    }

    /// The address comes first: it is looked up when the call is entered.
    private static List<FunctionProbe> releases() {
        List<FunctionProbe> hooks = new ArrayList<>(new FunctionProbeTable("gpu_free", DRIVER, Layer.DRIVER, true).calls(CallMeaning.RELEASE, """
                cuMemFree_v2 cuMemRelease(addr=arg1, status=ret:s32)
                cuMemFreeAsync[_ptsz](addr=arg1, stream=arg2, status=ret:s32)
                """));
        for (String library : RUNTIMES) {
            hooks.addAll(new FunctionProbeTable("gpu_free", library, Layer.RUNTIME, true).calls(CallMeaning.RELEASE, """
                    cudaFree(addr=arg1, status=ret:s32)
                    cudaFreeAsync[_ptsz](addr=arg1, stream=arg2, status=ret:s32)
                    """));
        }
        return hooks;
    }

    private static List<FunctionProbe> maps() {
        return new FunctionProbeTable("gpu_map", DRIVER, Layer.DRIVER, true).calls(CallMeaning.NOTHING, """
                cuMemAddressReserve(bytes=arg2, addr=*arg1@ret, status=ret:s32)
                cuMemMap cuMemUnmap cuMemAddressFree(addr=arg1, bytes=arg2, status=ret:s32)
                """);
    }
}
