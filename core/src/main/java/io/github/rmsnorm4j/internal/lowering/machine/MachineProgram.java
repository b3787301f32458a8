package io.github.rmsnorm4j.internal.lowering.machine;

import io.github.rmsnorm4j.internal.backend.Call;
import io.github.rmsnorm4j.internal.backend.Compiled;
import io.github.rmsnorm4j.internal.backend.OutputStores;
import io.github.rmsnorm4j.internal.backend.PlainBackEnd;
import io.github.rmsnorm4j.internal.backend.Worker;
import io.github.rmsnorm4j.internal.machine.Shortage;

/** A program of machine code. Plain Java does a call for which there is no native memory. */
interface MachineProgram extends Compiled {
  /**
   * The work of this thread on a call.
   *
   * @throws OutOfMemoryError if the system has no memory; then nothing is done
   */
  Worker begin(Call call);

  @Override
  default Worker open(Call call) {
    try {
      return begin(call);
    } catch (OutOfMemoryError e) {
      Shortage.note(e);
      return new PlainBackEnd().compile(call, OutputStores.CACHED).open(call);
    }
  }
}
