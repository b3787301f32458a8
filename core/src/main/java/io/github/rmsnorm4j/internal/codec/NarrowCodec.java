package io.github.rmsnorm4j.internal.codec;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.kernel.Kernels;
import java.lang.invoke.MethodHandles;

/** A 16-bit type to float32, exactly, and back, by one rounding to nearest, ties to even. */
public interface NarrowCodec {
  /** What a codec is specialised on; 0 bits are plain Java. */
  record Spec(ElementType type, int vectorBits) {}

  /** The codec of a type at a vector width. */
  static NarrowCodec of(ElementType type, int vectorBits) {
    String source = vectorBits == 0 ? "ScalarCodec" : "VectorCodec";
    Spec spec = new Spec(type, vectorBits);
    return (NarrowCodec) Kernels.of(MethodHandles.lookup(), source, spec);
  }

  /** Decodes the first n patterns. */
  void decode(short[] from, float[] into, int n);

  /** Encodes the first n values; every NaN becomes the canonical one. */
  void encode(float[] from, short[] into, int n);
}
