package io.github.rmsnorm4j.benchmarks.peers;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.measure.ChildJvm;
import java.util.List;
import java.util.stream.Stream;

/** How a program that uses this library is started, which decides what kernels it gets. */
public enum Start {
  /** As most programs are. */
  NO_FLAGS("without flags"),
  /** The line {@code Enable-Native-Access} in the manifest of a jar does the same. */
  NATIVE_ACCESS("with native access", "--enable-native-access=ALL-UNNAMED"),
  /** Vectors of the machine's own width, and no machine code. */
  VECTOR_API("with the Vector API", "--add-modules=jdk.incubator.vector");

  private final String title;
  private final List<String> own;

  Start(String title, String... own) {
    this.title = title;
    this.own = List.of(own);
  }

  /** {@return what follows this library's name where it runs so} */
  public String title() {
    return title;
  }

  /** {@return what this library is called in a JVM that is started so} */
  public String system() {
    return Systems.OWN + ", " + title;
  }

  /** {@return the flags of this JVM, with this start's instead of those of another start} */
  public List<String> flags() {
    Stream<String> others =
        ChildJvm.flags().stream()
            .filter(f -> !f.startsWith("--enable-native-access") && !f.startsWith("--add-modules"));
    return Stream.concat(others, own.stream()).toList();
  }

  /** {@return whether this JVM runs the kernels that this start is for} */
  public boolean hasItsKernels() {
    return switch (this) {
      case NO_FLAGS -> !Backend.hasMachineCode();
      case NATIVE_ACCESS -> Backend.hasMachineCode();
      case VECTOR_API -> !Backend.hasMachineCode() && Backend.best().vectorBits() > 0;
    };
  }
}
