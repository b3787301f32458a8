package io.github.rmsnorm4j.cuda.ptx;

import io.github.rmsnorm4j.cuda.ptx.PtxText.Kind;
import io.github.rmsnorm4j.internal.formula.Tensor;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;

/** Loads and stores of numbers, one at a time or 16 bytes at a time. */
final class Accesses {
  /** Bytes of the widest access. */
  static final int WIDEST = 16;

  private static final int WORDS = WIDEST / Integer.BYTES;

  private final PtxText text;
  private final Narrowing narrowing;

  Accesses(PtxText text) {
    this.text = text;
    narrowing = new Narrowing(text);
  }

  private static String at(Place place, int bytes) {
    return PtxText.at(place.address(), bytes);
  }

  /** Loads one number, so many bytes from a place. */
  String load(Place from, int offset) {
    String load = "ld." + from.space();
    return switch (from.type()) {
      case FLOAT32 -> text.compute(Kind.F32, load + ".f32", at(from, offset));
      case FLOAT64 -> text.compute(Kind.F64, load + ".f64", at(from, offset));
      case FLOAT16, BFLOAT16 -> {
        String pattern = text.compute(Kind.B16, load + ".u16", at(from, offset));
        String bits = text.compute(Kind.B32, "cvt.u32.u16", pattern);
        yield narrowing.widened(bits, from.type());
      }
    };
  }

  /** Stores one number, as {@link ValueCode#stored} gives it. */
  void store(Place to, String number) {
    store(to, 0, number);
  }

  /** Stores one number, so many bytes from a place. */
  void store(Place to, int offset, String number) {
    String store = "st." + to.space();
    switch (to.type()) {
      case FLOAT32 -> text.put(store + ".f32", at(to, offset), number);
      case FLOAT64 -> text.put(store + ".f64", at(to, offset), number);
      case FLOAT16, BFLOAT16 -> {
        String pattern = text.compute(Kind.B16, "cvt.u16.u32", number);
        text.put(store + ".u16", at(to, offset), pattern);
      }
    }
  }

  /** Loads numbers that are one after the other, by accesses of 16 bytes. */
  String[] load(Place from, int offset, int count) {
    String[] numbers = new String[count];
    String load = "ld." + from.space();
    int bytes = from.type().bytes();
    for (int k = 0; k < count; k += WIDEST / bytes) {
      String place = at(from, offset + k * bytes);
      switch (from.type()) {
        case FLOAT32 -> wide(load + ".v4.f32", Kind.F32, place, numbers, k, 4);
        case FLOAT64 -> wide(load + ".v2.f64", Kind.F64, place, numbers, k, 2);
        case FLOAT16, BFLOAT16 -> {
          String[] pairs = new String[WORDS];
          wide(load + ".v4.u32", Kind.B32, place, pairs, 0, WORDS);
          for (int p = 0; p < pairs.length; p++) {
            String[] two = narrowing.widenedPair(pairs[p], from.type());
            System.arraycopy(two, 0, numbers, k + 2 * p, 2);
          }
        }
      }
    }
    return numbers;
  }

  private void wide(String load, Kind kind, String place, String[] into, int from, int count) {
    for (int k = from; k < from + count; k++) {
      into[k] = text.register(kind);
    }
    text.put(load, list(into, from, count), place);
  }

  private static String list(String[] registers, int from, int count) {
    return "{" + String.join(", ", Arrays.asList(registers).subList(from, from + count)) + "}";
  }

  /** Stores numbers that are one after the other, by accesses of 16 bytes. */
  void store(Place to, String[] numbers) {
    String store = "st." + to.space();
    int bytes = to.type().bytes();
    for (int k = 0; k < numbers.length; k += WIDEST / bytes) {
      String place = at(to, k * bytes);
      switch (to.type()) {
        case FLOAT32 -> text.put(store + ".v4.f32", place, list(numbers, k, 4));
        case FLOAT64 -> text.put(store + ".v2.f64", place, list(numbers, k, 2));
        case FLOAT16, BFLOAT16 -> {
          String[] pairs = new String[WORDS];
          for (int p = 0; p < pairs.length; p++) {
            pairs[p] = narrowing.pair(numbers[k + 2 * p], numbers[k + 2 * p + 1]);
          }
          text.put(store + ".v4.u32", place, list(pairs, 0, WORDS));
        }
      }
    }
  }

  /**
   * Elements of a row that are one after the other; all are loaded before any is used.
   *
   * @param from where the first one of each tensor is
   * @param row values of the row
   */
  ValueCode[] elements(Map<Tensor, Place> from, int count, ValueCode row) {
    Map<Tensor, String[]> loaded = new TreeMap<>();
    from.forEach((tensor, place) -> loaded.put(tensor, load(place, 0, count)));
    ValueCode[] elements = new ValueCode[count];
    for (int k = 0; k < count; k++) {
      int place = k;
      elements[k] = row.ofElement(value -> loaded.get(value.tensor())[place]);
    }
    return elements;
  }

  /** Loads the bits of one number. */
  String bits(Place from, int offset) {
    String load = "ld." + from.space();
    return switch (from.type().bytes()) {
      case Short.BYTES -> text.compute(Kind.B16, load + ".u16", at(from, offset));
      case Integer.BYTES -> text.compute(Kind.B32, load + ".u32", at(from, offset));
      default -> text.compute(Kind.B64, load + ".u64", at(from, offset));
    };
  }

  /** Stores the bits of one number. */
  void storeBits(Place to, int offset, String bits) {
    text.put("st." + to.space() + ".u" + Byte.SIZE * to.type().bytes(), at(to, offset), bits);
  }

  /** Loads the bits of 16 bytes. */
  String[] wideBits(Place from, int offset) {
    String[] words = new String[WORDS];
    wide("ld." + from.space() + ".v4.u32", Kind.B32, at(from, offset), words, 0, WORDS);
    return words;
  }

  /** Stores the bits of 16 bytes. */
  void storeWideBits(Place to, int offset, String[] words) {
    text.put("st." + to.space() + ".v4.u32", at(to, offset), list(words, 0, WORDS));
  }
}
