package io.dyber.zernel.record.nvml;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.dyber.zernel.record.nvml.GpuFacts.Gap;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The sampler against a stand-in for NVIDIA's library that logs what it says.
final class GpuSamplerTest {
    private static final Duration OFTEN = Duration.ofMillis(10);

    @TempDir
    private Path folder = Path.of("");

    private static final Gap NO_COUNTERS = new Gap("gpm", false, "not supported by this GPU", 1);

    private static final Gap NO_BUSY = new Gap("busy", false, "not supported by this GPU", 1);

    private final AtomicLong clock = new AtomicLong();
    private final List<GpuValue> values = Collections.synchronizedList(new ArrayList<>());

    @AfterEach
    void forgetLibrary() {
        System.clearProperty(Nvml.LIBRARY_PROPERTY);
    }

    private StandIn library(String... flags) throws IOException, InterruptedException {
        StandIn library = StandIn.compiled(folder, flags);
        System.setProperty(Nvml.LIBRARY_PROPERTY, library.library().toString());
        return library;
    }

    private GpuSampler sampler(boolean devices, boolean processes) {
        return new GpuSampler(OFTEN, devices, processes, clock::incrementAndGet, values::addAll);
    }

    private static void awaitRounds(GpuSampler sampler, long rounds) throws InterruptedException {
        while (sampler.state().rounds() < rounds && sampler.state().unavailable().isEmpty()) {
            Thread.sleep(1);
        }
    }

    private List<String> taken() {
        return values.stream()
                .map(value -> value.device() + " " + value.pid() + " " + value.name() + " " + value.value() + " "
                        + value.unit() + (value.instance().isEmpty() ? "" : " " + value.instance()))
                .map(String::strip)
                .toList();
    }

    private static List<Gap> gaps(GpuSampler.State state, int device) {
        return state.gpus().get(device).gaps();
    }

    @Test
    void everyNumberTheDriverGivesIsAValueOnce() throws IOException, InterruptedException {
        StandIn library = library();
        GpuSampler sampler = sampler(true, true);
        sampler.start();
        awaitRounds(sampler, 8);

        assertThat(sampler.stop()).isTrue();

        assertThat(taken()).containsExactlyInAnyOrderElementsOf(library.told());
        assertThat(values).filteredOn(value -> !value.name().equals("busy")).extracting(GpuValue::nanos).isSorted()
                .first().isEqualTo(6L);
        assertThat(values).filteredOn(value -> value.name().equals("xid")).extracting(GpuValue::value)
                .containsExactly(31L, 79L);
        assertThat(library.isShutDown()).isTrue();
    }

    @Test
    void devicesAreDescribed() throws IOException, InterruptedException, NvmlException {
        library();
        GpuSampler.State state = GpuSampler.look();
        assertThat(state.driver()).isEqualTo("570.00.77");
        assertThat(state.gpus()).containsExactly(
                new GpuFacts(0, "Stand-in A100", "GPU-00000000-0000-0000-0000-000000000000",
                        "00000000:3B:00.0", 85_899_345_920L, 4, 16, List.of(NO_COUNTERS), 0),
                new GpuFacts(1, "Stand-in B100", "GPU-00000000-0000-0000-0000-000000000001",
                        "00000000:3C:00.0", 85_899_345_920L, 0, 0, List.of(), 0));
    }

    @Test
    void whatADeviceDoesNotSupportIsAskedForOnceAndWhatItRefusesAgain() throws IOException, InterruptedException {
        library();
        GpuSampler sampler = sampler(true, true);
        sampler.start();
        awaitRounds(sampler, 6);
        assertThat(sampler.stop()).isTrue();

        assertThat(gaps(sampler.state(), 0)).containsExactlyInAnyOrder(
                NO_COUNTERS,
                NO_BUSY,
                new Gap("ecc_errors", false, "not supported by this GPU", 1),
                new Gap("ecc_corrected", false, "not supported by this GPU", 1),
                new Gap("power", false, "NVML error 999", 1));
        assertThat(gaps(sampler.state(), 1)).containsExactlyInAnyOrder(
                new Gap("fan", false, "not supported by this GPU", 1),
                new Gap("power", false, "NVML error 999", 1));
    }

    @Test
    void anOlderDriverIsAskedInItsOwnWords() throws IOException, InterruptedException {
        StandIn library = library("-DOLD_DRIVER");
        GpuSampler sampler = sampler(true, true);
        sampler.start();
        awaitRounds(sampler, 4);
        assertThat(sampler.stop()).isTrue();

        assertThat(taken()).containsExactlyInAnyOrderElementsOf(library.told());
        assertThat(values).filteredOn(value -> value.name().equals("throttle")).first()
                .extracting(GpuValue::value).isEqualTo(11L);
        assertThat(values).filteredOn(value -> value.ofProcess() && value.name().equals("memory_used")).isNotEmpty();
        assertThat(gaps(sampler.state(), 0)).contains(
                new Gap("energy", false, "not known to this driver", 1),
                new Gap("busy", false, "not known to this driver", 1),
                new Gap("gpm", false, "not known to this driver", 1));
        assertThat(values).extracting(GpuValue::name).contains("pcie_tx").doesNotContain("sm_active");
    }

