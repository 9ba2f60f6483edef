package io.dyber.zernel.format;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

/// What all programs share knows none of them.
final class LayersTest {
    private static final String ROOT = "io.dyber.zernel.format";

    private static final JavaClasses CLASSES = new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .importPackages(ROOT);

    @Test
    void noProgramIsKnown() {
        noClasses()
                .should().dependOnClassesThat()
                .resideInAnyPackage("io.dyber.zernel.record..", "io.dyber.zernel.analyze..", "io.dyber.zernel.serve..")
                .check(CLASSES);
    }

    @Test
    void noDatabaseNoVectorsAndNoCommandLineAreNeeded() {
        noClasses()
                .should().dependOnClassesThat()
                .resideInAnyPackage("java.sql..", "org.duckdb..", "org.apache.arrow.vector..", "org.apache.parquet..", "picocli..")
                .check(CLASSES);
    }

    @Test
    void nothingIsPrintedAndNothingExits() {
        noClasses()
                .should().accessField(System.class, "out")
                .orShould().callMethod(System.class, "exit", int.class)
                .check(CLASSES);
    }
}
