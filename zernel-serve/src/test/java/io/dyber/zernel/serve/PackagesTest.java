package io.dyber.zernel.serve;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/// How large the packages of all modules are, and how many floors they have: classes that stand on others of their own
/// package, in the longest chain. Classes that use each other are on one floor.
final class PackagesTest {
    private static final int MOST_FILES = 25;
    private static final int MOST_FLOORS = 8;

    @Test
    void noPackageIsLargerThanWhatOneCanKeepInMind() {
        Map<String, Map<String, Set<String>>> packages = usesByPackage();
        Map<String, String> tooLarge = new TreeMap<>();
        packages.forEach((name, uses) -> {
            int floors = floors(uses);
            System.out.printf("%-50s %3d files %3d floors%n", name, uses.size(), floors);
            if (uses.size() > MOST_FILES || floors > MOST_FLOORS) {
                tooLarge.put(name, uses.size() + " files, " + floors + " floors");
            }
        });
        System.out.printf("%d packages, %d files%n", packages.size(),
                packages.values().stream().mapToInt(Map::size).sum());
        assertThat(packages).hasSizeGreaterThan(30);
        assertThat(tooLarge).isEmpty();
    }

    /// The files of each package, and the files of the same package that each uses.
    private static Map<String, Map<String, Set<String>>> usesByPackage() {
        Map<String, Map<String, Set<String>>> packages = new TreeMap<>();
        for (JavaClass one : new ClassFileImporter()
                .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
                .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_PACKAGE_INFOS)
                .withImportOption(location -> !location.contains("-tests.jar"))
                .importPackages("io.dyber.zernel")) {
            String file = file(one);
            Set<String> uses = packages.computeIfAbsent(one.getPackageName(), _ -> new TreeMap<>())
                    .computeIfAbsent(file, _ -> new LinkedHashSet<>());
            one.getDirectDependenciesFromSelf().stream()
                    .map(dependency -> dependency.getTargetClass().getBaseComponentType())
                    .filter(used -> used.getPackageName().equals(one.getPackageName()))
                    .map(PackagesTest::file)
                    .filter(used -> !used.equals(file))
                    .forEach(uses::add);
        }
        return packages;
    }

    private static String file(JavaClass one) {
        String name = one.getName().substring(one.getPackageName().length() + 1);
        int nested = name.indexOf('$');
        return nested < 0 ? name : name.substring(0, nested);
    }

    private static int floors(Map<String, Set<String>> uses) {
        Map<String, Set<String>> reached = new HashMap<>();
        uses.keySet().forEach(file -> reached.put(file, reachedFrom(file, uses)));
        Map<String, Integer> heights = new HashMap<>();
        return uses.keySet().stream().mapToInt(file -> height(file, reached, heights)).max().orElse(0);
    }

    private static Set<String> reachedFrom(String file, Map<String, Set<String>> uses) {
        Set<String> reached = new HashSet<>();
        Collection<String> next = uses.getOrDefault(file, Set.of());
        while (!next.isEmpty()) {
            Set<String> further = new HashSet<>();
            next.stream().filter(reached::add).forEach(used -> further.addAll(uses.getOrDefault(used, Set.of())));
            next = further;
        }
        return reached;
    }

    /// One more than the highest of those that are used and do not use this one.
    private static int height(String file, Map<String, Set<String>> reached, Map<String, Integer> heights) {
        Integer known = heights.get(file);
        if (known != null) {
            return known;
        }
        int below = 0;
        for (String used : reached.getOrDefault(file, Set.of())) {
            if (!reached.getOrDefault(used, Set.of()).contains(file)) {
                below = Math.max(below, height(used, reached, heights));
            }
        }
        heights.put(file, below + 1);
        return below + 1;
    }
}
