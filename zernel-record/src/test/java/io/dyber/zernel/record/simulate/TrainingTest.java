package io.dyber.zernel.record.simulate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.dyber.zernel.record.simulate.Rank.Member;
import io.dyber.zernel.record.simulate.machine.BusyTime;
import io.dyber.zernel.record.simulate.machine.Gpu;
import io.dyber.zernel.record.simulate.machine.GpuStream;
import io.dyber.zernel.record.simulate.machine.Noise;
import io.dyber.zernel.record.simulate.machine.Timeline;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// The model itself, which writes nothing here.
class TrainingTest {
    private static final int STEPS = 100;
    private static final long SEEDS = Long.getLong("simulation.seeds", 2);

    @ParameterizedTest
    @EnumSource(
            value = Scenario.class,
            mode = EnumSource.Mode.EXCLUDE,
            names = {"HEALTHY", "HANG", "MEMORY_LEAK", "NEAR_OOM", "FRAGMENTATION", "CLOSURE", "MIXED"})
    void aCauseCostsWhatWasAskedForAndTakingItOutGivesThatBack(Scenario cause) {
        for (long seed = 1; seed <= SEEDS; seed++) {
            for (double strength : new double[] {0.1, 0.35}) {
                Calibration model = model(cause, seed);
                InjectedCauses plant = model.add(InjectedCauses.nothing(), cause, strength);

                assertThat(model.lostShare(plant, cause))
                        .as("%s, seed %d, strength %s", cause, seed, strength)
                        .isCloseTo(strength, within(0.02));
                assertThat(model.lostShare(InjectedCauses.nothing(), cause)).isZero();
            }
        }
    }

    @Test
    void aHealthyJobIsAsFastAsItsGpu() {
        for (long seed = 1; seed <= 5 * SEEDS; seed++) {
            for (int ranks : new int[] {1, 4}) {
                Simulation.Settings settings = new Simulation.Settings(Scenario.HEALTHY, seed, STEPS, ranks);
                Noise noise = new Noise(seed);
                JobParameters shape = JobParameters.draw(settings, Set.of(), noise.of(1));
                long step = new Calibration(shape, noise.of(2), STEPS).stepNanos(InjectedCauses.nothing());

                assertThat(step / shape.gpuNanos()).as("seed %d, %d ranks", seed, ranks).isBetween(0.99, 1.04);
            }
        }
    }

    @Test
    void ranksWithoutGpusWaitForTheSlowestOfThemInEachStep() {
        Simulation.Settings settings = new Simulation.Settings(Scenario.GIL, 1, STEPS, 3);
        Noise noise = new Noise(1);
        JobParameters shape = JobParameters.draw(settings, Set.of(Scenario.GIL), noise.of(1));
        InjectedCauses nothing = InjectedCauses.nothing();
        List<Member> members = List.of(
                new Member(0, 0, shape, nothing, 0, 0),
                new Member(1, 1, shape, nothing.with(Scenario.GIL, 0.4), 0, 0),
                new Member(2, 2, shape, nothing, 0, 0));
        Training training = new Training(
                shape, nothing, members, STEPS, Timeline.silent(), noise.of(2), noise.of(3), Optional.empty()).run();

        assertThat(training.ranks()).allSatisfy(rank ->
                assertThat(rank.stepNanos() / shape.gpuNanos()).isBetween(1.4, 1.5));
    }

    @Test
    void aLaunchWaitsForRoomInTheQueue() {
        GpuStream stream = new GpuStream(new BusyTime());
        for (int i = 0; i < GpuStream.QUEUE; i++) {
            assertThat(stream.room(5)).isEqualTo(5);
            long _ = stream.enqueue(10, 100);
        }

        assertThat(stream.room(5)).isEqualTo(110);
        assertThat(stream.room(300)).isEqualTo(300);
        assertThat(stream.enqueue(300, 100)).isEqualTo(10 + 100L * GpuStream.QUEUE + 100);
    }

    @Test
    void aCollectiveEndsAfterTheLastRankArrived() {
        Collectives collectives = new Collectives(2, new Noise(1), 22_000, 100);
        Gpu early = new Gpu(0);
        Gpu late = new Gpu(1);
        long first = collectives.enter(0, early, 1_000_000, 1_000);
        long second = collectives.enter(1, late, 1_000_000, 9_000_000);
        collectives.run();

        assertThat(first).isEqualTo(second).isZero();
        assertThat(early.collectives().freeNanos())
                .isEqualTo(late.collectives().freeNanos())
                .isBetween(9_010_000L, 9_050_000L);
    }

    @Test
    void aCollectiveThatARankMissesNeverEnds() {
        Collectives collectives = new Collectives(2, new Noise(1), 22_000, 100);
        Gpu alone = new Gpu(0);
        assertThat(collectives.enter(0, alone, 1_000_000, 1_000)).isZero();
        collectives.run();

        assertThat(alone.collectives().freeNanos()).isGreaterThanOrEqualTo(Program.NEVER);
    }

    @Test
    void busyTimeOfTwoStreamsIsCountedOnce() {
        BusyTime one = new BusyTime();
        BusyTime other = new BusyTime();
        one.add(0, 60);
        one.add(150, 180);
        other.add(40, 120);

        assertThat(one.together(other, 0, 100, 2)).containsExactly(100, 50);
    }

    private static Calibration model(Scenario cause, long seed) {
        Simulation.Settings settings = new Simulation.Settings(cause, seed, STEPS, cause.usualRanks());
        Noise noise = new Noise(seed);
        return new Calibration(JobParameters.draw(settings, Set.of(cause), noise.of(1)), noise.of(2), STEPS);
    }
}
