package io.dyber.zernel.serve.otlp;

import io.dyber.zernel.format.Version;
import io.dyber.zernel.serve.metric.CommonLabels;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.AttributesBuilder;
import io.opentelemetry.sdk.resources.Resource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/// Who pushes: OpenTelemetry's resource.
///
/// @param host name of the machine that was recorded; empty where it is not known
/// @param instance tells servers on one machine apart, as `instance` does where Prometheus scrapes
/// @param labels that the user gives
public record OtlpIdentity(String host, String instance, CommonLabels labels) {
    private static final String SERVICE = "zernel";

    /// As the machine that was recorded.
    ///
    /// @param recordedHost what the recording says; this machine where that is nothing
    /// @param port of `/metrics`
    public static OtlpIdentity of(@Nullable String recordedHost, int port, CommonLabels labels) {
        String host = recordedHost == null || recordedHost.isEmpty() ? thisHost() : recordedHost;
        return new OtlpIdentity(host, host + ":" + port, labels);
    }

    private static String thisHost() {
        try {
            return Files.readString(Path.of("/proc/sys/kernel/hostname")).strip();
        } catch (IOException _) {
            return "";
        }
    }

    Resource resource() {
        AttributesBuilder attributes = Attributes.builder();
        labels.values().forEach(attributes::put);
        attributes.put("service.name", SERVICE);
        attributes.put("service.version", Version.current());
        attributes.put("service.instance.id", instance);
        if (!host.isEmpty()) {
            attributes.put("host.name", host);
        }
        return Resource.create(attributes.build());
    }
}
