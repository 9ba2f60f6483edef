package io.dyber.zernel.analyze;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import io.dyber.zernel.analyze.report.ReportFormat;
import org.junit.jupiter.api.Test;

/// The arrows of the analyzer: commands, then reports, then recordings and SQL. The recorder is not on the map.
final class LayersTest {
    private static final String ROOT = "io.dyber.zernel.analyze";

    private static final JavaClasses CLASSES =
            new ClassFileImporter()
                    .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
                    .importPackages(ROOT);

    @Test
    void packagesDependDownwardsOnly() {
        layeredArchitecture()
                .consideringOnlyDependenciesInLayers()
                .withOptionalLayers(true)
                .layer("cli").definedBy(ROOT + ".cli..")
                .layer("report").definedBy(ROOT + ".report..")
                .layer("export").definedBy(ROOT + ".export")
                .layer("whatif").definedBy(ROOT + ".whatif")
                .layer("analyze").definedBy(ROOT)
                .layer("trace").definedBy(ROOT + ".trace")
                .layer("recording").definedBy(ROOT + ".recording")
                .layer("duckdb").definedBy(ROOT + ".duckdb")
                .layer("sql").definedBy(ROOT + ".sql")
                .whereLayer("cli").mayNotBeAccessedByAnyLayer()
                .whereLayer("report").mayOnlyBeAccessedByLayers("cli")
                .whereLayer("export").mayOnlyBeAccessedByLayers("cli")
                .whereLayer("whatif").mayOnlyBeAccessedByLayers("cli")
                .whereLayer("whatif").mayOnlyAccessLayers("duckdb")
                .whereLayer("analyze").mayOnlyAccessLayers("trace", "recording", "duckdb", "sql")
                .whereLayer("trace").mayOnlyAccessLayers("recording", "duckdb", "sql")
                .whereLayer("recording").mayOnlyAccessLayers("duckdb", "sql")
                .whereLayer("duckdb").mayOnlyAccessLayers("sql")
                .whereLayer("sql").mayNotAccessAnyLayer()
                .check(CLASSES);
    }

    @Test
    void packagesHaveNoCycles() {
        slices().matching(ROOT + ".(*)..").should().beFreeOfCycles().check(CLASSES);
    }

    @Test
    void theRecorderIsKnownByItsFilesOnly() {
        noClasses().should().dependOnClassesThat().resideInAPackage("io.dyber.zernel.record..").check(CLASSES);
    }

    @Test
    void onlyRecordingsAndDatabaseTalkToDuckDb() {
        noClasses()
                .that().resideOutsideOfPackages(ROOT, ROOT + ".duckdb", ROOT + ".recording", ROOT + ".trace")
                .should().dependOnClassesThat().resideInAnyPackage("java.sql..", "org.duckdb..", "org.apache.arrow..")
                .check(CLASSES);
    }

    @Test
    void formatsOfTheReportQueryNothing() {
        noClasses()
                .that().implement(ReportFormat.class)
                .should().dependOnClassesThat().belongToAnyOf(Database.class)
                .check(CLASSES);
    }

    @Test
    void onlyCommandsPrintResultsAndExit() {
        noClasses()
                .that().resideOutsideOfPackage(ROOT + ".cli..")
                .should().accessField(System.class, "out")
                .orShould().callMethod(System.class, "exit", int.class)
                .check(CLASSES);
    }
}
