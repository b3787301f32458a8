package io.github.rmsnorm4j.cuda.driver;

/**
 * How many threads run a kernel. Grid and block have one dimension.
 *
 * @param blocks blocks of the grid
 * @param threads threads of a block
 * @param sharedBytes shared memory of a block, at most {@link CudaContext#sharedBytes()}
 */
public record LaunchShape(int blocks, int threads, int sharedBytes) {
  /** Checks the counts. */
  public LaunchShape {
    require("blocks", blocks, 1);
    require("threads", threads, 1);
    require("sharedBytes", sharedBytes, 0);
  }

  private static void require(String what, int count, int least) {
    if (count < least) {
      throw new IllegalArgumentException(what + " is " + count + ", it must be at least " + least);
    }
  }
}
