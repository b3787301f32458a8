package io.github.rmsnorm4j.bench;

import io.github.rmsnorm4j.cli.Commands;
import java.util.List;

/** The command of this module. */
public final class BenchCommands implements Commands {
  /** For the service loader. */
  public BenchCommands() {}

  @Override
  public List<Object> commands() {
    return List.of(new Bench());
  }
}
