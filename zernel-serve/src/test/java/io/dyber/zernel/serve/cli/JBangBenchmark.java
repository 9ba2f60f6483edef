package io.dyber.zernel.serve.cli;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/// How long it takes until a report is printed or a server answers, with JBang and with the distribution's launcher:
/// `./mvnw -Pbench verify -Dbench=jbang`.
///
/// A first start has all jars in the local repository and nothing in JBang's own caches. Ways take turns.
final class JBangBenchmark {
    private static final String LAUNCHER = Path.of("dist/target/zernel/bin/zernel").toAbsolutePath().toString();
    private static final Path FOLDER = Path.of("target", "bench").toAbsolutePath();

    /// @param ready in the first line that says it has started; without one it has when it ends
    private record Command(List<String> launcher, List<String> jbang, String ready) {}

    private interface Way {
        double millis(Command command) throws IOException, InterruptedException;
    }

    private JBangBenchmark() {}

    public static void main(String[] arguments) throws IOException, InterruptedException {
        if (!List.of("all", "jbang").contains(System.getProperty("bench", "all"))) {
            return;
        }
        String file = Files.createDirectories(FOLDER).resolve("run.parquet").toString();
        double _ = launcher(new Command(List.of("record", "--simulate", "--quiet", "-o", file), List.of(), ""));
        List<String> serve = List.of("serve", "--metrics-port", "0", "--ws-port", "0", file);
        System.out.println("| command | way | ms | min..max | x | min..max |");
        System.out.println("|---|---|---:|---:|---:|---:|");
        measure("report", new Command(List.of("analyze", "report", file), List.of("zernel-analyze@dyber", "report", file), ""));
        measure("serve", new Command(
                serve, Stream.concat(Stream.of("zernel@dyber"), serve.stream()).toList(), "http://localhost"));
    }

    private static void measure(String name, Command command) throws IOException, InterruptedException {
        Path repository = MavenRepository.filled();
        JBang warm = fresh(repository);
        double _ = jbang(warm, command);
        Map<String, Way> ways = new LinkedHashMap<>();
        ways.put("`bin/zernel`, no AOT cache", JBangBenchmark::launcher);
        ways.put("`jbang`", one -> jbang(warm, one));
        ways.put("`jbang -o`", one -> jbang(warm, one, "-o"));
        ways.put("`jbang`, first start", one -> jbang(fresh(repository), one));
        Map<String, List<Double>> millis = new LinkedHashMap<>();
        for (int round = 0; round < Integer.getInteger("bench.rounds", 5); round++) {
            for (Map.Entry<String, Way> way : ways.entrySet()) {
                millis.computeIfAbsent(way.getKey(), _ -> new ArrayList<>()).add(way.getValue().millis(command));
            }
        }
        List<Double> baseline = millis.values().iterator().next();
        millis.forEach((way, all) -> {
            double[] sorted = all.stream().mapToDouble(one -> one).sorted().toArray();
            double[] ratios = new double[sorted.length];
            for (int round = 0; round < ratios.length; round++) {
                ratios[round] = all.get(round) / baseline.get(round);
            }
            Arrays.sort(ratios);
            System.out.printf("| %s | %s | %,.0f | %,.0f..%,.0f | %.2f | %.2f..%.2f |%n", name, way, sorted[sorted.length / 2],
                    sorted[0], sorted[sorted.length - 1], ratios[ratios.length / 2], ratios[0], ratios[ratios.length - 1]);
        });
    }

    private static JBang fresh(Path repository) throws IOException, InterruptedException {
        return new JBang(Files.createTempDirectory(FOLDER, "jbang"), repository).add(JBang.CATALOG.toString());
    }

    private static double jbang(JBang jbang, Command command, String... options) throws IOException, InterruptedException {
        long start = System.nanoTime();
        String[] words = Stream.concat(Stream.of(options), command.jbang().stream()).toArray(String[]::new);
        return millis(start, jbang.executing(words), command);
    }

    private static double launcher(Command command) throws IOException, InterruptedException {
        long start = System.nanoTime();
        ProcessBuilder process = new ProcessBuilder(
                Stream.concat(Stream.of(LAUNCHER), command.launcher().stream()).toList());
        process.environment().put("ZERNEL_JAVA_OPTS", "-XX:AOTMode=off");
        return millis(start, process, command);
    }

    private static double millis(long start, ProcessBuilder builder, Command command) throws IOException, InterruptedException {
        Process process = builder.redirectErrorStream(true).start();
        StringBuilder said = new StringBuilder();
        BufferedReader lines = process.inputReader(StandardCharsets.UTF_8);
        boolean ready = false;
        for (String line = lines.readLine(); line != null && !ready; line = lines.readLine()) {
            said.append(line).append('\n');
            ready = !command.ready().isEmpty() && line.contains(command.ready());
        }
        boolean ended = !ready && process.waitFor() == 0 && command.ready().isEmpty();
        double millis = (System.nanoTime() - start) / 1e6;
        if (!ready && !ended) {
            throw new IllegalStateException(builder.command() + ":\n" + said);
        }
        process.destroy();
        int _ = process.waitFor();
        return millis;
    }
}
