package io.github.rmsnorm4j;

import java.util.Locale;

/**
 * How one element of a row is stored.
 *
 * <p>Arithmetic on a row is float32, or float64 if the input is {@link #FLOAT64}. The 16-bit types
 * are for storage only: they convert to float32 exactly, and back by one rounding to nearest, ties
 * to even.
 */
public enum ElementType {
  /** IEEE 754 binary64, Java's {@code double}. NumPy {@code <f8}, safetensors {@code F64}. */
  FLOAT64(8, "f64", "float64", "double"),
  /** IEEE 754 binary32, Java's {@code float}. NumPy {@code <f4}, safetensors {@code F32}. */
  FLOAT32(4, "f32", "float32", "float"),
  /** IEEE 754 binary16, held in a {@code short}. NumPy {@code <f2}, safetensors {@code F16}. */
  FLOAT16(2, "f16", "float16", "half"),
  /** The upper half of a binary32, held in a {@code short}. Safetensors {@code BF16}. */
  BFLOAT16(2, "bf16", "bfloat16", "bfloat16");

  private final int bytes;
  private final String shortName;
  private final String longName;
  private final String torchName;

  ElementType(int bytes, String shortName, String longName, String torchName) {
    this.bytes = bytes;
    this.shortName = shortName;
    this.longName = longName;
    this.torchName = torchName;
  }

  /**
   * The size of an element.
   *
   * @return bytes per element: 8, 4 or 2
   */
  public int bytes() {
    return bytes;
  }

  /**
   * The short name: {@code f64}, {@code f32}, {@code f16} or {@code bf16}.
   *
   * @return the name that the command line and safetensors use, in lower case
   */
  public String shortName() {
    return shortName;
  }

  /**
   * The type with a name: a short name, or a name of NumPy or PyTorch ({@code float32}, {@code
   * half}, {@code torch.bfloat16}, ...). Upper and lower case are the same.
   *
   * @param name a name of the type
   * @return the type with that name
   * @throws IllegalArgumentException if no type has that name
   */
  public static ElementType ofName(String name) {
    String wanted = name.toLowerCase(Locale.ROOT);
    if (wanted.startsWith("torch.")) {
      wanted = wanted.substring("torch.".length());
    }
    for (ElementType type : values()) {
      if (wanted.equals(type.shortName)
          || wanted.equals(type.longName)
          || wanted.equals(type.torchName)) {
        return type;
      }
    }
    throw new IllegalArgumentException(
        "type is '" + name + "', it may be f16, bf16, f32 or f64 (float16, bfloat16, ...)");
  }

  /** The long name, which NumPy and PyTorch use: {@code float32}, {@code bfloat16}, ... */
  @Override
  public String toString() {
    return longName;
  }
}
