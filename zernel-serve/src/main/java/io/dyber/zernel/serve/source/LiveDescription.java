package io.dyber.zernel.serve.source;

import io.dyber.zernel.format.Footer;
import io.dyber.zernel.format.FooterFile;
import io.dyber.zernel.format.RecordingException;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import tools.jackson.core.JacksonException;

/// What a recording that is being written says about itself: a file that the recorder replaces each second. One that is
/// just being replaced says what it said before.
///
/// Thread-safe.
final class LiveDescription {
    private static final System.Logger LOG = System.getLogger(LiveDescription.class.getName());

    private final Path file;
    private Optional<FileVersion> version = Optional.empty();
    private Optional<Footer.Detail> detail = Optional.empty();
    private Facts facts = Facts.NONE;

    LiveDescription(Path file) {
        this.file = file;
    }

    synchronized Optional<Footer.Detail> detail() {
        read();
        return detail;
    }

    synchronized Facts facts() {
        read();
        return facts;
    }

    private void read() {
        Optional<FileVersion> now = FileVersion.of(file);
        if (now.isEmpty() || now.equals(version)) {
            return;
        }
        version = now;
        try {
            Map<String, String> footer = FooterFile.read(Files.readAllBytes(file));
            detail = Footer.detail(footer);
            facts = Facts.of(footer);
        } catch (IOException | JacksonException | RecordingException e) {
            LOG.log(Level.DEBUG, "reading what a recording says about itself", e);
        }
    }
}
