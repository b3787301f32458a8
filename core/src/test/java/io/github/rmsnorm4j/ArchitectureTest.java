package io.github.rmsnorm4j;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaMember;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The arrows between the library's packages, read from its class files. */
class ArchitectureTest {
  private static final String API = "io.github.rmsnorm4j";
  private static final String INTERNAL = API + ".internal.";
  private static final JavaClasses CLASSES =
      new ClassFileImporter().importPath(Path.of("target", "classes"));

  /** Annotations that the JVM does not find are passed over. */
  @Test
  void dependsOnTheJdkAlone() {
    classes()
        .should()
        .onlyDependOnClassesThat()
        .resideInAnyPackage(
            "java..", "jdk.incubator.vector..", "org.jspecify.annotations..", API + "..")
        .check(CLASSES);
  }

  /** Without the Vector API the library runs as long as no code loads these classes. */
  @Test
  void onlyVectorKernelsAndTheirChoiceTouchTheVectorApi() {
    noClasses()
        .that(isNot("Vector kernels and Backend", ArchitectureTest::mayUseVectors))
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("jdk.incubator.vector..")
        .check(CLASSES);
  }

  /** A thread that gets no memory for a kernel must not leave others waiting for the lock. */
  @Test
  void nothingIsMadeInTheLockOfAMap() {
    noClasses()
        .should()
        .callMethod(ConcurrentHashMap.class, "computeIfAbsent", Object.class, Function.class)
        .check(CLASSES);
  }

  @Test
  void publicApiShowsNoInternalType() {
    List<String> exposed = new ArrayList<>();
    int members = 0;
    for (JavaClass type : CLASSES) {
      if (type.getPackageName().startsWith(INTERNAL) || !isVisible(type)) {
        continue;
      }
      Set<JavaClass> shown = new HashSet<>(type.getAllRawSuperclasses());
      shown.addAll(type.getAllRawInterfaces());
      for (JavaMember member : type.getMembers()) {
        if (isVisible(member.getModifiers())) {
          shown.addAll(member.getAllInvolvedRawTypes());
          members++;
        }
      }
      shown.stream()
          .filter(other -> other.getPackageName().startsWith(INTERNAL))
          .forEach(other -> exposed.add(type.getName() + " shows " + other.getName()));
    }
    assertThat(members).isGreaterThan(50);
    assertThat(exposed).isEmpty();
  }

  /**
   * What each package may use of ours, besides itself: of the public types only the enums named.
   */
  @ParameterizedTest
  @CsvSource({
    "internal.codec, ElementType",
    "internal.formula, NormSpec ElementType CastOrder EpsilonPlacement ResidualRounding Gate",
    "internal.kernel, ElementType internal.formula internal.codec",
    "internal.machine,",
    "internal.backend, NormSpec ElementType EpsilonPlacement internal.formula internal.codec"
        + " internal.kernel internal.machine",
    "internal.lowering, ElementType internal.formula internal.codec internal.kernel"
        + " internal.backend",
    "internal.lowering.machine, ElementType internal.formula internal.kernel internal.machine"
        + " internal.backend",
    "internal.device, ElementType Keep Rows QuantizedRows internal.formula internal.backend"
        + " internal.quantized",
    "internal.parallel,",
    "internal.quantized, ElementType CodeFactor CodeRounding ScaleFloor internal.formula"
        + " internal.codec internal.kernel internal.backend internal.machine",
    "internal.first, Backend NormSpec ElementType CastOrder EpsilonPlacement Gate Rows RowGroups"
        + " RowPart CodeFactor CodeRounding internal.backend internal.codec internal.formula"
        + " internal.norm internal.parallel internal.machine internal.lowering.machine"
        + " internal.quantized",
    "internal.norm, NormSpec ElementType internal.formula internal.backend internal.lowering"
        + " internal.lowering.machine internal.machine internal.parallel internal.quantized",
    "reference, ElementType CastOrder EpsilonPlacement ResidualRounding Gate"
  })
  void arrowsPointDownwards(String from, String allowed) {
    List<String> may = allowed == null ? List.of() : Arrays.asList(allowed.split(" "));
    noClasses()
        .that()
        .resideInAPackage(API + "." + from)
        .should()
        .dependOnClassesThat(
            isNot(
                "of " + from + " or " + may,
                other -> {
                  String name = other.getName().replaceFirst("\\$.*", "");
                  String home = other.getPackageName();
                  return !home.startsWith(API)
                      || home.equals(API + "." + from)
                      || may.stream()
                          .map(m -> API + "." + m)
                          .anyMatch(List.of(name, home)::contains);
                }))
        .check(CLASSES);
  }

  /** The definitions are the oracle: what is measured against them must not be made of them. */
  @Test
  void nothingUsesTheReference() {
    noClasses()
        .that()
        .resideOutsideOfPackage(API + ".reference")
        .should()
        .dependOnClassesThat()
        .resideInAPackage(API + ".reference")
        .check(CLASSES);
  }

  @Test
  void internalPackagesHaveNoCycles() {
    slices().matching(INTERNAL + "(*)..").should().beFreeOfCycles().check(CLASSES);
  }

  private static boolean mayUseVectors(JavaClass type) {
    String name = type.getName().substring(type.getPackageName().length() + 1);
    return name.startsWith("Vector") || name.matches("Backend(\\$.*)?");
  }

  private static boolean isVisible(JavaClass type) {
    return isVisible(type.getModifiers())
        && type.getEnclosingClass().map(ArchitectureTest::isVisible).orElse(true);
  }

  private static boolean isVisible(Set<JavaModifier> modifiers) {
    return modifiers.contains(JavaModifier.PUBLIC) || modifiers.contains(JavaModifier.PROTECTED);
  }

  private static DescribedPredicate<JavaClass> isNot(
      String what, java.util.function.Predicate<JavaClass> predicate) {
    return DescribedPredicate.describe("not " + what, predicate.negate());
  }
}
