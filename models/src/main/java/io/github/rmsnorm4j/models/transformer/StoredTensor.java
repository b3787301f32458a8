package io.github.rmsnorm4j.models.transformer;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;

/**
 * Where a file has parameters of a model: a tensor that holds one of them, or several, output by
 * output.
 *
 * @param name of the tensor in the file
 * @param parts the parameters in it
 * @param inputsFirst whether a matrix is (inputs, outputs) in the file, as GPT-2 has it
 */
record StoredTensor(String name, List<Part> parts, boolean inputsFirst) {
  /**
   * The outputs of one parameter among those of the tensor: runs of neighbours.
   *
   * @param parameter where the model has it
   * @param first output of the tensor at which the first run begins
   * @param run outputs of a run
   * @param stride outputs from the beginning of a run to that of the next
   */
  record Part(Parameter parameter, int first, int run, int stride) {}

  /** A tensor that holds one parameter and has its order. */
  static StoredTensor of(String name, Parameter parameter) {
    Part whole = new Part(parameter, 0, parameter.outputs(), parameter.outputs());
    return new StoredTensor(name, List.of(whole), false);
  }

  private Parameter first() {
    return parts.getFirst().parameter();
  }

  private long outputs() {
    return parts.stream().mapToLong(part -> part.parameter().outputs()).sum();
  }

  /** The shape that it must have in the file. */
  List<Long> shape() {
    if (first().shape().size() == 1) {
      return List.of(outputs());
    }
    long inputs = first().inputs();
    return inputsFirst ? List.of(inputs, outputs()) : List.of(outputs(), inputs);
  }

  /** Puts elements of a file to the places that they have in a model's memory. */
  TensorReader.Sink into(MemorySegment memory) {
    if (parts.size() == 1 && !inputsFirst) { // They lie in memory as they lie in the file.
      return TensorReader.copyTo(Weights.part(memory, first()));
    }
    long[] places = places();
    int inputs = first().inputs();
    return (index, values) -> {
      for (int i = 0; i < values.length; i++) {
        long at = index + i;
        int output = (int) (inputsFirst ? at % places.length : at / inputs);
        long input = inputsFirst ? at / places.length : at % inputs;
        memory.setAtIndex(ValueLayout.JAVA_FLOAT, places[output] + input, values[i]);
      }
    };
  }

  /** For each output of the tensor the index of its first element in a model's memory. */
  private long[] places() {
    long[] places = new long[Math.toIntExact(outputs())];
    for (Part part : parts) {
      Parameter parameter = part.parameter();
      for (int i = 0; i < parameter.outputs(); i++) {
        int output = part.first() + i / part.run() * part.stride() + i % part.run();
        places[output] = parameter.offset() + (long) i * parameter.inputs();
      }
    }
    return places;
  }
}
