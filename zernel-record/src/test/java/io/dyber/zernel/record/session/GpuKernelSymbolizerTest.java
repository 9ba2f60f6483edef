package io.dyber.zernel.record.session;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class GpuKernelSymbolizerTest {
    @ParameterizedTest
    @CsvSource({
        "_Z4copyPfS_, _Z4copyPfS_",
        "_Z25__device_stub__Z4copyPfS_PfS_, _Z4copyPfS_",
        "_ZZ25__device_stub__Z4copyPfS_PfS_E8__handle, _Z4copyPfS_",
        "__device_stub__Z4copyPfS_, _Z4copyPfS_"
    })
    void aStubHasTheNameOfItsKernel(String function, String kernel) {
        assertThat(GpuKernelSymbolizer.kernelOf(function)).isEqualTo(kernel);
    }

    @ParameterizedTest
    @CsvSource({
        "_Z9__device_stub_x, x",
        "_Z0__device_stub_x, x",
        "_Z99__device_stub_x, x",
        "_Z99999999999__device_stub_x, x"
    })
    void whereALengthDoesNotFitItIsAllThatFollows(String function, String kernel) {
        assertThat(GpuKernelSymbolizer.kernelOf(function)).isEqualTo(kernel);
    }
}
