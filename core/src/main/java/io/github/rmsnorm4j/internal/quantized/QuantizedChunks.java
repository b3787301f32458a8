package io.github.rmsnorm4j.internal.quantized;

import static java.lang.foreign.ValueLayout.JAVA_DOUBLE_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.backend.Pool;
import io.github.rmsnorm4j.internal.backend.RowMemory;
import io.github.rmsnorm4j.internal.backend.RowWindow;
import io.github.rmsnorm4j.internal.backend.Staging;
import io.github.rmsnorm4j.internal.codec.NarrowArrays;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Quantises rows of one thread, chunk by chunk: a chunk stays in the first-level cache between a
 * norm, which writes it, and the codes. Arrays come from a pool, so that calls allocate nothing
 * that grows with rows or width.
 */
public final class QuantizedChunks implements AutoCloseable {
  /** Elements of a chunk, unless one row is longer. */
  private static final int CHUNK = 1 << 12;

  /** The most elements of a row for which arrays are kept. */
  private static final int MAX_KEPT = 1 << 22;

  private static final Pool<QuantizedChunks> POOL = new Pool<>(QuantizedChunks::new);

  /** By type, what stands for the rows of a chunk of any thread. */
  private static final RowMemory[] ANY = new RowMemory[ElementType.values().length];

  static {
    ANY[ElementType.FLOAT32.ordinal()] =
        new RowMemory(MemorySegment.ofArray(new float[0]), ElementType.FLOAT32, 0, new RowWindow());
    for (ElementType type : new ElementType[] {ElementType.FLOAT16, ElementType.BFLOAT16}) {
      ANY[type.ordinal()] =
          new RowMemory(MemorySegment.ofArray(new short[0]), type, 0, new RowWindow());
    }
  }

  private final RowWindow window = new RowWindow();
  private final NarrowArrays narrow = new NarrowArrays();

  private Staging staging = new Staging();
  private byte[] codes = {};
  private float[] scales = {};

  /** What a norm writes the rows of a chunk to, from the last call. */
  private RowMemory output;

  private CodeMemory to;
  private int width;
  private int groups;
  private int block;

  /** Null where codes are read. */
  private Encoder encoder;

  private CodeRule rule;
  private boolean machine;

  private QuantizedChunks() {}

  /** For the rows of a chunk; a call is planned with it. Float64 rows are float32 rows here. */
  public static RowMemory any(ElementType type) {
    return ANY[type.ordinal()];
  }

  /**
   * For rows of a call of this thread.
   *
   * @param machine whether machine code may be used
   */
  public static QuantizedChunks open(CodeMemory to, CodeRule rule, boolean machine) {
    QuantizedChunks chunks = POOL.take();
    if (chunks.encoder == null
        || chunks.machine != machine
        || !chunks.rule.equals(rule)
        || !chunks.encoder.isOf(to.format())) {
      chunks.encoder = new Encoder(to.format(), rule, machine);
      chunks.machine = machine;
      chunks.rule = rule;
    }
    chunks.to = to;
    chunks.width = to.width();
    chunks.block = to.format().block(to.width());
    int n = chunks.rows() * chunks.width;
    if (chunks.codes.length < chunks.rows() * to.rowBytes()) {
      chunks.codes = new byte[chunks.rows() * to.rowBytes()];
    }
    int ofChunk = to.format().given() ? 0 : n / chunks.block + MachineBlocks.SLACK;
    if (chunks.scales.length < ofChunk) {
      chunks.scales = new float[ofChunk];
    }
    return chunks;
  }

  /** Rows of a chunk. */
  public int rows() {
    return Math.max(1, CHUNK / width);
  }

  /**
   * What a norm writes the rows of a chunk to.
   *
   * @param groups of each row: so many rows of the norm are one row here
   */
  public RowMemory output(ElementType type, int groups) {
    this.groups = groups;
    int n = rows() * width;
    boolean is32 = type == ElementType.FLOAT32;
    MemorySegment array =
        is32 ? MemorySegment.ofArray(staging.floats(n)) : MemorySegment.ofArray(staging.shorts(n));
    long stride = (long) width / groups * type.bytes();
    if (output == null
        || output.type() != type
        || output.stride() != stride
        || !output.segment().equals(array)) {
      output = new RowMemory(array, type, stride, window);
    }
    return output;
  }

  /** Says which row of a call the output begins with. */
  public void moveTo(long row) {
    window.first = row * groups;
  }

  /** Writes the codes of rows that a norm has written to the output. */
  public void encodeOutput(long row, int rows) {
    int n = rows * width;
    if (output.type() != ElementType.FLOAT32) {
      narrow.decode(output.type(), staging.shorts(n), staging.floats(n), n);
    }
    encode(row, rows);
  }

  /** Writes the codes of rows of a call. */
  public void encode(RowMemory from, long row, int rows) {
    from.load(row, 0, rows, width, staging);
    if (from.type() == ElementType.FLOAT64) {
      round(staging.doubles(rows * width), staging.floats(rows * width), rows * width);
    }
    encode(row, rows);
  }

  private void encode(long row, int rows) {
    int n = rows * width;
    encoder.encode(staging.floats(n), n, block, to.scale(), codes, scales);
    to.write(row, rows, codes, scales);
  }

  /** Writes rows of a call from their codes. */
  public void decode(long row, int rows, RowMemory into) {
    int n = rows * width;
    to.read(row, rows, codes, scales);
    float[] values = staging.floats(n);
    Decoder.decode(to.format(), block, codes, scales, to.scale(), values, n);
    switch (into.type()) {
      case FLOAT64 -> {
        double[] widened = staging.doubles(n);
        for (int i = 0; i < n; i++) {
          widened[i] = values[i];
        }
        copy(widened, JAVA_DOUBLE_UNALIGNED, into, row, rows);
      }
      case FLOAT32 -> copy(values, JAVA_FLOAT_UNALIGNED, into, row, rows);
      case FLOAT16, BFLOAT16 -> {
        short[] patterns = staging.shorts(n);
        narrow.encode(into.type(), values, patterns, n);
        copy(patterns, JAVA_SHORT_UNALIGNED, into, row, rows);
      }
    }
  }

  private void copy(Object from, ValueLayout layout, RowMemory into, long row, int rows) {
    for (int r = 0; r < rows; r++) {
      long at = into.offset(row + r);
      MemorySegment.copy(from, r * width, into.segment(), layout, at, width);
    }
  }

  private static void round(double[] from, float[] into, int n) {
    for (int i = 0; i < n; i++) {
      into[i] = (float) from[i];
    }
  }

  @Override
  public void close() {
    to = null;
    if (width > MAX_KEPT) {
      staging = new Staging();
      codes = new byte[0];
      scales = new float[0];
      output = null;
    }
    POOL.giveBack(this);
  }
}
