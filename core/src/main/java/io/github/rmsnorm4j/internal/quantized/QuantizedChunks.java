package io.github.rmsnorm4j.internal.quantized;

import static java.lang.foreign.ValueLayout.JAVA_DOUBLE_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.backend.Pool;
import io.github.rmsnorm4j.internal.backend.RowMemory;
import io.github.rmsnorm4j.internal.backend.RowsBetween;
import io.github.rmsnorm4j.internal.backend.Staging;
import io.github.rmsnorm4j.internal.codec.NarrowArrays;
import io.github.rmsnorm4j.internal.kernel.Strips;
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
  public static final int ELEMENTS = 1 << 12;

  /** The most elements of a row for which arrays are kept. */
  private static final int MAX_KEPT = 1 << 22;

  private static final Pool<QuantizedChunks> POOL = new Pool<>(QuantizedChunks::new);

  private final NarrowArrays narrow = new NarrowArrays();

  private Staging staging = new Staging();

  /** The last array of elements, which the segment is of. */
  private float[] floats;

  private MemorySegment ofFloats;

  private byte[] codes = {};
  private MemorySegment ofCodes = MemorySegment.ofArray(codes);
  private float[] scales = {};
  private MemorySegment ofScales = MemorySegment.ofArray(scales);

  private CodeMemory to;
  private int width;
  private int block;

  private Encoder encoder;
  private CodeRule rule;
  private int bits;

  /** Null where codes are not machine code's. */
  private MachineBlocks machine;

  private QuantizedChunks() {}

  /**
   * What stands for the rows of a chunk that a norm writes; a call is planned with it. They are in
   * native memory if machine code reads them there, aligned as its vectors are.
   *
   * @param bits of a vector of machine code; 0 where there is to be none
   */
  public static RowMemory any(ElementType type, CodeMemory to, CodeRule rule, int bits) {
    boolean isServed = bits > 0 && MachineBlocks.serves(to.format(), rule, to.width());
    return RowsBetween.any(type, isServed && type == ElementType.FLOAT32);
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
    return Math.max(1, ELEMENTS / width);
  }

  /**
   * Writes the codes of rows.
   *
   * @param from rows of a call, or those between a norm and its codes, which may be changed
   */
  public void encode(RowMemory from, long row, int rows) {
    int n = rows * width;
    boolean isChunk = from.window() != null && from.type() == ElementType.FLOAT32;
    boolean direct = machine != null && to.isDirect(rows);
    if (machine != null) {
      MemorySegment y = isChunk ? from.segment() : loaded(from, row, rows);
      MemorySegment into = direct ? to.codes() : ofCodes;
      machine.encode(y, n, block, into, direct ? row * to.codeStride() : 0, ofScales);
    } else {
      float[] y = isChunk && from.base() instanceof float[] array ? array : floats(from, row, rows);
      encoder.encode(y, n, block, to.scale(), codes, scales);
    }
    if (!direct) {
      to.write(row, rows, codes);
    }
    to.write(row, rows, scales);
  }

  /** Copies rows as float32. */
  private float[] floats(RowMemory from, long row, int rows) {
    int n = rows * width;
    from.load(row, 0, rows, width, staging);
    if (from.type() == ElementType.FLOAT64) {
      Strips.round(staging.doubles(n), staging.floats(n), n);
    }
    return staging.floats(n);
  }

  private MemorySegment loaded(RowMemory from, long row, int rows) {
    float[] array = floats(from, row, rows);
    if (floats != array) {
      floats = array;
      ofFloats = MemorySegment.ofArray(array);
    }
    return ofFloats;
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
    }
    POOL.giveBack(this);
  }
}
