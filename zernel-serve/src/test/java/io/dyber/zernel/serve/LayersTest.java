package io.dyber.zernel.serve;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

/// The arrows between the packages of the server: commands, then what they command, then the sources of events.
final class LayersTest {
    private static final String ROOT = "io.dyber.zernel.serve";

    private static final JavaClasses CLASSES = new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .importPackages(ROOT);

    @Test
    void packagesDependDownwardsOnly() {
        layeredArchitecture()
                .consideringOnlyDependenciesInLayers()
                .layer("cli").definedBy(ROOT + ".cli")
                .layer("serve").definedBy(ROOT)
                .layer("watch").definedBy(ROOT + ".watch")
                .layer("mcp").definedBy(ROOT + ".mcp")
                .layer("demo").definedBy(ROOT + ".demo")
                .layer("alert").definedBy(ROOT + ".alert")
                .layer("metric").definedBy(ROOT + ".metric")
                .layer("http").definedBy(ROOT + ".http")
                .layer("otlp").definedBy(ROOT + ".otlp")
                .layer("live").definedBy(ROOT + ".live")
                .layer("analysis").definedBy(ROOT + ".analysis")
                .layer("fleet").definedBy(ROOT + ".fleet")
                .layer("source").definedBy(ROOT + ".source")
                .whereLayer("cli").mayNotBeAccessedByAnyLayer()
                .whereLayer("serve").mayOnlyBeAccessedByLayers("cli")
                .whereLayer("watch").mayOnlyBeAccessedByLayers("cli")
                .whereLayer("mcp").mayOnlyBeAccessedByLayers("cli")
                .whereLayer("demo").mayOnlyBeAccessedByLayers("cli")
                .whereLayer("alert").mayOnlyBeAccessedByLayers("cli", "serve", "live", "otlp")
                .whereLayer("http").mayOnlyBeAccessedByLayers("cli", "serve")
                .whereLayer("otlp").mayOnlyBeAccessedByLayers("cli", "serve")
                .whereLayer("live").mayOnlyBeAccessedByLayers("cli", "serve", "otlp")
                .whereLayer("metric").mayOnlyBeAccessedByLayers("cli", "serve", "live", "alert", "otlp")
                .whereLayer("fleet").mayOnlyBeAccessedByLayers("cli", "serve")
                .whereLayer("analysis").mayOnlyBeAccessedByLayers("cli", "serve", "live", "otlp", "fleet")
                .whereLayer("source").mayOnlyBeAccessedByLayers("cli", "serve", "live", "analysis")
                .check(CLASSES);
    }

    @Test
    void packagesHaveNoCycles() {
        slices().matching(ROOT + ".(*)..").should().beFreeOfCycles().check(CLASSES);
    }

    @Test
    void theRecorderIsNotKnown() {
        noClasses().should().dependOnClassesThat().resideInAPackage("io.dyber.zernel.record..").check(CLASSES);
    }

    @Test
    void onlySourcesReadRecordings() {
        noClasses()
                .that().resideOutsideOfPackages(ROOT + ".source", ROOT + ".analysis", ROOT + ".fleet", ROOT + ".mcp", ROOT + ".cli")
                .should().dependOnClassesThat()
                .resideInAnyPackage("io.dyber.zernel.analyze..", "org.apache.arrow..", "org.duckdb..", "java.sql..")
                .check(CLASSES);
    }

    @Test
    void theWebSocketLibraryStaysBehindItsInterface() {
        noClasses()
                .that().haveNameNotMatching(".*\\.WebSocket(Feed|Session)(\\$.*)?")
                .should().dependOnClassesThat().resideInAPackage("org.eclipse.jetty.websocket..")
                .check(CLASSES);
    }

    /// Whose classes are so loaded only where somebody pushes.
    @Test
    void openTelemetrysLibraryStaysInItsPackage() {
        noClasses()
                .that().resideOutsideOfPackage(ROOT + ".otlp")
                .should().dependOnClassesThat().resideInAPackage("io.opentelemetry..")
                .check(CLASSES);
    }

    @Test
    void onlyCommandsPrintResultsAndExit() {
        noClasses()
                .that().resideOutsideOfPackage(ROOT + ".cli")
                .should().accessField(System.class, "out")
                .orShould().callMethod(System.class, "exit", int.class)
                .check(CLASSES);
    }
}
