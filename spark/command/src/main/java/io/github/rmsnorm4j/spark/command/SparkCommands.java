package io.github.rmsnorm4j.spark.command;

import io.github.rmsnorm4j.cli.Commands;
import java.util.List;

/** The command of this module. */
public final class SparkCommands implements Commands {
  /** For the service loader. */
  public SparkCommands() {}

  @Override
  public List<Object> commands() {
    return List.of(new Spark());
  }
}
