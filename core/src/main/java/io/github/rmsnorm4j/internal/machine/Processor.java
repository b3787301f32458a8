package io.github.rmsnorm4j.internal.machine;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.github.rmsnorm4j.internal.machine.MachineOperand.Address;
import io.github.rmsnorm4j.internal.machine.MachineOperand.General;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Immediate;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * The features of this processor and its operating system.
 *
 * @param avx2 vectors of 256 bits, with fused multiply-add and conversions of float16
 * @param avx512 vectors of 512 bits, and masks, for every instruction of {@link VectorOp} except
 *     {@link VectorOp#VCVTNE2PS2BF16}
 * @param bfloat16 the instruction {@link VectorOp#VCVTNE2PS2BF16}
 * @param slowsDown whether vectors of 512 bits lower the clock so much that 256 bits are faster
 * @param intel whether Intel made it
 */
public record Processor(
    boolean avx2, boolean avx512, boolean bfloat16, boolean slowsDown, boolean intel) {
  /**
   * Leaf 1, eax: Intel's family 6, model 0x55, up to stepping 4, which is Skylake. HotSpot keeps to
   * 256 bits there, too.
   */
  private static final int MODEL_BITS = 0x0fff0ff0;

  private static final int SKYLAKE = 0x00050650;
  private static final int SKYLAKE_STEPPINGS = 5;

  /** Leaf 0, ebx: "Genu", the first letters of "GenuineIntel". */
  private static final int GENUINE = 0x756e6547;

  /** Bits of leaf 1, ecx. */
  private static final int FMA = 1 << 12;

  private static final int OSXSAVE = 1 << 27;
  private static final int F16C = 1 << 29;

  /** Bits of leaf 7, ebx. */
  private static final int AVX2 = 1 << 5;

  /** Foundation, DQ, BW and VL. */
  private static final int AVX512 = 1 << 16 | 1 << 17 | 1 << 30 | 1 << 31;

  /** A bit of leaf 7, part 1, eax. */
  private static final int AVX512_BF16 = 1 << 5;

  /** The registers that the system saves: those of 256 bits, and those of 512 and masks. */
  private static final int SAVES_256 = 0x6;

  private static final int SAVES_512 = 0xe6;

  /**
   * Asks this processor.
   *
   * @throws OutOfMemoryError if the system has no memory
   * @throws UnsupportedOperationException if the system refuses memory that can be executed
   */
  public static Processor find() {
    try (Arena arena = Arena.ofConfined()) {
      Leaves leaves = new Leaves(arena);
      int model = leaves.of(1, 0)[0];
      int features = leaves.of(1, 0)[2];
      if ((features & OSXSAVE) == 0) {
        return new Processor(false, false, false, false, false);
      }
      int saved = leaves.saved();
      int extended = leaves.of(0, 0)[0] >= 7 ? leaves.of(7, 0)[1] : 0;
      boolean avx2 =
          (saved & SAVES_256) == SAVES_256
              && (features & (FMA | F16C)) == (FMA | F16C)
              && (extended & AVX2) != 0;
      boolean avx512 = avx2 && (saved & SAVES_512) == SAVES_512 && (extended & AVX512) == AVX512;
      boolean more = avx512 && leaves.of(7, 0)[0] >= 1;
      boolean bfloat16 = more && (leaves.of(7, 1)[0] & AVX512_BF16) != 0;
      boolean skylake = (model & MODEL_BITS) == SKYLAKE && (model & 0xf) < SKYLAKE_STEPPINGS;
      boolean intel = leaves.of(0, 0)[1] == GENUINE;
      return new Processor(avx2, avx512, bfloat16, skylake, intel);
    }
  }

  /** The instructions CPUID and XGETBV. */
  private static final class Leaves {
    private final MemorySegment result;

    Leaves(Arena arena) {
      result = arena.allocate(4L * Long.BYTES, Long.BYTES);
    }

    /** {@code cpuid(leaf, part, result)}. */
    private static Code cpuidCode() {
      Assembler a = new Assembler();
      a.op(GeneralOp.MOV, General.R11, General.RBX);
      a.op(GeneralOp.MOV, General.R10, General.RDX);
      a.op(GeneralOp.MOV, General.RAX, General.RDI);
      a.op(GeneralOp.MOV, General.RCX, General.RSI);
      a.op(GeneralOp.CPUID);
      a.op(GeneralOp.MOV, Address.at(General.R10, 0), General.RAX);
      a.op(GeneralOp.MOV, Address.at(General.R10, 8), General.RBX);
      a.op(GeneralOp.MOV, Address.at(General.R10, 16), General.RCX);
      a.op(GeneralOp.MOV, Address.at(General.R10, 24), General.RDX);
      a.op(GeneralOp.MOV, General.RBX, General.R11);
      a.op(GeneralOp.RET);
      return a.code();
    }

    private static Code xgetbvCode() {
      Assembler a = new Assembler();
      a.op(GeneralOp.MOV, General.RCX.of(32), new Immediate(0));
      a.op(GeneralOp.XGETBV);
      a.op(GeneralOp.RET);
      return a.code();
    }

    /** Registers a, b, c and d. */
    int[] of(int leaf, int part) {
      run(cpuidCode(), leaf, part, result.address());
      int[] registers = new int[4];
      for (int r = 0; r < registers.length; r++) {
        registers[r] = (int) result.getAtIndex(JAVA_LONG, r);
      }
      return registers;
    }

    int saved() {
      return (int) run(xgetbvCode(), 0, 0, 0);
    }

    private static long run(Code code, long a, long b, long c) {
      MemorySegment function = ExecutableMemory.of(code);
      try {
        return NativeCall.of(function, a, b, c);
      } finally {
        ExecutableMemory.giveBack(function);
      }
    }
  }
}
