package io.dyber.zernel.record.probe;

import io.dyber.zernel.record.event.Layer;
import io.dyber.zernel.record.event.Meaning;
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

    private static Probe probe(String kind, List<Hook> hooks, String summary) {
        return Probe.ofFunctions(kind, "cuda", "libcuda.so.1 or libcudart.so", hooks, summary);
    }

    private static List<Hook> launches() {
        List<Hook> hooks = new ArrayList<>();
        HookTable driver = new HookTable("cuda_launch", DRIVER, Layer.DRIVER, false);
        hooks.addAll(driver.calls(Meaning.LAUNCH, """
                cuLaunchKernel[_ptsz] cuLaunchCooperativeKernel[_ptsz](func=arg1,
                    grid_x=arg2:u32, grid_y=arg3:u32, grid_z=arg4:u32,
                    block_x=arg5:u32, block_y=arg6:u32, block_z=arg7:u32,
                    shared_bytes=arg8:u32, stream=arg9, status=ret:s32)
                cuLaunchKernelEx[_ptsz](func=arg2,
                    grid_x=arg1->0:u32, grid_y=arg1->4:u32, grid_z=arg1->8:u32,
                    block_x=arg1->12:u32, block_y=arg1->16:u32, block_z=arg1->20:u32,
                    shared_bytes=arg1->24:u32, stream=arg1->32, status=ret:s32)
                """));
        hooks.addAll(driver.facts(Meaning.KERNEL_NAME, """
                cuModuleGetFunction cuLibraryGetKernel(func=*arg1@ret, kernel=arg3:str, status=ret:s32)
                cuKernelGetFunction(func=*arg1@ret, addr=arg2, status=ret:s32)
                """));
        for (String library : RUNTIMES) {
            HookTable runtime = new HookTable("cuda_launch", library, Layer.RUNTIME, false);
            hooks.addAll(runtime.calls(Meaning.LAUNCH, """
                    cudaLaunchKernel[_ptsz] __cudaLaunchKernel[_ptsz] cudaLaunchCooperativeKernel[_ptsz](func=arg1,
                        grid_x=arg2:u32, grid_y=arg2>>32:u32, grid_z=arg3:u32,
                        block_x=arg4:u32, block_y=arg4>>32:u32, block_z=arg5:u32,
                        shared_bytes=arg7, stream=arg8, status=ret:s32)
                    cudaLaunchKernelExC[_ptsz](func=arg2,
                        grid_x=arg1->0:u32, grid_y=arg1->4:u32, grid_z=arg1->8:u32,
                        block_x=arg1->12:u32, block_y=arg1->16:u32, block_z=arg1->20:u32,
                        shared_bytes=arg1->24, stream=arg1->32, status=ret:s32)
                    """));
            hooks.addAll(runtime.instantFacts(Meaning.KERNEL_NAME, """
                    __cudaRegisterFunction(func=arg2, kernel=arg4:str)
                    """));
            hooks.addAll(runtime.facts(Meaning.KERNEL_NAME, """
                    __cudaGetKernel cudaGetKernel cudaGetFuncBySymbol(func=*arg1@ret, addr=arg2, status=ret:s32)
                    cudaLibraryGetKernel(func=*arg1@ret, kernel=arg3:str, status=ret:s32)
                    """));
        }
        return hooks;
    }

    private static List<Hook> graphs() {
        List<Hook> hooks = new ArrayList<>();
        HookTable driver = new HookTable("cuda_graph", DRIVER, Layer.DRIVER, false);
        hooks.addAll(driver.calls(Meaning.GRAPH_LAUNCH, """
                cuGraphLaunch[_ptsz](addr=arg1, stream=arg2, status=ret:s32)
                cuGraphExecUpdate_v2(addr=arg1, status=ret:s32)
                """));
        hooks.addAll(driver.calls(Meaning.CAPTURE_BEGIN, """
                cuStreamBeginCapture_v2[_ptsz](stream=arg1, status=ret:s32)
                """));
        hooks.addAll(driver.calls(Meaning.CAPTURE_END, """
                cuStreamEndCapture[_ptsz](stream=arg1, addr=*arg2@ret, status=ret:s32)
                """));
        hooks.addAll(driver.calls(Meaning.INSTANTIATION, """
                cuGraphInstantiateWithFlags(addr=*arg1@ret, src=arg2, status=ret:s32)
                cuGraphInstantiateWithParams[_ptsz](addr=*arg1@ret, src=arg2, status=ret:s32)
                """));
        for (String library : RUNTIMES) {
            HookTable runtime = new HookTable("cuda_graph", library, Layer.RUNTIME, false);
            hooks.addAll(runtime.calls(Meaning.GRAPH_LAUNCH, """
                    cudaGraphLaunch[_ptsz](addr=arg1, stream=arg2, status=ret:s32)
                    cudaGraphExecUpdate(addr=arg1, status=ret:s32)
                    """));
            hooks.addAll(runtime.calls(Meaning.CAPTURE_BEGIN, """
                    cudaStreamBeginCapture[_ptsz](stream=arg1, status=ret:s32)
                    """));
            hooks.addAll(runtime.calls(Meaning.CAPTURE_END, """
                    cudaStreamEndCapture[_ptsz](stream=arg1, addr=*arg2@ret, status=ret:s32)
                    """));
            hooks.addAll(runtime.calls(Meaning.INSTANTIATION, """
                    cudaGraphInstantiate cudaGraphInstantiateWithFlags(addr=*arg1@ret, src=arg2, status=ret:s32)
                    cudaGraphInstantiateWithParams[_ptsz](addr=*arg1@ret, src=arg2, status=ret:s32)
                    """));
        }
        return hooks;
    }

    /// A pitched copy has its rows' width in `bytes` and their number in `count` until they are multiplied, a fill of
    /// wider elements the number of them and their width.
    private static List<Hook> copies() {
        List<Hook> hooks = new ArrayList<>();
        HookTable driver = new HookTable("cuda_copy", DRIVER, Layer.DRIVER, false);
        hooks.addAll(driver.calls(Meaning.COPY, """
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
        hooks.addAll(driver.facts(Meaning.PIN, """
                cuMemHostAlloc cuMemAllocHost_v2(addr=*arg1@ret, bytes=arg2, status=ret:s32)
                cuMemHostRegister_v2(addr=arg1, bytes=arg2, status=ret:s32)
                """));
        hooks.addAll(driver.facts(Meaning.UNPIN, """
                cuMemFreeHost cuMemHostUnregister(addr=arg1, status=ret:s32)
                """));
        for (String library : RUNTIMES) {
            HookTable runtime = new HookTable("cuda_copy", library, Layer.RUNTIME, false);
            hooks.addAll(runtime.calls(Meaning.COPY, """
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
            hooks.addAll(runtime.facts(Meaning.PIN, """
                    cudaHostAlloc cudaMallocHost(addr=*arg1@ret, bytes=arg2, status=ret:s32)
                    cudaHostRegister(addr=arg1, bytes=arg2, status=ret:s32)
                    """));
            hooks.addAll(runtime.facts(Meaning.UNPIN, """
                    cudaFreeHost cudaHostUnregister(addr=arg1, status=ret:s32)
                    """));
        }
        return hooks;
    }

    private static List<Hook> syncs() {
        List<Hook> hooks = new ArrayList<>(new HookTable("cuda_sync", DRIVER, Layer.DRIVER, true).calls(Meaning.WAIT, """
                cuStreamSynchronize[_ptsz](stream=arg1, status=ret:s32)
                cuEventSynchronize cuCtxSynchronize_v2(addr=arg1, status=ret:s32)
                cuCtxSynchronize(status=ret:s32)
                """));
        for (String library : RUNTIMES) {
            hooks.addAll(new HookTable("cuda_sync", library, Layer.RUNTIME, true).calls(Meaning.WAIT, """
                    cudaStreamSynchronize[_ptsz](stream=arg1, status=ret:s32)
                    cudaEventSynchronize(addr=arg1, status=ret:s32)
                    cudaDeviceSynchronize(status=ret:s32)
                    """));
        }
        return hooks;
    }

    private static List<Hook> allocations() {
        List<Hook> hooks = new ArrayList<>(new HookTable("gpu_alloc", DRIVER, Layer.DRIVER, true).calls(Meaning.ALLOCATION, """
                cuMemAlloc_v2 cuMemAllocManaged(bytes=arg2, addr=*arg1@ret, status=ret:s32)
                cuMemAllocPitch_v2(bytes=arg3, count=arg4, addr=*arg1@ret, status=ret:s32)
                cuMemAllocAsync[_ptsz](bytes=arg2, stream=arg3, addr=*arg1@ret, status=ret:s32)
                cuMemAllocFromPoolAsync[_ptsz](bytes=arg2, stream=arg4, addr=*arg1@ret, status=ret:s32)
                cuMemCreate(bytes=arg2, device=arg3->12:s32, addr=*arg1@ret, status=ret:s32)
                """));
        for (String library : RUNTIMES) {
            HookTable runtime = new HookTable("gpu_alloc", library, Layer.RUNTIME, true);
            hooks.addAll(runtime.calls(Meaning.ALLOCATION, """
                    cudaMalloc cudaMallocManaged(bytes=arg2, addr=*arg1@ret, status=ret:s32)
                    cudaMallocPitch(bytes=arg3, count=arg4, addr=*arg1@ret, status=ret:s32)
                    cudaMallocAsync[_ptsz](bytes=arg2, stream=arg3, addr=*arg1@ret, status=ret:s32)
                    cudaMallocFromPoolAsync[_ptsz](bytes=arg2, stream=arg4, addr=*arg1@ret, status=ret:s32)
                    """));
            hooks.addAll(runtime.facts(Meaning.CURRENT_DEVICE, """
                    cudaSetDevice(device=arg1:s32, status=ret:s32)
                    """));
        }
        return hooks;
    }

    /// The address comes first: it is looked up when the call is entered.
    private static List<Hook> releases() {
        List<Hook> hooks = new ArrayList<>(new HookTable("gpu_free", DRIVER, Layer.DRIVER, true).calls(Meaning.RELEASE, """
                cuMemFree_v2 cuMemRelease(addr=arg1, status=ret:s32)
                cuMemFreeAsync[_ptsz](addr=arg1, stream=arg2, status=ret:s32)
                """));
        for (String library : RUNTIMES) {
            hooks.addAll(new HookTable("gpu_free", library, Layer.RUNTIME, true).calls(Meaning.RELEASE, """
                    cudaFree(addr=arg1, status=ret:s32)
                    cudaFreeAsync[_ptsz](addr=arg1, stream=arg2, status=ret:s32)
                    """));
        }
        return hooks;
    }

    private static List<Hook> maps() {
        return new HookTable("gpu_map", DRIVER, Layer.DRIVER, true).calls(Meaning.NOTHING, """
                cuMemAddressReserve(bytes=arg2, addr=*arg1@ret, status=ret:s32)
                cuMemMap cuMemUnmap cuMemAddressFree(addr=arg1, bytes=arg2, status=ret:s32)
                """);
    }
}
