package io.dyber.zernel.record.simulate;

import static io.dyber.zernel.record.simulate.Scenario.ALLOCATOR_CHURN;
import static io.dyber.zernel.record.simulate.Scenario.FRAGMENTATION;
import static io.dyber.zernel.record.simulate.Scenario.MEMORY_LEAK;
import static io.dyber.zernel.record.simulate.Scenario.NEAR_OOM;

import io.dyber.zernel.record.simulate.Allocator.Block;
import java.util.ArrayList;
import java.util.List;

/// What a job does to its GPU's memory beside what it needs.
final class MemoryPressure {
    /// `cudaMalloc` and `cudaFree` of one segment, with what the free list costs.
    static final double CYCLE_NANOS = 700_000;

    private static final int LEAKS_PER_STEP = 4;
    private static final int SETTLED_STEP = 3;
    private static final long MIB = 1 << 20;

    private final JobParameters shape;
    private final InjectedCauses plant;
    private final Allocator allocator;
    private final Program program;
    private final List<Block> transients = new ArrayList<>();

    MemoryPressure(JobParameters shape, InjectedCauses plant, Allocator allocator, Program program) {
        this.shape = shape;
        this.plant = plant;
        this.allocator = allocator;
        this.program = program;
    }

    /// Before the forward pass.
    void begin(int step) {
        if (plant.has(FRAGMENTATION)) {
            transients.add(allocator.allocate(Math.round(plant.amount(FRAGMENTATION)) + 4096L * step));
        }
        if (plant.has(NEAR_OOM) && step == SETTLED_STEP) {
            long target = Math.round(plant.amount(NEAR_OOM) * shape.usableMemory());
            allocator.allocate(Math.max(MIB, target - allocator.deviceBytes()));
        }
        int segments = (int) Math.round(plant.size(ALLOCATOR_CHURN) * shape.gpuNanos() / CYCLE_NANOS);
        for (int i = 0; i < segments; i++) {
            transients.add(allocator.allocate((11 + i % 8) * MIB));
            program.work(2_000);
        }
    }

    /// After the optimizer.
    void end() {
        transients.forEach(allocator::free);
        transients.clear();
        if (plant.has(MEMORY_LEAK)) {
            for (int i = 0; i < LEAKS_PER_STEP; i++) {
                allocator.allocate(Math.round(plant.amount(MEMORY_LEAK) / LEAKS_PER_STEP));
            }
        }
        if (plant.has(ALLOCATOR_CHURN)) {
            allocator.emptyCache();
        }
    }
}
