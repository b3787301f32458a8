package io.github.rmsnorm4j.pages;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.MethodModel;
import java.lang.classfile.constantpool.ClassEntry;
import java.lang.classfile.constantpool.MemberRefEntry;
import java.lang.classfile.constantpool.PoolEntry;
import java.lang.reflect.AccessFlag;
import java.net.URI;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

/**
 * The class files of the library, of its files and of its part for Spark are for JDK 21, and refer
 * to nothing newer, but for classes that are loaded only after a look at the JDK.
 */
class PublishedClassesTest {
  private static final int JDK = 21;
  private static final String OURS = "io/github/rmsnorm4j/";

  /** JDK 21 among the releases that a folder of ct.sym is for: 8, 9, A for 10, and so on. */
  private static final char LETTER = (char) ('A' + JDK - 10);

  /** What only guarded classes use, by its first words, and these classes, likewise. */
  private static final Map<String, String> GUARDED =
      Map.of(
          "java/lang/classfile/", "internal/lowering/",
          "java/lang/foreign/Linker$Option.critical(Z)", "internal/machine/Downcall");

  private static final List<String> MODULES =
      List.of("Norm", "formats/TensorFile", "spark/RowNormalizer");

  /**
   * The classes of JDK 21 with their public and protected members, and those that are published.
   */
  private static final Map<String, ClassModel> SYMBOLS = new HashMap<>();

  @BeforeAll
  static void readSymbols() throws Exception {
    Path file = Path.of(System.getProperty("java.home"), "lib", "ct.sym");
    try (ZipFile zip = new ZipFile(file.toFile())) {
      for (ZipEntry entry : Collections.list(zip.entries())) {
        String[] parts = entry.getName().split("/", 3); // Releases, module, class.
        if (entry.getName().endsWith(".sig") && parts[0].indexOf(LETTER) >= 0) {
          byte[] bytes = zip.getInputStream(entry).readAllBytes();
          SYMBOLS.put(parts[2].replace(".sig", ""), ClassFile.of().parse(bytes));
        }
      }
    }
    assertThat(SYMBOLS).hasSizeGreaterThan(4000);
    for (String module : MODULES) {
      classes(module).forEach(type -> SYMBOLS.put(name(type), type));
    }
  }

  @ParameterizedTest
  @FieldSource("MODULES")
  void areForJdk21(String one) throws Exception {
    Map<String, Set<String>> newer = new TreeMap<>();
    List<ClassModel> classes = classes(one);
    for (ClassModel type : classes) {
      assertThat(type.majorVersion()).as(name(type)).isEqualTo(ClassFile.JAVA_21_VERSION);
      Set<String> lacking = lacking(type);
      lacking.removeIf(what -> isGuarded(name(type), what));
      if (!lacking.isEmpty()) {
        newer.put(name(type), lacking);
      }
    }
    assertThat(classes).hasSizeGreaterThan(10);
    assertThat(newer).isEmpty();
  }

  /** A guard without anything to guard hides what comes later. */
  @Test
  void everyGuardIsNeeded() throws Exception {
    Set<String> needed = new TreeSet<>();
    for (ClassModel type : classes("Norm")) {
      for (String what : lacking(type)) {
        GUARDED.keySet().stream().filter(what::startsWith).forEach(needed::add);
      }
    }
    assertThat(needed).isEqualTo(new TreeSet<>(GUARDED.keySet()));
  }

  private static boolean isGuarded(String type, String what) {
    return GUARDED.entrySet().stream()
        .anyMatch(
            guard ->
                what.startsWith(guard.getKey())
                    && type.matches(OURS + guard.getValue() + "(?!machine/).*"));
  }

  private static String name(ClassModel type) {
    return type.thisClass().asInternalName();
  }

  /** All class files of the module that has one of them, in a folder or in a jar. */
  private static List<ClassModel> classes(String one) throws Exception {
    String name = "/" + OURS + one + ".class";
    String place = PublishedClassesTest.class.getResource(name).toString().replace(name, "");
    if (!place.startsWith("jar:")) {
      return classes(Path.of(URI.create(place)));
    }
    String file = place.substring("jar:".length(), place.indexOf('!'));
    try (FileSystem jar = FileSystems.newFileSystem(Path.of(URI.create(file)))) {
      return classes(jar.getPath("/"));
    }
  }

  private static List<ClassModel> classes(Path root) throws IOException {
    List<ClassModel> classes = new ArrayList<>();
    try (Stream<Path> files = Files.walk(root)) {
      for (Path file : (Iterable<Path>) files::iterator) {
        if (file.toString().endsWith(".class")) {
          classes.add(ClassFile.of().parse(Files.readAllBytes(file)));
        }
      }
    }
    return classes;
  }

  /** What a class file refers to of the JDK, and JDK 21 lacks. */
  private static Set<String> lacking(ClassModel type) {
    Set<String> lacking = new TreeSet<>();
    for (PoolEntry entry : type.constantPool()) {
      if (entry instanceof ClassEntry named && isKnown(named) && !isThere(named)) {
        lacking.add(named.asInternalName());
      } else if (entry instanceof MemberRefEntry member && isKnown(member.owner())) {
        String what = member.name().stringValue() + member.type().stringValue();
        if (!has(member.owner().asInternalName(), member, new HashSet<>())) {
          lacking.add(member.owner().asInternalName() + "." + what);
        }
      }
    }
    return lacking;
  }

  /** Other libraries are not looked at. */
  private static boolean isKnown(ClassEntry named) {
    return isKnown(named.asInternalName());
  }

  private static boolean isKnown(String name) {
    return name.matches("(java|javax|jdk)/.*") || name.startsWith(OURS);
  }

  private static boolean isThere(ClassEntry named) {
    return SYMBOLS.containsKey(named.asInternalName());
  }

  /** Whether a class has a member, or one of those that it inherits from. */
  private static boolean has(String owner, MemberRefEntry member, Set<String> seen) {
    ClassModel type = SYMBOLS.get(owner);
    if (type == null || !seen.add(owner)) {
      return type == null && !isKnown(owner);
    }
    List<String> above = new ArrayList<>();
    type.superclass().ifPresent(parent -> above.add(parent.asInternalName()));
    type.interfaces().forEach(parent -> above.add(parent.asInternalName()));
    if (type.flags().has(AccessFlag.INTERFACE)) {
      above.add("java/lang/Object");
    }
    return declares(type, member) || above.stream().anyMatch(parent -> has(parent, member, seen));
  }

  private static boolean declares(ClassModel type, MemberRefEntry member) {
    String name = member.name().stringValue();
    String of = member.type().stringValue();
    return type.methods().stream()
            .filter(method -> method.methodName().equalsString(name))
            .anyMatch(m -> m.methodType().equalsString(of) || isOfAnyTypes(m))
        || type.fields().stream()
            .anyMatch(f -> f.fieldName().equalsString(name) && f.fieldType().equalsString(of));
  }

  /** Such are those of method handles. */
  private static boolean isOfAnyTypes(MethodModel method) {
    return method.methodType().stringValue().startsWith("([Ljava/lang/Object;)");
  }
}
