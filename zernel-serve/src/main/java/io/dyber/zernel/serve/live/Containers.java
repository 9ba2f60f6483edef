package io.dyber.zernel.serve.live;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// What the path of a cgroup says of containers, as Docker, Podman, containerd and CRI-O write it, and the kubelet with
/// either of its cgroup drivers.
final class Containers {
    /// The last of them is the innermost.
    private static final Pattern CONTAINER = Pattern.compile(".*(?:^|[/\\-:])([0-9a-f]{64})(?![0-9a-f]).*");

    private static final Pattern POD = Pattern.compile(
            ".*pod([0-9a-f]{8})[-_]?([0-9a-f]{4})[-_]?([0-9a-f]{4})[-_]?([0-9a-f]{4})[-_]?([0-9a-f]{12})(?![0-9a-f]).*");

    private Containers() {}

    /// The id of a container; empty where there is none.
    static String container(String cgroup) {
        Matcher container = CONTAINER.matcher(cgroup);
        return container.matches() ? container.group(1) : "";
    }

    /// The UID of a Kubernetes pod; empty where there is none.
    static String pod(String cgroup) {
        Matcher pod = POD.matcher(cgroup);
        return pod.matches()
                ? String.join("-", pod.group(1), pod.group(2), pod.group(3), pod.group(4), pod.group(5))
                : "";
    }
}
