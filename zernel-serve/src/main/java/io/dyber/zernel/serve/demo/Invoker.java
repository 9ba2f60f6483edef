package io.dyber.zernel.serve.demo;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The user who typed the command: under sudo not root, but the user who called sudo.
///
/// @param name null when this process runs as that user already
/// @param home the user's home folder
record Invoker(@Nullable String name, Path home) {
    static Invoker of(Map<String, String> environment) {
        String sudoUser = environment.get("SUDO_USER");
        boolean isRoot = "root".equals(System.getProperty("user.name"));
        if (isRoot && sudoUser != null && !sudoUser.equals("root")) {
            return new Invoker(sudoUser, homeOf(sudoUser));
        }
        return new Invoker(null, Path.of(System.getProperty("user.home", "/")));
    }

    /// The command line that runs `command` as this user, never with more rights.
    List<String> as(List<String> command) {
        if (name == null) {
            return command;
        }
        List<String> wrapped =
                new ArrayList<>(List.of("runuser", "-u", name, "--", "env", "HOME=" + home, "USER=" + name));
        wrapped.addAll(command);
        return wrapped;
    }

    private static Path homeOf(String user) {
        return Commands.output(List.of("getent", "passwd", user))
                .map(line -> line.strip().split(":"))
                .filter(fields -> fields.length > 5)
                .map(fields -> Path.of(fields[5]))
                .orElse(Path.of("/home", user));
    }
}
