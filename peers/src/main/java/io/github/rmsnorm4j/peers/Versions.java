package io.github.rmsnorm4j.peers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import org.bytedeco.javacpp.Loader;

/** Which versions of the peers there are. */
final class Versions {
  private Versions() {}

  static List<String> all() {
    return List.of(
        "oneDNN " + byJar("dnnl"), "libtorch " + byJar("pytorch"), "ONNX Runtime " + onnxRuntime());
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
      return OnnxRuntime.environment().getVersion();
    } catch (LinkageError e) {
      return "(does not load here)";
    }
  }
}
