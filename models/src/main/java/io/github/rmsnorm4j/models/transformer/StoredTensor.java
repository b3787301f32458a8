package io.github.rmsnorm4j.models.transformer;

import io.github.rmsnorm4j.formats.FormatException;
import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.formats.TensorFile;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;

/**
 * Where a file has parameters of a model: a tensor that holds one of them, or several of one shape,
 * output by output.
 *
 * @param name of the tensor in the file
 * @param parts the parameters in it, which take turns
 * @param run outputs of a turn
 * @param inputsFirst whether a matrix is (inputs, outputs) in the file, as GPT-2 has it
 */
record StoredTensor(String name, List<Parameter> parts, int run, boolean inputsFirst) {
  private long outputs() {
    return (long) parts.size() * parts.getFirst().shape().getFirst();
  }

  private long inputs() {
    return parts.getFirst().isMatrix() ? parts.getFirst().columns() : 1;
  }

  /** The tensor in a file, in a floating type and the right shape, or an error. */
  Tensor in(TensorFile file) throws FormatException {
    Tensor tensor = file.tensor(name);
    List<Long> shape =
        !parts.getFirst().isMatrix()
            ? List.of(outputs())
            : inputsFirst ? List.of(inputs(), outputs()) : List.of(outputs(), inputs());
    if (!tensor.shape().equals(shape)) {
      throw new FormatException(
          file.path(), name, "has the shape " + tensor.shape() + ", it must be " + shape);
    }
    if (tensor.dtype().elementType().isEmpty()) {
      throw new FormatException(
          file.path(), name, "is " + tensor.dtype() + ", it must be F64, F32, F16 or BF16");
    }
    return tensor;
  }

  /** Puts elements, from that of an index on, to the places that they have in a model's memory. */
  void put(long index, float[] values, MemorySegment memory) {
    long inputs = inputs();
    long outputs = outputs();
    for (int i = 0; i < values.length; ) {
      long at = index + i;
      if (inputsFirst) {
        long to = place(at % outputs, inputs) + at / outputs;
        memory.setAtIndex(ValueLayout.JAVA_FLOAT, to, values[i]);
        i++;
      } else { // A row, or what is there of it.
        int count = (int) Math.min(inputs - at % inputs, values.length - i);
        long to = (place(at / inputs, inputs) + at % inputs) * Float.BYTES;
        MemorySegment.copy(values, i, memory, ValueLayout.JAVA_FLOAT, to, count);
        i += count;
      }
    }
  }

  /** The index of the first element of an output in a model's memory. */
  private long place(long output, long inputs) {
    long turn = output / run;
    Parameter part = parts.get((int) (turn % parts.size()));
    return part.offset() + (turn / parts.size() * run + output % run) * inputs;
  }
}
