package io.github.rmsnorm4j.internal.backend;

/** Which rows of a call are in memory that has room for a few. One thread moves and uses it. */
public final class RowWindow {
  /** The row that the memory begins with. */
  public long first;
}
