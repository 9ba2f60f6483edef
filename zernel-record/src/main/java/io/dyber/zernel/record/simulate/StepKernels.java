package io.dyber.zernel.record.simulate;

import io.dyber.zernel.record.simulate.machine.Kernel;
import io.dyber.zernel.record.simulate.machine.Noise;
import java.util.ArrayList;
import java.util.List;

/// The kernels of a step, in the order in which they are launched.
record StepKernels(List<Kernel> forward, List<Kernel> backward, List<Kernel> optimizer) {
    private static final double FORWARD = 0.32;
    private static final double BACKWARD = 0.6;
    private static final double OPTIMIZER = 0.08;
    private static final List<String> OWN = List.of(
            "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>",
            "void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl<at::native::MulFunctor<float>>>",
            "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::MeanOps<float>>>",
            "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float>",
            "void at::native::(anonymous namespace)::CatArrayBatchedCopy<float, unsigned int, 4, 64, 64>");
    private static final List<String> LIBRARIES = List.of(
            "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute",
            "sm80_xmma_fprop_implicit_gemm_bf16bf16_bf16f32_f32_nhwckrsc_nhwc_tilesize128x128x32",
            "cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_16x16_128x2_tn_align8",
            "void cudnn::bn_fw_tr_1C11_kernel_NCHW<float, float, 512, true, 1>");
    private static final String MULTI_TENSOR =
            "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<FusedAdamMathFunctor<float, 4>>";

    /// @param activationBytes of a whole forward pass
    static StepKernels draw(Noise noise, int count, double gpuNanos, long activationBytes) {
        int optimizer = Math.clamp(count / 16, 3, 24);
        int forward = Math.max(3, (int) ((count - optimizer) * 0.36));
        int backward = Math.max(3, count - optimizer - forward);
        List<Kernel> update = new ArrayList<>();
        for (int i = 0; i < optimizer; i++) {
            update.add(new Kernel(MULTI_TENSOR, false, 0x55d0_0000_0900L, 320, 512, 0,
                    Math.round(gpuNanos * OPTIMIZER / optimizer), 0));
        }
        return new StepKernels(
                part(noise.of(1), forward, gpuNanos * FORWARD, activationBytes),
                part(noise.of(2), backward, gpuNanos * BACKWARD, 0),
                update);
    }

    int count() {
        return forward.size() + backward.size() + optimizer.size();
    }

    private static List<Kernel> part(Noise noise, int count, double gpuNanos, long activationBytes) {
        double[] weights = new double[count];
        double sum = 0;
        for (int i = 0; i < count; i++) {
            weights[i] = noise.around(1e6, 0.8);
            sum += weights[i];
        }
        List<Kernel> kernels = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            boolean library = noise.chance(0.45);
            int which = noise.between(0, (library ? LIBRARIES : OWN).size() - 1);
            long bytes = i % 2 == 1 ? 0 : Math.max(512, Math.round(activationBytes * 2.0 / count * noise.between(0.2, 1.8)) & ~511L);
            kernels.add(new Kernel(
                    (library ? LIBRARIES : OWN).get(which),
                    library,
                    (library ? 0x55d0_0000_5000L : 0x7f20_0000_1000L) + 64L * which,
                    noise.between(8, 4096),
                    64 << noise.between(0, 3),
                    library ? 49_152 : 0,
                    Math.round(gpuNanos * weights[i] / sum),
                    activationBytes == 0 ? 0 : bytes));
        }
        return List.copyOf(kernels);
    }
}
