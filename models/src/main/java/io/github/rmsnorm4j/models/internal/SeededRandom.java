package io.github.rmsnorm4j.models.internal;

/**
 * Random numbers that are the same on every JDK: SplitMix64, of Steele, Lea and Flood, "Fast
 * splittable pseudorandom number generators", 2014. Can be set to a place of its own for each step
 * of a training, so that nothing of it needs to be stored. Not for use by several threads at once.
 */
public final class SeededRandom {
  private static final long GOLDEN = 0x9e3779b97f4a7c15L;
  private static final double UNIT = 0x1p-53;

  private long state;

  /**
   * Begins the numbers of a stream.
   *
   * @param seed any number
   * @param stream any number; each has numbers of its own
   */
  public SeededRandom(long seed, long stream) {
    reset(seed, stream);
  }

  /**
   * Begins the numbers of a stream again, or those of another.
   *
   * @param seed any number
   * @param stream any number
   */
  public void reset(long seed, long stream) {
    state = mix(mix(seed + GOLDEN) + GOLDEN * (stream + 1));
  }

  private static long mix(long z) {
    z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
    z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
    return z ^ (z >>> 31);
  }

  private long nextLong() {
    state += GOLDEN;
    return mix(state);
  }

  /**
   * {@return a whole number from 0 to below the bound} The bias of one multiplication is below
   * bound / 2^32.
   *
   * @param bound 1 or more
   */
  public int nextInt(int bound) {
    return (int) (((nextLong() >>> 32) * bound) >>> 32);
  }

  /** {@return a number from 0 to below 1, a multiple of 2^-53} */
  public double nextDouble() {
    return (nextLong() >>> 11) * UNIT;
  }

  /**
   * {@return a normal number of mean 0 and standard deviation 1} By Box and Muller; the second of
   * each pair is not used.
   */
  public double nextGaussian() {
    double radius = StrictMath.sqrt(-2 * StrictMath.log(1 - nextDouble()));
    return radius * StrictMath.cos(2 * Math.PI * nextDouble());
  }
}
