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
import io.github.rmsnorm4j.internal.machine.NativeMemory;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.NullUnmarked;

/**
 * Quantises rows of one thread, chunk by chunk: a chunk stays in the first-level cache between a
 * norm, which writes it, and the codes. Arrays come from a pool, so that calls allocate nothing
 * that grows with rows or width.
 */
@NullUnmarked // An object of a pool: between calls it refers to none.
public final class QuantizedChunks implements AutoCloseable {
  /** Elements of a chunk, unless one row is longer. */
  private static final int CHUNK = 1 << 12;

  /** The most elements of a row for which arrays are kept. */
  private static final int MAX_KEPT = 1 << 22;

  private static final Pool<QuantizedChunks> POOL = new Pool<>(QuantizedChunks::new);

  /** Stands for the rows of a chunk of any thread in native memory: float32 rows. */
  private static final RowMemory NATIVE =
      new RowMemory(MemorySegment.NULL, ElementType.FLOAT32, 0, new RowWindow());

  /** By type, what stands for the rows of a chunk of any thread in arrays. */
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

  /** Takes the rows of a chunk where they are native; null until it is needed. */
  private NativeMemory rows;

  /** The last array of elements, which the segment is of. */
  private float[] floats;

  private MemorySegment ofFloats;

  private byte[] codes = {};
  private MemorySegment ofCodes = MemorySegment.ofArray(codes);
  private float[] scales = {};
  private MemorySegment ofScales = MemorySegment.ofArray(scales);

  /** What a norm writes the rows of a chunk to, from the last call. */
  private RowMemory output;

  private CodeMemory to;
  private int width;
  private int groups;
  private int block;

  private Encoder encoder;
  private CodeRule rule;
  private int bits;

  /** Null where codes are not machine code's. */
  private MachineBlocks machine;

  private QuantizedChunks() {}

  /**
   * For the rows of a chunk; a call is planned with it. Float64 rows are float32 rows here. They
   * are in native memory if machine code reads them there, aligned as its vectors are.
   *
   * @param bits of a vector of machine code; 0 where there is to be none
   */
  public static RowMemory any(ElementType type, CodeMemory to, CodeRule rule, int bits) {
    boolean isServed = bits > 0 && MachineBlocks.serves(to.format(), rule, to.width());
    boolean isNative = isServed && type == ElementType.FLOAT32;
    return isNative ? NATIVE : ANY[type.ordinal()];
  }

  /** Whether a call makes no machine code, because it is there, or there is none. */
  public static boolean isReady(CodeMemory to, CodeRule rule, int bits) {
    return MachineBlocks.isMade(to.format(), rule, to.width(), bits);
  }

  /** Makes the machine code of a rule, if there is any. */
  public static void makeReady(CodeMemory to, CodeRule rule, int bits) {
    MachineBlocks.of(to.format(), rule, to.width(), bits);
  }

  /**
   * For rows of a call of this thread.
   *
   * @param bits of a vector of machine code; 0 where there is to be none
   */
  public static QuantizedChunks open(CodeMemory to, CodeRule rule, int bits) {
    QuantizedChunks chunks = POOL.take();
    boolean others =
        chunks.encoder == null || !chunks.rule.equals(rule) || !chunks.encoder.isOf(to.format());
    if (others) {
      chunks.encoder = new Encoder(to.format(), rule);
      chunks.rule = rule;
    }
    if (others || chunks.machine == null || chunks.bits != bits || chunks.width != to.width()) {
      chunks.machine = MachineBlocks.of(to.format(), rule, to.width(), bits);
      chunks.bits = bits;
    }
    chunks.to = to;
    chunks.width = to.width();
    chunks.block = to.format().block(to.width());
    int n = chunks.rows() * chunks.width;
    if (chunks.codes.length < chunks.rows() * to.rowBytes()) {
      chunks.codes = new byte[chunks.rows() * to.rowBytes()];
      chunks.ofCodes = MemorySegment.ofArray(chunks.codes);
    }
    int ofChunk = to.format().given() ? 0 : n / chunks.block + MachineBlocks.SLACK;
    if (chunks.scales.length < ofChunk) {
      chunks.scales = new float[ofChunk];
      chunks.ofScales = MemorySegment.ofArray(chunks.scales);
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
   * @param any what stands for it
   * @param groups of each row: so many rows of the norm are one row here
   */
  public RowMemory output(RowMemory any, int groups) {
    this.groups = groups;
    int n = rows() * width;
    MemorySegment memory =
        any == NATIVE
            ? nativeRows(n)
            : any.type() == ElementType.FLOAT32
                ? MemorySegment.ofArray(staging.floats(n))
                : MemorySegment.ofArray(staging.shorts(n));
    long stride = (long) width / groups * any.type().bytes();
    if (output == null
        || output.type() != any.type()
        || output.stride() != stride
        || !output.segment().equals(memory)) {
      output = new RowMemory(memory, any.type(), stride, window);
    }
    return output;
  }

  private MemorySegment nativeRows(int n) {
    long bytes = (long) n * Float.BYTES;
    if (rows == null || rows.segment().byteSize() < bytes) {
      closeRows();
      rows = new NativeMemory(bytes);
    }
    return rows.segment();
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
    boolean isNative = output.segment().isNative();
    encode(row, rows, isNative ? output.segment() : floats(n));
  }

  /** Writes the codes of rows of a call. */
  public void encode(RowMemory from, long row, int rows) {
    from.load(row, 0, rows, width, staging);
    if (from.type() == ElementType.FLOAT64) {
      round(staging.doubles(rows * width), staging.floats(rows * width), rows * width);
    }
    encode(row, rows, floats(rows * width));
  }

  /** The array with the elements of a chunk. */
  private MemorySegment floats(int n) {
    float[] array = staging.floats(n);
    if (floats != array) {
      floats = array;
      ofFloats = MemorySegment.ofArray(array);
    }
    return ofFloats;
  }

  private void encode(long row, int rows, MemorySegment y) {
    int n = rows * width;
    if (machine != null) {
      boolean direct = to.isDirect(rows);
      MemorySegment into = direct ? to.codes() : ofCodes;
      long offset = direct ? row * to.codeStride() : 0;
      machine.encode(y, n, block, into, offset, ofScales);
      if (!direct) {
        to.write(row, rows, codes);
      }
    } else {
      if (y.isNative()) {
        MemorySegment.copy(y, JAVA_FLOAT_UNALIGNED, 0, staging.floats(n), 0, n);
      }
      encoder.encode(staging.floats(n), n, block, to.scale(), codes, scales);
      to.write(row, rows, codes);
    }
    to.write(row, rows, scales);
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
      floats = null;
      ofFloats = null;
      codes = new byte[0];
      ofCodes = null;
      scales = new float[0];
      ofScales = null;
      closeRows();
      output = null;
    }
    if (!POOL.giveBack(this)) {
      closeRows();
    }
  }

  private void closeRows() {
    if (rows != null) {
      rows.close();
      rows = null;
    }
  }
}
