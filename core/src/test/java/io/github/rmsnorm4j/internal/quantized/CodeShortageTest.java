package io.github.rmsnorm4j.internal.quantized;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.github.rmsnorm4j.ChildJvm;
import io.github.rmsnorm4j.CodeFactor;
import io.github.rmsnorm4j.CodeRounding;
import io.github.rmsnorm4j.ScaleFloor;
import io.github.rmsnorm4j.internal.lowering.machine.Machine;
import io.github.rmsnorm4j.internal.machine.Shortage;
import io.github.rmsnorm4j.internal.machine.ShortageClock;
import org.junit.jupiter.api.Test;

/** Without memory for the machine code of codes there is none, and a second later it is tried. */
class CodeShortageTest {
  @Test
  void passes() throws Exception {
    assumeThat(Machine.here().bits()).as(Machine.here().whyNot()).isPositive();
    assertThat(ChildJvm.output(ChildJvm.flags(), Program.class))
        .contains("block 32: code", "block 64: none", "block 32 again: code")
        .contains("almost later: none", "and later: code")
        .containsOnlyOnce(Shortage.MESSAGE);
  }

  /** A process in which there is no memory once. */
  static final class Program {
    private Program() {}

    public static void main(String[] args) {
      ShortageClock.stop();
      say("block 32", 32);
      Shortage.note(new OutOfMemoryError("none for a test"));
      say("block 64", 64);
      say("block 32 again", 32);
      ShortageClock.almostPasses();
      say("almost later", 64);
      ShortageClock.passes();
      say("and later", 64);
    }

    private static void say(String what, int block) {
      CodeFormat format = new CodeFormat(CodeLayout.APART, block, null, false);
      CodeRule rule = new CodeRule(CodeFactor.RATIO, CodeRounding.EVEN, ScaleFloor.NONE);
      boolean there = MachineBlocks.of(format, rule, block, Machine.here().bits()) != null;
      System.out.println(what + (there ? ": code" : ": none"));
    }
  }
}
