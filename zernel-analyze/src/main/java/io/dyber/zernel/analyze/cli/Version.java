package io.dyber.zernel.analyze.cli;

import picocli.CommandLine.IVersionProvider;

/// The version from the jar's manifest.
final class Version implements IVersionProvider {
    @Override
    public String[] getVersion() {
        String version = Version.class.getPackage().getImplementationVersion();
        return new String[] {"${COMMAND-FULL-NAME} " + (version == null ? "(not packaged)" : version)};
    }
}
