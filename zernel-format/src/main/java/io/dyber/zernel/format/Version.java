package io.dyber.zernel.format;

import java.util.Objects;

/// The version of this build, from the jar's manifest; all modules have the same.
public final class Version {
    private Version() {}

    /// `0.1.0`; `development` where classes do not come from a jar.
    public static String current() {
        return Objects.requireNonNullElse(Version.class.getPackage().getImplementationVersion(), "development");
    }
}
