package io.github.rmsnorm4j.cuda.driver;

import java.util.Set;

/** The errors after which NVIDIA's documentation says that a context or process is of no use. */
final class LostContext {
  private static final Set<Integer> CODES =
      Set.of(
          4, // DEINITIALIZED: the process ends
          214, // ECC_UNCORRECTABLE
          220, // NVLINK_UNCORRECTABLE
          226, // CONTAINED
          700, // ILLEGAL_ADDRESS
          702, // LAUNCH_TIMEOUT
          709, // CONTEXT_IS_DESTROYED
          710, // ASSERT
          714, // HARDWARE_STACK_ERROR
          715, // ILLEGAL_INSTRUCTION
          716, // MISALIGNED_ADDRESS
          717, // INVALID_ADDRESS_SPACE
          718, // INVALID_PC
          719, // LAUNCH_FAILED
          721, // TENSOR_MEMORY_LEAK
          810, // MPS_CLIENT_TERMINATED
          911); // EXTERNAL_DEVICE

  private LostContext() {}

  static boolean isSaidBy(int code) {
    return CODES.contains(code);
  }
}