    @Test
    void aDeviceThatIsLostIsLeftAndTheOthersGoOn() throws IOException, InterruptedException {
        StandIn library = library("-DLOSES_GPU");
        GpuSampler sampler = sampler(true, true);
        sampler.start();
        awaitRounds(sampler, 9);
        assertThat(sampler.stop()).isTrue();

        assertThat(taken()).containsExactlyInAnyOrderElementsOf(library.told());
        assertThat(sampler.state().gpus()).extracting(gpu -> gpu.lostNanos() > 0).containsExactly(false, true);
        assertThat(values).filteredOn(value -> value.name().equals("utilization") && value.device() == 1).hasSize(4);
        assertThat(sampler.takeNotice()).contains("GPU 1 does not answer any more: the GPU has fallen off the bus");
        assertThat(sampler.takeNotice()).isEmpty();
    }

    private void awaitCounters(GpuSampler sampler, int times) throws InterruptedException {
        while (countersOf("").size() < times && sampler.state().unavailable().isEmpty()) {
            Thread.sleep(1);
        }
    }

    private List<GpuValue> countersOf(String instance) {
        return List.copyOf(values).stream()
                .filter(value -> value.name().equals("sm_active") && value.instance().equals(instance))
                .toList();
    }

    @Test
    void countersAreMeansOfIntervalsThatAreNotTooShort() throws IOException, InterruptedException {
        StandIn library = library();
        GpuSampler sampler = sampler(true, false);
        sampler.start();
        awaitCounters(sampler, 3);
        assertThat(sampler.stop()).isTrue();

        assertThat(taken()).containsExactlyInAnyOrderElementsOf(library.told());
        // The stand-in gives none of intervals up to 100 ms. The first reading has no other before it.
        assertThat(countersOf("")).first().returns(1, GpuValue::device).returns(25_000L, GpuValue::value)
                .returns("ppm", GpuValue::unit);
        assertThat(values).filteredOn(value -> value.name().equals("nvlink_tx")).first()
                .returns((61 * 2 + 1) * (1L << 19), GpuValue::value).returns("bytes/s", GpuValue::unit);
        assertThat(gaps(sampler.state(), 1)).extracting(Gap::name).doesNotContain("gpm");
        assertThat(library.samples()).containsExactly(2L, 2L);
    }

    @Test
    void whereCountersSayWhatTheBusMovesItIsNotWatchedBesides() throws IOException, InterruptedException {
        library();
        GpuSampler sampler = sampler(true, false);
        sampler.start();
        awaitCounters(sampler, 1);
        assertThat(sampler.stop()).isTrue();

        assertThat(values).filteredOn(value -> value.name().equals("pcie_rx") && value.device() == 0)
                .extracting(GpuValue::value).first().isEqualTo((5_000_000L + 1000 + 7) * 1024);
        assertThat(values).filteredOn(value -> value.name().equals("pcie_rx") && value.device() == 1)
                .extracting(GpuValue::value).containsExactly((21 * 2 + 1) * (1L << 19));
    }

    @Test
    void aCounterThatFailsAloneIsNamedOnce() throws IOException, InterruptedException {
        library();
        GpuSampler sampler = sampler(true, false);
        sampler.start();
        awaitCounters(sampler, 2);
        assertThat(sampler.stop()).isTrue();

        assertThat(gaps(sampler.state(), 1)).contains(new Gap("fp16_active", false, "invalid argument", 1));
        assertThat(sampler.takeNotice()).contains("GPU 1 gave no fp64_active: an impossible value");
        assertThat(sampler.takeNotice()).contains("GPU 1 gave no fp16_active: invalid argument");
        assertThat(sampler.takeNotice()).isEmpty();
        assertThat(values).extracting(GpuValue::name).doesNotContain("fp16_active");
    }

    @Test
    void aCounterThatCannotBeTrueIsNoValueAndIsCounted() throws IOException, InterruptedException {
        library();
        GpuSampler sampler = sampler(true, false);
        sampler.start();
        awaitCounters(sampler, 3);
        assertThat(sampler.stop()).isTrue();

        assertThat(gaps(sampler.state(), 1)).contains(new Gap("fp64_active", false, "an impossible value", 1));
        assertThat(values).filteredOn(value -> value.name().equals("fp64_active")).hasSize(countersOf("").size() - 1)
                .first().extracting(GpuValue::value).isEqualTo(117_500L);
    }

