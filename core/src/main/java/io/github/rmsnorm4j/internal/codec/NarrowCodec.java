package io.github.rmsnorm4j.internal.codec;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.kernel.Kernels;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/** A 16-bit type to float32, exactly, and back, by one rounding to nearest, ties to even. */
public final class NarrowCodec {
  /** What a codec is specialised on; 0 bits are plain Java. */
  record Spec(ElementType type, int vectorBits) {}

  private final MethodHandle decode;
  private final MethodHandle encode;

  private NarrowCodec(Spec spec) {
    String source = spec.vectorBits() == 0 ? "ScalarCodec" : "VectorCodec";
    MethodHandles.Lookup kernel = Kernels.define(MethodHandles.lookup(), source, spec);
    decode =
        Kernels.method(
            kernel,
            "decode",
            MethodType.methodType(void.class, short[].class, float[].class, int.class));
    encode =
        Kernels.method(
            kernel,
            "encode",
            MethodType.methodType(void.class, float[].class, short[].class, int.class));
  }

  /** The codec of a type at a vector width; null for a type that is not of 16 bits. */
  public static NarrowCodec of(ElementType type, int vectorBits) {
    if (type.bytes() != Short.BYTES) {
      return null;
    }
    Spec spec = new Spec(type, vectorBits);
    return Kernels.of(spec, NarrowCodec.class, s -> new NarrowCodec((Spec) s));
  }

  /** Decodes the first n patterns. */
  void decode(short[] from, float[] into, int n) {
    try {
      decode.invokeExact(from, into, n);
    } catch (Throwable e) {
      throw Kernels.thrown(e);
    }
  }

  /** Rounds the first n values to the type, by way of its patterns. */
  public void round(float[] values, short[] patterns, int n) {
    encode(values, patterns, n);
    decode(patterns, values, n);
  }

  /** Encodes the first n values; every NaN becomes the canonical one. */
  void encode(float[] from, short[] into, int n) {
    try {
      encode.invokeExact(from, into, n);
    } catch (Throwable e) {
      throw Kernels.thrown(e);
    }
  }
}
