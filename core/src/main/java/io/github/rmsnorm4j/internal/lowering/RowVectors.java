package io.github.rmsnorm4j.internal.lowering;

import static io.github.rmsnorm4j.internal.lowering.VectorCode.DOUBLES;
import static io.github.rmsnorm4j.internal.lowering.VectorCode.FLOATS;
import static io.github.rmsnorm4j.internal.lowering.VectorCode.INTS;
import static io.github.rmsnorm4j.internal.lowering.VectorCode.SHORTS;

import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.formula.Value;
import java.lang.constant.ClassDesc;
import java.util.HashMap;
import java.util.Map;

/** Vectors of elements of a row, read and written in the type of the rows. */
final class RowVectors {
  private final Code code;
  private final VectorCode vectors;
  private final Codecs codecs;
  private final Place place;

  /** The index of the vector in the step. */
  private final int index;

  /** The number of elements of a vector of floats. */
  private final int floatBits;

  /** Locals: pairs of elements that were read. */
  private final Map<Tensor, Integer> pairs = new HashMap<>();

  RowVectors(Code code, VectorCode vectors, Place place, int index) {
    this.code = code;
    this.vectors = vectors;
    this.place = place;
    this.index = index;
    floatBits = place.bits(false);
    codecs = new Codecs(code, vectors, floatBits);
  }

  String half(boolean odd) {
    return !place.paired() ? "" : odd ? ", odd ones" : ", even ones";
  }

  /** Leaves a vector of elements on the stack. */
  void load(Value e, boolean odd) {
    Place.Pointer pointer = place.pointers().get(e.tensor());
    if (place.paired()) {
      int both = pairs.computeIfAbsent(e.tensor(), rows -> loadPairs(e, pointer));
      code.line("%s%s", e.text(), half(odd));
      code.load(both);
      if (odd) {
        codecs.decodeUpper();
      } else {
        codecs.decodeLower();
      }
      return;
    }
    code.line("load %s + %d, %s", e.text(), index * place.step(), e.type());
    switch (e.type()) {
      case FLOAT64 -> read(DOUBLES, place.bits(true), pointer);
      case FLOAT32 -> read(FLOATS, floatBits, pointer);
      case BFLOAT16 -> {
        read(SHORTS, place.elements() * Short.SIZE, pointer);
        vectors.cast("S2I", INTS, floatBits);
        codecs.decodeLower();
      }
      case FLOAT16 -> throw new IllegalArgumentException("no vectors of float16");
    }
  }

  private int loadPairs(Value e, Place.Pointer pointer) {
    code.line("load %s + %d, %s in pairs", e.text(), index * place.step(), e.type());
    read(SHORTS, floatBits, pointer);
    vectors.reinterpret(INTS, floatBits);
    return code.store();
  }

  private void read(ClassDesc type, int bits, Place.Pointer pointer) {
    if (pointer.heap()) {
      vectors.fromArray(type, bits, () -> address(pointer));
    } else {
      vectors.fromMemory(type, bits, () -> address(pointer));
    }
  }

  private void write(ClassDesc type, Place.Pointer pointer) {
    if (pointer.heap()) {
      vectors.intoArray(type, () -> address(pointer));
    } else {
      vectors.intoMemory(type, () -> address(pointer));
    }
  }

  private void address(Place.Pointer pointer) {
    int elements = index * place.step();
    if (pointer.heap()) {
      code.load(pointer.array()).c.iload(pointer.at()).loadConstant(elements).iadd();
    } else {
      long bytes = (long) elements * pointer.type().bytes();
      code.c.lload(pointer.at()).loadConstant(bytes).ladd();
    }
  }

  /** Stores a local. */
  void store(Stage.Store store, int local) {
    Place.Pointer pointer = place.pointers().get(store.rows());
    code.line("store %s[i] + %d, %s", store.rows(), index * place.step(), store.type());
    code.load(local);
    switch (store.type()) {
      case FLOAT64 -> write(DOUBLES, pointer);
      case FLOAT32 -> write(FLOATS, pointer);
      case BFLOAT16 -> {
        codecs.encodeLower();
        vectors.cast("I2S", SHORTS, place.elements() * Short.SIZE);
        write(SHORTS, pointer);
      }
      case FLOAT16 -> throw new IllegalArgumentException("no vectors of float16");
    }
  }

  /** Stores a local of even elements and one of odd elements. */
  void store(Stage.Store store, int even, int odd) {
    code.line("store %s[i] + %d, %s in pairs", store.rows(), index * place.step(), store.type());
    code.load(even);
    codecs.encodeLower();
    int lower = code.store();
    code.load(odd);
    codecs.encodeUpper();
    vectors.with(INTS, "OR", lower).reinterpret(SHORTS, floatBits);
    write(SHORTS, place.pointers().get(store.rows()));
  }
}
