package io.github.rmsnorm4j.peers;

import io.github.rmsnorm4j.benchmarks.peers.Run;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import org.bytedeco.javacpp.Loader;

/** Which versions of the peers there are. */
final class Versions {
  private Versions() {}

  /** Of those that take part in a run. */
  static List<String> of(Run run) {
    return switch (run) {
      case PEERS ->
          List.of("oneDNN " + byJar("dnnl"), "libtorch " + byJar("pytorch"), onnxRuntime());
      case LOOPS -> List.of();
      case VARIANTS -> List.of(onnxRuntime());
    };
  }

  /** The number of the jar: that of the library, and behind the hyphen that of its Java side. */
  private static String byJar(String artifact) {
    try {
      return Loader.getVersion("org.bytedeco", artifact);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String onnxRuntime() {
    try {
      return "ONNX Runtime " + OnnxRuntime.environment().getVersion();
    } catch (LinkageError e) {
      return "ONNX Runtime (does not load here)";
    }
  }
}
