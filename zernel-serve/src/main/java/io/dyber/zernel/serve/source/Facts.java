package io.dyber.zernel.serve.source;

import io.dyber.zernel.format.Footer;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// What a recording says of the machine, processes and devices that its events are about, as far as it is known.
///
/// @param driver version of the NVIDIA driver; null where there is none, or GPUs were not sampled
public record Facts(
        Footer.About recording,
        List<Footer.ProcessInfo> processes,
        List<Footer.GpuInfo> gpus,
        @Nullable String driver) {
    /// Of a source that says nothing.
    public static final Facts NONE = of(Map.of());

    /// What the keys of a footer say.
    ///
    /// @throws io.dyber.zernel.format.RecordingException if a value is not the JSON that its key promises
    public static Facts of(Map<String, String> footer) {
        Footer known = Footer.parse(footer);
        return new Facts(
                known.recording(),
                known.processes(),
                Footer.gpus(footer).map(Footer.GpuSampling::devices).orElse(List.of()),
                Footer.gpus(footer).map(Footer.GpuSampling::driver).orElse(null));
    }
}
