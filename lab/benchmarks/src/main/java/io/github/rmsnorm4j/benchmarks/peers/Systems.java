package io.github.rmsnorm4j.benchmarks.peers;

/** What the systems are called, in results, tables and targets. */
public final class Systems {
  /** A copy of as many bytes as the norm must move, in the same process. */
  public static final String COPY = "memory copy";

  /** This library, out of place. */
  public static final String OWN = "rmsnorm4j";

  /** This library, writing where it reads. */
  public static final String IN_PLACE = "rmsnorm4j, in place";

  /** This library's RMSNorm in a contest of LayerNorms. */
  public static final String OWN_RMS_NORM = "rmsnorm4j RMSNorm";

  /** oneDNN's layer normalization. */
  public static final String ONEDNN = "oneDNN";

  /** libtorch's operator. */
  public static final String LIBTORCH_RMS_NORM = "libtorch rms_norm";

  /** libtorch's operator. */
  public static final String LIBTORCH_LAYER_NORM = "libtorch layer_norm";

  /** libtorch's operator, told where to write. */
  public static final String LIBTORCH_LAYER_NORM_OUT = "libtorch native_layer_norm, out=";

  /** The formula of LLaMA's code, an operation of libtorch at a time. */
  public static final String FORMULA = "published formula on libtorch";

  /** The formula of LLaMA's code, each operation of libtorch told where to write. */
  public static final String FORMULA_OUT = "published formula on libtorch, out=";

  /** Followed by the operator's name. */
  public static final String ONNX_RUNTIME = "ONNX Runtime ";

  /** Loops as inference engines on the JVM have them. */
  public static final String JAVA_LOOP = "plain Java loop";

  private Systems() {}

  /** Whether the JVM's compiler makes its code, so that its speed depends on what ran before. */
  static boolean isJava(String system) {
    return system.startsWith(OWN) || system.equals(JAVA_LOOP);
  }
}
