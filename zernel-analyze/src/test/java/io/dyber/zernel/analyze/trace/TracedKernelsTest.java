package io.dyber.zernel.analyze.trace;

import static io.dyber.zernel.analyze.TraceFixture.trace;
import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.analyze.Database;
import io.dyber.zernel.analyze.Finding;
import io.dyber.zernel.analyze.Recordings;
import io.dyber.zernel.analyze.TraceFixture;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// What the names of kernels in traces tell.
public class TracedKernelsTest {
    @TempDir
    Path folder;

    private Database open(TraceFixture trace) {
        return Recordings.open(trace.write(folder.resolve("trace.json")).toString());
    }

    /// Steps of 20 ms with a kernel of 12 ms and one of 6 ms.
    private static TraceFixture running(String kernel) {
        TraceFixture trace = trace(100);
        for (int i = 0; i < 6; i++) {
            double at = i * 20;
            trace.range("ProfilerStep#" + i, 100, at, 20).kernel(kernel, 7, at + 0.1, at + 0.2, 12);
            trace.kernel("vectorized_elementwise_kernel", 7, at + 0.3, at + 12.2, 6);
        }
        return trace;
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "volta_sgemm_128x64_nn | float32",
        "ampere_sgemm_32x32_sliced1x4_tn | float32",
        "void cutlass::Kernel2<cutlass_80_simt_sgemm_128x256_8x4_nn_align1>(Params) | float32",
        "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize64x64x8_stage3_warpsize1x4x1_ffma_aligna4_alignc4 | float32",
        "void implicit_convolve_sgemm<float, float, 1024, 5, 5, 3, 3, 3, 1, true, false, true>(int) | float32",
        "ampere_scudnn_128x64_relu_small_nn_v1 | float32",
        "volta_dgemm_64x64_nt | float64",
        "void cutlass::Kernel<cutlass_80_tensorop_d884gemm_64x64_16x4_nn_align1>(Params) | float64",
        "void cudnn::ops::nchwToNhwcKernel<float, float, float, false, true, (cudnnKernelDataType_t)2>(P) | layout",
        "void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_64x64_32x6_tn_align4>(Params) |",
        "sm80_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize128x128x16_stage4_warpsize2x2x1_tensor16x8x8 |",
        "sm80_xmma_fprop_implicit_gemm_indexed_tf32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize128x128x16 |",
        "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1 |",
        "ampere_fp16_s16816gemm_fp16_64x64_sliced1x2_ldg8_relu_f2f_stages_64x6_tn |",
        "ampere_bf16_s1688gemm_bf16_128x128_ldg8_f2f_stages_32x1_nn |",
        "volta_h884gemm_64x128_ldg8_nn |",
        "nvjet_tst_192x192_64x4_2x1_v_bz_coopB_bias_TNN |",
        "volta_fp16_sgemm_fp16_128x64_nn |",
        "void gemmSN_TN_kernel<float, 128, 16, 2, 4, 4, 4, true, cublasGemvTensorStridedBatched<__half const> >(Params) |",
        "void gemv2T_kernel_val<int, int, float, float, float, float, 128, 16, 4, 4, false, false>(Params) |",
        "multi_tensor_apply_kernel<FusedAdamMathFunctor<float, 4>, float const*, double, double>() |",
    })
    void whatTheNameOfAKernelTells(String kernel, String sort) {
        try (Database database = open(running(kernel))) {
            assertThat(database.query("SELECT kernel_sort(?) AS sort", kernel).only().text("sort")).isEqualTo(sort);
        }
    }

    @Test
    void slowProductsFiresForMatricesOfFloat32WithoutTensorCores() {
        try (Database database = open(running("volta_sgemm_128x64_nn"))) {
            Finding finding = database.diagnose("slow_products").getFirst();
            assertThat(finding.value()).isEqualTo(61.0); // from the first kernel to the end of the last one: 72 of 118 ms
            assertThat(finding.unit()).isEqualTo("% of the time in float32, without tensor cores");
            assertThat(finding.severity()).isEqualTo("medium");
            assertThat(finding.evidence()).isEqualTo("mean of 6 steps: 12.2 ms of 20.0 ms GPU 0 multiplies in float32 without "
                    + "tensor cores, most in volta_sgemm_128x64_nn; the GPU is idle 8.5 % of the time; a bound, not a "
                    + "measurement: 1.00x to 2.44x");
            assertThat(finding.maxSpeedup()).isEqualTo(2.44);
            assertThat(finding.lostMillisPerStep()).isNull();
            assertThat(finding.advice()).startsWith("torch.set_float32_matmul_precision");
        }
    }

    @Test
    void slowProductsFiresForMatricesOfFloat64() {
        try (Database database = open(running("volta_dgemm_64x64_nt"))) {
            Finding finding = database.diagnose("slow_products").getFirst();
            assertThat(finding.evidence()).contains(" GPU 0 multiplies in float64, most in volta_dgemm_64x64_nt; ");
            assertThat(finding.advice()).startsWith("float32, or less");
        }
    }

    @Test
    void slowProductsIsSilentForTensorCores() {
        try (Database database = open(running("cutlass_80_tensorop_s1688gemm_64x64_32x6_tn_align4"))) {
            assertThat(database.diagnose("slow_products")).isEmpty();
        }
    }

    @Test
    void layoutConversionsFiresForConvolutionsThatNeedAnotherMemoryFormat() {
        try (Database database = open(running("void cudnn::ops::nchwToNhwcKernel<float>(Params)"))) {
            Finding finding = database.diagnose("layout_conversions").getFirst();
            assertThat(finding.lostMillisPerStep()).isEqualTo(12.203);
            assertThat(finding.evidence()).startsWith("mean of 6 steps: 12.2 ms of 20.0 ms GPU 0 converts between NCHW and NHWC, "
                    + "6 times in all, most in void cudnn::ops::nchwToNhwcKernel<float>(Params); ");
        }
    }

    @Test
    void layoutConversionsIsSilentWhereConvolutionsTakeTensorsAsTheyAre() {
        try (Database database = open(running("sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nhwc"))) {
            assertThat(database.diagnose("layout_conversions")).isEmpty();
        }
    }
}
