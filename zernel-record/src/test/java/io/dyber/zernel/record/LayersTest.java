package io.dyber.zernel.record;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import org.junit.jupiter.api.Test;

/// The arrows between the packages of the recorder: commands, then the facade, then what touches the system, then the
/// pure core. Nothing points back.
final class LayersTest {
    private static final String ROOT = "io.dyber.zernel.record";

    private static final JavaClasses CLASSES =
            new ClassFileImporter()
                    .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
                    .importPackages(ROOT);

    @Test
    void packagesDependDownwardsOnly() {
        layeredArchitecture()
                .consideringOnlyDependenciesInLayers()
                .withOptionalLayers(true)
                .layer("cli").definedBy(ROOT + ".cli")
                .layer("facade").definedBy(ROOT)
                .layer("simulate").definedBy(ROOT + ".simulate..")
                .layer("session").definedBy(ROOT + ".session")
                .layer("detail").definedBy(ROOT + ".detail")
                .layer("attach").definedBy(ROOT + ".attach")
                .layer("activity").definedBy(ROOT + ".activity")
                .layer("rows").definedBy(ROOT + ".rows")
                .layer("option").definedBy(ROOT + ".option")
                .layer("recording").definedBy(ROOT + ".recording")
                .layer("parquet").definedBy(ROOT + ".parquet")
                .layer("journal").definedBy(ROOT + ".journal")
                .layer("builtin").definedBy(ROOT + ".builtin")
                .layer("probe").definedBy(ROOT + ".probe")
                .layer("stack").definedBy(ROOT + ".stack")
                .layer("python").definedBy(ROOT + ".python")
                .layer("process").definedBy(ROOT + ".process")
                .layer("bpf").definedBy(ROOT + ".bpf")
                .layer("nvml").definedBy(ROOT + ".nvml")
                .layer("host").definedBy(ROOT + ".host")
                .layer("job").definedBy(ROOT + ".job")
                .layer("mark").definedBy(ROOT + ".mark")
                .layer("event").definedBy(ROOT + ".event")
                .layer("schema").definedBy(ROOT + ".schema")
                .layer("elf").definedBy(ROOT + ".elf..")
                .whereLayer("cli").mayNotBeAccessedByAnyLayer()
                .whereLayer("facade").mayOnlyBeAccessedByLayers("cli")
                .whereLayer("simulate").mayOnlyBeAccessedByLayers("cli")
                .whereLayer("session").mayOnlyBeAccessedByLayers("cli", "facade")
                .whereLayer("detail").mayOnlyBeAccessedByLayers("session")
                .whereLayer("attach").mayOnlyBeAccessedByLayers("cli", "facade", "session", "detail")
                .whereLayer("activity").mayOnlyBeAccessedByLayers("session", "detail")
                .whereLayer("rows").mayOnlyBeAccessedByLayers("facade", "session", "detail", "attach", "activity")
                .whereLayer("option").mayOnlyBeAccessedByLayers("cli", "facade", "session", "detail", "attach", "rows", "activity")
                .whereLayer("recording").mayOnlyBeAccessedByLayers("cli", "facade", "session", "rows", "option", "simulate", "activity")
                .whereLayer("parquet").mayOnlyBeAccessedByLayers("recording")
                .whereLayer("journal").mayOnlyBeAccessedByLayers("recording")
                .whereLayer("builtin").mayOnlyBeAccessedByLayers("cli", "facade", "session", "attach", "option")
                .whereLayer("probe").mayOnlyAccessLayers("python", "process", "event", "schema", "elf")
                .whereLayer("stack").mayOnlyBeAccessedByLayers("session")
                .whereLayer("stack").mayOnlyAccessLayers("python", "process", "event", "schema", "elf")
                .whereLayer("python").mayOnlyAccessLayers("process", "elf")
                .whereLayer("process").mayOnlyAccessLayers("event", "elf")
                .whereLayer("nvml").mayOnlyBeAccessedByLayers("facade", "rows")
                .whereLayer("host").mayOnlyBeAccessedByLayers("facade", "rows")
                .whereLayer("job").mayOnlyBeAccessedByLayers("session", "detail", "attach")
                .whereLayer("mark").mayOnlyBeAccessedByLayers("cli", "session", "rows")
                .whereLayer("event").mayOnlyAccessLayers("schema")
                .whereLayer("schema").mayNotAccessAnyLayer()
                .whereLayer("elf").mayNotAccessAnyLayer()
                .check(CLASSES);
    }

    @Test
    void packagesHaveNoCycles() {
        slices().matching(ROOT + ".(*)..").should().beFreeOfCycles().check(CLASSES);
    }

    /// A made-up job needs no kernel, no rights and no GPU.
    @Test
    void theSimulatorHasNoProbesBehindIt() {
        noClasses()
                .that().resideInAPackage(ROOT + ".simulate..")
                .should().dependOnClassesThat().resideInAnyPackage(
                        ROOT, ROOT + ".attach..", ROOT + ".bpf..", ROOT + ".builtin..", ROOT + ".elf..", ROOT + ".host..",
                        ROOT + ".job..", ROOT + ".mark..", ROOT + ".nvml..", ROOT + ".option..", ROOT + ".probe..",
                        ROOT + ".process..", ROOT + ".python..", ROOT + ".rows..", ROOT + ".session..")
                .check(CLASSES);
    }

    @Test
    void onlyTheBindingsCallNativeFunctions() {
        noClasses()
                .that().resideOutsideOfPackages(ROOT + ".bpf", ROOT + ".nvml")
                .should().dependOnClassesThat().belongToAnyOf(Linker.class, SymbolLookup.class)
                .check(CLASSES);
    }

    @Test
    void onlyBindingsEventsAndFilesTouchNativeMemory() {
        noClasses()
                .that().resideOutsideOfPackages(ROOT + ".bpf", ROOT + ".nvml", ROOT + ".activity", ROOT + ".event", ROOT + ".schema",
                        ROOT + ".recording", ROOT + ".parquet", ROOT + ".journal")
                .should().dependOnClassesThat().belongToAnyOf(MemorySegment.class, Arena.class)
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