    @Test
    void eachInstanceOfAPartedDeviceHasItsCounters() throws IOException, InterruptedException {
        StandIn library = library("-DMIG");
        GpuSampler sampler = sampler(true, false);
        sampler.start();
        awaitCounters(sampler, 2);
        assertThat(sampler.stop()).isTrue();

        assertThat(taken()).containsExactlyInAnyOrderElementsOf(library.told());
        assertThat(countersOf("1")).hasSameSizeAs(countersOf(""));
        assertThat(countersOf("2")).hasSameSizeAs(countersOf(""));
        assertThat(values).extracting(GpuValue::instance).containsOnly("", "1", "2");
        assertThat(library.samples()).containsExactly(6L, 6L);
    }

    @Test
    void whatTheDriverSampledBetweenRoundsIsToldOnceAtItsOwnTime() throws IOException, InterruptedException {
        StandIn library = library();
        GpuSampler sampler = new GpuSampler(Duration.ofMillis(300), true, false, System::nanoTime, values::addAll);
        long started = System.nanoTime();
        sampler.start();
        awaitRounds(sampler, 2);
        Thread.sleep(100);
        assertThat(sampler.stop()).isTrue();

        assertThat(taken()).containsExactlyInAnyOrderElementsOf(library.told());
        List<GpuValue> busy = values.stream().filter(value -> value.name().equals("busy")).toList();
        // One each 20 ms from the start to the end, though the rounds are 300 ms apart.
        assertThat(busy).hasSizeGreaterThan(15).allMatch(value -> value.device() == 1);
        assertThat(busy).extracting(GpuValue::nanos).isSorted().allMatch(nanos -> nanos > started);
        for (int i = 1; i < busy.size(); i++) {
            assertThat(busy.get(i).value()).isEqualTo((busy.get(i - 1).value() + 1) % 101);
        }
        // As long as the samples are, but for the time between reading two clocks.
        assertThat(busy.getLast().nanos() - busy.getFirst().nanos())
                .isCloseTo((busy.size() - 1) * 20_000_000L, within(100_000_000L));
    }

    @Test
    void aListThatGrowsWhileItIsReadIsReadWhole() throws IOException, InterruptedException {
        library();
        GpuSampler sampler = sampler(true, true);
        sampler.start();
        awaitRounds(sampler, 4);
        assertThat(sampler.stop()).isTrue();
        assertThat(values).filteredOn(value -> value.device() == 0 && value.name().equals("sm"))
                .extracting(GpuValue::pid).contains(1, 5_000_001, 5_000_169).doesNotContain(5_000_170);
        assertThat(values).filteredOn(value -> value.device() == 0 && value.name().equals("memory_used"))
                .extracting(GpuValue::pid).contains(1, 5_000_002, 5_000_169).doesNotContain(5_000_001, 5_000_170);
    }

    @Test
    void onlyTheKindThatIsWantedIsAskedFor() throws IOException, InterruptedException {
        StandIn library = library();
        GpuSampler sampler = sampler(false, true);
        sampler.start();
        awaitRounds(sampler, 3);
        assertThat(sampler.stop()).isTrue();
        assertThat(values).isNotEmpty().allMatch(GpuValue::ofProcess);
        assertThat(taken()).containsExactlyInAnyOrderElementsOf(library.told());
    }

    @Test
    void withoutADriverThereIsNothing() throws IOException, InterruptedException {
        library("-DNO_DRIVER");
        assertThatThrownBy(GpuSampler::look)
                .isInstanceOf(NvmlException.class)
                .hasMessage("looking for GPUs: the NVIDIA driver is not loaded");
        GpuSampler sampler = sampler(true, true);
        sampler.start();
        awaitRounds(sampler, 1);
        assertThat(sampler.stop()).isTrue();
        assertThat(sampler.state().unavailable()).isEqualTo("looking for GPUs: the NVIDIA driver is not loaded");
        assertThat(sampler.state().isSampling()).isFalse();
        assertThat(values).isEmpty();
    }

    @Test
    void withoutALibraryThereIsNothing() {
        System.setProperty(Nvml.LIBRARY_PROPERTY, folder.resolve("nowhere.so").toString());
        assertThatThrownBy(GpuSampler::look).isInstanceOf(NvmlException.class).hasMessageContaining("nowhere.so");
    }

    @Test
    void aDriverThatNeverAnswersHoldsNobodyUp() throws IOException, InterruptedException {
        library("-DHANGS");
        GpuSampler sampler = sampler(true, false);
        sampler.start();
        // The time is read four times before the first round, three times in each, the last time right before device 1 is asked.
        while (clock.get() < 4 + 3 * 3) {
            Thread.sleep(1);
        }
        assertThat(sampler.stop()).isFalse();
        assertThat(sampler.state().rounds()).isEqualTo(2);
    }
}
