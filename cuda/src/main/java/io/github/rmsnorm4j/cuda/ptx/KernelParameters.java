package io.github.rmsnorm4j.cuda.ptx;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * The parameters of a kernel, and where each is in the block of bytes that a launch takes. They are
 * one after the other, each at a multiple of its size.
 */
public final class KernelParameters {
  /** The types of parameters. */
  public enum Type {
    /** An unsigned integer of 32 bits. */
    U32(4),
    /** An unsigned integer of 64 bits, or an address. */
    U64(8),
    /** A float64 number. */
    F64(8);

    private final int bytes;

    Type(int bytes) {
      this.bytes = bytes;
    }

    /** {@return its size} */
    public int bytes() {
      return bytes;
    }

    /** {@return its name in PTX, such as u32} */
    public String ptx() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /**
   * One parameter.
   *
   * @param name in the text of the kernel
   * @param type of its value
   * @param offset where it is in the block, in bytes
   */
  public record Parameter(String name, Type type, int offset) {}

  private final Map<String, Parameter> byName = new LinkedHashMap<>();
  private int bytes;

  KernelParameters() {}

  KernelParameters add(Type type, String name) {
    int offset = (bytes + type.bytes - 1) / type.bytes * type.bytes;
    if (byName.putIfAbsent(name, new Parameter(name, type, offset)) != null) {
      throw new IllegalArgumentException("two parameters are named " + name);
    }
    bytes = offset + type.bytes;
    return this;
  }

  /** {@return the bytes of the block} */
  public int bytes() {
    return bytes;
  }

  /** {@return all of them, in order} */
  public List<Parameter> all() {
    return List.copyOf(byName.values());
  }

  /**
   * {@return the parameter with a name, or null}
   *
   * @param name as in the text of the kernel
   */
  public Parameter get(String name) {
    return byName.get(name);
  }

  /** Their declarations, one per line. */
  String text() {
    List<String> lines = new ArrayList<>();
    for (Parameter p : byName.values()) {
      lines.add("  .param .%s %s".formatted(p.type.ptx(), p.name));
    }
    return String.join(",\n", lines) + "\n";
  }
}
