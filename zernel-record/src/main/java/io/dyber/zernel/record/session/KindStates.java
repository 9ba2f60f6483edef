package io.dyber.zernel.record.session;

import io.dyber.zernel.record.activity.GpuActivity;
import io.dyber.zernel.record.attach.Attachments;
import io.dyber.zernel.record.attach.BpfPrograms;
import io.dyber.zernel.record.attach.KindState;
import io.dyber.zernel.record.builtin.Origin;
import io.dyber.zernel.record.builtin.Probe;
import io.dyber.zernel.record.option.RecordOptions;
import io.dyber.zernel.record.rows.GpuRows;
import io.dyber.zernel.record.rows.MarkRows;

/// Says of each kind whether it is recorded, asked of the part that records it.
record KindStates(
        RecordOptions options, BpfPrograms kernel, Attachments attachments, GpuRows gpus, GpuActivity activity, MarkRows marks) {
    /// Whether events of the probe can be in the recording, and if not, why.
    KindState of(Probe probe) {
        boolean wanted = options.kinds().contains(probe.kind());
        return switch (probe.origin()) {
            case Origin.Kernel _ when wanted && !options.kernelKinds().contains(probe.kind()) ->
                KindState.off(options.stacks().isOff() ? "--stacks off" : "--sample-rate 0");
            case Origin.Kernel _ -> kernel.state(probe.kind());
            case Origin.Functions _ -> functionsState(probe);
            case Origin.Driver _ -> wanted ? gpuState() : KindState.LEFT_OUT;
            case Origin.Injected _ -> wanted ? activityState() : KindState.LEFT_OUT;
            case Origin.Host _ -> wanted ? hostState() : KindState.LEFT_OUT;
            case Origin.Recorder _ -> KindState.attached(probe.kind().equals(MarkRows.KIND) ? marks.problem() : "");
        };
    }

    private KindState functionsState(Probe probe) {
        String kind = probe.kind();
        String refused = kernel.unavailable().get(kind);
        if (refused != null) {
            return KindState.unavailable(refused);
        }
        if (probe.isOptIn() && options.probes().stream().noneMatch(spec -> spec.kind().equals(kind))) {
            return KindState.off("no --probe given");
        }
        if (!probe.isOptIn() && !options.kinds().contains(kind)) {
            return KindState.LEFT_OUT;
        }
        if (attachments.functions().isAttached(kind)) {
            return KindState.attached("");
        }
        return attachments.functions()
                .problem(kind)
                .map(KindState::unavailable)
                .orElseGet(() -> KindState.waiting("no recorded process has loaded "
                        + (probe.library().isEmpty() ? "a library with these functions" : probe.library())));
    }

    private KindState hostState() {
        return options.hostInterval().isZero() ? KindState.off("--host-interval off") : KindState.attached("");
    }

    private KindState activityState() {
        if (!activity.isAsked()) {
            return KindState.off("no --gpu-activity");
        }
        String unavailable = activity.unavailable();
        if (!unavailable.isEmpty()) {
            return KindState.unavailable(unavailable);
        }
        return activity.isSeen() ? KindState.attached("") : KindState.waiting("no process of the command has started CUDA, or none that sees the /dev/shm and /tmp of this machine");
    }

    private KindState gpuState() {
        if (options.gpuInterval().isZero()) {
            return KindState.off("--gpu-interval off");
        }
        String unavailable = gpus.unavailable();
        if (!unavailable.isEmpty()) {
            return KindState.unavailable(unavailable);
        }
        return gpus.isSampling()
                ? KindState.attached("")
                : KindState.waiting("the NVIDIA driver has not answered yet");
    }
}
