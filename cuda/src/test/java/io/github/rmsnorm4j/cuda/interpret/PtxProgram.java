package io.github.rmsnorm4j.cuda.interpret;

import java.util.List;
import java.util.Map;

/**
 * The one kernel of a module in PTX, decoded.
 *
 * @param name of its entry point
 * @param parameters by name
 * @param parameterBytes the bytes of all parameters
 * @param mostThreads of a block
 * @param registers how many there are, constants among them
 * @param constants registers of constants, with their bits
 * @param specials registers of special registers, with their names
 * @param instructions in order
 * @param labels the lines of the instructions after them, by name
 */
public record PtxProgram(
    String name,
    Map<String, Parameter> parameters,
    int parameterBytes,
    int mostThreads,
    int registers,
    Map<Integer, Long> constants,
    Map<Integer, String> specials,
    List<Instruction> instructions,
    Map<String, Integer> labels) {
  /** A parameter, and where it is in the block of bytes. */
  record Parameter(Type type, int offset) {}

  /** {@return the kernel of a text} */
  public static PtxProgram of(String text) {
    return new PtxParser(text).program();
  }
}
