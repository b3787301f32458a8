package io.github.rmsnorm4j;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;

/** The operands of one call by their names, each in memory of its own, but for one fault. */
final class OperandMemory {
  static final int WIDTH = 8;

  /** What can be wrong with an operand by itself. */
  enum Fault {
    NULL,
    SHORT,
    WIDTH,
    ROWS,
    ARITHMETIC,
    READ_ONLY,
    CLOSED,
    CONFINED
  }

  final Saved saved;
  final Saved savedOfNext;

  private final ElementType type;
  private final Arena arena;
  private final int room;
  private final Map<String, MemorySegment> segments = new HashMap<>();
  private final Map<String, Object> arrays = new HashMap<>();
  private String faulty = "";
  private Fault fault;

  /**
   * The operands of a call, except arrays that the library makes.
   *
   * @param arena for native memory; null for arrays
   * @param keep null if nothing is kept
   * @param room elements of each operand, at least a row of them
   */
  OperandMemory(ElementType type, Arena arena, Keep keep, List<String> names, int room) {
    this(type, arena, names, room, saved(keep), saved(keep));
  }

  private OperandMemory(
      ElementType type, Arena arena, List<String> names, int room, Saved saved, Saved ofNext) {
    this.type = type;
    this.arena = arena;
    this.room = room;
    this.saved = saved;
    this.savedOfNext = ofNext;
    for (String name : names) {
      if (name.startsWith("d") && isNumbers(name)) {
        arrays.put(name, array(WIDTH));
      } else if (isNumbers(name)) {
        arrays.put(name, new double[WIDTH]);
      } else {
        segments.put(name, segment());
      }
      fill(memory(name));
    }
  }

  private static Saved saved(Keep keep) {
    return keep == null ? null : new Saved(keep, WIDTH);
  }

  /** Operands of a call before, which keeps in the same objects. */
  OperandMemory before(List<String> names) {
    return new OperandMemory(type, null, names, room, saved, savedOfNext);
  }

  /** Whether an operand is an array; all others are segments. */
  static boolean isNumbers(String name) {
    return name.matches("dgain|dbias|sums|(the kept |given )?(mean|rstd)( of next)?");
  }

  private Object array(int n) {
    return type == ElementType.FLOAT64 ? new double[n] : new float[n];
  }

  private MemorySegment segment() {
    if (arena != null) {
      return arena.allocate((long) room * Double.BYTES, Double.BYTES);
    }
    return ofArray(array(room));
  }

  private static MemorySegment ofArray(Object array) {
    return array instanceof float[] floats
        ? MemorySegment.ofArray(floats)
        : MemorySegment.ofArray((double[]) array);
  }

  /** In each type normal numbers above 0 that differ, in float32 too. */
  private static void fill(MemorySegment segment) {
    for (long i = 0; i < segment.byteSize(); i++) {
      segment.set(ValueLayout.JAVA_BYTE, i, (byte) (i % 4 == 3 ? 0x3f : 32 + i * 5 % 64));
    }
  }

  MemorySegment memory(String name) {
    return segments.containsKey(name) ? segments.get(name) : ofArray(arrays.get(name));
  }

  /** An array that the library has made. */
  void put(String name, double[] kept) {
    if (kept != null) {
      arrays.put(name, kept);
    }
  }

  /** Makes one operand bad, in memory of an arena if it is to be closed or confined. */
  void spoil(String name, Fault how, Arena in) {
    faulty = name;
    fault = how;
    switch (how) {
      case NULL -> {
        segments.remove(name);
        arrays.remove(name);
      }
      case SHORT -> {
        int n = name.equals("sums") || name.startsWith("d") ? WIDTH - 1 : 0;
        arrays.put(name, name.startsWith("d") ? array(n) : new double[n]);
      }
      case READ_ONLY -> segments.put(name, segments.get(name).asReadOnly());
      case ROWS -> {
        if (name.startsWith("gain") || name.startsWith("bias")) {
          segments.remove((name.startsWith("gain") ? "bias" : "gain") + name.substring(4));
        }
      }
      case CLOSED, CONFINED -> {
        segments.put(name, in.allocate((long) room * Double.BYTES, Double.BYTES));
        fill(segments.get(name));
      }
      default -> {}
    }
  }

  /**
   * Puts an operand so many bytes behind the first one of another, or makes it the array that the
   * other is, or lies in; false if there is no such array.
   */
  boolean place(String name, String over, int bytes) {
    if (!isNumbers(name)) {
      segments.put(name, memory(over).asSlice(bytes));
      return true;
    }
    Object array = memory(over).heapBase().orElse(null);
    boolean fits = array != null && array.getClass() == arrays.get(name).getClass();
    if (fits) {
      arrays.put(name, array);
    }
    return fits;
  }

  private boolean has(String name, Fault of) {
    return fault == of && name.equals(faulty);
  }

  /** A type whose arithmetic is another. */
  static ElementType other(ElementType type) {
    return type == ElementType.FLOAT64 ? ElementType.FLOAT32 : ElementType.FLOAT64;
  }

  Rows rows(String name) {
    if (!segments.containsKey(name)) {
      return null;
    }
    return Rows.of(
        segments.get(name),
        has(name, Fault.ARITHMETIC) ? other(type) : type,
        has(name, Fault.ROWS) ? 2 : 1,
        has(name, Fault.WIDTH) ? WIDTH + 1 : WIDTH);
  }

  /** Rows that a call needs besides its operands. */
  Rows others() {
    MemorySegment segment = ofArray(array(WIDTH));
    fill(segment);
    return Rows.of(segment, type, 1, WIDTH);
  }

  QuantizedRows codes() {
    if (!segments.containsKey("codes")) {
      return null;
    }
    return QuantizedRows.of(
        segments.get("codes"),
        segments.get("scales"),
        QuantizedType.int8PerRow(),
        has("codes", Fault.ROWS) ? 2 : 1,
        has("codes", Fault.WIDTH) ? WIDTH + 1 : WIDTH);
  }

  double[] numbers(String name) {
    return (double[]) arrays.get(name);
  }

  RowStatistics statistics(String of) {
    return RowStatistics.of(numbers(of + "mean"), numbers(of + "rstd"));
  }

  /** The array that an operand lies in. */
  float[] floats(String name) {
    MemorySegment segment = segments.get(name);
    return segment == null ? null : (float[]) segment.heapBase().orElseThrow();
  }

  int offset(String name) {
    return segments.containsKey(name) ? (int) segments.get(name).address() / Float.BYTES : 0;
  }

  ParameterGradients gradients() {
    return type == ElementType.FLOAT64
        ? ParameterGradients.added(numbers("dgain"), numbers("dbias"))
        : ParameterGradients.added((float[]) arrays.get("dgain"), (float[]) arrays.get("dbias"));
  }

  /** What an operand has, without the room behind it. */
  byte[] bytes(String name) {
    MemorySegment segment = memory(name);
    int bytes = isNumbers(name) ? (int) segment.byteSize() : WIDTH * type.bytes();
    return segment.asSlice(0, bytes).toArray(ValueLayout.JAVA_BYTE);
  }

  /** All bytes that there are. */
  Map<String, String> bytes() {
    Map<String, String> bytes = new HashMap<>();
    segments.forEach((name, segment) -> put(bytes, name, segment));
    arrays.forEach((name, array) -> put(bytes, name, ofArray(array)));
    return bytes;
  }

  private static void put(Map<String, String> bytes, String name, MemorySegment segment) {
    if (segment.scope().isAlive()) {
      bytes.put(name, HexFormat.of().formatHex(segment.toArray(ValueLayout.JAVA_BYTE)));
    }
  }
}
