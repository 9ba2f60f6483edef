package io.dyber.zernel.analyze.report.data;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Names of kernels as PyTorch 2.11 launches them.
class KernelNameTest {
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul> >(int, "
                + "at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>)"
                + "| vectorized_elementwise_kernel<CUDAFunctor_add<float>>",
        "void at::native::vectorized_elementwise_kernel<4, at::native::AUnaryFunctor<float, float, float, "
                + "at::native::binary_internal::MulFunctor<float> >, std::array<char*, 2ul> >(int, std::array<char*, 2ul>)"
                + "| vectorized_elementwise_kernel<AUnaryFunctor<MulFunctor<float>>>",
        "void at::native::vectorized_elementwise_kernel<4, at::native::sqrt_kernel_cuda(at::TensorIteratorBase&)::{lambda()#2}::"
                + "operator()() const::{lambda()#2}::operator()() const::{lambda(float)#1}, std::array<char*, 2ul> >(int)"
                + "| vectorized_elementwise_kernel<sqrt_kernel_cuda>",
        "void at::native::vectorized_elementwise_kernel<4, __nv_hdl_wrapper_t<false, false, false, __nv_dl_tag<void (*)("
                + "at::TensorIteratorBase&, c10::Scalar const&), &at::native::(anonymous namespace)::lerp_scalar_kernel, 2u>, "
                + "float (float, float), float>, std::array<char*, 3ul> >(int)"
                + "| vectorized_elementwise_kernel<lerp_scalar_kernel>",
        "void at::native::reduce_kernel<128, 4, at::native::ReduceOp<c10::BFloat16, at::native::func_wrapper_t<c10::BFloat16, "
                + "__nv_hdl_wrapper_t<false, true, false, __nv_dl_tag<void (at::native::sum_functor<c10::BFloat16, float, "
                + "c10::BFloat16>::*)(at::TensorIterator&), &at::native::sum_functor<c10::BFloat16, float, c10::BFloat16>::"
                + "operator(), 1u>, float (float, float)> >, unsigned int, c10::BFloat16, 4, 8> >(int)"
                + "| reduce_kernel<sum_functor>",
        "void at::native::unrolled_elementwise_kernel<at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>, 4, "
                + "TrivialOffsetCalculator<2, unsigned int>, at::native::memory::LoadWithCast<2> >(int)"
                + "| unrolled_elementwise_kernel<CUDAFunctor_add<float>>",
        "void at::native::(anonymous namespace)::layer_norm_grad_input_kernel_vectorized<float, float, false>(float const*)"
                + "| layer_norm_grad_input_kernel_vectorized<float>",
        "void cudnn::engines_precompiled::nchwToNhwcKernel<__nv_bfloat16, __nv_bfloat16, float, false, true, "
                + "(cudnnKernelDataType_t)0>(int)| nchwToNhwcKernel<__nv_bfloat16, float>",
        "void cutlass::Kernel2<cutlass_80_wmma_tensorop_bf16_s161616gemm>(int)| Kernel2<cutlass_80_wmma_tensorop_bf16_s161616gemm>",
        "void split_kernel(float const*, int)| split_kernel",
        "nvjet_sm90_tst_192x128_64x5_1x2_h_bz_coopB_NNT| nvjet_sm90_tst_192x128_64x5_1x2_h_bz_coopB_NNT",
        "triton_poi_fused_add_0| triton_poi_fused_add_0",
        "Memcpy HtoD (Pinned -> Device)| Memcpy HtoD (Pinned -> Device)",
        "kernel at 0x2081b600| kernel at 0x2081b600",
        "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_segment_k_off_kernel__5x_cublas"
                + "| sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesi..ze1x1x1_execute_segment_k_off_kernel__5x_cublas"
    })
    void aNameSaysWhatTheKernelDoes(String name, String brief) {
        assertThat(KernelName.brief(name)).isEqualTo(brief);
    }

    /// In a second, not in minutes.
    @ParameterizedTest
    @ValueSource(strings = {"k", "a::", "a<", "(", "at::Foo<"})
    @Timeout(120)
    void aNameOfAnyLengthIsShort(String part) {
        assertThat(KernelName.brief(part.repeat(100_000))).hasSizeLessThanOrEqualTo(96);
    }

    @Test
    void anyTextHasAName() {
        Random random = new Random(3);
        String parts = "a<>(){}&,: \1";
        for (int i = 0; i < 20_000; i++) {
            StringBuilder name = new StringBuilder();
            for (int j = random.nextInt(20); j > 0; j--) {
                name.append(parts.charAt(random.nextInt(parts.length())));
            }
            assertThat(KernelName.brief(name.toString()).length()).isLessThanOrEqualTo(name.length() + 2);
        }
    }
}
